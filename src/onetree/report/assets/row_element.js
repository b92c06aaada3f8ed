// One row of the list as an element: how deep it is, which answer led to it, what it asks or says, and what is below.

const NARROW = 576; // pixels: no bars, short summaries

// Pixels of a row that its words do not get: arrow, answer, dot, gaps and summary, a little too many rather than too few.
function rowMargins({ model, places, tree }, row) {
  const digits = (n) => 8 * formatCount(n).length;
  const leaf = model.isLeaf(row.node);
  const rows = places.rows(row);
  let pixels = 60 + (row.parent ? 36 : 0) + (leaf ? 22 : 0) + (places.matchCounts ? 90 : 0);
  if (rows !== undefined) pixels += digits(rows) + 8;
  if (tree.clientWidth < NARROW) return pixels;
  return pixels + (rows === undefined ? 0 : 128) + (leaf ? 0 : digits(model.leavesBelow[row.node]) + 62);
}

function rowElement(view, row) {
  const { model, format, places } = view;
  const leaf = model.isLeaf(row.node);
  row.id ||= `row-${view.nextId++}`;
  const element = make("div", {
    id: row.id,
    className: leaf ? "row leaf" : "row split",
    role: "treeitem",
    "aria-level": row.depth + 1,
    "aria-setsize": row.parent ? 2 : 1,
    "aria-posinset": row.side + 1,
  });
  element.classList.toggle("on-path", places.onPath.has(row));
  element.classList.toggle("match", Boolean(places.matches?.(row.node)));
  element.classList.toggle("empty", places.rows(row) === 0);
  const indent = make("span", { className: "indent" });
  indent.style.width = `${Math.min(row.depth, view.mostSteps) * view.step}px`;
  indent.style.setProperty("--step", `${view.step}px`);
  element.append(indent, make("span", { className: "twisty", "aria-hidden": "true" }));
  if (row.depth > view.mostSteps) element.append(make("span", { className: "depth", textContent: row.depth }));
  if (row.parent) element.append(make("span", { className: "answer", textContent: row.side ? "no" : "yes" }), " ");
  if (leaf) element.append(format.leafChip(row.node));
  else element.append(make("span", { className: "test" }, ...elementsOf([...format.test(row.node), "?"])));
  element.append(" ", rowSummary(view, row));
  return element;
}

// What selecting and folding change of a row that stays; whoever listens to it is then told of the change only.
function updateRowElement(view, row, element) {
  element.setAttribute("aria-selected", row === view.places.active);
  if (!view.model.hasChildren(row.node)) return;
  element.setAttribute("aria-expanded", row.open);
  if (view.places.matchCounts) element.lastChild.replaceWith(rowSummary(view, row));
}

// How many matches a fold hides, how many leaves are below, and, with data, how many rows come here, of which classes.
function rowSummary({ model, places }, row) {
  const summary = make("span", { className: "summary" });
  if (places.matchCounts && !row.open) {
    const hidden = places.matchCounts[row.node] - (places.matches(row.node) ? 1 : 0);
    if (hidden) summary.append(make("span", { className: "hidden-matches" }, plural(hidden, "match", "matches")), " ");
  }
  if (!model.isLeaf(row.node)) {
    const n = model.leavesBelow[row.node];
    const unit = make("span", { className: "unit", textContent: n === 1 ? " leaf" : " leaves" });
    summary.append(make("span", { className: "below" }, formatCount(n), unit));
    if (model.isCutOff(row.node)) summary.append(" not in this file");
  }
  const rows = places.rows(row);
  if (rows === undefined) return summary;
  const unit = make("span", { className: "unit", textContent: rows === 1 ? " row" : " rows" });
  summary.append(" ", make("span", { className: "rows" }, formatCount(rows), unit));
  summary.append(rows ? classBar(model.coverage.classes(row.at)) : make("span", { className: "bar none" }));
  return summary;
}
