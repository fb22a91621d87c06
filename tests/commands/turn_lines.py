#!/usr/bin/env python3
"""What each turn of a real session changed: the line counts of `checkpoints` compared with those of diff.

usage: turn_lines.py PROGRAM VERSION

The files at a point and at the next one are written into two directories (`rewind --into`) and compared there. The
newest turn is not compared, because no point follows it.
"""
import glob
import json
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


def delete_at_the_end(top):
    """The newest point records two files as missing that were there before."""
    for transcript in glob.glob(f'{top}/cfg/projects/*/*.jsonl'):
        with open(transcript, encoding='utf-8') as f:
            rows = f.read().splitlines()
        last = max(i for i, row in enumerate(rows) if '"type":"file-history-snapshot"' in row)
        row = json.loads(rows[last])
        for backup in list(row['snapshot']['trackedFileBackups'].values())[:2]:
            backup['backupFileName'] = None
        rows[last] = json.dumps(row, separators=(',', ':'))
        with open(transcript, 'w', encoding='utf-8') as f:
            f.write('\n'.join(rows) + '\n')


def compare(program, version, into):
    sid = program.json('list', '--all')[0]['sessionId']
    points = program.json('checkpoints', sid)
    for i, point in enumerate(points):
        program.json('rewind', sid, '--to', point['id'], '--allow-outside', '--into', f'{into}/{i}')
    for i, point in enumerate(points[:-1]):
        told = (point['insertions'], point['deletions'])
        gone = files(f'{into}/{i}') - files(f'{into}/{i + 1}')
        program.same(f'{version} turn {i}: files deleted', point.get('filesDeleted', 0), len(gone))
        program.same(f'{version} turn {i}', told, diff(f'{into}/{i}', f'{into}/{i + 1}'))
    program.need(any(point['insertions'] for point in points[:-1]), 'no turn changed a line')
    return sum(point.get('filesDeleted', 0) for point in points)


def main():
    path, version = sys.argv[1:]
    with tempfile.TemporaryDirectory() as top:
        with tarfile.open(f'{FIXTURES}/rewind/base-{version}.tar.gz') as tar:
            tar.extractall(top)
        program = Program(path, top, {'CLAUDE_CONFIG_DIR': f'{top}/cfg', 'XDG_STATE_HOME': f'{top}/state'})
        compare(program, version, f'{top}/at')
        delete_at_the_end(top)
        program.same('files deleted in all', compare(program, version, f'{top}/after'), 2)
    print(f'{program.passed} passed, {program.failed} failed')
    sys.exit(1 if program.failed else 0)


main()
