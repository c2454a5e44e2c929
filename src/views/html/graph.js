// SPDX-License-Identifier: GPL-2.0-or-later
// A flame graph (root at the bottom) or icicle (root on top) on a canvas. Only frames
// at least about half a pixel wide are laid out, and only rows inside the box are
// drawn, so the cost depends on what is visible, not on the size of the tree.
//
// The scroll position is kept as a distance from the root's side (`offset`), because
// heights change with every layout and the root's side does not move.

const ROW = 19, LEAST = 0.6;
/* Rows laid out below the zoomed frame; frames above it that are shown; nodes
 * that a layout may group where a tree grows only when it is looked at. */
const ROWS_MAX = 3000, ABOVE_MAX = 40, GROW_MAX = 4e6;
/* Rows above the zoomed frame that remain visible after a zoom. */
const ABOVE_SHOWN = 3;

// Colours by image: the most expensive images get distant hues, the kernel its own.
function Palette(model) {
	const hues = [212, 140, 44, 275, 180, 325, 95, 245, 62, 160, 300, 195];
	const f = model.d.meta.funcs, cost = new Float64Array(model.imageName.length);
	const kernel = this.kernel = new Uint8Array(cost.length);
	const self = model.d.sums.length ? model.d.sums[0].self : [];
	this.by = model.compare ? "change" : "image";
	for (let i = 0; i < f.image.length; i++) {
		cost[f.image[i]] += self[i] || 0;
		kernel[f.image[i]] |= f.kernel[i];
	}
	this.order = Array.from(cost.keys()).sort(function (a, b) { return cost[b] - cost[a] || a - b; });
	this.hue = new Int32Array(cost.length);
	let next = 0;
	this.order.forEach(function (i) {
		this.hue[i] = kernel[i] ? 8 : hues[next++ % hues.length];
	}, this);
	this.model = model;
	this.setTheme(false);
}
Palette.prototype.setTheme = function (dark) {
	this.dark = dark;
	this.fills = new Map();
	this.text = dark ? "#f4f5f8" : "#14161b";
	this.back = dark ? "#15171c" : "#ffffff";
	this.faded = dark ? "#2a2e37" : "#e7e9ee";
	this.fadedText = dark ? "#9299a8" : "#6a7080";
	this.accent = dark ? "#6cb0ff" : "#0b62d6";
	this.mark = this.text;
};
Palette.prototype.image = function (i) {
	return this.dark ? "hsl(" + this.hue[i] + " 42% 34%)" : "hsl(" + this.hue[i] + " 68% 74%)";
};
// Frames of one image vary slightly; inlined ones are paler.
Palette.prototype.fill = function (key) {
	let fill = this.fills.get(key);
	if (fill)
		return fill;
	const m = this.model, func = key >> 1, inlined = key & 1;
	if (func >= m.named) {
		fill = this.dark ? "hsl(220 8% 30%)" : "hsl(220 10% 84%)";
	} else {
		const shade = (func * 7919 % 9) - 4;
		const sat = (this.dark ? 42 : 68) - (inlined ? 16 : 0);
		const light = (this.dark ? (inlined ? 27 : 34) : (inlined ? 85 : 74)) + shade * (this.dark ? 0.8 : 0.9);
		fill = "hsl(" + this.hue[m.d.meta.funcs.image[func]] + " " + sat + "% " + light.toFixed(1) + "%)";
	}
	this.fills.set(key, fill);
	return fill;
};

// Colours of the timeline: running (0), runnable, blocked.
Palette.prototype.state = function (at) {
	return at === 1 ? this.dark ? "#c9772b" : "#e8963f" : this.change(at ? -0.3 : 1);
};

// Red costs more than before, blue less; grey: no significant change.
Palette.prototype.change = function (t) {
	const hue = t > 0 ? 6 : 214, k = Math.sqrt(Math.abs(t));
	return this.dark ? "hsl(" + hue + " " + Math.round(8 + 62 * k) + "% " + Math.round(27 + 13 * k) + "%)"
		: "hsl(" + hue + " " + Math.round(6 + 80 * k) + "% " + Math.round(88 - 20 * k) + "%)";
};

function Graph(box, options) {
	this.box = box;
	this.options = options;
	this.palette = options.palette;
	this.model = options.model;
	this.canvas = document.createElement("canvas");
	this.space = document.createElement("div");
	this.space.className = "space";
	box.append(this.canvas, this.space);
	this.canvas.tabIndex = 0;
	this.canvas.setAttribute("role", "application");
	this.canvas.setAttribute("aria-label", options.label +
		": arrow keys move between frames, Enter zooms, Backspace zooms out, Shift F10 opens a menu");
	this.up = true;		/* the root is at the bottom */
	this.rects = [];
	this.byRow = [];	/* the same by row */
	this.offset = this.height = 0;
	this.widths = new Map();
	this.zoom = this.focus = this.hit = null;
	this.listen();
}

Graph.prototype.listen = function () {
	const g = this, c = this.canvas;
	this.box.addEventListener("scroll", function () {
		const max = g.height - g.box.clientHeight;
		if (!g.box.clientHeight)
			return;
		g.offset = g.up ? max - g.box.scrollTop : g.box.scrollTop;
		g.draw();
	});
	c.addEventListener("click", function (e) {
		const r = g.at(e);
		if (r)
			g.pick(r.h);
	});
	c.addEventListener("mousemove", function (e) {
		const r = g.at(e);
		g.options.tip(r ? r.h : null, g, e.clientX, e.clientY);
		c.style.cursor = r ? "pointer" : "default";
		if ((r ? r.h : null) !== g.hover) {
			g.hover = r ? r.h : null;
			g.draw();
		}
	});
	c.addEventListener("mouseleave", function () {
		g.options.tip(null);
		g.hover = null;
		g.draw();
	});
	c.addEventListener("keydown", function (e) { g.key(e); });
	c.addEventListener("blur", function () { g.draw(); });
};

Graph.prototype.setSource = function (source, up, zoom) {
	this.reveal = this.reveal || up !== this.up || !this.source || source.inverted !== this.source.inverted;
	this.source = source;
	this.up = up;
	this.focus = this.hover = this.hit = null;
	this.zoomTo(zoom ? this.find(zoom) : source.root);
};

// Sets the frame that fills the width of the box. Scrolls to it if it changed.
Graph.prototype.zoomTo = function (h) {
	const path = this.path(h);
	this.reveal = this.reveal || path !== this.zoomed;
	this.zoomed = path;
	this.zoom = h;
};

// A place in the tree as text: the keys below the root, or @node if that would be
// long.
const PATH_KEYS = 200, PATH_MOST = 3000;
Graph.prototype.path = function (h) {
	const s = this.source, keys = [];
	for (let x = h; x !== s.root && x !== null; x = s.parent(x)) {
		keys.push(s.key(x));
		if (keys.length > PATH_KEYS && typeof h === "number")
			return "@" + h;
	}
	return keys.reverse().slice(0, PATH_MOST).join(".");
};
Graph.prototype.find = function (path) {
	const s = this.source;
	let h = s.root;
	if (path[0] === "@" && typeof h === "number") {
		h = Math.min(+path.slice(1), this.model.nodes - 1);
		while (h !== s.root && !(s.value(h) > 0))
			h = s.parent(h);
		return h;
	}
	(path ? path.split(".") : []).every(function (key) {
		const kid = s.kids(h).find(function (k) { return s.key(k) === +key; });
		if (kid === undefined)
			return false;
		h = kid;
		return true;
	});
	return h;
};

// The rows above the zoomed frame: its callers, root first. If there are many, only
// the nearest are shown, and the others share one row.
Graph.prototype.layoutAbove = function (put) {
	const s = this.source, width = this.box.clientWidth, near = [];
	let h = this.zoom, folded = 0, nearest = null;
	for (; h !== s.root; h = s.parent(h)) {
		if (near.length < ABOVE_MAX) {
			near.push(s.parent(h));
		} else if (s.parent(h) !== s.root) {
			nearest = nearest === null ? s.parent(h) : nearest;
			folded++;
		}
	}
	if (near.length && near[near.length - 1] !== s.root)
		put({ h: s.root, x: 0, w: width, row: 0, above: true });
	if (folded)
		put({ h: nearest, x: 0, w: width, row: this.byRow.length, above: true, folded: folded });
	near.reverse().forEach(function (h) {
		put({ h: h, x: 0, w: width, row: this.byRow.length, above: true });
	}, this);
	return this.byRow.length;
};

// Lays out the visible frames: the zoomed one fills the width, those below it are in
// proportion.
Graph.prototype.layout = function () {
	const s = this.source, width = this.box.clientWidth, rects = this.rects = [], byRow = this.byRow = [];
	const put = function (r) {
		rects.push(r);
		(byRow[r.row] = byRow[r.row] || []).push(r);
	};
	const zoomRow = this.zoomRow = this.layoutAbove(put), all = s.value(this.zoom);
	const stack = [{ h: this.zoom, x: 0, w: width, row: zoomRow, above: false }];
	const match = this.model.match;
	let grown = 0;
	while (stack.length && all > 0) {
		const r = stack.pop(), scale = r.w / s.value(r.h);
		put(r);
		if (s.cost)
			grown += s.cost(r.h);
		if (r.row - zoomRow >= ROWS_MAX || grown > GROW_MAX) {
			r.more = true;
			continue;
		}
		let x = r.x;
		s.kids(r.h).forEach(function (k) {
			const w = s.value(k) * scale;
			if (w >= LEAST) {
				stack.push({ h: k, x: x, w: w, row: r.row + 1, above: false });
			} else if (match) {
				const hidden = s.hidden(k);
				if (hidden) {
					r.hidden = (r.hidden || 0) + hidden;
					r.from = r.from === undefined ? x : r.from;
					r.till = x + w;
				}
			}
			x += w;
		});
	}
	this.byHandle = new Map(rects.map(function (r) { return [r.h, r]; }));
	byRow.forEach(function (row) { row.sort(function (a, b) { return a.x - b.x; }); });
};

Graph.prototype.update = function () {
	if (!this.source || !this.box.clientWidth)
		return;
	const box = this.box, ratio = window.devicePixelRatio || 1;
	this.layout();
	const need = this.byRow.length * ROW + 2, room = this.options.room(box);
	box.style.height = Math.max(3 * ROW, Math.min(need + 4, room)) + "px";
	const w = box.clientWidth, h = box.clientHeight;
	this.height = Math.max(h, need);
	if (this.canvas.width !== Math.round(w * ratio) || this.canvas.height !== Math.round(h * ratio)) {
		this.canvas.width = Math.round(w * ratio);
		this.canvas.height = Math.round(h * ratio);
	}
	this.canvas.style.height = h + "px";
	this.space.style.height = this.height - h + "px";
	if (this.reveal)
		this.offset = (this.zoomRow - ABOVE_SHOWN) * ROW;
	this.reveal = false;
	this.scrollTo(this.offset);
	this.draw();
};

// Scrolls to a distance from the root's side, within the limits.
Graph.prototype.scrollTo = function (offset) {
	const max = this.height - this.box.clientHeight;
	this.offset = Math.max(0, Math.min(offset, max));
	this.box.scrollTop = this.up ? max - this.offset : this.offset;
};

Graph.prototype.y = function (row) {
	const at = row * ROW + 1 - this.offset;
	return this.up ? this.box.clientHeight - at - ROW : at;
};

Graph.prototype.wide = function (ctx, text, font) {
	const key = font + text;
	let w = this.widths.get(key);
	if (w === undefined) {
		w = ctx.measureText(text).width;
		this.widths.set(key, w);
	}
	return w;
};

// Cuts a name to fit. Its end is the most useful part: parameters are removed first,
// then the return type, then scopes from the outermost.
Graph.prototype.fit = function (ctx, text, room, font) {
	if (this.wide(ctx, text, font) <= room)
		return text;
	let rest = text.replace(/\(…\)( const)?( \[clone .*)?$/, "");
	const plain = /^[^<([]* /.exec(rest);
	for (;;) {
		if (rest !== text && this.wide(ctx, rest, font) <= room)
			return rest;
		const at = rest.indexOf("::");
		if (plain && rest.startsWith(plain[0]) && rest.indexOf("operator") < 0)
			rest = rest.slice(plain[0].length);
		else if (at < 0)
			break;
		else
			rest = rest.slice(at + 2);
	}
	for (let n = Math.floor(rest.length * room / this.wide(ctx, rest, font)); n > 1; n--) {
		const cut = rest.slice(0, n) + "…";
		if (this.wide(ctx, cut, font) <= room)
			return cut;
	}
	return "";
};

// Draws the frames of all rows in the box.
Graph.prototype.seen = function () {
	const from = Math.max(0, Math.floor(this.offset / ROW) - 1);
	return this.byRow.slice(from, from + Math.ceil(this.box.clientHeight / ROW) + 2).flat();
};

Graph.prototype.draw = function () {
	const ctx = this.canvas.getContext("2d"), ratio = window.devicePixelRatio || 1;
	const box = this.box, p = this.palette, m = this.model, s = this.source;
	if (!s)
		return;
	ctx.setTransform(ratio, 0, 0, ratio, 0, 0);
	ctx.fillStyle = p.back;
	ctx.fillRect(0, 0, box.clientWidth, box.clientHeight);
	ctx.textBaseline = "middle";
	const fonts = ["12px system-ui, sans-serif", "italic 12px system-ui, sans-serif"];
	const byChange = m.base && p.by === "change", byWait = this.byWait();
	let italic = -1;
	const seen = this.seen();
	for (let i = 0; i < seen.length; i++) {
		const r = seen[i], y = this.y(r.row);
		const key = s.key(r.h), func = key >> 1;
		const faded = r.above || (m.match && !m.match[func]);
		ctx.fillStyle = faded ? p.faded : byChange ? p.change(this.changeAt(r)) :
			byWait ? p.change(1 - 2 * byWait[r.h] / s.value(r.h)) : p.fill(key);
		ctx.fillRect(r.x, y, r.w > 2 ? r.w - 1 : faded ? r.w : Math.max(r.w, 1), ROW - 1);
		if (r.hidden)
			this.markHidden(ctx, r, y);
		if (r.h === this.hover && r.w > 2) {
			ctx.fillStyle = p.dark ? "rgba(255,255,255,.14)" : "rgba(0,0,0,.1)";
			ctx.fillRect(r.x, y, r.w - 1, ROW - 1);
		}
		if (r.w > 24) {
			if (italic !== (key & 1)) {
				italic = key & 1;
				ctx.font = fonts[italic];
			}
			ctx.fillStyle = faded ? p.fadedText : p.text;
			const text = r.folded ? "⋯ " + grouped(r.folded) + " more frames above"
				: r.more ? this.fit(ctx, "⋯ deeper, zoom in: " + m.short[func], r.w - 8, "m")
				: this.fit(ctx, m.short[func], r.w - 8, italic ? "i" : "n");
			if (text)
				ctx.fillText(text, r.x + 4, y + ROW / 2);
		}
		if (func === this.options.chosen() && r.w > 3) {
			ctx.strokeStyle = p.accent;
			ctx.lineWidth = 1.5;
			ctx.strokeRect(r.x + 0.75, y + 0.75, r.w - 2.5, ROW - 2.5);
		}
	}
	const hit = this.hit !== null && this.byHandle.get(this.hit);
	if (hit) {
		ctx.strokeStyle = p.accent;
		ctx.lineWidth = 3;
		ctx.strokeRect(hit.x + 1.5, this.y(hit.row) + 1, Math.max(2, hit.w - 4), ROW - 3);
	}
	const f = this.byHandle && this.byHandle.get(this.focus);
	if (f && document.activeElement === this.canvas) {
		ctx.strokeStyle = p.text;
		ctx.lineWidth = 2;
		ctx.strokeRect(f.x + 1, this.y(f.row) + 1, Math.max(2, f.w - 3), ROW - 3);
	}
};

// Marks matches of the search that are too narrow to draw, with a bar on the frame
// below them.
Graph.prototype.markHidden = function (ctx, r, y) {
	const w = Math.min(r.w, Math.max(5, r.till - r.from)), x = Math.max(r.x, Math.min(r.from, r.x + r.w - w));
	ctx.fillStyle = this.palette.mark;
	ctx.fillRect(x, this.up ? y : y + ROW - 5, w, 4);
};

// The waiting part of each node, if colours show it.
Graph.prototype.byWait = function () {
	const m = this.model;
	return this.palette.by === "state" && this.source.root === 0 && m.now.col === m.d.meta.all ? m.waiting() : null;
};

Graph.prototype.changeAt = function (r) {
	if (r.change === undefined) {
		const x = this.source.sides(r.h);
		r.change = this.model.difference(x[0], x[1]);
	}
	return r.change;
};

Graph.prototype.at = function (e) {
	const b = this.canvas.getBoundingClientRect(), x = e.clientX - b.left, y = e.clientY - b.top;
	const row = this.byRow[Math.floor(((this.up ? this.box.clientHeight - y : y) - 1 + this.offset) / ROW)];
	return row && row.find(function (r) { return x >= r.x && x < r.x + Math.max(r.w, 1); });
};

Graph.prototype.pick = function (h) {
	this.focus = h;
	this.options.pick(h, this);
};

Graph.prototype.setZoom = function (h) {
	this.zoomTo(h);
	this.update();
};

// Shows and marks a frame. Zooms only as far as needed to make it visible.
Graph.prototype.reach = function (h) {
	const s = this.source, r = this.byHandle.get(h), width = this.box.clientWidth;
	this.hit = this.focus = h;
	if (!r || r.above || r.folded || r.w < 12) {
		let to = h, steps = 0;
		for (let up = s.parent(h); up !== null && steps < ROWS_MAX / 2 && s.value(h) / s.value(up) * width >= 40; up = s.parent(up), steps++)
			to = up;
		this.setZoom(to);
	}
	this.show(h);
	this.draw();
};

// Scrolls until the frame is visible.
Graph.prototype.show = function (h) {
	const r = this.byHandle && this.byHandle.get(h);
	if (!r)
		return;
	const at = r.row * ROW - this.offset;
	if (at < 0 || at > this.box.clientHeight - 2 * ROW)
		this.scrollTo(r.row * ROW - (at < 0 ? ROW : this.box.clientHeight - 2 * ROW));
};

Graph.prototype.key = function (e) {
	const s = this.source, step = { ArrowUp: 1, ArrowDown: -1 }[e.key];
	let h = this.focus !== null ? this.focus : this.zoom, to = null;
	if (step) {
		const outward = (step > 0) === this.up;
		const kids = outward ? s.kids(h) : [];
		to = outward ? (kids.length ? kids[0] : null) : s.parent(h);
	} else if (e.key === "ArrowLeft" || e.key === "ArrowRight") {
		const up = s.parent(h), kids = up === null ? [h] : s.kids(up);
		to = kids[kids.indexOf(h) + (e.key === "ArrowLeft" ? -1 : 1)];
	} else if (e.key === "Enter" || e.key === " ") {
		this.pick(h);
		e.preventDefault();
		return;
	} else if (e.key === "Backspace") {
		if (this.zoom !== s.root)
			this.options.pick(s.parent(this.zoom), this);
		e.preventDefault();
		return;
	} else {
		return;
	}
	e.preventDefault();
	if (to === null || to === undefined)
		return;
	this.focus = to;
	this.options.say(to, this);
	this.show(to);
	this.draw();
};
