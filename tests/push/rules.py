# SPDX-License-Identifier: GPL-2.0-or-later
"""What servers refuse, restated: the checks of pprof's own reader, of Parca's
normalizer, of Pyroscope's validation and of the profiling group's checker for OTLP.
Messages are decoded by modules that protoc made of profiles.proto."""
import gzip
import hashlib
import re
import time

NAME = re.compile(r'[a-zA-Z_][a-zA-Z0-9_]*$')
METRIC = re.compile(r'[a-zA-Z_:][a-zA-Z0-9_:]*$')


class Refused(Exception):
    pass


def want(truth, why):
    if not truth:
        raise Refused(why)


def known(message):
    """No field that the definition lacks, at any depth."""
    want(not len(message.UnknownFields()) if hasattr(message, 'UnknownFields')
         else True, f'{type(message).__name__} has unknown fields')
    for field, value in message.ListFields():
        if field.type == field.TYPE_MESSAGE:
            for part in (value if field.label == field.LABEL_REPEATED else [value]):
                known(part)


def decode(kind, data):
    message = kind()
    message.ParseFromString(data)
    known(message)
    return message


def times(start, length, old=3600):
    now = time.time_ns()
    want(start > 0 and length > 0, f'no time: {start} {length}')
    want(start >= now - old * 10**9, 'older than an hour')
    want(start + length <= now + 600 * 10**9, 'from the future')


def labels(pairs):
    names = [p[0] for p in pairs]
    want(names == sorted(names), f'labels are not sorted: {names}')
    want(len(names) == len(set(names)), f'labels twice: {names}')
    want(len(names) <= 30, 'more than 30 labels')
    for name, value in pairs:
        want(NAME.match(name) and len(name) <= 1024, f'label name {name!r}')
        want(value and len(value.encode()) <= 2048, f'label value {value!r}')
    of = dict(pairs)
    want(METRIC.match(of.get('__name__', '')), 'no __name__')
    want(of.get('service_name'), 'no service_name')
    return of


def pprof(pb, packed):
    raw = gzip.decompress(packed)
    want(len(raw) <= 4 << 20, f'{len(raw)} bytes unpacked')
    p = decode(pb.Profile, raw)
    s = p.string_table
    want(s and s[0] == '', 'string 0')
    want(len(set(s)) == len(s), 'a string twice')
    times(p.time_nanos, p.duration_nanos)
    want(len(p.sample_type) == 2, 'types')
    types = [(s[t.type], s[t.unit]) for t in p.sample_type]
    want(all('-' not in t for t, _ in types), f'a type with -: {types}')
    want(0 < len(p.sample) <= 16000, f'{len(p.sample)} samples')
    for table in (p.mapping, p.location, p.function):
        ids = [row.id for row in table]
        want(ids == list(range(1, len(ids) + 1)), 'ids are not 1, 2, 3 …')
    used = set()
    seen = set()
    for x in p.sample:
        want(len(x.value) == len(types), 'values')
        want(0 < len(x.location_id) <= 1000, f'depth {len(x.location_id)}')
        want(all(0 < i <= len(p.location) for i in x.location_id), 'location')
        want(len(x.label) <= 100, 'labels')
        for l in x.label:
            want(l.key and s[l.key], 'label key')
        key = (tuple(x.location_id), tuple((s[l.key], s[l.str], l.num)
                                           for l in x.label))
        want(key not in seen, 'a stack twice: not summed')
        seen.add(key)
        used.update(x.location_id)
    want(used == set(range(1, len(p.location) + 1)),
         'locations that no sample has')
    for loc in p.location:
        want(loc.mapping_id <= len(p.mapping), 'mapping')
        want(all(0 < l.function_id <= len(p.function) for l in loc.line),
             'function')
        if not loc.line:    # the server must be able to look it up
            want(loc.mapping_id, 'no function and no mapping')
            m = p.mapping[loc.mapping_id - 1]
            want(not m.has_functions and re.match('[0-9a-f]{8,}$',
                 s[m.build_id]) and m.memory_start == m.file_offset == 0 and
                 loc.address < m.memory_limit, 'no function and no build ID')
    names = [s[f.name] for f in p.function]
    return {'types': types, 'time': p.time_nanos, 'duration': p.duration_nanos,
            'rows': len(p.sample), 'count': sum(x.value[0] for x in p.sample),
            'weight': sum(x.value[1] for x in p.sample),
            'depth': max(len(x.location_id) for x in p.sample),
            'comms': sorted({s[l.str] for x in p.sample for l in x.label
                             if s[l.key] == 'comm'}),
            'functions': names, 'period': p.period,
            'unnamed': [(s[p.mapping[l.mapping_id - 1].build_id], l.address)
                        for l in p.location if not l.line]}


class Debuginfo:
    """Parca's debuginfo.v1alpha1: the order of calls, and what each must say."""

    def __init__(self, pb, have, keep, strategy):
        self.pb, self.have, self.keep = pb, have, keep
        self.strategy = strategy
        self.wanted, self.begun, self.ended = set(), {}, {}

    def should(self, body):
        r = decode(self.pb.ShouldInitiateUploadRequest, body)
        want(re.match('([0-9a-f]{2}){2,}$', r.build_id), 'build ID')
        want(not r.force and r.build_id not in self.wanted, 'asked twice')
        self.wanted.add(r.build_id)
        return {'should': r.build_id}, self.pb.ShouldInitiateUploadResponse(
            should_initiate_upload=r.build_id not in self.have(), reason='test')

    def initiate(self, body):
        r = decode(self.pb.InitiateUploadRequest, body)
        want(r.build_id in self.wanted, 'not asked before')
        want(r.size > 0 and re.match('[0-9a-f]{64}$', r.hash), 'size, hash')
        self.begun[r.build_id] = ('upload-%d' % len(self.begun), r)
        return {'initiate': r.build_id}, self.pb.InitiateUploadResponse(
            upload_instructions=self.pb.UploadInstructions(
                build_id=r.build_id, upload_id=self.begun[r.build_id][0],
                upload_strategy=self.strategy()))

    def upload(self, bodies):
        parts = [decode(self.pb.UploadRequest, b) for b in bodies]
        want(parts and parts[0].WhichOneof('data') == 'info', 'no info first')
        info = parts[0].info
        upload_id, r = self.begun[info.build_id]
        want(info.upload_id == upload_id, 'upload ID')
        want(all(p.WhichOneof('data') == 'chunk_data' and p.chunk_data
                 for p in parts[1:]), 'a part that is no chunk')
        data = b''.join(p.chunk_data for p in parts[1:])
        want(len(data) == r.size, f'{len(data)} bytes instead of {r.size}')
        want(hashlib.sha256(data).hexdigest() == r.hash, 'hash')
        self.keep(info.build_id, data)
        self.ended[info.build_id] = upload_id
        return {'upload': info.build_id, 'size': len(data)}, \
            self.pb.UploadResponse(build_id=info.build_id, size=len(data))

    def finished(self, body):
        r = decode(self.pb.MarkUploadFinishedRequest, body)
        want(self.ended.get(r.build_id) == r.upload_id, 'nothing was uploaded')
        return {'finished': r.build_id}, self.pb.MarkUploadFinishedResponse()


def any_value(v):
    return getattr(v, v.WhichOneof('value')) if v.WhichOneof('value') else None


def otlp(pb, raw, old=3600):
    r = decode(pb.ExportRequest, raw)
    d = r.dictionary
    s = d.string_table
    want(s and s[0] == '', 'string 0')
    for name in ('mapping', 'location', 'function', 'link', 'attribute', 'stack'):
        table = getattr(d, name + '_table')
        want(table, f'no {name} table')
        want(not table[0].SerializeToString().strip(b'\x00') or
             name == 'link', f'{name} 0 is not the zero value')
        rows = [row.SerializeToString(deterministic=True) for row in table]
        want(len(rows) == len(set(rows)), f'a {name} twice')
    want(len(set(s)) == len(s), 'a string twice')
    for f in d.function_table:
        want(max(f.name_strindex, f.system_name_strindex,
                 f.filename_strindex) < len(s), 'function')
    for l in d.location_table:
        want(l.mapping_index < len(d.mapping_table), 'mapping')
        want(all(0 < x.function_index < len(d.function_table) for x in l.lines),
             'line')
    for l in d.location_table[1:]:
        if not l.lines:     # the server must be able to look it up
            of = [d.attribute_table[i] for i in
                  d.mapping_table[l.mapping_index].attribute_indices]
            want([s[a.key_strindex] for a in of] ==
                 ['process.executable.build_id.gnu'], 'no function and no ID')
    for k in d.stack_table:
        want(all(0 < i < len(d.location_table) for i in k.location_indices),
             'stack')
    # no row that nothing refers to
    used = {'stack': {x.stack_index for rp in r.resource_profiles
                      for sp in rp.scope_profiles for p in sp.profiles
                      for x in p.samples},
            'location': {i for k in d.stack_table for i in k.location_indices},
            'function': {x.function_index for l in d.location_table
                         for x in l.lines},
            'mapping': {l.mapping_index for l in d.location_table}}
    for name, of in used.items():
        rows = len(getattr(d, name + '_table'))
        want(of | {0} == set(range(rows)), f'orphans in the {name} table')
    out = []
    ids = set()
    for rp in r.resource_profiles:
        attrs = {a.key: any_value(a.value) for a in rp.resource.attributes}
        want(len(attrs) == len(rp.resource.attributes), 'an attribute twice')
        want(attrs.get('service.name'), 'no service.name')
        for sp in rp.scope_profiles:
            for p in sp.profiles:
                times(p.time_unix_nano, p.duration_nano, old)
                want(len(p.profile_id) == 16 and p.profile_id.strip(b'\0'),
                     'no id')
                want(p.profile_id not in ids, 'an id twice')
                ids.add(p.profile_id)
                want(p.sample_type.type_strindex, 'no type')
                seen = set()
                for x in p.samples:
                    want(len(x.values) == 1 and not x.timestamps_unix_nano,
                         'shape')
                    want(0 < x.stack_index < len(d.stack_table), 'stack')
                    want(all(0 < i < len(d.attribute_table)
                             for i in x.attribute_indices), 'attribute')
                    key = (x.stack_index, tuple(x.attribute_indices))
                    want(key not in seen, 'a stack twice: not summed')
                    seen.add(key)
                out.append({'resource': attrs, 'id': p.profile_id.hex(),
                            'time': p.time_unix_nano,
                            'duration': p.duration_nano,
                            'type': s[p.sample_type.type_strindex],
                            'rows': len(p.samples),
                            'weight': sum(x.values[0] for x in p.samples),
                            'functions': [s[f.name_strindex]
                                          for f in d.function_table[1:]],
                            'unnamed': sum(not l.lines for l in
                                           d.location_table[1:])})
    want(out, 'no profiles')
    return out
