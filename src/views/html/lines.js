// SPDX-License-Identifier: GPL-2.0-or-later
// Costs of lines and instructions under the selection, computed from locations. Each
// location has samples and a chain of frames, from the function that contains its code
// out to the one it was inlined into.

// Shows characters that hide or reorder text instead of obeying them.
function safeText(text) {
	return text.replace(/[\u0000-\u0008\u000a-\u001f\u007f-\u009f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]/g,
		function (c) { return "\\u{" + c.charCodeAt(0).toString(16) + "}"; });
}

function Lines(model) {
	this.model = model;
	this.x = model.d.lines;
	this.meta = model.d.meta.lines;
	this.texts = new Map();
	this.known = new Uint8Array(model.funcs);
	this.meta.funcs.forEach(function (f) { this.known[f] = 1; }, this);
	this.uncalled = new Set(this.meta.uncalled);
	this.filePairs = readPairs(this.meta.file_pairs, [-1, -1]);
	this.codePairs = readPairs(this.meta.code_pairs, []);
}

// Pairs by new file or code: the old one, and the runs of paired lines or instructions
// (html_pairs.c).
function readPairs(list, none) {
	return new Map((list || []).concat([none]).map(function (p) { return [p[1], { old: p[0], runs: p.slice(2) }]; }));
}

// Returns the locations that have a function in their chain.
Lines.prototype.locsOf = function (func) {
	const x = this.x;
	if (!this.byFunc) {
		this.byFunc = new Map();
		for (let i = 0; i < x.frame.length; i++) {
			const seen = new Set();
			for (let f = x.frame[i]; f >= 0; f = x.outer[f])
				if (x.func[f] >= 0 && !seen.has(x.func[f])) {
					seen.add(x.func[f]);
					if (!this.byFunc.has(x.func[f]))
						this.byFunc.set(x.func[f], []);
					this.byFunc.get(x.func[f]).push(i);
				}
		}
	}
	return this.byFunc.get(func) || [];
};

// Returns the innermost frame of a function, and the frame inlined into it; -1: none.
Lines.prototype.frameIn = function (frame, func) {
	let inner = -1;
	for (; frame >= 0 && this.x.func[frame] !== func; frame = this.x.outer[frame])
		inner = frame;
	return { frame: frame, inner: inner };
};

Lines.prototype.textOf = function (file) {
	let map = this.texts.get(file);
	if (!map) {
		map = new Map();
		(this.meta.files[file].text || []).forEach(function (part) {
			for (let i = 1; i < part.length; i++)
				map.set(part[0] + i - 1, safeText(part[i]));
		});
		this.texts.set(file, map);
	}
	return map;
};

function Cost() {
	this.self = this.selfCount = this.inlined = this.inlinedCount = 0;
	this.called = this.calledCount = 0;	/* cost of its callees */
	this.from = null;	/* value by function that was inlined here */
}
Cost.prototype.sum = function () { return this.self + this.inlined; };
Cost.prototype.count = function () { return this.selfCount + this.inlinedCount; };

// The costs of a function on one side by file and line, by copy, and by code.
Lines.prototype.collect = function (side, func) {
	const x = this.x, cost = side.byLoc(), called = side.byCall(), got = { files: new Map(), copies: new Map(), codes: new Map(), all: new Cost() };
	const put = function (c, own, value, count) {
		c[own ? "self" : "inlined"] += value;
		c[own ? "selfCount" : "inlinedCount"] += count;
	};
	const entry = function (map, key, make) {
		if (!map.has(key))
			map.set(key, make());
		return map.get(key);
	};
	this.locsOf(func).forEach(function (loc) {
		const at = this.frameIn(x.frame[loc], func), own = at.inner < 0, v = cost.value[loc], n = cost.count[loc];
		const out = x.outer[at.frame], caller = out < 0 ? -1 : x.func[out];
		if (!n)
			return;
		const lines = entry(got.files, x.file[at.frame], function () { return new Map(); });
		const line = entry(lines, x.line[at.frame], function () { return new Cost(); });
		put(line, own, v, n);
		put(got.all, own, v, n);
		put(entry(got.copies, caller, function () { return new Cost(); }), own, v, n);
		if (x.code[loc] >= 0)
			put(entry(got.codes, x.code[loc], function () { return new Cost(); }), own, v, n);
		if (!own) {
			line.from = line.from || new Map();
			line.from.set(x.func[at.inner], (line.from.get(x.func[at.inner]) || 0) + v);
		}
	}, this);
	this.callsOf(func).forEach(function (call) {
		const v = called.value[call], n = called.count[call];
		if (!n)
			return;
		const lines = entry(got.files, x.callFile[call], function () { return new Map(); });
		const line = entry(lines, x.callLine[call], function () { return new Cost(); });
		[line, got.all].forEach(function (c) {
			c.called += v;
			c.calledCount += n;
		});
	});
	return got;
};

// Returns the lines at which a function calls others.
Lines.prototype.callsOf = function (func) {
	if (!this.callers) {
		this.callers = new Map();
		this.x.callFunc.forEach(function (f, i) {
			if (!this.callers.has(f))
				this.callers.set(f, []);
			this.callers.get(f).push(i);
		}, this);
	}
	return this.callers.get(func) || [];
};

// Returns the first and last line of a function in a file.
Lines.prototype.range = function (func, file) {
	const x = this.x, f = this.model.d.meta.funcs;
	let first = Infinity, last = 0;
	if (!this.ranges) {
		this.ranges = new Map();
		const add = function (func, file, line) {
			const key = func + " " + file, r = ranges.get(key);
			if (file < 0 || !line)
				return;
			if (!r)
				ranges.set(key, [line, line]);
			else if (line < r[0])
				r[0] = line;
			else if (line > r[1])
				r[1] = line;
		}, ranges = this.ranges;
		for (let i = 0; i < x.func.length; i++)
			add(x.func[i], x.file[i], x.line[i]);
		for (let i = 0; i < x.callFunc.length; i++)
			add(x.callFunc[i], x.callFile[i], x.callLine[i]);
	}
	const r = this.ranges.get(func + " " + file);
	if (r) {
		first = r[0];
		last = r[1];
	}
	if (func < this.model.named && f.line[func] && f.line[func] < first && first - f.line[func] < 400 &&
		this.meta.files[file].name === this.model.d.meta.files[f.file[func]])
		first = f.line[func];
	return last ? [first, last] : null;
};

// Returns the costs of a code's instructions, by instruction.
Lines.prototype.insns = function (side, code) {
	const x = this.x, c = this.meta.codes[code], cost = side.byLoc();
	if (!this.byCode) {
		this.byCode = this.meta.codes.map(function () { return []; });
		for (let i = 0; i < x.code.length; i++)
			if (x.code[i] >= 0 && x.insn[i] >= 0)
				this.byCode[x.code[i]].push(i);
	}
	const out = { value: new Float64Array(c.insns), count: new Float64Array(c.insns) };
	this.byCode[code].forEach(function (loc) {
		out.value[x.insn[loc]] += cost.value[loc];
		out.count[x.insn[loc]] += cost.count[loc];
	});
	return out;
};

Lines.prototype.addresses = function (code) {
	const c = this.meta.codes[code];
	if (!c.at) {
		let at = parseInt(c.vaddr, 16);
		c.at = new Float64Array(c.insns);
		for (let i = 0; i < c.insns; i++) {
			c.at[i] = at;
			at += this.x.size[c.first + i];
		}
	}
	return c.at;
};

// Draws the lanes of jumps beside each instruction, as in listing_text.c.
const LANES = 6, DOWN = 1, TOP = 2, BOTTOM = 3, SELF = 4, KIND = 7, LOOP = 8, ARROW = 16;
Lines.prototype.jumps = function (code) {
	const c = this.meta.codes[code], rows = new Uint8Array(LANES * c.insns);
	let most = 0;
	if (c.rows)
		return c;
	for (let k = 0; k + 2 < c.jumps.length; k += 3) {
		const from = c.jumps[k], to = c.jumps[k + 1], lane = c.jumps[k + 2];
		const low = Math.min(from, to), high = Math.max(from, to), loop = to <= from ? LOOP : 0;
		if (lane >= LANES || high >= c.insns)
			continue;
		most = Math.max(most, lane + 1);
		for (let i = low + 1; i < high; i++)
			rows[i * LANES + lane] = DOWN | loop;
		rows[low * LANES + lane] = TOP | loop;
		rows[high * LANES + lane] = (low === high ? SELF : BOTTOM) | loop;
		rows[to * LANES + lane] |= ARROW;
	}
	c.rows = rows;
	c.lanes = most;
	return c;
};
