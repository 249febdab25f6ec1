// The particles at the cursor: two coordinates as a scatter, or one against the weight.

const WEIGHTS = -1; // choice of the second axis
const SHOWN_MASS = 0.999; // of the weights, where only they are shown
const picked = { across: 0, against: run.d > 1 ? 1 : WEIGHTS, focus: false, near: null };
let places = []; // pixels of the particles drawn last

function drawCloud() {
  const cloud = cloudOf(view.step);
  if (!cloud) return;
  const canvas = prepared("cloud");
  if (!canvas) return;
  const stems = picked.against === WEIGHTS;
  const across = cloudAxis(cloud, picked.across);
  const against = stems ? weightAxis(cloud) : cloudAxis(cloud, picked.against);
  const f = frame(canvas, against.low, against.high, [across.low, across.high]);
  drawGrid(f, against.ticks(4), across.ticks(Math.max(2, Math.floor(canvas.width / 75))));
  f.g.save();
  f.g.beginPath();
  f.g.rect(f.left - 4, f.top - 4, f.right - f.left + 8, f.bottom - f.top + 8);
  f.g.clip();
  if (!stems) drawEllipse(f, cloud, across, against);
  drawParticles(f, cloud, across, against, stems);
  drawTruth(f, across, stems ? null : against, cloud.step);
  f.g.restore();
  describeCloud(cloud);
}

// Offsets from the mean of the step: ticks add it, so that no digits are lost far from zero.
function cloudAxis(cloud, j) {
  const values = cloud.offset(j), centre = cloud.centre(j);
  let shown = values;
  const truth = run.truth ? run.truth[j * run.T + cloud.step] - centre : NaN;
  if (picked.focus) {
    const order = [...cloud.w.keys()].sort((a, b) => cloud.w[b] - cloud.w[a]);
    let mass = 0;
    shown = [];
    for (const i of order) {
      if (mass > SHOWN_MASS) break;
      mass += cloud.w[i];
      shown.push(values[i]);
    }
  }
  let [low, high] = extremes(shown, 0, shown.length - 1);
  if (Number.isFinite(truth)) [low, high] = [Math.min(low, truth), Math.max(high, truth)];
  const sd = Math.sqrt(values.reduce((sum, x, i) => sum + cloud.w[i] * x * x, 0));
  if (sd > 0) [low, high] = [Math.min(low, -2.2 * sd), Math.max(high, 2.2 * sd)];
  else if (low === high) [low, high] = [low - (Math.abs(centre) || 1) / 2, high + (Math.abs(centre) || 1) / 2];
  [low, high] = widened(low, high);
  const ticks = (count) => {
    const made = numberTicks(centre + low, centre + high, count);
    made.ticks = made.ticks.map(([x, label]) => [x - centre, label]);
    return made;
  };
  return { j, values, low, high, ticks, truth };
}

function weightAxis(cloud) {
  const high = 1.08 * extremes(cloud.w, 0, cloud.w.length - 1)[1];
  return { values: cloud.w, low: 0, high, ticks: (count) => numberTicks(0, high, count) };
}

function drawParticles(f, cloud, across, against, stems) {
  const { g } = f, heaviest = extremes(cloud.w, 0, cloud.w.length - 1)[1];
  places = [];
  g.lineWidth = 1.2;
  for (let i = 0; i < cloud.w.length; i++) {
    const [x, y] = [f.x(across.values[i]), f.y(against.values[i])];
    places.push([x, y]);
    const colour = lookColour(cloud.look[i], cloud.looks);
    const hollow = cloud.looks > 1 && cloud.look[i] === 0;
    const radius = stems ? 3 : Math.max(2, 8 * Math.sqrt(cloud.w[i] / heaviest));
    g.strokeStyle = g.fillStyle = colour;
    if (stems) line(g, x, f.bottom, x, y);
    particle(g, x, y, radius, hollow);
  }
  if (picked.near !== null && places[picked.near]) {
    g.strokeStyle = colours.ink;
    g.lineWidth = 2;
    g.beginPath();
    g.arc(...places[picked.near], 9, 0, 2 * Math.PI);
    g.stroke();
  }
}

function particle(g, x, y, radius, hollow) {
  g.beginPath();
  g.arc(x, y, radius, 0, 2 * Math.PI);
  if (hollow) {
    g.stroke();
    return;
  }
  g.globalAlpha = 0.65;
  g.fill();
  g.globalAlpha = 1;
}

// Two standard deviations of the particles around their mean.
function drawEllipse(f, cloud, across, against) {
  const [u, v, w] = [across.values, against.values, cloud.w];
  let [uu, uv, vv] = [0, 0, 0];
  const [a, b] = [across.high - across.low, against.high - against.low]; // in units of the axes
  for (let i = 0; i < w.length; i++) {
    uu += w[i] * (u[i] / a) ** 2;
    uv += w[i] * (u[i] / a) * (v[i] / b);
    vv += w[i] * (v[i] / b) ** 2;
  }
  const { g } = f, l = Math.sqrt(uu), m = l > 0 ? uv / l : 0, r = Math.sqrt(Math.max(vv - m * m, 0));
  g.strokeStyle = colours.soft;
  g.setLineDash([4, 3]);
  g.lineWidth = 1;
  g.beginPath();
  for (let k = 0; k <= 90; k++) {
    const [c, s] = [2 * Math.cos(k * Math.PI / 45), 2 * Math.sin(k * Math.PI / 45)];
    g.lineTo(f.x(a * l * c), f.y(b * (m * c + r * s)));
  }
  g.stroke();
  g.setLineDash([]);
}

function drawTruth(f, across, against) {
  if (!Number.isFinite(across.truth)) return;
  const { g } = f, x = f.x(across.truth);
  g.strokeStyle = colours.truth;
  g.lineWidth = 2;
  if (!against) {
    g.setLineDash([6, 3]);
    line(g, x, f.top, x, f.bottom);
    g.setLineDash([]);
    return;
  }
  const y = f.y(against.truth);
  line(g, x - 7, y, x + 7, y);
  line(g, x, y - 7, x, y + 7);
}

function describeCloud(cloud) {
  const items = [], mass = new Float64Array(cloud.looks), count = new Int32Array(cloud.looks);
  cloud.look.forEach((k, i) => { mass[k] += cloud.w[i]; count[k] += 1; });
  for (let k = 0; k < cloud.looks; k++) {
    const weight = cloud.looks > 1 ? `, ${number(100 * mass[k], 3)}% of the weight` : "";
    const name = cloud.looks > 1 ? lookName(k, cloud.looks) : "particles";
    items.push([`${name}: ${count[k]}${weight}`, lookColour(k, cloud.looks), cloud.looks > 1 && k === 0 ? "ring" : "disc"]);
  }
  if (run.truth) items.push(["truth", colours.truth, "dash"]);
  if (picked.against !== WEIGHTS) items.push(["two standard deviations", colours.soft, "dash"]);
  fillLegend("cloud-legend", items);
  const kept = run.particles.every > 1 ? ` Shown are those of step ${cloud.step}: the page keeps one step in ${run.particles.every}.` : "";
  byId("particle").textContent = nearText(cloud) + kept;
}

function nearText(cloud) {
  const i = picked.near;
  if (i === null || i >= cloud.w.length) return "";
  const axes = picked.against === WEIGHTS ? [picked.across] : [picked.across, picked.against];
  const parts = axes.map((j) => {
    const values = cloud.offset(j), scale = run.unit[j] * run.sd[j * run.T + cloud.step];
    return `${run.names[j]} ${resolved(cloud.centre(j) + values[i], scale)}`;
  });
  const look = cloud.looks > 1 ? ` (${lookName(cloud.look[i], cloud.looks)})` : "";
  return `Particle ${i}${look}: ${parts.join(", ")}, weight ${number(cloud.w[i], 3)}.`;
}

function nearestParticle(x, y) {
  let [best, found] = [24 ** 2, null];
  places.forEach(([u, v], i) => {
    const distance = (u - x) ** 2 + (v - y) ** 2;
    if (distance < best) [best, found] = [distance, i];
  });
  return found;
}

if (run.particles) drawings.push(drawCloud);
