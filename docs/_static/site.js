/* Figures open in full size when they are clicked, and long names in tables may break between their parts. */
const PARTS = /(?<=[a-z]_|[,/])(?=\w)|(?<=\w[.(])(?=[\w[])(?!py\b|\d)/;
const HUMPS = new RegExp(PARTS.source + "|(?<=[a-z])(?=[A-Z])");
const WORDS = "article :is(td, th):not(table.autosummary td:first-child) code .pre, .sd-card code .pre";
const LONG = 24; // letters, from which on names break between their words, too
document.addEventListener("DOMContentLoaded", () => {
  for (const picture of document.querySelectorAll("article img:not(a img):not(.sd-card img)")) {
    const link = document.createElement("a");
    link.href = picture.src;
    link.title = "open in full size";
    picture.replaceWith(link);
    link.append(picture);
  }
  for (const word of document.querySelectorAll(WORDS)) {
    const parts = word.textContent.split(word.textContent.length > LONG ? HUMPS : PARTS);
    word.replaceChildren(...parts.flatMap((part, k) => (k ? [document.createElement("wbr"), part] : [part])));
  }
});
