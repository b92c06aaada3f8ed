// The tree as arrays: paths, boxes, leaves and matches. Touches no document.
//
// A path is an array of sides from the root, 0 for left (yes) and 1 for right (no). Subtrees may be shared, so a place
// in the tree is named by its path, never by its node. Nothing recurses: a tree may be 100,000 splits deep.

const [OTHER, MISSING, FIRST] = [0, 1, 2]; // elements of a categorical feature; from FIRST on, its categories

class Model {
  constructor(data) {
    const nodes = data.nodes;
    this.kinds = data.categories.map((kind) => kind && new Kind(kind)); // null for an ordinary feature
    this.sets = nodes.sets.map((members) => Uint8Array.from(members, Number));
    this.levels = nodes.levels.map((level) => (level === null ? Infinity : level));
    this.words = nodes.words; // of each level: what an input that goes left is, such as "<= 50", and with all digits
    this.data = data;
    this.size = nodes.feature.length;
    this.feature = Int32Array.from(nodes.feature); // of a leaf: -1 - class, or the band of its value
    this.outcome = new Int32Array(this.size); // of a leaf: what it says beside that, an index into nodes.said
    this.cut = new Float64Array(this.size);
    this.level = new Int32Array(this.size); // index of the cut
    this.set = new Array(this.size).fill(null); // of a set test: 1 for each element that goes left
    this.left = new Int32Array(this.size);
    this.right = new Int32Array(this.size);
    let [split, leaf] = [0, 0];
    for (let node = 0; node < this.size; node++) {
      if (this.feature[node] < 0) {
        if (nodes.said) this.outcome[node] = nodes.said.of[leaf++];
        continue;
      }
      if (this.kindOf(node)) this.set[node] = this.sets[nodes.cut[split]];
      else {
        this.level[node] = nodes.cut[split];
        this.cut[node] = this.levels[nodes.cut[split]];
      }
      this.left[node] = nodes.left[split];
      this.right[node] = nodes.right[split];
      split++;
    }
    this.leavesBelow = this.count((node) => this.isLeaf(node));
    for (const [node, n] of nodes.below) this.leavesBelow[node] = n;
    if (nodes.below.length) this.addUp(this.leavesBelow, () => false);
    this.tested = [...new Set(data.feature_use.map((use) => use.feature))];
    this.levelsOf = this.collectLevels();
    this.coverage = data.coverage && new Coverage(data.coverage, data.classes.length);
  }

  isLeaf(node) {
    return this.feature[node] < 0;
  }

  // A split whose children are not in this file; no child is ever node 0, the root.
  isCutOff(node) {
    return this.feature[node] >= 0 && this.left[node] === 0;
  }

  hasChildren(node) {
    return this.left[node] !== 0;
  }

  classOf(node) {
    return -1 - this.feature[node];
  }

  // A leaf with numbers has a shade of its own.
  leafColour(node) {
    const { said } = this.data.nodes;
    return said ? said.colours[this.outcome[node]] : colourOf(this.classOf(node));
  }

  // The categories of the feature that a split tests, or null.
  kindOf(node) {
    return this.kinds[this.feature[node]];
  }

  goesLeft(node, value) {
    if (this.set[node]) return this.set[node][this.kindOf(node).element(value)] === 1;
    return value <= this.cut[node]; // a missing value is not <= anything and goes right
  }

  child(node, side) {
    return side ? this.right[node] : this.left[node];
  }

  // How many paths lead from each node to a node that matches, the node itself among them.
  count(matches) {
    return this.addUp(new Float64Array(this.size), matches);
  }

  addUp(counts, matches) {
    for (let node = this.size - 1; node >= 0; node--) { // children come after their parents
      if (this.hasChildren(node)) {
        counts[node] = counts[this.left[node]] + counts[this.right[node]];
      }
      if (matches(node)) counts[node] += 1;
    }
    return counts;
  }

  // The path to match number `rank`, counted from 0 from the top down and from left to right.
  pathToMatch(counts, matches, rank) {
    const path = [];
    let node = 0;
    for (;;) {
      if (matches(node)) {
        if (rank === 0) return path;
        rank--;
      }
      // Beyond 2 ** 53 a rank is not exact any more and may run out of matches.
      if (!this.hasChildren(node)) return path;
      const inLeft = counts[this.left[node]];
      const side = rank < inLeft || !counts[this.right[node]] ? 0 : 1;
      if (side) rank -= inLeft;
      path.push(side);
      node = this.child(node, side);
    }
  }

  // The nodes on a path, the root first.
  nodesOn(path) {
    const nodes = [0];
    for (const side of path) nodes.push(this.child(nodes[nodes.length - 1], side));
    return nodes;
  }

  // Where an input goes. `values` holds a number, NaN for missing, or undefined where nothing is known.
  follow(values) {
    const path = [];
    let node = 0;
    while (this.hasChildren(node)) {
      const value = values[this.feature[node]];
      if (value === undefined) break;
      const side = this.goesLeft(node, value) ? 0 : 1;
      path.push(side);
      node = this.child(node, side);
    }
    return { path, node };
  }

  // The box of a path: for each feature tested on it, low < x <= high, or also missing; or a set of elements.
  boxOf(path) {
    const box = new Map();
    let node = 0;
    for (const side of path) {
      const feature = this.feature[node];
      let interval = box.get(feature);
      if (!interval) {
        interval = this.everything(feature);
        box.set(feature, interval);
      }
      if (this.set[node]) {
        interval.members = interval.members.map((member, element) => member & (this.set[node][element] ^ side));
      } else if (side) {
        if (this.cut[node] > interval.low) [interval.low, interval.lowLevel] = [this.cut[node], this.level[node]];
      } else {
        if (this.cut[node] < interval.high) [interval.high, interval.highLevel] = [this.cut[node], this.level[node]];
        interval.missing = false;
      }
      node = this.child(node, side);
    }
    return box;
  }

  everything(feature) {
    const missing = this.data.nan_features[feature];
    const kind = this.kinds[feature];
    if (!kind) return { low: -Infinity, high: Infinity, missing };
    const members = new Uint8Array(kind.size).fill(1);
    members[MISSING] = missing ? 1 : 0;
    return { kind, members };
  }

  // An input inside a box, or null if no input is.
  pointIn(box) {
    const values = [];
    for (const [feature, interval] of box) {
      const value = valueIn(interval);
      if (value === null) return null;
      values[feature] = value;
    }
    return values;
  }

  rowValues(row) {
    const values = [];
    for (const column of this.data.rows.columns) {
      const value = column.values[row];
      values[column.feature] = value === null ? NaN : toNumber(value);
    }
    return values;
  }

  // The first path that leads to a node, given by its number in the tree; null if it is not in this file.
  pathToNode(number) {
    let node = this.data.nodes.number.indexOf(number);
    if (node < 0) return null;
    const parents = this.parents();
    const path = [];
    for (; node > 0; node = parents[node]) path.push(this.left[parents[node]] === node ? 0 : 1);
    return path.reverse();
  }

  parents() {
    const parents = new Int32Array(this.size);
    for (let node = this.size - 1; node >= 0; node--) { // the first parent of a shared node wins
      if (this.hasChildren(node)) parents[this.left[node]] = parents[this.right[node]] = node;
    }
    return parents;
  }

  collectLevels() {
    const levels = new Map(this.tested.map((feature) => [feature, new Set()]));
    for (let node = 0; node < this.size; node++) {
      if (!this.isLeaf(node) && !this.set[node] && this.cut[node] < Infinity) levels.get(this.feature[node]).add(this.cut[node]);
    }
    return new Map([...levels].map(([feature, set]) => [feature, [...set].sort((a, b) => a - b)]));
  }
}

// The elements of a categorical feature: one for each category, one for all other numbers, one for missing values.
class Kind {
  constructor({ codes, low, high, other, labels, names }) {
    this.codes = codes;
    this.low = low.map(toNumber); // category i is low < x <= high
    this.high = high.map(toNumber);
    this.other = toNumber(other);
    this.labels = labels;
    this.names = names;
    this.size = codes.length + FIRST;
  }

  element(value) {
    if (Number.isNaN(value)) return MISSING;
    let [begin, end] = [0, this.high.length]; // the only interval that can hold it is the first that ends at it or above
    while (begin < end) {
      const middle = (begin + end) >> 1;
      if (this.high[middle] < value) begin = middle + 1;
      else end = middle;
    }
    return begin < this.high.length && this.low[begin] < value ? begin + FIRST : OTHER;
  }

  // A number, or NaN, that is one of the members; null if there are none.
  example(members) {
    const category = members.indexOf(1, FIRST);
    if (category >= 0) return this.codes[category - FIRST];
    if (members[OTHER]) return this.other;
    return members[MISSING] ? NaN : null;
  }
}

function isEmpty(interval) {
  if (interval.members) return !interval.members.includes(1);
  return interval.low >= interval.high && !interval.missing;
}

function valueIn({ low, high, missing, kind, members }) {
  if (members) return kind.example(members);
  if (low >= high) return missing ? NaN : null;
  if (low === -Infinity && high === Infinity) return 0;
  if (low === -Infinity) return high - Math.max(1, Math.abs(high) / 10);
  if (high === Infinity) {
    const above = low + Math.max(1, Math.abs(low) / 10);
    return above < Infinity ? above : Number.MAX_VALUE > low ? Number.MAX_VALUE : Infinity;
  }
  const middle = low / 2 + high / 2;
  return middle > low && middle <= high ? middle : high;
}

function toNumber(value) {
  if (value === "inf") return Infinity;
  return value === "-inf" ? -Infinity : Number(value);
}
