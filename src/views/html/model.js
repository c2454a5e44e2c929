// SPDX-License-Identifier: GPL-2.0-or-later
// The selection (event, threads, labels, time) and its sums by node of the tree and by
// function. Values are weights of the event, or numbers of samples if all samples
// weigh the same.

const NEW = 0, BASE = 1;

// One side's sums of the selection: by node, by function, by location.
function Side(model, cols) {
	this.model = model;
	this.cols = cols;	/* column by chosen event, -1: none */
	/* samples of equal weight: the value is their number */
	this.even = cols.every(function (c) { return c < 0 || model.d.meta.events[c].per > 0; });
	this.size(model.nodes);
}

Side.prototype.size = function (nodes) {
	this.count = new Float64Array(nodes);
	this.selfCount = new Float64Array(nodes);
	this.value = this.even ? this.count : new Float64Array(nodes);
	this.selfValue = this.even ? this.selfCount : new Float64Array(nodes);
	this.whole = new Map();
};

// Returns whether an entry's threads and state are selected.
Side.prototype.picks = function (e, i) {
	const s = this.selection;
	return (!s.cohorts || s.cohorts[e.cohort[i]]) && (!s.kinds || s.kinds[e.kind[i]]);
};

// Sums of a whole column, computed once.
Side.prototype.all = function (col) {
	let w = this.whole.get(col);
	if (!w) {
		const count = new Float64Array(this.count.length);
		w = { value: this.even ? count : new Float64Array(count.length), count: count };
		this.add(this.model.d.entry, col, { cohorts: null, kinds: null, from: 0, to: this.model.last }, w.value, w.count);
		this.whole.set(col, w);
	}
	return w;
};

Side.prototype.add = function (e, col, s, values, counts) {
	const node = e.node, event = e.event, cohort = e.cohort, kind = e.kind, count = e.count, value = e.value;
	const end = e.first[s.to + 1], one = this.model.d.meta.events.length === 1, cohorts = s.cohorts, kinds = s.kinds;
	for (let i = e.first[s.from]; i < end; i++) {
		if ((!one && event[i] !== col) || (cohorts && !cohorts[cohort[i]]) || (kinds && !kinds[kind[i]]))
			continue;
		counts[node[i]] += count[i];
		if (values !== counts)
			values[node[i]] += value[i];
	}
};

Side.prototype.select = function (s) {
	const m = this.model, col = this.col = this.cols[s.event], parent = m.d.parent;
	const v = this.value, c = this.count;
	this.funcs = this.locs = this.calls = this.unchanged = null;
	const whole = col >= 0 && !s.cohorts && !s.kinds && s.from <= 0 && s.to >= m.last;
	this.exact = whole && !m.changed.length;
	this.selection = s;
	if (whole) {
		const w = this.all(col);
		this.selfCount.set(w.count);
		if (!this.even)
			this.selfValue.set(w.value);
	} else {
		this.selfCount.fill(0);
		if (!this.even)
			this.selfValue.fill(0);
		if (col >= 0)
			this.add(m.d.entry, col, s, this.selfValue, this.selfCount);
	}
	c.set(this.selfCount);
	for (let i = m.nodes - 1; i > 0; i--)
		c[parent[i]] += c[i];
	if (this.even)
		return;
	v.set(this.selfValue);
	for (let i = m.nodes - 1; i > 0; i--)
		v[parent[i]] += v[i];
};

// Sums of the selection before changes to the stacks. Costs of lines are shares of
// these, because the changes do not apply to lines.
Object.defineProperty(Side.prototype, "before", { get: function () {
	const s = this.selection, e = this.model.stored.entry;
	if (!this.model.changed.length)
		return { value: this.value[0], count: this.count[0] };
	if (!this.unchanged) {
		const x = this.unchanged = { value: 0, count: 0 };
		for (let i = e.first[s.from]; i < e.first[s.to + 1]; i++)
			if (e.event[i] === this.col && this.picks(e, i)) {
				x.value += e.value[i];
				x.count += e.count[i];
			}
	}
	return this.unchanged;
} });

// A sample counts once for a function's total, even if the function occurs several
// times in the stack.
Side.prototype.byFunc = function () {
	const m = this.model, d = m.d, n = m.nodes, func = d.func, depth = d.depth, parent = d.parent;
	if (this.funcs)
		return this.funcs;
	const f = this.funcs = {
		self: new Float64Array(m.funcs), total: new Float64Array(m.funcs),
		selfCount: new Float64Array(m.funcs), totalCount: new Float64Array(m.funcs)
	};
	if (this.exact) {
		const sums = d.sums[this.col];
		f.self.set(sums.self);
		f.total.set(sums.total);
		f.selfCount.set(sums.selfCount);
		f.totalCount.set(sums.totalCount);
		return f;
	}
	const open = new Int32Array(m.funcs), count = this.count;
	let at = 0;
	for (let i = 1; i < n;) {
		if (!count[i]) {
			i = d.end[i];
			continue;
		}
		for (; depth[at] >= depth[i]; at = parent[at])
			open[func[at]]--;
		const k = func[i];
		if (!open[k]++) {
			f.total[k] += this.value[i];
			f.totalCount[k] += count[i];
		}
		f.self[k] += this.selfValue[i];
		f.selfCount[k] += this.selfCount[i];
		at = i++;
	}
	return f;
};

// Costs by location, for lines and instructions.
Side.prototype.byLoc = function () {
	if (!this.locs)
		this.locs = this.sum(this.model.d.lines.entry, this.model.d.meta.lines.locs);
	return this.locs;
};

// Costs of calls made at a line, including callees.
Side.prototype.byCall = function () {
	if (!this.calls)
		this.calls = this.sum(this.model.d.lines.callEntry, this.model.d.meta.lines.calls);
	return this.calls;
};

// Sums the selected entries.
Side.prototype.sum = function (entries, n) {
	const s = this.selection, count = new Float64Array(n);
	const sums = { value: this.even ? count : new Float64Array(n), count: count };
	if (this.col >= 0)
		this.add(entries, this.col, s, sums.value, sums.count);
	return sums;
};

function Model(d) {
	const f = d.meta.funcs, events = d.meta.events, model = this;
	this.d = d;
	this.nodes = d.meta.nodes;
	this.named = f.image.length;
	this.funcs = f.name.length;
	this.last = d.meta.time.buckets - 1;
	this.compare = d.meta.compare || null;
	this.short = f.name.map(function (n, i) { return f.short[i] || n; });
	this.imageName = d.meta.images.map(function (p) {
		return p[0] === "[" ? p : p.slice(p.lastIndexOf("/") + 1) || p;
	});
	/* selectable events: those of the new side, and those of the baseline only */
	const cols = [];
	events.forEach(function (e, i) {
		if (e.side === NEW || !events.some(function (x) { return x.side === NEW && x.actual === e.actual; }))
			cols.push(i);
	});
	this.events = cols.map(function (i) { return events[i]; });
	const of = function (side) {
		return cols.map(function (i) {
			return events.findIndex(function (e) { return e.side === side && e.actual === events[i].actual; });
		});
	};
	this.now = new Side(this, this.compare ? of(NEW) : cols);
	this.base = this.compare ? new Side(this, of(BASE)) : null;
	this.widths = "new";
	this.changes = new Changes(d, function (func) { return func < model.named ? f.image[func] : -1; });
	this.stored = d;
	this.changed = [];	/* for each change, whether it found nothing */
	this.match = this.placed = null;
	this.byNode = null;
	/* lower-case names, full and short, so that a search finds "operator<" as shown */
	this.low = null;
	if (this.compare) {
		this.verdicts = new Map();
		this.compare.verdicts.forEach(function (v) { model.verdicts.set(v.func, v); });
	}
}

Model.prototype.image = function (func) {
	return func < this.named ? this.imageName[this.d.meta.funcs.image[func]] : "";
};

// Returns the outermost nodes of a function.
Model.prototype.nodesOf = function (func) {
	const d = this.d, n = this.nodes;
	if (!this.byNode) {
		const first = new Uint32Array(this.funcs + 1), nodes = new Int32Array(n), at = new Uint32Array(this.funcs);
		for (let i = 1; i < n; i++)
			first[d.func[i] + 1]++;
		for (let f = 0; f < this.funcs; f++)
			first[f + 1] += first[f];
		at.set(first.subarray(0, this.funcs));
		for (let i = 1; i < n; i++)
			nodes[at[d.func[i]]++] = i;
		this.byNode = { first: first, nodes: nodes };
	}
	const x = this.byNode, out = [];
	let end = 0;
	for (let k = x.first[func]; k < x.first[func + 1]; k++)
		if (x.nodes[k] >= end) {
			end = d.end[x.nodes[k]];
			if (this.count[x.nodes[k]] > 0)
				out.push(x.nodes[k]);
		}
	return out;
};

// Replaces the tree by the one that the changes produce, and recomputes everything
// else.
Model.prototype.change = function (list, grouped) {
	this.changes.begin(grouped);
	const x = this.changes.apply(list), t = x.last.tree, d = this.d = Object.create(this.stored);
	this.changed = x.none;
	this.nodes = t.n;
	this.byNode = null;
	d.func = t.func;
	d.inlined = t.inlined;
	d.parent = t.parent;
	d.depth = t.depth;
	d.end = t.end;
	d.entry = this.changes.done[0].entry;
	if (x.last.map)
		d.entry = mapEntries(d.entry, x.last.map);
	[this.now, this.base].forEach(function (side) {
		if (side && side.count.length < t.n)
			side.size(t.n);
		else if (side)
			side.whole.clear();
	});
};

// Samples of the selected threads and time before changes to the stacks.
Model.prototype.all = function () {
	return (this.shown !== this.base ? this.now.before.count : 0) + (this.base && this.shown !== this.now ? this.base.before.count : 0);
};

// select: { event, lanes: null or array of 0/1, labels: of these by label, from, to } in
// time slices.
Model.prototype.select = function (s) {
	const pick = { event: s.event, lanes: s.lanes, labels: s.labels, cohorts: pickCohorts(this.d, s, -1), kinds: s.kinds && s.kinds.slice(), from: s.from, to: s.to };
	this.waits = null;
	this.now.select(pick);
	if (this.base)
		this.base.select(pick);
	this.event = s.event;
	const base = this.base && this.d.meta.events[this.base.col];
	this.scale = base && base.scale !== null ? base.scale : 1;
	this.tau = base ? base.tau : 0;
	this.exact = this.now.exact || (this.base !== null && this.base.exact);
	this.setWidths(this.widths);
};

// Widths of frames: as in the new recording, the baseline, or both.
Model.prototype.setWidths = function (widths) {
	const a = this.now, b = this.base;
	this.widths = widths;
	this.placed = null;
	if (!b || widths === "new") {
		this.shown = a;
	} else if (widths === "base") {
		this.shown = b;
	} else {
		const m = this, sum = function (x, y, k) { return m.sumOf(x, y, k); };
		this.shown = {
			value: sum(a.value, b.value, this.scale), count: sum(a.count, b.count, 1),
			selfValue: sum(a.selfValue, b.selfValue, this.scale), selfCount: sum(a.selfCount, b.selfCount, 1),
			byFunc: function () {
				const x = a.byFunc(), y = b.byFunc(), k = m.scale;
				return {
					self: sum(x.self, y.self, k), total: sum(x.total, y.total, k),
					selfCount: sum(x.selfCount, y.selfCount, 1), totalCount: sum(x.totalCount, y.totalCount, 1)
				};
			}
		};
	}
	this.value = this.shown.value;
	this.count = this.shown.count;
	this.selfValue = this.shown.selfValue;
	this.selfCount = this.shown.selfCount;
};
Model.prototype.sumOf = function (x, y, scale) {
	const z = new Float64Array(x.length);
	for (let i = 0; i < z.length; i++)
		z[i] = x[i] + scale * y[i];
	return z;
};

Object.defineProperty(Model.prototype, "byFunc", { get: function () { return this.shown.byFunc(); } });

// The change from -1 (gone) to 1 (new); 0: unchanged, or not significant with this
// number of samples.
function changeOf(value, count, baseValue, baseCount, scale, tau) {
	const was = baseValue * scale, most = Math.max(value, was);
	if (!most)
		return 0;
	const perNew = count ? value / count : 0, perOld = baseCount ? was / baseCount : 0;
	const noise = Math.sqrt(perNew * perNew * Math.max(count, 1) + perOld * perOld * Math.max(baseCount, 1) +
		tau * tau * (value * value + was * was));
	return Math.abs(value - was) < 2 * noise ? 0 : (value - was) / most;
}
Model.prototype.difference = function (now, was) {
	return changeOf(now.value, now.count, was.value, was.count, this.scale, this.tau);
};

// Text matches anywhere in the name of a function or image; /…/ is a regular
// expression. Returns null if there is nothing to search; throws if the expression is
// invalid.
Model.prototype.search = function (text) {
	const f = this.d.meta.funcs;
	this.match = this.placed = null;
	if (!text)
		return;
	if (!this.low)
		this.low = f.name.map(function (n, i) { return (f.short[i] ? n + "\n" + f.short[i] : n).toLowerCase(); });
	const match = new Uint8Array(this.funcs);
	const form = /^\/(.+?)\/?$/.exec(text);
	let test;
	if (form && text.length > 1) {
		const re = new RegExp(form[1], "i");
		test = function (s) { return re.test(s); };
	} else {
		const low = text.toLowerCase();
		test = function (s) { return s.indexOf(low) >= 0; };
	}
	const images = this.imageName.map(function (s) { return test(s.toLowerCase()); });
	for (let i = 0; i < this.funcs - 1; i++)
		match[i] = (i < this.named && images[this.d.meta.funcs.image[i]]) || test(this.low[i]) ? 1 : 0;
	this.match = match;
};

// Samples with a function of `set` anywhere in their stack.
Model.prototype.within = function (set) {
	const d = this.d;
	let sum = 0;
	for (let i = 1; i < this.nodes;) {
		if (set[d.func[i]]) {
			sum += this.value[i];
			i = d.end[i];
		} else {
			i++;
		}
	}
	return sum;
};

// Samples by row of the timeline and time slice: all of them, or those with a function
// of `set`, or those in `state`. rows: the row of each cohort.
Model.prototype.overTime = function (rows, set, stored, state) {
	const d = stored ? this.stored : this.d, e = d.entry, slices = this.last + 1, a = this.now.col, b = this.base ? this.base.col : -1;
	const out = new Float64Array(rows.n * slices);
	// Waits count by their time, all else by number of samples.
	const what = d.meta.events[a].wait ? e.value : e.count;
	const kinds = stored || !this.now.selection ? null : this.now.selection.kinds;
	/* rows that are not selected are shown, too */
	const cohorts = stored || !this.now.selection ? null : pickCohorts(d, this.now.selection, rows.ignored);
	let inside = null;
	if (set) {
		inside = new Uint8Array(this.nodes);
		for (let i = 1; i < this.nodes; i++)
			inside[i] = set[d.func[i]] | inside[d.parent[i]];
	}
	for (let k = 0; k < slices; k++)
		for (let i = e.first[k]; i < e.first[k + 1]; i++)
			if ((e.event[i] === a || e.event[i] === b) && (!inside || inside[e.node[i]]) &&
				(!kinds || kinds[e.kind[i]]) && (!cohorts || cohorts[e.cohort[i]]) && (state === undefined || e.kind[i] === state))
				out[rows.of[e.cohort[i]] * slices + k] += what[i];
	return out;
};

Model.prototype.weight = function (value) {
	const per = this.events[this.event].per;
	return per ? value * per : value;
};

// A side's value per run of the command, as text: "12.5 ms".
Model.prototype.aRun = function (side, value) {
	const e = this.d.meta.events[side.col], n = this.compare.runs[side === this.base ? BASE : NEW];
	const x = e ? (e.per ? value * e.per : value) / n : 0;
	return !e || e.unit === "ns" ? x ? duration(x) : "0 ms" : short(x);
};
// " a run" if runs are compared, otherwise nothing.
Model.prototype.perRun = function () {
	return this.compare.runs[NEW] > 1 || this.compare.runs[BASE] > 1 || /^by run/.test(this.compare.how) ? " per run" : "";
};
// The base of percentages in the tree.
Model.prototype.ofAll = function () {
	return !this.base ? "" : " of " + { new: "now", base: "before", both: "both sides" }[this.widths];
};

function short(n) {
	const units = [[1e12, " T"], [1e9, " G"], [1e6, " M"], [1e3, " k"]];
	for (let i = 0; i < units.length; i++)
		if (n >= units[i][0])
			return (n / units[i][0]).toPrecision(3) + units[i][1];
	return "" + Math.round(n);
}

function percent(part, whole) {
	const p = whole > 0 ? 100 * part / whole : 0;
	return (p > 0 && p < 0.1 ? p.toFixed(3) : p.toFixed(2)) + "%";
}

function signed(part, whole) {
	const p = whole > 0 ? 100 * part / whole : 0;
	return (p >= 0 ? "+" : "−") + Math.abs(p).toFixed(Math.abs(p) < 0.1 && p ? 3 : 2) + "%";
}

// The 95 % interval (Wilson) of a count, as shares.
function interval(hits, n) {
	const z = 1.959964;
	if (!n)
		return [0, 0];
	const mid = (hits + z * z / 2) / (n + z * z);
	const half = z / (n + z * z) * Math.sqrt(hits * (n - hits) / n + z * z / 4);
	return [hits > 0 ? Math.max(0, mid - half) : 0, hits < n ? mid + half : 1];
}

function grouped(n) {
	return Math.round(n).toLocaleString("en-US");
}

function duration(ns) {
	const units = [[3600e9, "h"], [60e9, "min"], [1e9, "s"], [1e6, "ms"], [1e3, "µs"]];
	for (let i = 0; i < units.length; i++)
		if (ns >= units[i][0])
			return +(ns / units[i][0]).toPrecision(3) + " " + units[i][1];
	return Math.round(ns) + " ns";
}
