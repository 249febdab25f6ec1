// Ranges, ticks and their labels, in any units.

const STEPS = [1, 2, 5, 10];
const TIME_STEPS = [SECOND, 2 * SECOND, 5 * SECOND, 10 * SECOND, 30 * SECOND, MINUTE, 2 * MINUTE,
  5 * MINUTE, 10 * MINUTE, 30 * MINUTE, HOUR, 2 * HOUR, 3 * HOUR, 6 * HOUR, 12 * HOUR, DAY, 2 * DAY,
  7 * DAY, 14 * DAY];
const MONTH_STEPS = [1, 2, 3, 6, 12, 24, 60, 120, 240, 600, 1200];

// The finite range of some numbers with a margin; never empty.
function widened(low, high, margin = 0.06) {
  if (!(low <= high)) return [0, 1];
  const size = Math.max(Math.abs(low), Math.abs(high));
  if (high - low <= 1e-13 * size || high === low) {
    const half = size > 0 ? size / 2 : 1;
    return [low - half, high + half];
  }
  return [low - margin * (high - low), high + margin * (high - low)];
}

// The step of about so many round ticks, two at least.
function tickStep(low, high, count) {
  const rough = (high - low) / count, power = 10 ** Math.floor(Math.log10(rough));
  const step = power * STEPS.find((s) => s * power >= rough * (1 - 1e-9));
  return count > 64 || multiples(low, high, step).length > 1 ? step : tickStep(low, high, 2 * count);
}

function multiples(low, high, step) {
  const ticks = [];
  for (let k = Math.ceil(low / step - 1e-9); k * step <= high + 1e-9 * step; k++) ticks.push(k * step);
  return ticks;
}

// Ticks with short labels; what all of them have in common, a power of ten or an offset, is the note.
function numberTicks(low, high, count) {
  const step = tickStep(low, high, count), size = Math.max(Math.abs(low), Math.abs(high));
  let ticks = multiples(low, high, step), offset = 0;
  if (size / step > 2e4) { // many digits before those that differ
    offset = ticks[0];
    ticks = ticks.map((_, k) => k * step);
  }
  const largest = Math.max(...ticks.map(Math.abs), step);
  const power = Math.floor(Math.log10(largest) + 1e-9);
  const scale = power >= 5 || power <= -4 ? power : 0;
  const decimals = clamp(scale - Math.floor(Math.log10(step) + 1e-9), 0, 12);
  const label = (x) => (x / 10 ** scale).toFixed(decimals).replace(/^-(0(\.0*)?)$/, "$1");
  const parts = [];
  if (scale) parts.push("×1e" + scale);
  if (offset) parts.push((offset > 0 ? "+ " : "− ") + number(Math.abs(offset), 15));
  return { ticks: ticks.map((x) => [offset + x, label(x)]), note: parts.join(" ") };
}

function dateTicks(low, high, count) {
  const rough = (high - low) / count;
  if (rough < SECOND) {
    const zero = Math.floor(low / MINUTE) * MINUTE;
    const inner = numberTicks((low - zero) / SECOND, (high - zero) / SECOND, count);
    return {
      ticks: inner.ticks.map(([x, label]) => [zero + x * SECOND, label + " s"]),
      note: dateText(zero, MINUTE),
    };
  }
  const step = TIME_STEPS.find((s) => s >= rough);
  if (!step) return { ticks: monthTicks(low, high, rough / (30.4 * DAY)), note: "" };
  const cut = step >= DAY ? [0, 10] : step >= MINUTE ? [11, 16] : [11, 19];
  const ticks = multiples(low, high, step).map((x) => [x, new Date(x).toISOString().slice(...cut)]);
  return { ticks, note: step < DAY ? dateText(low, DAY) : "" };
}

function monthTicks(low, high, months) {
  const step = MONTH_STEPS.find((s) => s >= months) || 1200;
  const ticks = [], first = new Date(low);
  let month = first.getUTCFullYear() * 12 + first.getUTCMonth();
  for (month = Math.ceil(month / step) * step; ; month += step) {
    const date = Date.UTC(Math.floor(month / 12), month % 12, 1);
    if (date > high) return ticks;
    if (date >= low) ticks.push([date, new Date(date).toISOString().slice(0, step < 12 ? 7 : 4)]);
  }
}
