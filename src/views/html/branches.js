// SPDX-License-Identifier: GPL-2.0-or-later
// Trees that are not the stored one: callers below functions, callees of a
// function wherever it was called.  A branch is a set of nodes of the stored
// tree with what each brings; it grows only when it is looked at.

function Branch(key, parent) {
	this.key = key;		/* function * 2 + inlined */
	this.parent = parent;
	this.nodes = null;
	this.values = null;
	this.counts = null;
	this.value = 0;
	this.count = 0;
	this.kids = null;
}

function Branches(model) {
	this.model = model;
	this.groupOf = new Int32Array(2 * model.funcs);
	this.placeOf = new Int32Array(model.nodes).fill(-1);
}

// Groups (node, value, count) lists by the nodes' functions; equal nodes merge.
Branches.prototype.group = function (up, nodes, values, counts, n) {
	const d = this.model.d, groupOf = this.groupOf, placeOf = this.placeOf;
	const kids = [], sizes = [];
	let k = 0;
	for (let i = 0; i < n; i++) {
		const place = placeOf[nodes[i]];
		if (place >= 0) {
			values[place] += values[i];
			counts[place] += counts[i];
			continue;
		}
		placeOf[nodes[i]] = k;
		nodes[k] = nodes[i];
		values[k] = values[i];
		counts[k++] = counts[i];
	}
	for (let i = 0; i < k; i++) {
		const key = d.func[nodes[i]] * 2 + d.inlined[nodes[i]];
		placeOf[nodes[i]] = -1;
		if (!groupOf[key]) {
			kids.push(new Branch(key, up));
			sizes.push(0);
			groupOf[key] = kids.length;
		}
		sizes[groupOf[key] - 1]++;
	}
	kids.forEach(function (b, i) {
		b.nodes = new Int32Array(sizes[i]);
		b.values = new Float64Array(sizes[i]);
		b.counts = new Float64Array(sizes[i]);
		sizes[i] = 0;
	});
	for (let i = 0; i < k; i++) {
		const g = groupOf[d.func[nodes[i]] * 2 + d.inlined[nodes[i]]] - 1;
		const b = kids[g], at = sizes[g]++;
		b.nodes[at] = nodes[i];
		b.value += b.values[at] = values[i];
		b.count += b.counts[at] = counts[i];
	}
	kids.forEach(function (b) { groupOf[b.key] = 0; });
	return kids.sort(function (a, b) { return b.value - a.value || a.key - b.key; });
};

// All functions with what they took themselves: the top of an inverted graph.
Branches.prototype.inverted = function () {
	const m = this.model, root = new Branch(2 * (m.funcs - 1), null);
	const nodes = new Int32Array(m.nodes), values = new Float64Array(m.nodes);
	const counts = new Float64Array(m.nodes);
	let n = 0;
	for (let i = 1; i < m.nodes; i++)
		if (m.selfCount[i] > 0) {
			nodes[n] = i;
			values[n] = m.selfValue[i];
			counts[n++] = m.selfCount[i];
		}
	root.value = m.value[0];
	root.count = m.count[0];
	root.kids = this.group(root, nodes, values, counts, n);
	return root;
};

// One function wherever it is outermost: as root of what it calls, or of what
// called it.
Branches.prototype.chosen = function (func) {
	const m = this.model, d = m.d, root = new Branch(2 * func, null);
	const nodes = [];
	for (let i = 1; i < m.nodes;) {
		if (d.func[i] === func) {
			if (m.count[i] > 0)
				nodes.push(i);
			i = d.end[i];
		} else {
			i++;
		}
	}
	root.nodes = Int32Array.from(nodes);
	root.values = new Float64Array(nodes.length);
	root.counts = new Float64Array(nodes.length);
	for (let i = 0; i < nodes.length; i++) {
		root.value += root.values[i] = m.value[nodes[i]];
		root.count += root.counts[i] = m.count[nodes[i]];
	}
	return root;
};

Branches.prototype.callers = function (b) {
	if (b.kids)
		return b.kids;
	const parent = this.model.d.parent, n = b.nodes.length;
	const nodes = new Int32Array(n), values = new Float64Array(n), counts = new Float64Array(n);
	let k = 0;
	for (let i = 0; i < n; i++) {
		const p = parent[b.nodes[i]];
		if (!p)
			continue;
		nodes[k] = p;
		values[k] = b.values[i];
		counts[k++] = b.counts[i];
	}
	return b.kids = this.group(b, nodes, values, counts, k);
};

Branches.prototype.callees = function (b) {
	if (b.kids)
		return b.kids;
	const m = this.model, end = m.d.end, nodes = [];
	for (let i = 0; i < b.nodes.length; i++)
		for (let c = b.nodes[i] + 1; c < end[b.nodes[i]]; c = end[c])
			if (m.count[c] > 0)
				nodes.push(c);
	const values = Float64Array.from(nodes, function (c) { return m.value[c]; });
	const counts = Float64Array.from(nodes, function (c) { return m.count[c]; });
	return b.kids = this.group(b, Int32Array.from(nodes), values, counts, nodes.length);
};

// What a graph is drawn from: the stored tree, …
function treeSource(model) {
	const d = model.d;
	return {
		root: 0,
		value: function (h) { return model.value[h]; },
		count: function (h) { return model.count[h]; },
		key: function (h) { return d.func[h] * 2 + d.inlined[h]; },
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

// … or branches: grow(branch) gives its kids.
function branchSource(root, grow) {
	return {
		root: root,
		value: function (b) { return b.value; },
		count: function (b) { return b.count; },
		key: function (b) { return b.key; },
		parent: function (b) { return b.parent; },
		kids: grow
	};
}
