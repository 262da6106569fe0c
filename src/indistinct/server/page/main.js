// The explorer: state, what it asks for, and what is shown. All numbers are the library's.

import { makeBelief } from "./belief.js";
import { partControls, slider } from "./controls.js";
import { makeCurve } from "./curve.js";
import { makeRegion } from "./region.js";
import { curve as askCurve, grid, kinds as askKinds, newest, numbers as askNumbers } from "./source.js";
import { DELTAS, PRIORS, firstPart, fromHash, nearestOf, toHash } from "./state.js";
import { CLASSES, element, html } from "./svg.js";

const get = (id) => document.getElementById(id);
let kinds = [], state = null, notes = [], latest = { numbers: null, curve: null, at: 0 }, growing = 0;

const region = makeRegion(get("region"), choose, stepTangent);
const curve = makeCurve(get("curve"), choose, stepTangent);
const belief = makeBelief(get("belief"));

// The newest position of a drag is drawn once in a frame.
let wanted = null;
function choose(at) {
  if (wanted === null) requestAnimationFrame(() => { latest.at = wanted; wanted = null; showTangent(); });
  wanted = at;
}

function stepTangent(event) {
  if (!latest.curve) return;
  const last = latest.curve.knots.length - 1;
  const moves = { ArrowRight: 1, ArrowUp: 1, ArrowLeft: -1, ArrowDown: -1, PageUp: 8, PageDown: -8, Home: -last, End: last };
  if (!(event.key in moves)) return;
  event.preventDefault();
  choose(Math.min(last, Math.max(0, latest.at + moves[event.key])));
}

function showTangent() {
  const knot = latest.curve.knots[Math.min(latest.at, latest.curve.knots.length - 1)];
  region.tangent(knot);
  curve.tangent(knot);
  get("tangent").textContent = `The tangent drawn: epsilon ${knot.epsilon}, delta ${knot.delta.text}.`;
}

function trouble(error) {
  get("trouble").textContent = error.message;
  get("trouble").hidden = false;
  get("odds").classList.add("busy");
}

function showNumbers(answer, asked) {
  latest.numbers = answer;
  get("trouble").hidden = true;
  get("odds").classList.remove("busy");
  const { guesses, right, without } = answer.odds;
  get("odds").replaceChildren(`Of ${guesses} guesses about you, at most `, html("strong", {}, right), ` are right, against ${without} without the data.`);
  get("total").textContent = `${answer.times.toLocaleString("en")} ${answer.times === 1 ? "answer" : "answers"}:`;
  get("answer").replaceChildren("epsilon ", html("strong", {}, answer.epsilon.text), ` at delta ${answer.delta}`);
  if (answer.epsilon.value === null) {
    get("answer").append(`: their own deltas add up to ${answer.disclosure.text} already. Ask at that delta or more.`);
  }
  get("caption").textContent = `Epsilon at delta ${answer.delta}, as each theorem bounds it`;
  get("theorems").replaceChildren(...answer.theorems.map((row) => html("tr", {},
    html("th", { scope: "row" }, swatch(row.theorem), row.theorem),
    html("td", { class: "number" }, row.text), html("td", {}, row.source))));
  get("silent").hidden = answer.theorems.length > 1;
  get("believed").textContent =
    `Who holds it ${asked.prior} likely that your record is in the data holds it between ${answer.belief.lower} and ` +
    `${answer.belief.upper} likely afterwards, but for a chance of at most delta ${answer.delta} (epsilon ${answer.epsilon.text}).`;
  belief.show(answer.belief, answer.epsilon.value);
  region.bounds(answer.theorems, Number(answer.delta));
  get("python").textContent = answer.python;
  answer.noise.forEach((half, i) => {
    if (!notes[i]) return;
    notes[i].hidden = half === null;
    notes[i].textContent = `noise interval (95%, privacy noise only): ±${half}`;
  });
  if (latest.curve) curve.show(latest.curve, answer.theorems, Number(answer.delta));
}

function showCurve(answer) {
  const share = latest.curve ? latest.at / (latest.curve.knots.length - 1) : 0.25;
  get("region").classList.remove("busy");
  latest.curve = answer;
  latest.at = Math.round(share * (answer.knots.length - 1));
  region.show(answer);
  if (latest.numbers) curve.show(answer, latest.numbers.theorems, Number(latest.numbers.delta));
  showTangent();
}

function swatch(theorem) {
  const line = element("line", { class: `bound ${CLASSES[theorem]}`, x1: 0, x2: 30, y1: 6, y2: 6 });
  return html("span", { class: "swatch", "aria-hidden": "true" }, element("svg", { width: 30, height: 12, viewBox: "0 0 30 12" }, line));
}

const wantNumbers = newest(askNumbers, showNumbers, trouble);
const wantCurve = newest(askCurve, showCurve, () => {});

function snapshot() {
  return structuredClone({ parts: state.parts, delta: state.delta, prior: state.prior });
}

// How often a mechanism may be used: as often as there are numbers for; null for any number of times.
const countsOf = (name) => grid?.counts[name] ?? null;

let saving = 0;
function changed() {
  growing++;
  wantNumbers(snapshot());
  wantCurve(snapshot());
  get("region").classList.add("busy");
  clearTimeout(saving);
  saving = setTimeout(() => history.replaceState(null, "", toHash(state, kinds)), 250);
}

function build() {
  const controls = state.parts.map((part, position) => partControls({
    part, position, kinds, counts: countsOf(part.kind), exact: !grid, removable: state.parts.length > 1, changed,
    replaced: (name) => {
      const first = firstPart(kinds.find((each) => each.name === name), countsOf(name));
      state.parts[position] = { ...first, times: nearestOf(countsOf(name), part.times) };
      rebuild(position);
    },
    removed: () => { state.parts.splice(position, 1); rebuild(Math.max(0, position - 1)); },
  }));
  notes = controls.map((each) => each.noise);
  get("parts").replaceChildren(...controls.map((each) => each.element));
  get("add").hidden = Boolean(grid) || state.parts.length >= 8;
  get("delta").replaceChildren(slider({
    label: "looked at delta", steps: grid?.deltas ?? DELTAS, value: state.delta, exact: !grid,
    ends: ["← the stricter promise", ""], changed: (text) => { state.delta = text; changed(); },
  }));
  get("prior").replaceChildren(slider({
    label: "How likely they held it beforehand that you are in the data", steps: grid?.priors ?? PRIORS, value: state.prior,
    ends: ["knows little", "all but certain"], changed: (text) => { state.prior = text; changed(); },
  }));
}

function rebuild(focus) {
  build();
  changed();
  get("parts").querySelectorAll("select")[focus]?.focus();
}

// From one answer to all of them: a dozen regions, each drawn when its numbers are there.
async function grow() {
  const mine = ++growing, whole = snapshot();
  const counts = countsOf(whole.parts[0].kind)?.filter((count) => count <= whole.parts[0].times) ?? null;
  const total = whole.parts.reduce((sum, part) => sum + part.times, 0);
  const frames = counts ? counts.length : Math.min(12, total);
  for (let frame = 1; frame <= frames && mine === growing; frame++) {
    const some = structuredClone(whole);
    for (const part of some.parts) part.times = counts ? counts[frame - 1] : Math.max(1, Math.round((part.times * frame) / frames));
    const least = new Promise((done) => setTimeout(done, 320));
    const answer = await askCurve(some);
    if (mine !== growing) return;
    region.show(answer);
    get("growing").textContent = `after ${some.parts.reduce((sum, part) => sum + part.times, 0).toLocaleString("en")}`;
    await least;
  }
  get("growing").textContent = "";
  if (mine === growing && latest.curve) region.show(latest.curve);
}

async function copy(text, said) {
  try { await navigator.clipboard.writeText(text); get("copied").textContent = said; }
  catch { get("copied").textContent = "The browser does not allow copying: select the text below."; }
}

async function start() {
  const offered = await askKinds();
  kinds = offered.list;
  get("views").hidden = !offered.served;
  get("motto").hidden = offered.served;
  state = fromHash(location.hash, kinds) ?? { parts: [firstPart(kinds[0], countsOf(kinds[0].name))], delta: "1e-6", prior: "1/2" };
  if (grid) get("precomputed").hidden = false;
  build();
  changed();
  get("add").addEventListener("click", () => { state.parts.push(firstPart(kinds[1])); rebuild(state.parts.length - 1); });
  get("grow").addEventListener("click", () => grow().catch(trouble));
  get("copy-python").addEventListener("click", () => copy(get("python").textContent, "Copied as Python."));
  get("copy-link").addEventListener("click", () => copy(location.href.split("#")[0] + toHash(state, kinds), "Copied the link."));
  addEventListener("hashchange", () => {
    const read = fromHash(location.hash, kinds);
    if (read) { state = read; build(); changed(); }
  });
}

start().catch(trouble);
