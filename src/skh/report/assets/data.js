// The run: arrays unpacked from base64, and what they say about one step.

const TYPES = { f8: Float64Array, f4: Float32Array, i4: Int32Array };

function unpack(packed) {
  if (!packed) return null;
  const [code] = Object.keys(packed);
  const text = atob(packed[code]);
  const bytes = new Uint8Array(text.length);
  for (let i = 0; i < text.length; i++) bytes[i] = text.charCodeAt(i);
  return new TYPES[code](bytes.buffer);
}

const run = JSON.parse(byId("data").textContent);
for (const key of ["means", "sd", "middle", "times", "missing", "observed", "truth", "ess", "mmd",
  "count", "evaluations", "increments"]) run[key] = unpack(run[key]);
for (const band of run.bands) {
  band.lower = unpack(band.lower);
  band.upper = unpack(band.upper);
}
for (const key of ["starts", "sizes", "ess", "error", "reason"]) run.looks[key] = unpack(run.looks[key]);
if (run.particles) for (const key of ["starts", "w", "x"]) run.particles[key] = unpack(run.particles[key]);
if (!run.times) run.times = Float64Array.from({ length: run.T }, (_, t) => t);
else run.timed = true;
run.total = Float64Array.from(run.increments);
for (let t = 1; t < run.T; t++) run.total[t] += run.total[t - 1];
run.measured = run.increments.map((x, t) => run.missing[t] ? NaN : x); // gaps where nothing was
run.rows = run.observed ? run.observed.length / run.T : 0; // numbers of one observation
run.most = run.count.reduce((a, b) => Math.max(a, b), 1);

const LOOKS = ["pilot", "second look", "third look", "fourth look", "fifth look"];

function lookName(k, looks) {
  return looks === 1 ? "one look" : LOOKS[k] || "look " + (k + 1);
}

// Numbers of points of each look of a step; of a plain rule, all in one.
function looksOf(t) {
  const [a, b] = [run.looks.starts[t], run.looks.starts[t + 1]];
  return b > a ? run.looks.sizes.subarray(a, b) : run.evaluations.subarray(t, t + 1);
}

// Series of one coordinate; those relative to the mean with their unit.
function seriesOf(j) {
  const [a, b] = [j * run.T, (j + 1) * run.T];
  const mean = run.means.subarray(a, b);
  const around = (packed) => {
    const part = packed.subarray(a, b);
    return Float64Array.from(part, (x, t) => mean[t] + x * run.unit[j]);
  };
  return {
    name: run.names[j], mean,
    sd: Float64Array.from(run.sd.subarray(a, b), (x) => x * run.unit[j]),
    bands: run.bands.map((band) => ({
      lower: around(band.lower), upper: around(band.upper), label: band.labels[j],
    })).filter((band) => band.lower.some(Number.isFinite)),
    middle: run.middle && j < run.d ? around(run.middle) : null,
    truth: run.truth && run.truth.subarray(a, b),
  };
}

// Particles of the last step up to t at which they were kept; null without history.
function cloudOf(t) {
  const kept = run.particles;
  if (!kept) return null;
  const s = Math.floor(t / kept.every), total = kept.w.length;
  const [a, b] = [kept.starts[s], kept.starts[s + 1]];
  const step = s * kept.every, sizes = looksOf(step), look = new Int32Array(b - a);
  const split = sizes.length > 1 && sizes.reduce((x, y) => x + y, 0) === b - a;
  if (split) {
    let from = 0;
    sizes.forEach((size, k) => { look.fill(k, from, from + size); from += size; });
  }
  const offsets = (j) => kept.x.subarray(j * total + a, j * total + b);
  return {
    step, look, looks: split ? sizes.length : 1, w: kept.w.subarray(a, b),
    offset: (j) => Float64Array.from(offsets(j), (x) => x * run.unit[j]),
    centre: (j) => run.means[j * run.T + step],
  };
}

function timeText(t) {
  return run.dates ? dateText(run.times[t], precisionOf()) : number(run.times[t], timeDigits());
}

// The coarsest unit that all dates are whole multiples of.
function precisionOf() {
  if (!run.precision) {
    run.precision = [DAY, MINUTE, SECOND, 1].find((unit) => run.times.every((x) => x % unit === 0)) || 1;
  }
  return run.precision;
}

// Digits that tell neighbouring times apart.
function timeDigits() {
  if (!run.digits) {
    let least = Infinity;
    for (let t = 1; t < run.T; t++) least = Math.min(least, run.times[t] - run.times[t - 1]);
    const largest = Math.max(Math.abs(run.times[0]), Math.abs(run.times[run.T - 1]), least);
    run.digits = run.T > 1 ? clamp(Math.floor(Math.log10(largest / least)) + 3, 4, 15) : 6;
  }
  return run.digits;
}
