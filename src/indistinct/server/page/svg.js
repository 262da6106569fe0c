// Drawing by hand: elements, scales, paths.

const SPACE = "http://www.w3.org/2000/svg";

export function element(name, attributes = {}, ...children) {
  const made = document.createElementNS(SPACE, name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...children);
  return made;
}

export function html(name, attributes = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...children);
  return made;
}

export function set(target, attributes) {
  for (const [key, value] of Object.entries(attributes)) target.setAttribute(key, value);
}

export function pathOf(points, x, y) {
  return points.map(([a, b], i) => `${i ? "L" : "M"}${x(a).toFixed(2)} ${y(b).toFixed(2)}`).join("");
}

// A square or oblong frame with labelled axes; the scales map data to the drawing.
export function frame(host, { title, width, height, margin, xLabel, yLabel }) {
  const svg = element("svg", { viewBox: `0 0 ${width} ${height}`, role: "group", "aria-label": title });
  const [top, right, bottom, left] = margin;
  const w = width - left - right, h = height - top - bottom;
  const ticks = element("g", { "aria-hidden": "true" });
  svg.append(
    ticks,
    element("rect", { class: "axis", x: left, y: top, width: w, height: h }),
    element("text", { x: left + w / 2, y: height - 6, "text-anchor": "middle" }, xLabel),
    element("text", { transform: `translate(13 ${top + h / 2}) rotate(-90)`, "text-anchor": "middle" }, yLabel),
  );
  host.append(svg);
  return { svg, ticks, left, top, w, h, x: (a) => left + a * w, y: (b) => top + (1 - b) * h };
}

export function tick(plot, at, text, across) {
  const position = across ? plot.x(at) : plot.y(at);
  plot.ticks.append(
    across
      ? element("line", { class: "grid", x1: position, x2: position, y1: plot.top, y2: plot.top + plot.h })
      : element("line", { class: "grid", y1: position, y2: position, x1: plot.left, x2: plot.left + plot.w }),
    across
      ? element("text", { x: position, y: plot.top + plot.h + 17, "text-anchor": "middle" }, text)
      : element("text", { x: plot.left - 6, y: position + 4, "text-anchor": "end" }, text),
  );
}

// Where a pointer is, from 0 to 1 along both axes of a plot.
export function pointerIn(plot, event) {
  const box = plot.svg.getBoundingClientRect();
  const scale = plot.svg.viewBox.baseVal.width / box.width;
  const x = ((event.clientX - box.left) * scale - plot.left) / plot.w;
  const y = 1 - ((event.clientY - box.top) * scale - plot.top) / plot.h;
  return [Math.min(1, Math.max(0, x)), Math.min(1, Math.max(0, y))];
}

// Dragging from anywhere near a handle; pointer events cover mouse, pen and touch.
export function draggable(plot, handles, moved) {
  for (const handle of handles) {
    handle.addEventListener("pointerdown", (event) => {
      event.preventDefault();
      handle.setPointerCapture(event.pointerId);
      handle.focus?.({ preventScroll: true });
    });
    handle.addEventListener("touchstart", (event) => event.preventDefault(), { passive: false });
    handle.addEventListener("pointermove", (event) => {
      if (handle.hasPointerCapture(event.pointerId)) moved(pointerIn(plot, event));
    });
  }
}

export const CLASSES = {
  basic: "basic", advanced: "advanced", "closed form": "closed", optimal: "optimal", "these mechanisms": "exact",
};
