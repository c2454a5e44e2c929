// SPDX-License-Identifier: GPL-2.0-or-later
// Reads the block of data, whose format is described in html_encode.c.
"use strict";
(function () {

function fromBase64(text) {
	if (Uint8Array.fromBase64)
		return Uint8Array.fromBase64(text);
	const raw = atob(text), bytes = new Uint8Array(raw.length);
	for (let i = 0; i < raw.length; i++)
		bytes[i] = raw.charCodeAt(i);
	return bytes;
}

async function inflate(bytes) {
	if (typeof DecompressionStream === "undefined")
		throw new Error("this browser cannot decompress the data; use a browser from 2023 or later");
	const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
	return new Uint8Array(await new Response(stream).arrayBuffer());
}

// Reads a column of ULEB128 numbers; numbers of more than 31 bits are rare.
function Columns(bytes, at) {
	this.bytes = bytes;
	this.at = at;
}
Columns.prototype.read = function (array) {
	const b = this.bytes, n = array.length;
	let at = this.at;
	for (let i = 0; i < n; i++) {
		let x = b[at++];
		if (x > 127) {
			x &= 127;
			let scale = 128, y;
			do {
				y = b[at++];
				x += (y & 127) * scale;
				scale *= 128;
			} while (y > 127);
		}
		array[i] = x;
	}
	this.at = at;
	return array;
};

function readNodes(d, columns) {
	const n = d.meta.nodes, up = columns.read(new Uint32Array(n - 1));
	const key = columns.read(new Uint32Array(n - 1));
	const depth = new Int32Array(n), parent = new Int32Array(n);
	const path = [0];
	d.func = new Int32Array(n);
	d.inlined = new Uint8Array(n);
	d.func[0] = d.meta.funcs.name.length - 1;
	for (let i = 1; i < n; i++) {
		const level = depth[i - 1] + 1 - up[i - 1];
		depth[i] = level;
		parent[i] = path[level - 1];
		path[level] = i;
		d.func[i] = key[i - 1] >>> 1;
		d.inlined[i] = key[i - 1] & 1;
	}
	d.depth = depth;
	d.parent = parent;
	d.end = subtreeEnds(parent, n);
}

// Cohorts of threads: the row of the timeline and the value of each label. Without
// labels each row is one.
function readCohorts(d, columns) {
	const meta = d.meta, n = meta.labels ? meta.cohorts : meta.lanes.length;
	d.lane = meta.labels ? columns.read(new Uint8Array(n)) : Uint8Array.from(meta.lanes, function (l, i) { return i; });
	d.labels = (meta.labels || []).map(function () { return columns.read(new Uint16Array(n)); });
}

function readEntries(d, columns, n) {
	const events = d.meta.events;
	const node = columns.read(new Int32Array(n));
	const event = columns.read(new Uint8Array(n));
	const cohort = columns.read(new Uint16Array(n));
	const kind = d.meta.kinds ? columns.read(new Uint8Array(n)) : null;
	const bucket = columns.read(new Int32Array(n));
	const count = columns.read(new Uint32Array(n));
	let value = count, uneven = 0;
	for (let i = 1; i < n; i++) {
		const same = node[i] === 0 && event[i] === event[i - 1] && cohort[i] === cohort[i - 1] &&
			(!kind || kind[i] === kind[i - 1]);
		node[i] += node[i - 1];
		if (same)
			bucket[i] += bucket[i - 1];
	}
	for (let i = 0; i < n; i++)
		uneven += events[event[i]].per === 0;
	if (uneven) {
		const weights = columns.read(new Float64Array(uneven));
		value = new Float64Array(n);
		for (let i = 0, k = 0; i < n; i++)
			value[i] = events[event[i]].per ? count[i] : weights[k++];
	}
	return stateEntries(d.meta, { n: n, node: node, event: event, cohort: cohort, kind: kind, bucket: bucket, count: count, value: value });
}

// Room for n entries like those of e; slice k begins at first[k].
function roomForEntries(e, n, first) {
	const to = {
		n: n, first: first, node: new Int32Array(n), event: new Uint8Array(n), cohort: new Uint16Array(n),
		kind: e.kind && new Uint8Array(n), count: new Uint32Array(n), value: null
	};
	to.value = e.value === e.count ? to.count : new Float64Array(n);
	return to;
}

// Copies all columns of entry i but its node.
function copyEntry(e, i, to, k) {
	to.event[k] = e.event[i];
	to.cohort[k] = e.cohort[i];
	if (e.kind)
		to.kind[k] = e.kind[i];
	to.count[k] = e.count[i];
	to.value[k] = e.value[i];
}

// Sorts by time, so that a slice is one range: slice k begins at first[k].
function sortByTime(e, slices) {
	const first = new Uint32Array(slices + 1), at = new Uint32Array(slices), n = e.n;
	for (let i = 0; i < n; i++)
		first[e.bucket[i] + 1]++;
	for (let k = 0; k < slices; k++) {
		first[k + 1] += first[k];
		at[k] = first[k];
	}
	const to = roomForEntries(e, n, first);
	for (let i = 0; i < n; i++) {
		const k = at[e.bucket[i]]++;
		to.node[k] = e.node[i];
		copyEntry(e, i, to, k);
	}
	return to;
}

// Exact sums of all samples, including those left out of the tree.
function readSums(d, columns, functions) {
	d.sums = d.meta.events.filter(function (e) { return !e.all; }).map(function (e) {
		const s = {};
		s.selfCount = columns.read(new Float64Array(functions));
		s.totalCount = columns.read(new Float64Array(functions));
		s.self = e.per ? s.selfCount : columns.read(new Float64Array(functions));
		s.total = e.per ? s.totalCount : columns.read(new Float64Array(functions));
		return s;
	});
	stateSums(d.meta, d.sums);
}

// Reads frames, locations, instructions and calls: see html_encode_lines.c.
function readLines(d, columns) {
	const l = d.meta.lines, f = l.frames, x = d.lines = {};
	x.func = columns.read(new Int32Array(f));
	x.file = columns.read(new Int32Array(f));
	x.line = columns.read(new Int32Array(f));
	x.outer = columns.read(new Int32Array(f));
	for (let i = 0; i < f; i++) {
		x.func[i]--;
		x.file[i]--;
		x.outer[i] = x.outer[i] ? i - x.outer[i] : -1;
	}
	x.frame = columns.read(new Int32Array(l.locs));
	x.code = columns.read(new Int32Array(l.locs));
	x.insn = columns.read(new Int32Array(l.locs));
	for (let i = 0; i < l.locs; i++) {
		x.code[i]--;
		x.insn[i]--;
	}
	x.entry = sortByTime(readEntries(d, columns, l.entries), d.meta.time.buckets);
	x.size = columns.read(new Uint8Array(l.insns));
	x.flow = columns.read(new Uint8Array(l.insns));
	x.jump = columns.read(new Int32Array(l.insns));
	x.of = columns.read(new Int32Array(l.insns));
	let at = 0;
	l.codes.forEach(function (c) {
		c.first = at;
		for (let i = 0; i < c.insns; i++, at++) {
			const j = x.jump[at];
			x.jump[at] = !j ? -1 : j & 1 ? i - (j >> 1) + 1 : i + (j >> 1) - 1;
			x.of[at]--;
		}
	});
	x.callFunc = columns.read(new Int32Array(l.calls));
	x.callFile = columns.read(new Int32Array(l.calls)).map(function (f) { return f - 1; });
	x.callLine = columns.read(new Int32Array(l.calls));
	x.callEntry = sortByTime(readEntries(d, columns, l.call_entries), d.meta.time.buckets);
}

async function readData(text) {
	const bytes = await inflate(fromBase64(text));
	const size = new DataView(bytes.buffer).getUint32(0, true);
	const d = { meta: JSON.parse(new TextDecoder().decode(bytes.subarray(4, 4 + size))) };
	const columns = new Columns(bytes, 4 + size);
	addStates(d.meta);
	addLabels(d.meta);
	readNodes(d, columns);
	readCohorts(d, columns);
	d.entry = sortByTime(readEntries(d, columns, d.meta.entries), d.meta.time.buckets);
	readSums(d, columns, d.meta.funcs.image.length);
	readLines(d, columns);
	return d;
}
