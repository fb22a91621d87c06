#!/usr/bin/env python3
"""How many system calls a list makes for each session: a budget, since every call of a list is made ten thousand times.

usage: list_calls.py PROGRAM COUNT_CALLS

Counts are not times: they are the same on a slow machine. Two lists of different length are compared, so that what the
program does once at its start is left out.
"""
import collections
import json
import os
import subprocess
import sys
import tempfile
import uuid

from support.program import Program

FEW, MANY = 100, 400
SIZES = {2000: 1, 200000: 2}  # a short transcript is read at once, of a long one both ends
BUDGET = {'open': 1, 'close': 1, 'stat': 2, 'usage': 0, 'clock': 0}
SLACK = {'usage': 0.1}  # a machine that is busy seems to read slowly, which is then found out
LITTLE = 0.02  # once for the program, not for each session


def write_session(folder, number, size):
    base = {'cwd': '/home/dev/shop', 'gitBranch': 'main', 'sessionId': str(uuid.UUID(int=number)), 'version': '2.1.0'}
    parent, rows, written = None, [], 0
    while not rows or written < size:
        turn = len(rows)
        own = str(uuid.UUID(int=number << 32 | turn))
        role = 'assistant' if turn % 2 else 'user'
        text = f'prompt {turn} of session {number} ' + 'word ' * 100
        content = [{'type': 'text', 'text': text}] if turn % 2 else text
        message = {'role': role, 'content': content, **({'model': 'claude-opus-4-1', 'id': f'msg_{turn}'} if turn % 2 else {})}
        rows.append(json.dumps({'parentUuid': parent, 'isSidechain': False, 'type': role, 'message': message, 'uuid': own,
                                'timestamp': f'2026-03-01T{turn // 3600 % 24:02}:{turn // 60 % 60:02}:{turn % 60:02}.000Z',
                                **base}, separators=(',', ':')))
        written += len(rows[-1])
        parent = own
    with open(os.path.join(folder, base['sessionId'] + '.jsonl'), 'w', encoding='utf-8') as out:
        out.write('\n'.join(rows) + '\n')


def count(p, counter, sessions, size):
    with tempfile.TemporaryDirectory() as home:
        folder = os.path.join(home, '.claude', 'projects', '-home-dev-shop')
        os.makedirs(folder)
        for number in range(sessions):
            write_session(folder, number + 1, size)
        output = os.path.join(home, 'counts')
        run = subprocess.run([counter, output, p.path, 'list', '--all', '--json'], env={**p.env, 'HOME': home},
                             stdin=subprocess.DEVNULL, capture_output=True, timeout=300, check=False)
        if run.returncode == 77:
            print('0 passed, 0 failed: no program may be traced here')
            sys.exit(77)
        p.same(f'{sessions} of {size}: listed', (run.returncode, run.stdout.count(b'\n')), (0, sessions))
        counts = collections.Counter()
        with open(output, encoding='utf-8') as lines:
            for line in lines:
                name, number = line.split()
                counts[name] += int(number)
        return counts


def main():
    with tempfile.TemporaryDirectory() as home:
        p = Program(sys.argv[1], home, {})
        for size, reads in SIZES.items():
            few, many = (count(p, sys.argv[2], n, size) for n in (FEW, MANY))
            for name, most in {**BUDGET, 'read': reads}.items():
                each = (many[name] - few[name]) / (MANY - FEW)
                p.need(each <= most + SLACK.get(name, LITTLE), f'sessions of {size} bytes: {each:.2f} times {name} for each, budget {most}')
            print(f'{size} bytes: ' + ', '.join(f'{name} {(many[name] - few[name]) / (MANY - FEW):.2f}' for name in many))
        p.finish(14)


main()
