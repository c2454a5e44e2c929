// SPDX-License-Identifier: GPL-2.0-or-later
// One function with its callers and callees, over all its calls.

function Butterfly(model, palette, ui) {
	this.model = model;
	this.palette = palette;
	this.ui = ui;
	this.branches = new Branches(model);
	this.up = ui.graph("up", "Callers of the chosen function");
	this.down = ui.graph("down", "Callees of the chosen function");
}

Butterfly.prototype.list = function (id, kids, whole, none) {
	const m = this.model, rows = [], sums = new Map(), palette = this.palette;
	kids.forEach(function (b) {
		const func = b.key >> 1;
		sums.set(func, (sums.get(func) || 0) + b.value);
	});
	Array.from(sums).sort(function (a, b) { return b[1] - a[1] || a[0] - b[0]; })
		.slice(0, 100).forEach(function (x) {
			const tr = document.createElement("tr");
			shareCell(tr, x[1], whole);
			funcLink(cell(tr, "fn"), m, palette, x[0]);
			rows.push(tr);
		});
	if (!rows.length) {
		const tr = document.createElement("tr");
		cell(tr, "im", none);
		rows.push(tr);
	}
	const body = document.querySelector("#" + id + " tbody");
	body.replaceChildren.apply(body, rows);
};

Butterfly.prototype.head = function (func, root) {
	const m = this.model, f = m.d.meta.funcs, all = m.value[0], byFunc = m.byFunc, ui = this.ui, box = document.getElementById("chosen");
	const title = document.createElement("h2"), at = document.createElement("p"), cost = document.createElement("p");
	title.textContent = m.short[func];
	title.title = f.name[func];
	at.textContent = func < m.named ? m.d.meta.images[f.image[func]] +
		(m.d.meta.files[f.file[func]] ? ", " + m.d.meta.files[f.file[func]] +
			(f.line[func] ? ":" + f.line[func] : "") : "") : "";
	cost.textContent = "Total " + percent(root.value, all) + m.ofAll() + ", " + grouped(root.count) + " samples; self " +
		percent(byFunc.self[func], all) + m.ofAll() + ", " + grouped(byFunc.selfCount[func]) +
		" samples. Shares below are relative to the function’s total.";
	const more = document.createElement("button");
	more.type = "button";
	more.textContent = "Source and instructions ›";
	more.addEventListener("click", function () { ui.setView("lines"); });
	box.replaceChildren(title, at, cost, more);
};

Butterfly.prototype.draw = function (func) {
	const b = this.branches, up = b.chosen(func), down = b.chosen(func);
	this.head(func, up);
	this.list("callers", b.callers(up), up.value, "none: outermost function");
	this.list("callees", b.callees(down), down.value, "none");
	this.up.setSource(branchSource(up, b.callers.bind(b), this.model, true), true);
	this.down.setSource(branchSource(down, b.callees.bind(b), this.model, false), false);
	this.up.update();
	this.down.update();
};
