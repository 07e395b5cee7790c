"use strict";
// Nothing is sent or fetched: the policy of the page forbids it. Answers lie in this browser until they are downloaded.
const plan = JSON.parse(document.getElementById("plan").textContent);
const KEPT = "openworld-label-" + plan.plan;
const UNSURE = "cannot tell";
const SIDES = { base: "A base class: one that the model was tuned on", new: "A new class: any other", "": "" };
const at = (id) => document.getElementById(id);
const items = plan.images;
let state = { answers: {}, history: [], place: 0 };
let shownSince = 0;
let downloaded = true;

function warn(text) { at("warning").textContent = text; at("warning").hidden = false; }

function load() {
  try {
    const kept = JSON.parse(localStorage.getItem(KEPT));
    if (kept && kept.answers && Array.isArray(kept.history)) state = kept;
  } catch (error) { warn("This browser keeps nothing for this page: download the answers before you close it."); }
  if (!(state.place >= 0 && state.place <= items.length)) state.place = 0;
}

function keep() {
  try { localStorage.setItem(KEPT, JSON.stringify(state)); }
  catch (error) { warn("This browser keeps nothing for this page: download the answers before you close it."); }
}

function element(name, text, attributes = {}) {
  const made = document.createElement(name);
  made.textContent = text;
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  return made;
}

function nextOpen(from) {
  for (let step = 0; step < items.length; step++) {
    const place = (from + step) % items.length;
    if (!state.answers[items[place].id]) return place;
  }
  return items.length;
}

function answer(code, label = "") {
  const item = items[state.place];
  if (!item) return;
  const seconds = Math.round((performance.now() - shownSince) / 100) / 10;
  state.answers[item.id] = { code, label, seconds };
  state.history = state.history.filter((place) => place !== state.place).concat(state.place);
  state.place = nextOpen(state.place + 1);
  downloaded = false;
  keep();
  show();
}

function undo() {
  if (!state.history.length) return;
  state.place = state.history.pop();
  delete state.answers[items[state.place].id];
  downloaded = false;
  keep();
  show();
}

function move(step) {
  state.place = Math.max(0, Math.min(items.length, state.place + step));
  keep();
  show();
}

function sentence(option) {
  const made = element("span", "");
  if (option.name) {
    made.append(plan.closed ? "It is " : "and it is ", element("b", option.name));
  } else {
    const names = option.not.map((name) => element("b", name));
    made.append(plan.closed ? "It is not " : "but not ");
    names.forEach((name, place) => made.append(place ? " and not " : "", name));
  }
  return made;
}

function showAnswers(item) {
  const given = state.answers[item.id], nodes = [];
  let side = null;
  for (const option of item.options) {
    if (option.side !== side && SIDES[option.side]) nodes.push(element("h3", SIDES[option.side]));
    side = option.side;
    const button = element("button", "", { type: "button", "data-code": option.code });
    button.setAttribute("aria-pressed", String(Boolean(given) && given.code === option.code && !given.label));
    button.append(element("kbd", String(option.key)), sentence(option));
    button.addEventListener("click", () => answer(option.code));
    nodes.push(button);
  }
  at("answers").replaceChildren(...nodes);
  at("unsure").setAttribute("aria-pressed", String(Boolean(given) && given.code === UNSURE));
  at("said").textContent = given && given.label ? "You said: " + given.label + "." : "";
}

function showImage(item) {
  const holder = at("image");
  if (!item.image) {
    holder.replaceChildren(element("p", "No image lies on this page. Look at the image of this name."));
  } else {
    const image = element("img", "", { src: item.image, alt: "image " + item.id });
    // Small drawings are enlarged, and no more than fourfold.
    if (item.width) image.style.width = Math.min(Math.max(item.width, 380), 4 * item.width) + "px";
    image.addEventListener("error", () => holder.replaceChildren(element("p", "This image cannot be read: " + item.image)));
    holder.replaceChildren(image);
  }
  at("name").textContent = item.name;
  const next = items[state.place + 1];
  if (next && next.image && !next.image.startsWith("data:")) new Image().src = next.image;
}

function minutesLeft(open) {
  const times = Object.values(state.answers).map((given) => given.seconds).sort((one, other) => one - other);
  if (times.length < 5 || !open) return "";
  const seconds = open * times[Math.floor(times.length / 2)];
  return seconds < 60 ? ", less than a minute left" : ", about " + Math.round(seconds / 60) + " min left";
}

function show() {
  const done = items.filter((item) => state.answers[item.id]).length, open = items.length - done;
  const unsure = items.filter((item) => state.answers[item.id] && state.answers[item.id].code === UNSURE).length;
  at("progress").max = items.length;
  at("progress").value = done;
  at("counted").textContent = done + " of " + items.length + " answered" + minutesLeft(open);
  const item = items[state.place], whole = !open;
  at("shown").hidden = at("answers").hidden = !item;
  document.querySelector("main").classList.toggle("end", !item);
  at("unsure").disabled = at("later").disabled = !item;
  at("back").disabled = state.place === 0;
  at("undo").disabled = !state.history.length;
  at("names").hidden = !item || !plan.base_names.length;
  at("download").classList.toggle("ready", whole);
  if (item) {
    at("question").textContent = plan.closed ? "What is it?" : "What is this an image of?";
    showImage(item);
    showAnswers(item);
  } else {
    const left = open ? open + " images are still without an answer: go back to them, or press →." : "All " + done + " are answered" + (unsure ? ", " + unsure + " of them with “cannot tell”" : "") + ".";
    at("question").textContent = left + " Download the answers, put the file into the folder of the plan, and run: openworld label read " + plan.folder;
    at("said").textContent = "";
    at("later").disabled = !open;
  }
  shownSince = performance.now();
}

function cell(text) {
  let plain = String(text);
  if (/^[=+\-@\t\r]/.test(plain) && Number.isNaN(Number(plain))) plain = "'" + plain;  // no formula of a spreadsheet
  return /[",\r\n]/.test(plain) ? '"' + plain.replaceAll('"', '""') + '"' : plain;
}

function answersText() {
  const lines = ["plan,id,answer,label,seconds"];
  for (const item of items) {
    const given = state.answers[item.id];
    if (given) lines.push([plan.plan, item.id, given.label ? "" : given.code, given.label, given.seconds].map(cell).join(","));
  }
  return lines.join("\n") + "\n";
}

function download() {
  const address = URL.createObjectURL(new Blob([answersText()], { type: "text/csv" }));
  const link = element("a", "", { href: address, download: "answers-" + plan.plan + ".csv" });
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(address), 10000);
  downloaded = true;
}

function listNames() {
  const wanted = at("filter").value.trim().toLowerCase(), nodes = [];
  for (const [title, names] of [[plan.closed ? "Classes" : "Base classes", plan.base_names], ["New classes", plan.new_names]]) {
    const found = names.filter((name) => name.toLowerCase().includes(wanted));
    if (names.length) nodes.push(element("h3", title + ": " + found.length + (wanted ? " of " + names.length : "")));
    for (const name of found.slice(0, 500)) {
      const button = element("button", name, { type: "button" });
      button.addEventListener("click", () => { at("filter").value = ""; answer("label", name); listNames(); });
      nodes.push(button);
    }
    if (found.length > 500) nodes.push(element("p", "and " + (found.length - 500) + " more: write a part of the name."));
  }
  at("lists").replaceChildren(...nodes);
}

function press(event) {
  if (event.ctrlKey || event.metaKey || event.altKey) {
    if (event.key === "z" && !event.altKey && event.target.tagName !== "INPUT") { event.preventDefault(); undo(); }
    return;
  }
  if (event.target.tagName === "INPUT") {
    if (event.key === "Escape") event.target.blur();
    return;
  }
  if (event.repeat) return;  // a key that is held down answers one image, not the next ones too
  const item = items[state.place], option = item && item.options.find((own) => String(own.key) === event.key);
  const actions = { ArrowLeft: () => move(-1), Backspace: () => move(-1), ArrowRight: later, 0: () => answer(UNSURE), u: undo, U: undo, d: download, D: download };
  const action = option ? () => answer(option.code) : actions[event.key];
  if (action) { event.preventDefault(); action(); }
}

function later() {
  if (items[state.place]) move(1);
  else if (nextOpen(0) < items.length) { state.place = nextOpen(0); keep(); show(); }
}

for (const [id, action] of Object.entries({ back: () => move(-1), later, unsure: () => answer(UNSURE), undo, download })) {
  at(id).addEventListener("click", (event) => { event.currentTarget.blur(); action(); });
}
at("filter").addEventListener("input", listNames);
document.addEventListener("keydown", press);
window.addEventListener("storage", (event) => { if (event.key === KEPT) { load(); show(); } });
window.addEventListener("beforeunload", (event) => { if (!downloaded && !at("warning").hidden) event.preventDefault(); });
load();
listNames();
show();
