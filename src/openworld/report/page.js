// Sort tables, copy them as text, pick a learner out of all figures, pick images. The page is whole without it.
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

// Show the images of an album that have every tag chosen above it, and a score within its bounds.
function pickImages(filter) {
  const images = [...filter.closest(".album").querySelectorAll("li")];
  const wanted = [...filter.querySelectorAll("select")].filter((one) => one.value !== "");
  const [least, most] = [...filter.querySelectorAll("input")].map((one) => one.valueAsNumber);
  for (const image of images) {
    const tags = JSON.parse(image.dataset.tags ?? "{}"), score = Number(image.dataset.score ?? NaN);
    image.hidden = wanted.some((one) => tags[one.dataset.tag] !== one.value) || score < least || score > most
      || (Number.isNaN(score) && !(Number.isNaN(least ?? NaN) && Number.isNaN(most ?? NaN)));
  }
  const shown = images.filter((image) => !image.hidden).length;
  filter.querySelector("[data-count]").textContent = shown < images.length ? `${shown} of ${images.length} images` : "";
}
document.addEventListener("input", (event) => {
  const filter = event.target.closest(".filter");
  if (filter) pickImages(filter);
});

// What is wider than the screen says so.
function tellWhatScrolls() {
  for (const part of document.querySelectorAll(".scroll, .legend ul")) {
    part.classList.toggle("wider", part.scrollWidth > part.clientWidth + 1);
  }
}
addEventListener("load", tellWhatScrolls);
addEventListener("resize", tellWhatScrolls);
addEventListener("toggle", tellWhatScrolls, true);

document.addEventListener("click", (event) => {
  const button = event.target.closest("button");
  if (!button) return;
  if (button.dataset.copies) copy(button);
  else if (button.dataset.picks !== undefined) pick(button);
  else if (button.closest("th")) sortBy(button.closest("th"));
});
