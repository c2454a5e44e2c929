// SPDX-License-Identifier: GPL-2.0-or-later
// Lines and instructions of one function with their costs under the selection; in a
// comparison both sides, aligned.

const FOLD = 3, CODES = 4;

function el(tag, kind, text) {
	const e = document.createElement(tag);
	if (kind)
		e.className = kind;
	if (text !== undefined)
		e.textContent = text;
	return e;
}

function note(box, text, kind) {
	box.append(el("p", kind || "", text));
}

function Source(model, palette, ui) {
	this.model = model;
	this.palette = palette;
	this.ui = ui;
	this.lines = new Lines(model);
	this.open = new Set();	/* rows and folds that were opened */
	this.func = -1;
	const view = this;
	document.getElementById("source-text").addEventListener("click", function (e) {
		const b = e.target.closest("[data-open], [data-jump]");
		if (!b)
			return;
		if (b.dataset.jump)
			return view.goTo(b.dataset.jump);
		if (!view.open.delete(b.dataset.open))
			view.open.add(b.dataset.open);
		view.draw(view.func);
		const again = document.querySelector('[data-open="' + CSS.escape(b.dataset.open) + '"]');
		if (again)
			again.focus();
	});
}

// Shows, marks and scrolls to the target of a jump.
Source.prototype.goTo = function (id) {
	this.open.add("all" + id.split("-")[0]);
	this.draw(this.func);
	const row = document.getElementById("i" + id);
	if (row) {
		row.classList.add("target");
		row.scrollIntoView({ block: "center" });
		row.focus();
	}
};

Source.prototype.cost = function (tr, value, count, whole, wholeCount) {
	const td = cell(tr, "num");
	if (!count)
		return td;
	const event = this.model.events[this.model.event], exact = event && event.wait;
	const ci = interval(Math.min(count, wholeCount), wholeCount), bar = el("i"), box = el("span", "share");
	bar.style.width = Math.min(100, 100 * value / whole) + "%";
	box.append(bar, el("b", "", percent(value, whole)));
	td.append(box);
	td.title = exact ? grouped(count) + " waits" : grouped(count) + " samples; 95% interval " + (100 * ci[0]).toFixed(2) + " to " + (100 * ci[1]).toFixed(2) + "%";
	if (!exact && count < wholeCount && ci[0] <= interval(0, wholeCount)[1])
		td.className += " noise";
	return td;
};

Source.prototype.opener = function (id, text, label) {
	const b = el("button", "opener", text);
	b.type = "button";
	b.dataset.open = id;
	b.setAttribute("aria-expanded", this.open.has(id));
	b.title = label;
	return b;
};

Source.prototype.funcLink = function (box, func, text) {
	if (func < 0 || func >= this.model.named)
		return box.append(text);
	const a = el("a", "", text);
	a.href = "#";
	a.dataset.func = func;
	a.title = this.model.d.meta.funcs.name[func];
	box.append(a);
};

Source.prototype.table = function (box, heads, kind) {
	const table = el("table", "code" + (kind ? " " + kind : "")), head = el("thead"), tr = el("tr");
	const scroll = el("div", "scroll-x");
	heads.forEach(function (h) {
		const th = el("th", h[1], h[0]);
		th.scope = "col";
		if (h[2])
			th.append(el("small", "of", h[2]));
		tr.append(th);
	});
	head.append(tr);
	const body = el("tbody");
	table.append(head, body);
	scroll.append(table);
	box.append(scroll);
	return body;
};

// Draws rows 0…n-1. Rows far from any wanted one are folded.
Source.prototype.folded = function (body, n, wanted, id, columns, what, row) {
	const near = new Uint8Array(n), all = this.ui.state.all;
	for (let i = 0; i < n; i++)
		if (wanted(i))
			near.fill(1, Math.max(0, i - FOLD), i + FOLD + 1);
	for (let i = 0; i < n;) {
		let end = i;
		while (end < n && !near[end])
			end++;
		const key = id + "." + i, open = all || this.open.has(key) || this.open.has("all" + id.split(".")[0]);
		if (end - i > 2 && !open) {
			const tr = el("tr", "gap"), td = cell(tr, "text");
			td.colSpan = columns;
			td.append(this.opener(key, "⋯ " + grouped(end - i) + " " + what, "Show"));
			body.append(tr);
		} else {
			for (; i < end; i++)
				row(i);
		}
		for (i = end; i < n && near[i]; i++)
			row(i);
	}
};

Source.prototype.fileHead = function (box, f) {
	note(box, f.name + (f.found && f.found !== "no" ? " (" + f.origin + ")" : !f.found || f.found === "no"
		? " (no source text" + (f.why ? ": " + f.why : "") + "; --source-map FROM=TO, or record with --embed-source)" : "") +
		(f.newer ? " (newer than the program: lines may have moved)" : ""), "file");
};

// Returns the lines of a file to show: those with a cost, and those with text in the
// function's range.
Source.prototype.linesOf = function (file, costs) {
	const text = this.lines.textOf(file), range = this.lines.range(this.func, file), list = [];
	let first = range ? range[0] - FOLD : Infinity, last = range ? range[1] + FOLD : 0;
	costs.forEach(function (c, line) {
		if (line) {
			first = Math.min(first, line - FOLD);
			last = Math.max(last, line + FOLD);
		}
	});
	if (text.size)
		text.forEach(function (t, line) {
			if (line >= first && line <= last)
				list.push(line);
		});
	costs.forEach(function (c, line) {
		if (!text.has(line))
			list.push(line);
	});
	return list.sort(function (a, b) { return a - b; });
};

Source.prototype.showFile = function (box, file, costs, got) {
	const f = file >= 0 ? this.lines.meta.files[file] : { name: "no file known", found: "recording" };
	const m = this.model, list = file >= 0 ? this.linesOf(file, costs) : Array.from(costs.keys());
	const text = file >= 0 ? this.lines.textOf(file) : new Map(), side = m.now, view = this;
	const whole = side.before.value, count = side.before.count, both = this.ui.state.show === "both";
	this.fileHead(box, f);
	const calls = got.all.calledCount > 0, width = calls ? 5 : 4;
	const body = this.table(box, [["Self", "num"], ["Inlined", "num"]].concat(calls ? [["Calls", "num"]] : [],
		[["Line", "no"], ["Source", ""]]));
	this.folded(body, list.length, function (i) { return costs.has(list[i]); }, "f" + file, width, "lines", function (i) {
		const c = costs.get(list[i]), tr = el("tr"), id = "l" + file + "." + list[i];
		view.cost(tr, c ? c.self : 0, c ? c.selfCount : 0, whole, count);
		view.cost(tr, c ? c.inlined : 0, c ? c.inlinedCount : 0, whole, count);
		if (calls)
			view.cost(tr, c ? c.called : 0, c ? c.calledCount : 0, whole, count);
		const own = c && c.count() > 0, no = cell(tr, "no"), open = own && view.open.has(id) !== both;
		if (own)
			no.append(view.opener(id, (open ? "▾ " : "▸ ") + (list[i] || "?"), "Instructions of this line, and functions inlined here"));
		else
			no.textContent = list[i] || "?";
		cell(tr, "text", text.get(list[i]) || (list[i] ? "" : "(code without a line)"));
		tr.className = c && (c.sum() >= 0.005 * whole) ? "hot" : "";
		body.append(tr);
		if (open)
			view.below(body, c, file, list[i], got, width);
	});
};

// Below a line: functions inlined there, and its instructions.
Source.prototype.below = function (body, c, file, line, got, width) {
	const m = this.model, whole = m.now.before.value, view = this;
	if (c.from) {
		const tr = el("tr", "below"), td = cell(tr, "text"), box = el("div", "", "inlined here: ");
		td.colSpan = width;
		Array.from(c.from).sort(function (a, b) { return b[1] - a[1]; }).slice(0, 8).forEach(function (x, i) {
			box.append(i ? ", " : "", percent(x[1], whole) + " ");
			view.funcLink(box, x[0], x[0] >= 0 ? m.short[x[0]] : "?");
		});
		td.append(box);
		body.append(tr);
	}
	Array.from(got.codes.keys()).forEach(function (code) {
		const k = view.lines.meta.codes[code], cost = view.lines.insns(m.now, code), at = view.lines.addresses(code);
		let last = -1;
		for (let i = 0; i < k.insns; i++) {
			const f = view.lines.frameIn(view.lines.x.of[k.first + i], view.func).frame;
			if (f < 0 || view.lines.x.file[f] !== file || view.lines.x.line[f] !== line)
				continue;
			const tr = el("tr", "insn");
			view.cost(tr, cost.value[i], cost.count[i], whole, m.now.before.count);
			cell(tr, "num").colSpan = width - 3;
			cell(tr, "no", (last >= 0 && i !== last + 1 ? "⋮ " : "") + at[i].toString(16));
			view.insnText(cell(tr, "text"), code, i);
			body.append(tr);
			last = i;
		}
	});
};

// An instruction with the name of its address. Jumps are links.
Source.prototype.insnText = function (td, code, i) {
	const k = this.lines.meta.codes[code], parts = k.text[i].split("\t"), jump = this.lines.x.jump[k.first + i];
	const at = this.lines.addresses(code), view = this;
	td.append(safeText(parts[0]));
	if (jump >= 0) {
		const b = el("button", "jump", "<+0x" + (at[jump] - at[0]).toString(16) + ">");
		b.type = "button";
		b.dataset.jump = code + "-" + jump;
		b.title = "Go to the target";
		td.append(" ", b);
	} else if (parts[1]) {
		const name = safeText(parts[1]);
		if (!this.named)
			this.named = new Map(this.model.d.meta.funcs.name.map(function (n, f) { return [n, f]; }));
		td.append(" <");
		view.funcLink(td, this.named.has(name) ? this.named.get(name) : -1, name);
		td.append(">");
	}
};

Source.prototype.place = function (frame) {
	const x = this.lines.x;
	if (frame < 0 || x.file[frame] < 0)
		return "";
	const name = this.lines.meta.files[x.file[frame]].name, at = name.slice(name.lastIndexOf("/") + 1) + ":" + x.line[frame];
	return x.outer[frame] >= 0 && x.func[frame] >= 0 ? at + " " + this.model.short[x.func[frame]].slice(0, 60) : at;
};

// Draws the lanes of jumps beside an instruction; loops are bold.
Source.prototype.drawJumps = function (td, k, i) {
	let tail = -1, arrow = false, loop = false;
	for (let lane = 0; lane < k.lanes; lane++) {
		const d = k.rows[i * LANES + lane], kind = d & KIND;
		if (!kind)
			continue;
		const s = el("s", "j" + lane + " k" + kind + (d & LOOP ? " loop" : ""));
		td.append(s);
		if (kind >= TOP) {
			tail = lane;
			loop = (d & LOOP) > 0;
			arrow = arrow || (d & ARROW) > 0;
		}
	}
	if (tail >= 0)
		td.append(el("s", "tail t" + tail + (loop ? " loop" : "") + (arrow ? " arrow" : "")));
};

Source.prototype.codeHead = function (box, code) {
	const k = this.lines.meta.codes[code];
	note(box, "Instructions of " + k.symbol + ", " + k.vaddr + ", " + grouped(k.size) + " bytes" + (k.missing ? ": " + k.missing : ""), "file");
};

Source.prototype.showCode = function (box, code) {
	const k = this.lines.jumps(code), m = this.model, view = this, x = this.lines.x;
	this.codeHead(box, code);
	if (!k.insns)
		return;
	const cost = this.lines.insns(m.now, code), at = this.lines.addresses(code);
	const body = this.table(box, [["Self", "num"], ["Address", "no"], ["", "jumps w" + k.lanes], ["Instruction", ""], ["Line", ""]], "asm");
	let last = -2;
	const mine = function (i) { return view.lines.frameIn(x.of[k.first + i], view.func).frame >= 0; };
	this.folded(body, k.insns, function (i) { return cost.count[i] > 0 && (mine(i) || x.of[k.first + i] < 0); }, code + ".c", 5, "instructions", function (i) {
		const tr = el("tr"), of = x.of[k.first + i];
		tr.id = "i" + code + "-" + i;
		tr.tabIndex = -1;
		view.cost(tr, cost.value[i], cost.count[i], m.now.before.value, m.now.before.count);
		cell(tr, "no", at[i].toString(16));
		view.drawJumps(cell(tr, "jumps w" + k.lanes), k, i);
		view.insnText(cell(tr, "text"), code, i);
		cell(tr, "at", of !== last ? view.place(of) : "");
		last = of;
		tr.className = cost.value[i] >= 0.005 * m.now.before.value ? "hot" : mine(i) || of < 0 ? "" : "other";
		body.append(tr);
	});
};

Source.prototype.listCopies = function (box, got) {
	const m = this.model, list = Array.from(got.copies).sort(function (a, b) { return b[1].sum() - a[1].sum(); });
	if (!list.length || (list.length === 1 && list[0][0] < 0))
		return;
	const p = el("p", "", "Copies: "), view = this;
	list.slice(0, 12).forEach(function (x, i) {
		p.append(i ? ", " : "", percent(x[1].sum(), m.now.before.value));
		if (x[0] < 0)
			return p.append(" not inlined");
		p.append(" inlined into ");
		view.funcLink(p, x[0], m.short[x[0]]);
	});
	if (list.length > 12)
		p.append(", and " + (list.length - 12) + " more");
	box.append(p);
};

function mostExpensive(map) {
	return Array.from(map).sort(function (a, b) {
		const add = function (x, of) { return x.sum ? of(x) : Array.from(x.values()).reduce(function (s, c) { return s + of(c); }, 0); };
		const more = function (of) { return add(b[1], of) - add(a[1], of); };
		return more(function (c) { return c.sum(); }) || more(function (c) { return c.called; }) || a[0] - b[0];
	});
}

Source.prototype.head = function (box, func) {
	const m = this.model, f = m.d.meta.funcs, h = el("h2", "", m.short[func]);
	box.append(h);
	if (m.short[func] !== f.name[func]) {
		const more = el("details", "whole");
		more.append(el("summary", "", "Full name"), el("p", "", f.name[func]));
		box.append(more);
	}
	note(box, func < m.named ? m.d.meta.images[f.image[func]] + (m.d.meta.files[f.file[func]] ? ", " +
		m.d.meta.files[f.file[func]] + (f.line[func] ? ":" + f.line[func] : "") : "") : "");
	if (m.compare && m.verdicts.has(func))
		note(box, m.verdicts.get(func).words, m.verdicts.get(func).bad ? "verdict bad" : "verdict");
};

Source.prototype.draw = function (func) {
	const box = document.createDocumentFragment(), m = this.model, at = document.getElementById("source-text"), view = this;
	if (func !== this.func)
		this.open.clear();
	this.func = func;
	this.head(box, func);
	if (m.changed.length)
		note(box, "Lines and instructions count all samples of the selected threads and time; changes to the stacks do not apply here.", "note bad");
	if (!this.lines.known[func]) {
		note(box, "This page has no lines of this function, only those of the " + this.lines.meta.funcs.length +
			" most expensive. tally annotate --html NAME writes a page for any function.");
	} else if (m.compare) {
		this.drawBoth(box, func);
	} else {
		const got = this.lines.collect(m.now, func), show = this.ui.state.show, c = got.all;
		const lines = mostExpensive(got.files), codes = mostExpensive(got.codes);
		note(box, percent(c.sum(), m.now.before.value) + " of the selection: " + percent(c.self, m.now.before.value) + " in the function itself, " +
			percent(c.inlined, m.now.before.value) + " in functions inlined into it" +
			(c.calledCount ? "; " + percent(c.called, m.now.before.value) + " more in its callees" : "") +
			". Self: code of the line; inlined: functions inlined at the line" +
			(c.calledCount ? "; calls: functions called from the line" : "") + ". Pale: not significant.");
		if (this.lines.uncalled.has(func))
			note(box, "The costs of calls are omitted, because the page would be too large; tally annotate --html NAME shows them for one function.");
		this.listCopies(box, got);
		const bare = !lines.some(function (x) { return x[0] >= 0; });
		if (show !== "asm" && !bare)
			lines.forEach(function (x) { view.showFile(box, x[0], x[1], got); });
		if (show !== "source" || bare) {
			if (show === "asm" || bare) {
				if (codes.length)
					note(box, m.events[m.event].actual + ": " + m.events[m.event].skid);
				if (!codes.length && lines.length)
					note(box, "No samples are in its own instructions, only in its callees.");
				codes.slice(0, CODES).forEach(function (x) { view.showCode(box, x[0]); });
				if (codes.length > CODES)
					note(box, "It was inlined into " + (codes.length - CODES) + " more functions; choose one to see its code.");
			}
		}
		if (!codes.length && !lines.length)
			note(box, "The selection contains no samples of this function.");
	}
	at.replaceChildren(box);
};
