// SPDX-License-Identifier: GPL-2.0-or-later
// The table of functions, and the short tables of callers and callees.

const ROWS_AT_FIRST = 100, ROWS_MORE = 400;

function cell(row, kind, text) {
	const td = document.createElement("td");
	td.className = kind;
	if (text !== undefined)
		td.textContent = text;
	row.append(td);
	return td;
}

// A share with a bar behind it.
function shareCell(row, part, whole) {
	const td = cell(row, "num"), box = document.createElement("span");
	const bar = document.createElement("i"), text = document.createElement("b");
	box.className = "share";
	bar.style.width = (whole > 0 ? Math.min(100, 100 * part / whole) : 0) + "%";
	text.textContent = percent(part, whole);
	box.append(bar, text);
	td.append(box);
}

function funcLink(td, model, palette, func) {
	const a = document.createElement("a"), sw = document.createElement("span");
	sw.className = "sw";
	sw.style.background = palette.fill(func * 2);
	a.href = "#";
	a.dataset.func = func;
	a.textContent = model.short[func];
	a.title = model.d.meta.funcs.name[func];
	td.append(sw, a);
}

// The head of a comparing column: its name, and below it the base of its percentages.
function headText(th, text, of) {
	const box = th.querySelector("button") || th;
	box.textContent = text;
	box.classList.add("two");
	if (of)
		box.append(el("small", "of", of));
}

function Table(model, palette, ui) {
	this.model = model;
	this.palette = palette;
	this.ui = ui;
	this.shown = ROWS_AT_FIRST;
	const t = this;
	document.getElementById("more").addEventListener("click", function () {
		t.shown += ROWS_MORE;
		t.draw();
	});
	if (model.compare)
		document.querySelectorAll("#table th").forEach(function (th) {
			const of = {
				change: ["Change", "self, of all before"], before: ["Before", "self, of all before"],
				self: ["Now", "self, of all now"], total: ["Total now", "of all now"],
				run: ["Self" + model.perRun(), "before → now"], samples: ["Samples", "self, now"]
			}[th.firstElementChild.dataset.sort || "run"];
			if (of)
				headText(th, of[0], of[1]);
		});
	document.querySelectorAll("#table button[data-sort]").forEach(function (b) {
		b.addEventListener("click", function () { ui.sort(b.dataset.sort); });
	});
}

// The change of each function's self cost, as a share of the baseline's total.
Table.prototype.changes = function () {
	const m = this.model, now = m.now.byFunc(), was = m.base.byFunc(), out = new Float64Array(m.funcs);
	for (let i = 0; i < out.length; i++)
		out[i] = now.self[i] - m.scale * was.self[i];
	return out;
};

Table.prototype.order = function (sort, backwards) {
	const m = this.model, f = m.now.byFunc(), list = [];
	const was = m.base ? m.base.byFunc() : null, change = m.base ? this.changes() : null;
	const rank = function (i) { return m.base && m.verdicts.has(i) ? m.verdicts.get(i).rank : 1e9; };
	for (let i = 0; i < m.funcs - 1; i++)
		if ((f.totalCount[i] > 0 || (was && was.totalCount[i] > 0)) && (i < m.named || (!m.exact && f.selfCount[i] > 0)) && (!m.match || m.match[i]))
			list.push(i);
	const by = {
		change: function (a, b) {
			return rank(a) - rank(b) || Math.abs(change[b]) - Math.abs(change[a]) || f.self[b] - f.self[a] || a - b;
		},
		before: function (a, b) { return was.self[b] - was.self[a] || f.self[b] - f.self[a] || a - b; },
		self: function (a, b) { return f.self[b] - f.self[a] || f.total[b] - f.total[a] || a - b; },
		total: function (a, b) { return f.total[b] - f.total[a] || f.self[b] - f.self[a] || a - b; },
		samples: function (a, b) { return f.selfCount[b] - f.selfCount[a] || a - b; },
		name: function (a, b) { return m.short[a] < m.short[b] ? -1 : m.short[a] > m.short[b] ? 1 : a - b; },
		image: function (a, b) {
			const x = m.image(a), y = m.image(b);
			return x < y ? -1 : x > y ? 1 : f.self[b] - f.self[a] || a - b;
		}
	}[sort];
	list.sort(by);
	return backwards ? list.reverse() : list;
};

Table.prototype.changeCell = function (tr, i, f, was) {
	const m = this.model, scale = m.scale, td = cell(tr, "num delta");
	const t = changeOf(f.self[i], f.selfCount[i], was.self[i], was.selfCount[i], scale, m.tau), part = f.self[i] - scale * was.self[i];
	const times = was.self[i] > 0 ? f.self[i] / (scale * was.self[i]) : 0;
	td.textContent = signed(part, m.base.value[0] * scale);
	td.className += t > 0 ? " more" : t < 0 ? " less" : " noise";
	td.title = m.aRun(m.base, was.self[i]) + " before, " + m.aRun(m.now, f.self[i]) + " now" + m.perRun() + "; " +
		grouped(was.selfCount[i]) + " samples before, " + grouped(f.selfCount[i]) + " now" +
		(times ? ": " + times.toPrecision(3) + " times" : "") + (t ? "" : "; not significant");
};

// Marks the row of a function and scrolls to it.
Table.prototype.reach = function (func) {
	const s = this.ui.state, at = this.order(s.sort, s.backwards).indexOf(func);
	this.hit = func;
	this.shown = Math.max(this.shown, at + 1);
	this.draw();
	const tr = document.querySelector("#rows tr.hit");
	if (tr)
		tr.scrollIntoView({ block: "nearest" });
};

Table.prototype.draw = function () {
	const m = this.model, f = m.now.byFunc(), s = this.ui.state, whole = m.now.value[0];
	const was = m.base ? m.base.byFunc() : null;
	const list = this.order(s.sort, s.backwards), n = Math.min(list.length, this.shown);
	const body = document.getElementById("rows"), rows = [];
	for (let k = 0; k < n; k++) {
		const i = list[k], tr = document.createElement("tr");
		if (was) {
			this.changeCell(tr, i, f, was);
			cell(tr, "num wide", percent(was.self[i], m.base.value[0]));
		}
		shareCell(tr, f.self[i], whole);
		shareCell(tr, f.total[i], whole);
		if (was)
			cell(tr, "num wide", m.aRun(m.base, was.self[i]) + " → " + m.aRun(m.now, f.self[i]));
		cell(tr, "num wide", grouped(f.selfCount[i]));
		const fn = cell(tr, "fn");
		funcLink(fn, m, this.palette, i);
		const small = document.createElement("small");
		small.textContent = m.image(i);
		fn.append(small);
		if (was && m.verdicts.has(i)) {
			const v = m.verdicts.get(i), words = document.createElement("em");
			words.className = v.bad ? "bad" : "";
			words.textContent = v.words;
			fn.append(words);
		}
		cell(tr, "im", m.image(i)).title = i < m.named ? m.d.meta.images[m.d.meta.funcs.image[i]] : "";
		tr.className = (i === s.func ? "on" : "") + (m.match && i === this.hit ? " hit" : "");
		rows.push(tr);
	}
	body.replaceChildren.apply(body, rows);
	document.getElementById("row-count").textContent =
		grouped(n) + " of " + grouped(list.length) + (list.length === 1 ? " function" : " functions") +
		(m.exact ? "" : "; small branches that were summed are one row");
	document.getElementById("more").hidden = n === list.length;
	document.querySelectorAll("#table th").forEach(function (th) {
		th.hidden = th.classList.contains("compared") && !m.base;
		const key = th.firstElementChild.dataset.sort, text = key === "name" || key === "image";
		if (key === s.sort)
			th.setAttribute("aria-sort", text !== s.backwards ? "ascending" : "descending");
		else
			th.removeAttribute("aria-sort");
	});
};
