#!/usr/bin/env python3
"""The ways in which a terminal can end: signals, storms of them, the end of its input, a closed line. In each case the
program exits with the right code, restores the terminal's modes, and uses no processor time.

usage: terminal.py PROGRAM
"""
import fcntl
import json
import os
import pty
import select
import signal
import struct
import subprocess
import sys
import tempfile
import termios
import time

from support.program import Program

SID = '5e550000-0000-4000-8000-00000000000%d'
TITLE = b'The only title'
PATIENCE = 300  # seconds: a loaded machine is slow, not wrong


def session(folder):
    row = {'parentUuid': None, 'type': 'user', 'uuid': SID % 2, 'sessionId': SID % 1, 'cwd': '/w',
           'timestamp': '2026-01-01T00:00:00.000Z', 'message': {'role': 'user', 'content': TITLE.decode()}}
    os.makedirs(folder)
    with open(f'{folder}/{SID % 1}.jsonl', 'w', encoding='utf-8') as f:
        f.write(json.dumps(row) + '\n')


class Terminal:
    """The program on a terminal of its own, whose other end we hold."""

    def __init__(self, program, *args, before=()):
        self.far, near = pty.openpty()
        fcntl.ioctl(self.far, termios.TIOCSWINSZ, struct.pack('HHHH', 24, 80, 0, 0))
        self.modes = termios.tcgetattr(near)
        self.near, self.seen = near, b''

        def lead():
            os.setsid()
            fcntl.ioctl(0, termios.TIOCSCTTY, 0)
        self.run = subprocess.Popen([*before, program.path, '--all', *args], env=program.env, cwd=program.home, stdin=near,
                                    stdout=near, stderr=near, preexec_fn=lead)

    def read(self, seconds):
        if select.select([self.far], [], [], seconds)[0]:
            try:
                self.seen += os.read(self.far, 65536)
            except OSError:
                pass

    def wait_for(self, text):
        self.seen = self.seen if text in self.seen else self.seen[-200:]
        until = time.monotonic() + PATIENCE
        while text not in self.seen and time.monotonic() < until:
            self.read(0.1)
        return text in self.seen

    def ended(self):
        """The exit code, as a shell reports it."""
        until = time.monotonic() + PATIENCE
        while self.run.poll() is None and time.monotonic() < until:
            if self.far >= 0:
                self.read(0.05)
            else:
                time.sleep(0.05)
        code = self.run.poll()
        if code is None:
            self.run.kill()
            self.run.wait()
            return 'never'
        return code if code >= 0 else 128 - code

    def woken(self):
        """How often it has gone to sleep until now."""
        with open(f'/proc/{self.run.pid}/status', encoding='utf-8') as f:
            return next(int(line.split()[1]) for line in f if line.startswith('voluntary'))

    def close(self):
        for fd in (self.far, self.near):
            if fd >= 0:
                os.close(fd)


def opened(check, program, *args):
    t = Terminal(program, *args)
    check.need(t.wait_for(TITLE), f'{args}: the list is shown')
    return t


def given_back(check, name, t):
    check.same(f'{name}: the modes are as they were', termios.tcgetattr(t.near), t.modes)
    while select.select([t.far], [], [], 0)[0]:
        t.read(0)
    check.need(b'\x1b[?1049l' in t.seen or b'\x1b[?47l' in t.seen, f'{name}: the screen is given back')


def killed(check, program):
    for sig in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
        t = opened(check, program)
        os.kill(t.run.pid, sig)
        code = t.ended()
        check.need(code == 128 + sig or (sig == signal.SIGINT and code == 130), f'{sig.name}: exit {code}')
        given_back(check, sig.name, t)
        t.close()


SHELL = 'set -m; "$0" "$@"; echo HERE-AGAIN; fg >/dev/null; exit $?'


def stopped(check, program):
    """Under a shell with job control: the shell's terminal while the program is stopped, and the list afterwards."""
    t = Terminal(program, before=('sh', '-c', SHELL))
    check.need(t.wait_for(TITLE), 'stopped: the list is shown')
    with open(f'/proc/{t.run.pid}/task/{t.run.pid}/children', encoding='ascii') as f:
        child = int(f.read().split()[0])
    os.kill(child, signal.SIGTSTP)
    check.need(t.wait_for(b'HERE-AGAIN'), 'stopped: the shell has the terminal')
    front, rest = t.seen.split(b'HERE-AGAIN', 1)
    check.need(b'\x1b[?1049l' in front, 'stopped: the screen was given back before')
    t.seen = rest
    check.need(t.wait_for(TITLE), 'stopped: the list is shown again')
    os.write(t.far, b'\x03')
    check.same('stopped: and leaves', t.ended(), 130)
    t.close()


def storm(check, program):
    t = opened(check, program)
    for i in range(400):
        fcntl.ioctl(t.far, termios.TIOCSWINSZ, struct.pack('HHHH', 12 + i % 40, 50 + i % 100, 0, 0))
        os.kill(t.run.pid, signal.SIGWINCH)
        t.read(0)
    fcntl.ioctl(t.far, termios.TIOCSWINSZ, struct.pack('HHHH', 30, 100, 0, 0))
    t.seen = b''
    os.kill(t.run.pid, signal.SIGWINCH)
    check.need(t.wait_for(TITLE), 'storm: the list is drawn again')
    os.write(t.far, b'\x03')
    check.same('storm: and keys still work', t.ended(), 130)
    given_back(check, 'storm', t)
    t.close()


def line_cut(check, program):
    """The other end is closed: a hangup, and the end of input."""
    t = opened(check, program)
    os.close(t.near)
    os.close(t.far)
    t.near = t.far = -1
    code = t.ended()
    check.need(code in (129, 1, 0, 130), f'line cut: exit {code}')


def input_ends(check, program):
    """Empty input and no terminal: an error, and no loop."""
    run = program.run('--all', start_new_session=True)
    check.same('no terminal: exit', run.returncode, 2)
    check.need(run.stderr.startswith(b'reprise: ') and run.stderr.count(b'\n') == 1, f'no terminal: {run.stderr!r}')
    run = program.run('--all', '--plain', start_new_session=True)
    check.need(run.returncode in (0, 2, 130), f'plain without input: exit {run.returncode}')


def idle(check, program):
    """An idle program is not woken."""
    t = opened(check, program)
    t.read(1.5)
    before = t.woken()
    t.read(2)
    check.need(t.woken() - before <= 4, f'idle: woken {t.woken() - before} times in 2 s')
    os.write(t.far, b'\x1b')
    check.need(t.ended() in (0, 130), 'idle: Esc leaves')
    given_back(check, 'idle', t)
    t.close()


def main():
    with tempfile.TemporaryDirectory() as top:
        session(f'{top}/projects/-w')
        program = Program(sys.argv[1], top, {'CLAUDE_CONFIG_DIR': top, 'TERM': 'xterm-256color'})
        for test in (killed, stopped, storm, line_cut, input_ends, idle):
            test(program, program)
        program.finish(30)


main()
