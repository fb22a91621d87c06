#!/usr/bin/env python3
"""The terminal is asked for its background: the first frame does not wait for the answer, the answer changes the theme, and no
byte of it is read as a key, by the program or by what runs after it.

usage: background.py PROGRAM DEMO_STORE
"""
import fcntl
import os
import pty
import re
import select
import struct
import subprocess
import sys
import tempfile
import termios
import time

from support.program import Program

PATIENCE = 300  # seconds: a loaded machine is slow, not wrong
QUESTION = b'\x1b]11;?\x1b\\\x1b[c'
ATTRIBUTES = b'\x1b[?64;1;2c'
LIGHT, DARK = (b'\x1b]11;rgb:%s\x1b\\' % c for c in (b'ffff/fdfd/f6f6', b'1616/1818/2424'))
LIGHT_YELLOW = b'\x1b[38;2;125;82;0m'  # of the theme `light`: the letters that match
WAITED = b'type to filter'
SEQUENCE = re.compile(rb'\x1b\[[0-9;?]*[A-Za-z]|\x1b\(B')


class Terminal:
    """The program on a terminal of its own, in a shell that shows what is left to read after it."""

    def __init__(self, p, *args):
        self.said = self.everything = b''
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            os.chdir(os.path.join(p.home, 'code', 'shop'))
            os.execve('/bin/sh', ['sh', '-c', '"$0" "$@"; echo "exit $?"; stty -icanon -echo min 0 time 5; dd bs=99 count=1 2>/dev/null | od -c; echo end',
                                  p.path, *args], {**p.env, 'TERM': 'xterm-256color', 'COLORTERM': 'truecolor', 'PATH': os.environ['PATH']})
        fcntl.ioctl(self.fd, termios.TIOCSWINSZ, struct.pack('HHHH', 30, 100, 0, 0))

    def until(self, text):
        """Returns what was sent up to the text, and forgets it."""
        end = time.monotonic() + PATIENCE
        while text not in self.said:
            if time.monotonic() > end:
                raise SystemExit(f'never came: {text!r} in {self.said[-400:]!r}')
            if select.select([self.fd], [], [], 1)[0]:
                try:
                    got = os.read(self.fd, 65536)
                    self.said += got
                    self.everything += got
                except OSError:
                    raise SystemExit(f'ended before {text!r}: {self.said[-400:]!r}') from None
        front, _, self.said = self.said.partition(text)
        return front + text

    def send(self, data):
        os.write(self.fd, data)

    def close(self):
        os.close(self.fd)
        os.waitpid(self.pid, 0)


def quits(p, t, what):
    t.send(b'\x03')
    rest = t.until(b'exit 130')
    rest += t.until(b'end\r\n')
    p.need(b'rgb' not in rest and b'0000000' not in rest.split(b'exit')[-1].split(b'end')[0].replace(b'0000000\r\n', b''),
           f'{what}: something was left for the shell: {rest[-300:]!r}')
    t.close()


def main():
    with tempfile.TemporaryDirectory() as home:
        p = Program(sys.argv[1], home, {'CLAUDE_CONFIG_DIR': os.path.join(home, 'claude')})
        subprocess.run([sys.argv[2], home], check=True)

        t = Terminal(p)
        t.until(QUESTION)
        t.until(WAITED)  # the first frame, without an answer
        t.send(LIGHT + ATTRIBUTES)
        t.send(b'pay')
        t.until(LIGHT_YELLOW)
        quits(p, t, 'light')

        for what, pieces in (('dark', [DARK + ATTRIBUTES]), ('no answer', []), ('no colour', [ATTRIBUTES]),
                             ('in pieces', [LIGHT[:9], LIGHT[9:20], LIGHT[20:] + ATTRIBUTES[:4], ATTRIBUTES[4:]])):
            t = Terminal(p)
            t.until(QUESTION)
            t.until(WAITED)
            for piece in pieces:
                t.send(piece)
                time.sleep(0.3)  # an answer in pieces is an answer
            t.send(b'zzqq\x0c')
            t.until(b'\x1b[H\x1b[2J')
            line = SEQUENCE.sub(b'', t.until(b'zzqq'))
            p.need(line.endswith(b'> zzqq'), f'{what}: the query is what was typed: {line[-100:]!r}')
            p.need((LIGHT_YELLOW in t.everything) == (what == 'in pieces'), f'{what}: another theme than the answer says')
            quits(p, t, what)

        for theme in ('dark', 'light', 'contrast'):
            config = os.path.join(home, 'config')
            with open(config, 'w', encoding='utf-8') as f:
                f.write(f'theme = {theme}\n')
            t = Terminal(p, '--config', config)
            p.need(QUESTION[:4] not in t.until(WAITED), f'{theme}: nothing is asked')
            quits(p, t, theme)

        # Left before the answer came: it is waited for, so that no shell reads it as typed.
        t = Terminal(p)
        t.until(QUESTION)
        t.send(b'\x03' + LIGHT + ATTRIBUTES)
        quits(p, t, 'left at once')
        print(f'{p.passed} passed, {p.failed} failed')
        sys.exit(p.failed != 0)


main()
