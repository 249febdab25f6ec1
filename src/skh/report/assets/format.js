// Numbers and dates as text.

const clamp = (x, low, high) => Math.min(Math.max(x, low), high);

// The same text as `number` in packing.py.
function number(x, digits = 4) {
  if (Number.isNaN(x)) return "–";
  if (!Number.isFinite(x)) return x > 0 ? "∞" : "-∞";
  if (x === 0) return "0";
  const [mantissa, exponent] = x.toExponential(digits - 1).split("e");
  const power = Number(exponent);
  if (power >= -4 && power < Math.max(6, Math.min(digits, 15))) {
    return trimmed(x.toFixed(clamp(digits - 1 - power, 0, 100)));
  }
  return trimmed(mantissa) + "e" + power;
}

function trimmed(text) {
  return text.includes(".") ? text.replace(/\.?0+$/, "") : text;
}

// As many digits as a deviation of this scale deserves.
function resolved(x, scale) {
  if (!(scale > 0) || !Number.isFinite(scale) || !Number.isFinite(x) || x === 0) return number(x, 5);
  const digits = Math.floor(Math.log10(Math.abs(x)) - Math.log10(scale)) + 3;
  return number(x, clamp(digits, 3, 15));
}

// Milliseconds since 1970 as a date; times of day only where they are needed.
function dateText(milliseconds, precision = 1) {
  const text = new Date(milliseconds).toISOString();
  if (precision >= DAY) return text.slice(0, 10);
  if (precision >= MINUTE) return text.slice(0, 16).replace("T", " ");
  if (precision >= SECOND) return text.slice(0, 19).replace("T", " ");
  return text.slice(0, 23).replace("T", " ");
}

const SECOND = 1000, MINUTE = 60 * SECOND, HOUR = 60 * MINUTE, DAY = 24 * HOUR;

function plural(count, noun) {
  return count + " " + noun + (count === 1 ? "" : "s");
}

function element(tag, text, kind) {
  const made = document.createElement(tag);
  if (text !== undefined) made.textContent = text;
  if (kind) made.className = kind;
  return made;
}

const byId = (id) => document.getElementById(id);
