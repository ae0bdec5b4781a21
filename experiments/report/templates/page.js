// Filters rows, finds text, and fills a question's trace when it is opened. Texts only ever enter as text nodes.
"use strict";
const island = document.getElementById("data");
const data = island ? JSON.parse(island.textContent) : { texts: [], traces: [] };
const rows = [...document.querySelectorAll(".row")];
const controls = [...document.querySelectorAll("[data-filter]")];
const find = document.querySelector("[data-find]");

function make(name, text, attributes = {}) {
  const node = document.createElement(name);
  if (text !== undefined) node.textContent = text;
  for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
  return node;
}

function fill(details) {
  const trace = data.traces[details.dataset.n];
  if (!trace || details.dataset.filled) return;
  details.dataset.filled = "yes";
  const list = details.querySelector("dl");
  for (const [name, value] of trace.told) list.append(make("dt", name), make("dd", value));
  const items = make("ol", undefined, { class: "items" });
  for (const [kind, text, rank, views, turns, evidence] of trace.items) {
    const item = make("li", `${rank || "–"} ${kind}${views ? " (" + views + ")" : ""}: ${data.texts[text]} `);
    if (evidence) item.className = "evidence";
    for (const [n, id] of turns) item.append(make("a", id, { href: `#t${n}`, class: "to" }), " ");
    items.append(item);
  }
  details.append(make("p", "what the reasoner was given (marked: from an evidence turn)"), items);
}

function apply() {
  const wanted = find ? find.value.trim().toLowerCase() : "";
  let shown = 0;
  for (const row of rows) {
    const fits = controls.every((one) => !one.value || row.dataset[one.dataset.filter] === one.value);
    row.hidden = !(fits && (!wanted || row.textContent.toLowerCase().includes(wanted)));
    shown += !row.hidden;
  }
  const output = document.querySelector(".filters output");
  if (output) output.textContent = `${shown} of ${rows.length}`;
}

function follow() {
  const target = location.hash && document.getElementById(decodeURIComponent(location.hash.slice(1)));
  for (let node = target; node; node = node.parentElement) if (node.tagName === "DETAILS") node.open = true;
  if (target) target.scrollIntoView();
}

for (const row of rows) row.addEventListener("toggle", () => row.open && fill(row));
for (const control of controls) control.addEventListener("change", apply);
if (find) {
  let waiting = 0;
  find.addEventListener("input", () => { clearTimeout(waiting); waiting = setTimeout(apply, 120); });
  document.addEventListener("keydown", (event) => {
    if (event.key === "/" && !/INPUT|SELECT/.test(document.activeElement.tagName)) { event.preventDefault(); find.focus(); }
    if (event.key === "Escape" && document.activeElement === find) { find.value = ""; apply(); find.blur(); }
  });
}
window.addEventListener("hashchange", follow);
apply();
follow();
