// The privacy region: missed detection to the right, false alarm upwards; two tangents that can be dragged.

import { CLASSES, draggable, element, frame, pathOf, set, tick } from "./svg.js";

const RAYS = 96;

// The lower boundary by its distance from the corner (0, 0) along fixed rays: any two can be blended.
function radiiOf(vertices) {
  const points = [[0, 1], ...vertices, [1, 0]];
  const radii = [];
  for (let ray = 0, j = 0; ray <= RAYS; ray++) {
    const angle = (Math.PI / 2) * (1 - ray / RAYS);
    const c = Math.cos(angle), s = Math.sin(angle);
    const turn = ([x, y]) => x * s - y * c;
    while (j < points.length - 2 && turn(points[j + 1]) < 0) j++;
    const [p, q] = [points[j], points[j + 1]];
    const a = turn(p), b = turn(q);
    const t = a === b ? 0 : Math.min(1, Math.max(0, a / (a - b)));
    radii.push(Math.hypot(p[0] + t * (q[0] - p[0]), p[1] + t * (q[1] - p[1])));
  }
  return radii;
}

function pointsOf(radii) {
  return radii.map((radius, ray) => {
    const angle = (Math.PI / 2) * (1 - ray / RAYS);
    return [radius * Math.cos(angle), radius * Math.sin(angle)];
  });
}

// The lower boundary of R(epsilon, delta), for the outlines of the theorems.
function guarantee(epsilon, delta) {
  if (epsilon === null) return [[0, 1], [0, 0], [1, 0]];
  const corner = (1 - delta) / (1 + Math.exp(epsilon));
  return [[0, 1], [0, 1 - delta], [corner, corner], [1 - delta, 0], [1, 0]];
}

export function makeRegion(host, onTangent, step) {
  const plot = frame(host, {
    title: "The privacy region", width: 440, height: 440, margin: [10, 12, 42, 62],
    xLabel: "missed detection", yLabel: "false alarm",
  });
  for (const at of [0, 0.25, 0.5, 0.75, 1]) { tick(plot, at, String(at), true); tick(plot, at, String(at), false); }
  const inside = element("path", { class: "inside" }), mirror = element("path", { class: "mirror" });
  const edge = element("path", { class: "edge" }), bounds = element("g");
  const chance = element("path", { class: "chance", d: pathOf([[0, 1], [1, 0]], plot.x, plot.y) });
  const lines = [element("line", { class: "tangent" }), element("line", { class: "tangent" })];
  const twin = element("circle", { class: "twin", r: 6, "aria-hidden": "true" });
  const handle = element("circle", {
    class: "handle", r: 9, tabindex: 0, role: "slider", "aria-label": "Tangent of the region, by its epsilon",
    "aria-valuemin": 0, "aria-valuenow": 0,
  });
  plot.svg.append(mirror, inside, chance, bounds, edge, ...lines, twin, handle);

  let shown = null, target = null, vertices = [], knots = [], started = 0;

  function touching(ratio) {
    let best = null, least = Infinity;
    for (const [x, y] of [[0, 1], ...vertices]) {
      const value = y + ratio * x;
      if (value < least - 1e-12) { least = value; best = [x, y]; }
    }
    return best ?? [0, 1];
  }

  draggable(plot, [handle], ([x, y]) => {
    let best = 0, nearest = Infinity;
    const angle = Math.atan2(Math.max(x, y), Math.min(x, y));
    knots.forEach((knot, i) => {
      const [a, b] = touching(Math.exp(Math.min(knot.x, 60)));
      const away = Math.abs(Math.atan2(b, a) + i * 1e-4 - angle);
      if (away < nearest) { nearest = away; best = i; }
    });
    onTangent(best);
  });
  handle.addEventListener("keydown", (event) => step(event));

  function draw(radii) {
    const points = pointsOf(radii);
    const lower = pathOf(points, plot.x, plot.y);
    edge.setAttribute("d", lower);
    inside.setAttribute("d", `${lower}Z`);
    mirror.setAttribute("d", `${pathOf(points.map(([a, b]) => [1 - a, 1 - b]), plot.x, plot.y)}Z`);
  }

  function animate(now) {
    const share = Math.min(1, (now - started) / 280);
    const eased = 1 - (1 - share) ** 3;
    const radii = target.map((radius, i) => from[i] + (radius - from[i]) * eased);
    shown = radii;
    draw(radii);
    running = share < 1 ? requestAnimationFrame(animate) : 0;
  }

  let from = null, running = 0;
  const still = matchMedia("(prefers-reduced-motion: reduce)");

  return {
    show(curve) {
      vertices = curve.region;
      knots = curve.knots;
      target = radiiOf(vertices);
      if (!shown || still.matches) { shown = target; draw(target); return; }
      from = shown;
      started = performance.now();
      if (!running) running = requestAnimationFrame(animate);
    },
    bounds(theorems, delta) {
      bounds.replaceChildren(...theorems.filter((row) => row.theorem !== "these mechanisms").map((row) => element("path", {
        class: `bound ${CLASSES[row.theorem]}`, d: pathOf(guarantee(row.value, delta), plot.x, plot.y),
      })));
    },
    tangent(knot) {
      const ratio = Math.exp(Math.min(knot.x, 60)), top = 1 - knot.delta.value, end = top / ratio;
      set(lines[0], { x1: plot.x(0), y1: plot.y(top), x2: plot.x(end), y2: plot.y(0) });
      set(lines[1], { x1: plot.x(top), y1: plot.y(0), x2: plot.x(0), y2: plot.y(end) });
      const [x, y] = touching(ratio);
      set(handle, {
        cx: plot.x(x), cy: plot.y(y), "aria-valuenow": knot.x, "aria-valuemax": knots.at(-1)?.x ?? knot.x,
        "aria-valuetext": `epsilon ${knot.epsilon}, delta ${knot.delta.text}`,
      });
      set(twin, { cx: plot.x(y), cy: plot.y(x) });
    },
  };
}
