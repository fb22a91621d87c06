#!/usr/bin/env python3
"""Changes of sessions that are impossible: full disks, read-only ones, other users' files, held locks, and invalid ids.
Each is refused with one clear line, and everything stays unchanged.

usage: refused_changes.py PROGRAM

Cases that need a file system of their own or files of another user run only as root.
"""
import fcntl
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile

from support.program import Program, snapshot

STEM = '5e550000-0000-4000-8000-00000000000'
ID, MESSAGE = STEM + '1', STEM + '2'
SOMEBODY = 12345
CHANGES = {
    'rename': ['rename', ID, 'Another title'],
    'tag': ['tag', ID, 'kept'],
    'archive': ['archive', ID],
    'resume-at': ['resume-at', ID, MESSAGE],
    'fork': ['fork', ID],
    'tombstone': ['tombstone', ID, MESSAGE],
    'delete': ['delete', ID],
}
READS = [['list', '--all', '--json'], ['info', ID, '--json'], ['messages', ID, '--json'], ['trash', 'list', '--json'], ['sweep', '--all', '--older-than', '1d', '--json']]


def write_session(config, bulk=0):
    """Writes two messages, the second with so many more bytes (bulk)."""
    def row(n, parent, text):
        return {'parentUuid': parent, 'isSidechain': False, 'type': 'user', 'uuid': STEM + n, 'sessionId': ID, 'cwd': '/srv/app',
                'timestamp': f'2025-03-01T10:00:0{n}.000Z', 'message': {'role': 'user', 'content': text}}
    folder = os.path.join(config, 'projects', '-srv-app')
    os.makedirs(folder)
    path = os.path.join(folder, ID + '.jsonl')
    with open(path, 'w', encoding='utf-8') as f:
        for r in (row('2', None, 'one'), row('3', MESSAGE, 'x' * bulk or 'two')):
            f.write(json.dumps(r) + '\n')
    os.utime(path, (1700000000, 1700000000))


def files_of(store):
    """Directories count by name only, because their times change with temporary entries."""
    return {path: what if what[2] is not None else None for path, what in snapshot(store).items()}


def left_behind(top):
    return [p for p in snapshot(top) if os.path.basename(p).startswith('.reprise') or p.endswith('.intent') or '/forks/' in p and not p.endswith('/.')]


class Place:
    """A store and the directory of our own files; each may be mounted."""

    def __init__(self, path, top, bulk=0):
        self.top = top
        os.mkdir(top)
        self.config, self.state, self.data = (os.path.join(top, name) for name in ('cfg', 'state', 'data'))
        for folder in (self.config, self.state, self.data):
            os.mkdir(folder)
        write_session(self.config, bulk)
        self.mounts = []
        self.program = Program(path, top, {'CLAUDE_CONFIG_DIR': self.config, 'XDG_STATE_HOME': self.state, 'XDG_DATA_HOME': self.data})

    def mount(self, folder, *how):
        subprocess.run(['mount', *how, folder], check=True)
        self.mounts.append(folder)

    def close(self):
        for folder in reversed(self.mounts):
            subprocess.run(['umount', folder], check=True)

    def refused(self, check, name, exits, words, **more):
        """Expects one line with one of these words, and one of these exit codes; the store is unchanged, and nothing is left."""
        before = files_of(self.config)
        run = self.program.run(*CHANGES[name], **more)
        said = run.stderr.decode('utf-8')
        check.need(run.returncode in exits, f'{self.top}: {name}: exit {run.returncode}: {said}')
        check.need(said.count('\n') == 1 and said.startswith('reprise: '), f'{name}: not one line: {said!r}')
        check.need(any(w in said for w in words), f'{name}: says {said!r}')
        check.need(files_of(self.config) == before, f'{name}: the store was changed')
        check.need(not left_behind(self.top), f'{name}: left {left_behind(self.top)}')


def fill(folder):
    """Writes until nothing more fits."""
    with open(os.path.join(folder, 'filler'), 'wb', buffering=0) as f:
        for size in (65536, 4096, 1):
            try:
                while True:
                    f.write(bytes(size))
            except OSError:
                pass


def full_disks(check, path, top):
    """Our own files have no space, while the store has."""
    for folder in ('state', 'data'):
        place = Place(path, os.path.join(top, 'full-' + folder), bulk=3 << 20)
        full = getattr(place, folder)
        place.mount(full, '-t', 'tmpfs', '-o', 'size=1m', 'tmpfs')
        fill(full)
        for name in CHANGES if folder == 'state' else ('fork', 'delete'):
            place.refused(check, name, (1,), ['No space left'])
        place.close()


def small_trash(check, path, top):
    """Space for the record but not for the session: the partial copy is removed."""
    place = Place(path, os.path.join(top, 'small'), bulk=3 << 20)
    place.mount(place.data, '-t', 'tmpfs', '-o', 'size=1m', 'tmpfs')
    place.refused(check, 'fork', (1,), ['No space left'])
    place.refused(check, 'delete', (1,), ['No space left'])
    used = os.statvfs(place.data)
    check.need(used.f_bfree > used.f_blocks * 3 // 4, 'the partial copy was not removed')
    place.close()


def full_store(check, path, top):
    place = Place(path, os.path.join(top, 'store'))
    other = os.path.join(top, 'store', 'other')
    os.mkdir(other)
    place.mount(other, '-t', 'tmpfs', '-o', 'size=256k', 'tmpfs')
    write_session(other)
    fill(other)
    place.config = other
    place.program.env['CLAUDE_CONFIG_DIR'] = other
    # The last page of a small file has room for a row, so only what needs a file of its own cannot be done.
    for name in ('archive', 'fork'):
        place.refused(check, name, (1,), ['No space left'])
    place.close()


def read_only(check, path, top):
    place = Place(path, os.path.join(top, 'ro'))
    place.mount(place.config, '--bind', place.config)
    subprocess.run(['mount', '-o', 'remount,ro,bind', place.config], check=True)
    before = snapshot(place.config)
    for args in READS:
        run = place.program.run(*args)
        check.need(run.returncode == 0, f'read-only: {args}: {run.stderr!r}')
    check.need(snapshot(place.config) == before, 'reading changed a read-only store')
    for name in CHANGES:
        place.refused(check, name, (1,), ['Read-only file system'])
    place.close()


def dry_run_of_undo(check, path, top):
    """It makes nothing where nothing was changed, and needs no right to write."""
    place = Place(path, os.path.join(top, 'dry'))
    undo = ['undo', '--dry-run', '--all']
    place.program.run(*undo)
    check.same('dry run before any change', os.listdir(place.state), [])
    place.program.json(*CHANGES['rename'])
    place.mount(place.state, '--bind', place.state)
    subprocess.run(['mount', '-o', 'remount,ro,bind', place.state], check=True)
    run = place.program.run(*undo)
    check.need(b'would undo: ' in run.stdout, f'dry run with a read-only state: {run.stderr!r}')
    place.close()


def other_people(check, path, top):
    """The store is readable by all users, and belongs to root."""
    mine = shutil.copy(path, os.path.join(top, 'reprise'))  # where it was built somebody may not look
    place = Place(mine, os.path.join(top, 'other'))
    for folder in (top, place.top):
        os.chmod(folder, 0o755)
    for folder in (place.state, place.data):
        os.chown(folder, SOMEBODY, SOMEBODY)
    for args in READS:
        run = place.program.run(*args, user=SOMEBODY, group=SOMEBODY, extra_groups=[])
        check.need(run.returncode == 0, f'as somebody: {args}: {run.stderr!r}')
    for name in CHANGES:
        place.refused(check, name, (1, 4), ['Permission denied', 'another user'], user=SOMEBODY, group=SOMEBODY, extra_groups=[])


def held_lock(check, path, top):
    """A lock held by a living process refuses the change. When the process is killed, its lock is released."""
    place = Place(path, os.path.join(top, 'lock'))
    check.need(place.program.run('tag', ID, 'first').returncode == 0, 'a first change')
    lock = os.path.join(place.state, 'reprise', 'changes', 'lock')
    holder = os.fork()
    if holder == 0:
        fcntl.flock(os.open(lock, os.O_RDWR), fcntl.LOCK_EX)
        os.kill(os.getpid(), signal.SIGSTOP)
    os.waitpid(holder, os.WUNTRACED)
    place.refused(check, 'rename', (4,), ['lock', 'another'])
    os.kill(holder, signal.SIGKILL)
    os.waitpid(holder, 0)
    check.need(place.program.run('rename', ID, 'later').returncode == 0, 'a dead holder keeps its lock')


def no_ids(check, path, top):
    place = Place(path, os.path.join(top, 'ids'))
    folder = os.path.join(place.config, 'projects', '-srv-app')
    secret = os.path.join(place.config, 'secret.jsonl')
    with open(secret, 'w', encoding='utf-8') as f:
        f.write('{"type":"user"}\n')
    before = snapshot(place.config)
    for bad in ('../../secret', '..', '.', '/etc/passwd', 'a/b', f'../-srv-app/{ID}', f'{ID}/', f'{ID}\n', '*', '%2e%2e', 'x' * 5000, ''):
        for name, command in CHANGES.items():
            run = place.program.run(command[0], '--', bad, *command[2:])
            check.need(run.returncode in (2, 3), f'{name} {bad[:40]!r}: exit {run.returncode}: {run.stderr!r}')
    for name in ('resume-at', 'tombstone'):
        for bad in ('../x', '', 'x' * 5000, '99990000-0000-4000-8000-000000000009'):
            run = place.program.run(name, '--', ID, bad)
            check.need(run.returncode in (2, 3), f'{name} at {bad[:40]!r}: exit {run.returncode}: {run.stderr!r}')
    check.need(snapshot(place.config) == before, 'an invalid id changed something')
    check.need(os.listdir(folder) == [ID + '.jsonl'], os.listdir(folder))


def left_out(check, path, top):
    """A message whose removal would take others with it, because the next one came long after, is removed with --yes alone."""
    for n, (pause, more) in enumerate(((1, 0), (60, 2))):
        place = Place(path, os.path.join(top, f'left{n}'))
        place.program.env['TMPDIR'] = os.path.join(place.top, 'absent')  # nothing is copied there
        file, rows = os.path.join(place.config, 'projects', '-srv-app', ID + '.jsonl'), []
        for k in range(1, 6):
            rows.append({'parentUuid': STEM + str(k - 1) if k > 1 else None, 'isSidechain': False, 'type': 'user', 'uuid': STEM + str(k),
                         'sessionId': ID, 'cwd': '/srv/app', 'timestamp': f'2025-03-01T10:{k * pause // 60:02}:{k * pause % 60:02}.000Z',
                         'message': {'role': 'user', 'content': f'text {k}'}})
        with open(file, 'w', encoding='utf-8') as f:
            f.write(''.join(json.dumps(row, separators=(',', ':')) + '\n' for row in rows))
        before = snapshot(place.config)
        for how in [], ['--cut']:
            run = place.program.run('tombstone', *how, ID, STEM + '3')
            if more:
                check.need(run.returncode == 4 and f'{more} other messages would leave the conversation'.encode() in run.stderr and
                           run.stderr.count(b'\n') == 1, f'left out: {run}')
                check.need(snapshot(place.config) == before, 'left out: something was changed')
                run = place.program.run('tombstone', *how, '--yes', ID, STEM + '3')
            check.need(run.returncode == 0, f'left out: {run}')
            check.same('left', [m['uuid'][-1] for m in place.program.json('messages', ID)], ['4', '5'] if more else ['1', '2', '4', '5'])
            check.need(place.program.run('undo', '--all').returncode == 0, 'left out: undo')
            check.need(snapshot(place.config)[file][2] == before[file][2], 'left out: undone')


def main():
    path = os.path.abspath(sys.argv[1])
    with tempfile.TemporaryDirectory() as top:
        check = Program(path, top, {})
        held_lock(check, path, top)
        no_ids(check, path, top)
        left_out(check, path, top)
        if os.geteuid() != 0:
            print('mounts and other users: skipped, only root can make them')
            check.finish(50)
        for part in (full_disks, small_trash, full_store, read_only, dry_run_of_undo, other_people):
            part(check, path, top)
        check.finish(200)


main()
