// SPDX-License-Identifier: GPL-2.0-or-later
// The functions as a table, and the short tables of callers and callees.

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
	document.querySelectorAll("#table [data-sort]").forEach(function (b) {
		b.addEventListener("click", function () { ui.sort(b.dataset.sort); });
	});
}

Table.prototype.order = function (sort, backwards) {
	const m = this.model, f = m.byFunc, list = [];
	for (let i = 0; i < m.funcs - 1; i++)
		if (f.totalCount[i] > 0 && (i < m.named || (!m.exact && f.selfCount[i] > 0)) && (!m.match || m.match[i]))
			list.push(i);
	const by = {
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

Table.prototype.draw = function () {
	const m = this.model, f = m.byFunc, s = this.ui.state, whole = m.value[0];
	const list = this.order(s.sort, s.backwards), n = Math.min(list.length, this.shown);
	const body = document.getElementById("rows"), rows = [];
	for (let k = 0; k < n; k++) {
		const i = list[k], tr = document.createElement("tr");
		shareCell(tr, f.self[i], whole);
		shareCell(tr, f.total[i], whole);
		cell(tr, "num wide", grouped(f.selfCount[i]));
		const fn = cell(tr, "fn");
		funcLink(fn, m, this.palette, i);
		const small = document.createElement("small");
		small.textContent = m.image(i);
		fn.append(small);
		cell(tr, "im", m.image(i)).title = i < m.named ? m.d.meta.images[m.d.meta.funcs.image[i]] : "";
		tr.className = i === s.func ? "on" : "";
		rows.push(tr);
	}
	body.replaceChildren.apply(body, rows);
	document.getElementById("row-count").textContent =
		grouped(n) + " of " + grouped(list.length) + (list.length === 1 ? " function" : " functions") +
		(m.exact ? "" : "; small branches that were summed are one row");
	document.getElementById("more").hidden = n === list.length;
	document.querySelectorAll("#table th").forEach(function (th) {
		const key = th.firstElementChild.dataset.sort, text = key === "name" || key === "image";
		if (key === s.sort)
			th.setAttribute("aria-sort", text !== s.backwards ? "ascending" : "descending");
		else
			th.removeAttribute("aria-sort");
	});
};
