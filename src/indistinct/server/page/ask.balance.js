// Balance: a bar for each budget, what was spent of it over time, what was charged, and what was refused.

import { element, frame, html, pathOf, tick } from "./svg.js";

const get = (id) => document.getElementById(id);
let balance = null, past = { charges: [], moves: [], refused: [], before: null }, chosen = null;

// An exact amount as a decimal; what is sent and exported stays exact.
export function decimal(amount) {
  const [above, below = "1"] = amount.split("/");
  return Number((Number(above) / Number(below)).toPrecision(6)).toString();
}

// Amounts by currency; what was charged from Python may be told as guarantees, which are shown as they are.
export function amounts(told) {
  if (Array.isArray(told)) return told.flat().join(" ");
  return Object.entries(told).map(([name, amount]) => `${name} ${decimal(amount)}`).join(", ") || "nothing";
}
export const balanceTold = () => ({ balance, ...past });

const number = (amount) => Number(decimal(amount));
const moment = (time) => time.slice(0, 19).replace("T", " ");
const keyOf = (each) => `${each.budget}\n${each.part ?? ""}\n${each.currency}`;
const nameOf = (each) => `${each.budget}${each.part ? `, ${each.part}` : ""}: ${each.currency}`;

function gauge(each) {
  const share = number(each.cap) ? number(each.spent) / number(each.cap) : 0;
  const said = `${each.currency}: ${decimal(each.spent)} of ${decimal(each.cap)} spent, ${decimal(each.left)} left`;
  return html("div", { class: "field" },
    html("div", { class: "top" }, html("span", {}, `${each.budget}${each.analyst ? "" : " (all together)"}`), html("span", {}, said)),
    element("svg", { viewBox: "0 0 400 10", preserveAspectRatio: "none", class: "gauge", role: "img", "aria-label": said },
      element("rect", { class: "axis", x: 0, y: 0, width: 400, height: 10 }),
      element("rect", { class: "bar", x: 0, y: 0, width: 400 * Math.min(1, share), height: 10 })));
}

// What was spent rises at each charge and holds until the next; the dashed line is all there is.
function spending(each) {
  const moves = past.moves.filter((move) => keyOf(move) === keyOf(each)).reverse();
  const now = Date.now(), cap = number(each.cap), most = Math.max(cap, ...moves.map((move) => number(move.cap))) * 1.06 || 1;
  const since = Math.min(now - 1000, ...moves.map((move) => Date.parse(move.time)));
  const x = (time) => (Date.parse(time) - since) / (now - since), y = (amount) => number(amount) / most;
  const host = get("spending");
  host.replaceChildren();
  const plot = frame(host, { title: "", width: 440, height: 280, margin: [10, 12, 42, 86], xLabel: "time", yLabel: each.currency });
  const steps = [], caps = [];
  for (const move of moves) {
    const at = Math.min(1, x(move.time));
    if (steps.length) { steps.push([at, steps.at(-1)[1]]); caps.push([at, caps.at(-1)[1]]); }
    steps.push([at, y(move.spent)]);
    caps.push([at, y(move.cap)]);
  }
  steps.push([steps.length ? 1 : 0, y(each.spent)], [1, y(each.spent)]);
  caps.push([caps.length ? 1 : 0, y(each.cap)], [1, y(each.cap)]);
  for (const share of [0, 0.5, 1]) {
    tick(plot, (cap * share) / most, Number((cap * share).toPrecision(3)).toString(), false);
    tick(plot, share, share ? "" : moment(new Date(since).toISOString()).slice(5, 16), true);
  }
  plot.ticks.append(element("text", { x: plot.x(1), y: plot.top + plot.h + 17, "text-anchor": "end" }, "now"));
  plot.svg.append(
    element("path", { class: "inside", d: `${pathOf([[steps[0][0], 0], ...steps, [1, 0]], plot.x, plot.y)}Z` }),
    element("path", { class: "tangent cap", fill: "none", d: pathOf(caps, plot.x, plot.y) }),
    element("path", { class: "edge", d: pathOf(steps, plot.x, plot.y) }),
  );
  plot.svg.setAttribute("role", "img");
  plot.svg.setAttribute("aria-label", `${nameOf(each)} spent over time, ${decimal(each.spent)} of ${decimal(each.cap)} now; the table says the same`);
}

function showTable(each) {
  const spent = new Map(past.moves.filter((move) => keyOf(move) === keyOf(each)).map((move) => [move.number, move.spent]));
  const refused = past.refused.map(({ time, code }) => ({ time, analyst: "you", cost: {}, state: `refused: ${code}` }));
  const lines = [...past.charges, ...refused].sort((a, b) => (a.time < b.time ? 1 : -1));
  get("history").replaceChildren(...lines.map((line) => html("tr", {},
    html("td", {}, moment(line.time)), html("td", {}, line.analyst ?? ""), html("td", {}, amounts(line.cost)),
    html("td", {}, spent.has(line.number) ? decimal(spent.get(line.number)) : ""), html("td", {}, line.state))));
  get("earlier").hidden = past.before === null;
}

function draw() {
  const each = balance.budgets.find((one) => keyOf(one) === chosen) ?? balance.budgets[0];
  if (!each) return;
  spending(each);
  showTable(each);
}

function offer() {
  const worth = balance.budgets.filter((each) => number(each.cap) > 0);
  if (!worth.some((each) => keyOf(each) === chosen)) {
    chosen = keyOf(worth.find((each) => each.analyst && each.currency !== "delta") ?? worth[0] ?? { budget: "", currency: "" });
  }
  get("over").replaceChildren(...worth.map((each) => html("option", { value: keyOf(each) }, nameOf(each))));
  get("over").value = chosen;
}

export async function showBalance(send) {
  balance = await send("v1/balance");
  past = await send("v1/history");
  get("export").disabled = false;
  get("timeline").hidden = false;
  get("budgets").replaceChildren(...balance.budgets.map(gauge));
  offer();
  draw();
}

export async function showEarlier(send) {
  const page = await send(`v1/history?before=${past.before}`);
  past = { ...past, charges: [...past.charges, ...page.charges], moves: [...past.moves, ...page.moves], before: page.before };
  draw();
}

get("over").addEventListener("change", () => { chosen = get("over").value; draw(); });
