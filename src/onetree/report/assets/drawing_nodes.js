// One node of the drawing as SVG, and the edge that leads to it. All colours are attributes, so that what is on the
// screen is what a downloaded picture shows.

const PAINTS = ["card", "ink", "quiet", "line", "hover", "accent", "active", "path-line", "match", "page"];

// The colours of the page as it looks now.
function readPaints() {
  const probe = document.body.appendChild(make("i", { hidden: true }));
  const paints = {};
  for (const name of PAINTS) {
    probe.style.color = `var(--${name})`;
    paints[name] = getComputedStyle(probe).color;
  }
  probe.remove();
  return paints;
}

function textLine(text, x, y, font, fill, anchor = "start") {
  const attributes = { x, y, fill, "text-anchor": anchor, "font-size": font.size, "font-weight": font.weight };
  return makeSvg("text", attributes, text);
}

// Draws the card of a node. `state` says what is marked: { active, onPath, match }.
function nodeElement(card, { model, paints }, state) {
  const { x, width, height } = card;
  const top = card.y - height / 2;
  const group = makeSvg("g", { class: card.leaf ? "node leaf" : "node split" });
  const mark = state.onPath ? "path-line" : state.match ? "match" : "line";
  const outline = state.active ? "accent" : mark;
  const frame = makeSvg("rect", {
    x,
    y: top,
    width,
    height,
    rx: 7,
    fill: paints.card,
    stroke: paints[outline],
    "stroke-width": state.active || state.onPath || state.match ? 2.5 : 1,
  });
  if (card.rows === 0) frame.setAttribute("stroke-dasharray", "4 3");
  group.append(frame);
  if (card.leaf) group.append(classStripe(card, model, top));
  let y = top + PADDING + TITLE.size - 3;
  const left = x + PADDING + (card.leaf ? 4 : 0);
  for (const line of card.title) {
    group.append(textLine(line, left, y, TITLE, paints.ink));
    y += TITLE.line;
  }
  y += SMALL.size - TITLE.size + 1;
  for (const line of card.notes) {
    group.append(textLine(line, left, y, SMALL, paints.quiet));
    y += SMALL.line;
  }
  y -= SMALL.size - 4;
  if (card.spread) group.append(spreadElement(card, model, paints, y));
  if (card.leaf && card.counts) group.append(stackedBar(card.counts, left, y, width - 2 * PADDING - 4, 5));
  if (!card.leaf && model.hasChildren(card.place.node)) group.append(foldElement(card, paints));
  return group;
}

function classStripe({ x, height, place }, model, top) {
  const path = `M${x + 7},${top} a7,7 0 0 0 -7,7 v${height - 14} a7,7 0 0 0 7,7 z`;
  return makeSvg("path", { d: path, fill: model.leafColour(place.node) });
}

function stackedBar(counts, x, y, width, height) {
  const bar = makeSvg("g");
  const all = counts.reduce((sum, count) => sum + count, 0);
  let done = 0;
  counts.forEach((count, index) => {
    if (!count) return;
    const part = { x: x + (width * done) / all, y, width: (width * count) / all, height, fill: colourOf(index) };
    bar.append(makeSvg("rect", part));
    done += count;
  });
  return bar;
}

// How the rows spread over what the split tests: bars stacked by class, and a line between the two sides.
function spreadElement({ spread, x, width }, model, paints, top) {
  const group = makeSvg("g");
  const { bins, left: nLeft, low, high, counts } = spread;
  const nClasses = counts.length / bins;
  const heights = Array.from({ length: bins }, (_, bin) => {
    let sum = 0;
    for (let index = 0; index < nClasses; index++) sum += counts[bin * nClasses + index];
    return sum;
  });
  const most = Math.max(...heights);
  const [begin, room] = [x + PADDING, width - 2 * PADDING];
  const step = room / bins;
  const gap = Math.min(1, step / 8);
  const base = top + SPREAD_HEIGHT;
  for (let bin = 0; bin < bins; bin++) {
    let y = base;
    for (let index = 0; index < nClasses; index++) {
      const height = (SPREAD_HEIGHT * counts[bin * nClasses + index]) / most;
      if (!height) continue;
      y -= height;
      const fill = nClasses === 1 ? paints.quiet : colourOf(index);
      group.append(makeSvg("rect", { x: begin + bin * step + gap, y, width: step - 2 * gap, height, fill }));
    }
  }
  const cut = begin + nLeft * step;
  const line = { stroke: paints.ink, "stroke-width": 1 };
  group.append(makeSvg("path", { d: `M${begin},${base + 0.5} h${room}`, stroke: paints.quiet, "stroke-width": 1 }));
  group.append(makeSvg("path", { d: `M${cut},${top - 2} V${base + 4}`, "stroke-dasharray": "3 2", ...line }));
  group.append(textLine(low, begin, base + AXIS_HEIGHT - 1, { size: 9.5, weight: 400 }, paints.quiet));
  group.append(textLine(high, begin + room, base + AXIS_HEIGHT - 1, { size: 9.5, weight: 400 }, paints.quiet, "end"));
  return group;
}

// The handle that folds and unfolds; of a folded branch, how many leaves it holds.
function foldElement(card, paints) {
  const x = card.x + card.width;
  const handle = makeSvg("g", { class: "fold" });
  if (!card.folded) {
    handle.append(
      makeSvg("circle", { cx: x, cy: card.y, r: 7.5, fill: paints.card, stroke: paints.quiet }),
      makeSvg("path", { d: `M${x - 3.5},${card.y} h7`, stroke: paints.quiet, "stroke-width": 1.5 }),
    );
    return handle;
  }
  const label = card.folded < 1e5 ? formatCount(card.folded) : card.folded.toExponential(0);
  const pill = { x: x + 10, y: card.y - 10, width: FOLD_WIDTH - 10, height: 20, rx: 10, fill: paints.hover, stroke: paints.quiet };
  handle.append(
    makeSvg("path", { d: `M${x},${card.y} h10`, stroke: paints.quiet, "stroke-width": 1.5 }),
    makeSvg("rect", pill),
    textLine(`+ ${label}`, x + 10 + (FOLD_WIDTH - 10) / 2, card.y + 4, SMALL, paints.ink, "middle"),
  );
  return handle;
}

// The edge from the parent: as thick as the rows that take it, in bands of their classes, with the answer beside it.
function edgeElement(card, { paints, total }, { onPath }) {
  const { parent } = card;
  const [x1, x2] = [parent.x + parent.width, card.x];
  const thickness = card.thickness(total);
  const siblings = parent.children.map((child) => child.thickness(total));
  const at = parent.children.indexOf(card);
  const before = siblings.slice(0, at).reduce((sum, each) => sum + each, 0);
  const y1 = parent.y - siblings.reduce((sum, each) => sum + each, 0) / 2 + before + thickness / 2;
  const group = makeSvg("g", { class: "edge" });
  const curve = (from, to) => `M${x1},${from} C${(x1 + x2) / 2},${from} ${(x1 + x2) / 2},${to} ${x2},${to}`;
  if (card.rows) {
    let offset = -thickness / 2;
    card.counts.forEach((count, index) => {
      if (!count) return;
      const width = (thickness * count) / card.rows;
      const middle = offset + width / 2;
      const stroke = { fill: "none", stroke: colourOf(index), "stroke-width": width, "stroke-opacity": 0.55 };
      group.append(makeSvg("path", { d: curve(y1 + middle, card.y + middle), ...stroke }));
      offset += width;
    });
  } else {
    const stroke = { fill: "none", stroke: paints.quiet, "stroke-width": thickness, "stroke-opacity": 0.7 };
    if (card.rows === 0) stroke["stroke-dasharray"] = "4 3";
    group.append(makeSvg("path", { d: curve(y1, card.y), ...stroke }));
  }
  if (onPath) {
    const stroke = { fill: "none", stroke: paints["path-line"], "stroke-width": 3 };
    group.append(makeSvg("path", { d: curve(y1, card.y), ...stroke }));
  }
  const above = card.place.side ? thickness / 2 + SMALL.size + 1 : -thickness / 2 - 4;
  group.append(textLine(card.place.side ? "no" : "yes", x2 - 6, card.y + above, SMALL, paints.quiet, "end"));
  return group;
}
