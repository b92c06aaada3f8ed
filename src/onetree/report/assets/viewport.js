// Moving and zooming what is drawn inside an element: by wheel, drag, pinch, keys and buttons.
//
// Wheel and touch belong to the page until the element has the focus, so that nobody who scrolls past is caught; with
// Ctrl, or a pinch on a touchpad, which browsers tell as the same, the wheel always zooms.

const ZOOM_STEP = 1.3;
const CLICK_PIXELS = 5; // moved less, a drag was a click

class Viewport {
  // `scales` is the least and the largest zoom; `onChange` is called after each change.
  constructor(element, onChange, scales = [0.05, 4]) {
    this.element = element;
    this.onChange = onChange;
    this.scales = scales;
    [this.x, this.y, this.scale] = [0, 0, 1]; // a point p is drawn at p * scale + (x, y)
    this.size = { width: 0, height: 0 }; // of the drawing
    this.pointers = new Map();
    this.dragged = false;
    element.addEventListener("wheel", (event) => this.onWheel(event), { passive: false });
    element.addEventListener("pointerdown", (event) => this.onDown(event));
    element.addEventListener("pointermove", (event) => this.onMove(event));
    for (const name of ["pointerup", "pointercancel"]) {
      element.addEventListener(name, (event) => this.pointers.delete(event.pointerId));
    }
  }

  get width() {
    return this.element.clientWidth;
  }

  get height() {
    return this.element.clientHeight;
  }

  moveTo(x, y, scale = this.scale) {
    this.scale = Math.min(this.scales[1], Math.max(this.scales[0], scale));
    this.x = this.keep(x, this.size.width * this.scale, this.width);
    this.y = this.keep(y, this.size.height * this.scale, this.height);
    this.onChange();
  }

  // What is smaller than the window stays inside it, what is larger leaves no more than a part of it empty.
  keep(offset, size, window) {
    const slack = size <= window ? 0 : window / 3;
    const [least, most] = [Math.min(0, window - size) - slack, Math.max(0, window - size) + slack];
    return Math.min(most, Math.max(least, offset));
  }

  // Zooms around a point of the window, its middle if none is given.
  zoom(factor, x = this.width / 2, y = this.height / 2) {
    const scale = Math.min(this.scales[1], Math.max(this.scales[0], this.scale * factor));
    const grow = scale / this.scale;
    this.moveTo(x - (x - this.x) * grow, y - (y - this.y) * grow, scale);
  }

  // The zoom at which all of it shows, with a margin.
  get whole() {
    const margin = 12;
    return Math.min(1, (this.width - 2 * margin) / this.size.width, (this.height - 2 * margin) / this.size.height);
  }

  // Shows all of it if that can be read, else what begins at the left around a height.
  fit(readable = 0, middle = this.size.height / 2) {
    const scale = Math.max(this.whole, readable);
    const y = this.height / 2 - (scale > this.whole ? middle : this.size.height / 2) * scale;
    this.moveTo(Math.max(12, (this.width - this.size.width * scale) / 2), y, scale);
  }

  // Moves just so far that a box is inside, with a margin.
  bringIn({ x, y, width, height }) {
    const shift = (offset, begin, end, window) => {
      const margin = Math.min(40, window / 8);
      if (end + offset > window - margin) offset = window - margin - end;
      return begin + offset < margin ? margin - begin : offset;
    };
    const k = this.scale;
    const movedX = shift(this.x, x * k, (x + width) * k, this.width);
    const movedY = shift(this.y, y * k, (y + height) * k, this.height);
    if (movedX !== this.x || movedY !== this.y) this.moveTo(movedX, movedY);
  }

  get isLive() {
    return this.element.contains(document.activeElement);
  }

  place(event) {
    const box = this.element.getBoundingClientRect();
    return [event.clientX - box.left, event.clientY - box.top];
  }

  onWheel(event) {
    if (!event.ctrlKey && !this.isLive) return;
    event.preventDefault();
    const pixels = event.deltaY * (event.deltaMode === 1 ? 18 : 1);
    this.zoom(Math.exp(-pixels * (event.ctrlKey ? 0.01 : 0.002)), ...this.place(event));
  }

  onDown(event) {
    this.dragged = false;
    if (event.pointerType === "mouse" && event.button !== 0) return;
    this.pointers.set(event.pointerId, this.place(event));
    this.start = this.place(event);
  }

  onMove(event) {
    const before = this.pointers.get(event.pointerId);
    if (!before || (event.pointerType !== "mouse" && !this.isLive)) return;
    const now = this.place(event);
    if (!this.dragged && Math.hypot(now[0] - this.start[0], now[1] - this.start[1]) < CLICK_PIXELS) return;
    if (!this.dragged) this.element.setPointerCapture(event.pointerId);
    this.dragged = true;
    const others = [...this.pointers].filter(([id]) => id !== event.pointerId).map(([, place]) => place);
    this.pointers.set(event.pointerId, now);
    if (!others.length) return void this.moveTo(this.x + now[0] - before[0], this.y + now[1] - before[1]);
    const [other] = others;
    const distance = (place) => Math.max(1, Math.hypot(place[0] - other[0], place[1] - other[1]));
    this.zoom(distance(now) / distance(before), (now[0] + other[0]) / 2, (now[1] + other[1]) / 2);
    this.moveTo(this.x + (now[0] - before[0]) / 2, this.y + (now[1] - before[1]) / 2);
  }

  // Returns whether the key zooms.
  onKey(key) {
    const actions = {
      "+": () => this.zoom(ZOOM_STEP),
      "=": () => this.zoom(ZOOM_STEP),
      "-": () => this.zoom(1 / ZOOM_STEP),
      0: () => this.fit(),
    };
    if (!Object.hasOwn(actions, key)) return false;
    actions[key]();
    return true;
  }
}
