// The tree as a drawing: nodes with the data that reach them, edges as wide as their rows. Only what is unfolded and in
// the window is in the document.

const READABLE = 0.75; // the least zoom at which a drawing opens
const LEAST_HEIGHT = 260; // pixels
const FEWEST_TIPS = 6; // that it opens with, if there are so many
const FAR = 0.3; // the zoom below which words cannot be read and are left out
const MOST_EXPORTED = 4_000; // nodes in a downloaded picture

class Drawing {
  constructor(model, format, places) {
    this.model = model;
    this.format = format;
    this.places = places;
    this.window = byId("drawing");
    this.svg = byId("drawing-svg");
    this.edges = makeSvg("g", { "aria-hidden": "true" }); // below all nodes
    this.nodes = makeSvg("g", { role: "none" });
    this.content = makeSvg("g", { role: "none", "font-family": FONT }, this.edges, this.nodes);
    this.svg.append(this.content);
    this.drawn = new Map(); // card -> its node, and its edge if it has one
    this.layout = null;
    this.viewport = new Viewport(this.window, () => this.move());
    this.window.addEventListener("click", (event) => this.onClick(event));
    this.window.addEventListener("dblclick", (event) => this.onClick(event, true));
    this.window.addEventListener("keydown", (event) => this.onKey(event));
    byId("zoom-in").addEventListener("click", () => this.viewport.zoom(ZOOM_STEP));
    byId("zoom-out").addEventListener("click", () => this.viewport.zoom(1 / ZOOM_STEP));
    byId("zoom-fit").addEventListener("click", () => this.viewport.fit());
    new ResizeObserver(() => this.resize()).observe(this.window);
  }

  get isShown() {
    return this.window.clientWidth > 0;
  }

  get context() {
    return { model: this.model, paints: this.paints, total: this.model.coverage?.nRows ?? 1 };
  }

  resize() {
    if (!this.isShown) return;
    if (this.layout) return void this.viewport.moveTo(this.viewport.x, this.viewport.y);
    this.paints = readPaints();
    if (this.fitted) this.relayout();
    else this.open();
    this.fitted = true;
    this.bringIn(this.places.active);
  }

  // The first look: of a large tree, as much as can be read at once.
  open() {
    const { viewport, places } = this;
    const room = this.window.clientHeight;
    do this.layOut();
    while (viewport.whole < READABLE && places.foldLast(FEWEST_TIPS));
    // A small drawing needs less room.
    const scale = Math.max(READABLE, viewport.whole);
    this.window.style.height = `${Math.min(room, Math.max(LEAST_HEIGHT, this.layout.height * scale + 40))}px`;
    viewport.fit(READABLE, this.layout.cards[0].y);
  }

  update(change) {
    if (!this.isShown || !this.layout) return void (this.layout = null); // drawn anew when it next shows
    if (change === "theme") this.redraw();
    else if (change === "unfolded") this.relayout();
    else this.redrawNodes();
    if (change === "selected") this.bringIn(this.places.active);
  }

  redraw() {
    this.paints = readPaints();
    this.relayout();
  }

  // Lays out again and keeps the active node where it is on the screen.
  relayout() {
    const before = this.layout?.cardOf.get(this.places.active);
    this.layOut();
    const after = this.layout.cardOf.get(this.places.active);
    const { viewport } = this;
    this.redrawNodes();
    if (!before || !after) return;
    viewport.moveTo(viewport.x + (before.x - after.x) * viewport.scale, viewport.y + (before.y - after.y) * viewport.scale);
  }

  layOut() {
    this.layout = layOut(this.model, this.format, this.places);
    this.viewport.size = this.layout;
  }

  redrawNodes() {
    this.drawn.forEach((elements) => elements.forEach((element) => element.remove()));
    this.drawn.clear();
    this.draw();
  }

  move() {
    const { x, y, scale } = this.viewport;
    this.content.setAttribute("transform", `translate(${x} ${y}) scale(${scale})`);
    this.svg.classList.toggle("far", scale < FAR);
    this.draw();
  }

  // Whether a node or the edge to it is in the window.
  isVisible({ x, y, width, height, parent, folded }, viewport) {
    const left = parent ? parent.x + parent.width : x;
    const top = Math.min(y - height / 2, parent ? parent.y : y);
    const bottom = Math.max(y + height / 2, parent ? parent.y : y);
    const right = x + width + (folded ? FOLD_WIDTH : 0);
    const toX = (each) => each * viewport.scale + viewport.x;
    const toY = (each) => each * viewport.scale + viewport.y;
    return toX(right) > 0 && toX(left) < viewport.width && toY(bottom) > -40 && toY(top) < viewport.height + 40;
  }

  draw() {
    if (!this.layout) return;
    const { x, y, scale, width, height } = this.viewport; // asked once: the size of an element is not free
    const window = { x, y, scale, width, height };
    let before = null;
    for (const card of [...this.layout.cards].reverse()) {
      if (!this.isVisible(card, window)) {
        this.drawn.get(card)?.forEach((element) => element.remove());
        this.drawn.delete(card);
        continue;
      }
      if (!this.drawn.has(card)) {
        this.drawn.set(card, [this.item(card), ...this.edgeTo(card)]);
        this.nodes.insertBefore(this.drawn.get(card)[0], before);
        this.edges.prepend(...this.drawn.get(card).slice(1));
      }
      [before] = this.drawn.get(card);
    }
    const active = this.layout.cardOf.get(this.places.active);
    if (this.drawn.has(active)) this.window.setAttribute("aria-activedescendant", this.drawn.get(active)[0].id);
    else this.window.removeAttribute("aria-activedescendant");
  }

  stateOf({ place }) {
    const { places } = this;
    return { active: place === places.active, onPath: places.onPath.has(place), match: Boolean(places.matches?.(place.node)) };
  }

  edgeTo(card) {
    return card.parent ? [edgeElement(card, this.context, this.stateOf(card))] : [];
  }

  // A node with what a screen reader tells of it.
  item(card) {
    const { place } = card;
    const element = nodeElement(card, this.context, this.stateOf(card));
    this.nextId = (this.nextId ?? 0) + 1;
    const answer = place.parent ? `${place.side ? "no" : "yes"}: ` : "";
    const said = {
      id: `node-at-${this.nextId}`,
      role: "treeitem",
      "aria-label": `${answer}${card.title.join(" ")}${card.leaf ? "" : "?"} ${card.notes.join(", ")}`.trim(),
      "aria-level": place.depth + 1,
      "aria-selected": place === this.places.active,
    };
    if (this.model.hasChildren(place.node)) said["aria-expanded"] = place.open;
    for (const [name, value] of Object.entries(said)) element.setAttribute(name, value);
    return element;
  }

  bringIn(place) {
    const card = this.layout?.cardOf.get(place);
    if (card) this.viewport.bringIn(card.box);
  }

  focus() {
    this.window.focus({ preventScroll: true });
  }

  cardAt(target) {
    for (const [card, [node]] of this.drawn) if (node.contains(target)) return card;
    return null;
  }

  onClick(event, twice = false) {
    if (this.viewport.dragged) return;
    const card = this.cardAt(event.target);
    if (!card) return;
    const onHandle = event.target.closest(".fold") !== null;
    if (twice && onHandle) return; // its two clicks have been heard
    if ((twice || onHandle) && this.model.hasChildren(card.place.node)) {
      this.places.active = card.place; // what was pressed stays under the pointer
      this.places.toggle(card.place);
    }
    if (!twice) this.places.select(card.place);
  }

  onKey(event) {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === "Escape") return void this.window.blur();
    if (this.viewport.onKey(event.key) || this.places.onArrow(event.key)) event.preventDefault();
  }

  // The whole unfolded drawing as a picture of its own; null if that would be too much.
  picture() {
    this.paints ??= readPaints();
    const { cards, width, height } = layOut(this.model, this.format, this.places);
    if (cards.length > MOST_EXPORTED) return null;
    const margin = 16;
    const box = { x: -margin, y: -margin, width: width + 2 * margin, height: height + 2 * margin };
    const svg = makeSvg("svg", { viewBox: Object.values(box).join(" "), width: box.width, height: box.height, "font-family": FONT });
    svg.append(makeSvg("rect", { ...box, fill: this.paints.page }));
    svg.append(...cards.flatMap((card) => this.edgeTo(card)));
    svg.append(...cards.map((card) => nodeElement(card, this.context, this.stateOf(card))));
    return { svg, width: box.width, height: box.height };
  }
}
