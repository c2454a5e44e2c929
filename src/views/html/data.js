// SPDX-License-Identifier: GPL-2.0-or-later
// Reads the block of data: html_encode.c says what is in it.
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
		throw new Error("this browser cannot decompress data; any of 2023 or later can");
	const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
	return new Uint8Array(await new Response(stream).arrayBuffer());
}

// A column of ULEB128 numbers; those of more than 31 bits are rare.
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
	const depth = new Int32Array(n), parent = new Int32Array(n), end = new Int32Array(n);
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
	for (let i = n - 1; i >= 0; i--) {
		if (end[i] <= i)
			end[i] = i + 1;
		if (i && end[parent[i]] < end[i])
			end[parent[i]] = end[i];
	}
	d.depth = depth;
	d.parent = parent;
	d.end = end;
}

function readEntries(d, columns) {
	const n = d.meta.entries, events = d.meta.events;
	const node = columns.read(new Int32Array(n));
	const event = columns.read(new Uint8Array(n));
	const lane = columns.read(new Uint8Array(n));
	const bucket = columns.read(new Int32Array(n));
	const count = columns.read(new Float64Array(n));
	let value = count, uneven = 0;
	for (let i = 1; i < n; i++) {
		const same = node[i] === 0 && event[i] === event[i - 1] && lane[i] === lane[i - 1];
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
	d.entry = { node: node, event: event, lane: lane, bucket: bucket, count: count, value: value };
}

// Exact sums of all samples, whatever was left out of the tree.
function readSums(d, columns, functions) {
	d.sums = d.meta.events.map(function (e) {
		const s = {};
		s.selfCount = columns.read(new Float64Array(functions));
		s.totalCount = columns.read(new Float64Array(functions));
		s.self = e.per ? s.selfCount : columns.read(new Float64Array(functions));
		s.total = e.per ? s.totalCount : columns.read(new Float64Array(functions));
		return s;
	});
}

async function readData(text) {
	const bytes = await inflate(fromBase64(text));
	const size = new DataView(bytes.buffer).getUint32(0, true);
	const d = { meta: JSON.parse(new TextDecoder().decode(bytes.subarray(4, 4 + size))) };
	const columns = new Columns(bytes, 4 + size);
	readNodes(d, columns);
	readEntries(d, columns);
	readSums(d, columns, d.meta.funcs.image.length);
	return d;
}
