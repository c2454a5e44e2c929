// SPDX-License-Identifier: GPL-2.0-or-later
// Matches of the search: places in a tree, most expensive first. A place is a frame
// that matches and whose caller (in an inverted tree: callee) does not, so recursion
// and calls within a library are one place.

const PLACES_SORTED = 10000, PLACES_GROWN = 4e6;

// For the selected tree: before[i] is the number of places among the nodes before i,
// above[i] whether the node or one above it matches.
Model.prototype.places = function () {
	const d = this.d, n = this.nodes, match = this.match, value = this.value;
	if (this.placed)
		return this.placed;
	const before = new Uint32Array(n + 1), above = new Uint8Array(n);
	for (let i = 1; i < n; i++) {
		const up = d.parent[i], hit = match[d.func[i]];
		before[i + 1] = before[i] + (hit && value[i] > 0 && !(up && match[d.func[up]]) ? 1 : 0);
		above[i] = hit | above[up];
	}
	return this.placed = { before: before, above: above, count: before[n] };
};

// Places in the stored tree: nodes, and their number.
function treePlaces(model) {
	const x = model.places(), value = model.value, all = new Int32Array(x.count);
	let list = all, k = 0;
	for (let i = 1; i < model.nodes; i++)
		if (x.before[i + 1] > x.before[i])
			all[k++] = i;
	if (k > PLACES_SORTED) {
		const least = new Float64Array(all.map(function (i) { return value[i]; })).sort()[k - PLACES_SORTED];
		list = all.filter(function (i) { return value[i] >= least; }).slice(0, 2 * PLACES_SORTED);
	}
	list = Array.from(list).sort(function (a, b) { return value[b] - value[a] || a - b; });
	return { at: function (i) { return list[i]; }, known: function () { return list.length; }, count: k, open: false };
}

// Places in an inverted tree, which grows on demand: branches are visited from the
// most expensive on, as long as any of their stacks matches.
function branchPlaces(model, source) {
	const above = model.places().above, match = model.match, list = [], heap = [source.root];
	let grown = 0;
	const places = { count: 0, open: true };
	const sift = function (i) {
		for (;;) {
			let c = 2 * i + 1;
			if (c >= heap.length)
				return;
			if (c + 1 < heap.length && heap[c + 1].value > heap[c].value)
				c++;
			if (heap[i].value >= heap[c].value)
				return;
			const x = heap[i];
			heap[i] = heap[c];
			heap[c] = x;
			i = c;
		}
	};
	const push = function (b) {
		let i = heap.push(b) - 1;
		for (let up; i && heap[up = (i - 1) >> 1].value < b.value; i = up)
			heap[i] = heap[up];
		heap[i] = b;
	};
	const step = function () {
		const b = heap[0], last = heap.pop(), hit = b !== source.root && match[b.key >> 1];
		if (heap.length) {
			heap[0] = last;
			sift(0);
		}
		grown += source.cost(b);
		source.kids(b).forEach(function (k) {
			if (branchMatches(k, above))
				push(k);
		});
		if (hit && !(b.parent !== source.root && match[b.parent.key >> 1]))
			list.push(b);
	};
	places.at = function (i) {
		while (list.length <= i && heap.length && grown < PLACES_GROWN)
			step();
		places.open = heap.length > 0;
		places.count = list.length;
		return list[i];
	};
	places.known = function () { return list.length; };
	return places;
}

function branchMatches(b, above) {
	for (let i = b.from; i < b.to; i++)
		if (above[b.set.nodes[i]])
			return true;
	return false;
}

// Places in a list of functions.
function funcPlaces(list) {
	return { at: function (i) { return list[i]; }, known: function () { return list.length; }, count: list.length, open: false };
}

// ---- the page's part: the result, and moving from place to place

Page.prototype.matched = function () {
	const m = this.model, out = byId("matched"), bad = byId("search").classList.contains("bad");
	const sum = m.match ? m.within(m.match) : 0, event = m.events[m.event];
	this.found = null;
	this.foundAt = -1;
	this.flame.hit = null;
	out.textContent = m.match ? percent(sum, m.value[0]) + m.ofAll() + " matched" + (!m.base && event && event.unit === "ns" ? ", " + duration(m.weight(sum)) : "")
		: bad ? "not a regular expression" : "";
	byId("hits").hidden = !m.match;
	this.showHits();
};

Page.prototype.places = function () {
	const s = this.state, m = this.model;
	if (!this.found && s.view !== "flame" && s.view !== "tree")
		this.found = funcPlaces(this.table.order(s.view === "table" ? s.sort : "total", s.view === "table" && s.backwards));
	if (!this.found)
		this.found = s.inverted ? branchPlaces(m, this.flame.source) : treePlaces(m);
	return this.found;
};

Page.prototype.showHits = function () {
	const s = this.state, m = this.model, what = s.view === "flame" || s.view === "tree" ? "place" : "function";
	let text = "";
	if (m.match && s.inverted && what === "place" && this.foundAt < 0) {
		text = "places";
	} else if (m.match) {
		const n = what === "place" && !s.inverted ? m.places().count : this.places().count;
		text = (this.foundAt >= 0 ? grouped(this.foundAt + 1) + " of " : "") + grouped(n) + (this.found && this.found.open ? "+" : "") +
			" " + what + (n === 1 ? "" : "s");
	}
	byId("hit-at").textContent = text;
};

// Moves to the next place (1) or the previous one (-1); wraps around.
Page.prototype.hit = function (step) {
	const places = this.model.match ? this.places() : null;
	if (!places)
		return;
	let i = this.foundAt + step;
	if (this.foundAt < 0 && step < 0)
		i = -1;
	if (places.at(Math.max(i, 0)) === undefined)
		i = 0;
	else if (i < 0)
		i = places.known() - 1;
	const at = places.at(i);
	if (at === undefined)
		return this.showHits();
	this.foundAt = i;
	this.showHits();
	this.goTo(at);
};

Page.prototype.goTo = function (at) {
	const s = this.state;
	if (s.view === "flame") {
		this.flame.reach(at);
		s.zoom = this.flame.zoomed;
		byId("reset").disabled = !s.zoom;
		this.write(false);
		byId("say").textContent = this.describe(at, this.flame).join(", ");
	} else if (s.view === "tree") {
		this.tree.reach(at);
	} else if (s.view === "table") {
		this.table.reach(at);
	} else {
		this.choose(at, s.view);
		this.drawView();
	}
};
