// SPDX-License-Identifier: GPL-2.0-or-later
// Lines and instructions of both sides of a comparison, aligned side by side.

// What gained or lost, in shares of all of the baseline, made comparable.
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

// Runs of rows of one side only stand beside those of the other.
function zip(pairs) {
	const out = [];
	for (let i = 0; i < pairs.length;) {
		const a = [], b = [];
		for (; i < pairs.length && (pairs[i][0] < 0 || pairs[i][1] < 0); i++) {
			if (pairs[i][0] >= 0)
				a.push(pairs[i][0]);
			else
				b.push(pairs[i][1]);
		}
		for (let k = 0; k < Math.max(a.length, b.length); k++)
			out.push([k < a.length ? a[k] : -1, k < b.length ? b[k] : -1]);
		for (; i < pairs.length && pairs[i][0] >= 0 && pairs[i][1] >= 0; i++)
			out.push(pairs[i]);
	}
	return out;
}

// Files of both sides that are the same: by path, else by their last part.
Source.prototype.pairFiles = function (was, now) {
	const files = this.lines.meta.files, used = new Set(), out = [];
	const end = function (n) { return n.slice(n.lastIndexOf("/") + 1); };
	dearest(now).forEach(function (x) {
		const name = x[0] >= 0 ? files[x[0]].name : "";
		const fits = function (same) {
			return Array.from(was.keys()).find(function (f) { return !used.has(f) && same(f >= 0 ? files[f].name : ""); });
		};
		let f = fits(function (n) { return n === name; });
		if (f === undefined)
			f = fits(function (n) { return n && name && end(n) === end(name); });
		used.add(f);
		out.push([f, x[0]]);
	});
	dearest(was).forEach(function (x) {
		if (!used.has(x[0]))
			out.push([x[0], undefined]);
	});
	return out;
};

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

Source.prototype.bothFiles = function (box, was, now, a, b) {
	const m = this.model, view = this, none = new Map();
	const side = function (file, costs) {
		const known = file !== undefined, text = known && file >= 0 ? view.lines.textOf(file) : new Map();
		const list = !known ? [] : file >= 0 ? view.linesOf(file, costs) : Array.from(costs.keys());
		return { costs: costs, text: text, list: list, keys: list.map(function (l) {
			return text.has(l) ? text.get(l).trim() : "line " + l;
		}) };
	};
	const x = side(a, was.get(a) || none), y = side(b, now.get(b) || none);
	const rows = zip(align(x.keys, y.keys)), of = function (s, i) { return i >= 0 ? s.costs.get(s.list[i]) : undefined; };
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
		tr.className = rows[i][0] < 0 ? "added" : rows[i][1] < 0 ? "removed"
			: x.keys[rows[i][0]] !== y.keys[rows[i][1]] ? "changed" : "";
		body.append(tr);
	});
};

Source.prototype.bothCodes = function (box, a, b) {
	const m = this.model, view = this;
	const side = function (code, at) {
		const k = code === undefined ? { insns: 0, text: [] } : view.lines.meta.codes[code];
		/* equal but for addresses */
		return { code: code, insns: k.insns, cost: k.insns ? view.lines.insns(at, code) : null,
			at: k.insns ? view.lines.addresses(code) : null,
			keys: k.text.map(function (t) { return t.replace(/\t.*/, "").replace(/0x[0-9a-f]{3,}/g, "·"); }) };
	};
	const x = side(a, m.base), y = side(b, m.now), rows = zip(align(x.keys, y.keys));
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
			tr.className = rows[i][0] < 0 ? "added" : rows[i][1] < 0 ? "removed"
				: x.keys[rows[i][0]] !== y.keys[rows[i][1]] ? "changed" : "";
			body.append(tr);
		});
};

Source.prototype.drawBoth = function (box, func) {
	const m = this.model, was = this.lines.collect(m.base, func), now = this.lines.collect(m.now, func), view = this;
	const scale = m.scale, show = this.ui.state.show, codes = this.lines.meta.codes;
	note(box, "Before " + m.aRun(m.base, was.all.sum()) + m.perRun() + ", " + percent(was.all.sum(), m.base.before.value) +
		" of all before; now " + m.aRun(m.now, now.all.sum()) + m.perRun() + ", " + percent(now.all.sum(), m.now.before.value) + " of all now; change " + signed(now.all.sum() - scale * was.all.sum(), m.base.before.value * scale) + " of all before, compared " +
		m.compare.how + ". Pale: not significant.");
	if (show !== "asm")
		this.pairFiles(was.files, now.files).forEach(function (p) { view.bothFiles(box, was.files, now.files, p[0], p[1]); });
	if (show === "source")
		return;
	const old = dearest(was.codes), used = new Set(), pairs = [];
	dearest(now.codes).slice(0, CODES).forEach(function (x) {
		const y = old.find(function (o) { return !used.has(o[0]) && codes[o[0]].symbol === codes[x[0]].symbol; });
		if (y)
			used.add(y[0]);
		pairs.push([y ? y[0] : undefined, x[0]]);
	});
	old.forEach(function (o) {
		if (!used.has(o[0]) && pairs.length < CODES)
			pairs.push([o[0], undefined]);
	});
	pairs.forEach(function (p) { view.bothCodes(box, p[0], p[1]); });
};
