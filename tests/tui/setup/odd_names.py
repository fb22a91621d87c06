#!/usr/bin/env python3
"""Directories with odd names: every shell runs the line of --print in them, and `rcd` changes to them.

usage: odd_names.py PROGRAM

Shells that are not installed are left out, and named.
"""
import json
import os
import pty
import random
import re
import shutil
import sys
import tempfile

from support.program import Program

PIECES = ["a", "'", '\\', '"', '$', '`', ' ', '\n', '\t', '-', '~', '!', '#', ';', '&', '|', '(', '{', '*', '?', '[', '=', '%',
          '^', '\x1b[31m', '\x7f', '\u202e', 'é', '$(touch X)', "\\'; touch X #", "'; touch X #", '%self', '\\n', "''", '$HOME',
          '..', ',', '@']
NAMES = ["it\\'; touch X #", "it's", '-', '-P', '--', '~', '$HOME', '`touch X`', 'a\nb', 'end\n', 'end\n\n', '\n', ' ', 'a\\', '\\',
         '%self', '=ls', '\x1b[31m', '\n.', '.\n.', "''"]

SHELLS = {
    'dash': ['dash', '%s'],
    'bash': ['bash', '--norc', '--noprofile', '%s'],
    'zsh': ['zsh', '-f', '%s'],
    'fish': ['fish', '-N', '%s'],
}


def names():
    choice = random.Random(1)
    more = {''.join(choice.choices(PIECES, k=choice.randint(1, 4))) for _ in range(15)}
    return NAMES + sorted(more - set(NAMES) - {'.', '..'})


def make_sessions(top, store):
    """Returns the directory of each session."""
    made = {}
    for i, name in enumerate(names()):
        folder = os.path.join(top, 'dirs', name)
        os.makedirs(folder)
        uuid = f'{i:08x}-0000-4000-8000-000000000001'
        row = {'type': 'user', 'uuid': uuid, 'parentUuid': None, 'sessionId': uuid, 'cwd': folder, 'version': '2.1.332',
               'isSidechain': False, 'userType': 'external', 'timestamp': '2026-01-01T00:00:00.000Z',
               'message': {'role': 'user', 'content': f'Prompt {i}'}}
        project = os.path.join(store, 'projects', re.sub('[^A-Za-z0-9]', '-', folder))
        os.makedirs(project, exist_ok=True)
        with open(os.path.join(project, f'{uuid}.jsonl'), 'w', encoding='utf-8') as f:
            f.write(json.dumps(row) + '\n')
        made[uuid] = folder
    return made


def run_shell(p, command, script, folder):
    """Runs the script with a terminal of its own, which `rcd` of fish reads."""
    path = os.path.join(p.home, 'script')
    with open(path, 'w', encoding='utf-8') as f:
        f.write(script)
    pid, terminal = pty.fork()
    if pid == 0:
        os.chdir(folder)
        os.execvpe(command[0], [w.replace('%s', path) for w in command], p.env)
    shown = b''
    while True:
        try:
            piece = os.read(terminal, 65536)
        except OSError:
            break
        if not piece:
            break
        shown += piece
    os.waitpid(pid, 0)
    os.close(terminal)
    return shown.decode(errors='replace')


def check_shell(p, shell, sessions, top):
    seen = os.path.join(p.home, 'seen')
    if os.path.exists(seen):
        os.unlink(seen)
    lines = [f'reprise init {shell} | source' if shell == 'fish' else
             f'eval "$(reprise init {"bash" if shell == "dash" else shell} | sed -n "/^rcd/,/^}}/p")"']
    for uuid in sessions:
        if shell == 'fish':
            lines += [f'eval (reprise --print --resume={uuid} | string collect)']
        else:
            lines += [f'eval "$(reprise --print --resume={uuid})"']
        lines += ['cd /', f'rcd {uuid}', 'claude here', 'cd /']
    shown = run_shell(p, SHELLS[shell], '\n'.join(lines) + '\nexit\n', top)
    with open(seen, 'rb') as f:
        got = [tuple(row.split(b'\0')) for row in f.read().split(b'\0\0')[:-1]]
    want = []
    for uuid, folder in sessions.items():
        at = os.fsencode(folder) + b'\n.'
        want += [(at, b'--resume', uuid.encode()), (at, b'here')]
    for pair in zip(want, got):
        p.same(f'{shell} in {pair[0][0]!r}', pair[1], pair[0])
    p.need(len(want) == len(got), f'{shell}: {len(got)} of {len(want)} commands ran:\n{shown}')
    for folder, _, files in os.walk(top):
        p.need('X' not in files, f'{shell}: a name ran as a command in {folder!r}')


def main():
    with tempfile.TemporaryDirectory() as top:
        top = os.path.realpath(top)
        home, store, programs = (os.path.join(top, n) for n in ('home', 'store', 'bin'))
        os.mkdir(home)
        os.mkdir(programs)
        sessions = make_sessions(top, store)
        p = Program(sys.argv[1], home, {'CLAUDE_CONFIG_DIR': store, 'PATH': programs + ':' + os.environ['PATH']})
        os.symlink(p.path, os.path.join(programs, 'reprise'))
        with open(os.path.join(programs, 'claude'), 'w', encoding='utf-8') as f:
            f.write("#!/bin/sh\nprintf '%s\\0' \"$(pwd -P && echo .)\" \"$@\" '' >>\"$HOME/seen\"\n")
        os.chmod(os.path.join(programs, 'claude'), 0o755)
        for shell, command in SHELLS.items():
            if shutil.which(command[0]):
                check_shell(p, shell, sessions, os.path.join(top, 'dirs'))
            else:
                print(f'{shell} is not installed')
        p.finish(100)


main()
