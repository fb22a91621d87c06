#!/usr/bin/env python3
"""What each turn of a real session changed: the line counts of `checkpoints` compared with those of diff.

usage: turn_lines.py PROGRAM VERSION

The files at a point and at the next one are written into two directories (`rewind --into`) and compared there. The
newest turn is not compared, because no point follows it.
"""
import os
import re
import subprocess
import sys
import tarfile
import tempfile

from support.program import Program

FIXTURES = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), 'fixtures')


def diff(before, after):
    run = subprocess.run(['diff', '-rNU0', '--text', before, after], capture_output=True, check=False)
    lines = [line for line in run.stdout.split(b'\n') if not re.match(rb'(---|\+\+\+) \S*/\d+/', line)]
    return (sum(line.startswith(b'+') for line in lines), sum(line.startswith(b'-') for line in lines))


def files(top):
    return {os.path.relpath(os.path.join(where, name), top) for where, _, names in os.walk(top) for name in names}


def main():
    path, version = sys.argv[1:]
    with tempfile.TemporaryDirectory() as top:
        with tarfile.open(f'{FIXTURES}/rewind/base-{version}.tar.gz') as tar:
            tar.extractall(top)
        program = Program(path, top, {'CLAUDE_CONFIG_DIR': f'{top}/cfg', 'XDG_STATE_HOME': f'{top}/state'})
        sid = program.json('list', '--all')[0]['sessionId']
        points = program.json('checkpoints', sid)
        for i, point in enumerate(points):
            program.json('rewind', sid, '--to', point['id'], '--allow-outside', '--into', f'{top}/at/{i}')
        for i, point in enumerate(points[:-1]):
            told = (point['insertions'], point['deletions'])
            gone = files(f'{top}/at/{i}') - files(f'{top}/at/{i + 1}')
            program.same(f'{version} turn {i}: files deleted', point.get('filesDeleted', 0), len(gone))
            program.same(f'{version} turn {i}', told, diff(f'{top}/at/{i}', f'{top}/at/{i + 1}'))
        program.need(any(point['insertions'] for point in points[:-1]), 'no turn changed a line')
    print(f'{program.passed} passed, {program.failed} failed')
    sys.exit(1 if program.failed else 0)


main()
