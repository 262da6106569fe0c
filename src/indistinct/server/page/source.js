// Where the numbers come from: the server, or the grid that an exported file carries.

export const grid = (() => {
  const held = document.getElementById("grid");
  return held ? JSON.parse(held.textContent) : null;
})();

async function post(path, body) {
  const answer = await fetch(path, {
    method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body),
  });
  const read = await answer.json();
  if (!answer.ok) throw new Error(read.sentence ?? "The server did not answer.");
  return read;
}

function held(asked) {
  const [part] = asked.parts;
  const kind = grid.kinds.find((each) => each.name === part.kind);
  const found = grid.answers[[part.kind, ...kind.parameters.map((each) => part[each.name]), part.times].join(";")];
  if (!found) throw new Error("This file has no numbers for that: choose one that its sliders offer.");
  return found;
}

export async function kinds() {
  if (grid) return { list: grid.kinds, served: false };
  const answer = await fetch("explore/kinds");
  return { list: await answer.json(), served: answer.headers.has("Indistinct-Service") };
}

export async function numbers(asked) {
  if (!grid) return post("explore/numbers", asked);
  const answer = held(asked).numbers[`${asked.delta}@${asked.prior}`];
  if (!answer) throw new Error("This file has no numbers for that delta and prior.");
  return answer;
}

const known = new Map();

export async function curve(asked) {
  if (grid) return held(asked).curve;
  const key = JSON.stringify(asked.parts);
  if (!known.has(key)) {
    const answer = await post("explore/curve", { parts: asked.parts });
    if (known.size > 200) known.clear();
    known.set(key, answer);
  }
  return known.get(key);
}

// At most one request on its way; while it is, only the newest question waits.
export function newest(ask, answered, failed) {
  let busy = false, waiting = null;
  return async function next(question) {
    if (busy) { waiting = question; return; }
    busy = true;
    try { answered(await ask(question), question); } catch (error) { failed(error, question); }
    busy = false;
    if (waiting) { const then = waiting; waiting = null; next(then); }
  };
}
