// SPDX-License-Identifier: GPL-2.0-or-later
// What is selected (event, threads, time), and the sums over it: by node of the
// tree and by function.  Values are what a share is of: the event's weight, or
// samples where each weighs the same.

function Model(d) {
	const f = d.meta.funcs;
	this.d = d;
	this.nodes = d.meta.nodes;
	this.named = f.image.length;
	this.funcs = f.name.length;
	this.selfValue = new Float64Array(this.nodes);
	this.selfCount = new Float64Array(this.nodes);
	this.value = new Float64Array(this.nodes);
	this.count = new Float64Array(this.nodes);
	this.short = f.name.map(function (n, i) { return f.short[i] || n; });
	this.imageName = d.meta.images.map(function (p) {
		return p[0] === "[" ? p : p.slice(p.lastIndexOf("/") + 1) || p;
	});
	this.match = null;
	this.exact = true;
	/* in small letters, whole and short: "operator<" is found as it is shown */
	this.low = f.name.map(function (n, i) { return (f.short[i] ? n + "\n" + f.short[i] : n).toLowerCase(); });
}

Model.prototype.image = function (func) {
	return func < this.named ? this.imageName[this.d.meta.funcs.image[func]] : "";
};

// select: { event, lanes: null or array of 0/1, from, to } in time slices.
Model.prototype.select = function (s) {
	const e = this.d.entry, n = e.node.length;
	const sv = this.selfValue.fill(0), sn = this.selfCount.fill(0);
	for (let i = 0; i < n; i++) {
		if (e.event[i] !== s.event || e.bucket[i] < s.from || e.bucket[i] > s.to)
			continue;
		if (s.lanes && !s.lanes[e.lane[i]])
			continue;
		sv[e.node[i]] += e.value[i];
		sn[e.node[i]] += e.count[i];
	}
	const v = this.value, c = this.count, parent = this.d.parent;
	v.set(sv);
	c.set(sn);
	for (let i = this.nodes - 1; i > 0; i--) {
		v[parent[i]] += v[i];
		c[parent[i]] += c[i];
	}
	this.event = s.event;
	this.exact = !s.lanes && s.from <= 0 && s.to >= this.d.meta.time.buckets - 1;
	this.sumFunctions();
};

// A sample counts once for a function's total, however often it is in the stack.
Model.prototype.sumFunctions = function () {
	const d = this.d, n = this.nodes, open = new Int32Array(this.funcs);
	const f = this.byFunc = {
		self: new Float64Array(this.funcs), total: new Float64Array(this.funcs),
		selfCount: new Float64Array(this.funcs), totalCount: new Float64Array(this.funcs)
	};
	let at = 0;
	for (let i = 1; i < n; i++) {
		for (; d.depth[at] >= d.depth[i]; at = d.parent[at])
			open[d.func[at]]--;
		const k = d.func[i];
		if (!open[k]++) {
			f.total[k] += this.value[i];
			f.totalCount[k] += this.count[i];
		}
		f.self[k] += this.selfValue[i];
		f.selfCount[k] += this.selfCount[i];
		at = i;
	}
	if (!this.exact)
		return;
	const sums = d.sums[this.event];
	f.self.set(sums.self);
	f.total.set(sums.total);
	f.selfCount.set(sums.selfCount);
	f.totalCount.set(sums.totalCount);
};

// Text matches anywhere in a function's or an image's name; /…/ is a regular
// expression.  Null where there is nothing to search; throws for a bad one.
Model.prototype.search = function (text) {
	this.match = null;
	if (!text)
		return;
	const match = new Uint8Array(this.funcs);
	const form = /^\/(.+?)\/?$/.exec(text);
	let test;
	if (form && text.length > 1) {
		const re = new RegExp(form[1], "i");
		test = function (s) { return re.test(s); };
	} else {
		const low = text.toLowerCase();
		test = function (s) { return s.indexOf(low) >= 0; };
	}
	const images = this.imageName.map(function (s) { return test(s.toLowerCase()); });
	for (let i = 0; i < this.funcs - 1; i++)
		match[i] = (i < this.named && images[this.d.meta.funcs.image[i]]) || test(this.low[i]) ? 1 : 0;
	this.match = match;
};

// Samples with a function of `set` anywhere in their stack.
Model.prototype.within = function (set) {
	const d = this.d;
	let sum = 0;
	for (let i = 1; i < this.nodes;) {
		if (set[d.func[i]]) {
			sum += this.value[i];
			i = d.end[i];
		} else {
			i++;
		}
	}
	return sum;
};

// The samples by thread and time slice; of those with one of `set` when given.
Model.prototype.overTime = function (event, set) {
	const d = this.d, e = d.entry, slices = d.meta.time.buckets;
	const out = new Float64Array(d.meta.lanes.length * slices);
	let inside = null;
	if (set) {
		inside = new Uint8Array(this.nodes);
		for (let i = 1; i < this.nodes; i++)
			inside[i] = set[d.func[i]] | inside[d.parent[i]];
	}
	for (let i = 0; i < e.node.length; i++)
		if (e.event[i] === event && (!inside || inside[e.node[i]]))
			out[e.lane[i] * slices + e.bucket[i]] += e.count[i];
	return out;
};

Model.prototype.weight = function (value) {
	const per = this.d.meta.events[this.event].per;
	return per ? value * per : value;
};

function percent(part, whole) {
	const p = whole > 0 ? 100 * part / whole : 0;
	return (p > 0 && p < 0.1 ? p.toFixed(3) : p.toFixed(2)) + "%";
}

function grouped(n) {
	return Math.round(n).toLocaleString("en-US");
}

function duration(ns) {
	const units = [[3600e9, "h"], [60e9, "min"], [1e9, "s"], [1e6, "ms"], [1e3, "µs"]];
	for (let i = 0; i < units.length; i++)
		if (ns >= units[i][0])
			return +(ns / units[i][0]).toPrecision(3) + " " + units[i][1];
	return Math.round(ns) + " ns";
}
