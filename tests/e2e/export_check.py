#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Readers of the formats of tally export, written from their documents.

    export_check.py REPORT.json FORMAT FILE

Compares what a file says of the functions of export.sh's program with the
report; exit status 1, and the reason, where they differ.
"""
import gzip
import json
import re
import sys

# Names that the program of export.sh has, and the thread's as it must appear.
FUNCTIONS = ("outer", "squares", "work")
THREAD = 'a;b "c\\x0a\\xff\\x09<'


class Wrong(Exception):
    pass


def want(condition, *what):
    if not condition:
        raise Wrong(" ".join(map(str, what)))


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


def speedscope(path, report):
    """file-format-spec.ts of speedscope: evented profiles."""
    with open(path, encoding="utf-8") as f:
        data = json.load(f)
    want(data["$schema"] ==
         "https://www.speedscope.app/file-format-schema.json", "$schema")
    frames = data["shared"]["frames"]
    weights, names = {}, set()
    for p in data["profiles"]:
        names.add(re.sub(r" \([0-9/]+\)$", "", p["name"]))
        want(p["type"] == "evented" and p["unit"] == "nanoseconds", "type")
        want(p["startValue"] == 0, "start")
        at, stack = 0, []
        for e in p["events"]:
            want(e["at"] >= at, "events go back")
            if stack and e["at"] > at:
                name = frames[stack[-1]]["name"]
                weights[name] = weights.get(name, 0) + e["at"] - at
            at = e["at"]
            if e["type"] == "O":
                stack.append(e["frame"])
            else:
                want(e["type"] == "C" and stack.pop() == e["frame"],
                     "a frame is closed that is not the last")
        want(not stack and at == p["endValue"], "the end")
    want(names == {"prog", THREAD}, "threads:", names)
    report.same(weights)


FORMATS = {"folded": folded, "pprof": pprof, "pprof-top": pprof_top,
           "speedscope": speedscope}


def main():
    try:
        FORMATS[sys.argv[2]](sys.argv[3], Report(sys.argv[1]))
    except (Wrong, KeyError, IndexError, ValueError) as e:
        print(type(e).__name__, e)
        return 1
    return 0


sys.exit(main())
