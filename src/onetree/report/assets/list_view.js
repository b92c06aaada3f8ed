// The tree as a list of rows that fold and unfold. Only the rows on the screen are in the document, so the number of
// leaves costs nothing. A row is as high as its words need: nothing is cut short.

const PRINTED_ROWS = 3_000;
const SPARE_PIXELS = 300; // drawn above and below the screen

class ListView {
  constructor(model, format, places) {
    this.model = model;
    this.format = format;
    this.places = places;
    this.tree = byId("tree");
    this.list = byId("rows");
    this.drawn = new Map();
    this.rows = [];
    this.tops = [0]; // of each row, and the end of the last
    this.printing = false;
    this.nextId = 0;
    this.lines = new Map(); // of a node, at the present width
    this.tree.addEventListener("scroll", () => this.drawSoon());
    this.tree.addEventListener("keydown", (event) => this.onKey(event));
    this.tree.addEventListener("click", (event) => this.onClick(event));
    this.tree.addEventListener("dblclick", (event) => this.onClick(event, true));
    new ResizeObserver(() => this.resize()).observe(this.tree);
    addEventListener("beforeprint", () => this.print(true));
    addEventListener("afterprint", () => this.print(false));
  }

  get isShown() {
    return this.tree.clientWidth > 0;
  }

  resize() {
    this.redraw();
    if (this.isShown && !this.wasShown) this.scrollTo(this.places.active);
    this.wasShown = this.isShown;
  }

  update(change) {
    if (!this.isShown) return;
    if (change === "selected") this.scrollTo(this.places.active);
    else if (change === "unfolded") this.relist();
    else this.redraw();
  }

  relist() {
    this.rows = this.places.shown();
    this.measure();
    this.draw();
  }

  redraw() {
    this.drawn.forEach((element) => element.remove());
    this.drawn.clear();
    this.lines.clear();
    if (this.isShown) this.relist();
  }

  measure() {
    const style = getComputedStyle(this.tree);
    this.rowHeight = parseFloat(style.getPropertyValue("--row"));
    this.font = `${style.fontSize} ${style.fontFamily}`;
    this.lineHeight = 1.3 * parseFloat(style.fontSize);
    // Nesting takes at most a part of the width; what is deeper still carries its depth as a number.
    const room = 0.4 * this.tree.clientWidth;
    this.step = Math.min(22, Math.max(4, room / Math.max(1, this.model.data.depth)));
    this.tree.classList.toggle("dense", this.step < 8); // lines so close would be a hatching
    this.mostSteps = Math.max(1, Math.floor(room / this.step));
    const n = this.printing ? Math.min(this.rows.length, PRINTED_ROWS) : this.rows.length;
    this.tops = new Float64Array(n + 1);
    for (let index = 0; index < n; index++) this.tops[index + 1] = this.tops[index] + this.heightOf(this.rows[index]);
    this.list.style.height = `${this.tops[n]}px`;
  }

  // What is beside the words: nesting, the arrow, the answer, the summary.
  heightOf(row) {
    const beside = Math.min(row.depth, this.mostSteps) * this.step + (row.depth > this.mostSteps ? 30 : 0);
    const room = Math.max(80, this.tree.clientWidth - beside - rowMargins(this, row));
    const key = `${row.node} ${room}`;
    if (!this.lines.has(key)) this.lines.set(key, wrapText(this.words(row.node), room, this.font).length);
    return this.rowHeight + (this.lines.get(key) - 1) * this.lineHeight;
  }

  words(node) {
    return this.model.isLeaf(node) ? this.format.leafName(node) : `${textOf(this.format.test(node))}?`;
  }

  drawSoon() {
    this.frame ??= requestAnimationFrame(() => {
      this.frame = null;
      this.draw();
    });
  }

  // The row at a height.
  rowAt(y) {
    let [begin, end] = [0, this.tops.length - 1];
    while (begin < end) {
      const middle = (begin + end) >> 1;
      if (this.tops[middle + 1] <= y) begin = middle + 1;
      else end = middle;
    }
    return begin;
  }

  draw() {
    const { scrollTop, clientHeight } = this.tree;
    let [first, last] = [this.rowAt(scrollTop - SPARE_PIXELS), this.rowAt(scrollTop + clientHeight + SPARE_PIXELS) + 1];
    if (this.printing) [first, last] = [0, PRINTED_ROWS];
    last = Math.min(this.tops.length - 1, last);
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
      before.style.transform = `translateY(${this.tops[index]}px)`;
      before.style.height = `${this.tops[index + 1] - this.tops[index]}px`;
      updateRowElement(this, row, before);
    }
    const { active } = this.places;
    if (this.drawn.has(active)) this.tree.setAttribute("aria-activedescendant", active.id);
    else this.tree.removeAttribute("aria-activedescendant");
  }

  scrollTo(row) {
    const [top, bottom] = [this.tops[row.index], this.tops[row.index + 1]];
    const { scrollTop, clientHeight } = this.tree;
    if (top < scrollTop + this.rowHeight || bottom + this.rowHeight > scrollTop + clientHeight) {
      this.tree.scrollTop = (top + bottom - clientHeight) / 2;
    }
    this.draw();
  }

  focus() {
    this.tree.focus({ preventScroll: true });
  }

  onClick(event, twice = false) {
    const row = this.rows.find((each) => each.id && each.id === event.target.closest(".row")?.id);
    if (!row) return;
    const onTwisty = event.target.closest(".twisty") !== null;
    if (twice ? !onTwisty : onTwisty) this.places.toggle(row);
    if (row !== this.places.active) this.places.select(row);
  }

  onKey(event) {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const { places, rows } = this;
    const row = places.active;
    const page = Math.max(1, Math.floor(this.tree.clientHeight / this.rowHeight) - 1);
    const move = (by) => places.select(rows[Math.min(rows.length - 1, Math.max(0, row.index + by))]);
    const actions = {
      ArrowDown: () => move(1),
      ArrowUp: () => move(-1),
      PageDown: () => move(page),
      PageUp: () => move(-page),
      Home: () => move(-Infinity),
      End: () => move(Infinity),
      ArrowRight: () => (row.open ? move(1) : places.toggle(row)),
      ArrowLeft: () => (row.open ? places.toggle(row) : row.parent && places.select(row.parent)),
      Enter: () => places.toggle(row),
      " ": () => places.toggle(row),
      "*": () => unfoldAll(places, row),
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

function unfoldAll(places, place) {
  const whole = places.unfoldAll(place);
  byId("tree-message").textContent = whole
    ? ""
    : `Too many for one view: unfolded level by level, up to ${formatCount(MOST_PLACES)} places.`;
}
