// SPDX-License-Identifier: GPL-2.0-or-later
// Labels of threads: the selection by their values, the tree and the timeline grouped by
// them, and the lists of values. Values are numbered by label; 0: threads without it.

const VALUES_AT_FIRST = 12, VALUES_MORE = 60, VALUE_CHIPS = 4, GROUP_LABEL = 2;

// A frame for each value, below the root.
function addLabels(meta) {
	(meta.labels || []).forEach(function (l) {
		const names = meta.funcs.name;
		l.func = names.length - 1;
		l.text = l.values.map(function (v, i) { return isOther(l, i) ? grouped(l.others) + " others" : i ? v : "none"; });
		l.full = l.text.map(function (v, i) { return i ? l.name + ": " + v : "without " + l.name; });
		names.splice.apply(names, [l.func, 0].concat(l.full.map(function (text) { return "[" + text + "]"; })));
	});
}

// Whether a value stands for several, or for none.
function isOther(l, i) {
	return Boolean(l.others) && i === l.values.length - 1;
}

// The cohorts of the selected rows and values as flags; null: all of them. ignored: the
// label whose choice does not count; GROUP_ROWS: the choice of rows does not.
const GROUP_ROWS = -2;
function pickCohorts(d, s, ignored) {
	const lanes = ignored === GROUP_ROWS ? null : s.lanes, by = [];
	(s.labels || []).forEach(function (flags, k) {
		if (flags && k !== ignored)
			by.push([d.labels[k], flags]);
	});
	if (!lanes && !by.length)
		return null;
	return Uint8Array.from(d.lane, function (lane, i) {
		return (!lanes || lanes[lane]) && by.every(function (x) { return x[1][x[0][i]]; }) ? 1 : 0;
	});
}

// The stored tree with a frame for each value of a label below the root.
function labelTree(d, tree, label) {
	const l = d.meta.labels[label], value = d.labels[label], cohort = d.entry.cohort;
	return groupTree(d, tree, l.values.map(function (v, i) { return l.func + i; }),
		function (i) { return value[cohort[i]]; });
}

// Writes the choice as "0.3.5_2.1": label 0 has the values 3 and 5, label 2 has 1. Reads it
// back.
function writeLabels(labels) {
	return (labels || []).map(function (flags, k) { return flags ? [k].concat(marked(flags)).join(".") : ""; }).filter(Boolean).join("_");
}
function readLabels(text, list) {
	const out = (list || []).map(function () { return null; });
	(text || "").slice(0, 60000).split("_").slice(0, 100).forEach(function (part) {
		const k = whole(part.split(".")[0], 0, out.length - 1, -1);
		if (k >= 0)
			out[k] = marks(part.slice(part.indexOf(".") + 1 || part.length), list[k].values.length);
	});
	return out.some(Boolean) ? out : null;
}

// The timeline's rows: one for each thread, or for each value of the label by which the
// tree is grouped.
function timelineRows(d, group) {
	const meta = d.meta, label = group - GROUP_LABEL;
	if (label < 0)
		return { n: meta.lanes.length, of: d.lane, label: -1, ignored: GROUP_ROWS };
	const l = meta.labels[label], values = [], row = new Int32Array(l.values.length).fill(-1), used = new Uint8Array(row.length);
	d.labels[label].forEach(function (v) { used[v] = 1; });
	l.values.forEach(function (v, i) {
		if (i && used[i])
			values.push(i);
	});
	if (used[0])
		values.push(0);
	values.forEach(function (v, i) { row[v] = i; });
	return { n: values.length, of: Int32Array.from(d.labels[label], function (v) { return row[v]; }), label: label, values: values, ignored: label };
}

// ---- the page's part

Page.prototype.toggleLabel = function (k, value) {
	const s = this.state, list = this.model.d.meta.labels;
	const to = list.map(function (l, i) { return s.labels ? s.labels[i] : null; });
	to[k] = value < 0 ? null : toggled(to[k], list[k].values.length, value);
	s.labels = to.some(Boolean) ? to : null;
	this.refilter();
};

// The chosen values, for the line of filters: [text, action].
Page.prototype.labelFilters = function () {
	const page = this, out = [];
	(this.state.labels || []).forEach(function (flags, k) {
		const l = page.model.d.meta.labels[k], list = marked(flags);
		if (list.length > VALUE_CHIPS)
			return out.push([l.name.slice(0, 60) + ": " + grouped(list.length) + " values", function () { page.toggleLabel(k, -1); }]);
		list.forEach(function (v) {
			out.push([l.full[v].slice(0, 60), function () { page.toggleLabel(k, v); }]);
		});
	});
	return out;
};

// ---- the lists

function LabelLists(model, ui) {
	const t = this, box = byId("labels");
	this.model = model;
	this.ui = ui;
	this.list = model.d.meta.labels || [];
	this.parts = [];
	box.hidden = !this.list.length;
	byId("labels-of").textContent = this.list.map(function (l) {
		const n = l.values.length - 1 + (l.others ? l.others - 1 : 0);
		return l.name.slice(0, 60) + (n > 1 ? " (" + grouped(n) + ")" : "");
	}).join(", ") + (model.d.meta.more_labels ? " and others that are not in the page" : "");
	box.addEventListener("toggle", function () { t.draw(); });
	byId("label-lists").addEventListener("click", function (e) {
		const b = e.target.closest("button"), part = b && t.parts[b.dataset.label];
		if (!part)
			return;
		if (b.dataset.value !== undefined)
			return ui.toggleLabel(+b.dataset.label, +b.dataset.value);
		part.shown += VALUES_MORE;
		t.draw();
	});
}

LabelLists.prototype.open = function () {
	const box = byId("labels");
	if (box.hidden)
		return;
	box.open = true;
	this.draw();
	box.querySelector("input, button").focus();
};

// The selected samples by value of a label, whatever is chosen of that label.
LabelLists.prototype.sums = function (k) {
	const m = this.model, d = m.stored, pick = m.now.selection, e = d.entry, out = new Float64Array(this.list[k].values.length);
	const cohorts = pickCohorts(d, this.ui.state, k), value = d.labels[k], a = m.now.col, b = m.base ? m.base.col : -1;
	for (let i = e.first[pick.from]; i < e.first[pick.to + 1]; i++)
		if ((e.event[i] === a || e.event[i] === b) && (!cohorts || cohorts[e.cohort[i]]) && (!pick.kinds || pick.kinds[e.kind[i]]))
			out[value[e.cohort[i]]] += m.base ? e.count[i] : e.value[i];
	return out;
};

LabelLists.prototype.part = function (k) {
	const t = this, l = this.list[k], set = el("fieldset"), legend = el("legend", "", l.name);
	const part = { set: set, find: null, values: el("div", "values"), more: el("button", "", "Show more"), count: el("span"), shown: VALUES_AT_FIRST };
	legend.title = l.name;
	set.append(legend);
	if (l.values.length > VALUES_AT_FIRST) {
		part.find = el("input");
		part.find.type = "search";
		part.find.placeholder = "Find a value";
		part.find.setAttribute("aria-label", "Find a value of " + l.name);
		part.find.addEventListener("input", function () { t.draw(); });
		set.append(part.find);
	}
	part.more.type = "button";
	part.more.dataset.label = k;
	const foot = el("p", "more");
	foot.append(part.count, " ", part.more);
	set.append(part.values, foot);
	return part;
};

LabelLists.prototype.drawPart = function (k) {
	const l = this.list[k], part = this.parts[k], sums = this.sums(k), all = sums.reduce(function (a, b) { return a + b; }, 0);
	const on = this.ui.state.labels && this.ui.state.labels[k], text = part.find ? part.find.value.toLowerCase() : "";
	const last = function (i) { return !i || isOther(l, i) ? 1 : 0; };
	const list = Object.keys(l.values).map(Number).filter(function (i) {
		return (on && on[i]) || (sums[i] > 0 && (!text || l.text[i].toLowerCase().indexOf(text) >= 0));
	}).sort(function (a, b) { return last(a) - last(b) || sums[b] - sums[a] || a - b; });
	const shown = list.filter(function (i, at) { return at < part.shown || last(i) || (on && on[i]); });
	part.values.replaceChildren.apply(part.values, shown.map(function (i) {
		const b = el("button", "kind value"), name = el("span", last(i) ? "name dim" : "name", l.text[i]);
		b.type = "button";
		b.title = l.full[i];
		b.dataset.label = k;
		b.dataset.value = i;
		b.setAttribute("aria-pressed", Boolean(on && on[i]));
		b.append(name, " ", el("span", "part", percent(sums[i], all)));
		return b;
	}));
	part.count.textContent = part.find ? grouped(shown.length) + " of " + grouped(list.length) + " values" : "";
	part.more.hidden = shown.length === list.length;
	part.more.parentNode.hidden = !part.find;
};

// Commands that print the same selection and compare it with the rest. They are shown if
// the values mean the same there.
LabelLists.prototype.commands = function () {
	const list = this.list, plain = /^[\w.:\/@+%-]+$/, given = [];
	(this.ui.state.labels || []).forEach(function (flags, k) {
		if (flags)
			given.push([list[k].name, marked(flags).map(function (v) { return isOther(list[k], v) ? "*" : list[k].values[v]; })]);
	});
	if (!given.length || !given.every(function (x) {
		return plain.test(x[0]) && (x[1].join() === "" || x[1].every(function (v) { return plain.test(v); }));
	}))
		return "";
	const text = given.map(function (x) { return "--label " + x[0] + "=" + x[1].join(","); }).join(" ");
	return "tally report " + text + (given.length > 1 || this.model.compare ? "" : "; compared with the rest: tally diff --old-label '" +
		given[0][0] + "!=" + given[0][1].join(",") + "' --new-label " + given[0][0] + "=" + given[0][1].join(",")) + " …";
};

LabelLists.prototype.draw = function () {
	const box = byId("label-lists"), at = document.activeElement, t = this;
	if (!byId("labels").open || !this.list.length || !this.model.now.selection)
		return;
	const key = at && box.contains(at) && at.dataset.value !== undefined ? at.dataset : null;
	if (!this.parts.length) {
		this.parts = this.list.map(function (l, k) { return t.part(k); });
		box.replaceChildren.apply(box, this.parts.map(function (p) { return p.set; }));
	}
	this.list.forEach(function (l, k) { t.drawPart(k); });
	/* the button that was pressed is a new one */
	if (key) {
		const b = box.querySelector("button[data-label='" + key.label + "'][data-value='" + key.value + "']");
		if (b)
			b.focus({ preventScroll: true });
	}
	byId("labels-how").textContent = this.commands();
};
