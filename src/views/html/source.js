// SPDX-License-Identifier: GPL-2.0-or-later
// Lines and instructions of one function with what they cost, as `tally annotate
// --both` has them.  They are of the whole recording: threads and time that are
// selected do not change them.

// Marks that hide or turn text are shown instead of obeyed.
function harmless(text) {
	return text.replace(/[\u0000-\u0008\u000a-\u001f\u007f-\u009f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]/g,
		function (c) { return "\\u{" + c.charCodeAt(0).toString(16) + "}"; });
}

function findUnit(model, func) {
	const a = model.d.meta.annotation, f = model.d.meta.funcs;
	if (!a || func >= model.named)
		return null;
	return a.units.find(function (u) {
		const name = harmless(u.name || ""), known = f.name[func];
		return (name === known || (known.endsWith("…") && name.startsWith(known.slice(0, -1)))) &&
			harmless(u.image || "") === model.d.meta.images[f.image[func]];
	}) || null;
}

function costOf(row, event) {
	const c = (row.cost || []).find(function (x) { return x.event === event; }) || {};
	return { self: c.self || null, inlined: c.inlined || null };
}

function costCell(tr, x) {
	const td = cell(tr, "num", x ? x.percent.toFixed(2) + "%" : "");
	if (x)
		td.title = grouped(x.samples) + " samples; 95% interval " + x.low.toFixed(2) + " to " + x.high.toFixed(2) + "%";
}

function codeRow(body, mark, text, row, event) {
	const tr = document.createElement("tr"), c = costOf(row, event);
	const sum = (c.self ? c.self.percent : 0) + (c.inlined ? c.inlined.percent : 0);
	costCell(tr, c.self);
	costCell(tr, c.inlined);
	cell(tr, "no", mark);
	cell(tr, "text", text);
	tr.className = sum >= 0.5 && !row.noise ? "hot" : row.noise ? "noise" : "cold";
	body.append(tr);
}

function codeTable(box, heads) {
	const table = document.createElement("table"), body = document.createElement("tbody");
	const head = document.createElement("thead"), tr = document.createElement("tr");
	table.className = "code";
	heads.forEach(function (h, i) {
		const th = document.createElement("th");
		th.textContent = h;
		th.className = i < 2 ? "num" : "";
		tr.append(th);
	});
	head.append(tr);
	table.append(head, body);
	box.append(table);
	return body;
}

function gapRow(body) {
	const tr = document.createElement("tr"), td = cell(tr, "text", "⋯");
	td.colSpan = 4;
	tr.className = "gap";
	body.append(tr);
}

function note(box, text) {
	const p = document.createElement("p");
	p.textContent = text;
	box.append(p);
}

function showFile(box, file, event) {
	note(box, harmless(file.file || "no file known") + (file.found !== "no" ? "" : " (its text is not here)") + (file.newer ? " (newer than the program: lines may have moved)" : ""));
	const body = codeTable(box, ["Self", "Inlined", "Line", "Source"]);
	let last = 0;
	(file.lines || []).forEach(function (l) {
		if (last && l.line > last + 1)
			gapRow(body);
		codeRow(body, l.line || "?", harmless(l.source || (l.line ? "" : "no line known")), l, event);
		last = l.line;
	});
}

function showCode(box, code, event) {
	note(box, "Instructions of " + harmless(code.symbol || "") + (code.missing ? ": " + harmless(code.missing) : ""));
	if (!code.instructions || !code.instructions.length)
		return;
	const body = codeTable(box, ["Self", "", "Address", "Instruction"]);
	let next = null;
	code.instructions.forEach(function (i) {
		const at = typeof i.vaddr === "string" ? parseInt(i.vaddr, 16) : i.vaddr;
		if (next !== null && at !== next)
			gapRow(body);
		codeRow(body, at.toString(16), harmless(i.text || "") + (i.name ? "  # " + harmless(i.name) : ""), i, event);
		next = at + i.size;
	});
}

function showSource(model, func) {
	const unit = findUnit(model, func), box = document.getElementById("source-text");
	const event = model.d.meta.events[model.event].name;
	box.replaceChildren();
	document.getElementById("source").hidden = !model.d.meta.annotation;
	if (!unit) {
		note(box, "Only the dearest functions have their lines in this page; tally annotate shows those of any.");
		return;
	}
	note(box, "Shares of all samples of the recording. Self: written here; inlined: in functions inlined at this line. Italics: within the noise.");
	(unit.files || []).forEach(function (f) { showFile(box, f, event); });
	(unit.codes || []).slice(0, 4).forEach(function (c) { showCode(box, c, event); });
}
