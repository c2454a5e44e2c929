// SPDX-License-Identifier: GPL-2.0-or-later
// The page: its state, how actions change it, and the part of the address after # that
// encodes it.

const byId = function (id) { return document.getElementById(id); };
const VIEWS = ["table", "flame", "tree", "calls", "lines", "waits"], SHOWS = ["source", "both", "asm"], WIDTHS = ["new", "base", "both"];
const SORTS = ["self", "total", "samples", "name", "image"];

function Page(d) {
	const page = this;
	this.model = new Model(d);
	this.palette = new Palette(this.model);
	this.last = d.meta.time.buckets - 1;
	this.state = this.initial();
	this.head();
	this.applyTheme();
	this.flame = this.graph("flame", "Flame graph");
	this.table = new Table(this.model, this.palette, this);
	this.timeline = new Timeline(this.model, this.palette, this);
	this.calls = new Butterfly(this.model, this.palette, this);
	this.tree = new CallTree(this.model, this.palette, this);
	this.source = new Source(this.model, this.palette, this);
	this.waits = new WaitTables(this.model, this.palette, this);
	this.labels = new LabelLists(this.model, this);
	this.controls();
	this.menus();
	this.made = "";
	window.addEventListener("hashchange", function () {
		if (location.hash.slice(1) !== page.written)
			page.restore();
	});
	window.addEventListener("resize", function () { page.drawView(); page.timeline.draw(); });
	this.restore();
}

Page.prototype.initial = function () {
	const b = this.model.d.meta.begin;
	return {
		view: b.view, q: "", func: b.func !== undefined ? b.func : -1, zoom: "", event: 0,
		from: 0, to: this.last, lanes: null, sort: this.model.compare ? "change" : "self", backwards: false,
		inverted: b.inverted, icicle: b.icicle, theme: "", show: "source", all: false,
		widths: "new", colour: this.colours()[0], changes: [], kinds: null, labels: null, group: 0
	};
};

// What the colours of frames can show.
Page.prototype.colours = function () {
	return this.model.compare ? ["change", "image"] : this.model.d.meta.all >= 0 ? ["state", "image"] : ["image"];
};

Page.prototype.write = function (push) {
	const s = this.state, i = this.initial(), u = new URLSearchParams();
	if (s.view !== i.view)
		u.set("view", s.view);
	if (s.q)
		u.set("q", s.q);
	if (s.func !== i.func)
		u.set("f", s.func);
	if (s.show !== i.show)
		u.set("show", s.show);
	if (s.all)
		u.set("all", 1);
	if (s.widths !== i.widths)
		u.set("w", s.widths);
	if (s.colour !== i.colour)
		u.set("c", s.colour);
	if (s.changes.length)
		u.set("s", writeChanges(s.changes));
	if (s.zoom)
		u.set("z", s.zoom);
	if (s.event)
		u.set("e", s.event);
	if (s.from > 0 || s.to < this.last)
		u.set("t", s.from + "-" + s.to);
	if (s.lanes)
		u.set("th", this.laneList().join("."));
	if (s.kinds)
		u.set("k", marked(s.kinds).join("."));
	if (s.labels)
		u.set("l", writeLabels(s.labels));
	if (s.group)
		u.set("g", s.group);
	if (s.sort !== i.sort || s.backwards)
		u.set("sort", (s.backwards ? "-" : "") + s.sort);
	if (s.inverted !== i.inverted)
		u.set("inv", +s.inverted);
	if (s.icicle !== i.icicle)
		u.set("ice", +s.icicle);
	if (s.theme)
		u.set("theme", s.theme);
	this.written = u.toString();
	const to = "#" + this.written;
	try {
		if (push && location.hash !== to)
			history.pushState(null, "", to);
		else
			history.replaceState(null, "", to);
	} catch (e) {
		location.hash = to;
	}
};

function whole(text, least, most, otherwise) {
	return /^\d{1,9}$/.test(text || "") && +text >= least && +text <= most ? +text : otherwise;
}

// The address may come from anyone: invalid parts are ignored.
Page.prototype.restore = function () {
	const u = new URLSearchParams(location.hash.slice(1)), s = this.state = this.initial();
	const meta = this.model.d.meta, t = /^(\d+)-(\d+)$/.exec(u.get("t") || "");
	if (VIEWS.indexOf(u.get("view")) >= 0 && (meta.kinds || u.get("view") !== "waits"))
		s.view = u.get("view");
	s.q = (u.get("q") || "").slice(0, 1000);
	if (u.has("f"))
		s.func = whole(u.get("f"), 0, this.model.funcs - 2, -1);
	if (SHOWS.indexOf(u.get("show")) >= 0)
		s.show = u.get("show");
	s.all = u.get("all") === "1";
	if (this.model.compare && WIDTHS.indexOf(u.get("w")) >= 0)
		s.widths = u.get("w");
	if (this.colours().indexOf(u.get("c")) >= 0)
		s.colour = u.get("c");
	s.zoom = /^(@\d{1,9}|[\d.]{1,20000})$/.test(u.get("z") || "") ? u.get("z") : "";
	s.changes = readChanges(u.get("s"), this.model.funcs - 1, meta.images.length);
	s.event = whole(u.get("e"), 0, this.model.events.length - 1, 0);
	if (t && +t[1] <= +t[2] && +t[2] <= this.last) {
		s.from = +t[1];
		s.to = +t[2];
	}
	s.lanes = marks(u.get("th"), meta.lanes.length);
	s.kinds = meta.kinds ? marks(u.get("k"), meta.kinds.length) : null;
	s.labels = readLabels(u.get("l"), meta.labels);
	s.group = whole(u.get("g"), 0, GROUP_LABEL - 1 + (meta.labels || []).length, 0);
	if (s.group === 1 && !meta.kinds)
		s.group = 0;
	const sort = (u.get("sort") || s.sort).replace(/^-/, "");
	if (SORTS.concat(this.model.compare ? ["change", "before"] : []).indexOf(sort) >= 0) {
		s.sort = sort;
		s.backwards = (u.get("sort") || "")[0] === "-";
	}
	if (u.has("inv"))
		s.inverted = u.get("inv") === "1";
	if (u.has("ice"))
		s.icicle = u.get("ice") === "1";
	if (u.get("theme") === "dark" || u.get("theme") === "light")
		s.theme = u.get("theme");
	this.written = location.hash.slice(1);
	byId("search").value = s.q;
	byId("inverted").checked = byId("inverted-tree").checked = s.inverted;
	byId("icicle").checked = s.icicle;
	byId("event").value = s.event;
	byId("show").value = s.show;
	byId("all").checked = s.all;
	byId("widths").value = s.widths;
	byId("colour").value = this.palette.by = s.colour;
	byId("group").value = s.group;
	this.applyTheme();
	this.select();
	this.find();
	this.plant();
	this.showView();
};

// Writes the indexes of set elements as "3.5.8" (nothing if none are set), and reads
// them back (null if there are none).
function marked(flags) {
	const out = [];
	(flags || []).forEach(function (on, i) {
		if (on)
			out.push(i);
	});
	return out;
}
function marks(text, n) {
	const flags = new Uint8Array(n);
	(text || "").split(".").forEach(function (i) {
		if (whole(i, 0, n - 1, -1) >= 0)
			flags[+i] = 1;
	});
	return flags.some(function (x) { return x; }) ? flags : null;
}

Page.prototype.laneList = function () {
	return marked(this.state.lanes);
};

// ---- actions

Page.prototype.select = function () {
	const s = this.state;
	this.model.widths = s.widths;
	const made = +s.group + writeChanges(s.changes);
	if (made !== this.made && (this.made || made !== "0")) {
		this.made = made;
		this.model.change(s.changes, s.group);
	}
	if (this.model.events.length)
		this.model.select(s);
	this.stale = { flame: true };
	this.legend();
	this.drawFilters();
	this.labels.draw();
	this.timeline.count(s.event);
	this.timeline.draw();
	this.markTime();
};

// Highlights on the timeline where the searched or selected functions ran. This may
// follow the result with a short delay.
Page.prototype.markTime = function () {
	const page = this, m = this.model;
	clearTimeout(this.marking);
	this.marking = setTimeout(function () {
		const s = page.state;
		let set = m.match;
		if (!set && s.func >= 0) {
			set = new Uint8Array(m.funcs);
			set[s.func] = 1;
		}
		page.timeline.mark(s.event, set);
		page.timeline.draw();
		document.documentElement.dataset.marked = set ? "yes" : "no";
	}, 120);
};

Page.prototype.find = function () {
	const box = byId("search"), m = this.model;
	try {
		m.search(this.state.q);
		box.classList.remove("bad");
	} catch (e) {
		m.match = null;
		box.classList.add("bad");
	}
	this.table.shown = ROWS_AT_FIRST;
	this.table.hit = this.tree.hit = null;
	this.matched();
	this.markTime();
	if (this.stale)
		this.stale.table = true;
};

// Returns the graph's tree and the zoomed place in it.
Page.prototype.plant = function () {
	const s = this.state, b = this.calls.branches;
	this.flame.setSource(s.inverted ? branchSource(b.inverted(), b.callers.bind(b), this.model, true) : treeSource(this.model),
		!s.icicle, s.zoom);
	s.zoom = this.flame.zoomed;
	byId("reset").disabled = !s.zoom;
	this.tree.source = null;
	this.found = null;
	this.foundAt = -1;
	this.showHits();
	this.stale.flame = false;
};

Page.prototype.showView = function () {
	const s = this.state;
	VIEWS.forEach(function (v) {
		byId("view-" + v).hidden = v !== s.view;
		byId("tab-" + v).setAttribute("aria-selected", v === s.view);
		byId("tab-" + v).tabIndex = v === s.view ? 0 : -1;
	});
	this.drawView();
};

Page.prototype.drawView = function () {
	const s = this.state;
	if (s.view === "flame") {
		if (this.stale.flame)
			this.plant();
		this.flame.update();
	} else if (s.view === "tree") {
		if (this.stale.flame)
			this.plant();
		if (!this.tree.source)
			this.tree.setSource(this.flame.source);
		this.tree.draw(false);
	} else if (s.view === "table") {
		this.table.draw();
	} else if (s.view === "waits") {
		this.waits.draw();
	} else {
		if (s.func < 0)
			s.func = this.mostExpensive(s.view);
		if (s.func === undefined)
			s.func = -1;
		else if (s.view === "calls")
			this.calls.draw(s.func);
		else
			this.drawLines();
	}
	document.documentElement.dataset.ready = "yes";
};

// Shown if nothing is selected.
Page.prototype.mostExpensive = function (view) {
	const list = this.table.order(this.model.base ? "change" : "self", false), known = this.source.lines.known;
	const with_lines = view === "lines" ? list.find(function (f) { return known[f]; }) : undefined;
	return with_lines !== undefined ? with_lines : list[0];
};

Page.prototype.drawLines = function () {
	const s = this.state, m = this.model, pick = byId("hottest"), list = m.d.meta.lines.funcs.slice();
	this.source.draw(s.func);
	if (list.indexOf(s.func) < 0)
		list.push(s.func);
	if (pick.options.length !== list.length) {
		pick.replaceChildren.apply(pick, list.map(function (f) {
			const o = document.createElement("option");
			o.value = f;
			o.textContent = m.short[f].slice(0, 100);
			return o;
		}));
	}
	pick.value = s.func;
};

Page.prototype.setView = function (view) {
	this.state.view = view;
	this.found = null;
	this.foundAt = -1;
	this.showView();
	this.showHits();
	this.write(true);
};

Page.prototype.refilter = function () {
	this.select();
	this.matched();
	this.drawView();
	this.write(false);
};

Page.prototype.previewTime = function (from, to) {
	this.state.from = from;
	this.state.to = to;
	this.timeline.draw();
};
Page.prototype.setTime = function (from, to) {
	this.previewTime(from, to);
	this.refilter();
};
Page.prototype.setLanes = function (lanes) {
	this.state.lanes = lanes;
	this.refilter();
};
function toggled(flags, n, i) {
	const to = flags ? flags.slice() : new Uint8Array(n);
	to[i] = to[i] ? 0 : 1;
	return to.some(function (x) { return x; }) ? to : null;
}
Page.prototype.toggleLane = function (i) {
	this.setLanes(toggled(this.state.lanes, this.model.d.meta.lanes.length, i));
};

// Selects waits only. If the event has no samples of waits, one that has them is
// selected.
Page.prototype.toggleKind = function (i) {
	const s = this.state, m = this.model, meta = m.d.meta;
	s.kinds = toggled(s.kinds, meta.kinds.length, i);
	const has = function (at) { return at >= 0 && (m.events[at].all || Boolean(m.events[at].wait) === (i !== meta.run)); };
	const fit = function (name) { return m.events.findIndex(function (e) { return e.name === name; }); };
	if (s.kinds && !m.events[s.event].all) {
		const to = meta.all >= 0 ? fit("all time") : fit(i === meta.queue ? "runnable" : "blocked");
		s.event = has(to) ? to : s.event;
		byId("event").value = s.event;
	}
	this.refilter();
};
Page.prototype.setGroup = function (group) {
	this.state.group = group;
	this.state.zoom = "";
	this.flame.reveal = true;
	this.refilter();
};

Page.prototype.sort = function (key) {
	const s = this.state;
	s.backwards = s.sort === key ? !s.backwards : false;
	s.sort = key;
	this.table.draw();
	this.write(false);
};

Page.prototype.choose = function (func, view) {
	this.state.func = func;
	this.markTime();
	this.drawFilters();
	if (view && this.state.view === "lines")
		view = "lines";
	if (view)
		this.setView(view);
};

// ---- graphs

Page.prototype.graph = function (id, label) {
	const page = this;
	return new Graph(byId(id), {
		model: this.model, palette: this.palette, label: label,
		chosen: function () { return page.state.func; },
		room: function (box) { return page.room(box); },
		tip: function (h, g, x, y) { page.tip(h, g, x, y); },
		say: function (h, g) { byId("say").textContent = page.describe(h, g).join(", "); },
		pick: function (h, g) { page.pick(h, g); }
	});
};

// Maximum height of a graph: the rest of the window, with the first line of the
// legend.
Page.prototype.room = function (box) {
	if (box.id !== "flame")
		return Math.max(200, innerHeight * 0.42);
	const rest = innerHeight - (box.getBoundingClientRect().top + scrollY) - 52;
	return rest > innerHeight * 0.3 ? rest : innerHeight * 0.7;
};

Page.prototype.pick = function (h, g) {
	const func = g.source.key(h) >> 1;
	this.tipText(null);
	if (g !== this.flame) {
		if (func < this.model.funcs - 1 && func !== this.state.func && h !== g.source.root)
			this.choose(func, "calls");
		return;
	}
	if (func < this.model.funcs - 1)
		this.choose(func);
	g.setZoom(h);
	this.state.zoom = g.zoomed;
	byId("reset").disabled = !this.state.zoom;
	this.write(true);
};

Page.prototype.describe = function (h, g) {
	const m = this.model, key = g.source.key(h), func = key >> 1, meta = m.d.meta;
	const value = g.source.value(h), event = m.events[m.event], lines = [meta.funcs.name[func]];
	if (key & 1)
		lines[0] += " (inlined)";
	if (func < m.named) {
		const file = meta.files[meta.funcs.file[func]];
		lines.push(m.image(func) + (file ? ", " + file + (meta.funcs.line[func] ? ":" + meta.funcs.line[func] : "") : ""));
	}
	lines.push(percent(value, m.value[0]) + m.ofAll() + ", " + grouped(g.source.count(h)) + " samples" +
		(m.base ? "" : event.unit === "ns" ? ", " + duration(m.weight(value)) :
			m.weight(value) !== g.source.count(h) ? ", " + grouped(m.weight(value)) + " " + event.actual : ""));
	if (m.base) {
		const x = g.source.sides(h), scale = m.scale;
		[["before: ", m.base, x[1]], ["now: ", m.now, x[0]]].forEach(function (y) {
			lines.push(y[0] + m.aRun(y[1], y[2].value) + m.perRun() + ", " + percent(y[2].value, y[1].value[0]) + " of all " +
				y[0].slice(0, -2) + ", " + grouped(y[2].count) + " samples");
		});
		lines.push("change: " + signed(x[0].value - scale * x[1].value, m.base.value[0] * scale) + " of all before" +
			(m.difference(x[0], x[1]) ? "" : " (not significant)"));
	}
	if (g.zoom !== g.source.root)
		lines.push(percent(value, g.source.value(g.zoom)) + " of the zoomed frame");
	const r = g.byHandle.get(h);
	if (r && r.hidden)
		lines.push((g.source.inverted ? "Some" : grouped(r.hidden)) + " matches of the search " +
			(r.hidden === 1 && !g.source.inverted ? "is" : "are") + " in frames too narrow to draw; zoom in, or press Enter in the search");
	if (r && r.folded)
		lines.push(grouped(r.folded) + " frames are folded here");
	return lines;
};

Page.prototype.tip = function (h, g, x, y) {
	this.tipText(h === null ? null : this.describe(h, g), x, y);
};

Page.prototype.tipText = function (lines, x, y) {
	const tip = byId("tip");
	tip.hidden = !lines;
	if (!lines)
		return;
	tip.replaceChildren.apply(tip, lines.map(function (text, i) {
		const div = document.createElement("div");
		div.className = i ? "dim" : "name";
		div.textContent = text;
		return div;
	}));
	const w = tip.offsetWidth, h = tip.offsetHeight;
	tip.style.left = Math.max(4, Math.min(x + 14, innerWidth - w - 8)) + "px";
	tip.style.top = (y + 18 + h > innerHeight ? Math.max(4, y - h - 12) : y + 18) + "px";
};

// ---- the areas around the graph

Page.prototype.head = function () {
	const meta = this.model.d.meta, chips = byId("chips"), got = meta.header.samples;
	const chip = function (text, warn) {
		const li = document.createElement("li");
		li.textContent = text;
		if (warn)
			li.className = "warn";
		chips.append(li);
	};
	if (this.model.compare) {
		const c = this.model.compare;
		byId("headline").hidden = !c.headline;
		byId("headline").textContent = c.headline || "";
		chip("compared " + c.how);
	}
	meta.events.forEach(function (e) {
		if (!e.all)
			chip((e.side ? "before: " : this.compare ? "now: " : "") + e.actual + (e.actual !== e.name ? " (requested " + e.name + ")" : "") + ": " +
			(e.wait ? duration(e.weight) + " in " + grouped(e.samples) + " waits" : grouped(e.samples) + " samples"));
	}, this.model);
	const whose = this.model.compare ? "now: " : "";
	chip(whose + duration(meta.header.duration_ns));
	chip(whose + grouped(got.lost) + " lost", got.lost > 0);
	[["broken_stacks", "stacks broken"], ["cut_stacks", "stacks truncated"], ["unresolved", "unresolved"]]
		.forEach(function (x) {
			if (got[x[0]])
				chip(whose + percent(got[x[0]], got.selected) + " " + x[1], got[x[0]] > 0.05 * got.selected);
		});
	if (!meta.header.complete)
		chip("recording incomplete", true);
	if (got.selected < got.got)
		chip("selected: " + percent(got.selected, got.got) + " of all samples");
	byId("quality").open = !got.got;	/* it says why there are none */
	const box = byId("quality-text");
	(this.model.compare ? this.model.compare.notes : []).concat(meta.quality, meta.missing, meta.sources).forEach(function (line) {
		const div = document.createElement("div");
		div.textContent = line.trim();
		if (line[0] === " ")
			div.className = "deep";
		box.append(div);
	});
	const foot = [];
	if (meta.small.nodes)
		foot.push("Branches below " + (100 * meta.small.share).toPrecision(2) + "% of all samples are summed as [small branches]: " +
			percent(meta.small.samples, got.selected) + " of samples, " + grouped(meta.small.nodes) +
			" frames. The table of functions is exact while no thread, label or time is selected.");
	if (meta.small.folded)
		foot.push("Stacks are deeper than " + grouped(meta.small.depth) + " frames: below that recursion is folded. " +
			"The table of functions is exact while no thread, label, time or change to the stacks is selected.");
	foot.push("Written by tally; the page loads nothing from the network. Press ? for the keys; right-click a frame or function for a menu.");
	byId("foot").textContent = foot.join(" ");
};

Page.prototype.drawFilters = function () {
	const page = this, s = this.state, box = byId("filters"), t = this.model.d.meta.time, parts = [];
	const button = function (text, act) {
		const b = document.createElement("button");
		b.type = "button";
		b.textContent = text + " ✕";
		b.addEventListener("click", act);
		parts.push(b);
	};
	if (s.from > 0 || s.to < this.last)
		button("Time " + duration(t.start_ns + s.from * t.width_ns) + " – " +
			duration(t.start_ns + (s.to + 1) * t.width_ns), function () { page.setTime(0, page.last); });
	this.laneList().forEach(function (i) {
		button(page.timeline.thread(i), function () { page.toggleLane(i); });
	});
	this.labelFilters().forEach(function (x) { button(x[0], x[1]); });
	marked(s.kinds).forEach(function (i) {
		button((i >= page.model.d.meta.run ? "" : "Waits: ") + page.model.d.meta.kinds[i], function () { page.toggleKind(i); });
	});
	if (parts.length && this.model.count)
		parts.push(grouped(this.model.count[0]) + " samples selected");
	this.drawChanges();
	if (s.func >= 0 && s.func < this.model.funcs)
		button("Function " + this.model.short[s.func].slice(0, 60), function () {
			page.choose(-1);
			page.drawView();
			page.write(false);
		});
	box.replaceChildren.apply(box, parts);
};

Page.prototype.legend = function () {
	const page = this, p = this.palette, m = this.model, items = [];
	const states = this.byState();
	(p.by === "change" || states ? [] : p.order.slice(0, 12)).forEach(function (i) {
		const li = document.createElement("li"), b = document.createElement("button");
		const sw = document.createElement("span");
		sw.className = "sw";
		sw.style.background = p.image(i);
		b.type = "button";
		b.append(sw, m.imageName[i] || "[anon]");
		b.addEventListener("click", function () {
			page.searchFor(page.state.q === m.imageName[i] ? "" : m.imageName[i]);
		});
		li.append(b);
		items.push(li);
	});
	const how = document.createElement("li");
	how.className = "how";
	how.textContent = states ? "Colour: red is running, blue is waiting, grey is both. Italic: inlined. Timeline: red is running, orange is runnable, blue is blocked." : p.by === "change" ? "Colour: red costs more than before, blue less, grey unchanged or not significant. Italic: inlined."
		: "Colour: image. Italic and paler: inlined.";
	items.push(how);
	byId("legend").replaceChildren.apply(byId("legend"), items);
};

// Returns whether colours show how much of a frame is waiting.
Page.prototype.byState = function () {
	const e = this.model.events[this.state.event];
	return this.palette.by === "state" && Boolean(e) && Boolean(e.all) && !this.state.inverted;
};

Page.prototype.applyTheme = function () {
	const s = this.state, dark = s.theme ? s.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
	document.documentElement.dataset.theme = dark ? "dark" : "light";
	this.palette.setTheme(dark);
	this.legend();
};

Page.prototype.searched = function () {
	this.state.q = byId("search").value;
	this.find();
	this.drawView();
	this.write(false);
};

Page.prototype.controls = function () {
	const page = this, events = byId("event");
	this.model.events.forEach(function (e, i) {
		const o = document.createElement("option");
		o.value = i;
		o.textContent = e.actual;
		events.append(o);
	});
	byId("event-box").hidden = this.model.events.length < 2;
	document.querySelectorAll("label.compared").forEach(function (x) { x.hidden = !page.model.compare; });
	byId("colour-box").hidden = this.colours().length < 2;
	byId("colour").replaceChildren.apply(byId("colour"), this.colours().map(function (text) {
		const o = el("option", "", text === "state" ? "running or waiting" : text);
		o.value = text;
		return o;
	}));
	const groups = (this.model.d.meta.labels || []).map(function (l, k) { return [l.name.slice(0, 60), GROUP_LABEL + k]; });
	if (this.model.d.meta.kinds)
		groups.unshift(["state", 1]);
	byId("group-box").hidden = !groups.length;
	groups.forEach(function (x) {
		const o = el("option", "", x[0]);
		o.value = x[1];
		byId("group").append(o);
	});
	byId("group").addEventListener("change", function () { page.setGroup(+byId("group").value); });
	events.addEventListener("change", function () {
		page.state.event = +events.value;
		if (page.state.kinds && !page.model.events[page.state.event].all)
			page.state.kinds = null;
		page.refilter();
	});
	byId("search").addEventListener("input", function () { page.searched(); });
	["inverted", "icicle", "inverted-tree"].forEach(function (id) {
		byId(id).addEventListener("change", function () {
			page.state[id === "icicle" ? id : "inverted"] = byId(id).checked;
			page.legend();
			byId("inverted").checked = byId("inverted-tree").checked = page.state.inverted;
			if (id !== "icicle")
				page.state.zoom = "";
			page.plant();
			page.drawView();
			page.write(false);
		});
	});
	["show", "widths", "colour", "all", "hottest"].forEach(function (id) {
		byId(id).addEventListener("change", function () { page.choice(id, byId(id)); });
	});
	byId("reset").addEventListener("click", function () {
		page.state.zoom = "";
		page.plant();
		page.drawView();
		page.write(true);
	});
	byId("theme").addEventListener("click", function () {
		page.state.theme = document.documentElement.dataset.theme === "dark" ? "light" : "dark";
		page.applyTheme();
		page.drawView();
		page.timeline.draw();
		page.write(false);
	});
	matchMedia("(prefers-color-scheme: dark)").addEventListener("change", function () {
		page.applyTheme();
		page.drawView();
		page.timeline.draw();
	});
	document.addEventListener("click", function (e) {
		const a = e.target.closest ? e.target.closest("a[data-func]") : null;
		if (a) {
			e.preventDefault();
			page.choose(+a.dataset.func, "calls");
			scrollTo(0, 0);
		}
	});
	byId("tabs").addEventListener("click", function (e) {
		if (e.target.dataset.view)
			page.setView(e.target.dataset.view);
	});
	this.keys();
};

Page.prototype.choice = function (id, control) {
	const s = this.state;
	if (id === "hottest")
		return this.choose(+control.value, "lines");
	s[id] = id === "all" ? control.checked : control.value;
	if (id === "widths") {
		this.model.setWidths(s.widths);
		s.zoom = "";
		this.plant();
	} else if (id === "colour") {
		this.palette.by = s.colour;
		this.legend();
	}
	this.drawView();
	this.write(false);
};

Page.prototype.keys = function () {
	const page = this;
	byId("tabs").addEventListener("keydown", function (e) {
		const step = { ArrowLeft: -1, ArrowRight: 1 }[e.key];
		if (!step)
			return;
		page.setView(VIEWS[(VIEWS.indexOf(page.state.view) + step + VIEWS.length) % VIEWS.length]);
		byId("tab-" + page.state.view).focus();
		e.preventDefault();
	});
	byId("search").addEventListener("keydown", function (e) {
		if (e.key === "Escape") {
			page.searchFor("");
			byId("search").blur();
		} else if (e.key === "Enter") {
			page.hit(e.shiftKey ? -1 : 1);
		} else {
			return;
		}
		e.preventDefault();
	});
};

Page.prototype.searchFor = function (text) {
	byId("search").value = text;
	this.searched();
};
