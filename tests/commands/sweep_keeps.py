#!/usr/bin/env python3
"""A sweep keeps what a person tagged or named, says so, and is narrowed by a tag or a filter.

usage: sweep_keeps.py PROGRAM
"""
import json
import os
import shutil
import sys
import tempfile

from support.program import Program


def put(path, body):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, 'w', encoding='utf-8') as f:
        f.write(body)
    os.utime(path, (1770000000, 1770000000))


def sid(i):
    return f'{i}0000000-0000-4000-8000-000000000000'


class World:
    def __init__(self, path):
        self.top = os.path.realpath(tempfile.mkdtemp())
        self.project = f'{self.top}/home/shop'
        self.goat = f'{self.top}/goat'
        os.makedirs(self.project)
        self.program = Program(path, f'{self.top}/home', {
            'CLAUDE_CONFIG_DIR': f'{self.top}/config', 'GIT_CONFIG_GLOBAL': '/dev/null',
            **{f'XDG_{k}_HOME': f'{self.top}/{k}' for k in ('STATE', 'DATA', 'CACHE', 'CONFIG')}})

    def session(self, i, *more, prompt='a prompt', padding=0):
        row = {'type': 'user', 'uuid': f'aaaaaaaa-0000-4000-8000-00000000000{i}', 'parentUuid': None, 'cwd': self.project,
               'sessionId': sid(i), 'timestamp': '2026-02-09T02:00:01.000Z', 'message': {'role': 'user', 'content': prompt}}
        pad = [{'type': 'mode', 'mode': 'x' * 1000}] * padding
        folder = ''.join(c if c.isalnum() else '-' for c in self.project)
        rows = [row, *pad, *[{**r, 'sessionId': sid(i)} for r in more], *pad]
        put(f'{self.top}/config/projects/{folder}/{sid(i)}.jsonl', ''.join(json.dumps(r) + '\n' for r in rows))

    def sweep(self, *words):
        return self.program.json('sweep', '--all', *words)

    def ids(self, *words):
        found = self.sweep(*words)
        return (''.join(sorted(s['sessionId'][0] for s in found['sessions'])),
                ''.join(sorted(s['sessionId'][0] for s in found['leftOut'])))


def check(w):
    p = w.program
    tagged, named = {'type': 'tag', 'tag': 'keep'}, {'type': 'custom-title', 'customTitle': 'mine'}
    w.session(1, tagged)
    w.session(2, named)
    w.session(3, {'type': 'ai-title', 'aiTitle': 'made by the agent'})
    w.session(4, tagged, padding=200)
    w.session(5, named, padding=200)
    w.session(6, prompt='the retry loop')
    old = ['--older-than', '30d']
    p.same('kept by default', w.ids(*old), ('36', '1245'))
    p.same('with tagged', w.ids(*old, '--include-tagged'), ('1346', '25'))
    p.same('with named', w.ids(*old, '--include-named'), ('2356', '14'))
    p.same('with both', w.ids(*old, '--include-tagged', '--include-named'), ('123456', ''))
    p.same('other rules', w.ids('--larger-than', '1')[1], '1245')
    p.same('by tag', w.ids('--tag', 'keep'), ('', '14'))
    p.same('by tag, included', w.ids('--tag', 'keep', '--include-tagged'), ('14', ''))
    p.same('by filter', w.ids('--query', 'retry before:30d'), ('6', ''))
    p.same('not this tag', w.ids('--query', 'before:30d !tag:keep', '--include-named'), ('2356', ''))
    w.session(7, prompt=' ')
    p.same('no prompt', [s['title'] for s in w.sweep(*old)['sessions'] if s['sessionId'] == sid(7)], ['(no prompt yet)'])
    os.remove(next(f'{d}/{f}' for d, _, names in os.walk(w.top) for f in names if f == f'{sid(7)}.jsonl'))
    found = w.sweep(*old)
    p.same('counted', (found['keptTagged'], found['keptNamed']), (2, 2))
    why = {s['sessionId'][0]: (s['kept'], s['why']) for s in found['leftOut']}
    p.same('why', why['1'], ('tagged', 'tagged #keep'))
    p.same('why', why['5'], ('named', 'named by hand'))
    text = p.run('sweep', '--all', *old).stdout.decode()
    p.need('kept: 2 tagged and 2 named by hand (--include-tagged and --include-named select them, too)' in text, text)
    # A query that is not complete would select everything: refused.
    for query in 'tag:', '', 'before:soon', '//retry', 'is:marked', '!is:marked', 'a ' * 17:
        run = p.run('sweep', '--all', '--query', query, '--apply')
        p.same(query, (run.returncode, run.stdout), (2, b''))
    # A rename or a tag by reprise counts as well.
    p.json('rename', sid(3), 'by hand')
    p.json('tag', sid(6), 'x')
    moved = p.json('sweep', '--all', '--empty', *old, '--apply')
    p.same('nothing moved', moved['sessions'], [])
    p.same('all kept', w.ids('--larger-than', '1'), ('', '123456'))
    # The same for a Go session that was renamed.
    put(f'{w.goat}/g1/metadata.json', json.dumps({'id': 'g1', 'cwd': w.project, 'created_at': '2026-02-09T02:00:01Z',
                                                  'updated_at': '2026-02-09T02:00:01Z', 'message_count': 1}))
    put(f'{w.goat}/g1/messages.jsonl', json.dumps({'role': 'user', 'content': 'hello'}) + '\n')
    at = ['--store', f'goat:{w.goat}', '--larger-than', '1']
    p.same('goat', w.ids(*at), ('g', ''))
    p.json('rename', '--store', f'goat:{w.goat}', 'g1', 'by hand')
    p.same('goat, named', w.ids(*at), ('', 'g'))


def main():
    w = World(sys.argv[1])
    try:
        check(w)
    finally:
        shutil.rmtree(w.top)
    print(f'{w.program.passed} passed, {w.program.failed} failed')
    sys.exit(1 if w.program.failed or w.program.passed < 24 else 0)


main()
