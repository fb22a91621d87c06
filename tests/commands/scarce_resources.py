#!/usr/bin/env python3
"""Little memory, few descriptors, special files, unreadable directories: everything else is still shown.

usage: scarce_resources.py PROGRAM sanitized|plain
"""
import json
import os
import resource
import subprocess
import sys
import tempfile

from support.agent_sessions import AGENTS, write as write_session
from support.program import Program, snapshot

SANITIZED = sys.argv[2] == 'sanitized'
SID = '%08x-0000-4000-8000-00000000000%d'
NOBODY = 65534


def session(text='hello', size=0):
    """A complete conversation of two messages, padded in its middle."""
    env = '"cwd":"/w","version":"2.1.330","timestamp":"2026-01-01T00:00:00.000Z"'
    return (f'{{"parentUuid":null,"type":"user","message":{{"role":"user","content":"{text}"}},"uuid":"u1",{env}}}\n'
            + (f'{{"type":"x","pad":"{"x" * size}"}}\n' if size else '') +
            f'{{"parentUuid":"u1","type":"assistant","message":{{"role":"assistant","content":"{text}"}},"uuid":"a1",{env}}}\n')


def put(path, text):
    with open(path, 'w', encoding='utf-8') as f:
        f.write(text)


def limited(which, amount):
    return lambda: resource.setrlimit(which, (amount, amount))


def few_descriptors(program, folder):
    """A listing keeps one descriptor per thread, not per session; the vendor's lister loses thousands of sessions here."""
    for i in range(10000):
        put(f'{folder}/{SID % (i, 1)}.jsonl', session(f'prompt {i}'))
    run = program.run('list', '--all', '--json', preexec_fn=limited(resource.RLIMIT_NOFILE, 64))
    program.same('few descriptors: exit', (run.returncode, run.stderr), (0, b''))
    program.same('few descriptors: rows', len(json.loads(run.stdout)), 10000)
    for i in range(10000):
        os.unlink(f'{folder}/{SID % (i, 1)}.jsonl')


def little_memory(program, folder):
    """A line of 100 MB and a transcript of a gigabyte are read within 64 MB of address space."""
    sid = SID % (1, 2)
    put(f'{folder}/{sid}.jsonl', session('long line', 100_000_000))
    with open(f'{folder}/{SID % (2, 2)}.jsonl', 'w', encoding='utf-8') as f:
        f.write(session('big file'))
        for _ in range(100):
            f.write('{"type":"x","pad":"' + 'y' * 10_000_000 + '"}\n')
    small = limited(resource.RLIMIT_AS, 64 << 20)
    run = program.run('list', '--all', '--json', preexec_fn=small)
    program.same('little memory: list: exit', (run.returncode, run.stderr), (0, b''))
    program.same('little memory: list', sorted(r['summary'] for r in json.loads(run.stdout)), ['big file', 'long line'])
    for name in (sid, SID % (2, 2)):
        run = program.run('messages', '--json', '--limit', '5', name, preexec_fn=small)
        program.same(f'little memory: messages {name}: exit', (run.returncode, run.stderr), (0, b''))
        program.same(f'little memory: messages {name}', len(json.loads(run.stdout)), 2)
        os.unlink(f'{folder}/{name}.jsonl')


def no_files(program, top, folder):
    """Other file types named like a transcript: nothing hangs, nothing is followed, the rest is listed."""
    put(f'{folder}/{SID % (1, 3)}.jsonl', session('the only real one'))
    os.mkfifo(f'{folder}/{SID % (2, 3)}.jsonl')
    os.mkdir(f'{folder}/{SID % (3, 3)}.jsonl')
    os.symlink('/nowhere/at/all', f'{folder}/{SID % (4, 3)}.jsonl')
    os.symlink(f'{SID % (5, 3)}.jsonl', f'{folder}/{SID % (5, 3)}.jsonl')
    os.symlink('/dev/zero', f'{folder}/{SID % (6, 3)}.jsonl')
    put(f'{folder}/{SID % (7, 3)}.jsonl', '')
    os.symlink('/nowhere', f'{top}/projects/-dangling')
    os.mkfifo(f'{top}/projects/-fifo')
    put(f'{top}/projects/-file', 'x')
    before = snapshot(top)
    rows = program.json('list', '--all')
    program.same('no files: rows', [r['summary'] for r in rows], ['the only real one'])
    for i in range(2, 8):
        for command in ('info', 'messages', 'restore'):
            run = program.run(command, SID % (i, 3), timeout=300)
            program.need(run.returncode in (1, 3, 4, 5), f'no files: {command} {i}: exit {run.returncode}')
    program.need(snapshot(top) == before, 'no files: reading changed the disk')


def run_as_nobody(program, args):
    """Runs as a user who owns nothing here. Returns None if that is impossible."""
    if os.getuid() != 0:
        return program.run(*args)
    try:
        return program.run(*args, user=NOBODY, group=NOBODY, extra_groups=[])
    except (PermissionError, subprocess.SubprocessError):
        return None


def no_rights(program, top, folder):
    """A read-only store with unreadable parts. Root may read everything, so the program runs as the user nobody."""
    put(f'{folder}/{SID % (1, 4)}.jsonl', session('readable'))
    put(f'{folder}/{SID % (2, 4)}.jsonl', session('secret'))
    os.makedirs(f'{top}/projects/-closed')
    put(f'{top}/projects/-closed/{SID % (3, 4)}.jsonl', session('behind a closed door'))
    for path, mode in ((top, 0o755), (f'{top}/projects', 0o555), (folder, 0o555), (f'{folder}/{SID % (1, 4)}.jsonl', 0o444),
                       (f'{folder}/{SID % (2, 4)}.jsonl', 0o000), (f'{top}/projects/-closed', 0o000)):
        os.chmod(path, mode)
    try:
        run = run_as_nobody(program, ('list', '--all', '--json'))
        if run is None:
            print('skipped: the user nobody cannot run the program here')
            return
        program.same('no rights: exit', run.returncode, 0)
        program.same('no rights: rows', [r['summary'] for r in json.loads(run.stdout)], ['readable'])
        program.same('no rights: unreadable parts', run.stderr.decode(),
                     f'reprise: cannot list session {folder}/{SID % (2, 4)}.jsonl: Permission denied\n'
                     f'reprise: cannot list sessions in {top}/projects/-closed: Permission denied\n')
        os.chmod(f'{top}/projects', 0o000)
        run = run_as_nobody(program, ('list', '--all', '--json'))
        program.same('no rights: no projects', (run.returncode, run.stdout, run.stderr.decode()),
                     (0, b'[]\n', f'reprise: cannot list sessions in {top}/projects: Permission denied\n'))
        run = run_as_nobody(program, ('messages', '--json', SID % (2, 4)))
        program.need(run.returncode in (1, 3) and b'reprise: ' in run.stderr, f'no rights: messages: {run}')
    finally:
        for path in (f'{top}/projects', folder, f'{top}/projects/-closed'):
            os.chmod(path, 0o755)


def no_rights_of(program, agent, top):
    """Whichever of its folders or files another user owns: a session that is missing in the list is not missing without a word."""
    home = f'{top}/home'
    os.makedirs(f'{home}/work')
    os.chmod(top, 0o755)
    paths = [write_session(agent, home, f'{home}/work', n, 1795770000 + n, 'a prompt') for n in (1, 2)]
    p = Program(program.path, home, {})
    sessions = len(p.json('list', '--all'))
    for folder, _, files in os.walk(home):
        os.chmod(folder, 0o755)
        for name in files:
            os.chmod(f'{folder}/{name}', 0o644)
    place = paths[0]
    while place != home:
        for mode in (0o000,) if os.path.isfile(place) else (0o000, 0o444, 0o111):
            was = os.stat(place).st_mode & 0o777
            os.chmod(place, mode)
            run = run_as_nobody(p, ('list', '--all', '--json'))
            os.chmod(place, was)
            if run is None:
                return p
            p.need(run.returncode == 0 and (len(json.loads(run.stdout)) == sessions or b'Permission denied' in run.stderr),
                   f'{agent}: {place} {mode:o}: {run}')
        place = os.path.dirname(place)
    return p


def odd_clocks(program, folder):
    """Times from before the epoch to after the last year: the last message orders, or the file's time where it has none."""
    times = [-86400, 0, 1, 1767225600, 2208988800, 4102444800, 9223372034]
    stamps = ['2040-01-01T00:00:00Z', '9999-12-31T23:59:59.999Z', '0001-01-01T00:00:00Z', '1969-12-31T23:59:59Z', 'soon',
              '+275760-09-13T00:00:00.000Z', '2026-13-45T99:99:99Z']
    for i, seconds in enumerate(times):
        path = f'{folder}/{SID % (i, 6)}.jsonl'
        put(path, session(f'clock {i}').replace('2026-01-01T00:00:00.000Z', stamps[i]))
        os.utime(path, (seconds, seconds))
    order = 5, 1, 6, 4, 0, 3, 2
    rows = program.json('list', '--all')
    program.same('clocks: in order', [r['summary'] for r in rows], [f'clock {i}' for i in order])
    program.same('clocks: times', [r['lastModified'] for r in rows], [1000 * times[i] for i in order])
    program.same('clocks: and again', program.json('list', '--all'), rows)
    for sort in 'recent', 'created', 'size', 'title':
        program.same(f'clocks: by {sort}', len(program.json('list', '--all', '--sort', sort)), len(times))
    said = program.text('list', '--all')
    program.need(not any(line.split()[0].startswith('-') for line in said.splitlines()), f'clocks: an age below none: {said}')
    program.same('clocks: before the epoch', len(program.json('list', '--all', '--before', '1970-01-01')), 2)
    program.text('sweep', '--all', '--older-than', '30d')
    for i in range(len(times)):
        program.text('info', SID % (i, 6))
        os.unlink(f'{folder}/{SID % (i, 6)}.jsonl')


SHRINK = """
import os, sys
fd = os.open(sys.argv[1], os.O_RDWR)
size = os.fstat(fd).st_size
body = os.pread(fd, size, 0)
print('ready', flush=True)
for i in range(1 << 30):
    os.ftruncate(fd, i * 7919 % size)
    os.pwrite(fd, body, 0)
"""


def truncated(program, folder):
    """A file that shrinks and grows while it is read. Short answers are valid, signals and broken answers are not."""
    path = f'{folder}/{SID % (1, 7)}.jsonl'
    put(path, session('shrinking', 3_000_000))
    writer = subprocess.Popen([sys.executable, '-c', SHRINK, path], stdout=subprocess.PIPE)
    try:
        writer.stdout.readline()
        for _ in range(25):
            for command in ('list', '--all'), ('info', SID % (1, 7)), ('messages', SID % (1, 7)), ('restore', SID % (1, 7)), ('doctor',):
                run = program.run(*command, '--json')
                program.need(run.returncode in (0, 1, 3, 4, 5), f'truncated: {command}: exit {run.returncode}: {run.stderr}')
                program.need(run.returncode != 0 or json.loads(run.stdout) is not None, f'truncated: {command}: {run.stdout[:100]}')
    finally:
        writer.kill()
        writer.wait()
        writer.stdout.close()
    os.unlink(path)


def closed_pipe(program, folder):
    """A reader that closes the pipe ends the program quietly."""
    for i in range(2000):
        put(f'{folder}/{SID % (i, 5)}.jsonl', session(f'prompt {i}'))
    for command in ('list --all', 'list --all --json'):
        run = subprocess.run(['sh', '-c', f'"$0" {command} | head -1; exit 0', program.path], env=program.env, cwd=program.home,
                             stdin=subprocess.DEVNULL, capture_output=True, timeout=300, check=False)
        program.same(f'closed pipe: {command}', (run.returncode, run.stderr), (0, b''))


def main():
    with tempfile.TemporaryDirectory() as top:
        program = Program(sys.argv[1], top, {'CLAUDE_CONFIG_DIR': top})
        for i, part in enumerate((few_descriptors, little_memory, no_files, no_rights, closed_pipe, odd_clocks, truncated)):
            if SANITIZED and part is little_memory:
                continue  # the sanitizers reserve terabytes of address space
            folder = f'{top}/projects/-w{i}'
            os.makedirs(folder)
            if part in (no_files, no_rights):
                part(program, top, folder)
            else:
                part(program, folder)
            subprocess.run(['rm', '-rf', f'{top}/projects'], check=True)
        for agent in AGENTS:
            with tempfile.TemporaryDirectory() as own:
                p = no_rights_of(program, agent, os.path.realpath(own))
            program.passed, program.failed = program.passed + p.passed, program.failed + p.failed
        program.finish(60)


main()
