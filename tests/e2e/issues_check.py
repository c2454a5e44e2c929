# SPDX-License-Identifier: GPL-2.0-or-later
"""Lists of issues for other tools, checked by the rules of their documents.

    issues_check.py sarif FILE...
    issues_check.py gitlab FILE...

SARIF: the OASIS Standard "Static Analysis Results Interchange Format (SARIF) Version
2.1.0", by section; if SARIF_SCHEMA names its published JSON schema and python3-jsonschema
is installed, by that, too.  GitLab: its documentation of "Code Quality report format".
"""
import json
import os
import re
import sys
import urllib.parse


def closed(what, obj, needs, may=()):
    """An object has what it needs and nothing that the document does not name."""
    assert isinstance(obj, dict), (what, obj)
    assert set(needs) <= set(obj) <= set(needs) | set(may), (what, sorted(obj))


def text(what, value):
    assert isinstance(value, str) and value, (what, value)
    assert not re.search(r'[\x00-\x08\x0b-\x1f\x7f]', value), (what, value)


def reference(uri):
    """RFC 3986: a relative reference without a scheme, or file://."""
    text('3.4.3 uri', uri)
    assert re.fullmatch(r"[A-Za-z0-9._~:/?#\[\]@!$&'()*+,;=%-]+", uri), uri
    assert not re.search(r'%(?![0-9A-F]{2})', uri), uri
    scheme = urllib.parse.urlsplit(uri).scheme
    assert scheme in ('', 'file'), uri


def result(r, rules):
    closed('3.27 result', r, ('ruleId', 'level', 'message', 'locations'),
           ('partialFingerprints',))
    assert r['ruleId'] in rules, r
    assert r['level'] in ('none', 'note', 'warning', 'error'), '3.27.10'
    closed('3.11 message', r['message'], ('text',))
    text('3.11.8 text', r['message']['text'])
    for place in r['locations']:
        closed('3.28 location', place, ('physicalLocation',))
        closed('3.29 physicalLocation', place['physicalLocation'],
               ('artifactLocation',), ('region',))
        closed('3.4 artifactLocation',
               place['physicalLocation']['artifactLocation'], ('uri',))
        reference(place['physicalLocation']['artifactLocation']['uri'])
        region = place['physicalLocation'].get('region', {'startLine': 1})
        closed('3.30 region', region, ('startLine',))
        assert type(region['startLine']) is int and region['startLine'] >= 1
    for key, value in r.get('partialFingerprints', {}).items():
        # 3.27.17: a hierarchical string that ends in a version
        assert re.fullmatch(r'[A-Za-z0-9]+(/v[0-9]+)', key), key
        text('3.27.17 partialFingerprints', value)


def sarif(log):
    closed('3.13 sarifLog', log, ('version', 'runs'), ('$schema',))
    assert log['version'] == '2.1.0', '3.13.2'
    assert 1 <= len(log['runs']) <= 20, 'GitHub takes 20 runs'
    for run in log['runs']:
        closed('3.14 run', run, ('tool', 'results'))
        closed('3.18 tool', run['tool'], ('driver',))
        driver = run['tool']['driver']
        closed('3.19 toolComponent', driver, ('name', 'rules'),
               ('version', 'informationUri'))
        text('3.19.8 name', driver['name'])
        for rule in driver['rules']:
            closed('3.49 reportingDescriptor', rule, ('id',),
                   ('shortDescription', 'fullDescription'))
            closed('3.12 multiformatMessageString',
                   rule['shortDescription'], ('text',))
            text('3.12.3 text', rule['shortDescription']['text'])
        rules = [r['id'] for r in driver['rules']]
        assert len(set(rules)) == len(rules), rules
        assert len(run['results']) <= 25000, 'GitHub takes 25,000 results'
        for r in run['results']:
            result(r, rules)


def gitlab(issues):
    assert isinstance(issues, list)
    for i in issues:
        closed('issue', i, ('description', 'check_name', 'fingerprint',
                            'severity', 'location'))
        text('description', i['description'])
        text('check_name', i['check_name'])
        text('fingerprint', i['fingerprint'])
        assert i['severity'] in ('info', 'minor', 'major', 'critical',
                                 'blocker'), i
        closed('location', i['location'], ('path', 'lines'))
        text('path', i['location']['path'])
        assert not i['location']['path'].startswith('./')
        closed('lines', i['location']['lines'], ('begin',))
        assert type(i['location']['lines']['begin']) is int
        assert i['location']['lines']['begin'] >= 1
    prints = [i['fingerprint'] for i in issues]
    assert len(set(prints)) == len(prints), 'fingerprints are unique'


def by_schema(log):
    import jsonschema
    with open(os.environ['SARIF_SCHEMA'], encoding='utf-8') as f:
        schema = json.load(f)
    jsonschema.Draft4Validator(
        schema, format_checker=jsonschema.FormatChecker()).validate(log)


def main():
    kind = sys.argv[1]
    for path in sys.argv[2:]:
        with open(path, encoding='utf-8') as f:
            data = json.load(f)
        {'sarif': sarif, 'gitlab': gitlab}[kind](data)
        if kind == 'sarif' and os.environ.get('SARIF_SCHEMA'):
            by_schema(data)


main()
