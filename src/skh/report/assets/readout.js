// What the page says about the step under the cursor, and about the range in view.

function fillLegend(id, items) {
  const text = JSON.stringify(items), legend = byId(id);
  if (legend.dataset.items === text) return; // unchanged since the last step
  legend.dataset.items = text;
  legend.replaceChildren(...items.map(([label, colour, kind]) => {
    const item = element("span", label), swatch = element("i", "", kind);
    swatch.style.color = colour;
    item.prepend(swatch);
    return item;
  }));
}

function drawLegend() {
  const s = view.series, items = [["mean", colours.mean, "line"]];
  s.bands.forEach((band, k) => items.push([band.label, colours.band, "area" + k]));
  if (s.middle) items.push([run.middleLabel, colours.mean, "dash"]);
  if (s.truth && s.truth.some(Number.isFinite)) items.push(["truth", colours.truth, "dash"]);
  if (run.missing.includes(1)) items.push(["nothing measured", colours.bad, "cross"]);
  fillLegend("legend", items);
}

function bandText(s, t) {
  const band = s.bands[0];
  if (!band) return "";
  const ends = [band.lower[t], band.upper[t]].map((x) => resolved(x, s.sd[t]));
  return `${ends[0]} … ${ends[1]}`;
}

function drawReadout() {
  const t = view.step, s = view.series;
  byId("name").textContent = s.name;
  const truth = s.truth && Number.isFinite(s.truth[t]) ? `, truth ${resolved(s.truth[t], s.sd[t])}` : "";
  byId("state-value").textContent = `mean ${resolved(s.mean[t], s.sd[t])}, ${bandText(s, t)}${truth}`;
  byId("ess-value").textContent = `${number(run.ess[t], 3)} of ${run.count[t]}`;
  byId("looks-value").textContent = looksText(t);
  if (run.looks.sizes.length) fillLegend("looks-legend", lookItems());
  byId("evidence-value").textContent = `${number(run.increments[t], 5)}, sum ${number(run.total[t], 6)}`;
  if (run.observed) byId("observed-value").textContent = observedText(t);
  const time = run.timed ? `, ${run.dates ? "" : "t = "}${timeText(t)}` : "";
  const state = run.missing[t] ? ", nothing measured" : "";
  byId("moment").textContent = `Step ${t}${time}${state}${view.held ? " (held)" : ""}`;
  drawMoments(t);
  drawRange();
  const slider = byId("state");
  slider.setAttribute("aria-valuenow", t);
  slider.setAttribute("aria-valuetext", `step ${t}${time}${state}, ${s.name} ${byId("state-value").textContent}`);
}

function looksText(t) {
  const sizes = [...looksOf(t)], total = run.evaluations[t], reason = run.looks.reason[t];
  const parts = sizes.length > 1 ? sizes.map((n, k) => `${lookName(k, sizes.length)} ${n}`).join(", ") : `${total}`;
  return reason >= 0 ? `${parts} (${run.looks.reasons[reason]})` : parts;
}

// Names of all looks that occur.
function lookItems() {
  if (!run.lookItems) {
    const most = run.looks.starts.reduce((a, b, t, all) => Math.max(a, t ? b - all[t - 1] : 0), 1);
    run.lookItems = Array.from({ length: most > 1 ? most : 0 }, (_, k) => [lookName(k, most), k]);
    run.oneLook = run.evaluations.some((n, t) => n > 0 && looksOf(t).length === 1);
  }
  const one = run.oneLook ? [["one look", lookColour(0, 1), "disc"]] : [];
  return [...one, ...run.lookItems.map(([name, k]) => [name, lookColour(k, 2), k ? "disc" : "ring"])];
}

function observedText(t) {
  const j = view.observed || 0, value = run.observed[j * run.T + t];
  return Number.isNaN(value) ? "missing" : number(value, 6);
}

// Moments of all coordinates; values in cells that exist already.
const cells = [];
function makeMoments() {
  const table = element("table"), head = table.createTHead().insertRow();
  const labels = ["", "mean", "sd", ...(run.truth ? ["truth"] : [])];
  for (const label of labels) head.append(element("th", label));
  const body = table.createTBody();
  run.names.forEach((name) => {
    const row = body.insertRow();
    const heading = element("th", name);
    heading.scope = "row";
    row.append(heading);
    cells.push(labels.slice(1).map(() => row.insertCell()));
  });
  byId("moments").append(table);
}
makeMoments();

function drawMoments(t) {
  run.names.forEach((_, j) => {
    const at = j * run.T + t, sd = run.sd[at] * run.unit[j];
    const texts = [resolved(run.means[at], sd), number(sd, 3)];
    if (run.truth) texts.push(resolved(run.truth[at], sd));
    texts.forEach((text, k) => { cells[j][k].textContent = text; });
  });
}

function drawRange() {
  const [a, b] = stepsInView();
  const times = run.timed ? ` (${timeText(a)} to ${timeText(b)})` : "";
  const more = isWhole() ? "" : ` of ${run.T}`;
  byId("range").textContent = `steps ${a} to ${b}${more}${times}`;
  const size = whole[1] - whole[0], thumb = byId("thumb");
  thumb.style.left = 100 * (view.low - whole[0]) / size + "%";
  thumb.style.width = 100 * (view.high - view.low) / size + "%";
  byId("track").style.visibility = isWhole() ? "hidden" : "visible";
  for (const id of ["all", "out", "earlier", "later"]) byId(id).disabled = isWhole();
  byId("earlier").disabled = view.low <= whole[0];
  byId("later").disabled = view.high >= whole[1];
}

// The steps in view as a table, made when it is opened.
const MOST_ROWS = 200;
function drawSteps() {
  const details = byId("steps");
  if (!details.open) return;
  const [a, b] = stepsInView(), s = view.series, end = Math.min(b, a + MOST_ROWS - 1);
  const key = [a, end, view.j].join();
  if (details.dataset.key === key) return;
  details.dataset.key = key;
  const table = element("table"), head = table.createTHead().insertRow(), body = table.createTBody();
  const labels = ["step", ...(run.timed ? ["time"] : []), `mean of ${s.name}`, s.bands[0].label, "ESS", "increment"];
  for (const label of labels) head.append(element("th", label));
  for (let t = a; t <= end; t++) {
    const row = body.insertRow();
    const texts = [t, ...(run.timed ? [timeText(t)] : []), resolved(s.mean[t], s.sd[t]), bandText(s, t),
      number(run.ess[t], 3), number(run.increments[t], 4)];
    texts.forEach((text, k) => {
      const cell = row.insertCell();
      cell.textContent = text;
      cell.dataset.label = labels[k];
    });
  }
  const left = b - end;
  const note = left > 0 ? [element("p", `${plural(left, "more step")} in view: zoom in to list them.`)] : [];
  details.replaceChildren(details.querySelector("summary"), table, ...note);
}

drawings.push(drawLegend, drawReadout, drawSteps);
