// SPDX-License-Identifier: GPL-2.0-or-later
// The tree of the flame graph as rows that open: from where stacks begin to what
// they called, or inverted from functions to their callers.

const KIDS_AT_FIRST = 60, KIDS_MORE = 300, DEEPEST_OPEN = 60;

function CallTree(model, palette, ui) {
	const t = this;
	this.model = model;
	this.palette = palette;
	this.ui = ui;
	this.source = null;
	this.at = null;		/* the row with the focus: its path */
	const body = this.body = document.getElementById("tree-rows");
	body.addEventListener("click", function (e) {
		const tr = e.target.closest("tr[data-path]");
		if (!tr || e.target.closest("a"))
			return;
		t.at = tr.dataset.path;
		if (tr.dataset.more)
			t.limit.set(tr.dataset.more, (t.limit.get(tr.dataset.more) || KIDS_AT_FIRST) + KIDS_MORE);
		else
			t.toggle(t.at);
		t.draw(true);
	});
	body.addEventListener("keydown", function (e) { t.key(e); });
}

// Opens the way along which nearly all samples go, and what was chosen.
CallTree.prototype.setSource = function (source) {
	const path = [];
	this.source = source;
	this.open = new Set();
	this.limit = new Map();
	for (let h = source.root; path.length < DEEPEST_OPEN;) {
		const kids = source.kids(h);
		if (!kids.length || source.value(kids[0]) < 0.5 * source.value(h))
			break;
		h = kids[0];
		path.push(source.key(h));
		this.open.add(path.join("."));
	}
	this.at = null;
};

CallTree.prototype.toggle = function (path) {
	if (!this.open.delete(path))
		this.open.add(path);
};

// All below a row, as far as each is most of what is above it.
CallTree.prototype.openHot = function (path) {
	const s = this.source;
	let h = this.find(path);
	for (let n = 0; h !== null && n < DEEPEST_OPEN; n++) {
		this.open.add(path);
		const kid = s.kids(h)[0];
		if (kid === undefined)
			break;
		path += (path ? "." : "") + s.key(kid);
		h = kid;
	}
};

CallTree.prototype.find = function (path) {
	const s = this.source;
	let h = s.root;
	return path.split(".").every(function (key) {
		const kid = s.kids(h).find(function (k) { return s.key(k) === +key; });
		h = kid;
		return kid !== undefined;
	}) ? h : null;
};

CallTree.prototype.row = function (h, path, depth, kids) {
	const m = this.model, s = this.source, tr = el("tr"), key = s.key(h), func = key >> 1, open = this.open.has(path);
	tr.dataset.path = path;
	tr.tabIndex = -1;
	tr.setAttribute("aria-level", depth + 1);
	if (kids)
		tr.setAttribute("aria-expanded", open);
	if (m.base) {
		const x = s.sides(h), t = m.change(x[0], x[1]);
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
	tr.className = (func === this.ui.state.func ? "on" : "") + (m.match && !m.match[func] ? " other" : "");
	return tr;
};

CallTree.prototype.draw = function (focus) {
	const t = this, s = this.source, rows = [];
	document.querySelectorAll("#tree th.compared").forEach(function (th) { th.hidden = !t.model.base; });
	const grow = function (h, path, depth) {
		const kids = s.kids(h).filter(function (k) { return s.value(k) > 0; });
		kids.sort(function (a, b) { return s.value(b) - s.value(a); });
		const most = t.limit.get(path) || KIDS_AT_FIRST;
		kids.slice(0, most).forEach(function (k) {
			const p = path + (path ? "." : "") + s.key(k);
			const open = t.open.has(p), some = s.kids(k).length > 0;
			rows.push(t.row(k, p, depth, some));
			if (open && some && depth < 200)
				grow(k, p, depth + 1);
		});
		if (kids.length > most) {
			const tr = el("tr", "gap"), td = el("td", "fn", "⋯ " + grouped(kids.length - most) + " more");
			td.colSpan = 6;
			td.style.paddingLeft = 6 + Math.min(depth, 40) * 12 + "px";
			tr.dataset.path = path + " more";
			tr.dataset.more = path;
			tr.tabIndex = -1;
			tr.append(td);
			rows.push(tr);
		}
	};
	grow(s.root, "", 0);
	this.body.replaceChildren.apply(this.body, rows);
	const at = rows.find(function (r) { return r.dataset.path === t.at; }) || rows[0];
	if (at) {
		at.tabIndex = 0;
		if (focus)
			at.focus({ preventScroll: true });
	}
};

CallTree.prototype.key = function (e) {
	const rows = Array.from(this.body.children), tr = e.target.closest("tr[data-path]"), i = rows.indexOf(tr);
	if (!tr || e.target.closest("a") && e.key === "Enter")
		return;
	const path = tr.dataset.path, expanded = tr.getAttribute("aria-expanded");
	let to = null;
	if (e.key === "ArrowDown" || (e.key === "ArrowRight" && expanded === "true")) {
		to = rows[i + 1];
	} else if (e.key === "ArrowUp") {
		to = rows[i - 1];
	} else if (e.key === "ArrowLeft" && expanded !== "true") {
		const up = path.slice(0, Math.max(0, path.lastIndexOf(".")));
		to = rows.find(function (r) { return r.dataset.path === up; });
	} else if ((e.key === "ArrowRight" && expanded === "false") || e.key === "ArrowLeft" || e.key === " ") {
		tr.click();
	} else if (e.key === "*") {
		this.at = path;
		this.openHot(path);
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
		this.at = to.dataset.path;
		to.focus();
	}
};
