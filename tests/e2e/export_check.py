#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Readers of the formats of tally export, written from their documents.

    export_check.py REPORT.json FORMAT FILE

Compares what a file says of the functions of export.sh's program with the
report; exit status 1, and the reason, where they differ.
"""
import csv
import gzip
import json
import re
import subprocess
import sys

# Names that the program of export.sh has, and the thread's as it must appear.
FUNCTIONS = ("outer", "squares", "work")
THREAD = 'a;b "c\\x0a\\xff\\x09<'


class Wrong(Exception):
    pass


def want(condition, *what):
    if not condition:
        raise Wrong(" ".join(map(str, what)))


def output(*command):
    return subprocess.run(command, stdout=subprocess.PIPE, check=True).stdout.decode()


def plain(name):
    """The function's own name of a readable C++ name."""
    return re.sub(r"[<(].*", "", name).split(" ")[-1]


class Report:
    def __init__(self, path):
        with open(path, encoding="utf-8") as f:
            data = json.load(f)
        self.self_weight, self.samples = {}, {}
        self.total = self.count = 0
        for row in data["rows"]:
            cost = row["self"]
            name = plain(row["symbol"])
            self.self_weight[name] = (self.self_weight.get(name, 0)
                                      + cost["weight"])
            self.samples[name] = self.samples.get(name, 0) + cost["samples"]
            self.total += cost["weight"]
            self.count += cost["samples"]
        want(self.total > 0 and self.count > 50, "too little was recorded")
        for f in FUNCTIONS[1:]:
            want(self.self_weight.get(f), "no samples in", f)

    def same(self, weights, what="weight"):
        """weights: self weight by readable name."""
        sums = {}
        for name, w in weights.items():
            sums[plain(name)] = sums.get(plain(name), 0) + w
        mine = self.self_weight if what == "weight" else self.samples
        total = self.total if what == "weight" else self.count
        want(sum(sums.values()) == total, "total", sum(sums.values()),
             "not", total)
        for f in FUNCTIONS:
            want(sums.get(f, 0) == mine.get(f, 0), f, sums.get(f, 0), "not",
                 mine.get(f, 0))


def folded(path, report):
    weights, roots, seen = {}, set(), set()
    with open(path, encoding="utf-8") as f:
        for line in f:
            want(re.fullmatch(r"[^\x00-\x1f\x7f]+ [0-9]+\n", line), repr(line))
            stack, weight = line.rsplit(" ", 1)
            want(stack not in seen, "twice:", stack)
            seen.add(stack)
            frames = stack.split(";")
            roots.add(frames[0])
            weights[frames[-1]] = weights.get(frames[-1], 0) + int(weight)
            if frames[-1].startswith("squares"):
                want(frames[-2] == "outer", "caller of squares:", frames[-2])
    want(roots == {"prog", THREAD.replace(";", ":")}, "threads:", roots)
    report.same(weights)


def fields(data):
    """The wire format: field number and value, in order."""
    at = 0

    def varint():
        nonlocal at
        v = shift = 0
        while True:
            b = data[at]
            at += 1
            v |= (b & 127) << shift
            shift += 7
            if not b & 128:
                return v
    while at < len(data):
        tag = varint()
        wire = tag & 7
        if wire == 0:
            yield tag >> 3, varint()
        elif wire == 1:
            yield tag >> 3, int.from_bytes(data[at:at + 8], "little")
            at += 8
        else:
            want(wire == 2, "wire type", wire)
            n = varint()
            want(at + n <= len(data), "a part ends behind its end")
            yield tag >> 3, data[at:at + n]
            at += n


def message(data):
    out = {}
    for field, value in fields(data):
        out.setdefault(field, []).append(value)
    return out


def packed(parts):
    out = []
    for data in parts:
        v = shift = 0
        for b in data:
            v |= (b & 127) << shift
            shift += 7
            if not b & 128:
                out.append(v)
                v = shift = 0
    return out


def one(m, field, default=0):
    return m.get(field, [default])[-1]


def pprof(path, report):
    """proto/profile.proto, and what its readers refuse (CheckValid, Parca)."""
    with open(path, "rb") as f:
        p = message(gzip.decompress(f.read()))
    strings = [s.decode("utf-8") for s in p[6]]
    want(strings[0] == "", "string 0 is", strings[0])
    want(len(set(strings)) == len(strings), "equal strings")
    types = [message(t) for t in p[1]]
    want([(strings[one(t, 1)], strings[one(t, 2)]) for t in types] ==
         [("samples", "count"), ("cpu", "nanoseconds")], "types", types)
    tables = {}
    for field in (3, 4, 5):
        rows = [message(m) for m in p[field]]
        want([one(m, 1) for m in rows] == list(range(1, len(rows) + 1)),
             "ids of table", field)
        tables[field] = rows
    mappings, locations, functions = tables[3], tables[4], tables[5]
    want(strings[one(mappings[0], 5)].endswith("/prog"), "mapping 1")
    want(re.fullmatch("[0-9a-f]{40}", strings[one(mappings[0], 6)]), "build id")
    weights, counts, used, labels = {}, {}, set(), set()
    for raw in p[2]:
        s = message(raw)
        values = packed(s[2])
        want(len(values) == len(types), "values", values)
        locs = packed(s[1])
        used.update(locs)
        lines = [message(x) for x in locations[locs[0] - 1][4]]
        name = strings[one(functions[one(lines[0], 1) - 1], 2)]
        counts[name] = counts.get(name, 0) + values[0]
        weights[name] = weights.get(name, 0) + values[1]
        for raw_label in s[3]:
            label = message(raw_label)
            want(one(label, 1), "a label without key")
            if strings[one(label, 1)] == "comm":
                labels.add(strings[one(label, 2)])
    want(used == set(range(1, len(locations) + 1)), "unused locations")
    want(labels == {"prog", THREAD}, "threads:", labels)
    for loc in locations:
        m = one(loc, 2)
        want(0 <= m <= len(mappings), "mapping", m)
        if m:
            want(one(loc, 3) < one(mappings[m - 1], 3), "address outside")
    outer = [f for f in functions if strings[one(f, 2)] == "outer"]
    want(outer and all(one(f, 5) == 23 for f in outer), "outer's start line")
    report.same(weights)
    report.same(counts, "samples")


def pprof_top(path, report):
    """The table of go tool pprof -top -unit=ns."""
    weights = {}
    with open(path, encoding="utf-8") as f:
        for line in f:
            m = re.match(r" *([0-9]+)(?:ns)? +[0-9.]+% +[0-9.]+% +[0-9]+(?:ns)?"
                         r" +[0-9.]+% +(.*?)(?: \(inline\))?$", line)
            if m:
                weights[m.group(2)] = (weights.get(m.group(2), 0)
                                       + int(m.group(1)))
    report.same(weights)


def otlp(path, report):
    """profiles.proto of OTLP 1.9 to 1.11, and what the checker of the
    profiling group asks for: entry 0 of each table is empty, no two entries
    are equal, all are referred to, indices exist."""
    with open(path, "rb") as f:
        data = message(f.read())
    want(sorted(data) == [1, 2] and len(data[2]) == 1, "ProfilesData")
    d = message(data[2][0])
    tables = {field: d.get(field, []) for field in range(1, 8)}
    for field, rows in tables.items():
        want(rows and rows[0] == b"", "entry 0 of table", field)
        want(len(set(rows)) == len(rows), "equal entries in table", field)
    strings = [s.decode("utf-8") for s in tables[5]]
    used = {field: {0} for field in tables}

    def at(field, index):
        want(0 <= index < len(tables[field]), "index", index, "of", field)
        used[field].add(index)
        return message(tables[field][index])

    def text(index):
        want(0 <= index < len(strings), "string", index)
        used[5].add(index)
        return strings[index]

    def attributes(indices):
        out = {}
        for i in indices:
            a = at(6, i)
            value = message(a[2][0])
            key = text(one(a, 1))
            want(key and key not in out, "key", key)
            out[key] = (value[1][0].decode() if 1 in value else value[3][0])
        return out

    def function(line):
        f = at(3, one(message(line), 1))
        text(one(f, 2)), text(one(f, 3))
        return text(one(f, 1)), one(f, 4)

    resource = message(data[1][0])
    names = {}
    for raw in message(resource[1][0])[1]:
        pair = message(raw)
        names[pair[1][0].decode()] = message(pair[2][0])[1][0].decode()
    want(names == {"service.name": "prog", "os.type": "linux"}, names)
    scope = message(resource[2][0])
    want(message(scope[1][0])[1][0] == b"tally", "scope")
    want(len(scope[2]) == 1, "profiles")
    p = message(scope[2][0])
    for field in (1, 5):
        kind = message(p[field][0])
        want((text(one(kind, 1)), text(one(kind, 2))) ==
             ("cpu", "nanoseconds"), "type")
    want(one(p, 3) > 10 ** 18 and one(p, 4) > 0 and one(p, 6) > 0, "times")
    weights, threads, seen = {}, set(), set()
    for raw in p[2]:
        s = message(raw)
        values = packed(s[4])
        want(len(values) == 1, "one value a sample")
        marks = attributes(packed(s[2]))
        want(sorted(marks) == ["process.pid", "thread.id", "thread.name"],
             marks)
        threads.add(marks["thread.name"])
        want((one(s, 1), marks["thread.id"]) not in seen, "a stack twice")
        seen.add((one(s, 1), marks["thread.id"]))
        leaf = packed(at(7, one(s, 1))[1])[0]
        name = function(at(2, leaf)[3][0])[0]
        weights[name] = weights.get(name, 0) + values[0]
    want(threads == {"prog", THREAD}, "threads:", threads)
    for i in range(1, len(tables[7])):
        want(i in used[7], "stack", i, "is not used")
        for loc in packed(message(tables[7][i])[1]):
            at(2, loc)
    for i in range(1, len(tables[2])):
        loc = message(tables[2][i])
        if one(loc, 1):
            m = at(1, one(loc, 1))
            want(one(loc, 2) < one(m, 2), "address outside")
            marks = attributes(packed(loc[4]))
            want(marks["profile.frame.type"] in ("native", "kernel"), marks)
            path = text(one(m, 4))
            marks = attributes(packed(m.get(5, [])))
            want(not path.endswith("/prog") or re.fullmatch(
                "[0-9a-f]{40}", marks["process.executable.build_id.gnu"]),
                 "build id")
        for line in loc[3]:
            name, start = function(line)
            want(name != "outer" or start == 23, "outer's start line")
    for field, indices in used.items():
        want(len(indices) == len(tables[field]), "unused in table", field)
    report.same(weights)


def speedscope(path, report):
    """file-format-spec.ts of speedscope: sampled profiles."""
    with open(path, encoding="utf-8") as f:
        data = json.load(f)
    want(data["$schema"] ==
         "https://www.speedscope.app/file-format-schema.json", "$schema")
    frames = data["shared"]["frames"]
    weights, names = {}, set()
    for p in data["profiles"]:
        names.add(re.sub(r" \([0-9/]+\)$", "", p["name"]))
        want(p["type"] == "sampled" and p["unit"] == "nanoseconds", "type")
        want(p["startValue"] == 0 and p["endValue"] == sum(p["weights"]),
             "the end")
        want(len(p["samples"]) == len(p["weights"]), "samples")
        for stack, weight in zip(p["samples"], p["weights"]):
            name = frames[stack[-1]]["name"]
            weights[name] = weights.get(name, 0) + weight
            if plain(name) == "squares":
                want(plain(frames[stack[-2]]["name"]) == "outer",
                     "caller of squares")
    want(names == {"prog", THREAD}, "threads:", names)
    report.same(weights)


def firefox(path, report):
    """The processed format, version 46 (src/types/profile.ts of that time)."""
    with open(path, encoding="utf-8") as f:
        data = json.load(f)
    meta = data["meta"]
    want(meta["preprocessedProfileVersion"] == 46 and meta["version"] == 24,
         "version")
    want(meta["symbolicated"] is True and meta["markerSchema"] == [], "meta")
    want([c["color"] for c in meta["categories"]].count("grey") == 1, "grey")
    weights, names = {}, set()
    for t in data["threads"]:
        names.add(t["name"])
        want(isinstance(t["pid"], str) and isinstance(t["tid"], int), "pid")
        for table in ("samples", "stackTable", "frameTable", "funcTable",
                      "resourceTable", "nativeSymbols", "markers"):
            for key, column in t[table].items():
                if isinstance(column, list):
                    want(len(column) == t[table]["length"], table, key)
        stacks, frames, funcs = t["stackTable"], t["frameTable"], t["funcTable"]
        for i, prefix in enumerate(stacks["prefix"]):
            want(prefix is None or prefix < i, "a caller behind its callee")
        for r in funcs["resource"]:
            want(-1 <= r < t["resourceTable"]["length"], "resource", r)
        for lib in t["resourceTable"]["lib"]:
            want(lib < len(data["libs"]), "lib", lib)
        samples = t["samples"]
        want(samples["weightType"] == "tracing-ms", "weightType")
        want(samples["time"] == sorted(samples["time"]), "times go back")
        for stack, weight in zip(samples["stack"], samples["weight"]):
            frame = stacks["frame"][stack]
            name = t["stringArray"][funcs["name"][frames["func"][frame]]]
            weights[name] = weights.get(name, 0) + round(weight * 1e6)
            if plain(name) == "squares":
                want(frames["inlineDepth"][frame] > 0, "squares is inlined")
    want(names == {"prog", THREAD}, "threads:", names)
    report.same(weights)


def callgrind(path, report):
    """The table of callgrind_annotate."""
    weights, head = {}, False
    with open(path, encoding="utf-8") as f:
        for line in f:
            head = head or "file:function" in line
            m = re.match(r" *([0-9,]+) \( ?[0-9.]+%\)  [^:]*:(.*) \[", line)
            if head and m:
                weights[m.group(2)] = (weights.get(m.group(2), 0)
                                       + int(m.group(1).replace(",", "")))
    report.same(weights)


def callgrind_insns(path, report):
    """Positions are instructions, as objdump and addr2line know them; calls in
    functions that are not hot, whose code is not kept, are last bytes."""
    insns, own, fn, names, lines, calls = {}, False, None, {}, {}, 0
    last_bytes, before = set(), None
    for line in output("objdump", "-d", "--no-show-raw-insn", "prog").splitlines():
        m = re.match(r" *([0-9a-f]+):\t(.*)", line)
        if m:
            at = int(m.group(1), 16)
            if before and before.startswith("call"):
                last_bytes.add(at - 1)
            before = insns[at] = m.group(2)
    with open(path, encoding="utf-8") as f:
        callee = None
        for line in f:
            key, _, value = line.rstrip("\n").partition("=")
            cost = re.fullmatch("0x([0-9a-f]+) ([0-9]+)(?: [0-9]+)+\n", line)
            if key in ("fn", "cfn"):
                number, _, name = value.partition(" ")
                names.setdefault(number, name)
            if key == "ob":
                own = value.endswith("/prog")
            elif key == "fn":
                fn = plain(names[number])
            elif key == "cfn":
                callee = plain(names[number])
            elif cost and own:
                at = int(cost.group(1), 16)
                want(at in insns or fn not in FUNCTIONS and callee and
                     at in last_bytes, hex(at), "in", fn, "is within an instruction")
                if not callee:
                    lines[at] = cost.group(2)
                elif (fn, callee) == ("outer", "work"):
                    want(re.match("call.*work", insns[at]), insns[at])
                    calls += 1
            if cost:
                callee = None
    want(calls and len(lines) > 3, "too few instructions")
    at = None
    for line in output("addr2line", "-a", "-i", "-e", "prog",
                       *map(hex, lines)).splitlines():
        if line.startswith("0x"):
            at = int(line, 16)
        elif at:
            got = re.sub(".*:([0-9?]+).*", r"\1", line)
            want(lines[at] == got.replace("?", "0"), hex(at), lines[at], "not", line)
            at = None


def perf_script(path, report):
    weights, name = {}, None
    with open(path, encoding="utf-8") as f:
        for line in f:
            head = re.match(r"(\S.*?) +([0-9]+)/([0-9]+) \[[0-9]{3}\] "
                            r"[0-9]+\.[0-9]{6}: +([0-9]+) cpu-clock: $", line)
            frame = re.match(r"\t +[0-9a-f]+ (.*) \((.*)\)$", line)
            want(head or frame or line == "\n", repr(line))
            if head:
                weight, name = int(head.group(4)), None
                want(head.group(1) in ("prog", THREAD), head.group(1))
            elif frame and not name:
                name = frame.group(1)
                weights[name] = weights.get(name, 0) + weight
                want(plain(name) != "squares" or frame.group(2) == "inlined",
                     "squares is inlined")
    report.same(weights)


def cpuprofile(path, report):
    """Protocol.Profiler.Profile of V8."""
    with open(path, encoding="utf-8") as f:
        p = json.load(f)
    nodes = {n["id"]: n for n in p["nodes"]}
    parents = [c for n in p["nodes"] for c in n["children"]]
    want(len(nodes) == len(p["nodes"]) and sorted(parents) ==
         sorted(set(nodes) - {1}), "the tree")
    want(len(p["samples"]) == len(p["timeDeltas"]) == report.count, "samples")
    hits, at, last, times = {}, p["startTime"], None, {}
    for sample, delta in zip(p["samples"] + [None], p["timeDeltas"]
                             + [None]):
        now = p["endTime"] if delta is None else at + delta
        if last is not None:
            times[last] = times.get(last, 0) + now - at
        if delta is not None:
            want(delta >= 0, "time goes back")
            name = nodes[sample]["callFrame"]["functionName"]
            hits[name] = hits.get(name, 0) + 1
        at, last = now, sample
    want(at - p["startTime"] == report.total // 1000, "the end")
    want(sum(n["hitCount"] for n in p["nodes"]) == report.count, "hitCount")
    squares = sum(t for i, t in times.items() if plain(
        nodes[i]["callFrame"]["functionName"]) == "squares")
    n = report.samples["squares"]
    want(abs(squares - report.self_weight["squares"] / 1000) <= n + 1,
         "time of squares:", squares)
    report.same(hits, "samples")


def chrome(path, report):
    """The trace event format: begins and ends are nested in each thread."""
    with open(path, encoding="utf-8") as f:
        events = json.load(f)["traceEvents"]
    stacks, at, times, names = {}, {}, {}, set()
    for e in events:
        key = (e["pid"], e["tid"])
        stack = stacks.setdefault(key, [])
        if e["ph"] == "M":
            names.add(e["args"]["name"])
            continue
        want(e["ts"] >= at.get(key, 0), "time goes back")
        if stack:
            times[stack[-1]] = (times.get(stack[-1], 0) + e["ts"] - at[key])
        at[key] = e["ts"]
        if e["ph"] == "B":
            stack.append(e["name"])
        else:
            want(e["ph"] == "E" and stack, "ends", e)
            want(e["name"] == stack.pop(), "ends another one:", e)
    want(names == {"prog", THREAD} and not any(stacks.values()), "the end")
    total = sum(times.values()) * 1000
    # samples of a timer that is late stand for a little more
    want(0.8 * report.total < total < 1.3 * report.total, "total", total)
    share = sum(t for n, t in times.items() if plain(n) == "squares") * 1000
    wanted = report.self_weight["squares"]
    want(0.8 * wanted < share < 1.3 * wanted, "squares", share, "not", wanted)


def csv_file(path, report):
    weights, counts = {}, {}
    with open(path, encoding="utf-8", newline="") as f:
        for row in csv.DictReader(f):
            name = row["stack"].split(" < ")[0]
            want(row["function"] == name, "function", name)
            want(row["comm"] in ("prog", THREAD), row["comm"])
            weights[name] = weights.get(name, 0) + int(row["weight"])
            counts[name] = counts.get(name, 0) + int(row["samples"])
    report.same(weights)
    report.same(counts, "samples")


def sqlite_rows(path, report):
    """name|samples|weight of each function, by sqlite3."""
    weights, counts = {}, {}
    with open(path, encoding="utf-8") as f:
        for line in f:
            name, count, weight = line.rstrip("\n").rsplit("|", 2)
            weights[name] = weights.get(name, 0) + int(weight)
            counts[name] = counts.get(name, 0) + int(count)
    report.same(weights)
    report.same(counts, "samples")


def llvm(path, report):
    """The text of SampleProfReader.h: bodies, and inlined ones within.  How right the
    counts are is export_llvm.sh's to say."""
    counts, totals, heads, stack = {}, [], {}, []
    with open(path, encoding="utf-8") as f:
        for line in f:
            depth = len(line) - len(line.lstrip(" "))
            while stack and len(stack) > depth:
                stack.pop()
            words = line.strip()
            m = re.fullmatch(r"([0-9]+): ([0-9]+)", words)
            if m:
                counts[stack[-1]] = counts.get(stack[-1], 0) + int(m.group(2))
                # functions of libc, with debug information, may be longer
                own = stack[0] == "main" or any(n in stack[0] for n in (
                    "work", "outer", "burn", "second"))
                want(not own or int(m.group(1)) < 20, "offset", stack, words)
                continue
            m = re.fullmatch(r"(?:([0-9]+): )?([^ :]+):([0-9]+)(?::([0-9]+))?",
                             words)
            want(m and (depth > 0) == bool(m.group(1)) != bool(m.group(4)),
                 repr(line))
            stack.append(m.group(2))
            counts.setdefault(m.group(2), 0)
            if not depth:
                totals.append(int(m.group(3)))
                heads[m.group(2)] = int(m.group(4))
    want(sum(counts.values()) == sum(totals), "totals")
    want(all(heads.values()), "functions that were never entered", heads)
    # g++ writes no linkage name for what other files cannot see
    for mangled, name in (("squares(int)", "squares"),
                          ("_Z4workIilEdT_T0_", "work"), ("outer", "outer")):
        want(mangled in counts or name not in report.samples, name)
        # a sample at one of a block's instructions is some hundredths
        want(counts.get(mangled, 0) > 0 or not report.samples.get(name, 0), name,
             counts.get(mangled))


def bolt(path, report):
    """.fdata of perf2bolt -nl; squares is inlined into outer or its caller."""
    counts = {}
    with open(path, encoding="utf-8") as f:
        want(f.readline() == "no_lbr cpu-clock\n", "the first line")
        for line in f:
            m = re.fullmatch(r"1 (\S+) ([0-9a-f]+) ([1-9][0-9]*)\n", line)
            want(m, repr(line))
            if m.group(1).endswith("/1"):	# the name if it is local
                continue
            counts[m.group(1)] = counts.get(m.group(1), 0) + int(m.group(3))
    want(counts["_Z4workIilEdT_T0_"] == report.samples["work"], "work", counts)
    want(counts["outer"] == report.samples["squares"]
         + report.samples.get("outer", 0), "outer", counts)


FORMATS = {"sqlite": sqlite_rows, "llvm": llvm, "bolt": bolt,
           "folded": folded, "pprof": pprof, "pprof-top": pprof_top, "otlp": otlp,
           "speedscope": speedscope, "firefox": firefox,
           "callgrind": callgrind,
           "callgrind-insns": callgrind_insns, "perf-script": perf_script,
           "cpuprofile": cpuprofile, "chrome": chrome, "csv": csv_file}


def main():
    try:
        FORMATS[sys.argv[2]](sys.argv[3], Report(sys.argv[1]))
    except (Wrong, KeyError, IndexError, ValueError) as e:
        print(type(e).__name__, e)
        return 1
    return 0


sys.exit(main())
