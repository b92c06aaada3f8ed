// The whole tree as a map: one column per depth, a place as high as its share of the rows (or of the leaves), leaves in
// the colour of their class. What is lower than half a pixel is not drawn, so trees of millions of leaves have a map.

const [COLUMN_LEAST, COLUMN_MOST] = [56, 200]; // pixels
const DEEPEST_ZOOM = 1e-12; // of the whole, the least share that fills the window
const LABEL = 12; // pixels

class MapView {
  constructor(model, format, places) {
    this.model = model;
    this.format = format;
    this.places = places;
    this.window = byId("map");
    this.canvas = byId("map-canvas");
    this.leafShares = countLeaves(model);
    this.byRows = Boolean(model.coverage);
    this.cells = []; // as drawn: { place path, box }
    [this.top, this.bottom] = [0, 1]; // the part of the whole that is in the window
    this.pointer = null;
    this.window.addEventListener("wheel", (event) => this.onWheel(event), { passive: false });
    this.window.addEventListener("pointerdown", (event) => (this.pointer = { y: event.clientY, moved: false }));
    this.window.addEventListener("pointermove", (event) => this.onMove(event));
    addEventListener("pointerup", () => setTimeout(() => (this.pointer = null)));
    this.window.addEventListener("pointerleave", () => (byId("map-tip").hidden = true));
    this.window.addEventListener("click", (event) => this.onClick(event));
    this.window.addEventListener("dblclick", (event) => this.zoomTo(this.cellAt(event)));
    this.window.addEventListener("keydown", (event) => this.onKey(event));
    byId("map-in").addEventListener("click", () => this.zoom(1.6));
    byId("map-out").addEventListener("click", () => this.zoom(1 / 1.6));
    byId("map-fit").addEventListener("click", () => this.show(0, 1));
    byId("map-by").hidden = !model.coverage;
    byId("map-size").addEventListener("change", (event) => {
      this.byRows = event.target.value === "rows";
      this.show(0, 1);
    });
    byId("map-note").textContent = model.coverage ? "" : "Heights are shares of the leaves, not of any rows.";
    new ResizeObserver(() => this.draw()).observe(this.window);
  }

  get isShown() {
    return this.window.clientWidth > 0;
  }

  update(change) {
    if (!this.isShown) return;
    if (change === "selected") this.bringIn();
    this.draw();
  }

  focus() {
    this.window.focus({ preventScroll: true });
  }

  // The size of a place given by node and number in the coverage.
  size(node, at) {
    if (!this.byRows) return this.model.leavesBelow[node];
    return at < 0 ? 0 : this.model.coverage.rows[at];
  }

  root() {
    return { node: 0, at: this.model.coverage ? 0 : UNCOUNTED, depth: 0, parent: null, side: 0, top: 0, bottom: 1 };
  }

  // The children of a cell with the part of the whole that each takes.
  childrenOf(cell) {
    const { model } = this;
    if (!model.hasChildren(cell.node)) return [];
    const children = [0, 1].map((side) => {
      const at = model.coverage ? model.coverage.child(cell.at, side) : UNCOUNTED;
      return { node: model.child(cell.node, side), at, depth: cell.depth + 1, parent: cell, side };
    });
    const sizes = children.map(({ node, at }) => this.size(node, at));
    const whole = sizes[0] + sizes[1];
    const share = whole ? (Number.isFinite(whole) ? sizes[0] / whole : 0.5) : 0;
    const middle = cell.top + (cell.bottom - cell.top) * share;
    Object.assign(children[0], { top: cell.top, bottom: middle });
    Object.assign(children[1], { top: middle, bottom: whole ? cell.bottom : middle });
    return children;
  }

  cellOf(path) {
    return path.reduce((cell, side) => this.childrenOf(cell)[side], this.root());
  }

  // Where a share of the whole is on the screen.
  toY(share) {
    return ((share - this.top) / (this.bottom - this.top)) * this.window.clientHeight;
  }

  show(top, bottom) {
    const size = Math.min(1, Math.max(DEEPEST_ZOOM, bottom - top));
    this.top = Math.min(1 - size, Math.max(0, top));
    this.bottom = this.top + size;
    this.draw();
  }

  zoom(factor, y = this.window.clientHeight / 2) {
    const at = this.top + (y / this.window.clientHeight) * (this.bottom - this.top);
    this.show(at - (at - this.top) / factor, at + (this.bottom - at) / factor);
  }

  zoomTo(cell) {
    if (cell && cell.bottom > cell.top) this.show(cell.top, cell.bottom);
  }

  bringIn() {
    const { top, bottom } = this.cellOf(this.places.active.path());
    const size = this.bottom - this.top;
    if (bottom <= this.top || top >= this.bottom) this.top = Math.min(1 - size, Math.max(0, (top + bottom - size) / 2));
    this.bottom = this.top + size;
  }

  draw() {
    if (!this.isShown) return;
    const { clientWidth: width, clientHeight: height } = this.window;
    const ratio = devicePixelRatio || 1;
    if (this.canvas.width !== Math.round(width * ratio)) this.canvas.width = Math.round(width * ratio);
    if (this.canvas.height !== Math.round(height * ratio)) this.canvas.height = Math.round(height * ratio);
    const pen = this.canvas.getContext("2d");
    pen.setTransform(ratio, 0, 0, ratio, 0, 0);
    pen.clearRect(0, 0, width, height);
    this.paints = readPaints();
    const [first, last] = this.depths();
    this.column = Math.min(COLUMN_MOST, Math.max(COLUMN_LEAST, width / (last - first + 1)));
    this.firstDepth = first;
    this.cells = [];
    const stack = [this.root()];
    while (stack.length) {
      const cell = stack.pop();
      const [y, end] = [this.toY(cell.top), this.toY(cell.bottom)];
      const x = (cell.depth - first) * this.column;
      if (end < 0 || y > height || end - y < 0.5 || x > width) continue;
      const leaf = this.model.isLeaf(cell.node);
      if (cell.depth >= first) {
        cell.box = { x, y, width: leaf ? Math.max(this.column, width - x) : this.column, height: end - y };
        this.cells.push(cell);
        this.drawCell(pen, cell, leaf);
      }
      stack.push(...this.childrenOf(cell));
    }
    this.outline(pen);
  }

  // Which depths are in the window: from the last split that fills it, with two above it, to the deepest one that shows.
  depths() {
    let cell = this.root();
    for (;;) {
      const next = this.childrenOf(cell).find((child) => child.top <= this.top && child.bottom >= this.bottom);
      if (!next) break;
      cell = next;
    }
    const first = Math.max(0, cell.depth - 2);
    return [first, Math.max(first + 3, Math.min(this.model.data.depth, first + Math.floor(this.window.clientWidth / COLUMN_LEAST) - 1))];
  }

  drawCell(pen, cell, leaf) {
    const { x, y, width, height } = cell.box;
    pen.fillStyle = leaf ? this.model.leafColour(cell.node) : this.mixture(cell);
    pen.globalAlpha = leaf ? 0.85 : 1;
    const gap = height > 4 ? 1 : height > 2 ? 0.5 : 0;
    pen.fillRect(x, y, width - 1, height - gap);
    pen.globalAlpha = 1;
    if (height < LABEL + 2) return;
    const words = leaf ? this.format.leafName(cell.node) : textOf(this.format.test(cell.node));
    const font = `${LABEL}px ${FONT}`;
    if (words.split(BREAKS).some((word) => textWidth(word.trimEnd(), font) > width - 8)) return;
    const lines = wrapText(words, width - 8, font, BREAKS);
    if (lines.length * (LABEL + 3) > height) return;
    pen.font = font;
    pen.fillStyle = leaf ? "#000" : this.paints.ink;
    const middle = Math.min(Math.max(y, 0) + height, (Math.max(0, y) + Math.min(this.window.clientHeight, y + height)) / 2);
    lines.forEach((line, i) => pen.fillText(line, x + 4, middle + (i - (lines.length - 1) / 2) * (LABEL + 3) + LABEL / 3));
  }

  // The colour of the largest class, the paler the more the others have.
  mixture(cell) {
    const n = this.model.data.classes.length;
    const counts = this.byRows ? this.model.coverage.classes(cell.at) : this.leafShares?.subarray(cell.node * n, (cell.node + 1) * n);
    const all = counts?.reduce((sum, count) => sum + count, 0);
    if (!all || !Number.isFinite(all) || n < 2) return this.paints.hover;
    const most = counts.reduce((best, count, index) => (count > counts[best] ? index : best), 0);
    const purity = (counts[most] / all - 1 / n) / (1 - 1 / n);
    return `color-mix(in oklab, ${colourOf(most)} ${Math.round(8 + 42 * purity)}%, ${this.paints.card})`;
  }

  // Marks the places on the path of an input, and the selected one.
  outline(pen) {
    const frame = (path, colour, lineWidth) => {
      const { depth, node, top, bottom } = this.cellOf(path);
      const x = (depth - this.firstDepth) * this.column;
      const width = this.model.isLeaf(node) ? Math.max(this.column, this.window.clientWidth - x) : this.column;
      pen.strokeStyle = colour;
      pen.lineWidth = lineWidth;
      pen.strokeRect(x + 1, this.toY(top) + 1, width - 3, Math.max(1, this.toY(bottom) - this.toY(top) - 2));
    };
    const { path, active } = this.places;
    for (let end = 0; path && end <= path.length; end++) frame(path.slice(0, end), this.paints["path-line"], 2);
    frame(active.path(), this.paints.accent, 3);
  }

  cellAt(event) {
    const box = this.window.getBoundingClientRect();
    const [x, y] = [event.clientX - box.left, event.clientY - box.top];
    return this.cells.findLast((cell) => x >= cell.box.x && x < cell.box.x + cell.box.width && y >= cell.box.y && y < cell.box.y + cell.box.height);
  }

  pathOf(cell) {
    const path = [];
    for (; cell.parent; cell = cell.parent) path.push(cell.side);
    return path.reverse();
  }

  // What people do.

  onWheel(event) {
    if (!event.ctrlKey && document.activeElement !== this.window) return;
    event.preventDefault();
    this.zoom(Math.exp(-event.deltaY * (event.ctrlKey ? 0.01 : 0.003)), event.clientY - this.window.getBoundingClientRect().top);
  }

  onMove(event) {
    const tip = byId("map-tip");
    const cell = this.cellAt(event);
    tip.hidden = !cell || event.pointerType === "touch";
    if (!tip.hidden) {
      tip.textContent = this.tell(cell);
      const box = this.window.getBoundingClientRect();
      tip.style.left = `${Math.min(box.width - tip.offsetWidth - 8, event.clientX - box.left + 14)}px`;
      tip.style.top = `${Math.min(box.height - tip.offsetHeight - 8, event.clientY - box.top + 14)}px`;
    }
    if (!this.pointer || (!event.buttons && event.pointerType === "mouse")) return;
    const by = event.clientY - this.pointer.y;
    if (!this.pointer.moved && Math.abs(by) < CLICK_PIXELS) return;
    this.pointer = { y: event.clientY, moved: true };
    const share = (by / this.window.clientHeight) * (this.bottom - this.top);
    this.show(this.top - share, this.bottom - share);
  }

  tell(cell) {
    const { model, format } = this;
    const what = model.isLeaf(cell.node) ? format.leafName(cell.node) : `${textOf(format.test(cell.node))}?`;
    const rows = cell.at >= 0 ? `, ${plural(model.coverage.rows[cell.at], "row")}` : "";
    const leaves = model.isLeaf(cell.node) ? "" : `, ${plural(model.leavesBelow[cell.node], "leaf", "leaves")}`;
    return what + rows + leaves;
  }

  onClick(event) {
    const cell = this.cellAt(event);
    if (cell && !this.pointer?.moved) this.places.show(this.pathOf(cell));
  }

  onKey(event) {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const actions = {
      "+": () => this.zoom(1.6),
      "=": () => this.zoom(1.6),
      "-": () => this.zoom(1 / 1.6),
      0: () => this.show(0, 1),
      Enter: () => this.zoomTo(this.cellOf(this.places.active.path())),
      Escape: () => this.window.blur(),
    };
    if (Object.hasOwn(actions, event.key)) actions[event.key]();
    else if (!this.places.onArrow(event.key)) return;
    event.preventDefault();
  }
}

const MOST_SHARES = 4_000_000;

// Leaves of each class below each node, while that is little; null of a tree that is not wholly in the file.
function countLeaves(model) {
  const n = model.data.classes.length;
  if (n < 2 || n * model.size > MOST_SHARES || model.data.nodes.below.length) return null;
  const shares = new Float64Array(n * model.size);
  for (let index = 0; index < n; index++) {
    const counts = model.count((node) => model.isLeaf(node) && model.classOf(node) === index);
    counts.forEach((count, node) => (shares[node * n + index] = count));
  }
  return shares;
}
