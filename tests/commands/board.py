#!/usr/bin/env python3
"""The sessions that run now: what each of them does, in which terminal, and how to get there.

usage: board.py PROGRAM

The registry of Claude Code is written by hand, for processes of this test; the terminals are those of a tmux of its own.
"""
import json
import os
import pty
import select
import subprocess
import sys
import time

from resume_by_id import World, flat, write_session
from support import agent_sessions

PATIENCE = 60


def sid(n):
    return f'aaaaaaaa-0000-4000-8000-{n:012}'


def until(what, holds):
    end = time.monotonic() + PATIENCE
    while not holds():
        if time.monotonic() > end:
            sys.exit(f'never: {what}')
        time.sleep(0.02)


class Board(World):
    def __init__(self, path):
        super().__init__(path)
        self.running = []
        self.socket = f'{self.top}/tmux'
        for n in range(1, 8):
            write_session(self.config, self.home, sid(n), n)

    def start(self):
        self.running.append(subprocess.Popen(['sleep', '600'], start_new_session=True))
        return self.running[-1].pid

    def publish(self, n, pid, status, **more):
        """What Claude Code writes while it runs; with a rename, as it does."""
        with open(f'/proc/{pid}/stat', encoding='utf-8') as f:
            began = f.read().rpartition(')')[2].split()[19]
        os.makedirs(f'{self.config}/sessions', exist_ok=True)
        path = f'{self.config}/sessions/{pid}.json'
        with open(f'{path}.new', 'w', encoding='utf-8') as f:
            json.dump({'pid': pid, 'sessionId': sid(n), 'cwd': self.home, 'procStart': began, 'kind': 'interactive',
                       'status': status, **more}, f)
        os.rename(f'{path}.new', path)

    def board(self, *args):
        return [(row['sessionId'], row.get('state'), row.get('shell', False)) for row in self.program.json('board', *args)]

    def tmux(self, *args, socket=None):
        return subprocess.run(['tmux', '-S', socket or self.socket, '-f', '/dev/null', *args], check=True, capture_output=True,
                              env={**self.program.env, 'HOME': self.home}).stdout.decode()

    def end(self):
        for process in self.running:
            process.kill()
            process.wait()
        for socket in self.socket, f'{self.socket}-client', f'{self.socket}-inner':
            subprocess.run(['tmux', '-S', socket, 'kill-server'], check=False, capture_output=True)


def check_states(w):
    """All four states, those that wait first; a process that was killed, or whose number is another's now, does not count."""
    w.program.same('nothing runs', w.program.text('board'), 'no session is running\n')
    w.program.same('nothing runs, in JSON', w.board(), [])
    w.program.same('no status', w.program.text('status'), '\n')
    now = int(time.time() * 1000)
    for n, status in (1, 'idle'), (2, 'busy'), (3, 'shell'), (4, 'waiting'):
        w.publish(n, w.start(), status, statusUpdatedAt=now - n * 3600000,
                  **({'waitingFor': 'permission \x1b[31mto use Bash'} if n == 4 else {}))
    w.publish(5, w.start(), 'busy')
    w.running[-1].kill()
    w.running[-1].wait()
    w.program.same('the states', w.board(), [(sid(4), 'requires_action', False), (sid(3), 'running', True), (sid(2), 'running', False),
                                             (sid(1), 'idle', False)])
    first = w.program.json('board')[0]
    w.program.same('since', first['since'], now - 4 * 3600000)
    w.program.same('its process', first['pid'], w.running[3].pid)
    text = w.program.text('board')
    w.program.need('waiting' in text.splitlines()[0] and '4h ago' in text and '^[[31mto use Bash' in text, f'the board: {text}')
    w.program.same('the status', w.program.text('status'), '1 waiting, 2 busy\n')
    w.program.same('the status in JSON', {k: v for k, v in w.program.json('status').items() if k != 'schemaVersion'},
                   {'waiting': 1, 'busy': 2, 'idle': 1})
    w.program.same('another agent', w.board('--system', 'codex'), [])


def check_twice(w):
    """A session in two folders is one line: that of the newer copy."""
    path = write_session(w.config, f'{w.home}/b', sid(4), 9)
    rows = [row for row in w.program.json('board') if row['sessionId'] == sid(4)]
    w.program.same('a session in two folders', [row['path'] for row in rows], [path])
    os.remove(path)


def check_others(w):
    """Agents that publish nothing: who has the session open, or when it wrote."""
    path = write_session(w.config, w.home, sid(6), 6)
    w.program.text('tag', sid(6), 'shop')
    w.program.same('a tag is not work', [row for row in w.board() if row[0] == sid(6)], [])
    with open(path, 'r+', encoding='utf-8') as f:
        text = f.read().replace('2026-03-01T10:06:00.000Z', time.strftime('%Y-%m-%dT%H:%M:%S.000Z', time.gmtime()))
        f.seek(0)
        f.write(text)
    w.program.same('written now', w.board()[-2:], [(sid(6), None, False), (sid(1), 'idle', False)])
    w.program.need('wrote' in w.program.text('board'), 'the board does not say that it wrote')
    os.utime(path, (1700000000,) * 2)

    # Copilot leaves a file with the number of its process in the session's folder.
    agent_sessions.write('copilot', w.home, w.home, 1, time.time() - 3600, 'copilot at work', {})
    found = [row for row in w.program.json('list', '--all') if row['system'] == 'copilot']
    pid = w.start()
    open(f'{os.path.dirname(found[0]["path"]) if found[0]["path"].endswith("l") else found[0]["path"]}/inuse.{pid}.lock', 'w').close()
    os.makedirs(f'{w.home}/{pid}')
    with open(f'{w.home}/{pid}/cmdline', 'wb') as f:
        f.write(b'copilot\0')
    row = [row for row in w.program.json('board') if row['system'] == 'copilot']
    w.program.same('Copilot has it open', [(r['open'], r.get('pid'), r.get('state')) for r in row], [(True, pid, None)])
    w.running[-1].kill()
    w.running[-1].wait()


def check_go(w):
    """To the pane of the session, from within tmux and from outside it; what cannot be reached says why."""
    run = w.program.run('go', sid(7))
    w.program.need(run.returncode == 3 and b'no program is running it' in run.stderr, f'go to a quiet session: {run}')
    run = w.program.run('go', sid(2))
    w.program.need(run.returncode == 3 and b'has no terminal' in run.stderr, f'go without a terminal: {run}')

    w.tmux('new-session', '-d', '-s', 'desk', '-x', '80', '-y', '24', 'exec cat')
    w.tmux('new-session', '-d', '-s', 'work', '-x', '80', '-y', '24', 'exec cat')
    w.tmux('new-window', '-d', '-t', 'work', 'exec sleep 600')
    pid, window = w.tmux('list-panes', '-s', '-t', 'work', '-F', '#{pane_pid} #{session_name}:#{window_index}.#{pane_index}').split('\n')[1].split()
    w.publish(7, int(pid), 'waiting', waitingFor='an answer')
    row = [row for row in w.program.json('board') if row['sessionId'] == sid(7)][0]
    w.program.same('its terminal', (row['terminal']['program'], row['terminal']['place']), ('tmux', window))
    w.program.same('printed', w.program.text('go', '--print', sid(7)), f'tmux {window}\n')
    run = w.program.run('go', sid(7))
    w.program.need(run.returncode != 0 and b'not a terminal' in run.stderr, f'go without a terminal of its own: {run}')

    outer = f'{w.socket}-client'
    w.tmux('new-session', '-d', '-x', '80', '-y', '25', f"TMUX= exec tmux -S '{w.socket}' attach -t desk", socket=outer)
    until('a client', lambda: w.tmux('list-clients', '-F', '#{session_name}') == 'desk\n')
    w.program.env['TMUX'] = f'{w.socket},1,0'
    w.program.need(w.program.run('go', sid(7)).returncode == 0, 'go within tmux')
    w.program.same('the pane that is shown', w.tmux('list-clients', '-F', '#{session_name}:#{window_index}.#{pane_index}'), f'{window}\n')
    del w.program.env['TMUX']

    # From a terminal outside, it attaches; nothing is typed into the pane.
    w.tmux('switch-client', '-t', 'desk')
    w.tmux('new-window', '-d', f"exec env -u TMUX '{w.program.path}' go {sid(7)}", socket=outer)
    until('a second client', lambda: 'work\n' in w.tmux('list-clients', '-F', '#{session_name}'))
    w.program.same('the pane of the session', w.tmux('capture-pane', '-p', '-t', window).strip(), '')


def shown_by(w):
    """The session that each client of the server shows, in order."""
    return sorted(w.tmux('list-clients', '-F', '#{session_name}').split())


def check_clients(w):
    """Two people, or two terminals of one, look at the server: only the terminal from which it was asked goes there. And from a tmux
    within a tmux, which is another server, it attaches."""
    before = shown_by(w)
    outer, inner = f'{w.socket}-client', f'{w.socket}-inner'
    w.tmux('new-session', '-d', '-s', 'third', '-x', '80', '-y', '24', 'exec sleep 600')
    w.tmux('new-session', '-d', '-s', 'fourth', '-x', '80', '-y', '24', 'exec sleep 600')
    for session in 'third', 'fourth':
        w.tmux('new-session', '-d', '-x', '80', '-y', '25', f"TMUX= exec tmux -S '{w.socket}' attach -t {session}", socket=outer)
    until('two more clients', lambda: shown_by(w) == sorted([*before, 'third', 'fourth']))
    w.tmux('new-window', '-t', 'third', f"'{w.program.path}' go {sid(7)}; exec sleep 600")
    until('one of them goes there', lambda: shown_by(w) == sorted([*before, 'fourth', 'work']))

    # Within the pane of the last one runs another server, and in that one the question is asked.
    w.tmux('new-window', '-t', 'fourth', f"TMUX= exec tmux -S '{inner}' -f /dev/null new-session '{w.program.path} go {sid(7)}; exec sleep 600'")
    until('it attaches', lambda: shown_by(w) == sorted([*before, 'fourth', 'work', 'work']))
    subprocess.run(['tmux', '-S', inner, 'kill-server'], check=False, capture_output=True)
    for session in 'third', 'fourth':
        w.tmux('kill-session', '-t', session)


def check_screen(w):
    """What the environment of an agent says acts on no terminal."""
    pid, terminal = pty.fork()
    if not pid:
        os.execvpe('sleep', ['sleep', '600'], {**w.program.env, 'TMUX': '/nonexistent,1,0', 'STY': '7.\x1b[31mred'})
    until('the agent', lambda: open(f'/proc/{pid}/comm', encoding='utf-8').read() == 'sleep\n')
    w.publish(6, pid, 'waiting')
    w.program.same('the place', w.program.text('go', '--print', sid(6)), 'GNU Screen 7.^[[31mred\n')
    os.kill(pid, 9)
    os.waitpid(pid, 0)
    os.close(terminal)


def check_many(w):
    """Those that wait stay on a screen that is too low for all."""
    for n in range(20, 35):
        write_session(w.config, w.home, sid(n), n)
        w.publish(n, w.start(), 'busy')
    outer = f'{w.socket}-client'
    w.tmux('new-session', '-d', '-s', 'low', '-x', '80', '-y', '24', f"exec '{w.program.path}' board --watch", socket=outer)
    shown = ''

    def drawn():
        nonlocal shown
        shown = w.tmux('capture-pane', '-p', '-t', 'low', socket=outer)
        return ' more' in shown
    until('the board', drawn)
    w.program.need(shown.startswith('waiting') and 'and ' in shown.rstrip().split('\n')[-1], f'too many for the screen: {shown}')
    w.tmux('kill-session', '-t', 'low', socket=outer)
    for process in w.running[-15:]:
        process.kill()
        process.wait()


def check_watch(w):
    """Each change is one line, and one that begins to wait rings."""
    master, slave = pty.openpty()
    pid = w.start()
    w.publish(5, pid, 'busy')
    watch = subprocess.Popen([w.program.path, 'board', '--watch', '--bell', '--json'], env=w.program.env, cwd=w.home,
                             stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=slave)

    def state():
        ready, _, _ = select.select([watch.stdout], [], [], PATIENCE)
        rows = json.loads(watch.stdout.readline()) if ready else []
        return next((row.get('state') for row in rows if row['sessionId'] == sid(5)), None)
    w.program.same('at first', state(), 'running')
    for status, name in ('waiting', 'requires_action'), ('busy', 'running'), ('idle', 'idle'), ('waiting', 'requires_action'):
        w.publish(5, pid, status, waitingFor='\x1b]52;c;Zm9v\x07')
        w.program.same(f'after {status}', state(), name)
    w.running[-1].kill()
    w.running[-1].wait()
    w.program.same('after its process was killed', state(), None)
    watch.terminate()
    watch.wait()
    os.close(slave)
    said = b''
    try:
        while part := os.read(master, 4096):
            said += part
    except OSError:  # the other end is closed
        pass
    w.program.same('bells', said.count(b'\a'), 2)
    w.program.need(b'\x1b]52' not in said and b'hello waits for you' in said, f'the notification: {said!r}')


def check_fifty(w):
    """Fifty at once: each change of one is seen before the next is made, and after a burst the last states are."""
    ids = range(101, 151)
    pids = {n: w.start() for n in ids}
    for n in ids:
        write_session(w.config, w.home, sid(n))
        w.publish(n, pids[n], 'busy')
    watch = subprocess.Popen([w.program.path, 'board', '--watch', '--json'], env=w.program.env, cwd=w.home, stdin=subprocess.DEVNULL,
                             stdout=subprocess.PIPE, bufsize=0)  # a line in a buffer would not wake select
    seen = {}

    def sees(want):
        """Reads until the states of all are those that are wanted; a line is the whole board."""
        nonlocal seen
        while seen != want:
            ready, _, _ = select.select([watch.stdout], [], [], PATIENCE)
            if not ready:
                return False
            seen = {row['sessionId']: row['state'] for row in json.loads(watch.stdout.readline()) if row['sessionId'] in known}
        return True

    known = {sid(n) for n in ids}
    states = {sid(n): 'running' for n in ids}
    w.program.need(sees(states), f'at first: {seen}')
    missed = []
    for n in ids:
        w.publish(n, pids[n], 'waiting')
        states[sid(n)] = 'requires_action'
        if not sees(states):
            missed.append(n)
            break
    w.program.same('missed changes', missed, [])
    for status in 'busy', 'waiting', 'idle':
        for n in ids:
            w.publish(n, pids[n], status)
    w.program.need(sees({sid(n): 'idle' for n in ids}), f'after a burst: {seen}')
    for process in w.running[-25:]:
        process.kill()
        process.wait()
    w.program.need(sees({sid(n): 'idle' for n in list(ids)[:25]}), f'after half of them ended: {seen}')
    watch.terminate()
    watch.wait()


def main():
    w = Board(sys.argv[1])
    try:
        for check in check_states, check_twice, check_others, check_go, check_clients, check_screen, check_many, check_watch, check_fifty:
            check(w)
    finally:
        w.end()
    w.program.finish(50)


main()
