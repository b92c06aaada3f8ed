// The tree as arrays: paths, boxes, leaves and matches. Touches no document.
//
// A path is an array of sides from the root, 0 for left (yes) and 1 for right (no). Subtrees may be shared, so a place
// in the tree is named by its path, never by its node. Nothing recurses: a tree may be 100,000 splits deep.

class Model {
  constructor(data) {
    const nodes = data.nodes;
    const levels = nodes.levels.map((level) => (level === null ? Infinity : level));
    this.data = data;
    this.size = nodes.feature.length;
    this.feature = Int32Array.from(nodes.feature); // of a leaf: -1 - class
    this.cut = new Float64Array(this.size);
    this.left = new Int32Array(this.size);
    this.right = new Int32Array(this.size);
    let split = 0;
    for (let node = 0; node < this.size; node++) {
      if (this.feature[node] < 0) continue;
      this.cut[node] = levels[nodes.cut[split]];
      this.left[node] = nodes.left[split];
      this.right[node] = nodes.right[split];
      split++;
    }
    this.leavesBelow = this.count((node) => this.isLeaf(node));
    for (const [node, n] of nodes.below) this.leavesBelow[node] = n;
    if (nodes.below.length) this.addUp(this.leavesBelow, () => false);
    this.tested = [...new Set(data.feature_use.map((use) => use.feature))];
    this.levelsOf = this.collectLevels();
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
      const side = value <= this.cut[node] ? 0 : 1; // a missing value is not <= anything and goes right
      path.push(side);
      node = this.child(node, side);
    }
    return { path, node };
  }

  // The box of a path: for each feature tested on it, low < x <= high, or also missing.
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
      if (side) {
        interval.low = Math.max(interval.low, this.cut[node]);
      } else {
        interval.high = Math.min(interval.high, this.cut[node]);
        interval.missing = false;
      }
      node = this.child(node, side);
    }
    return box;
  }

  everything(feature) {
    return { low: -Infinity, high: Infinity, missing: this.data.nan_features[feature] };
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

  rowsIn(box) {
    let n = 0;
    for (let row = 0; row < this.data.rows.n_shown; row++) {
      const values = this.rowValues(row);
      const inside = [...box].every(([feature, interval]) => holds(interval, values[feature]));
      if (inside) n++;
    }
    return n;
  }

  collectLevels() {
    const levels = new Map(this.tested.map((feature) => [feature, new Set()]));
    for (let node = 0; node < this.size; node++) {
      if (!this.isLeaf(node) && this.cut[node] < Infinity) levels.get(this.feature[node]).add(this.cut[node]);
    }
    return new Map([...levels].map(([feature, set]) => [feature, [...set].sort((a, b) => a - b)]));
  }
}

function isEmpty(interval) {
  return interval.low >= interval.high && !interval.missing;
}

function holds({ low, high, missing }, value) {
  if (Number.isNaN(value)) return missing;
  return (value > low || low === -Infinity) && value <= high;
}

function valueIn({ low, high, missing }) {
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
