// The tree as a list of rows that fold and unfold. Only the rows on the screen are in the document, so the number of
// leaves costs nothing; the list of unfolded rows is what is kept.

const FIRST_ROWS = 60; // unfolded when the page opens
const MOST_ROWS = 50_000; // unfolded at once
const PRINTED_ROWS = 3_000;
const SPARE_ROWS = 8; // drawn above and below the screen

class Row {
  constructor(node, parent, side) {
    this.node = node;
    this.parent = parent;
    this.side = side;
    this.depth = parent ? parent.depth + 1 : 0;
    this.open = false;
    this.children = null; // made when first unfolded, then kept with what is open in them
    this.index = -1; // in the list of unfolded rows
    this.id = "";
  }

  path() {
    const path = [];
    for (let row = this; row.parent; row = row.parent) path.push(row.side);
    return path.reverse();
  }
}

class TreeView {
  constructor(model, format, onSelect) {
    this.model = model;
    this.format = format;
    this.onSelect = onSelect;
    this.tree = byId("tree");
    this.list = byId("rows");
    this.drawn = new Map();
    this.root = new Row(0, null, 0);
    this.rows = [];
    this.active = this.root;
    this.path = null; // of the input that is followed
    this.onPath = new Set();
    this.matches = null; // (node) => boolean
    this.matchCounts = null;
    this.printing = false;
    this.nextId = 0;
    this.shares = countClasses(model);
    this.unfoldLevels(this.root, FIRST_ROWS);
    this.tree.addEventListener("scroll", () => this.drawSoon());
    this.tree.addEventListener("keydown", (event) => this.onKey(event));
    this.tree.addEventListener("click", (event) => this.onClick(event));
    this.tree.addEventListener("dblclick", (event) => this.onClick(event, true));
    new ResizeObserver(() => this.redraw()).observe(this.tree);
    addEventListener("beforeprint", () => this.print(true));
    addEventListener("afterprint", () => this.print(false));
    this.relist();
  }

  // Folding.

  unfold(row) {
    if (!this.model.hasChildren(row.node)) return;
    this.addChildren(row);
    row.open = true;
  }

  addChildren(row) {
    row.children ??= [0, 1].map((side) => new Row(this.model.child(row.node, side), row, side));
  }

  // Unfolds below a row level by level while at most `most` rows show; returns whether everything fitted.
  unfoldLevels(row, most) {
    let level = [row];
    let n = 1;
    while (level.length) {
      const splits = level.filter((each) => this.model.hasChildren(each.node));
      if (n + 2 * splits.length > most) return false;
      n += 2 * splits.length;
      splits.forEach((each) => this.unfold(each));
      level = splits.flatMap((each) => each.children);
    }
    return true;
  }

  unfoldAll(row = this.root) {
    const whole = this.unfoldLevels(row, MOST_ROWS);
    this.relist();
    byId("tree-message").textContent = whole
      ? ""
      : `Too many for one list: unfolded level by level, up to ${formatCount(MOST_ROWS)} rows.`;
  }

  foldAll() {
    this.root = new Row(0, null, 0);
    this.unfold(this.root);
    this.highlight(this.path);
    this.select(this.root, { focus: false });
    byId("tree-message").textContent = "";
  }

  toggle(row) {
    if (row.open) row.open = false;
    else this.unfold(row);
    this.relist();
  }

  // Unfolds the rows of a path and gives its last.
  reveal(path) {
    let row = this.root;
    for (const side of path) {
      this.unfold(row);
      row = row.children[side];
    }
    return row;
  }

  show(path, { focus = true } = {}) {
    this.select(this.reveal(path), { focus });
  }

  // Marks the rows of a path, now and when they are next unfolded; null marks none.
  highlight(path) {
    this.path = path;
    this.onPath.clear();
    if (path) this.onPath.add(this.root);
    let row = this.root;
    for (const side of path ?? []) {
      this.addChildren(row);
      row = row.children[side];
      this.onPath.add(row);
    }
    this.redraw();
  }

  select(row, { focus = true } = {}) {
    this.active = row;
    if (this.rows[row.index] !== row) this.relist();
    this.scrollTo(row);
    if (focus) this.tree.focus({ preventScroll: true });
    this.onSelect(row);
  }

  setMatches(matches, counts) {
    this.matches = matches;
    this.matchCounts = counts;
    this.redraw();
  }

  // The list of unfolded rows.

  relist() {
    const rows = [];
    const stack = [this.root];
    while (stack.length) {
      const row = stack.pop();
      row.index = rows.length;
      rows.push(row);
      if (row.open) stack.push(row.children[1], row.children[0]);
    }
    this.rows = rows;
    if (this.rows[this.active.index] !== this.active) this.activateNearest();
    this.measure();
    this.draw();
  }

  // The active row was folded away: its nearest ancestor that still shows takes over.
  activateNearest() {
    let row = this.active;
    for (let above = row.parent; above; above = above.parent) if (!above.open) row = above;
    this.active = this.rows[row.index] === row ? row : this.root;
    this.onSelect(this.active);
  }

  redraw() {
    this.drawn.forEach((element) => element.remove());
    this.drawn.clear();
    this.measure();
    this.draw();
  }

  measure() {
    const style = getComputedStyle(this.tree);
    this.rowHeight = Number.parseFloat(style.getPropertyValue("--row"));
    // Nesting takes at most a part of the width; what is deeper still carries its depth as a number.
    const room = 0.4 * this.tree.clientWidth;
    this.step = Math.min(22, Math.max(4, room / Math.max(1, this.model.data.depth)));
    this.tree.classList.toggle("dense", this.step < 8); // lines so close would be a hatching
    this.mostSteps = Math.max(1, Math.floor(room / this.step));
    const n = this.printing ? Math.min(this.rows.length, PRINTED_ROWS) : this.rows.length;
    this.list.style.height = `${n * this.rowHeight}px`;
  }

  drawSoon() {
    this.frame ??= requestAnimationFrame(() => {
      this.frame = null;
      this.draw();
    });
  }

  draw() {
    let first = Math.floor(this.tree.scrollTop / this.rowHeight) - SPARE_ROWS;
    let last = Math.ceil((this.tree.scrollTop + this.tree.clientHeight) / this.rowHeight) + SPARE_ROWS;
    if (this.printing) [first, last] = [0, PRINTED_ROWS];
    first = Math.max(0, first);
    last = Math.min(this.rows.length, last);
    for (const [row, element] of this.drawn) {
      if (row.index < first || row.index >= last || this.rows[row.index] !== row) {
        element.remove();
        this.drawn.delete(row);
      }
    }
    let before = null; // keeps the order in the document that of the rows, for those who listen to it
    for (let index = last - 1; index >= first; index--) {
      const row = this.rows[index];
      if (!this.drawn.has(row)) {
        this.drawn.set(row, rowElement(this, row));
        this.list.insertBefore(this.drawn.get(row), before);
      }
      before = this.drawn.get(row);
      updateRowElement(this, row, before);
    }
    if (this.drawn.has(this.active)) this.tree.setAttribute("aria-activedescendant", this.active.id);
    else this.tree.removeAttribute("aria-activedescendant");
  }

  scrollTo(row) {
    const top = row.index * this.rowHeight;
    const { scrollTop, clientHeight } = this.tree;
    if (top < scrollTop + this.rowHeight || top + 2 * this.rowHeight > scrollTop + clientHeight) {
      this.tree.scrollTop = top - clientHeight / 2 + this.rowHeight / 2;
    }
    this.draw();
  }

  // What people do.

  onClick(event, twice = false) {
    const row = this.rows.find((each) => each.id && each.id === event.target.closest(".row")?.id);
    if (!row) return;
    const onTwisty = event.target.closest(".twisty") !== null;
    if (twice ? !onTwisty : onTwisty) this.toggle(row);
    if (row !== this.active) this.select(row);
  }

  onKey(event) {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const row = this.active;
    const page = Math.max(1, Math.floor(this.tree.clientHeight / this.rowHeight) - 1);
    const move = (by) => this.select(this.rows[Math.min(this.rows.length - 1, Math.max(0, row.index + by))]);
    const actions = {
      ArrowDown: () => move(1),
      ArrowUp: () => move(-1),
      PageDown: () => move(page),
      PageUp: () => move(-page),
      Home: () => move(-Infinity),
      End: () => move(Infinity),
      ArrowRight: () => (row.open ? move(1) : this.toggle(row)),
      ArrowLeft: () => (row.open ? this.toggle(row) : row.parent && this.select(row.parent)),
      Enter: () => this.toggle(row),
      " ": () => this.toggle(row),
      "*": () => this.unfoldAll(row),
    };
    if (!Object.hasOwn(actions, event.key)) return;
    event.preventDefault();
    actions[event.key]();
  }

  print(printing) {
    this.printing = printing;
    byId("tree-message").textContent =
      printing && this.rows.length > PRINTED_ROWS
        ? `The first ${formatCount(PRINTED_ROWS)} of ${formatCount(this.rows.length)} unfolded rows.`
        : "";
    this.redraw();
  }
}
