#!/usr/bin/env python3
"""A directory that cannot be read to its end is not taken for a whole one: what is missing then is neither removed nor
numbered again, and no session counts as quiet.

usage: short_dirs.py PROGRAM SHORT_DIR
"""
import json
import os
import shutil
import sys
import tempfile

sys.path[:0] = [f'{os.path.dirname(os.path.dirname(os.path.abspath(__file__)))}{d}' for d in ('', '/commands')]
import exathena_conformance
from support.agent_sessions import AGENTS, write as write_session
from support.program import Program, snapshot
from support.snapshot_world import World

PROGRAM, SHORT = (os.path.abspath(p) for p in sys.argv[1:3])


def sid(n):
    return f'0000000{n}-0000-4000-8000-000000000000'


def write(path, text):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, 'w', encoding='utf-8') as f:
        f.write(text)
    for old in path, os.path.dirname(path):
        os.utime(old, (1770000000, 1770000000))


class Case:
    def __init__(self, top):
        self.top = top
        self.project = f'{top}/home/shop'
        os.makedirs(self.project)
        self.program = Program(PROGRAM, self.project, {
            'CLAUDE_CONFIG_DIR': f'{top}/config', 'GIT_CONFIG_GLOBAL': '/dev/null', 'GEMINI_CLI_HOME': f'{top}/home',
            **{f'XDG_{k}_HOME': f'{top}/{k}' for k in ('STATE', 'DATA', 'CACHE', 'CONFIG')}})

    def session(self, n, folder='-srv-app'):
        row = {'type': 'user', 'uuid': sid(n), 'parentUuid': None, 'cwd': '/srv/app', 'sessionId': sid(n),
               'timestamp': '2026-02-09T02:00:01.000Z', 'message': {'role': 'user', 'content': 'a prompt'}}
        write(f'{self.top}/config/projects/{folder}/{sid(n)}.jsonl', json.dumps(row) + '\n')
        write(f'{self.top}/config/file-history/{sid(n)}/0123456789abcdef@v1', 'a copy\n')

    def short(self, directory, at, *args):
        self.program.env.update(LD_PRELOAD=SHORT, SHORT_DIR=directory, SHORT_AT=str(at))
        done = self.program.run(*args)
        for name in 'LD_PRELOAD', 'SHORT_DIR', 'SHORT_AT':
            del self.program.env[name]
        return done

    def unchanged(self, what, directory, args, code=1):
        """Wherever the directory ends early, the command says so and changes nothing."""
        before = snapshot(self.top + '/config') | snapshot(self.top + '/home')
        for at in range(len(os.listdir(directory)) + 2):
            done = self.short(directory[len(self.top):], at, *args)
            now = snapshot(self.top + '/config') | snapshot(self.top + '/home')
            self.program.same(f'{what}, {at} entries: {done.stdout} {done.stderr}', (done.returncode, now == before), (code, True))


def orphans(c):
    """Saved copies whose session is in a part of the store that was not read belong to nobody's list of what is left."""
    for n, folder in (1, '-srv-app'), (2, '-srv-app'), (3, '-srv-other'), (4, '-srv-other'):
        c.session(n, folder)
    sweep = 'sweep', '--all', '--orphans', '--older-than', '1d', '--apply'
    for folder in '', '/-srv-app', '/-srv-other':
        c.unchanged(f'orphans of projects{folder}', f'{c.top}/config/projects{folder}', sweep)
    c.program.same('none without a fault', c.program.json('sweep', '--all', '--orphans', '--dry-run')['sessions'], [])


def running(c):
    """A registry that was not read to its end does not say that a session is quiet."""
    c.session(1)
    with open(f'/proc/{os.getpid()}/stat', encoding='ascii') as f:
        start = f.read().rsplit(')', 1)[1].split()[19]
    c.program.env['REPRISE_PROC_DIR'] = '/proc'
    write(f'{c.top}/config/sessions/{os.getpid()}.json',
          json.dumps({'pid': os.getpid(), 'sessionId': sid(1), 'procStart': start, 'cwd': '/srv/app'}))
    c.unchanged('delete of a running session', f'{c.top}/config/sessions', ('delete', sid(1), '--yes'), 4)


def versions(c):
    """The newest of the saved versions of ExAthena is the one that is there now, and the first says whether there was a file."""
    c.home = c.top + '/config'
    os.makedirs(c.home)
    c.env, c.run, c.json = c.program.env, c.program.run, c.program.json
    x = exathena_conformance.Case(c)
    saved, first = f'{x.store}/file-history/{exathena_conformance.SID}', exathena_conformance.U
    for name in '', *(f'/{n}' for n in os.listdir(saved)):
        c.unchanged(f'ExAthena{name}', saved + name, x.args('rewind', exathena_conformance.SID, '--to', first, '--mode', 'code', '--apply'))
    os.rename(x.log(), x.log('other'))
    sweep = x.args('sweep', '--orphans', '--older-than', '0d', '--apply')
    os.utime(x.log('other'), (1770000000, 1770000000))
    c.unchanged('orphans of ExAthena', f'{x.store}/sessions', sweep)


def working(c):
    """A snapshot of a part of a directory would say that the rest did not exist, and a rewind to it would remove that."""
    w = World(PROGRAM, False)
    w.put('sub/c.txt', 'c\n')
    for at in range(5):
        w.reprise.env.update(LD_PRELOAD=SHORT, SHORT_DIR='/project/sub', SHORT_AT=str(at))
        w.trees.append(w.tree())
        w.hook('UserPromptSubmit', f'prompt {at}')
        del w.reprise.env['LD_PRELOAD']
        w.hook = lambda *_: None
        w.turn(f'prompt {at}', lambda at=at: w.put('a.txt', f'{at}\n'))
        del w.hook
        w.trees.pop()
        w.hook('Stop')
    w.write()
    for at, point in enumerate(w.points):
        kept = w.tree()
        w.reprise.run('rewind', w.id, '--to', point, '--apply', '--mode=code')
        c.program.same(f'a snapshot that ends after {at} entries', {k: v for k, v in w.tree().items() if k != 'a.txt'},
                       {k: v for k, v in kept.items() if k != 'a.txt'})
    into = f'{w.root}/into'
    w.put('into/mine', 'a file of the user\n')
    for at in range(3):
        w.reprise.env.update(LD_PRELOAD=SHORT, SHORT_DIR='/project/into', SHORT_AT=str(at))
        before, run = w.tree(), w.reprise.run('rewind', w.id, '--to', w.points[0], '--into', into, '--apply')
        c.program.same(f'a scratch copy after {at} entries: {run}', (run.returncode in (1, 4), w.tree() == before), (True, True))
        del w.reprise.env['LD_PRELOAD']
    w.remove()


def kept(c):
    """A copy of a part of a session is not kept as the session."""
    c.session(1)
    c.session(2)
    for n in 1, 2, 3:
        write(f'{c.top}/config/projects/-srv-app/{sid(1)}/subagents/agent-{n}.jsonl', '{}\n')
    def manifests():
        return [name for name, data in snapshot(f'{c.top}/DATA').items() if name.endswith('manifest') and sid(1) in str(data)]

    for at in range(4):
        done = c.short(f'/config/projects/-srv-app/{sid(1)}/subagents', at, 'keep', '--all', sid(1))
        c.program.same(f'keep of {at} sub-agents: {done.stderr}', (done.returncode, manifests()), (1, []))
    c.program.same('kept without a fault', (c.program.run('keep', '--all', sid(1)).returncode, len(manifests())), (0, 1))


def lists(c):
    """A list says which directory it could not read: a session that it lacks is not silently gone. Nor is it without a fault."""
    def answer(run):
        return b'a prompt' in run.stdout, run.stderr

    for agent in AGENTS:
        home = f'{c.top}/{agent}'
        c.program.env['HOME'] = c.program.env['GEMINI_CLI_HOME'] = home
        os.makedirs(f'{home}/work')
        path = write_session(agent, home, f'{home}/work', 1, 1770000000, 'a prompt')
        commands = ('list', '--all'), ('list', '--project', f'{home}/work'), ('search', '--all', '-F', 'a prompt')
        for args in commands:
            c.program.same(f'{agent} {args}', answer(c.program.run(*args)), (True, b''))
        while (path := os.path.dirname(path)) != home:
            for at in range(len(os.listdir(path)) + 2):
                for args in commands:
                    found, said = answer(c.short(path[len(c.top):], at, *args))
                    c.program.need(found or b'cannot list sessions in' in said or b'cannot read the folder' in said,
                                   f'{agent} {args}: {path} ends after {at} entries: {said}')


def elsewhere(c):
    """So does a folder of Claude that has another project's name: the directory was moved, and a link was left."""
    os.symlink(c.project, f'{c.top}/home/old')
    row = {'type': 'user', 'uuid': sid(1), 'parentUuid': None, 'cwd': f'{c.top}/home/old', 'timestamp': '2026-02-09T02:00:01.000Z',
           'message': {'role': 'user', 'content': 'a prompt'}}
    for n in 1, 2:
        write(f'{c.top}/config/projects/-srv-old/{sid(n)}.jsonl', json.dumps({**row, 'sessionId': sid(n)}) + '\n')
    c.session(3, '-srv-other')
    args = 'list', '--project', c.project
    whole = c.program.run(*args)
    c.program.same('both without a fault', (whole.stdout.count(b'a prompt'), whole.stderr), (2, b''))
    for folder in '-srv-old', '-srv-other':
        for at in range(5):
            done = c.short(f'/config/projects/{folder}', at, *args)
            c.program.need((b'cannot list sessions in' in done.stderr) == (folder == '-srv-old' or at < 3) and
                           (folder == '-srv-old' or done.stdout == whole.stdout), f'{folder} ends after {at} entries: {done}')


def agents(c):
    """A list of sub-agents that a directory's error cuts short is no list."""
    c.session(1)
    write(f'{c.top}/config/projects/-srv-app/{sid(1)}/subagents/agent-1.jsonl', '{}\n')
    gemini = write_session('gemini', f'{c.top}/home', c.project, 1, 1770000000, 'a prompt')
    of_gemini = '019a0000-0000-4000-8000-000000000001'
    write(f'{os.path.dirname(gemini)}/{of_gemini}/{sid(2)}.jsonl', '{}\n')
    for session, folder in (sid(1), f'{sid(1)}/subagents'), (of_gemini, of_gemini):
        for command in 'subagents', 'info':
            whole = c.program.run(command, session)
            c.program.same(f'{command} without a fault', (whole.returncode, whole.stderr), (0, b''))
            for at in range(4):
                done = c.short(f'/{folder}', at, command, session)
                c.program.need(done.returncode == 1 and b'look for sub-agents' in done.stderr, f'{command} {session} at {at}: {done}')


if __name__ == '__main__':
    failed = passed = 0
    for check in orphans, running, versions, working, kept, lists, elsewhere, agents:
        top = os.path.realpath(tempfile.mkdtemp())
        try:
            c = Case(top)
            check(c)
            failed, passed = failed + c.program.failed, passed + c.program.passed
        finally:
            shutil.rmtree(top)
    print(f'{passed} passed, {failed} failed')
    sys.exit(failed > 0 or passed < 40)
