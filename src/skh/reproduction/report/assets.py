"""Style sheet and script of the HTML report."""

STYLE = """
:root { color-scheme: light; --line: #ddd; --soft: #f6f7f9; --ink: #1c2733; --link: #2a5d92; }
* { box-sizing: border-box; }
body { margin: 0; color: var(--ink); background: #fff; overflow-wrap: break-word;
  font: 16px/1.5 system-ui, -apple-system, "Segoe UI", Roboto, "DejaVu Sans", sans-serif; }
nav { position: sticky; top: 0; z-index: 1; background: #fff; padding: .5rem 1rem; display: flex;
  gap: .2rem 1.2rem; flex-wrap: wrap; border-bottom: 1px solid var(--line); }
a { color: var(--link); text-decoration: none; }
main { max-width: 76rem; margin: 0 auto; padding: 0 1rem 3rem; }
h1 { line-height: 1.2; margin: 1.2rem 0 .6rem; }
h2 { margin: 2.2rem 0 .5rem; padding-top: .4rem; border-top: 1px solid var(--line);
  scroll-margin-top: 3rem; }
h3 { margin: 1rem 0 0; }
.wide { overflow-x: auto; }
.note { background: #fff6df; border-left: 4px solid #e0b030; padding: .5rem .8rem; }
figure { margin: 1rem 0 1.6rem; }
figure img { display: block; width: 100%; min-width: 44rem; height: auto; }
figcaption, q, td i { color: #55606c; }
figcaption { font-size: .9rem; }
table { border-collapse: collapse; width: 100%; font-size: .87rem; }
th, td { text-align: left; vertical-align: top; padding: .4rem .6rem;
  border-bottom: 1px solid var(--line); }
th { background: var(--soft); padding: 0; }
th button { all: unset; cursor: pointer; display: block; padding: .4rem .6rem; font-weight: 600;
  white-space: nowrap; }
th button:focus-visible { outline: 2px solid var(--link); }
th[aria-sort=ascending] button::after { content: " \\2191"; }
th[aria-sort=descending] button::after { content: " \\2193"; }
.claims td:nth-child(1) { width: 19%; }
.claims td:nth-child(2) { width: 24%; }
.claims td:nth-child(4) { width: 9rem; }
.numbers td { font-variant-numeric: tabular-nums; white-space: nowrap; padding: .15rem .6rem; }
.numbers td:nth-child(n+3), .numbers th:nth-child(n+3) button { text-align: right; }
.yes, .no, .open { border-radius: 1rem; padding: .1rem .6rem; white-space: nowrap;
  font-weight: 600; }
.yes { background: #dff2e3; color: #1b6b34; }
.no { background: #fbe3e3; color: #a12626; }
.open { background: #eceff3; color: #4a5563; }
details { margin: .3rem 0; }
summary { cursor: pointer; color: var(--link); }
pre { background: var(--soft); padding: .8rem; overflow-x: auto; font-size: .8rem; }
@media (max-width: 46rem) {
  .claims thead { display: none; }
  .claims, .claims tbody, .claims tr, .claims td { display: block; width: auto !important; }
  .claims tr { border: 1px solid var(--line); border-radius: .5rem; margin: .7rem 0;
    padding: .3rem; }
  .claims td { border: 0; padding: .25rem .5rem; }
  .claims td:nth-child(n+2)::before { content: attr(data-label) ": "; font-weight: 600; }
}
"""

SCRIPT = """
"use strict";
function key(row, column) {
  const cell = row.children[column];
  const text = cell.dataset.value === undefined ? cell.textContent : cell.dataset.value;
  const number = Number(text);
  return text.trim() !== "" && !Number.isNaN(number) ? number : text;
}
function compare(a, b) {
  if (typeof a === "number" && typeof b === "number") return a - b;
  if (typeof a !== typeof b) return typeof a === "number" ? -1 : 1;
  return a.localeCompare(b);
}
for (const table of document.querySelectorAll("table")) {
  const heads = [...table.querySelectorAll("th")];
  heads.forEach((head, column) => head.querySelector("button").addEventListener("click", () => {
    const down = head.getAttribute("aria-sort") === "ascending";
    heads.forEach(other => other.removeAttribute("aria-sort"));
    head.setAttribute("aria-sort", down ? "descending" : "ascending");
    const body = table.tBodies[0];
    const rows = [...body.rows].map(row => [key(row, column), row]);
    rows.sort((a, b) => (down ? -1 : 1) * compare(a[0], b[0]));
    body.append(...rows.map(pair => pair[1]));
  }));
}
"""
