// How many leaves a tree takes that stays so near to the model: a chart of steps, and a table.

const FRONT_COLOUR = "#0072b2";

function showToleranceFront({ data }) {
  if (!data.tolerance_front) return;
  const { header, lines, points } = data.tolerance_front;
  const body = make("tbody");
  for (const [first, ...rest] of lines) {
    const cells = rest.map((text) => make("td", { className: "number", textContent: text }));
    body.append(make("tr", {}, make("th", { scope: "row", textContent: first }), ...cells));
  }
  const table = make("table", { className: "frontier" }, headerRow(...header), body);
  byId("tolerance").append(
    make("div", { className: "charts" }, stepChart(points)),
    make("div", { className: "wide", tabIndex: 0, role: "region", "aria-label": "Table of tolerances" }, table),
    make("p", { className: "note", textContent: "Each tree is the smallest one for its tolerance, which holds for every input; where that is not proven, the table says how small such a tree could be." }),
  );
  byId("tolerance-section").hidden = false;
}

// Leaves by tolerance; each tenfold number of leaves is one step up.
function stepChart(points) {
  const { width, height, left, right, top, bottom } = CHART;
  const last = Math.max(...points.map((point) => point.tolerance)) || 1;
  const powers = points.map((point) => Math.log10(point.leaves));
  const [low, high] = [Math.floor(Math.min(...powers)), Math.max(Math.ceil(Math.max(...powers)), Math.floor(Math.min(...powers)) + 1)];
  const toX = (tolerance) => left + (width - left - right - 16) * (tolerance / last);
  const toY = (leaves) => top + (height - top - bottom) * (1 - (Math.log10(leaves) - low) / (high - low));
  const label = (text, x, y, anchor) => makeSvg("text", { x, y, "text-anchor": anchor, class: "tick" }, text);
  const svg = makeSvg("svg", { viewBox: `0 0 ${width} ${height}`, "aria-hidden": "true" }); // the table says the same
  for (let power = low; power <= high; power++) {
    svg.append(makeSvg("path", { d: `M${left},${toY(10 ** power)} H${width - right}`, class: "grid" }));
    svg.append(label(formatCount(10 ** power), left - 6, toY(10 ** power) + 4, "end"));
  }
  for (const share of [0, 0.5, 1]) svg.append(label(String(Number((last * share).toPrecision(3))), toX(last * share), height - bottom + 18, "middle"));
  svg.append(label("tolerance", (left + width - right) / 2, height - 6, "middle"));
  let path = "";
  points.forEach(({ tolerance, leaves }) => {
    path += path ? ` H${toX(tolerance)} V${toY(leaves)}` : `M${toX(tolerance)},${toY(leaves)}`;
  });
  svg.append(makeSvg("path", { d: path, fill: "none", stroke: FRONT_COLOUR, "stroke-width": 2 }));
  for (const { tolerance, leaves, bound } of points) {
    const proven = bound === leaves;
    if (!proven) svg.append(makeSvg("path", { d: `M${toX(tolerance)},${toY(leaves)} V${toY(bound)}`, stroke: FRONT_COLOUR, "stroke-dasharray": "2 3" }));
    svg.append(makeSvg("circle", { cx: toX(tolerance), cy: toY(leaves), r: 4, fill: proven ? FRONT_COLOUR : "none", stroke: FRONT_COLOUR }));
  }
  return make("figure", {}, make("figcaption", {}, make("strong", { textContent: "leaves of the smallest tree" })), svg);
}
