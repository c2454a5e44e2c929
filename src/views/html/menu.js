// SPDX-License-Identifier: GPL-2.0-or-later
// Actions on a frame or function: the menu, its keys, the list of changes made to the
// stacks, and copying.

// The frame or function that an action applies to: its function; in a tree also the
// source and the handle there.
Page.prototype.contextOf = function (target) {
	const canvas = target.closest("canvas"), tr = target.closest("tr"), a = target.closest("a[data-func]");
	const g = canvas && [this.flame, this.calls.up, this.calls.down].find(function (g) { return g.canvas === canvas; });
	if (g) {
		const h = g.focus !== null ? g.focus : g.hit !== null ? g.hit : g.zoom;
		return h === null ? null : this.frameContext(g, h);
	}
	if (tr && tr.parentNode === this.tree.body && tr.dataset.row)
		return this.treeContext(tr);
	const link = a || (tr && tr.querySelector("a[data-func]"));
	return link ? { func: +link.dataset.func, h: null, source: null } : null;
};

Page.prototype.frameContext = function (g, h) {
	return h === g.source.root && g === this.flame ? null : {
		func: g.source.key(h) >> 1, h: h, source: g.source, place: g === this.flame
	};
};

Page.prototype.treeContext = function (tr) {
	const row = this.tree.rows[+tr.dataset.row];
	return row && row.h !== undefined ? { func: this.tree.source.key(row.h) >> 1, h: row.h, source: this.tree.source, place: true } : null;
};

// Keys that work when nothing has the focus.
Page.prototype.context = function () {
	const s = this.state, focused = document.activeElement, c = focused && focused !== document.body ? this.contextOf(focused) : null;
	if (c || (focused && focused.closest("canvas")))
		return c;
	if (s.view === "flame" && (this.flame.focus !== null || this.flame.hit !== null))
		return this.frameContext(this.flame, this.flame.focus !== null ? this.flame.focus : this.flame.hit);
	return s.func >= 0 ? { func: s.func, h: null, source: null } : null;
};

// The change that a letter makes: [kind, argument], or null if it makes none.
Page.prototype.changeFor = function (letter, c) {
	const m = this.model, of = CHANGES[letter].of;
	if (of === "")
		return [letter, ""];
	if (!c || c.func >= m.funcs - 1)
		return null;
	if (of === "func")
		return [letter, "" + c.func];
	if (of === "image")
		return c.func < m.named ? [letter, "" + m.d.meta.funcs.image[c.func]] : null;
	if (!c.place || c.h === c.source.root)
		return null;
	const path = this.flame.path(c.h);
	if (!c.source.inverted)
		return [letter, path];
	return letter === "F" && path.length < 4000 ? [CHANGE_INVERTED, path] : null;
};

Page.prototype.change = function (letter, c) {
	const x = this.changeFor(letter, c);
	if (!x)
		return this.toast(CHANGES[letter].of === "path" ? "Choose a frame of the flame graph or the call tree first" : "Choose a function first");
	this.setChanges(this.state.changes.concat([x]));
	this.undone = [];
};

// Sets another list of changes. The zoom stays at its frame.
Page.prototype.setChanges = function (list) {
	const s = this.state, from = s.changes, grew = list.length === from.length + 1, f = this.flame;
	const zoom = typeof f.zoom === "number" ? f.zoom : 0, focus = typeof f.focus === "number" ? f.focus : 0;
	s.changes = list;
	this.select();
	const to = grew && !s.inverted ? this.model.changes.done[list.length].to : null;
	const at = function (h) { return to && to[h] > 0 ? to[h] : 0; };
	const path = s.zoom && at(zoom) ? treePath(this.model.d, at(zoom)) : "";
	s.zoom = path;
	f.reveal = true;
	this.matched();
	this.drawView();
	if (focus && at(focus) && s.view === "flame") {
		f.focus = at(focus);
		f.draw();
	}
	byId("say").textContent = byId("filters").textContent;
	this.write(true);
};

Page.prototype.undo = function () {
	const list = this.state.changes;
	if (!list.length)
		return this.toast("Nothing to undo");
	const gone = list[list.length - 1];
	this.setChanges(list.slice(0, -1));
	this.undone.push(gone);
};
Page.prototype.redo = function () {
	if (this.undone.length)
		this.setChanges(this.state.changes.concat([this.undone.pop()]));
};

Page.prototype.changeText = function (i) {
	const x = this.state.changes[i], m = this.model, kind = changeKind(x[0]);
	if (kind.of === "func")
		return kind.name + " " + m.short[+x[1]];
	if (kind.of === "image")
		return kind.name + " " + (m.imageName[+x[1]] || "[anon]");
	if (kind.of === "")
		return kind.name;
	const t = m.changes.done[i].tree, node = x[1][0] === "@" ? nodeAt(t, x[1]) : -1;
	const func = node >= 0 ? t.func[node] : x[1].slice(x[1].lastIndexOf(".") + 1) >> 1;
	return kind.name + " " + (m.short[func] || "?") + (x[0] === CHANGE_INVERTED ? " (inverted)" : "");
};

// The changes in order, each with a button that reverts it.
Page.prototype.drawChanges = function () {
	const page = this, s = this.state, box = byId("steps"), m = this.model, parts = [];
	box.hidden = !s.changes.length;
	const button = function (text, label, act) {
		const b = el("button", "", text);
		b.type = "button";
		b.title = label;
		b.addEventListener("click", act);
		const li = el("li");
		li.append(b);
		parts.push(li);
		return b;
	};
	if (s.changes.length)
		button("All stacks", "Undo all changes", function () { page.setChanges([]); });
	s.changes.forEach(function (x, i) {
		const text = page.changeText(i), none = m.changed[i];
		const b = button(text.slice(0, 80) + (none ? " (not found)" : "") + " ✕", "Undo: " + text, function () {
			page.setChanges(s.changes.filter(function (y, k) { return k !== i; }));
			const next = box.querySelectorAll("button");
			if (next.length)
				next[Math.min(i, next.length - 1)].focus();
		});
		if (none)
			b.className = "warn";
	});
	if (s.changes.length) {
		const all = m.all(), left = m.count[0];
		parts.push(el("li", "dim", grouped(left) + " of " + grouped(all) + " samples" + (left < all ? ", " + percent(left, all) + "; shares are relative to these" : "") +
			(m.d.meta.small.nodes ? ". The contents of [small branches] are not distinguished" : "")));
	}
	box.replaceChildren.apply(box, parts);
};

// ---- the menu

Page.prototype.openMenu = function (c, x, y) {
	const page = this, menu = byId("menu"), m = this.model, items = [];
	if (!c || c.func >= m.funcs - 1)
		return;
	const item = function (text, key, act, off) {
		const b = el("button", "", text);
		b.type = "button";
		b.setAttribute("role", "menuitem");
		b.tabIndex = -1;
		b.disabled = !!off;
		if (key)
			b.append(el("kbd", "", key));
		b.addEventListener("click", function () {
			page.closeMenu();
			act();
		});
		items.push(b);
	};
	const line = function () {
		const hr = el("hr");
		hr.setAttribute("role", "separator");
		items.push(hr);
	};
	const name = m.d.meta.funcs.name[c.func];
	items.push(el("p", "name", m.short[c.func].slice(0, 120)));
	["f", "F", "", "m", "M", "L", "", "c", "C", "r", "R", "a", "", "d"].forEach(function (k) {
		if (!k)
			return line();
		const off = !page.changeFor(k, c);
		if (!off || CHANGES[k].of !== "path")
			item(CHANGES[k].menu, k, function () { page.change(k, c); }, off);
	});
	line();
	item("Callers and callees", "", function () { page.choose(c.func, "calls"); page.setView("calls"); });
	item("Source and assembly", "", function () { page.choose(c.func); page.setView("lines"); });
	item("Search this function", "", function () { page.searchFor(m.short[c.func]); });
	line();
	item("Copy name", "y", function () { page.copy(name); });
	if (c.source)
		item("Copy stack", "Y", function () { page.copy(page.stackText(c)); });
	menu.replaceChildren.apply(menu, items);
	menu.hidden = false;
	menu.style.left = Math.max(4, Math.min(x, innerWidth - menu.offsetWidth - 4)) + "px";
	menu.style.top = Math.max(4, Math.min(y, innerHeight - menu.offsetHeight - 4)) + "px";
	this.tipText(null);
	this.menuFrom = document.activeElement;
	menu.querySelector("button:enabled").focus();
};

Page.prototype.closeMenu = function () {
	const menu = byId("menu");
	if (menu.hidden)
		return false;
	menu.hidden = true;
	if (this.menuFrom && this.menuFrom.isConnected)
		this.menuFrom.focus({ preventScroll: true });
	return true;
};

Page.prototype.menuKey = function (e) {
	const list = Array.from(byId("menu").querySelectorAll("button:enabled")), i = list.indexOf(document.activeElement);
	const step = { ArrowDown: i + 1, ArrowUp: i < 0 ? -1 : i - 1, Home: 0, End: -1 }[e.key];
	if (step !== undefined)
		list[(step + list.length) % list.length].focus();
	else if (e.key === "Escape" || e.key === "Tab")
		this.closeMenu();
	else if (e.key.length === 1 && e.key !== " ") {
		const b = list.find(function (x) { return x.querySelector("kbd") && x.querySelector("kbd").textContent === e.key; });
		if (b)
			b.click();
	} else
		return;
	e.preventDefault();
};

// Position of a menu that was opened by a key.
Page.prototype.menuByKey = function () {
	const c = this.context(), at = document.activeElement, g = at && at.closest("canvas") && c && c.h !== null
		? [this.flame, this.calls.up, this.calls.down].find(function (g) { return g.canvas === at; }) : null;
	const box = (at && at !== document.body ? at : byId("main")).getBoundingClientRect();
	const r = g && g.byHandle.get(c.h);
	if (!c)
		return this.toast("Choose a frame or a function first");
	if (r)
		this.openMenu(c, box.left + r.x + 20, box.top + g.y(r.row) + ROW);
	else
		this.openMenu(c, box.left + 20, Math.min(box.bottom, innerHeight / 2));
};

// ---- copies

// Names, one per line, innermost first, as debuggers print a stack.
Page.prototype.stackText = function (c) {
	const s = c.source, m = this.model, out = [];
	for (let h = c.h; h !== null && !(h === s.root && s.key(h) >> 1 === m.funcs - 1); h = s.parent(h)) {
		const func = s.key(h) >> 1, image = m.image(func);
		out.push(m.d.meta.funcs.name[func] + (image ? " (" + image + ")" : ""));
	}
	return (s.inverted ? out.reverse() : out).join("\n") + "\n";
};

Page.prototype.copy = function (text) {
	const page = this, done = function () {
		const lines = text.split("\n").length - 1;
		page.copied = text;
		page.toast(lines > 1 ? grouped(lines) + " frames copied" : "Copied: " + text.trim().slice(0, 80));
	};
	const copyBySelection = function () {
		const t = el("textarea", "unseen"), from = document.activeElement;
		t.value = text;
		document.body.append(t);
		t.select();
		const good = document.execCommand("copy");
		t.remove();
		if (from)
			from.focus({ preventScroll: true });
		if (good)
			done();
		else
			page.toast("The browser does not allow copying");
	};
	if (navigator.clipboard)
		navigator.clipboard.writeText(text).then(done, copyBySelection);
	else
		copyBySelection();
};

Page.prototype.toast = function (text) {
	const t = byId("toast");
	t.textContent = text;
	t.hidden = false;
	clearTimeout(this.toasting);
	this.toasting = setTimeout(function () { t.hidden = true; }, 2500);
};

// ---- keys

const HELP = [
	["Everywhere", [["1 – 5", "the views"], ["6", "waits, if they were recorded"], ["/", "search"], ["Enter, Shift Enter", "in the search: next match, previous match"],
		["n, N", "the same, outside the search"], ["Esc", "leave the menu, the search or the zoom"], ["l", "the labels, if there are any"], ["?", "these keys"]]],
	["A frame or function", Object.keys(CHANGES).map(function (k) { return [k, CHANGES[k].menu.toLowerCase()]; }).concat([
		["y, Y", "copy its name, its stack"], ["Right click, Shift F10", "these actions as a menu"],
		["Ctrl Z, Ctrl Shift Z", "undo, redo the last change"]])],
	["Flame graph and call tree", [["Arrow keys", "to the caller, callees and neighbours"], ["Enter", "zoom, choose"],
		["Backspace", "zoom out by one frame"], ["*", "open the hottest path (call tree)"]]],
	["Timeline", [["Drag, click", "select a time slice, a thread"], ["Arrow keys", "move the slice, with Shift make it longer"], ["Esc", "all time and threads"]]]
];

Page.prototype.help = function () {
	const box = byId("help"), close = el("button", "", "Close");
	close.type = "button";
	close.addEventListener("click", function () { box.close(); });
	box.replaceChildren(el("h2", "", "Keys"));
	HELP.forEach(function (part) {
		const dl = el("dl");
		part[1].forEach(function (x) { dl.append(el("dt", "", x[0]), el("dd", "", x[1])); });
		const div = el("section");
		div.append(el("h3", "", part[0]), dl);
		box.append(div);
	});
	box.append(el("p", "", "Changes to the stacks apply to all views and the timeline, in order. The address contains them, so a copied link shows the same."),
		close);
	box.showModal();
};

// Escape closes what is open, then ends the search, then the zoom.
Page.prototype.leave = function () {
	if (this.closeMenu())
		return;
	if (this.state.q)
		return this.searchFor("");
	if (this.state.zoom && this.state.view === "flame")
		byId("reset").click();
};

Page.prototype.key = function (e) {
	const page = this;
	if (!byId("menu").hidden)
		return this.menuKey(e);
	if (byId("help").open)
		return;
	if ((e.ctrlKey || e.metaKey) && !e.altKey && (e.key === "z" || e.key === "Z" || e.key === "y")) {
		if (e.target.matches("input"))
			return;
		if (e.key === "z" && !e.shiftKey)
			this.undo();
		else
			this.redo();
		return e.preventDefault();
	}
	if (e.ctrlKey || e.metaKey || e.altKey || e.target.matches("input[type=search], select"))
		return;
	const act = {
		"/": function () { byId("search").focus(); byId("search").select(); },
		"?": function () { page.help(); },
		l: function () { page.labels.open(); },
		n: function () { page.hit(1); }, N: function () { page.hit(-1); },
		Escape: function () { page.leave(); },
		ContextMenu: function () { page.menuByKey(); },
		F10: e.shiftKey ? function () { page.menuByKey(); } : null,
		y: function () { const c = page.context(); if (c) page.copy(page.model.d.meta.funcs.name[c.func]); },
		Y: function () { const c = page.context(); if (c && c.source) page.copy(page.stackText(c)); }
	}[e.key];
	if (act)
		act();
	else if (e.key >= "1" && e.key <= "6" && e.key.length === 1 && (e.key < "6" || this.model.d.meta.kinds))
		this.setView(VIEWS[e.key - 1]);
	else if (CHANGES[e.key] && !e.repeat)
		this.change(e.key, this.context());
	else
		return;
	e.preventDefault();
};

Page.prototype.menus = function () {
	const page = this;
	this.undone = [];
	document.addEventListener("contextmenu", function (e) {
		if (e.target.closest("#menu"))
			return e.preventDefault();
		if (!byId("menu").hidden && e.button !== 2)	/* the key that opened it */
			return e.preventDefault();
		const canvas = e.target.closest("canvas");
		const g = canvas && [page.flame, page.calls.up, page.calls.down].find(function (g) { return g.canvas === canvas; });
		const r = g ? g.at(e) : null, c = r ? page.frameContext(g, r.h) : g ? null : page.contextOf(e.target);
		if (!c || e.shiftKey)
			return;
		e.preventDefault();
		if (g) {
			g.focus = r.h;
			g.canvas.focus({ preventScroll: true });
			g.draw();
		}
		page.openMenu(c, e.clientX, e.clientY);
	});
	document.addEventListener("pointerdown", function (e) {
		if (!e.target.closest("#menu"))
			page.closeMenu();
	}, true);
	document.addEventListener("keydown", function (e) {
		if (!e.defaultPrevented)
			page.key(e);
	});
	byId("keys").addEventListener("click", function () { page.help(); });
	byId("hit-next").addEventListener("click", function () { page.hit(1); });
	byId("hit-prev").addEventListener("click", function () { page.hit(-1); });
};

// Returns the keys from the root to a node; @node if that would be long.
function treePath(d, node) {
	const keys = [];
	for (let i = node; i; i = d.parent[i]) {
		keys.push(d.func[i] * 2 + d.inlined[i]);
		if (keys.length > PATH_KEYS)
			return "@" + node;
	}
	return keys.reverse().join(".");
}
