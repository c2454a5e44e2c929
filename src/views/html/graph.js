// SPDX-License-Identifier: GPL-2.0-or-later
// A flame graph (root at the bottom) or icicle (root on top) on a canvas.  Only
// what is at least a good half pixel wide is looked at, so a picture costs what
// can be seen of it, not what there is.

const ROW = 19, LEAST = 0.6;

// Colours by image: the costliest ones get hues far apart, the kernel its own.
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
};
Palette.prototype.image = function (i) {
	return this.dark ? "hsl(" + this.hue[i] + " 42% 34%)" : "hsl(" + this.hue[i] + " 68% 74%)";
};
// Frames of one image differ a little; inlined ones are paler.
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

// Red costs more than before, blue less; grey is the same, or noise.
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
		": arrow keys move between frames, Enter zooms, Escape zooms out");
	this.up = true;		/* the root is at the bottom */
	this.rects = [];
	this.widths = new Map();
	this.zoom = this.focus = null;
	this.listen();
}

Graph.prototype.listen = function () {
	const g = this, c = this.canvas;
	this.box.addEventListener("scroll", function () { g.draw(); });
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

Graph.prototype.setSource = function (source, up) {
	const turned = up !== this.up || !this.source;
	this.source = source;
	this.up = up;
	this.zoom = source.root;
	this.focus = null;
	this.hover = null;
	this.turned = this.turned || turned;
};

// A place in the tree as text: the keys below the root.
Graph.prototype.path = function (h) {
	const s = this.source, keys = [];
	for (; h !== s.root && h !== null; h = s.parent(h))
		keys.push(s.key(h));
	return keys.reverse().join(".");
};
Graph.prototype.find = function (path) {
	const s = this.source;
	let h = s.root;
	(path ? path.split(".") : []).every(function (key) {
		const kid = s.kids(h).find(function (k) { return s.key(k) === +key; });
		if (kid === undefined)
			return false;
		h = kid;
		return true;
	});
	return h;
};

// Where each frame is that can be seen: the zoomed one as wide as the box, those
// below it as wide as they are.
Graph.prototype.layout = function () {
	const s = this.source, width = this.box.clientWidth, rects = this.rects = [];
	const above = [];
	let deepest = 0;
	for (let h = this.zoom; h !== s.root; h = s.parent(h))
		above.push(s.parent(h));
	above.reverse().forEach(function (h, i) {
		rects.push({ h: h, x: 0, w: width, row: i, above: true });
	});
	const all = s.value(this.zoom);
	const stack = [{ h: this.zoom, x: 0, w: width, row: above.length, above: false }];
	while (stack.length && all > 0) {
		const r = stack.pop();
		rects.push(r);
		deepest = Math.max(deepest, r.row);
		const scale = r.w / s.value(r.h);
		let x = r.x;
		s.kids(r.h).forEach(function (k) {
			const w = s.value(k) * scale;
			if (w >= LEAST)
				stack.push({ h: k, x: x, w: w, row: r.row + 1, above: false });
			x += w;
		});
	}
	this.rows = deepest + 1;
	this.byHandle = new Map(rects.map(function (r) { return [r.h, r]; }));
};

Graph.prototype.update = function () {
	if (!this.source || !this.box.clientWidth)
		return;
	const box = this.box, ratio = window.devicePixelRatio || 1;
	this.layout();
	const need = this.rows * ROW + 2, room = this.options.room(box);
	box.style.height = Math.max(3 * ROW, Math.min(need + 4, room)) + "px";
	const w = box.clientWidth, h = box.clientHeight;
	this.height = Math.max(h, need);
	if (this.canvas.width !== Math.round(w * ratio) || this.canvas.height !== Math.round(h * ratio)) {
		this.canvas.width = Math.round(w * ratio);
		this.canvas.height = Math.round(h * ratio);
	}
	this.canvas.style.height = h + "px";
	this.space.style.height = Math.max(0, need - h) + "px";
	if (this.turned) {
		box.scrollTop = this.up ? this.height : 0;
		this.turned = false;
	}
	this.draw();
};

Graph.prototype.y = function (row) {
	return (this.up ? this.height - (row + 1) * ROW - 1 : row * ROW + 1) - this.box.scrollTop;
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

// A name cut to fit.  Of one with scopes the end says most: parameters go first,
// then what is returned, then the scopes from the outermost.
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
	const byChange = m.base && p.by === "change";
	let italic = -1;
	for (let i = 0; i < this.rects.length; i++) {
		const r = this.rects[i], y = this.y(r.row);
		if (y < -ROW || y > box.clientHeight)
			continue;
		const key = s.key(r.h), func = key >> 1;
		const faded = r.above || (m.match && !m.match[func]);
		ctx.fillStyle = faded ? p.faded : byChange ? p.change(this.changeAt(r)) : p.fill(key);
		ctx.fillRect(r.x, y, r.w > 2 ? r.w - 1 : r.w, ROW - 1);
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
			const text = this.fit(ctx, m.short[func], r.w - 8, italic ? "i" : "n");
			if (text)
				ctx.fillText(text, r.x + 4, y + ROW / 2);
		}
		if (func === this.options.chosen() && r.w > 3) {
			ctx.strokeStyle = p.accent;
			ctx.lineWidth = 1.5;
			ctx.strokeRect(r.x + 0.75, y + 0.75, r.w - 2.5, ROW - 2.5);
		}
	}
	const f = this.byHandle && this.byHandle.get(this.focus);
	if (f && document.activeElement === this.canvas) {
		ctx.strokeStyle = p.text;
		ctx.lineWidth = 2;
		ctx.strokeRect(f.x + 1, this.y(f.row) + 1, Math.max(2, f.w - 3), ROW - 3);
	}
};

Graph.prototype.changeAt = function (r) {
	if (r.change === undefined) {
		const x = this.source.sides(r.h);
		r.change = this.model.change(x[0], x[1]);
	}
	return r.change;
};

Graph.prototype.at = function (e) {
	const b = this.canvas.getBoundingClientRect();
	const x = e.clientX - b.left, y = e.clientY - b.top + this.box.scrollTop;
	const row = Math.floor((this.up ? this.height - y : y) / ROW);
	return this.rects.find(function (r) {
		return r.row === row && x >= r.x && x < r.x + Math.max(r.w, 1);
	});
};

Graph.prototype.pick = function (h) {
	this.focus = h;
	this.options.pick(h, this);
};

Graph.prototype.setZoom = function (h) {
	this.zoom = h;
	this.update();
	this.show(h);
};

// Scrolls so that the frame can be seen.
Graph.prototype.show = function (h) {
	const r = this.byHandle && this.byHandle.get(h);
	if (!r)
		return;
	const y = this.y(r.row);
	if (y < 0 || y > this.box.clientHeight - ROW)
		this.box.scrollTop += y - (this.up ? this.box.clientHeight - 2 * ROW : ROW);
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
	} else if (e.key === "Escape" || e.key === "Backspace") {
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
