#!/usr/bin/env python3
"""Breaks the built program at its calls, command by command, and checks the store after the next command has run.

usage: sweep_program.py PROGRAM INJECTOR [COMMAND...]

The store is then in its old or its new state, byte for byte and name by name: the new one if the command reported
success (exit 0), the old one if it reported failure. No temporary file is left in it, and no record of a change under way.
Going back over several changes undoes one after the other: a kill may leave some undone, and the same command goes on.
REPRISE_SWEEP=long: at every call; REPRISE_LONG: at every third; else at every 17th, for each kind of fault from another one.
"""
import errno
import io
import os
import re
import shutil
import sqlite3
import subprocess
import sys
import tarfile
import tempfile

TESTS = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path[:0] = [TESTS, f'{TESTS}/commands']
import continue_in
import copies_matrix as agents
from support.program import CUTS, Program, compact, snapshot

STEM = '00000000-0000-4000-8000-00000000000'  # sorts before the ids that a fork draws
ID = STEM + '1'
PROJECT = 'cfg/projects/-srv-app'
LOG = f'{PROJECT}/{ID}.jsonl'
DATABASE = 'cfg/home/opencode/opencode.db'
DRAWN = re.compile(rb'(?!0{7})[0-9a-f]{8}-[0-9a-f-]{27}|\d{4}-\d\d-\d\dT[0-9:.]+Z')
WAYS = [
    ('kill', 0), ('kill-after', 0), ('torn', 0), ('short', 0),
    ('error', errno.ENOSPC), ('error', errno.EIO), ('error-after', errno.EIO),
]
COMMANDS = {
    'rename': ['rename', ID, 'Another title'],
    'tag': ['tag', ID, 'kept'],
    'archive': ['archive', ID],
    'resume-at': ['resume-at', ID, STEM + '3'],
    'fork': ['fork', ID, '--with-files'],
    'tombstone': ['tombstone', ID, STEM + '3'],
    'reconnect': ['doctor', ID, '--fix', '--reconnect'],
    'reconnect-pi': ['doctor', f'pi:{agents.SID}', '--fix', '--reconnect'],
    'reconnect-qwen': ['doctor', f'qwen:{agents.SID}', '--fix', '--reconnect'],
    'misplaced': ['doctor', '--all', '--fix'],
    'undo-misplaced': ['undo', '--all'],
    'repair': ['doctor', ID, '--fix'],
    'undo-repair': ['undo', '--all'],
    'delete': ['delete', ID],
    'move': ['move', '/srv/app', 'moved', '--apply'],
    'undo-move': ['undo', '--all'],
    'continue': ['continue', ID, '--in', 'codex', '--apply'],
    'undo-continue': ['undo', '--all'],
    'bundle': ['bundle', ID, '--output', 'cfg/out/x.bundle'],
    'unbundle': ['unbundle', 'x.bundle', '--to', 'moved', '--apply'],
    'undo-unbundle': ['undo', '--all'],
    'move-others': ['move', 'one', 'moved', '--apply'],
    'undo-move-others': ['undo', '--all'],
    'unbundle-others': ['unbundle', 'x.bundle', '--to', 'moved', '--apply'],
    'undo-unbundle-others': ['undo', '--all'],
    'continue-others': ['continue', ID, '--in', 'gemini', '--apply'],
    'continue-database': ['continue', ID, '--in', 'opencode', '--apply'],
    'undo-continue-database': ['undo', '--all'],
    'continue-kilo-database': ['continue', ID, '--in', 'kilo', '--apply'],
    'undo': ['undo', '--all'],
    'back-to': ['undo', '--all', '--back-to'],  # and the id of the first of these:
}
# Sessions of agents whose files are rewritten, appended to and marked when a project moves, and of one without folders.
OTHERS = ['gemini', 'kimi', 'qwen', 'codex']
# What differs from others in its bytes alone, and not in its steps, is broken only when it is named, or in a long run.
SELDOM = [] if {'REPRISE_SWEEP', 'REPRISE_LONG'} & set(os.environ) else ['reconnect-pi', 'reconnect-qwen', 'undo-misplaced', 'continue-kilo-database']
BUNDLED = [['bundle', ID, '--output', 'x.bundle'], ['delete', ID]]
BEFORE = {'unbundle': BUNDLED, 'undo-unbundle': [*BUNDLED, ['unbundle', 'x.bundle', '--to', 'moved', '--apply']], 'undo': [['delete', ID]], 'undo-move': [['move', '/srv/app', 'moved', '--apply']],
          'undo-misplaced': [['doctor', '--all', '--fix']], 'undo-repair': [['doctor', ID, '--fix']], 'undo-continue': [['continue', ID, '--in', 'codex', '--apply']], 'undo-continue-database': [['continue', ID, '--in', 'opencode', '--apply']],
          'undo-move-others': [['move', 'one', 'moved', '--apply']], 'undo-unbundle-others': [['unbundle', 'x.bundle', '--to', 'moved', '--apply']], 'back-to': [['rename', ID, 'Another title'], ['archive', ID], ['delete', ID]]}
ONLY = []
STRIDE = 1 if os.environ.get('REPRISE_SWEEP') == 'long' else 3 if 'REPRISE_LONG' in os.environ else 17


def row(number, parent):
    return {'parentUuid': parent and STEM + parent, 'isSidechain': False, 'type': 'user', 'uuid': STEM + number, 'sessionId': ID,
            'cwd': '/srv/app', 'timestamp': f'2025-03-01T10:00:0{number}.000Z', 'message': {'role': 'user', 'content': 'say ' + number}}


def make(top, whole=True):
    """Creates a session with a saved file and a sub-agent, all of them old. Unless it is whole, its last row, of a day later,
    follows one that was never written."""
    saved = {'a.txt': {'backupFileName': '0123456789abcdef@v1', 'version': 1, 'backupTime': '2025-03-01T10:00:02.000Z'}}
    snap = {'messageId': STEM + '2', 'trackedFileBackups': saved, 'timestamp': '2025-03-01T10:00:02.000Z'}
    rows = [row('2', None), {'type': 'file-history-snapshot', 'messageId': STEM + '2', 'snapshot': snap, 'isSnapshotUpdate': False},
            row('3', '2'), row('4', '3') if whole else {**row('4', '9'), 'timestamp': '2025-03-02T10:00:04.000Z'}]
    there = os.path.realpath(top) + '/moved'
    os.makedirs(there, exist_ok=True)
    os.makedirs(f'{top}/cfg/out', exist_ok=True)
    os.makedirs(f"{top}/cfg/projects/{re.sub('[^A-Za-z0-9]', '-', there)}", exist_ok=True)  # an empty folder is not a change
    files = {
        f'{PROJECT}/{ID}.jsonl': ''.join(compact(r) + '\n' for r in rows),
        f'{PROJECT}/{ID}/subagents/agent-a.jsonl': compact(row('5', None)) + '\n',
        f'cfg/file-history/{ID}/0123456789abcdef@v1': 'old\n',
    }
    for name, text in files.items():
        path = os.path.join(top, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, 'w', encoding='utf-8') as f:
            f.write(text)
        os.utime(path, ns=(1700000000123456789, 1700000000123456789))


def damage(top):
    """Several damages at once: a cut row in front of a whole one, a line of NULs, half an emoji in a prompt, and a torn end."""
    with open(f'{top}/{LOG}', 'rb') as f:
        rows = f.readlines()
    rows[2] = rows[2].replace(b'say 3', b'say \\ud83d3')
    rows[2:3] = [b'\0' * 300 + b'\n', rows[2][:40] + rows[2]]
    with open(f'{top}/{LOG}', 'wb') as f:
        f.writelines([*rows, b'{"type":"us'])
    os.utime(f'{top}/{LOG}', ns=(1700000000123456789, 1700000000123456789))


def make_cut(agent, top):
    """Creates a session of an agent whose last row follows one that is not in its log."""
    path, rows = agents.AGENTS[agent](f'{top}/cfg/home', '/srv/app', 'word', 1000)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, 'w', encoding='utf-8') as f:
        f.writelines(compact({k: 'ffff0000' if k in ('parentId', 'parentUuid') and row is rows[-1] else v for k, v in row.items()}) + '\n' for row in rows)
    os.utime(path, ns=(1700000000123456789, 1700000000123456789))


def make_others(program, top, gone):
    """Creates sessions of other agents, or a bundle of them, all of them old."""
    home, one = f'{top}/cfg/home', f'{os.path.realpath(top)}/one'
    for name in OTHERS:
        path, rows = agents.AGENTS[name](home, one, 'word', 1000)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, 'w', encoding='utf-8') as f:
            if name == 'kimi':
                rows.insert(1, {'type': 'runtime.set_binding', 'workspaceId': path.split('/')[-5], 'runtimeId': 'local', 'agentId': 'main', 'time': 1})
            f.writelines(compact(r) + '\n' for r in rows)
    for folder, _, names in os.walk(home):
        for name in names:
            os.utime(f'{folder}/{name}', ns=(1700000000123456789, 1700000000123456789))
    if gone:
        ids = [f"{r['system']}:{r['sessionId']}" for r in program.json('list', '--all') if r['system'] in OTHERS]
        if program.run('bundle', *ids, '--output', 'x.bundle').returncode or len(ids) != len(OTHERS):
            sys.exit(f'no bundle of {ids}')
        for folder, _, names in os.walk(home):
            for name in names:
                if name != '.project_root':
                    os.unlink(f'{folder}/{name}')


def in_force(body, log):
    """The bytes of a log; log: the old ones, and what the command appends. Without leases (docs/architecture.md,
    "Portability") nothing is cut off: blanks, and the row with another one that contradicts it, count as nothing."""
    old, row = log
    if CUTS or not body.startswith(old):
        return body
    rows = [line for line in body[len(old):].split(b'\n') if line.strip()]
    last = None
    for line in rows:
        is_row = DRAWN.sub(b'', line + b'\n') == DRAWN.sub(b'', row)
        if is_row == (last is not None):
            return body
        last = line + b'\n' if is_row else None
    return old + (last or b'')


def bundled(body):
    """What is in a bundle but for the time at which it was made; the bytes of anything else, which is no bundle."""
    tar = subprocess.run(['zstd', '-dcq'], input=body, capture_output=True, check=False)
    if tar.returncode:
        return body
    with tarfile.open(fileobj=io.BytesIO(tar.stdout)) as archive:
        return [(m.name, archive.extractfile(m).read()) for m in archive][1:]


def image(top, log=(b'', b'')):
    """Returns names, modes and bytes; new ids and times are replaced by their number. Folders of other agents that are empty
    are not a change."""
    rows = continue_in.rows(f'{top}/{DATABASE}') if os.path.exists(f'{top}/{DATABASE}') else {}
    bodies = {path: (mode, in_force(body, log) if path.endswith(LOG) else bundled(body) if path.endswith('.bundle') else body)
              for path, (mode, _, body) in snapshot(top + '/cfg').items() if '/out/.reprise' not in path and DATABASE not in path and (body is not None or '/cfg/home/' not in path)}
    text = ''.join(f'{os.path.relpath(path, top)} {mode:o} {body!r}\n' for path, (mode, body) in sorted(bodies.items()))
    text += ''.join(f'{row!r}\n' for _, row in sorted(rows.items()))
    made = re.compile(r'(?!0{7})[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}|20(?!25-03)\d\d-\d\d-\d\dT[0-9:.]+Z|session-20\d\d-\d\d-\d\dT\d\d-\d\d-[0-9a-f]{8}|(?:ses_|msg_|prt_|continued-)\w{26}|179\d{10}')
    seen = []

    def number(match):
        if 'T' in match[0] or match[0].isdigit():
            return '<time>'
        if match[0] not in seen:
            seen.append(match[0])
        return f'<{seen.index(match[0])}>'
    return made.sub(number, text)


class Sweep:
    def __init__(self, path, injector, top):
        self.path, self.injector, self.top = path, injector, top
        self.now = os.path.join(top, 'now')
        self.runs = self.killed = 0

    def program(self, top):
        return Program(self.path, top, {'CLAUDE_CONFIG_DIR': top + '/cfg', 'HOME': top + '/cfg/home', **({} if os.path.isdir(top + '/one') else {'CODEX_HOME': top + '/cfg/codex'}), 'OPENCODE_DB': f'{top}/{DATABASE}', 'KILO_DB': f'{top}/{DATABASE}', 'XDG_STATE_HOME': top + '/state', 'XDG_DATA_HOME': top + '/data', 'XDG_CONFIG_HOME': top + '/config', 'XDG_CACHE_HOME': top + '/cache'})

    def broken(self, top, command, mode, error, nth, stays=False):
        """Returns the exit code of the command, its output, and the number of its calls. stays: all later ones fail, too."""
        counter = top + '/counter'
        with open(counter, 'wb') as f:
            f.write(bytes(8))
        env = {**self.program(top).env, 'LD_PRELOAD': self.injector, 'INJECT_MODE': mode, 'INJECT_ERRNO': str(error),
               'INJECT_NTH': str(nth), 'INJECT_COUNTER': counter, **({'INJECT_STAYS': '1'} if stays else {})}
        run = subprocess.run([self.path, *command], env=env, cwd=top, stdin=subprocess.DEVNULL, capture_output=True, timeout=300, check=False)
        with open(counter, 'rb') as f:
            calls = int.from_bytes(f.read(8), sys.byteorder)
        return run.returncode, run.stderr, calls

    def templates(self, name, command):
        """Returns a tree to begin with, and the images before and after the command. Records name absolute paths, so all of
        it happens in one place."""
        now, old = self.now, os.path.join(self.top, name)
        make(now, name != 'reconnect')
        if 'repair' in name:
            damage(now)
        if name in ('reconnect-pi', 'reconnect-qwen'):
            make_cut(name.split('-')[1], now)
        if 'misplaced' in name:
            os.renames(f'{now}/{PROJECT}', f'{now}/cfg/projects/deep/-srv-app')
            os.makedirs(f'{now}/{PROJECT}')
        if 'others' in name and 'continue' not in name:
            os.makedirs(f'{now}/one')
            make_others(self.program(now), now, 'unbundle' in name)
        if name == 'continue-others':
            os.makedirs(f'{now}/cfg/home/.gemini/tmp')
        if 'continue' in name:
            os.makedirs(f'{now}/cfg/codex/sessions/2025/03/01')
        if name.endswith('database'):
            os.makedirs(f'{now}/{os.path.dirname(DATABASE)}')
            continue_in.make_database(f'{now}/{DATABASE}')
        for earlier in BEFORE.get(name, []):
            self.program(now).run(*earlier)
        if name == 'back-to':
            command = command + [min(x['id'] for x in self.program(now).json('log', '--all'))]
        shutil.copytree(now, old, symlinks=True)
        before, between = image(now), []
        if name == 'repair':
            # The torn end is completed by a change of its own if the other lines cannot be repaired.
            with open(f'{now}/{LOG}', 'ab') as f:
                f.write(b'\n')
            between.append(image(now))
            shutil.rmtree(now)
            shutil.copytree(old, now, symlinks=True)
        if name == 'back-to':
            for _ in BEFORE[name][1:]:
                self.program(now).run('undo', '--all')
                between.append(image(now))
            shutil.rmtree(now)
            shutil.copytree(old, now, symlinks=True)
        with open(f'{now}/{LOG}', 'rb') if name not in BEFORE and os.path.exists(f'{now}/{LOG}') else io.BytesIO() as f:
            log = f.read()
        run = self.program(now).run(*command)
        if run.returncode:
            sys.exit(f'{name}: {run.stderr!r}')
        after = image(now)
        grown = b''
        if log and os.path.exists(f'{now}/{LOG}'):
            with open(f'{now}/{LOG}', 'rb') as f:
                grown = f.read()
        shutil.rmtree(now)
        return command, old, before, between, after, (log, grown[len(log):] if grown.startswith(log) else b'')

    def one(self, program, name, way, nth, template):
        command, old, before, between, after, log = template
        top = self.now
        shutil.copytree(old, top, symlinks=True)
        code, said, calls = self.broken(top, command, *way, nth)
        if calls >= nth:
            at = f'{name}, {way} at {nth}: exit {code}, {said!r}'
            self.runs += 1
            self.killed += code < 0
            program.need(self.program(top).run('log').returncode == 0, f'{at}: the next command failed')
            now = image(top, log)
            partly = now in between and (code < 0 or b'unfinished' in said or b'could not be repaired' in said)
            if b'were not unpacked' in said:  # the other sessions are, and nothing else
                partly = set(before.splitlines()) <= set(now.splitlines()) <= set(after.splitlines())
            program.need(now in (before, after) or partly, f'{at}: neither old nor new\n{now}')
            program.need(code != 0 or now == after, f'{at}: success was reported, but the tree is the old one')
            told = partly or b'unfinished' in said or b'it is in place' in said
            program.need(code <= 0 or now == before or told, f'{at}: said failed and is done')
            if between and now != after:
                self.program(top).run(*command)
                program.need(image(top, log) == after, f'{at}: the same command did not go on')
            # Where a new file has a temporary name first, the next fork or bundle removes those of one; what a bundle was unpacked
            # to is removed after a day.
            left = [path for path in snapshot(top) if (os.path.basename(path).startswith('.reprise') and '/forks/bundle-' not in path and (CUTS or '/reprise/forks/' not in path and '/out/' not in path))
                    or path.endswith('.intent')]
            program.need(not left, f'{at}: left {left}')
        shutil.rmtree(top)
        return calls >= nth

    def run(self, program):
        for name, command in COMMANDS.items():
            if name not in ONLY if ONLY else name in SELDOM:
                continue
            template = self.templates(name, command)
            program.need(template[2] != template[4], f'{name}: nothing happens, so nothing is tested')
            before = self.runs
            for i, way in enumerate(WAYS):
                nth = 1 + i * STRIDE // len(WAYS)
                while self.one(program, name, way, nth, template):
                    nth += STRIDE
            print(f'{name}: {self.runs - before} runs')


def dead_disk(program, sweep):
    """No sync succeeds any more while a bundle is put in its place, so it cannot be undone at once: the next command does."""
    make(sweep.now)
    for earlier in BUNDLED:
        sweep.program(sweep.now).run(*earlier)
    old, command, unfinished = f'{sweep.top}/dead', COMMANDS['unbundle'], 0
    shutil.copytree(sweep.now, old, symlinks=True)
    before = image(sweep.now)
    _, _, calls = sweep.broken(sweep.now, command, 'error-after', errno.EIO, 1 << 20)
    ends = [before, image(sweep.now)]
    for nth in range(calls - 12, calls):
        shutil.rmtree(sweep.now)
        shutil.copytree(old, sweep.now, symlinks=True)
        code, said, _ = sweep.broken(sweep.now, command, 'error-after', errno.EIO, nth, stays=True)
        at = f'no sync from {nth} of {calls}: exit {code}, {said!r}'
        unfinished += b'cannot be undone yet' in said
        program.same(f'{at}: the next command', sweep.program(sweep.now).run('log').returncode, 0)
        program.need(code == 1 and image(sweep.now) in ends, f'{at}: neither old nor new')
        program.same(f'{at}: what is left', [x for x in snapshot(sweep.now) if x.endswith('.intent')], [])
    shutil.rmtree(sweep.now)
    program.need(unfinished > 3, f'no sync: {unfinished} unfinished')


def destroyed(program, sweep):
    """A session that could not be removed for good as a whole is still listed, and can be removed again."""
    def left():
        return [x for x in snapshot(sweep.now + '/cfg/projects') if ID in x]
    nth, runs = 0, 0
    while runs == nth:
        nth += 1
        make(sweep.now)
        code, said, calls = sweep.broken(sweep.now, ['delete', ID, '--permanently'], 'error', errno.EIO, nth)
        runs += calls >= nth
        program.need(any(x.endswith(f'{ID}.jsonl') for x in left()) if code else not left(), f'destroy at {nth}: exit {code}, {said!r}: {left()}')
        if code:
            program.need(sweep.program(sweep.now).run('delete', ID, '--permanently').returncode == 0 and not left(), f'destroy at {nth}: {left()}')
        shutil.rmtree(sweep.now)
    program.need(runs == 4, f'destroy: {runs} runs')


def main():
    ONLY.extend(sys.argv[3:])
    path, injector = (os.path.abspath(p) for p in sys.argv[1:3])
    place = '/dev/shm' if os.access('/dev/shm', os.W_OK) else None
    with tempfile.TemporaryDirectory(dir=place) as top:
        program = Program(path, top, {})
        sweep = Sweep(path, injector, top)
        sweep.run(program)
        dead_disk(program, sweep)
        destroyed(program, sweep)
        print(f'{sweep.runs} runs, {sweep.killed} of them killed')
        program.need(sweep.killed > 30, 'too few were killed: is the injector loaded?')
        program.finish(0 if ONLY else 400)


if __name__ == '__main__':
    main()
