// Ask and balance: a dry run as you type, the answer with its noise intervals, and what is left.

import { amounts, balanceTold, showBalance, showEarlier } from "./ask.balance.js";
import { slider } from "./controls.js";
import { newest } from "./source.js";
import { element, html } from "./svg.js";

const get = (id) => document.getElementById(id);
const ERRORS = ["1", "2", "3", "5", "10", "20", "30", "50", "100", "200", "300", "500", "1000", "2000", "5000", "10000"];
let token = "", error = "30", priced = null;

async function send(path, body) {
  const answer = await fetch(path, {
    method: body ? "POST" : "GET",
    headers: { Authorization: `Bearer ${token}`, ...(body ? { "Content-Type": "application/json" } : {}) },
    ...(body ? { body: JSON.stringify(body) } : {}),
  });
  const told = await answer.json();
  if (!answer.ok) throw Object.assign(new Error(told.sentence), told);
  return told;
}

function question() {
  const sql = get("sql").value.trim().replace(/;$/, "");
  return { sql: get("aimed").checked ? `${sql} WITH ERROR ${error} AT 95%` : sql };
}

function refused(problem) {
  get("trouble").textContent = problem.message;
  get("trouble").hidden = false;
}

function showPrice(plan, asked) {
  priced = asked;
  get("trouble").hidden = true;
  const errors = Object.entries(plan.errors).map(([name, off]) => `${name} within ±${Number(off.toPrecision(6))}`).join(", ");
  const fits = plan.times > 0 ? `Left afterwards: ${amounts(plan.remaining_after)}.` : "That is more than is left.";
  get("price").textContent = `It costs ${amounts(plan.cost)}${errors ? `; ${errors}, 95 times of 100 (privacy noise only)` : ""}. ${fits}`;
  get("plan").replaceChildren(...[...plan.mechanisms, plan.bounds, plan.suppression].filter(Boolean).map((line) => html("li", {}, line)));
  get("go").disabled = plan.times < 1;
  get("more").textContent = `About ${plan.times.toLocaleString("en")} more like this question fit into what is left${errors ? ` (${errors})` : ""}.`;
}

function notPriced(problem) {
  priced = null;
  get("go").disabled = true;
  get("plan").replaceChildren();
  get("price").textContent = problem.message;
}

const wantPrice = newest((asked) => send("v1/explain", asked), showPrice, notPriced);
let waiting = 0;
function typed() {
  get("go").disabled = true;
  clearTimeout(waiting);
  waiting = setTimeout(() => { if (token && get("sql").value.trim()) wantPrice(question()); }, 300);
}

const shown = (value) => (value === null ? "" : typeof value === "number" ? value.toLocaleString("en", { maximumFractionDigits: 4 }) : String(value));

function showAnswer(answer) {
  const ends = answer.noise_intervals.columns;
  const numeric = answer.columns.map((name) => ends[name]?.some(([low]) => low !== null));
  get("empty").hidden = true;
  get("answered").hidden = false;
  get("columns").replaceChildren(html("tr", {}, ...answer.columns.map((name, i) => html("th", { scope: "col", class: numeric[i] ? "number" : "" }, name))));
  get("rows").replaceChildren(...answer.rows.map((row, at) => html("tr", {}, ...row.map((value, i) => {
    const [low, high] = ends[answer.columns[i]]?.[at] ?? [null, null];
    const cell = html("td", { class: numeric[i] ? "number" : "" }, shown(value));
    if (low !== null) cell.append(html("span", { class: "interval" }, ` ${shown(low)} to ${shown(high)}`));
    return cell;
  }))));
  chart(answer, numeric.indexOf(true));
  get("paid").textContent = answer.receipt.free ? "This had been answered before: it cost nothing." : `It cost ${amounts(answer.receipt.cost)}. Left: ${amounts(answer.receipt.remaining)}.`;
  get("line").textContent = answer.receipt.ledger;
  get("receipt").hidden = false;
}

// Bars of the first column of numbers, each with its noise interval; the table says the same.
function chart(answer, column) {
  get("chart").replaceChildren();
  if (column < 0 || answer.rows.length < 2 || answer.rows.length > 40) return;
  const ends = answer.noise_intervals.columns[answer.columns[column]];
  const values = answer.rows.map((row) => row[column] ?? 0);
  const most = Math.max(1e-9, ...values, ...ends.map(([, high]) => high ?? 0));
  const x = (value) => 130 + (300 * Math.max(0, value)) / most;
  const svg = element("svg", { viewBox: `0 0 440 ${values.length * 26 + 8}`, role: "img", "aria-label": `Bars of ${answer.columns[column]}, as in the table` });
  values.forEach((value, i) => {
    const y = 8 + i * 26, name = String(answer.rows[i].find((_, at) => at !== column) ?? i + 1);
    svg.append(
      element("text", { x: 122, y: y + 14, "text-anchor": "end" }, name.length > 16 ? `${name.slice(0, 15)}…` : name),
      element("rect", { class: "bar", x: 130, y, width: x(value) - 130, height: 18 }));
    const [low, high] = ends[i];
    if (low !== null) svg.append(element("line", { class: "whisker", x1: x(low), x2: x(high), y1: y + 9, y2: y + 9 }));
  });
  get("chart").append(svg);
}

get("enter").addEventListener("submit", async (event) => {
  event.preventDefault();
  token = get("token").value.trim();
  try { await showBalance(send); get("trouble").hidden = true; get("sql").focus(); typed(); } catch (problem) { refused(problem); }
});
get("ask").addEventListener("submit", async (event) => {
  event.preventDefault();
  const asked = question();
  if (get("go").disabled || priced?.sql !== asked.sql) return;
  get("go").disabled = true;
  try {
    showAnswer(await send("v1/ask", asked));
    get("trouble").hidden = true;
  } catch (problem) {
    refused(problem);
  }
  await showBalance(send).catch(refused);
  typed();
});
get("sql").addEventListener("input", typed);
get("aimed").addEventListener("change", () => { get("error").hidden = !get("aimed").checked; typed(); });
get("error").append(slider({
  label: "within ±, 95 times of 100", steps: ERRORS, value: error, ends: ["costs more", "protects more →"],
  changed: (text) => { error = text; typed(); },
}));
get("earlier").addEventListener("click", () => showEarlier(send).catch(refused));
get("export").addEventListener("click", () => {
  const link = html("a", { download: "balance.json", href: URL.createObjectURL(new Blob([JSON.stringify(balanceTold(), null, 1)], { type: "application/json" })) });
  link.click();
  URL.revokeObjectURL(link.href);
});
