// What is being looked at, and its permalink: #kind;value;times+kind;value;value;times@delta@prior

export const PRIORS = ["1/1000", "1/100", "1/20", "1/10", "1/4", "1/2", "3/4", "9/10", "99/100"];
export const DELTAS = ["1e-12", "1e-11", "1e-10", "1e-9", "1e-8", "1e-7", "1e-6", "1e-5", "1e-4", "1e-3", "1e-2", "1e-1"];

export function firstPart(kind, counts) {
  const part = { kind: kind.name };
  for (const parameter of kind.parameters) part[parameter.name] = parameter.first;
  part.times = nearestOf(counts, 30);
  return part;
}

// The count nearest to another, where only some are on offer.
export function nearestOf(counts, times) {
  return counts ? counts.reduce((best, count) => (Math.abs(Math.log(count / times)) < Math.abs(Math.log(best / times)) ? count : best)) : times;
}

export function toHash(state, kinds) {
  const parts = state.parts.map((part) => {
    const kind = kinds.find((each) => each.name === part.kind);
    return [part.kind, ...kind.parameters.map((each) => part[each.name]), part.times].map(encodeURIComponent).join(";");
  });
  return `#${parts.join("+")}@${encodeURIComponent(state.delta)}@${encodeURIComponent(state.prior)}`;
}

// The state of a permalink, or null where it is none; what it holds is text and is checked by the library.
export function fromHash(hash, kinds) {
  try {
    const [list, delta, prior] = hash.slice(1).split("@");
    const parts = list.split("+").map((written) => {
      const [name, ...values] = written.split(";").map(decodeURIComponent);
      const kind = kinds.find((each) => each.name === name);
      if (!kind || values.length !== kind.parameters.length + 1) throw new Error("no such kind");
      const part = { kind: name };
      kind.parameters.forEach((parameter, i) => { part[parameter.name] = values[i]; });
      part.times = Number(values.at(-1));
      if (!Number.isInteger(part.times)) throw new Error("not a number of times");
      return part;
    });
    if (!delta || !prior) throw new Error("incomplete");
    return { parts, delta: decodeURIComponent(delta), prior: decodeURIComponent(prior) };
  } catch {
    return null;
  }
}
