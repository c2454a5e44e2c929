// SPDX-License-Identifier: GPL-2.0-or-later
// States of threads: states of entries, all time as an event, the tree grouped by
// state, and the tables of waits.

const WAIT_ROWS = 40, WAIT_MORE = 200;

// The data gives waits a kind. Here all other time gets one, too: running or runnable.
// If samples are time, as waits are, their sum is another event.
function addStates(meta) {
	if (!meta.kinds)
		return;
	meta.run = meta.kinds.length;
	meta.queue = meta.run + 1;
	meta.kinds = meta.kinds.concat(["running", "runnable"]);
	/* a frame for each, below the root */
	meta.kindFunc = meta.funcs.name.length - 1;
	meta.funcs.name.splice.apply(meta.funcs.name, [meta.kindFunc, 0].concat(meta.kinds.map(function (k, i) {
		return i >= meta.run ? "[" + k + "]" : "[waits: " + k + "]";
	})));
	meta.parts = [];
	meta.all = -1;
	const cpu = meta.events.findIndex(function (e) { return e.unit === "ns" && !e.wait && !e.apart; });
	if (meta.compare || cpu < 0)
		return;
	const all = { name: "all time", actual: "all time", unit: "ns", side: 0, wait: true, all: true, skid: "", samples: 0, weight: 0, per: 0 };
	meta.events.forEach(function (e, i) {
		if (meta.parts[i] = i === cpu || Boolean(e.wait)) {
			all.samples += e.samples;
			all.weight += e.weight;
		}
	});
	meta.all = meta.events.push(all) - 1;
}

function longer(a, n) {
	const to = new a.constructor(n);
	to.set(a);
	return to;
}

// Entries with their states, and once more as entries of all time.
function stateEntries(meta, e) {
	if (!meta.kinds)
		return e;
	let n = e.n, more = 0;
	for (let i = 0; i < n; i++) {
		const ev = meta.events[e.event[i]];
		if (!e.kind[i] && !ev.apart)
			e.kind[i] = ev.wait ? meta.queue : meta.run;
		more += meta.parts[e.event[i]] ? 1 : 0;
	}
	if (meta.all < 0)
		return e;
	const to = { n: n + more, value: new Float64Array(n + more) };
	["node", "event", "cohort", "kind", "bucket", "count"].forEach(function (k) { to[k] = longer(e[k], n + more); });
	to.value.set(e.value);
	for (let i = 0; i < e.n; i++) {
		if (!meta.parts[e.event[i]])
			continue;
		to.node[n] = e.node[i];
		to.event[n] = meta.all;
		to.cohort[n] = e.cohort[i];
		to.kind[n] = e.kind[i];
		to.bucket[n] = e.bucket[i];
		to.count[n] = e.count[i];
		to.value[n++] = e.value[i] * (meta.events[e.event[i]].per || 1);
	}
	return to;
}

// The exact sums of all time.
function stateSums(meta, sums) {
	if (!meta.kinds || meta.all < 0)
		return;
	const n = sums[0].self.length, s = {};
	["selfCount", "totalCount", "self", "total"].forEach(function (k) {
		const of = s[k] = new Float64Array(n), time = k === "self" || k === "total";
		sums.forEach(function (x, i) {
			const per = time ? meta.events[i].per || 1 : 1;
			for (let f = 0; meta.parts[i] && f < n; f++)
				of[f] += x[k][f] * per;
		});
	});
	sums.push(s);
}

// The stored tree with a frame for each group below the root, and its entries. of: the
// group of an entry; frames: the function of each group's frame, -1: none.
function groupTree(d, tree, frames, of) {
	const e = d.entry, meta = d.meta, n = tree.n, groups = frames.length;
	const first = new Uint32Array(groups + 2), list = new Uint32Array(e.n), used = [];
	for (let i = 0; i < e.n; i++)
		first[of(i) + 2]++;
	for (let k = 0; k < groups; k++)
		first[k + 2] += first[k + 1];
	for (let i = 0; i < e.n; i++)
		list[first[of(i) + 1]++] = i;	/* group k begins at first[k] */
	/* the nodes of each group, callers first */
	const mark = new Int32Array(n).fill(-1);
	let most = groups;
	for (let k = 0; k < groups; k++) {
		const nodes = [];
		for (let j = first[k]; j < first[k + 1]; j++)
			for (let i = e.node[list[j]]; i && mark[i] !== k; i = tree.parent[i]) {
				mark[i] = k;
				nodes.push(i);
			}
		used.push(Int32Array.from(nodes).sort());
		most += nodes.length;
	}
	const g = new Grower(most + 1, tree.func[0] * 2), node = new Int32Array(e.n), to = new Int32Array(n);
	for (let k = 0; k < groups; k++) {
		to[0] = frames[k] < 0 || first[k] === first[k + 1] ? 0 : g.child(0, frames[k] * 2);
		used[k].forEach(function (i) {
			to[i] = g.child(to[tree.parent[i]], tree.func[i] * 2 + tree.inlined[i]);
		});
		for (let j = first[k]; j < first[k + 1]; j++)
			node[list[j]] = to[e.node[list[j]]];
	}
	const weight = new Float64Array(g.n), sums = new Float64Array(g.n);
	for (let i = 0; i < e.n; i++)
		weight[node[i]] += e.count[i] + (meta.kinds && e.event[i] === meta.all ? e.value[i] : 1);
	const own = weight.slice(), done = g.finish(weight);
	for (let i = 0; i < g.n; i++)
		if (done.at[i] >= 0)
			sums[done.at[i]] = own[i];
	const entry = Object.assign({}, e, { node: node.map(function (i) { return done.at[i]; }) });
	return { key: "", tree: done.tree, weight: sums, at: null, map: null, to: null, entry: entry };
}

function stateTree(d, tree) {
	const meta = d.meta, kind = d.entry.kind;
	return groupTree(d, tree, meta.kinds.map(function (name, k) { return k ? meta.kindFunc + k : -1; }),
		function (i) { return kind[i]; });
}

// The waiting part of each node under the selection.
Model.prototype.waiting = function () {
	const d = this.d, meta = d.meta, s = this.now.selection, e = d.entry;
	if (this.waits)
		return this.waits;
	const sum = this.waits = new Float64Array(this.nodes);
	for (let i = e.first[s.from]; i < e.first[s.to + 1]; i++)
		if (e.event[i] === this.now.col && e.kind[i] !== meta.run && this.now.picks(e, i))
			sum[e.node[i]] += e.value[i];
	for (let i = this.nodes - 1; i > 0; i--)
		sum[d.parent[i]] += sum[i];
	return sum;
};

// ---- the tables

function WaitTables(model, palette, ui) {
	const t = this, w = model.d.meta.waits;
	this.model = model;
	this.palette = palette;
	this.ui = ui;
	this.shown = { sites: WAIT_ROWS, pairs: WAIT_ROWS };
	byId("tab-waits").hidden = !model.d.meta.kinds;
	byId("wait-tables").hidden = !w;
	byId("kinds").addEventListener("click", function (e) {
		const b = e.target.closest("button[data-kind]");
		if (b)
			ui.toggleKind(+b.dataset.kind);
	});
	["sites", "pairs"].forEach(function (id) {
		byId("more-" + id).addEventListener("click", function () {
			t.shown[id] += WAIT_MORE;
			t.draw();
		});
	});
}

// Time by state, in the selected threads and time.
WaitTables.prototype.states = function () {
	const m = this.model, d = m.stored, meta = d.meta, s = m.now.selection, e = d.entry;
	const sums = meta.kinds.map(function (name, kind) { return { kind: kind, ns: 0, n: 0 }; });
	for (let i = e.first[s.from]; i < e.first[s.to + 1]; i++) {
		const ev = meta.events[e.event[i]];
		if (ev.side !== NEW || (meta.all >= 0 ? !ev.all : !ev.wait) || (s.cohorts && !s.cohorts[e.cohort[i]]))
			continue;
		sums[e.kind[i]].ns += e.value[i];
		sums[e.kind[i]].n += e.count[i];
	}
	return sums.filter(function (x) { return x.ns > 0; }).sort(function (a, b) { return b.ns - a.ns; });
};

WaitTables.prototype.drawStates = function () {
	const meta = this.model.d.meta, list = this.states(), kinds = this.ui.state.kinds;
	const all = list.reduce(function (sum, x) { return sum + x.ns; }, 0);
	const rows = list.map(function (x) {
		const tr = el("tr"), b = el("button", "kind", meta.kinds[x.kind]), on = kinds && kinds[x.kind];
		b.type = "button";
		b.dataset.kind = x.kind;
		b.setAttribute("aria-pressed", Boolean(on));
		shareCell(tr, x.ns, all);
		cell(tr, "num", duration(x.ns));
		cell(tr, "num wide", grouped(x.n));
		cell(tr, "fn").append(b);
		tr.className = on ? "on" : "";
		return tr;
	});
	byId("kinds").replaceChildren.apply(byId("kinds"), rows);
};

// "FUNCTION in FUNCTION": each a function of the page or only a name.
WaitTables.prototype.place = function (td, at) {
	const m = this.model;
	at.forEach(function (f, i) {
		if (i)
			td.append(" in ");
		if (typeof f !== "number")
			return td.append(f);
		const a = el("a", "", m.short[f]);
		a.href = "#";
		a.dataset.func = f;
		a.title = m.d.meta.funcs.name[f];
		td.append(a);
	});
};

WaitTables.prototype.found = function (at) {
	const match = this.model.match, q = this.ui.state.q.toLowerCase();
	return at.some(function (f) { return typeof f === "number" ? match[f] : f.toLowerCase().indexOf(q) >= 0; });
};

WaitTables.prototype.drawRows = function (id, all) {
	const t = this, m = this.model, meta = m.d.meta, x = meta.waits[id], kinds = this.ui.state.kinds;
	const list = x.rows.filter(function (r) {
		return (!kinds || kinds[r.kind || meta.queue]) && (!m.match || t.found(r.at) || (r.from && t.found(r.from)) || (r.by && t.found(r.by)));
	});
	const part = list.slice(0, this.shown[id]), rows = [];
	part.forEach(function (r, i) {
		const tr = el("tr");
		if (r.group && (!i || part[i - 1].group !== r.group)) {
			const head = el("tr", "gap"), td = cell(head, "im", meta.waits.groups[r.group] + ":");
			td.colSpan = 5;
			rows.push(head);
		}
		shareCell(tr, r.ns, all);
		cell(tr, "num", duration(r.ns));
		cell(tr, "num wide", grouped(r.waits));
		cell(tr, "im", r.kind ? meta.kinds[r.kind] : "a processor");
		const td = cell(tr, "place");
		t.place(td, r.at);
		if (r.from) {
			td.append(", from ");
			t.place(td, r.from);
		}
		if (id === "pairs")
			t.place(cell(tr, "place"), r.by);
		rows.push(tr);
	});
	byId(id).replaceChildren.apply(byId(id), rows);
	byId("count-" + id).textContent = grouped(part.length) + " of " + grouped(list.length) + " rows" +
		(x.more ? "; " + grouped(x.more) + " shorter ones (" + duration(x.more_ns) + ") are not in the page" : "");
	byId("more-" + id).hidden = part.length === list.length;
};

WaitTables.prototype.draw = function () {
	const w = this.model.d.meta.waits, s = this.ui.state;
	this.drawStates();
	if (!w)
		return;
	const sum = function (x) { return x.rows.reduce(function (n, r) { return n + r.ns; }, x.more_ns); };
	const known = sum(w.pairs);
	byId("part-note").hidden = !this.model.now.selection.cohorts && s.from <= 0 && s.to >= this.model.last;
	byId("pairs-note").textContent = known ? "Known for " + percent(known, w.blocked_ns) + " of " + duration(w.blocked_ns) + " blocked."
		: "Not known: this needs root and the kernel's tracepoints, and merged recordings lose it.";
	byId("pairs-table").hidden = !known;
	this.drawRows("sites", sum(w.sites));
	this.drawRows("pairs", w.blocked_ns);
};
