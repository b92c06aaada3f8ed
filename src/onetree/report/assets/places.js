// What is unfolded, selected and marked: one state that the list, the drawing and the map show. Touches no document.

const FIRST_TIPS = 16; // unfolded when the page opens, where most rows go
const MOST_PLACES = 50_000; // unfolded at once

class Place {
  constructor(node, parent, side, at) {
    this.node = node;
    this.parent = parent;
    this.side = side;
    this.at = at; // in the coverage
    this.depth = parent ? parent.depth + 1 : 0;
    this.open = false;
    this.children = null; // made when first unfolded, then kept with what is open in them
    this.index = -1; // in the list of unfolded places
    this.id = "";
  }

  path() {
    const path = [];
    for (let place = this; place.parent; place = place.parent) path.push(place.side);
    return path.reverse();
  }
}

class Places {
  constructor(model) {
    this.model = model;
    this.root = new Place(0, null, 0, model.coverage ? 0 : UNCOUNTED);
    this.active = this.root;
    this.path = null; // of the input that is followed
    this.onPath = new Set();
    this.matches = null; // (node) => boolean
    this.matchCounts = null;
    this.hideEmpty = false;
    this.guests = []; // unfolded only to show something, and folded again for the next
    this.listeners = [];
    this.unfoldFirst();
  }

  // Calls `listener` with "unfolded", "selected" or "marked" after such a change.
  listen(listener) {
    this.listeners.push(listener);
  }

  tell(change) {
    this.listeners.forEach((listener) => listener(change));
  }

  // Rows of the data at a place; undefined if nobody counted.
  rows(place) {
    if (place.at === UNCOUNTED) return undefined;
    return place.at === NOWHERE ? 0 : this.model.coverage.rows[place.at];
  }

  weight(place) {
    return this.rows(place) ?? this.model.leavesBelow[place.node];
  }

  childrenOf(place) {
    const { model } = this;
    if (!model.hasChildren(place.node)) return [];
    place.children ??= [0, 1].map((side) => {
      const at = model.coverage ? model.coverage.child(place.at, side) : UNCOUNTED;
      return new Place(model.child(place.node, side), place, side, at);
    });
    return place.children;
  }

  isHidden(place) {
    return this.hideEmpty && this.rows(place) === 0;
  }

  shownChildren(place) {
    return this.childrenOf(place).filter((child) => !this.isHidden(child));
  }

  // All places that show, from the top down.
  shown() {
    const places = [];
    const stack = [this.root];
    while (stack.length) {
      const place = stack.pop();
      place.index = places.length;
      places.push(place);
      if (place.open) stack.push(...this.shownChildren(place).reverse());
    }
    return places;
  }

  // Folding.

  setOpen(place, open) {
    place.open = open && this.model.hasChildren(place.node);
  }

  unfoldFirst() {
    const isSmall = this.model.data.leaves <= FIRST_TIPS; // it then shows as a whole
    const tips = [this.root];
    this.first = []; // in the order of unfolding
    while (tips.length < FIRST_TIPS) {
      const splits = tips.filter((place) => this.model.hasChildren(place.node) && (isSmall || this.weight(place) > 0));
      if (!splits.length) break;
      const heaviest = splits.reduce((best, place) => (this.weight(place) > this.weight(best) ? place : best));
      this.setOpen(heaviest, true);
      this.first.push(heaviest);
      tips.splice(tips.indexOf(heaviest), 1, ...this.childrenOf(heaviest));
    }
  }

  // Folds what was unfolded last when the page opened, unless so few tips are left or that was the whole tree.
  foldLast(fewest) {
    if (this.first.length < fewest || this.first.length + 1 === this.model.data.leaves) return false;
    const last = this.first.pop();
    last.open = this.isAbove(last, this.active);
    return true;
  }

  isAbove(above, place) {
    for (let at = place.parent; at; at = at.parent) if (at === above) return true;
    return false;
  }

  // Unfolds below a place level by level while not too many show; returns whether everything fitted.
  unfoldAll(place = this.root, most = MOST_PLACES) {
    let level = [place];
    let n = 1;
    let whole = true;
    while (level.length && whole) {
      const splits = level.filter((each) => this.model.hasChildren(each.node));
      whole = n + 2 * splits.length <= most;
      if (!whole) break;
      n += 2 * splits.length;
      splits.forEach((each) => this.setOpen(each, true));
      level = splits.flatMap((each) => this.shownChildren(each));
    }
    this.guests = [];
    this.tell("unfolded");
    return whole;
  }

  foldAll() {
    this.root = new Place(0, null, 0, this.root.at);
    this.setOpen(this.root, true);
    this.guests = [];
    this.active = this.root;
    this.mark(this.path);
    this.tell("unfolded");
    this.tell("selected");
  }

  toggle(place) {
    this.setOpen(place, !place.open);
    this.guests = this.guests.filter((guest) => guest !== place);
    this.keepActive();
    this.tell("unfolded");
  }

  setHideEmpty(hide) {
    this.hideEmpty = hide;
    this.keepActive();
    this.tell("unfolded");
  }

  // The active place was folded away: its nearest ancestor that still shows takes over.
  keepActive() {
    let nearest = this.active;
    for (let place = this.active; place.parent; place = place.parent) {
      if (!place.parent.open || this.isHidden(place)) nearest = place.parent;
    }
    if (nearest !== this.active) this.select(nearest);
  }

  // Selecting and marking.

  placeAt(path) {
    let place = this.root;
    for (const side of path) place = this.childrenOf(place)[side];
    return place;
  }

  // Selects a place and unfolds what is above it, for as long as nothing else is shown this way.
  show(path) {
    this.guests.forEach((guest) => (guest.open = false));
    this.guests = [];
    const place = this.placeAt(path);
    for (let above = place.parent; above; above = above.parent) {
      if (!above.open) this.guests.push(above);
      above.open = true;
    }
    if (this.hideEmpty && this.rows(place) === 0) this.hideEmpty = false;
    this.active = place;
    this.tell("unfolded");
    this.tell("selected");
    return place;
  }

  select(place) {
    this.active = place;
    this.tell("selected");
  }

  // Marks the places of a path; null marks none.
  mark(path) {
    this.path = path;
    this.onPath.clear();
    let place = this.root;
    if (path) this.onPath.add(place);
    for (const side of path ?? []) {
      place = this.childrenOf(place)[side];
      this.onPath.add(place);
    }
    this.tell("marked");
  }

  setMatches(matches, counts) {
    this.matches = matches;
    this.matchCounts = counts;
    this.tell("marked");
  }

  // The next place of the same depth, or of the nearest there is, above (by = -1) or below (by = 1) this one.
  beside(place, by) {
    const near = by > 0 ? 0 : 1; // the side from which to go down again
    let above = place;
    for (;;) {
      while (above.parent && above.side !== near) above = above.parent;
      if (!above.parent) return place;
      const other = above.parent.children[1 - near];
      if (this.isHidden(other)) {
        above = above.parent;
        continue;
      }
      let found = other;
      while (found.depth < place.depth && found.open && this.shownChildren(found).length) {
        const children = this.shownChildren(found);
        found = near === 0 ? children[0] : children[children.length - 1];
      }
      return found;
    }
  }

  // What the arrow keys do where depth goes to the right; returns whether the key means anything.
  onArrow(key) {
    const place = this.active;
    const first = () => {
      if (!place.open) this.toggle(place);
      const [child] = this.shownChildren(place);
      if (child) this.select(child);
    };
    const moves = {
      ArrowRight: first,
      ArrowLeft: () => place.parent && this.select(place.parent),
      ArrowDown: () => this.select(this.beside(place, 1)),
      ArrowUp: () => this.select(this.beside(place, -1)),
      Home: () => this.select(this.root),
      Enter: () => this.model.hasChildren(place.node) && this.toggle(place),
      " ": () => this.model.hasChildren(place.node) && this.toggle(place),
    };
    if (!Object.hasOwn(moves, key)) return false;
    moves[key]();
    return true;
  }
}
