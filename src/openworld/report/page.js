// Sort tables, copy them as text, pick a learner out of all figures. The page is whole without it.
"use strict";

function sortBy(header) {
  const body = header.closest("table").tBodies[0];
  const first = header.dataset.first || "descending";
  const other = first === "descending" ? "ascending" : "descending";
  const order = header.getAttribute("aria-sort") === first ? other : first;
  for (const sibling of header.parentNode.children) sibling.removeAttribute("aria-sort");
  header.setAttribute("aria-sort", order);
  const sign = order === "ascending" ? 1 : -1;
  const value = (row) => {
    const cell = row.children[header.cellIndex];
    return cell.dataset.value ?? cell.textContent.trim();
  };
  const missing = (text) => text === "" || text === "–";
  const compare = (a, b) => {
    if (missing(value(a)) || missing(value(b))) return missing(value(a)) - missing(value(b));
    const difference = Number(value(a)) - Number(value(b));
    return sign * (Number.isNaN(difference) ? value(a).localeCompare(value(b)) : difference);
  };
  body.append(...[...body.rows].sort(compare));
}

function asText(table) {
  const line = (row) => [...row.cells].map((cell) => (cell.dataset.text || cell.textContent).trim().replace(/\s+/g, " "));
  return [...table.rows].map((row) => line(row).join("\t")).join("\n") + "\n";
}

async function copy(button) {
  const text = asText(document.getElementById(button.dataset.copies));
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    const area = document.body.appendChild(Object.assign(document.createElement("textarea"), { value: text }));
    area.select();
    document.execCommand("copy");
    area.remove();
  }
  const label = button.textContent;
  button.textContent = "Copied";
  setTimeout(() => (button.textContent = label), 1500);
}

function pick(button) {
  const on = button.getAttribute("aria-pressed") !== "true";
  button.setAttribute("aria-pressed", String(on));
  const names = new Set([...document.querySelectorAll(".legend [aria-pressed=true]")].map((one) => one.dataset.picks));
  document.body.classList.toggle("picked", names.size > 0);
  for (const mark of document.querySelectorAll("[data-learner]")) {
    mark.classList.toggle("chosen", names.has(mark.dataset.learner));
  }
}

// Pointing at a learner, by mouse or by moving the focus to its name, brings it forward until something else is.
function point(event) {
  const at = event.target.closest?.(".legend [data-picks], svg [data-learner]");
  const name = at ? (at.dataset.picks ?? at.dataset.learner) : null;
  if (name === document.body.dataset.pointed) return;
  if (name === null) delete document.body.dataset.pointed;
  else document.body.dataset.pointed = name;
  document.body.classList.toggle("pointing", name !== null);
  for (const mark of document.querySelectorAll("svg [data-learner]")) {
    mark.classList.toggle("pointed", mark.dataset.learner === name);
  }
}
for (const kind of ["pointerover", "focusin"]) document.addEventListener(kind, point);

document.addEventListener("click", (event) => {
  const button = event.target.closest("button");
  if (!button) return;
  if (button.dataset.copies) copy(button);
  else if (button.dataset.picks !== undefined) pick(button);
  else if (button.closest("th")) sortBy(button.closest("th"));
});
