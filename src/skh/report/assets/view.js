// What is shown: the range of times, the step under the cursor, the coordinate. `change` draws it.

const first = run.times[0], last = run.times[run.T - 1];
const gap = run.T > 1 ? (last - first) / (run.T - 1) : 1;
const whole = [first - 0.5 * gap, last + 0.5 * gap];

const view = { low: whole[0], high: whole[1], step: run.T - 1, j: 0, held: false, selection: null };
view.series = seriesOf(0);

const drawings = []; // functions that draw a part of the page
let waiting = false;

function change(changes) {
  Object.assign(view, changes);
  if ("j" in changes) view.series = seriesOf(view.j);
  if (waiting) return;
  waiting = true;
  requestAnimationFrame(() => {
    waiting = false;
    for (const draw of drawings) draw();
  });
}

// The first step at or after a time.
function stepAfter(time) {
  let [a, b] = [0, run.T];
  while (a < b) {
    const middle = (a + b) >> 1;
    if (run.times[middle] < time) a = middle + 1; else b = middle;
  }
  return a;
}

function nearestStep(time) {
  const t = clamp(stepAfter(time), 0, run.T - 1);
  return t > 0 && time - run.times[t - 1] < run.times[t] - time ? t - 1 : t;
}

// First and last step in view.
function stepsInView() {
  return [clamp(stepAfter(view.low), 0, run.T - 1), clamp(stepAfter(view.high) - 1, 0, run.T - 1)];
}

const isWhole = () => view.low <= whole[0] && view.high >= whole[1];

// Show a range of times: within the run, and never less than two steps.
function show(low, high) {
  low = Math.max(low, whole[0]);
  high = Math.min(high, whole[1]);
  const inside = stepAfter(high) - stepAfter(low);
  if (!(high > low) || inside < Math.min(2, run.T)) {
    const t = nearestStep((low + high) / 2);
    low = Math.max(run.times[Math.max(t - 1, 0)] - 0.25 * gap, whole[0]);
    high = Math.min(run.times[Math.min(t + 1, run.T - 1)] + 0.25 * gap, whole[1]);
  }
  const [a, b] = [stepAfter(low), stepAfter(high) - 1];
  change({ low, high, step: clamp(view.step, a, b) });
}

// Zoom by a factor about a time; factors below one show less.
function zoom(factor, about) {
  const span = Math.min((view.high - view.low) * factor, whole[1] - whole[0]);
  const share = (about - view.low) / (view.high - view.low);
  const low = clamp(about - share * span, whole[0], whole[1] - span);
  show(low, low + span);
}

function pan(time) {
  const span = view.high - view.low;
  const low = clamp(view.low + time, whole[0], whole[1] - span);
  show(low, low + span);
}

// Move the cursor; the view follows it.
function moveTo(step) {
  step = clamp(step, 0, run.T - 1);
  const time = run.times[step], span = view.high - view.low;
  change({ step });
  if (time < view.low || time > view.high) pan(time < view.low ? time - view.low - 0.1 * span : time - view.high + 0.1 * span);
}

function reset() {
  change({ low: whole[0], high: whole[1] });
}
