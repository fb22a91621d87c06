#!/usr/bin/env python3
"""--plain on terminals of several sizes, byte by byte: lines that fit the width and the height below their headings, text alone,
and nothing that moves the cursor, for people who read line by line.

usage: plain.py PROGRAM DEMO_STORE
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
import unicodedata

from support.program import Program

PATIENCE = 300  # seconds: a loaded machine is slow, not wrong
QUESTION = 'number, words, or Enter to quit: '


def columns(line):
    return sum(0 if unicodedata.combining(c) else 2 if unicodedata.east_asian_width(c) in 'WF' else 1 for c in line)


class Terminal:
    def __init__(self, p, width, height, *args):
        self.said = b''
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack('HHHH', height, width, 0, 0))
            os.chdir(os.path.join(p.home, 'code', 'shop'))
            os.execve(p.path, [p.path, '--plain', *args], {**p.env, 'TERM': 'dumb'})

    def ask(self, typed=None):
        """Answers the last question; returns the lines up to the next one."""
        if typed is not None:
            os.write(self.fd, typed.encode() + b'\n')
        begin, end = len(self.said), time.monotonic() + PATIENCE
        while QUESTION.encode() not in self.said[begin:]:
            if time.monotonic() > end or not self.read():
                break
        return self.said[begin:].decode().replace('\r\n', '\n').split('\n')

    def read(self):
        if not select.select([self.fd], [], [], 1)[0]:
            return True
        try:
            got = os.read(self.fd, 65536)
        except OSError:
            return False
        self.said += got
        return bool(got)

    def close(self, typed):
        os.write(self.fd, typed.encode() + b'\n')
        while self.read():
            pass
        os.close(self.fd)
        return os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])


def check(p, what, lines, width, height):
    p.same(f'{what}: the question comes last', lines[-1], QUESTION)
    p.need(lines[0].split()[-1] == 'TITLE' and 'ID' not in lines[0].split(), f'{what}: headings: {lines[0]!r}')
    for line in lines[:-1]:
        p.need(columns(line) <= width, f'{what}: a line of {columns(line)} columns: {line!r}')
    p.need(len(lines) <= height, f'{what}: {len(lines)} lines, so that the first ones have scrolled away')


def main():
    with tempfile.TemporaryDirectory() as home:
        p = Program(sys.argv[1], home, {'CLAUDE_CONFIG_DIR': os.path.join(home, 'claude')})
        subprocess.run([sys.argv[2], home], check=True)
        for width, height, all_columns in ((120, 30, True), (80, 24, True), (60, 24, False), (40, 24, False), (34, 12, False)):
            what = f'{width}x{height}'
            t = Terminal(p, width, height)
            lines = t.ask()
            check(p, what, lines, width, height)
            p.same(f'{what}: columns', 'BRANCH' in lines[0], all_columns)
            p.need(lines[1].startswith('  1. ') and 'Fix the pay' in lines[1], f'{what}: the newest first: {lines[1]!r}')
            if height == 12:
                p.same(f'{what}: how many more', lines[-2], 'and 7 more: type words to filter')
            check(p, what + ' words', t.ask('refund')[1:], width, height)
            none = t.ask('zzqqzz')
            p.same(f'{what}: no match', none[1:], ['no matches here; try --all', QUESTION])
            p.same(f'{what}: quits', t.close(''), 130)
            p.need(not re.search(rb'[\x00-\x09\x0b\x0c\x0e-\x1f\x7f]', t.said), f'{what}: text and line ends alone: {t.said!r}')

        t = Terminal(p, 80, 24, '--print')
        t.ask()
        t.ask('idempot')
        p.same('a number chooses', t.close('1'), 0)
        p.need(t.said.decode().splitlines()[-1].endswith('claude --resume f3a97c58-04d2-4b61-8c9e-d15e7b20a6bb'), f'{t.said[-300:]!r}')

        piped = subprocess.run([p.path, '--plain'], env=p.env, cwd=os.path.join(home, 'code', 'shop'), input=b'', capture_output=True, check=False)
        p.need('Write the nightly report: the orders of the day, one line each' in piped.stderr.decode(), 'nothing is cut where there is no width')
        p.same('stdout gets the choice alone', piped.stdout, b'')
        p.finish(150)


main()
