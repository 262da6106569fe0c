// Sliders, steppers and exact text for what is released.

import { html } from "./svg.js";

const COUNTS = [1, 2, 3, 5, 10, 20, 30, 50, 100, 200, 300, 500, 1000, 2000, 5000, 10000];
let made = 0;

function nearest(steps, value) {
  const number = Number(value);
  if (!Number.isFinite(number)) return Math.floor(steps.length / 2);
  let best = 0;
  steps.forEach((step, i) => { if (Math.abs(Number(step) - number) < Math.abs(Number(steps[best]) - number)) best = i; });
  return best;
}

// A slider over given texts, and a field for any other exact number; both say which end protects more.
export function slider({ label, steps, value, ends, exact, spoken, changed }) {
  const id = `control-${++made}`;
  const range = html("input", {
    type: "range", id, min: 0, max: steps.length - 1, step: 1, "aria-valuetext": `${value}${spoken ?? ""}`,
    "aria-describedby": `${id}-ends`,
  });
  range.value = steps.includes(value) ? steps.indexOf(value) : nearest(steps, value);
  const shown = exact
    ? html("input", { type: "text", "aria-label": `${label}, exactly`, value, spellcheck: "false", autocomplete: "off", maxlength: 40 })
    : html("output", { for: id }, value);
  range.addEventListener("input", () => {
    const text = steps[Number(range.value)];
    if (exact) shown.value = text; else shown.textContent = text;
    range.setAttribute("aria-valuetext", `${text}${spoken ?? ""}`);
    changed(text);
  });
  if (exact) shown.addEventListener("change", () => {
    range.value = nearest(steps, shown.value);
    range.setAttribute("aria-valuetext", shown.value);
    changed(shown.value.trim());
  });
  return html("div", { class: "field" },
    html("div", { class: "top" }, html("label", { for: id }, label), shown), range,
    html("div", { class: "ends", id: `${id}-ends` }, html("span", {}, ends[0]), html("span", {}, ends[1])));
}

function stepper(value, counts, changed) {
  const id = `control-${++made}`;
  const field = html("input", { type: "number", id, min: 1, max: 100000, step: 1, inputmode: "numeric" });
  field.value = value;
  const range = html("input", {
    type: "range", min: 0, max: counts.length - 1, step: 1, "aria-label": "Times, roughly", "aria-valuetext": String(value),
    "aria-describedby": `${id}-ends`,
  });
  range.value = nearest(counts, value);
  const give = (times) => {
    if (!Number.isInteger(times) || times < 1 || times > 100000) return;
    field.value = times;
    range.value = nearest(counts, times);
    range.setAttribute("aria-valuetext", String(times));
    changed(times);
  };
  const fixed = counts !== COUNTS;
  const beside = (way) => fixed ? counts[Math.min(counts.length - 1, Math.max(0, counts.indexOf(Number(field.value)) + way))] : Number(field.value) + way;
  const less = html("button", { type: "button", class: "small", "aria-label": "Fewer times" }, "−");
  const more = html("button", { type: "button", class: "small", "aria-label": "More times" }, "+");
  less.addEventListener("click", () => give(beside(-1)));
  more.addEventListener("click", () => give(beside(1)));
  if (fixed) field.readOnly = true;
  field.addEventListener("input", () => give(field.valueAsNumber));
  range.addEventListener("input", () => give(counts[Number(range.value)]));
  return html("div", { class: "field" },
    html("div", { class: "top" }, html("label", { for: id }, "how many times"), html("div", { class: "stepper" }, less, field, more)),
    range, html("div", { class: "ends", id: `${id}-ends` }, html("span", {}, "← protects more"), html("span", {}, "")));
}

export function partControls({ part, position, kinds, counts, removable, exact, changed, replaced, removed }) {
  const kind = kinds.find((each) => each.name === part.kind);
  const choice = html("select", { "aria-label": `Mechanism ${position + 1}` },
    ...kinds.map((each) => html("option", { value: each.name }, each.label)));
  choice.value = part.kind;
  choice.addEventListener("change", () => replaced(choice.value));
  const noise = html("p", { class: "note", hidden: "" });
  const set = html("fieldset", {}, html("legend", {}, `mechanism ${position + 1}`), choice,
    ...kind.parameters.map((parameter) => slider({
      label: parameter.label, steps: parameter.steps, value: part[parameter.name], exact,
      ends: parameter.more_protects ? ["", "protects more →"] : ["← protects more", ""],
      changed: (text) => { part[parameter.name] = text; changed(); },
    })),
    stepper(part.times, counts ?? COUNTS, (times) => { part.times = times; changed(); }), noise);
  if (removable) {
    const button = html("button", { type: "button", class: "small", "aria-label": `Remove mechanism ${position + 1}` }, "Remove");
    button.addEventListener("click", removed);
    set.append(button);
  }
  return { element: set, noise };
}
