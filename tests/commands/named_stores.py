#!/usr/bin/env python3
"""Stores of the configuration in the format of a system: work and private side by side, with the same ids, too.

usage: named_stores.py PROGRAM
"""
import hashlib
import json
import os
import sys
import tempfile

from support.program import Program

ONE, TWO, BOTH = (f'{n}1111111-1111-4111-8111-111111111111' for n in (1, 2, 3))
FIRST, SECOND = 'aaaaaaaa-0000-4000-8000-000000000001', 'aaaaaaaa-0000-4000-8000-000000000002'
TIME = '2026-02-09T02:0{}:00.000Z'


def put(path, text, mode=0o600):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, 'w', encoding='utf-8') as f:
        f.write(text)
    os.chmod(path, mode)


def get(path):
    with open(path, encoding='utf-8') as f:
        return f.read()


class World:
    def __init__(self, program, top):
        self.home = f'{top}/home'
        self.project = f'{top}/home/code/shop'
        self.config = f'{top}/config/reprise/config'
        os.makedirs(self.project)
        self.p = Program(program, self.project, {
            'HOME': self.home, 'PATH': f'{top}/bin:' + os.environ['PATH'],
            **{f'XDG_{k}_HOME': f'{top}/{k.lower()}' for k in ('CONFIG', 'STATE', 'DATA')}})
        for name in 'claude', 'cl-work':
            put(f'{top}/bin/{name}', '#!/bin/sh\necho "$(basename "$0") $* in $(pwd) with ${CLAUDE_CONFIG_DIR-no variable}"\n', 0o755)

    def session(self, store, sid, prompt, path='', before='', after=''):
        """A session of Claude Code whose first turn turned one text into another."""
        rows = []
        for n, (uid, text) in enumerate(((FIRST, before), (SECOND, after))):
            name = f'{hashlib.sha256(path.encode()).hexdigest()[:16]}@v{n + 1}'
            put(f'{self.home}/{store}/file-history/{sid}/{name}', text)
            saved = {path: {'backupFileName': name, 'version': n + 1, 'backupTime': TIME.format(n)}} if path else {}
            rows.append({'type': 'file-history-snapshot', 'messageId': uid, 'isSnapshotUpdate': False,
                         'snapshot': {'messageId': uid, 'timestamp': TIME.format(n), 'trackedFileBackups': saved}})
            rows.append({'type': 'user', 'uuid': uid, 'parentUuid': FIRST if n else None, 'cwd': self.project, 'sessionId': sid,
                         'isSidechain': False, 'timestamp': TIME.format(n), 'version': '2.1.197',
                         'message': {'role': 'user', 'content': f'{prompt} {n}'}})
        folder = ''.join(c if c.isalnum() else '-' for c in self.project)
        put(f'{self.home}/{store}/projects/{folder}/{sid}.jsonl', ''.join(json.dumps(r) + '\n' for r in rows))

    def rows(self, *args):
        return {(r['system'], r['sessionId']): r for r in self.p.json('list', '--all', *args, missing=[])}


def lists_them_side_by_side(w):
    p = w.p
    rows = w.rows()
    p.same('list', sorted(rows), [('claude', ONE), ('claude', BOTH), ('work', TWO), ('work', BOTH)])
    # The last messages are equally old. The id decides, for one id the store, as on the screen, and never the time of the file.
    folder = ''.join(c if c.isalnum() else '-' for c in w.project)
    for days in (20000, 20600), (20600, 20000):
        for store, day in zip(('.claude', 'work'), days):
            os.utime(f'{w.home}/{store}/projects/{folder}/{BOTH}.jsonl', (86400 * day,) * 2)
        p.same(f'order, days {days}', [(r['system'], r['sessionId']) for r in p.json('list', '--all', missing=[])],
               [('claude', BOTH), ('work', BOTH), ('work', TWO), ('claude', ONE)])
    p.same('format', [rows['work', TWO].get('format'), rows['claude', ONE].get('format')], ['claude', None])
    p.same('--store NAME', sorted(w.rows('--store', 'work')), [('work', TWO), ('work', BOTH)])
    p.same('--system NAME', sorted(w.rows('--system', 'work')), [('work', TWO), ('work', BOTH)])
    p.same('--system claude', sorted(w.rows('--system', 'claude')), [('claude', ONE), ('claude', BOTH)])
    for name, prompt in ('work', 'alpha'), ('claude', 'beta'):
        p.same(f'{name}:ID', p.json('info', f'{name}:{BOTH}')['firstPrompt'], f'{prompt} 0')
        p.same(f'messages of {name}', len(p.json('messages', f'{name}:{BOTH}')), 2)
    run = p.run('info', BOTH)
    p.need(run.returncode == 2 and f'claude:{BOTH}, work:{BOTH}'.encode() in run.stderr, f'an id of both: {run}')
    p.same('the start of an id', p.json('info', TWO[:6])['system'], 'work')
    found = [json.loads(line) for line in p.run('search', '--all', '--json', 'alpha').stdout.splitlines()]
    p.same('search', {(r['system'], r['session']) for r in found}, {('work', TWO), ('work', BOTH)})


def answer(p, *args):
    return p.run(*args, '--all').stdout.decode().strip()


def resumes_with_its_own_command(w):
    p = w.p
    there = f'in {w.project}'
    p.same('the system\'s command finds the store', answer(p, '--resume', TWO),
           f'claude --resume {TWO} {there} with {w.home}/work')
    p.same('--print', answer(p, '--print', '--resume', TWO),
           f'cd {w.project} && CLAUDE_CONFIG_DIR={w.home}/work claude --resume {TWO}')
    p.same('the default store', answer(p, '--resume', ONE), f'claude --resume {ONE} {there} with no variable')
    put(w.config, '[claude]\nresume = claude --resume {id} --all\n' + get(w.config))
    p.same('the command of its system', answer(p, '--resume', TWO), f'claude --resume {TWO} --all {there} with {w.home}/work')
    put(w.config, get(w.config) + 'resume = cl-work -r {id}\nfork = cl-work -r {id} -f {cwd}\n')
    p.same('its own command', answer(p, '--resume', TWO), f'cl-work -r {TWO} {there} with no variable')
    p.same('its own fork', answer(p, '--fork', '--resume', TWO), f'cl-work -r {TWO} -f {w.project} {there} with no variable')
    p.same('the fork, printed', answer(p, '--fork', '--print', '--resume', TWO),
           f'cd {w.project} && cl-work -r {TWO} -f {w.project}')
    p.same('its own command is of no other', answer(p, '--resume', ONE), f'claude --resume {ONE} --all {there} with no variable')
    run = p.run('fork', f'work:{BOTH}')
    p.need(run.returncode != 0 and run.stderr.count(b'\n') == 1 and f'reprise --fork --resume work:{BOTH}'.encode() in run.stderr,
           f'its own fork is not ours: {run}')
    fork = p.json('fork', f'work:{BOTH}', '--at', SECOND)
    p.need(fork['path'].startswith(f'{w.home}/work/projects/'), f'a fork is in its store: {fork}')
    p.same('undo of the fork', (p.run('undo').returncode, os.path.exists(fork['path'])), (0, False))
    put(w.config, get(w.config).replace('cl-work -r', 'cl-nothing -r'))
    run = p.run('--all', '--resume', TWO)
    p.need(b'under [store.work]' in run.stderr, f'a program that is not there: {run}')


def rewinds(w):
    p = w.p
    path = f'{w.project}/price.txt'
    put(path, 'work 2\n', 0o644)
    dry = p.json('rewind', f'work:{BOTH}', '--to', FIRST)
    p.same('plan', [f['path'] for f in dry['files'] if f['action'] == 'restore'], [path])
    p.same('apply', p.run('rewind', f'work:{BOTH}', '--to', FIRST, '--apply').returncode, 0)
    p.same('the bytes of its store', get(path), 'work 1\n')
    record = p.json('rewinds')[0]
    p.same('the record', (record['system'], record['sessionId']), ('work', BOTH))
    p.same('undo in the scope', (p.run('undo').returncode, get(path)), (0, 'work 2\n'))
    p.same('rename', p.run('rename', f'work:{TWO}', 'A title').returncode, 0)
    p.same('renamed', w.rows()['work', TWO]['summary'], 'A title')
    p.same('undone', (p.run('undo').returncode, w.rows()['work', TWO]['summary']), (0, 'alpha 0'))


def knows_its_mistakes(w):
    p = w.p
    for text, line, why in (
            ('[store.x]\nformat = clade\npath = /x\n', 2, 'unknown agent "clade"; did you mean claude?'),
            ('[store.x]\npaht = /x\nformat = claude\npath = /x\n', 2, 'unknown setting "paht"; did you mean path?'),
            ('[store.x]\nformat = claude\npath = /x\nfrok = y\n', 4, 'unknown setting "frok"; did you mean fork?'),
            ('[store.x]\nformt = claude\npath = /x\n', 2, 'unknown setting "formt"; did you mean format?'),
            ('[store.x]\nplugin = folder\nformat = claude\npath = /x\n', 2, 'a store has a format or a plugin, not both')):
        put(w.config, text)
        run = p.run('config', '--check')
        want = f'reprise: {w.config}:{line}: {why}\n'
        p.need(run.returncode != 0 and run.stderr.decode().count(want) == 1, f'{text!r}: {run.stderr}')
    put(w.config, '[store.team]\nformat = claude\npath = /x\n')
    for args, why in ((('list', '--system', 'claud'), '"claud" is not an agent that reprise knows; did you mean claude?'),
                      (('list', '--system', 'taem'), '"taem" is not an agent that reprise knows; did you mean team?'),
                      (('list', '--system', 'nothing'), '"nothing" is not an agent that reprise knows; see reprise help agents'),
                      (('list', '--store', 'cdoex:/x'), '"cdoex" is not an agent that reprise knows; did you mean codex?'),
                      (('list', '--store', 'taem'), '"taem" is not an agent that reprise knows; did you mean team?'),
                      (('create', 'gaot:/x'), '"gaot" is not an agent that reprise knows; did you mean goat?')):
        run = p.run(*args)
        p.same(f'{args}', (run.returncode, run.stderr.decode()), (2, f'reprise: {why}\n'))
    put(w.config, '[store.x]\nplugin = folder\nformt = claude\npath = /x\n')
    p.same('a plug-in may know the name', p.run('config', '--check').returncode, 0)
    for text, why in (('format = claude', b'names no path'), ('path = /x', b'neither a plug-in nor a format; add format = '),
                      (f'format = claude\npath = {w.home}/nowhere', b'nowhere')):
        put(w.config, f'[store.x]\n{text}\n')
        run = p.run('list', '--all')
        p.need(run.returncode == 0 and run.stderr.count(b'\n') == 1 and why in run.stderr and ONE[:8].encode() in run.stdout,
               f'{text}: {run}')


def is_one_store_under_its_own_name(w):
    put(w.config, '[store.mine]\nformat = claude\npath = ~/.claude/\n')
    w.p.same('the default store by its own name', sorted(w.rows()), [('mine', ONE), ('mine', BOTH)])
    w.p.same('its settings are shown', [(e['name'], e['value']) for e in w.p.json('config') if e.get('section') == 'store.mine'],
             [('format', 'claude'), ('path', '~/.claude/')])


def main():
    with tempfile.TemporaryDirectory() as top:
        w = World(sys.argv[1], os.path.realpath(top))
        w.session('.claude', ONE, 'beta')
        w.session('work', TWO, 'alpha')
        w.session('.claude', BOTH, 'beta', f'{w.project}/price.txt', 'private 1\n', 'private 2\n')
        w.session('work', BOTH, 'alpha', f'{w.project}/price.txt', 'work 1\n', 'work 2\n')
        put(w.config, f'[store.work]\nformat = claude\npath = {w.home}/work\n')
        for test in (lists_them_side_by_side, rewinds, resumes_with_its_own_command, knows_its_mistakes,
                     is_one_store_under_its_own_name):
            test(w)
        w.p.finish(40)


main()
