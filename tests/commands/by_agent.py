#!/usr/bin/env python3
"""Changes that only the agent of a session can make: its command is shown, run after a question, and recorded.

usage: by_agent.py PROGRAM [DIRECTORY...]
With directories, the real programs in these are run on the recorded stores instead of our imitations. Their indices contain
the paths of the recording, so /home/dev must be an empty directory; it is empty again afterwards:

    unshare -n -m sh -c 'mount -t tmpfs none /home/dev; by_agent.py PROGRAM BIN...'
"""
import glob
import json
import os
import pty
import shutil
import sqlite3
import subprocess
import sys
import tarfile
import tempfile
import time

from support.program import Program, snapshot

FIXTURES = os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'fixtures', 'agents')

# What the real programs do to these stores, without their databases of indices. FAKE says what goes wrong.
CODEX = f'#!{sys.executable}\n' + r'''import glob, os, shutil, sys
top = os.environ.get('CODEX_HOME') or os.path.expanduser('~/.codex')
wrong = os.environ.get('FAKE', '')
open(os.path.expanduser('~/calls'), 'a').write(' '.join(['codex', *sys.argv[1:], 'in', os.getcwd()]) + '\n')
found = [p for p in glob.glob(f'{top}/*sessions/**/rollout-*{sys.argv[-1]}*', recursive=True)]
if wrong in ('fails', 'fails ' + sys.argv[-1]):
    sys.exit('\x1b[31mfirst line\x1b[0m\n\x1b[91mError: \x1b[0mthe database is locked\n')
if wrong == 'partly':
    os.unlink(found[0])
    sys.exit('Error: stopped half way')
if wrong == 'nothing':
    sys.exit(0)
if wrong == 'kills':
    os.kill(os.getppid(), 9)
if sys.argv[1] == 'delete' and sys.argv[2] != '--force':
    sys.exit('cannot confirm session deletion without an interactive terminal')
if not found:
    sys.exit('no such session')
for p in found:
    if sys.argv[1] == 'delete':
        os.unlink(p)
    elif sys.argv[1] == 'archive':
        os.makedirs(f'{top}/archived_sessions', exist_ok=True)
        shutil.move(p, f'{top}/archived_sessions/')
    else:
        day = os.path.basename(p)[8:18].split('-')
        os.makedirs(f'{top}/sessions/' + '/'.join(day), exist_ok=True)
        shutil.move(p, f'{top}/sessions/' + '/'.join(day))
'''
OPENCODE = f'#!{sys.executable}\n' + r'''import os, sqlite3, sys
assert sys.argv[1:3] == ['session', 'delete'], sys.argv
db = sqlite3.connect(os.path.expanduser('~/.local/share/opencode/opencode.db'))
if not db.execute('select 1 from session where id = ?', sys.argv[3:]).fetchone():
    sys.exit('Session not found')
for table, column in ('part', 'session_id'), ('message', 'session_id'), ('session', 'id'):
    db.execute(f'delete from {table} where {column} = ?', sys.argv[3:])
db.commit()
'''
CLINE = f'#!{sys.executable}\n' + r'''import json, os, shutil, sys
a = sys.argv
top = os.path.expanduser('~/.cline/data/sessions/') + a[a.index('--session-id') + 1]
assert a[1] == 'history', a
if a[2] == 'delete':
    shutil.rmtree(top)
else:
    path = f'{top}/{os.path.basename(top)}.json'
    told = json.load(open(path))
    told.setdefault('metadata', {})['title'] = a[a.index('--title') + 1]
    json.dump(told, open(path, 'w'))
'''
FAKES = {'codex': CODEX, 'opencode': OPENCODE, 'cline': CLINE}


class World:
    """The recorded store of one agent in a home of its own."""

    def __init__(self, program, top, agent, real):
        self.home, self.agent, self.real = '/home/dev' if real else f'{top}/home', agent, real
        os.makedirs(self.home, exist_ok=True)
        if os.listdir(self.home):
            sys.exit(f'{self.home} is not empty')
        with tarfile.open(glob.glob(f'{FIXTURES}/{agent}/store.tar.*')[0]) as tar:
            tar.extractall(self.home)
        os.makedirs(f'{top}/bin')
        with open(f'{top}/bin/{agent}', 'w', encoding='utf-8') as f:
            f.write(FAKES[agent])
        os.chmod(f'{top}/bin/{agent}', 0o755)
        self.bin = ':'.join(real) or f'{top}/bin'
        self.p = Program(program, self.home, {'PATH': f'{self.bin}:' + os.environ['PATH'],
                                              **{f'XDG_{k}_HOME': f'{top}/own/{k.lower()}' for k in ('CONFIG', 'STATE')},
                                              'XDG_DATA_HOME': f'{self.home}/.local/share'})

    def close(self):
        for name in os.listdir(self.home):
            path = f'{self.home}/{name}'
            shutil.rmtree(path) if os.path.isdir(path) and not os.path.islink(path) else os.unlink(path)
        return self.p

    def rows(self, *args):
        return {r['sessionId']: r for r in self.p.json('list', '--all', *args, missing=[])}

    def files(self):
        return {path: what[-1] for path, what in snapshot(f'{self.home}/.{self.agent}').items()
                if what[-1] is not None and '/sessions/' in path}

    def trash(self):
        return self.p.json('trash', 'list')


def names_the_command(w, sid):
    """--print runs nothing; without a terminal nothing is run either, and the error names the command."""
    before, p = w.files(), w.p
    line = f'cd {w.home} && codex delete --force {sid}'
    p.same('--print', p.run('delete', '--print', sid).stdout.decode(), line + '\n')
    said = p.json('archive', '--print', sid)
    p.same('--print --json', (said['command'], said['system'], said['id']), (['codex', 'archive', sid], 'codex', sid))
    run = p.run('delete', sid)
    p.need(run.returncode == 4 and f'add --yes to run "{line}"'.encode() in run.stderr, f'no question can be asked: {run}')
    p.same('nothing was run', (w.files(), w.trash(), os.path.exists(f'{w.home}/calls')), (before, [], False))


def answers(w, sid, typed):
    """Runs an archive on a terminal and types an answer. Returns the exit code and what was shown."""
    pid, fd = pty.fork()
    if pid == 0:
        os.chdir(w.home)
        os.execve(w.p.path, [w.p.path, 'archive', sid], w.p.env)
    shown = b''
    while b'[y/N] ' not in shown:
        shown += os.read(fd, 4096)
    os.write(fd, typed)
    try:
        while more := os.read(fd, 4096):
            shown += more
    except OSError:
        pass
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), shown.decode()


def asks_first(w, sid):
    p = w.p
    for typed in b'\n', b'n\n', b'\x04':
        code, shown = answers(w, sid, typed)
        p.need(code == 130 and f'codex archive {sid}' in shown and not w.rows()[sid].get('archived'), f'{typed}: {code} {shown}')
    code, shown = answers(w, sid, b'y\n')
    p.need(code == 0 and w.rows('--archived')[sid]['archived'], f'yes: {code} {shown}')
    p.text('unarchive', '--yes', sid)
    p.need(not w.rows()[sid].get('archived'), 'unarchive')
    log = p.json('log')
    p.same('log', [(x['kind'], x['command'].split()[-2:]) for x in log],
           [('unarchive', ['unarchive', sid]), ('archive', ['archive', sid])])
    run = p.run('undo', '--all')
    p.need(run.returncode == 4 and b'only its agent can do that' in run.stderr, f'undo of an archive: {run}')
    run = p.run('undo', log[0]['id'])
    p.need(run.returncode == 4 and b'codex unarchive' in run.stderr, f'undo by its id: {run}')


def keeps_a_copy(w, sid):
    before, p = w.files(), w.p
    said = p.json('delete', '--yes', sid)
    p.same('deleted', (sid in w.rows(), [x['trashId'] for x in w.trash()]), (False, [said['trashId']]))
    p.text('undo', '--all')
    p.same('every file is back', {k: w.files().get(k) for k in before if sid in k}, {k: v for k, v in before.items() if sid in k})
    p.same('the trash', w.trash(), [])
    run = p.run('undo', p.json('log')[0]['id'])
    p.need(run.returncode == 4 and b'codex delete --force' in run.stderr, f'a redo would not tell the agent: {run}')
    p.json('delete', '--yes', sid)
    p.text('trash', 'restore', w.trash()[0]['trashId'])
    p.need(sid in w.rows(), 'restored from the trash')
    p.same('--permanently', ('trashId' in p.json('delete', '--yes', '--permanently', sid), w.trash()), (False, []))


def reports_failures(w, sid, other):
    """Whatever the program does, the files are in one of two places, and the person is told."""
    before, p = w.files(), w.p
    for wrong, said in ('fails', b'codex: Error: the database is locked'), ('nothing', b'reported no error, but nothing changed'):
        p.env['FAKE'] = wrong
        run = p.run('delete', '--yes', sid)
        p.need(run.returncode == 1 and said in run.stderr and b'\x1b' not in run.stderr, f'{wrong}: {run}')
        p.same(f'{wrong}: nothing changed', (w.files(), w.trash()), (before, []))
    p.env['FAKE'] = 'partly'
    run = p.run('delete', '--yes', other)
    p.need(run.returncode == (0 if other not in w.rows() else 1), f'partly: {run}')
    p.need([x['sessionId'] for x in w.trash()] == [other], f'partly: {w.trash()}')
    p.text('trash', 'empty')
    del p.env['FAKE']


def survives_a_full_disk(w, sid):
    """Without a complete copy the agent is not run."""
    before, p, calls = w.files(), w.p, open(f'{w.home}/calls', encoding='utf-8').read()
    run = subprocess.run(['sh', '-c', 'trap "" XFSZ; ulimit -f 1; exec "$@"', 'sh', p.path, 'delete', '--yes', sid], env=p.env,
                         cwd=w.home, capture_output=True)
    p.need(run.returncode == 1 and b'File too large' in run.stderr, f'full disk: {run}')
    p.same('full disk: nothing changed', (w.files(), w.trash(), open(f'{w.home}/calls', encoding='utf-8').read()), (before, [], calls))


def survives_a_kill(w, sid):
    """reprise is killed while the agent deletes: the copy brings the session back."""
    before, p = w.files(), w.p
    p.env['FAKE'] = 'kills'
    p.same('killed', p.run('delete', '--yes', sid).returncode, -9)
    del p.env['FAKE']
    while sid in w.rows():  # the agent goes on alone
        time.sleep(0.01)
    p.text('trash', 'restore', w.trash()[0]['trashId'])
    p.same('every file is back after a kill', w.files(), before)


def refuses_mixtures(w, sid):
    p = w.p
    run = p.run('rename', '--yes', sid, 'new')
    p.need(run.returncode == 4 and b'use /rename in Codex' in run.stderr, f'no command renames: {run}')
    p.same('can', (w.rows()[sid]['byAgent'], 'rename' in w.rows()[sid]['can']), (['archive', 'delete'], False))
    one, two = list(w.rows())[:2]
    p.env['FAKE'] = f'fails {two}'
    run = p.run('archive', '--yes', '--json', one, two)
    p.same('what was done before a failure', (run.returncode, [(x['sessionId'], 'change' in x) for x in json.loads(run.stdout or '[]')]), (1, [(one, True)]))
    del p.env['FAKE']
    p.json('unarchive', '--yes', one)
    p.same('two sessions, one twice', [x['sessionId'] for x in p.json('archive', '--yes', *list(w.rows())[:2], sid)],
           list(dict.fromkeys([*list(w.rows())[:2], sid])))


def obeys_the_configuration(w, sid):
    os.makedirs(w.p.env['XDG_CONFIG_HOME'] + '/reprise')
    with open(w.p.env['XDG_CONFIG_HOME'] + '/reprise/config', 'w', encoding='utf-8') as f:
        f.write(f'[codex]\nrename = namer {{id}} "{{title}}"\ndelete = gone {{id}}\n'
                f'[store.two]\nformat = codex\npath = {w.home}/.codex\narchive = two-archive {{id}}\n')
    p = w.p
    run = p.run('rename', '--yes', f'two:{sid}', 'x y')
    p.need(run.returncode == 1 and b'namer' in run.stderr and b'[store.two]' in run.stderr, f'it is not installed: {run}')
    for args, words in ((['rename', f'two:{sid}', 'x; y'], ['namer', sid, 'x; y']), (['delete', f'two:{sid}'], ['gone', sid]),
                        (['archive', f'two:{sid}'], ['two-archive', sid])):
        os.symlink('/bin/true', f'{w.bin}/{words[0]}')
        p.same(f'configured {args[0]}', p.json(args[0], '--print', *args[1:])['command'], words)
    p.same('can', w.rows()[sid]['byAgent'], ['rename', 'archive', 'delete'])
    p.same('config', [line for line in p.run('config').stdout.decode().splitlines() if 'namer' in line or 'two-archive' in line] != [],
           True)


def codex(program, real):
    with tempfile.TemporaryDirectory() as top:
        w = World(program, top, 'codex', real)
        first, second = [s for s, r in w.rows().items() if not r.get('parentId')][1:3]
        if not real:
            names_the_command(w, first)
            reports_failures(w, first, second)
        asks_first(w, first)
        keeps_a_copy(w, first)
        if not real:
            third = next(iter(w.rows()))
            survives_a_full_disk(w, third)
            survives_a_kill(w, third)
            refuses_mixtures(w, third)
            obeys_the_configuration(w, third)
        return w.close()


def opencode(program, real):
    with tempfile.TemporaryDirectory() as top:
        w = World(program, top, 'opencode', real)
        p, (sid, other) = w.p, list(w.rows())[:2]
        said = p.json('delete', '--yes', sid)
        p.same('no copy', ('trashId' in said, sid in w.rows(), other in w.rows(), w.trash()), (False, False, True, []))
        with sqlite3.connect(f'{w.home}/.local/share/opencode/opencode.db') as db:
            p.same('its messages', db.execute('select count(*) from message where session_id = ?', (sid,)).fetchone(), (0,))
        run = p.run('undo', '--all')
        p.need(run.returncode == 4 and b'deleted for good' in run.stderr, f'undo: {run}')
        return w.close()


def cline(program, real):
    with tempfile.TemporaryDirectory() as top:
        w = World(program, top, 'cline', real)
        p, sid = w.p, next(iter(w.rows()))
        before = w.files()
        if not real:  # the recording lacks the database in which the real program looks a title up
            p.text('rename', '--yes', sid, 'Käfer & "Blumen"')
            p.same('title', w.rows()[sid]['customTitle'], 'Käfer & "Blumen"')
            before = w.files()
        p.json('delete', '--yes', sid)
        p.same('deleted', sid in w.rows(), False)
        p.text('undo', '--all')
        p.same('every file is back', w.files(), before)
        return w.close()


def main():
    program, real = os.path.abspath(sys.argv[1]), sys.argv[2:]
    done = [test(program, real) for test in (codex, opencode, cline)]
    print(f'{sum(p.passed for p in done)} passed, {sum(p.failed for p in done)} failed')
    sys.exit(any(p.failed for p in done))


if __name__ == '__main__':
    main()
