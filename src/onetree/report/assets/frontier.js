// What trees of other sizes are worth: a chart of agreement, one of accuracies if the classes are known, and a table.

const CHART = { width: 420, height: 230, left: 54, right: 14, top: 12, bottom: 40 };

function showFrontier({ data }) {
  if (!data.frontier) return;
  const { header, lines, notes, points, model } = data.frontier;
  const charts = [
    chart("same class as the model", points, [
      { name: "tree of the model", of: (point) => point.agreement, colour: COLOURS[0], range: (point) => [point.agreement_low, point.agreement_high] },
    ]),
  ];
  if (model !== null) {
    const series = [
      { name: "tree of the model", of: (point) => point.accuracy, colour: COLOURS[0] },
      { name: "tuned CART", of: (point) => point.cart_accuracy, colour: COLOURS[1] },
    ];
    charts.push(chart("accuracy", points, series, { name: "model", value: model }));
  }
  const body = make("tbody");
  for (const [first, ...rest] of lines) {
    const cells = rest.map((text) => make("td", { className: "number", textContent: text }));
    body.append(make("tr", {}, make("th", { scope: "row", textContent: first }), ...cells));
  }
  const table = make("table", { className: "frontier" }, headerRow(...header), body);
  byId("frontier").append(
    make("div", { className: "charts" }, ...charts),
    make("div", { className: "wide", tabIndex: 0, role: "region", "aria-label": "Table of sizes" }, table),
    ...notes.map((text) => make("p", { className: "note", textContent: text })),
  );
  byId("frontier-section").hidden = false;
}

// Shares by the largest number of leaves; each doubling is one step to the right.
function chart(title, points, series, line = null) {
  const { width, height, left, right, top, bottom } = CHART;
  const sizes = points.map((point) => Math.log2(point.max_leaves));
  const values = points.flatMap((point) => series.flatMap((each) => [each.of(point), ...(each.range?.(point) ?? [])]));
  if (line) values.push(line.value);
  const [least, most] = niceRange(Math.min(...values), Math.max(...values));
  const [first, last] = [Math.min(...sizes), Math.max(...sizes)];
  const toX = (size) => left + 12 + (width - left - right - 24) * (last > first ? (size - first) / (last - first) : 0.5);
  const toY = (share) => top + (height - top - bottom) * (1 - (share - least) / (most - least));
  const label = (text, x, y, anchor) => makeSvg("text", { x, y, "text-anchor": anchor, class: "tick" }, text);
  const svg = makeSvg("svg", { viewBox: `0 0 ${width} ${height}`, "aria-hidden": "true" }); // the table says the same
  for (let step = 0; step <= 4; step++) {
    const share = least + ((most - least) * step) / 4;
    svg.append(makeSvg("path", { d: `M${left},${toY(share)} H${width - right}`, class: "grid" }));
    svg.append(label(`${Number((100 * share).toFixed(1))} %`, left - 6, toY(share) + 4, "end"));
  }
  points.forEach((point, i) => svg.append(label(formatCount(point.max_leaves), toX(sizes[i]), height - bottom + 18, "middle")));
  svg.append(label("leaves, at most", (left + width - right) / 2, height - 6, "middle"));
  if (line) svg.append(makeSvg("path", { d: `M${left},${toY(line.value)} H${width - right}`, class: "level" }));
  for (const { of, range, colour } of series) {
    points.forEach((point, i) => {
      const [low, high] = range?.(point) ?? [];
      if (range) svg.append(makeSvg("path", { d: `M${toX(sizes[i])},${toY(low)} V${toY(high)}`, stroke: colour, "stroke-opacity": 0.45, "stroke-width": 5 }));
    });
    const places = points.map((point, i) => `${toX(sizes[i])},${toY(of(point))}`);
    svg.append(makeSvg("path", { d: `M${places.join(" L")}`, fill: "none", stroke: colour, "stroke-width": 2 }));
    points.forEach((point, i) => svg.append(makeSvg("circle", { cx: toX(sizes[i]), cy: toY(of(point)), r: 4, fill: colour })));
  }
  const keys = series.map(({ name, colour }) => {
    const dot = make("i", { className: "dot" });
    dot.style.background = colour;
    return make("span", { className: "chip" }, dot, name);
  });
  if (line) keys.push(make("span", { className: "chip" }, make("i", { className: "dash" }), line.name));
  return make("figure", {}, make("figcaption", {}, make("strong", { textContent: title }), ...keys), svg);
}

// Whole percents around the values, with some room.
function niceRange(least, most) {
  const step = most - least > 0.2 ? 0.1 : most - least > 0.08 ? 0.04 : 0.02;
  const low = Math.max(0, Math.floor(least / step) * step);
  const high = Math.min(1, Math.ceil(most / step + 1e-9) * step);
  return high > low ? [low, high] : [Math.max(0, high - step), high];
}
