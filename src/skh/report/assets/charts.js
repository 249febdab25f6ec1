// Charts over time: the state with its bands, and one strip for each diagnostic.

const BAND_ALPHA = 0.28; // of the widest band; narrower ones lie on it
const DOTS_BELOW = 80; // steps in view that are drawn as dots as well

function timeTicks(width) {
  const count = Math.max(2, Math.floor(width / (run.dates ? 95 : 80)));
  if (run.dates) return dateTicks(view.low, view.high, count);
  const made = numberTicks(view.low, view.high, count);
  if (!run.timed) made.ticks = made.ticks.filter(([x]) => Number.isInteger(x)).map(([x]) => [x, String(x)]);
  return made;
}

// Steps to draw, one beyond each edge; and in many steps the lowest and highest of each pixel.
function stepsToDraw() {
  const [a, b] = stepsInView();
  return [Math.max(a - 1, 0), Math.min(b + 1, run.T - 1)];
}

function crowded(f) {
  const [a, b] = stepsToDraw();
  return b - a >= 2 * (f.right - f.left);
}

function* columns(f) {
  const [a, b] = stepsToDraw();
  if (!crowded(f)) {
    for (let t = a; t <= b; t++) yield [f.x(run.times[t]), t, t];
    return;
  }
  let from = a, pixel = Math.floor(f.x(run.times[a]));
  for (let t = a + 1; t <= b + 1; t++) {
    const now = t <= b ? Math.floor(f.x(run.times[t])) : NaN;
    if (now === pixel) continue;
    yield [pixel + 0.5, from, t - 1];
    [from, pixel] = [t, now];
  }
}

function extremes(values, from, to) {
  let [low, high] = [Infinity, -Infinity];
  for (let t = from; t <= to; t++) {
    if (values[t] < low && values[t] > -Infinity) low = values[t];
    if (values[t] > high && values[t] < Infinity) high = values[t];
  }
  return [low, high];
}

function drawLine(f, values, colour, { width = 1.6, dash = [], dots = false } = {}) {
  const { g } = f;
  let pen = false;
  g.strokeStyle = g.fillStyle = colour;
  g.lineWidth = crowded(f) ? 1 : width;
  g.globalAlpha = crowded(f) ? 0.7 : 1; // or the line would hide the band
  g.setLineDash(dash);
  g.beginPath();
  const isolated = [];
  for (const [x, from, to] of columns(f)) {
    const [low, high] = extremes(values, from, to);
    if (low > high) { pen = false; continue; }
    if (pen) g.lineTo(x, f.y(low)); else g.moveTo(x, f.y(low));
    if (high > low) g.lineTo(x, f.y(high));
    isolated.push([x, f.y(low)]);
    pen = true;
  }
  g.stroke();
  g.setLineDash([]);
  g.globalAlpha = 1;
  if (dots || isolated.length === 1) for (const [x, y] of isolated) dot(g, x, y, 2.2);
}

function drawBand(f, lower, upper, alpha) {
  const { g } = f, top = [], bottom = [];
  for (const [x, from, to] of columns(f)) {
    top.push([x, f.y(extremes(upper, from, to)[1])]);
    bottom.push([x, f.y(extremes(lower, from, to)[0])]);
  }
  if (top.length === 1) {
    top.unshift([top[0][0] - 6, top[0][1]]);
    bottom.unshift([bottom[0][0] - 6, bottom[0][1]]);
    top.push([top[1][0] + 6, top[1][1]]);
    bottom.push([bottom[1][0] + 6, bottom[1][1]]);
  }
  g.globalAlpha = alpha;
  g.fillStyle = colours.band;
  g.beginPath();
  for (const [x, y] of [...top, ...bottom.reverse()]) if (Number.isFinite(y)) g.lineTo(x, y);
  g.fill();
  g.globalAlpha = 1;
}

// Cursor and selection, over all charts of time.
function drawCursor(f) {
  const { g } = f, x = f.x(run.times[view.step]);
  if (view.selection) {
    const [a, b] = view.selection.map((time) => clamp(f.x(time), f.left, f.right));
    g.fillStyle = colours.cursor;
    g.globalAlpha = 0.15;
    g.fillRect(Math.min(a, b), f.top, Math.abs(b - a), f.bottom - f.top);
    g.globalAlpha = 1;
  }
  g.strokeStyle = colours.cursor;
  g.lineWidth = view.held ? 2 : 1;
  line(g, x, f.top - 4, x, f.bottom);
}

function timeFrame(id, low, high, { labelled = false, count = 3 } = {}) {
  const canvas = prepared(id);
  if (!canvas) return null;
  const f = frame(canvas, low, high, [view.low, view.high], labelled);
  const across = { ...timeTicks(f.right - f.left), hidden: !labelled };
  drawGrid(f, numberTicks(low, high, count), across);
  f.g.save();
  f.g.beginPath();
  f.g.rect(f.left - 3, 0, f.right - f.left + 6, f.bottom + 1);
  f.g.clip();
  return f;
}

function rangeInView(...series) {
  const [a, b] = stepsInView();
  let [low, high] = [Infinity, -Infinity];
  for (const values of series) {
    const [l, h] = extremes(values, a, b);
    [low, high] = [Math.min(low, l), Math.max(high, h)];
  }
  return [low, high];
}

function fewInView() {
  const [a, b] = stepsInView();
  return b - a < DOTS_BELOW;
}

// A chart is painted anew only if its view has changed; over it, the cursor moves. In a run of
// 20,000 steps, painting takes longer than the mouse takes to move on.
const layers = new Map();
function drawChart(id, paint, over = () => {}) {
  const canvas = byId(id), ratio = window.devicePixelRatio || 1;
  const key = [view.low, view.high, view.j, view.observed, canvas.clientWidth, canvas.clientHeight, ratio].join();
  let layer = layers.get(id);
  if (layer && layer.key === key) {
    layer.f.g.setTransform(1, 0, 0, 1, 0, 0);
    layer.f.g.clearRect(0, 0, canvas.width, canvas.height);
    layer.f.g.drawImage(layer.image, 0, 0);
    layer.f.g.setTransform(ratio, 0, 0, ratio, 0, 0);
  } else {
    const f = paint();
    if (!f) return;
    f.g.restore();
    const image = element("canvas");
    [image.width, image.height] = [canvas.width, canvas.height];
    image.getContext("2d").drawImage(canvas, 0, 0);
    layers.set(id, layer = { key, f, image });
  }
  drawCursor(layer.f);
  over(layer.f);
}

function paintState() {
  const s = view.series;
  const all = [s.mean, ...s.bands.flatMap((band) => [band.lower, band.upper])];
  if (s.truth) all.push(s.truth);
  const f = timeFrame("state", ...widened(...rangeInView(...all)), { labelled: true, count: 5 });
  if (!f) return null;
  s.bands.forEach((band, k) => drawBand(f, band.lower, band.upper, BAND_ALPHA + 0.1 * k));
  if (s.middle) drawLine(f, s.middle, colours.mean, { width: 1, dash: [2, 3] });
  if (s.truth) drawLine(f, s.truth, colours.truth, { width: 1.6, dash: [6, 3] });
  drawLine(f, s.mean, colours.mean, { dots: fewInView() });
  drawMissing(f);
  return f;
}

function drawStateCursor(f) {
  f.g.fillStyle = colours.mean;
  dot(f.g, f.x(run.times[view.step]), f.y(view.series.mean[view.step]), 4);
}

// Crosses at the lower edge where nothing was measured.
function drawMissing(f) {
  const { g } = f, y = f.bottom - 5;
  g.strokeStyle = colours.bad;
  g.lineWidth = 1.5;
  for (const [x, from, to] of columns(f)) {
    if (extremes(run.missing, from, to)[1] < 1) continue;
    line(g, x - 2.5, y - 2.5, x + 2.5, y + 2.5);
    line(g, x - 2.5, y + 2.5, x + 2.5, y - 2.5);
  }
}

function paintObserved() {
  const j = view.observed || 0, values = run.observed.subarray(j * run.T, (j + 1) * run.T);
  const f = timeFrame("observed", ...widened(...rangeInView(values)));
  if (!f) return null;
  f.g.fillStyle = colours.mark;
  for (const [x, from, to] of columns(f)) {
    const [low, high] = extremes(values, from, to);
    if (low > high) continue;
    dot(f.g, x, f.y(low), fewInView() ? 2.4 : 1.4);
    if (high > low) dot(f.g, x, f.y(high), 1.4);
  }
  drawMissing(f);
  return f;
}

function paintEss() {
  const f = timeFrame("ess", 0, 1.05 * run.most, { count: 2 });
  if (!f) return null;
  drawLine(f, run.ess, colours.mean);
  f.g.fillStyle = colours.bad;
  for (const [x, from, to] of columns(f)) {
    const [low] = extremes(run.ess, from, to);
    if (low < 2) dot(f.g, x, f.y(low), 2.4);
  }
  return f;
}

// Bars of the numbers of points of each look, one look on the other; averages where steps share a pixel.
function paintLooks() {
  const most = run.evaluations.reduce((a, b) => Math.max(a, b), 1);
  const f = timeFrame("looks", 0, 1.05 * most, { count: 2 });
  if (!f) return null;
  const { g } = f, wide = Math.max(1, (f.x(gap) - f.x(0)) * 0.85);
  for (const [x, from, to] of columns(f)) {
    const heights = [], one = [0];
    for (let t = from; t <= to; t++) {
      const sizes = looksOf(t);
      if (sizes.length === 1) one[0] += sizes[0];
      else sizes.forEach((size, k) => { heights[k] = (heights[k] || 0) + size; });
    }
    let base = 0;
    const bar = (height, colour) => {
      const top = base + height / (to - from + 1);
      g.fillStyle = colour;
      g.fillRect(x - wide / 2, f.y(top), wide, f.y(base) - f.y(top));
      base = top;
    };
    heights.forEach((height, k) => bar(height, lookColour(k, 2)));
    bar(one[0], lookColour(0, 1));
  }
  return f;
}

function paintEvidence() {
  const f = timeFrame("evidence", ...widened(...rangeInView(run.measured)));
  if (!f) return null;
  drawLine(f, run.measured, colours.mean, { width: 1.2, dots: fewInView() });
  return f;
}

const charts = { state: [paintState, drawStateCursor], ess: [paintEss], looks: [paintLooks], evidence: [paintEvidence] };
if (run.observed) charts.observed = [paintObserved];
drawings.push(() => { for (const id in charts) drawChart(id, ...charts[id]); });
