// SPDX-License-Identifier: GPL-2.0-or-later
// Trees derived from the stored one: callers below functions, and callees of a
// function wherever it was called. A branch is a set of nodes of the stored tree with
// the cost each contributes. It grows when it is opened.

function Branch(key, parent) {
	this.key = key;		/* function * 2 + inlined */
	this.parent = parent;
	this.set = null;	/* its nodes: set.nodes[from…to-1] */
	this.from = this.to = 0;
	this.value = 0;
	this.count = 0;
	this.now = this.nowCount = this.base = this.baseCount = 0;	/* in a comparison */
	this.kids = null;
}

function Branches(model) {
	this.model = model;
	this.groupOf = new Int32Array(2 * model.funcs);
	this.placeOf = new Int32Array(model.nodes).fill(-1);
}

// Nodes with the cost each contributes. In a comparison, `both` has for each node:
// value and samples of the new side, value and samples of the baseline.
function NodeSet(n, both) {
	this.nodes = new Int32Array(n);
	this.values = new Float64Array(n);
	this.counts = new Float64Array(n);
	this.both = both ? new Float64Array(4 * n) : null;
}
NodeSet.prototype.put = function (k, node, from, i) {
	this.nodes[k] = node;
	this.values[k] = from.values[i];
	this.counts[k] = from.counts[i];
	if (this.both)
		for (let c = 0; c < 4; c++)
			this.both[4 * k + c] = from.both[4 * i + c];
};
NodeSet.prototype.add = function (k, from, i) {
	this.values[k] += from.values[i];
	this.counts[k] += from.counts[i];
	if (this.both)
		for (let c = 0; c < 4; c++)
			this.both[4 * k + c] += from.both[4 * i + c];
};
Branch.prototype.add = function (set, i) {
	const both = set.both;
	this.value += set.values[i];
	this.count += set.counts[i];
	if (both) {
		this.now += both[4 * i];
		this.nowCount += both[4 * i + 1];
		this.base += both[4 * i + 2];
		this.baseCount += both[4 * i + 3];
	}
};

// Merges equal nodes among the first n of a set. Returns how many remain.
Branches.prototype.unite = function (set, n) {
	if (this.placeOf.length < this.model.nodes)
		this.placeOf = new Int32Array(this.model.nodes).fill(-1);
	const placeOf = this.placeOf, nodes = set.nodes;
	let k = 0;
	for (let i = 0; i < n; i++) {
		const place = placeOf[nodes[i]];
		if (place >= 0) {
			set.add(place, set, i);
			continue;
		}
		placeOf[nodes[i]] = k;
		set.put(k++, nodes[i], set, i);
	}
	for (let i = 0; i < k; i++)
		placeOf[nodes[i]] = -1;
	return k;
};

// Groups the first n nodes of a set by function. Each group is a range of one new set,
// so small groups need almost no memory.
Branches.prototype.group = function (up, set, n) {
	const func = this.model.d.func, inlined = this.model.d.inlined, groupOf = this.groupOf;
	const kids = [], to = new NodeSet(n, set.both);
	for (let i = 0; i < n; i++) {
		const key = func[set.nodes[i]] * 2 + inlined[set.nodes[i]];
		let g = groupOf[key];
		if (!g) {
			kids.push(new Branch(key, up));
			g = groupOf[key] = kids.length;
		}
		kids[g - 1].to++;
	}
	let at = 0;
	kids.forEach(function (b) {
		b.set = to;
		b.from = at;
		at += b.to;
		b.to = b.from;
	});
	for (let i = 0; i < n; i++) {
		const node = set.nodes[i], b = kids[groupOf[func[node] * 2 + inlined[node]] - 1], k = b.to++;
		to.put(k, node, set, i);
		b.add(set, i);
	}
	kids.forEach(function (b) { groupOf[b.key] = 0; });
	return kids.sort(function (a, b) { return b.value - a.value || a.key - b.key; });
};

// The cost of nodes under the selection: self or total.
Branches.prototype.list = function (nodes, self) {
	const m = this.model, set = new NodeSet(nodes.length, m.base);
	const values = self ? m.selfValue : m.value, counts = self ? m.selfCount : m.count;
	for (let i = 0; i < nodes.length; i++) {
		const k = nodes[i];
		set.nodes[i] = k;
		set.values[i] = values[k];
		set.counts[i] = counts[k];
		if (m.base) {
			set.both[4 * i] = (self ? m.now.selfValue : m.now.value)[k];
			set.both[4 * i + 1] = (self ? m.now.selfCount : m.now.count)[k];
			set.both[4 * i + 2] = (self ? m.base.selfValue : m.base.value)[k];
			set.both[4 * i + 3] = (self ? m.base.selfCount : m.base.count)[k];
		}
	}
	return set;
};

Branches.prototype.whole = function (root) {
	const m = this.model;
	root.value = m.value[0];
	root.count = m.count[0];
	if (m.base) {
		root.now = m.now.value[0];
		root.nowCount = m.now.count[0];
		root.base = m.base.value[0];
		root.baseCount = m.base.count[0];
	}
	return root;
};

// All functions with their self cost: the top level of an inverted graph.
Branches.prototype.inverted = function () {
	const m = this.model, root = this.whole(new Branch(2 * (m.funcs - 1), null)), counts = m.selfCount;
	const nodes = new Int32Array(m.nodes);
	let n = 0;
	for (let i = 1; i < m.nodes; i++)
		if (counts[i] > 0)
			nodes[n++] = i;
	root.kids = this.group(root, this.list(nodes.subarray(0, n), true), n);
	return root;
};

// One function wherever it is outermost, as root of its callees or of its callers.
Branches.prototype.chosen = function (func) {
	const root = new Branch(2 * func, null), nodes = this.model.nodesOf(func);
	root.set = this.list(nodes, false);
	root.to = nodes.length;
	for (let i = 0; i < nodes.length; i++)
		root.add(root.set, i);
	return root;
};

Branches.prototype.callers = function (b) {
	if (b.kids)
		return b.kids;
	const parent = this.model.d.parent, set = b.set, up = new NodeSet(b.to - b.from, set.both);
	let k = 0;
	for (let i = b.from; i < b.to; i++) {
		const p = parent[set.nodes[i]];
		if (!p)
			continue;
		up.put(k++, p, set, i);
	}
	return b.kids = this.group(b, up, this.unite(up, k));
};

Branches.prototype.callees = function (b) {
	if (b.kids)
		return b.kids;
	const m = this.model, end = m.d.end, nodes = [];
	for (let i = b.from; i < b.to; i++) {
		const node = b.set.nodes[i];
		for (let c = node + 1; c < end[node]; c = end[c])
			if (m.count[c] > 0)
				nodes.push(c);
	}
	return b.kids = this.group(b, this.list(nodes, false), nodes.length);
};

// A source of frames for a graph: the stored tree, …
function treeSource(model) {
	const d = model.d;
	return {
		root: 0,
		inverted: false,
		/* matches of the search in a frame that is too narrow to draw */
		hidden: function (h) { const x = model.places().before; return x[d.end[h]] - x[h]; },
		self: function (h) { return model.selfValue[h]; },
		value: function (h) { return model.value[h]; },
		count: function (h) { return model.count[h]; },
		key: function (h) { return d.func[h] * 2 + d.inlined[h]; },
		sides: function (h) {
			return [model.now, model.base].map(function (x) { return { value: x.value[h], count: x.count[h] }; });
		},
		parent: function (h) { return h ? d.parent[h] : null; },
		kids: function (h) {
			const out = [];
			for (let c = h + 1; c < d.end[h]; c = d.end[c])
				if (model.value[c] > 0)
					out.push(c);
			return out;
		}
	};
}

// … or branches: grow(branch) returns its children.
function branchSource(root, grow, model, inverted) {
	return {
		inverted: inverted,
		hidden: function (b) { return branchMatches(b, model.places().above) ? 1 : 0; },
		sides: function (b) { return [{ value: b.now, count: b.nowCount }, { value: b.base, count: b.baseCount }]; },
		root: root,
		value: function (b) { return b.value; },
		count: function (b) { return b.count; },
		key: function (b) { return b.key; },
		parent: function (b) { return b.parent; },
		cost: function (b) { return b.kids ? 0 : b.to - b.from; },
		kids: grow
	};
}
