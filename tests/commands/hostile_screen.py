#!/usr/bin/env python3
"""The same on the screen: the picker runs in a raw pty over sessions whose titles, tags, branches, directories, prompts
and answers try to act on the terminal, and every byte that it sends is read. Only sequences that draw a screen may be among them.

usage: hostile_screen.py PROGRAM
"""
import fcntl
import os
import pty
import re
import select
import struct
import sys
import tempfile
import termios
import time
from concurrent.futures import ThreadPoolExecutor

from support.terminal_attacks import PATTERNS, SID, transcript
from support.program import Program

PATIENCE = 300  # seconds: a loaded machine is slow, not wrong
# What ncurses sends for xterm-256color: cursor, colours, erasing, scrolling, modes, character set, keypad, and the
# palette reset (OSC 104). A screen never sends the numbers of the patterns (31337).
SEQUENCE = re.compile(rb'\x1b(?:\[(?:[?>]?\d{0,4}(?:;\d{1,3}){0,4}[hlmHJKABCDGdXPLMSTr@]|2[23];0;0t)|\([B0]|[=>78M]|\]104\x07)')
NUMBER = re.compile(rb'313[0-9]{2}')
PLAIN = set(range(0x20, 0x7f)) | set(b'\r\n\b')
# Once, at the start: what its background is, and what it is.
QUESTION = b'\x1b]11;?\x1b\\\x1b[c'
HIDDEN = re.compile('[\u0080-\u009f\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\U000e0000-\U000e0fff]')


class Screen:
    """The program on a terminal of its own, and all bytes that it sent."""

    def __init__(self, program, *args):
        self.said = b''
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            os.chdir(program.home)
            os.execve(program.path, [program.path, *args], {**program.env, 'TERM': 'xterm-256color'})
        fcntl.ioctl(self.fd, termios.TIOCSWINSZ, struct.pack('HHHH', 60, 200, 0, 0))

    def read(self, seconds):
        """Returns False if nothing came in this time or the program has ended."""
        if not select.select([self.fd], [], [], seconds)[0]:
            return False
        try:
            got = os.read(self.fd, 65536)
        except OSError:
            return False
        self.said += got
        return bool(got)

    def until(self, text):
        begun = time.monotonic()
        while text not in self.said:
            if not self.read(1) and time.monotonic() - begun > PATIENCE:
                return False
        return True

    def press(self, keys):
        """Reads the change after a key; later output is read with the next one."""
        os.write(self.fd, keys)
        while self.read(0.12):
            pass

    def close(self):
        os.write(self.fd, b'\x03')
        while self.read(PATIENCE):
            pass
        os.close(self.fd)
        return os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])


def judge(program, name, said):
    """Any bytes left after removing everything that draws a screen come from the sessions."""
    sent = {found.group() for found in SEQUENCE.finditer(said) if NUMBER.search(found.group())}
    program.need(not sent, f'{name}: {sent} were sent')
    text = SEQUENCE.sub(b'', said.replace(QUESTION, b'', 1))
    raw = sorted({b for b in text if b < 0x80} - PLAIN)
    program.need(not raw, f'{name}: raw bytes {raw}: {[text[max(0, i - 20):i + 20] for i in (text.find(bytes([b])) for b in raw)]}')
    try:
        hidden = sorted(set(HIDDEN.findall(text.decode())))
        program.need(not hidden, f'{name}: hidden characters {[hex(ord(c)) for c in hidden]}')
    except UnicodeDecodeError as e:
        program.need(False, f'{name}: broken UTF-8 was sent: {text[max(0, e.start - 20):e.end + 20]!r}')


# The transcript, its beginning, all unfolded, the raw form, back; help; the menu.
WALK = (b'\x1b[C', b'g', b' ', b'j', b' ', b'z', b'j', b'j', b'i', b'\x1b', b'G', b'T', b'\x1b', b'\x13', b'\x0c', b'?', b'\x1b', b'\x18', b'\x1b')


def walk(path, top, evils, visible, *args):
    """Walks the screens over sessions with these texts, in a store of its own, so that walks can run in parallel."""
    folder = f'{top}/projects/-w'
    os.makedirs(folder)
    for i, evil in enumerate(evils):
        with open(f'{folder}/{SID % (0xabc000 + i)}.jsonl', 'wb') as f:
            f.write(transcript(SID % (0xabc000 + i), evil))
    name = os.path.basename(top)
    program = Program(path, top, {'CLAUDE_CONFIG_DIR': top})
    screen = Screen(program, '--all', *args)
    program.need(screen.until(b'before '), f'{name}: the session was never listed: {screen.said[-400:]!r}')
    for keys in WALK:
        screen.press(keys)
    for text in visible:
        program.need(screen.until(text), f'{name}: {text!r} was never shown')
    program.same(f'{name}: exit', screen.close(), 130)
    judge(program, name, screen.said)
    return program


def main():
    # Patterns are shown in words, so that the person sees them: the check below would pass on an empty screen too.
    visible = {'OSC 0 title': [b'^[', b'PWNTITLE', b'^G'], 'C1 as a raw byte': [b'31339J'], 'backspaces': [b'^H'],
               'right-to-left override': [b'<U+202E>'], 'C1 CSI in UTF-8': [b'<9B>']}
    everything = [evil for evil, _ in PATTERNS.values()]
    with tempfile.TemporaryDirectory() as top, ThreadPoolExecutor(6) as pool:
        walks = [pool.submit(walk, sys.argv[1], f'{top}/{name}', [evil], visible.get(name, []))
                 for name, (evil, _) in PATTERNS.items()]
        walks.append(pool.submit(walk, sys.argv[1], f'{top}/all of them', everything, [b'<U+202E>']))
        walks.append(pool.submit(walk, sys.argv[1], f'{top}/all of them in ASCII', everything, [b'<U+202E>'], '--ascii'))
        total = Program(sys.argv[1], top, {})
        for done in walks:
            total.passed += done.result().passed
            total.failed += done.result().failed
        total.finish((len(PATTERNS) + 2) * 5)


main()
