// SPDX-License-Identifier: GPL-2.0-or-later
// Samples over time, one row per thread or value of a label. A selection here filters
// everything else. Recordings without times have one slice, whose bars are horizontal.

const LANE = 26;

function Timeline(model, palette, ui) {
	this.model = model;
	this.palette = palette;
	this.ui = ui;
	this.canvas = document.getElementById("time-canvas");
	this.lanes = model.d.meta.lanes;
	this.rows = timelineRows(model.stored, 0);
	this.slices = model.d.meta.time.buckets;
	this.drag = null;
	if (this.slices === 1)
		this.canvas.setAttribute("aria-label", "Samples by thread, or by value of the label by which they are grouped");
	this.listen();
}

Timeline.prototype.label = function (i) {
	const r = this.rows, l = r.label < 0 ? null : this.model.d.meta.labels[r.label];
	return l ? r.values[i] ? l.text[r.values[i]] : l.full[0] : this.thread(i);
};

// Whether a row is selected; undefined: no row is.
Timeline.prototype.chosen = function (i) {
	const s = this.ui.state, r = this.rows, flags = r.label < 0 ? s.lanes : s.labels && s.labels[r.label];
	return flags ? Boolean(flags[r.label < 0 ? i : r.values[i]]) : undefined;
};

Timeline.prototype.toggle = function (i) {
	const r = this.rows;
	if (r.label < 0)
		this.ui.toggleLane(i);
	else
		this.ui.toggleLabel(r.label, r.values[i]);
};

Timeline.prototype.thread = function (i) {
	const l = this.lanes[i], runs = this.model.d.meta.header.runs;
	if (l.others)
		return grouped(l.others) + " other threads";
	if (l.source !== undefined && this.model.d.meta.compare.inputs.length > 2)
		return this.model.d.meta.compare.inputs[l.source].replace(/^.*\//, "").replace(/\.tally$/, "");
	if (l.source !== undefined)
		return (l.side ? "before: " : "now: ") + (l.comm || "thread") + " " + l.tid;
	return (l.comm || "thread") + " " + l.tid + (runs > 1 ? ", " + (this.host(i) || "run " + l.run) : "");
};

// The machine of a thread, if that is a label.
Timeline.prototype.host = function (i) {
	const d = this.model.stored, k = (d.meta.labels || []).findIndex(function (l) { return l.name === "host"; });
	const v = k < 0 ? 0 : d.labels[k][d.lane.indexOf(i)], l = k < 0 ? null : d.meta.labels[k];
	return v && !isOther(l, v) ? l.text[v] : "";
};

Timeline.prototype.left = function () {
	return this.canvas.clientWidth < 500 ? 92 : 170;
};

Timeline.prototype.slice = function (x) {
	const left = this.left(), w = this.canvas.clientWidth - left - 8;
	return Math.max(0, Math.min(this.slices - 1, Math.floor((x - left) / w * this.slices)));
};

Timeline.prototype.listen = function () {
	const t = this, c = this.canvas;
	c.addEventListener("pointerdown", function (e) {
		const b = c.getBoundingClientRect(), x = e.clientX - b.left;
		const lane = Math.floor((e.clientY - b.top) / LANE);
		if (x < t.left() || t.slices === 1) {
			if (lane < t.rows.n)
				t.toggle(lane);
			return;
		}
		if (lane >= t.rows.n + 1)
			return;
		t.drag = { from: t.slice(x), x: x, moved: false };
		c.setPointerCapture(e.pointerId);
	});
	c.addEventListener("pointermove", function (e) {
		const b = c.getBoundingClientRect(), x = e.clientX - b.left;
		t.tip(e, x, Math.floor((e.clientY - b.top) / LANE));
		if (!t.drag)
			return;
		if (Math.abs(x - t.drag.x) > 3)
			t.drag.moved = true;
		if (t.drag.moved) {
			const to = t.slice(x);
			t.ui.previewTime(Math.min(t.drag.from, to), Math.max(t.drag.from, to));
		}
	});
	c.addEventListener("pointerup", function () {
		const d = t.drag;
		t.drag = null;
		if (d)
			t.ui.setTime(d.moved ? t.ui.state.from : 0, d.moved ? t.ui.state.to : t.slices - 1);
	});
	c.addEventListener("pointercancel", function () { t.drag = null; });
	c.addEventListener("pointerleave", function () { t.ui.tipText(null); });
	c.addEventListener("keydown", function (e) { t.key(e); });
};

Timeline.prototype.key = function (e) {
	const s = this.ui.state, last = this.slices - 1, step = { ArrowLeft: -1, ArrowRight: 1 }[e.key];
	if (e.key === "Escape") {
		this.ui.setTime(0, last);
		this.ui.setLanes(null);
		if (this.rows.label >= 0)
			this.ui.toggleLabel(this.rows.label, -1);
	} else if (step && last) {
		let from = s.from, to = s.to;
		if (from === 0 && to === last) {
			to = Math.floor(last / 8);
		} else if (e.shiftKey) {
			to = Math.max(from, Math.min(last, to + step));
		} else if (from + step >= 0 && to + step <= last) {
			from += step;
			to += step;
		}
		this.ui.setTime(from, to);
	} else {
		return;
	}
	e.preventDefault();
};

Timeline.prototype.tip = function (e, x, lane) {
	const time = this.model.d.meta.time;
	if (lane >= this.rows.n || x < 0 || !this.whole) {
		this.ui.tipText(null);
		return;
	}
	const l = this.rows.label < 0 ? this.lanes[lane] : null, lines = [this.label(lane)], at = lane * this.slices;
	if (l && !l.others)
		lines.push("process " + l.pid + ", thread " + l.tid);
	if (x >= this.left() && this.slices > 1) {
		const k = this.slice(x);
		lines.push(duration(time.start_ns + k * time.width_ns) + " – " +
			duration(time.start_ns + (k + 1) * time.width_ns) + ": " +
			(this.model.events[this.event].wait ? duration(this.all[lane * this.slices + k]) + this.stateText(lane * this.slices + k)
				: grouped(this.all[lane * this.slices + k]) + " samples"));
	} else {
		const n = l ? l.samples : this.whole.subarray(at, at + this.slices).reduce(function (a, b) { return a + b; }, 0);
		lines.push((l || !this.model.events[this.event].wait ? grouped(n) + " samples" : duration(n)) + "; click to see only this " + (l ? "thread" : "value"));
	}
	this.ui.tipText(lines, e.clientX, e.clientY);
};

Timeline.prototype.stateText = function (at) {
	return !this.states ? "" : ", of which " + duration(this.states[0][at]) + " running and " +
		duration(this.states[1][at]) + " runnable";
};

Timeline.prototype.count = function (event) {
	const s = this.ui.state, pick = this.model.now.selection, kinds = pick && pick.kinds, cohorts = pick && pick.cohorts;
	const made = [event, s.group, kinds && marked(kinds).join("."), cohorts && s.lanes && marked(s.lanes).join("."), writeLabels(s.labels)].join("|");
	if (made === this.made && this.tree === this.model.d)
		return;
	this.made = made;
	this.rows = timelineRows(this.model.stored, s.group);
	this.event = event;
	this.tree = this.model.d;
	this.all = this.model.overTime(this.rows, null);
	this.whole = this.tree.entry === this.model.stored.entry && !kinds && !cohorts ? this.all : this.model.overTime(this.rows, null, true);
	this.part = null;
	this.states = this.ofStates(event);
	this.most = this.whole.reduce(function (a, b) { return Math.max(a, b); }, 1);
};

// All time: running and runnable time, each in its own colour.
Timeline.prototype.ofStates = function (event) {
	const m = this.model, meta = m.d.meta;
	return !m.events[event] || !m.events[event].all ? null : [meta.run, meta.queue].map(function (state) {
		return m.overTime(this.rows, null, false, state);
	}, this);
};

// marked: functions whose samples have the accent colour, or null.
Timeline.prototype.mark = function (event, marked) {
	this.part = marked ? this.model.overTime(this.rows, marked) : null;
};

Timeline.prototype.draw = function () {
	const c = this.canvas, ratio = window.devicePixelRatio || 1, w = c.clientWidth;
	const rows = this.rows.n, h = rows * LANE + (this.slices > 1 ? 22 : 4), p = this.palette, s = this.ui.state;
	if (!w || !this.all)
		return;
	c.width = Math.round(w * ratio);
	c.height = Math.round(h * ratio);
	c.style.height = h + "px";
	const ctx = c.getContext("2d"), left = this.left(), room = w - left - 8;
	ctx.scale(ratio, ratio);
	ctx.fillStyle = p.back;
	ctx.fillRect(0, 0, w, h);
	ctx.textBaseline = "middle";
	for (let i = 0; i < rows; i++)
		this.drawLane(ctx, i, left, room);
	if (this.slices > 1)
		this.drawAxis(ctx, rows * LANE, left, room);
	if (s.from > 0 || s.to < this.slices - 1) {
		const x0 = left + room * s.from / this.slices, x1 = left + room * (s.to + 1) / this.slices;
		ctx.fillStyle = p.dark ? "rgba(0,0,0,.55)" : "rgba(255,255,255,.68)";
		ctx.fillRect(left, 0, x0 - left, rows * LANE);
		ctx.fillRect(x1, 0, left + room - x1, rows * LANE);
		ctx.strokeStyle = p.accent;
		ctx.lineWidth = 1.5;
		ctx.strokeRect(x0, 0.75, Math.max(1, x1 - x0), rows * LANE - 1.5);
	}
};

Timeline.prototype.drawLane = function (ctx, i, left, room) {
	const p = this.palette, y = i * LANE, n = this.slices;
	const chosen = this.chosen(i), off = chosen === false, width = room / n;
	ctx.font = (chosen ? "600 " : "") + "12px system-ui, sans-serif";
	ctx.fillStyle = off ? p.fadedText : p.text;
	ctx.save();
	ctx.beginPath();
	ctx.rect(0, y, left - 6, LANE);
	ctx.clip();
	ctx.fillText(this.label(i), 8, y + LANE / 2);
	ctx.restore();
	ctx.fillStyle = p.faded;
	ctx.fillRect(left, y + LANE - 1, room, 1);
	if (n === 1)
		return this.drawBar(ctx, i, off, left, room);
	for (let k = 0; k < n; k++) {
		const all = this.all[i * n + k], part = this.part ? this.part[i * n + k] : 0;
		const whole = this.whole[i * n + k], x = left + k * width;
		if (whole > all) {
			const h = Math.max(1, (LANE - 4) * whole / this.most);
			ctx.fillStyle = p.faded;
			ctx.fillRect(x, y + LANE - 1 - h, Math.max(1, width - 0.5), h);
		}
		if (!all)
			continue;
		const h = Math.max(1, (LANE - 4) * all / this.most);
		ctx.fillStyle = off ? p.faded : this.states ? p.state(2) : p.dark ? "#55606f" : "#a9b4c4";
		ctx.fillRect(x, y + LANE - 1 - h, Math.max(1, width - 0.5), h);
		if (this.states && !off) {
			let from = y + LANE - 1;
			this.states.forEach(function (sums, at) {
				const hs = (LANE - 4) * sums[i * n + k] / this.most;
				from -= hs;
				ctx.fillStyle = p.state(at);
				ctx.fillRect(x, from, Math.max(1, width - 0.5), hs);
			}, this);
		}
		if (part) {
			const hp = (LANE - 4) * part / this.most;
			ctx.fillStyle = p.accent;
			ctx.fillRect(x, y + LANE - 1 - hp, Math.max(1, width - 0.5), hp);
		}
	}
};

// Without times: the part of the row that is selected, and of it what is marked.
Timeline.prototype.drawBar = function (ctx, i, off, left, room) {
	const p = this.palette, most = this.most;
	[[this.whole, p.faded], [this.all, off ? p.faded : p.dark ? "#55606f" : "#a9b4c4"], [this.part, p.accent]].forEach(function (x) {
		if (!x[0] || !x[0][i])
			return;
		ctx.fillStyle = x[1];
		ctx.fillRect(left, i * LANE + 5, Math.max(1, room * x[0][i] / most), LANE - 10);
	});
};

Timeline.prototype.drawAxis = function (ctx, y, left, room) {
	const t = this.model.d.meta.time, whole = t.width_ns * t.buckets, p = this.palette;
	const most = Math.max(1, Math.floor(room / 90));
	let step = Math.pow(10, Math.floor(Math.log10(whole / most)));
	[1, 2, 5, 10].some(function (k) {
		if (whole / (step * k) <= most) {
			step *= k;
			return true;
		}
		return false;
	});
	ctx.font = "11px system-ui, sans-serif";
	for (let ns = Math.ceil(t.start_ns / step) * step; ns <= t.start_ns + whole; ns += step) {
		const x = left + room * (ns - t.start_ns) / whole, text = ns ? duration(ns) : "0";
		ctx.fillStyle = p.faded;
		ctx.fillRect(x, y, 1, 4);
		ctx.fillStyle = p.fadedText;
		if (x + ctx.measureText(text).width < left + room + 8)
			ctx.fillText(text, x, y + 13);
	}
};
