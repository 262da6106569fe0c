// From prior to posterior: the band within which belief stays, and where the prior is.

import { element, frame, pathOf, set, tick } from "./svg.js";

export function makeBelief(host) {
  const plot = frame(host, {
    title: "From prior to posterior", width: 440, height: 330, margin: [10, 12, 42, 62],
    xLabel: "believed beforehand", yLabel: "believed afterwards",
  });
  for (const at of [0, 0.25, 0.5, 0.75, 1]) { tick(plot, at, String(at), true); tick(plot, at, String(at), false); }
  const band = element("path", { class: "inside" }), high = element("path", { class: "edge" }), low = element("path", { class: "edge" });
  const same = element("path", { class: "chance", d: pathOf([[0, 0], [1, 1]], plot.x, plot.y) });
  const span = element("line", { class: "tangent" });
  const ends = [element("circle", { class: "mark exact", r: 6 }), element("circle", { class: "mark exact", r: 6 })];
  plot.svg.append(band, same, high, low, span, ...ends);

  return {
    show({ x, low: least, high: most }, epsilon) {
      const factor = epsilon === null ? Infinity : Math.exp(Math.min(epsilon, 600));
      const upper = [], lower = [];
      for (let i = 0; i <= 60; i++) {
        const p = i / 60;
        upper.push([p, p === 0 ? 0 : factor === Infinity ? 1 : (p * factor) / (1 - p + p * factor)]);
        lower.push([p, p === 1 ? 1 : factor === Infinity ? 0 : p / (p + (1 - p) * factor)]);
      }
      high.setAttribute("d", pathOf(upper, plot.x, plot.y));
      low.setAttribute("d", pathOf(lower, plot.x, plot.y));
      band.setAttribute("d", `${pathOf([...upper, ...lower.reverse()], plot.x, plot.y)}Z`);
      set(span, { x1: plot.x(x), x2: plot.x(x), y1: plot.y(least), y2: plot.y(most) });
      [least, most].forEach((value, i) => set(ends[i], { cx: plot.x(x), cy: plot.y(value) }));
    },
  };
}
