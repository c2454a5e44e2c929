// SPDX-License-Identifier: GPL-2.0-or-later
// Changes to the stacks: focus, merge, collapse, drop. Each makes a new tree from the
// previous one and maps each old node to where its samples went. Nothing here is
// recursive, because stacks may have a million frames.

/* By letter: the letter of its key and of the address; what it is of. */
const CHANGES = {
	f: { of: "func", name: "Focus on", menu: "Focus on this function, wherever it is called" },
	F: { of: "path", name: "Focus on subtree", menu: "Focus on this subtree only" },
	m: { of: "func", name: "Merge", menu: "Merge this function into its callers" },
	M: { of: "path", name: "Merge frame", menu: "Merge this frame only" },
	L: { of: "image", name: "Merge image", menu: "Merge all functions of its image into their callers" },
	c: { of: "func", name: "Collapse", menu: "Collapse the callees of this function" },
	C: { of: "image", name: "Collapse image", menu: "Collapse its image to the functions called from outside" },
	r: { of: "func", name: "Collapse recursion of", menu: "Collapse this function’s recursion, also indirect recursion" },
	R: { of: "func", name: "Collapse direct recursion of", menu: "Collapse direct recursion only" },
	a: { of: "", name: "Collapse all recursion", menu: "Collapse all recursion, of every function" },
	d: { of: "func", name: "Drop samples with", menu: "Drop samples with this function" }
};
/* In the address only: a subtree of the inverted tree. */
const CHANGE_INVERTED = "I";

function changeKind(kind) {
	return kind === CHANGE_INVERTED ? CHANGES.F : CHANGES[kind];
}

// A growing tree: a node for each parent and key requested, parents first. Node 0 is
// the root.
function Grower(most, rootKey) {
	let size = 16;
	while (size < 2 * most + 2)
		size *= 2;
	this.mask = size - 1;
	this.slots = new Int32Array(size);	/* node; 0: free */
	this.parent = new Int32Array(most + 1);
	this.key = new Int32Array(most + 1);
	this.key[0] = rootKey;
	this.n = 1;
}
Grower.prototype.child = function (parent, key) {
	const slots = this.slots, mask = this.mask;
	let at = Math.imul(parent, 0x9e3779b1) ^ Math.imul(key, 0x85ebca6b);
	at = (at ^ at >>> 15) & mask;
	for (; slots[at]; at = (at + 1) & mask)
		if (this.parent[slots[at]] === parent && this.key[slots[at]] === key)
			return slots[at];
	this.parent[this.n] = parent;
	this.key[this.n] = key;
	return slots[at] = this.n++;
};

// The grown tree in pre-order, most expensive children first, without nodes that have
// no samples. weight: samples by grown node. Also returns where each grown node is;
// -1: dropped.
Grower.prototype.finish = function (weight) {
	const n = this.n, parent = this.parent, head = new Int32Array(n), next = new Int32Array(n), at = new Int32Array(n).fill(-1);
	for (let i = n - 1; i > 0; i--)
		weight[parent[i]] += weight[i];
	for (let i = n - 1; i > 0; i--)
		if (weight[i] > 0) {
			next[i] = head[parent[i]];
			head[parent[i]] = i;
		}
	const t = { n: 0, func: new Int32Array(n), inlined: new Uint8Array(n), parent: new Int32Array(n), depth: new Int32Array(n), end: null };
	const stack = new Int32Array(n), kids = [];
	let top = 1, sorted;
	stack[0] = 0;
	while (top) {
		const i = stack[--top], k = at[i] = t.n++, up = i ? at[parent[i]] : 0;
		t.func[k] = this.key[i] >> 1;
		t.inlined[k] = this.key[i] & 1;
		t.parent[k] = up;
		t.depth[k] = i ? t.depth[up] + 1 : 0;
		kids.length = 0;
		sorted = true;
		for (let c = head[i]; c; c = next[c]) {
			sorted = sorted && (!kids.length || weight[kids[kids.length - 1]] >= weight[c]);
			kids.push(c);
		}
		if (!sorted)
			kids.sort(function (a, b) { return weight[b] - weight[a] || a - b; });
		for (let c = kids.length; c--;)
			stack[top++] = kids[c];
	}
	t.end = subtreeEnds(t.parent, t.n);
	return { tree: t, at: at };
};

function subtreeEnds(parent, n) {
	const end = new Int32Array(n);
	for (let i = n - 1; i >= 0; i--) {
		if (end[i] <= i)
			end[i] = i + 1;
		if (i && end[parent[i]] < end[i])
			end[parent[i]] = end[i];
	}
	return end;
}

// Maps each node of a tree: to(node, where its parent went, grown tree); -1: dropped.
// home: where the node's own samples go, if elsewhere.
const RULES = {
	f: function (t, func) {
		return { outside: true, to: function (i, up, g, key) {
			return up < 0 ? t.func[i] === func ? g.child(0, key) : -1 : g.child(up, key);
		} };
	},
	F: function (t, node) {
		return { outside: true, to: function (i, up, g, key) {
			return i === node ? g.child(0, key) : up < 0 ? -1 : g.child(up, key);
		} };
	},
	I: function (t, keys) {
		return { to: function (i, up, g, key) { return g.child(up, key); }, home: function (i, to) {
			for (let k = 0; ; i = t.parent[i], k++) {
				if (!i || t.func[i] * 2 + t.inlined[i] !== keys[k])
					return -1;
				if (k === keys.length - 1)
					return to[i];
			}
		} };
	},
	m: function (t, func) {
		return merging(function (i) { return t.func[i] === func; });
	},
	M: function (t, node) {
		return merging(function (i) { return i === node; });
	},
	L: function (t, image, of) {
		return merging(function (i) { return of(t.func[i]) === image; });
	},
	c: function (t, func) {
		const inside = new Uint8Array(t.n);
		return { to: function (i, up, g, key) {
			const p = t.parent[i];
			inside[i] = inside[p] | (t.func[i] === func);
			return inside[p] ? up : g.child(up, key);
		} };
	},
	C: function (t, image, of) {
		return { to: function (i, up, g, key) {
			return t.parent[i] && of(t.func[i]) === image && of(t.func[t.parent[i]]) === image ? up : g.child(up, key);
		} };
	},
	r: function (t, func) {
		const first = new Int32Array(t.n);
		return { to: function (i, up, g, key) {
			const above = first[t.parent[i]];
			first[i] = above;
			if (t.func[i] !== func)
				return g.child(up, key);
			return first[i] = above || g.child(up, key);
		} };
	},
	R: function (t, func) {
		return { to: function (i, up, g, key) {
			return t.func[i] === func && t.parent[i] && t.func[t.parent[i]] === func ? up : g.child(up, key);
		} };
	},
	a: function (t) {
		/* a grown stack contains each function once, so it is short */
		return { to: function (i, up, g, key) {
			const func = t.func[i];
			for (let x = up; x; x = g.parent[x])
				if (g.key[x] >> 1 === func)
					return x;
			return g.child(up, key);
		} };
	},
	d: function (t, func) {
		return { to: function (i, up, g, key) { return up < 0 || t.func[i] === func ? -1 : g.child(up, key); } };
	}
};

// Merged frames are charged to their caller. A frame without a remaining caller is
// kept, so that no sample is lost.
function merging(merged) {
	return {
		to: function (i, up, g, key) { return merged(i) ? up : g.child(up, key); },
		home: function (i, to, g, key) { return i && !to[i] ? g.child(0, key) : to[i]; }
	};
}

// One change: { tree, at: where samples of each node of t went, to: where the node
// itself went }. weight: samples by node of t.
function changeTree(t, rule, weight) {
	const n = t.n, g = new Grower(n, t.func[0] * 2), to = new Int32Array(n), home = new Int32Array(n), all = new Float64Array(n + 1);
	to[0] = rule.outside ? -1 : 0;
	for (let i = 1; i < n; i++) {
		const up = to[t.parent[i]];
		to[i] = up < 0 && !rule.outside ? -1 : rule.to(i, up, g, t.func[i] * 2 + t.inlined[i]);
	}
	for (let i = 0; i < n; i++) {
		home[i] = rule.home && weight[i] > 0 ? rule.home(i, to, g, t.func[i] * 2 + t.inlined[i]) : to[i];
		if (home[i] >= 0)
			all[home[i]] += weight[i];
	}
	const own = all.slice(0, g.n), done = g.finish(all), sums = new Float64Array(done.tree.n);
	for (let i = 0; i < g.n; i++)
		if (done.at[i] >= 0)
			sums[done.at[i]] = own[i];
	for (let i = 0; i < n; i++) {
		home[i] = home[i] < 0 ? -1 : done.at[home[i]];
		to[i] = to[i] < 0 ? -1 : done.at[to[i]];
	}
	return { tree: done.tree, at: home, to: to, weight: sums };
}

// All changes of a page; the last results are cached.
function Changes(d, imageOf) {
	this.d = d;
	this.imageOf = imageOf;
	const weight = new Float64Array(d.meta.nodes), e = d.entry;
	for (let i = 0; i < e.n; i++)
		weight[e.node[i]] += e.count[i];
	const tree = { n: d.meta.nodes, func: d.func, inlined: d.inlined, parent: d.parent, depth: d.depth, end: d.end };
	/* done[0] is the stored tree, or the one with a frame for each state or value of a
	 * label */
	this.roots = [{ key: "", tree: tree, weight: weight, at: null, map: null, to: null, entry: e }];
	this.done = [this.roots[0]];
}

// group: 0: none, 1: by state, else 2 + the label.
Changes.prototype.begin = function (group) {
	const k = group;
	this.roots[k] = this.roots[k] || (k === 1 ? stateTree : labelTree)(this.d, this.roots[0].tree, k - 2);
	if (this.done[0] !== this.roots[k])
		this.done = [this.roots[k]];
};

// Finds a node of a tree by its keys, or @node; -1: not found.
function nodeAt(t, path) {
	let h = 0;
	if (path[0] === "@")
		return +path.slice(1) < t.n ? +path.slice(1) : -1;
	return path.split(".").every(function (key) {
		let c = h + 1;
		while (c < t.end[h] && t.func[c] * 2 + t.inlined[c] !== +key)
			c = t.end[c];
		h = c < t.end[h] ? c : -1;
		return h > 0;
	}) ? h : -1;
}

Changes.prototype.rule = function (t, kind, arg) {
	const of = changeKind(kind).of;
	if (kind === CHANGE_INVERTED)
		return RULES.I(t, arg.split(".").map(Number));
	if (of !== "path")
		return RULES[kind](t, +arg, this.imageOf);
	const node = nodeAt(t, arg);
	return node > 0 ? RULES[kind](t, node) : null;
};

// The result of a list of changes: [[kind, argument]…]. `map`: where samples of each
// stored node went; `none`: for each change whether it found nothing.
Changes.prototype.apply = function (list) {
	const none = [];
	let i = 0;
	for (; i < list.length; i++) {
		const key = list[i][0] + list[i][1], last = this.done[i];
		if (!this.done[i + 1] || this.done[i + 1].key !== key) {
			const rule = this.rule(last.tree, list[i][0], list[i][1]);
			const x = rule ? changeTree(last.tree, rule, last.weight) : { tree: last.tree, weight: last.weight, at: null, to: null };
			x.key = key;
			x.none = !rule;
			x.map = !x.at ? last.map : !last.map ? x.at : last.map.map(function (k) { return k < 0 ? -1 : x.at[k]; });
			this.done.length = i + 1;
			this.done.push(x);
		}
		none.push(this.done[i + 1].none);
	}
	this.done.length = i + 1;
	return { last: this.done[i], none: none };
};

// Entries with mapped nodes. Entries whose samples were dropped are left out.
function mapEntries(e, map) {
	const slices = e.first.length - 1, first = new Uint32Array(slices + 1), node = new Int32Array(e.n);
	let n = 0;
	for (let i = 0; i < e.n; i++)
		n += (node[i] = map[e.node[i]]) >= 0;
	if (n === e.n)
		return { n: n, first: e.first, node: node, event: e.event, cohort: e.cohort, kind: e.kind, count: e.count, value: e.value };
	const to = roomForEntries(e, n, first);
	let k = 0;
	for (let s = 0; s < slices; s++) {
		for (let i = e.first[s]; i < e.first[s + 1]; i++) {
			if (node[i] < 0)
				continue;
			to.node[k] = node[i];
			copyEntry(e, i, to, k++);
		}
		first[s + 1] = k;
	}
	return to;
}

// The list in the address: for each change a letter with its argument, separated by _.
function writeChanges(list) {
	return list.map(function (x) { return x[0] + x[1]; }).join("_");
}

// The address may come from anyone: invalid parts are ignored.
function readChanges(text, funcs, images) {
	return (text || "").slice(0, 60000).split("_").slice(0, 100).filter(function (x) {
		const kind = changeKind(x[0] || ""), arg = x.slice(1);
		if (!kind)
			return false;
		if (kind.of === "")
			return arg === "";
		if (x[0] === CHANGE_INVERTED || kind.of === "path")
			return /^\d{1,9}(\.\d{1,9})*$/.test(arg) || (x[0] !== CHANGE_INVERTED && /^@\d{1,9}$/.test(arg));
		return /^\d{1,9}$/.test(arg) && +arg < (kind.of === "image" ? images : funcs);
	}).map(function (x) { return [x[0], x.slice(1)]; });
}
