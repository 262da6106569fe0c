// delta(epsilon) on a logarithmic axis, with the theorems' epsilons at the delta asked for.

import { CLASSES, draggable, element, frame, pathOf, set, tick } from "./svg.js";

export function makeCurve(host, onTangent, step) {
  const plot = frame(host, {
    title: "delta for every epsilon", width: 440, height: 330, margin: [10, 16, 42, 66],
    xLabel: "epsilon", yLabel: "delta",
  });
  const line = element("path", { class: "edge" }), level = element("line", { class: "chance" }), marks = element("g");
  const handle = element("circle", {
    class: "handle", r: 9, tabindex: 0, role: "slider", "aria-label": "Point of the curve, by its epsilon",
    "aria-valuemin": 0, "aria-valuenow": 0,
  });
  plot.svg.append(level, line, marks, handle);
  let knots = [], widest = 1, deepest = -9, current = null;

  const x = (epsilon) => plot.x(Math.min(1, epsilon / widest));
  const y = (delta) => plot.y(delta > 0 ? Math.max(0, 1 - Math.log10(delta) / deepest) : 0);
  draggable(plot, [handle], ([across]) => {
    let best = 0;
    knots.forEach((knot, i) => { if (Math.abs(knot.x - across * widest) < Math.abs(knots[best].x - across * widest)) best = i; });
    onTangent(best);
  });
  handle.addEventListener("keydown", (event) => step(event));

  function axes() {
    plot.ticks.replaceChildren();
    for (let power = 0; power >= deepest; power -= deepest < -9 ? 3 : deepest < -4 ? 2 : 1) {
      tick(plot, 1 - power / deepest, power ? `1e${power}` : "1", false);
    }
    const raw = widest / 5, unit = 10 ** Math.floor(Math.log10(raw));
    const stride = unit * ([1, 2, 5, 10].find((n) => n * unit >= raw) ?? 10);
    for (let at = 0; at <= widest * 1.0001; at += stride) tick(plot, at / widest, String(Number(at.toPrecision(6))), true);
  }

  const place = () => {
    if (!current) return;
    set(handle, {
      cx: x(current.x), cy: y(current.delta.value), "aria-valuenow": current.x, "aria-valuemax": knots.at(-1)?.x ?? current.x,
      "aria-valuetext": `epsilon ${current.epsilon}, delta ${current.delta.text}`,
    });
  };

  return {
    show(curve, theorems, delta) {
      knots = curve.knots;
      widest = Math.max(knots.at(-1).x, 1e-9) * 1.04;
      const least = Math.min(...knots.map((knot) => knot.delta.value || 1), delta || 1);
      deepest = Math.max(-15, Math.min(-2, Math.floor(Math.log10(least))));
      axes();
      line.setAttribute("d", pathOf(knots.map((knot) => [knot.x, knot.delta.value]), x, y));
      set(level, { x1: plot.left, x2: plot.left + plot.w, y1: y(delta), y2: y(delta) });
      marks.replaceChildren(...theorems.filter((row) => row.value !== null && row.value <= widest).map((row) =>
        element("circle", { class: `mark ${CLASSES[row.theorem]}`, r: 6, cx: x(row.value), cy: y(delta) },
          element("title", {}, `${row.theorem}: epsilon ${row.text}`))));
      place();
    },
    tangent(knot) { current = knot; place(); },
  };
}
