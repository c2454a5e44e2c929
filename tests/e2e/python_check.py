# SPDX-License-Identifier: GPL-2.0-or-later
"""Compares a recording of python_scenes.py with what the program says of itself.

    python_check.py EXPORT TRUTH...

EXPORT is of the format "firefox".  Prints lines NAME VALUE: share of samples in
functions that spin, of those the share with the right chain of functions and
lines, the largest difference of a function's share of time in percent and in standard
errors, functions without samples, and eval loops that are shown beside the frames that
they ran.

A sample has the CPU time since the thread's last one as its weight.  A sampler that
gets no processor itself takes fewer and heavier samples, and says which time has none.
So a function counts as unseen only if it ran for longer than the heaviest sample and
that time, and differences are judged by the standard error that the samples' own weights
cause, and by that time (in percent).
"""
import json
import re
import sys


def load(path):
    with open(path) as f:
        return json.load(f)


# Time that has no sample.  Other names in brackets say what a stack lacks.
UNSAMPLED = ("[before the first sample]", "[not sampled]")
truth = {}
for path in sys.argv[2:]:
    truth.update(load(path))
samples = spins = right = lines = loops = 0
by_name = dict.fromkeys(truth, 0)
taken = []                      # name and weight of each sample
heaviest = unsampled = 0
wrong = []


def is_python(file):
    return file.endswith((".py", ".php", ".rb")) or file.startswith(("<", "("))


for thread in load(sys.argv[1])["threads"]:
    strings, func = thread["stringArray"], thread["funcTable"]
    frame, stack = thread["frameTable"], thread["stackTable"]

    def frames(at):
        while at is not None:
            f = frame["func"][stack["frame"][at]]
            file = func["fileName"][f]
            # a word behind tells functions of one name apart
            yield (re.sub(r" \((?:[^()]|\([^()]*\))*\)$", "", strings[func["name"][f]]),
                   "" if file is None else strings[file],
                   frame["line"][stack["frame"][at]])
            at = stack["prefix"][at]

    weights = thread["samples"].get("weight")
    for i, at in enumerate(thread["samples"]["stack"]):
        every = list(frames(at))
        weight = weights[i] if weights else 1
        python = [f for f in every if is_python(f[1])]
        if any(f[0].startswith("[") for f in every):
            if python and python[0][0] in truth:
                by_name[python[0][0]] += weight
                taken.append((python[0][0], weight))
            elif any(f[0] in UNSAMPLED for f in every):
                unsampled += weight
                continue
            samples += 1
            continue
        samples += 1
        heaviest = max(heaviest, weight)
        if not python or python[0][0] not in truth:
            continue
        name, _, line = python[0]
        t = truth[name]
        spins += 1
        by_name[name] += weight
        taken.append((name, weight))
        loops += any("EvalFrameDefault" in f[0] for f in every)
        # the clock is read in the line above, sum is cleared there
        good = t["line"] - 2 <= line <= t["line"]
        lines += line == t["line"]
        chain = [list(f) for f in python[1:]]
        if good and chain in t["chains"]:
            right += 1
        else:
            wrong.append((name, line, t["line"], chain[:6]))

cpu = sum(t["cpu"] for t in truth.values())
weight = sum(by_name.values())


def errors(name):
    """A function's difference in standard errors of its share.  Where samples fall in
    their intervals is not random, so that this is too large rather than too small."""
    want = truth[name]["cpu"] / cpu
    variance = sum((w * ((n == name) - want)) ** 2 for n, w in taken) / weight ** 2
    return abs(by_name[name] / weight - want) / max(variance ** 0.5, 1e-9)


print("samples", samples)
print("spinning", round(100 * spins / max(samples, 1), 2))
print("right", round(100 * right / max(spins, 1), 2))
print("loop-line", round(100 * lines / max(spins, 1), 2))
print("off", round(max(abs(100 * by_name[n] / max(weight, 1) -
                           100 * truth[n]["cpu"] / cpu) for n in truth), 2))
print("errors", round(max(map(errors, truth)), 2) if weight else "none")
print("heaviest", heaviest)
print("unsampled", round(100 * unsampled / max(weight + unsampled, 1e-9), 2))
print("unseen", ",".join(n for n in truth if not by_name[n] and
                         truth[n]["cpu"] * weight / cpu >
                         heaviest + unsampled) or "none")
print("loops", loops)
for w in wrong[:5]:
    print("# wrong", *w)
