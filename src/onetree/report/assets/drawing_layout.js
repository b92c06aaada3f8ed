// Where the nodes of the drawing stand: depth goes to the right, the unfolded tips below each other. Draws nothing.

const FONT = 'system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", sans-serif';
const TITLE = { size: 13, weight: 600, line: 17 };
const SMALL = { size: 11, weight: 400, line: 15 };
const PADDING = 9;
const [LEAST_WIDTH, MOST_WIDTH] = [104, 178];
const SPREAD_HEIGHT = 34; // of the histogram in a split
const AXIS_HEIGHT = 13; // of the numbers below it
const FOLD_WIDTH = 58; // of what stands for a folded branch, right of its split
const [COLUMN_GAP, ROW_GAP] = [50, 10];
const WIDEST_EDGE = 40; // that of all rows
const BREAKS = /(?<=[ _/-]|\.(?=[a-z]))/i; // never inside a number, nor before it

function fontOf({ size, weight }) {
  return `${weight} ${size}px ${FONT}`;
}

// What a node says and how much room that takes.
class Card {
  constructor(model, format, places, place) {
    this.place = place;
    this.leaf = model.isLeaf(place.node);
    this.rows = places.rows(place);
    this.counts = this.rows ? model.coverage.classes(place.at) : null;
    this.spread = this.leaf ? undefined : model.coverage?.spreads.get(place.at);
    this.folded = !this.leaf && !place.open ? model.leavesBelow[place.node] : 0;
    const title = this.leaf ? format.leafName(place.node) : textOf(format.test(place.node));
    this.title = wrapText(title, MOST_WIDTH - 2 * PADDING, fontOf(TITLE), BREAKS);
    this.notes = cardNotes(model, this);
    const widths = [
      ...this.title.map((line) => textWidth(line, fontOf(TITLE))),
      ...this.notes.map((line) => textWidth(line, fontOf(SMALL))),
    ];
    const wanted = Math.ceil(Math.max(...widths)) + 2 * PADDING + 4;
    this.width = Math.min(MOST_WIDTH, Math.max(this.spread ? LEAST_WIDTH + 40 : LEAST_WIDTH, wanted));
    const bar = this.counts && this.leaf ? 8 : 0;
    const spread = this.spread ? SPREAD_HEIGHT + AXIS_HEIGHT + 4 : 0;
    this.height = this.title.length * TITLE.line + this.notes.length * SMALL.line + spread + bar + 2 * PADDING - 3;
    [this.x, this.y] = [0, 0]; // left end, and middle
  }

  // How thick the rows are that come here.
  thickness(total) {
    if (this.rows === undefined) return 1.5;
    return this.rows ? Math.max(1.5, (WIDEST_EDGE * this.rows) / total) : 1;
  }

  get box() {
    return { x: this.x, y: this.y - this.height / 2, width: this.width + (this.folded ? FOLD_WIDTH : 0), height: this.height };
  }
}

function cardNotes(model, { place, leaf, rows, counts }) {
  if (rows === undefined) return leaf ? [] : [plural(model.leavesBelow[place.node], "leaf", "leaves")];
  if (!rows) return ["no rows"];
  const { nRows, of } = model.coverage;
  if (!leaf || of === "tree") return [`${plural(rows, "row")} (${formatShare(rows, nRows)})`];
  const own = formatShare(counts[model.classOf(place.node)], rows);
  return [`${plural(rows, "row")}, ${own} ${of === "data" ? "correct" : "as the model"}`];
}

// Places cards; returns them from the top down, with the size of the whole.
function layOut(model, format, places) {
  const cards = [];
  const columns = [];
  const cardOf = new Map();
  for (const place of places.shown()) {
    const card = new Card(model, format, places, place);
    card.parent = cardOf.get(place.parent) ?? null;
    card.children = [];
    card.parent?.children.push(card);
    cardOf.set(place, card);
    cards.push(card);
    columns[place.depth] = Math.max(columns[place.depth] ?? 0, card.width);
  }
  const lefts = [0];
  columns.forEach((width, depth) => lefts.push(lefts[depth] + width + COLUMN_GAP));
  // From the bottom up: the height that a card and all right of it take.
  for (const card of [...cards].reverse()) {
    const below = card.children.reduce((sum, child) => sum + child.extent, 0);
    card.extent = Math.max(card.height + ROW_GAP, below);
    card.inside = below;
  }
  // From the top down: where that height begins, and the middle of a card between those of its children.
  cards[0].top = 0;
  for (const card of cards) {
    let top = card.top + (card.extent - card.inside) / 2;
    for (const child of card.children) {
      child.top = top;
      top += child.extent;
    }
  }
  for (const card of [...cards].reverse()) {
    card.x = lefts[card.place.depth];
    const middles = card.children.map((child) => child.y);
    card.y = middles.length ? (middles[0] + middles[middles.length - 1]) / 2 : card.top + card.extent / 2;
    card.y = Math.min(card.top + card.extent - card.height / 2, Math.max(card.top + card.height / 2, card.y));
  }
  const width = cards.reduce((most, card) => Math.max(most, card.box.x + card.box.width), 0);
  return { cards, cardOf, width, height: cards[0].extent };
}
