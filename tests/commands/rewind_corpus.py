#!/usr/bin/env python3
"""Rewinds sessions of the real client, and compares the results with the client's own.

usage: rewind.py PROGRAM VERSION

rewind/base-VERSION.tar.gz holds a store and a work tree as the client left them, rewind/cases-VERSION.jsonl one case a
line: `mutate` is a shell script that changes the tree first, `to` the prompt to rewind to, `after` the tree that the
client left and `counts` the lines that it reported. Whatever the client did, reprise must ensure that

  1. a dry run changes nothing, and names exactly what an apply will change;
  2. an apply (refused files left alone) changes exactly that;
  3. undo restores the tree;
  4. nothing is written through a link, and nothing hangs.

Where the client's result is sound, the tree and the counts must equal the client's.
"""
import hashlib
import json
import os
import stat
import subprocess
import sys
import tarfile
import tempfile

from support.program import Program

FIXTURES = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), 'fixtures')
RECORDED_AT = '/home/dev/ws'
# The client's tree is required, byte for byte.
SOUND = set('01 02 03 04 05 06 07 20 21 27 29 30 33 37 40 41 42 43 45'.split())
# The client counts lines of files that it does not restore, or does not count a mode.
COUNTS_APART = {'20', '37'}
# Obstructed paths and bad backups: this path stays as it is, the rest is restored.
REFUSED = {'08': 'rw/mod.txt', '09': 'rw/created.txt', '10': 'rw/mod.txt', '11': 'rw/created.txt', '12': 'rw/mod.txt',
           '14': 'rw/mod.txt', '15': 'rw/mod.txt', '16': 'rw/created.txt', '22': 'rw/sub', '23': 'rw/sub',
           '24': 'rw/mod.txt', '25': 'rw/mod.txt', '31': 'rw/mod.txt', '32': 'rw/mod.txt', '44': 'rw/mod.txt'}
# A saved copy is missing or bad: since 2.1.331, the client then deletes nothing. Older ones, as recorded, did.
KEPT = {'12', '13', '24', '25', '31', '36'}
NO_POINT = {'17', '18', '19'}
EDITED = {'04', '05', '27', '29', '30', '42'}
# Switches of the client, a work tree that moved, and a lost row, which has a test of its own (test_history).
LEFT_OUT = {'34', '35', '38', '39'}


def describe(path):
    st = os.lstat(path)
    mode = stat.S_IMODE(st.st_mode)
    if stat.S_ISLNK(st.st_mode):
        return f'l -> {os.readlink(path)}'
    if stat.S_ISDIR(st.st_mode):
        return f'd {mode:04o}'
    if not stat.S_ISREG(st.st_mode):
        return f'o {mode:04o}'
    with open(path, 'rb') as f:
        return f'f {mode:04o} {st.st_size} {hashlib.sha256(f.read()).hexdigest()}'


def tree(root):
    seen = {}
    for folder, names, files in os.walk(root):
        for name in names + files:
            path = os.path.join(folder, name)
            seen[os.path.relpath(path, root)] = describe(path)
    return seen


def things(seen):
    return {path: what for path, what in seen.items() if what[0] != 'd'}


def differing(a, b):
    return {path for path in set(a) | set(b) if a.get(path) != b.get(path)}


def recorded_tree(lines):
    parts = (line.split(' ') for line in lines)
    return {' '.join(p[5:]): f'f {p[1]} {p[3]} {p[4]}' for p in parts if p[0] == 'f'}


def move_store(cfg, ws):
    """The store as if it had been recorded with the work tree at ws."""
    projects = f'{cfg}/projects'
    for folder, _, files in os.walk(projects):
        for name in files:
            path = os.path.join(folder, name)
            st = os.stat(path)
            with open(path, 'rb') as f:
                body = f.read()
            with open(path, 'wb') as f:
                f.write(body.replace(RECORDED_AT.encode(), ws.encode()))
            os.utime(path, ns=(st.st_atime_ns, st.st_mtime_ns))
    name = ''.join(c if c.isalnum() and c.isascii() else '-' for c in f'{ws}/rw')
    os.rename(f'{projects}/{os.listdir(projects)[0]}', f'{projects}/{name}')
    return f'{projects}/{name}'


class Case:
    def __init__(self, path, top, version, case, second):
        self.number = case['name'][:2]
        self.case = case
        self.ws = f'{top}/ws'
        with tarfile.open(f'{FIXTURES}/rewind/base-{version}.tar.gz') as tar:
            tar.extractall(top)
        folder = move_store(f'{top}/cfg', self.ws)
        self.program = Program(path, top, {'CLAUDE_CONFIG_DIR': f'{top}/cfg', 'XDG_STATE_HOME': f'{top}/state'})
        script = ('bk() { p=${1/#$WS/' + RECORDED_AT + '}; printf "%s@v%s" '
                  '"$(printf %s "$p" | sha256sum | cut -c1-16)" "$2"; }\n' + case['mutate'])
        subprocess.run(['bash', '-c', script], check=True, capture_output=True, env={
            **self.program.env, 'WS': self.ws, 'A': f'{self.ws}/rw', 'U2': second,
            'FH': f'{top}/cfg/file-history/{case["session"]}', 'T': f'{folder}/{case["session"]}.jsonl'})
        self.store = f'{top}/cfg'
        self.before = tree(self.ws)

    def rewind(self, *options):
        run = self.program.run('rewind', self.case['session'], '--to', self.case['to'], '--allow-outside', *options,
                               '--json', timeout=300)
        return run.returncode, json.loads(run.stdout) if run.stdout.strip() else None

    def relative(self, path):
        return os.path.relpath(path, self.ws)

    def check(self):
        """Returns the error, or None."""
        stored = tree(self.store)
        code, dry = self.rewind('--overwrite-edited', '--dry-run')
        if tree(self.ws) != self.before or tree(self.store) != stored:
            return 'the dry run changed something'
        if self.number in NO_POINT:
            return self.check_no_point(dry)
        if dry is None:
            return f'dry run: exit {code}'
        _, plain = self.rewind('--dry-run')
        if self.number in EDITED and not any(f.get('editedSince') and f['action'] == 'refused' for f in plain['files']):
            return 'a file edited by hand is not held back'
        return self.check_apply(dry)

    def check_no_point(self, dry):
        code, _ = self.rewind('--apply')
        if code != 3 or dry.get('canRewind'):
            return f'accepted as a checkpoint: {dry}'
        return None if tree(self.ws) == self.before else 'refused, yet the tree changed'

    def check_apply(self, dry):
        doing = {self.relative(f['path']) for f in dry['files'] if f['action'] in ('restore', 'create', 'delete')}
        refused = {self.relative(f['path']) for f in dry['files'] if f['action'] == 'refused'}
        if self.number in KEPT and any(f['action'] == 'delete' for f in dry['files']):
            return 'a file is deleted while a saved copy is missing'
        code, answer = self.rewind('--overwrite-edited', '--apply', '--skip-refused', '--plan', dry['plan'])
        if answer is None:
            return f'apply: exit {code}'
        after = tree(self.ws)
        did = differing(things(self.before), things(after))
        if did != doing or {self.relative(p) for p in dry['filesChanged']} != doing:
            return f'the dry run named {sorted(doing)}, the apply changed {sorted(did)}'
        return self.check_result(dry, after) or self.check_refused(refused, after) or self.check_undo(answer, doing)

    def check_result(self, dry, after):
        if self.number not in SOUND:
            return None
        want, got = recorded_tree(self.case['after']), {p: w for p, w in after.items() if w[0] == 'f'}
        if want != got:
            return f'differs from the client: {sorted(differing(want, got))}'
        counts = [dry['insertions'], dry['deletions']]
        if self.number not in COUNTS_APART and counts != self.case['counts']:
            return f'counts {counts}, the client says {self.case["counts"]}'
        return None

    def check_refused(self, refused, after):
        path = REFUSED.get(self.number)
        if self.number in ('13', '36') and not refused:
            return 'missing backups are not refused'
        if not path:
            return None
        if not any(p == path or p.startswith(path + '/') for p in refused):
            return f'{path} is not refused'
        hit = {p for p in differing(self.before, after) if p == path or p.startswith(path + '/')}
        return f'refused, yet changed: {hit}' if hit else None

    def check_undo(self, answer, doing):
        if not doing:
            return None
        run = self.program.run('undo', answer['undo'], '--json')
        if run.returncode != 0:
            return f'undo: exit {run.returncode}: {run.stderr!r}'
        back = tree(self.ws)
        return f'undo left differences: {differing(back, self.before)}' if back != self.before else None


def main():
    path, version = sys.argv[1:]
    with open(f'{FIXTURES}/rewind/cases-{version}.jsonl', encoding='utf-8') as f:
        cases = [json.loads(line) for line in f]
    second = next(c['to'] for c in cases if c['name'].startswith('02'))
    passed = failed = 0
    for case in cases:
        if case['name'][:2] in LEFT_OUT:
            continue
        with tempfile.TemporaryDirectory() as top:
            why = Case(path, top, version, case, second).check()
        passed += not why
        failed += bool(why)
        if why:
            print(f'{version} {case["name"]}: {why}')
    print(f'{passed} passed, {failed} failed')
    sys.exit(1 if failed or passed < 20 else 0)


if __name__ == '__main__':
    main()
