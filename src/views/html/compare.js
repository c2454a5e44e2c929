// SPDX-License-Identifier: GPL-2.0-or-later
// Lines and instructions of both sides of a comparison, aligned side by side.

// The change, as a share of the scaled total of the baseline.
Source.prototype.changeCell = function (tr, now, nowCount, was, wasCount) {
	const m = this.model, scale = m.scale, td = cell(tr, "num delta");
	if (!nowCount && !wasCount)
		return td;
	const t = changeOf(now, nowCount, was, wasCount, scale, m.tau);
	td.textContent = signed(now - was * scale, m.base.before.value * scale);
	td.className += t > 0 ? " more" : t < 0 ? " less" : " noise";
	td.title = m.aRun(m.base, was) + " before, " + m.aRun(m.now, now) + " now" + m.perRun() + "; " + grouped(wasCount) + " samples before, " + grouped(nowCount) + " now" + (t ? "" : ": within the noise");
	return td;
};

// Pairs old and new lines or instructions, both ascending. Each row has the index of
// the old one, the index of the new one (-1: none), and how they differ. Without runs
// they are paired by number.
function pairRows(was, now, runs) {
	const to = new Map(), at = new Map(now.map(function (y, j) { return [y, j]; })), rows = [];
	if (!runs.length)
		was.forEach(function (x) { to.set(x, { now: x, how: "" }); });
	for (let k = 0; k < runs.length; k += 4)
		for (let i = 0; i < runs[k + 2]; i++)
			to.set(runs[k] + i, { now: runs[k + 1] + i, how: runs[k + 3] ? "changed" : "" });
	let j = 0;
	was.forEach(function (x, i) {
		const p = to.get(x), k = p ? at.get(p.now) : undefined;
		if (k === undefined)
			return rows.push([i, -1, "removed"]);
		while (j < k)
			rows.push([-1, j++, "added"]);
		rows.push([i, j++, p.how]);
	});
	while (j < now.length)
		rows.push([-1, j++, "added"]);
	return rows;
}

// The most expensive files or codes of the function on both sides: [old, new, runs].
// One side may be undefined.
function pairUp(was, now, pairs, most) {
	const out = [], used = new Set();
	mostExpensive(now).slice(0, most).forEach(function (x) {
		const p = pairs.get(x[0]), both = p && was.has(p.old);
		if (both)
			used.add(p.old);
		out.push([both ? p.old : undefined, x[0], both ? p.runs : []]);
	});
	mostExpensive(was).forEach(function (x) {
		if (!used.has(x[0]) && out.length < most)
			out.push([x[0], undefined, []]);
	});
	return out;
}

Source.prototype.half = function (tr, value, count, side, no, text) {
	const td = this.cost(tr, value, count, side.before.value, side.before.count);
	if (count)
		td.title = this.model.aRun(side, value) + this.model.perRun() + "; " + td.title + " of all " + (side === this.model.base ? "before" : "now");
	cell(tr, "no", no);
	if (typeof text === "string")
		cell(tr, "text", text);
	else
		text(cell(tr, "text"));
};

Source.prototype.bothFiles = function (box, was, now, a, b, runs) {
	const m = this.model, view = this, none = new Map();
	const withoutLine = runs.length ? [0, 0, 1, 0] : [];	/* code without a line */
	const side = function (file, costs) {
		const known = file !== undefined, text = known && file >= 0 ? view.lines.textOf(file) : new Map();
		const list = !known ? [] : file >= 0 ? view.linesOf(file, costs) : Array.from(costs.keys());
		return { costs: costs, text: text, list: list };
	};
	const x = side(a, was.get(a) || none), y = side(b, now.get(b) || none);
	const rows = pairRows(x.list, y.list, withoutLine.concat(runs)), of = function (s, i) { return i >= 0 ? s.costs.get(s.list[i]) : undefined; };
	[a, b].forEach(function (f, i) {
		if (f >= 0 && (i || b === undefined || view.lines.meta.files[f].name !== view.lines.meta.files[b].name))
			view.fileHead(box, view.lines.meta.files[f]);
	});
	const body = this.table(box, [["Change", "num", "of all before"], ["Before", "num", "of all before"], ["Line", "no"], ["Source before", ""],
		["Now", "num", "of all now"], ["Line", "no"], ["Source now", ""]], "pair");
	this.folded(body, rows.length, function (i) { return of(x, rows[i][0]) || of(y, rows[i][1]); }, "p" + a + "_" + b, 7, "lines", function (i) {
		const c = of(x, rows[i][0]) || new Cost(), d = of(y, rows[i][1]) || new Cost(), tr = el("tr");
		view.changeCell(tr, d.sum(), d.count(), c.sum(), c.count());
		const put = function (s, k, cost, at) {
			view.half(tr, cost.sum(), cost.count(), at, k < 0 ? "" : s.list[k] || "?", k < 0 ? "" : s.text.get(s.list[k]) || "");
		};
		put(x, rows[i][0], c, m.base);
		put(y, rows[i][1], d, m.now);
		tr.className = rows[i][2];
		body.append(tr);
	});
};

Source.prototype.bothCodes = function (box, a, b, runs) {
	const m = this.model, view = this;
	const side = function (code, at) {
		const k = code === undefined ? { insns: 0, text: [] } : view.lines.meta.codes[code];
		return { code: code, cost: k.insns ? view.lines.insns(at, code) : null,
			at: k.insns ? view.lines.addresses(code) : null, list: Array.from({ length: k.insns }, function (none, i) { return i; }) };
	};
	const x = side(a, m.base), y = side(b, m.now), rows = pairRows(x.list, y.list, runs);
	if (a !== undefined)
		this.codeHead(box, a);
	if (b !== undefined)
		this.codeHead(box, b);
	if (!rows.length)
		return;
	const v = function (s, i, what) { return i >= 0 ? s.cost[what][i] : 0; };
	const body = this.table(box, [["Change", "num", "of all before"], ["Before", "num", "of all before"], ["Address", "no"], ["Instruction before", ""],
		["Now", "num", "of all now"], ["Address", "no"], ["Instruction now", ""]], "pair asm");
	this.folded(body, rows.length, function (i) { return v(x, rows[i][0], "count") || v(y, rows[i][1], "count"); },
		"q" + a + "_" + b, 7, "instructions", function (i) {
			const tr = el("tr");
			view.changeCell(tr, v(y, rows[i][1], "value"), v(y, rows[i][1], "count"), v(x, rows[i][0], "value"), v(x, rows[i][0], "count"));
			[[x, rows[i][0], m.base], [y, rows[i][1], m.now]].forEach(function (h) {
				const s = h[0], k = h[1];
				view.half(tr, v(s, k, "value"), v(s, k, "count"), h[2], k < 0 ? "" : s.at[k].toString(16),
					k < 0 ? "" : function (td) { view.insnText(td, s.code, k); });
			});
			tr.className = rows[i][2];
			body.append(tr);
		});
};

Source.prototype.drawBoth = function (box, func) {
	const m = this.model, was = this.lines.collect(m.base, func), now = this.lines.collect(m.now, func), view = this;
	const scale = m.scale, show = this.ui.state.show;
	note(box, "Before " + m.aRun(m.base, was.all.sum()) + m.perRun() + ", " + percent(was.all.sum(), m.base.before.value) +
		" of all before; now " + m.aRun(m.now, now.all.sum()) + m.perRun() + ", " + percent(now.all.sum(), m.now.before.value) + " of all now; change " + signed(now.all.sum() - scale * was.all.sum(), m.base.before.value * scale) + " of all before, compared " +
		m.compare.how + ". Pale: not significant.");
	if (show !== "asm")
		pairUp(was.files, now.files, this.lines.filePairs, Infinity).forEach(function (p) { view.bothFiles(box, was.files, now.files, p[0], p[1], p[2]); });
	if (show === "source")
		return;
	pairUp(was.codes, now.codes, this.lines.codePairs, CODES).forEach(function (p) { view.bothCodes(box, p[0], p[1], p[2]); });
};
