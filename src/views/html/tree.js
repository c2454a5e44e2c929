// SPDX-License-Identifier: GPL-2.0-or-later
// The tree of the flame graph as rows that open: from the start of stacks down to
// callees, or inverted from functions to their callers.

const KIDS_AT_FIRST = 60, KIDS_MORE = 300, DEEPEST_OPEN = 60;

function CallTree(model, palette, ui) {
	const t = this;
	this.model = model;
	this.palette = palette;
	this.ui = ui;
	this.source = null;
	this.at = null;		/* focused row: its place in the source */
	this.hit = null;	/* place of the current search result */
	this.rows = [];		/* visible rows: { h, depth } or { more: h } */
	const body = this.body = document.getElementById("tree-rows");
	body.addEventListener("click", function (e) {
		const tr = e.target.closest("tr[data-row]"), row = tr && t.rows[+tr.dataset.row];
		if (!row || e.target.closest("a"))
			return;
		if (row.more !== undefined) {
			t.limit.set(row.more, (t.limit.get(row.more) || KIDS_AT_FIRST) + KIDS_MORE);
		} else {
			t.at = row.h;
			t.toggle(row.h);
		}
		t.draw(true);
	});
	body.addEventListener("keydown", function (e) { t.key(e); });
}

// Opens the path that nearly all samples take, and the selected place.
CallTree.prototype.setSource = function (source) {
	this.source = source;
	this.open = new Set();	/* places in the source */
	this.limit = new Map();
	for (let h = source.root, n = 0; n < DEEPEST_OPEN; n++) {
		const kids = source.kids(h);
		if (!kids.length || source.value(kids[0]) < 0.5 * source.value(h))
			break;
		h = kids[0];
		this.open.add(h);
	}
	this.at = this.hit = null;
};

CallTree.prototype.toggle = function (h) {
	if (!this.open.delete(h))
		this.open.add(h);
};

// Opens all below a row, as long as one child has most of its parent's cost.
CallTree.prototype.openHot = function (h) {
	const s = this.source;
	for (let n = 0; h !== undefined && n < DEEPEST_OPEN; n++) {
		this.open.add(h);
		h = s.kids(h).sort(function (a, b) { return s.value(b) - s.value(a); })[0];
	}
};

// Opens the path to a place, marks it and scrolls to it.
CallTree.prototype.reach = function (h) {
	const s = this.source;
	for (let k = h, up = s.parent(h); up !== null; k = up, up = s.parent(up)) {
		this.open.add(up);
		const i = this.kids(up).indexOf(k);
		if (i >= (this.limit.get(up) || KIDS_AT_FIRST))
			this.limit.set(up, i + 1);
	}
	this.at = this.hit = h;
	this.draw(false);
	const tr = this.body.querySelector("tr.hit");
	if (tr)
		tr.scrollIntoView({ block: "center" });
};

// Returns the children of a row, most expensive first.
CallTree.prototype.kids = function (h) {
	const s = this.source;
	return s.kids(h).filter(function (k) { return s.value(k) > 0; }).sort(function (a, b) { return s.value(b) - s.value(a); });
};

CallTree.prototype.row = function (h, depth, kids) {
	const m = this.model, s = this.source, tr = el("tr"), key = s.key(h), func = key >> 1, open = this.open.has(h);
	tr.tabIndex = -1;
	tr.setAttribute("aria-level", depth + 1);
	if (kids)
		tr.setAttribute("aria-expanded", open);
	if (m.base) {
		const x = s.sides(h), t = m.difference(x[0], x[1]);
		cell(tr, "num delta " + (t > 0 ? "more" : t < 0 ? "less" : "noise"), signed(x[0].value - m.scale * x[1].value, m.base.value[0] * m.scale));
	}
	shareCell(tr, s.value(h), m.value[0]);
	cell(tr, "num wide", s.self ? percent(s.self(h), m.value[0]) : "");
	cell(tr, "num wide", grouped(s.count(h)));
	const td = cell(tr, "fn"), indent = el("span", "indent", kids ? open ? "▾" : "▸" : "·");
	td.style.paddingLeft = 6 + Math.min(depth, 40) * 12 + "px";
	td.append(indent);
	if (func < m.funcs - 1) {
		funcLink(td, m, this.palette, func);
		if (key & 1)
			td.append(el("small", "note-in", " inlined"));
	}
	cell(tr, "im", m.image(func));
	tr.className = (h === this.hit ? "hit " : "") + (func === this.ui.state.func ? "on" : "") + (m.match && !m.match[func] ? " other" : "");
	return tr;
};

// Returns the open rows from the root: { h, depth, some: has children }.
CallTree.prototype.list = function () {
	const t = this, rows = this.rows = [], todo = [];
	const push = function (h, depth) {
		const kids = t.kids(h), most = t.limit.get(h) || KIDS_AT_FIRST;
		if (kids.length > most)
			todo.push({ more: h, depth: depth, left: kids.length - most });
		for (let i = Math.min(kids.length, most); i--;)
			todo.push({ h: kids[i], depth: depth, some: false });
	};
	push(this.source.root, 0);
	while (todo.length) {
		const row = todo.pop();
		rows.push(row);
		if (row.more !== undefined)
			continue;
		row.some = t.source.kids(row.h).length > 0;
		if (row.some && t.open.has(row.h))
			push(row.h, row.depth + 1);
	}
	return rows;
};

CallTree.prototype.draw = function (focus) {
	const t = this, m = this.model, heads = document.querySelectorAll("#tree th");
	heads[0].hidden = !m.base;
	if (m.base)
		["Change", "Total", "Self", "Samples"].forEach(function (x, i) {
			headText(heads[i], x, i ? i < 3 ? m.ofAll() : "" : "of all before");
		});
	const rows = this.list().map(function (row, i) {
		const tr = row.more === undefined ? t.row(row.h, row.depth, row.some) : el("tr", "gap");
		if (row.more !== undefined) {
			const td = el("td", "fn", "⋯ " + grouped(row.left) + " more");
			td.colSpan = 6;
			td.style.paddingLeft = 6 + Math.min(row.depth, 40) * 12 + "px";
			tr.tabIndex = -1;
			tr.append(td);
		}
		tr.dataset.row = i;
		return tr;
	});
	this.body.replaceChildren.apply(this.body, rows);
	const at = rows[this.rows.findIndex(function (r) { return r.h === t.at; })] || rows[0];
	if (at) {
		at.tabIndex = 0;
		if (focus)
			at.focus({ preventScroll: true });
	}
};

CallTree.prototype.key = function (e) {
	const rows = Array.from(this.body.children), tr = e.target.closest("tr[data-row]"), i = rows.indexOf(tr);
	if (!tr || e.target.closest("a") && e.key === "Enter")
		return;
	const row = this.rows[i], expanded = tr.getAttribute("aria-expanded");
	let to = null;
	if (e.key === "ArrowDown" || (e.key === "ArrowRight" && expanded === "true")) {
		to = rows[i + 1];
	} else if (e.key === "ArrowUp") {
		to = rows[i - 1];
	} else if (e.key === "ArrowLeft" && expanded !== "true") {
		for (let k = i - 1; k >= 0 && !to; k--)
			to = this.rows[k].depth < row.depth ? rows[k] : null;
	} else if ((e.key === "ArrowRight" && expanded === "false") || e.key === "ArrowLeft" || e.key === " ") {
		tr.click();
	} else if (e.key === "*" && row.h !== undefined) {
		this.at = row.h;
		this.openHot(row.h);
		this.draw(true);
	} else if (e.key === "Enter") {
		const a = tr.querySelector("a[data-func]");
		(a || tr).click();
	} else {
		return;
	}
	e.preventDefault();
	if (to) {
		tr.tabIndex = -1;
		to.tabIndex = 0;
		this.at = this.rows[+to.dataset.row].h;
		to.focus();
	}
};
