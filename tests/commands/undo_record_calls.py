#!/usr/bin/env python3
"""How many system calls a command makes for each undo record of earlier changes: most need none of them. And how many a dry
run makes for each file that is as it was.

usage: undo_record_calls.py PROGRAM COUNT_CALLS

Counts are not times: they are the same on a slow machine. Two numbers of records are compared, so that what a command does
once is left out. The first command that needs all of them reads each and makes an index; the ones after it are counted.
"""
import collections
import os
import shutil
import subprocess
import sys
import time

from rewind_rules import FIRST, claude, put, world

FEW, MANY = 70, 220
LISTED = {'open': 1, 'stat': 6}  # whether each is as the index has it
FILE = {'open': 2, 'read': 2, 'stat': 7}  # of each file and its saved copy
NONE = {'open': 0, 'stat': 0}  # at most whether it is finished, which access tells
BUDGET = {'list': NONE, 'info': NONE, 'rename': NONE, 'undo': NONE, 'dry run': NONE, 'rewinds': LISTED, 'rewind': NONE,
          'unchanged': FILE}
SLACK = 0.1


def count_calls(w, counter, command):
    """Calls of a command, by name, and what it writes."""
    p, output, counts = w.program, f'{w.top}/counts', collections.Counter()
    run = subprocess.run([os.path.abspath(counter), output, p.path, *command], env=p.env, cwd=p.home, stdin=subprocess.DEVNULL,
                         capture_output=True, timeout=300, check=False)
    if run.returncode == 77:
        print('0 passed, 0 failed: no program may be traced here')
        sys.exit(77)
    p.same(command[0], run.returncode, 0)
    with open(output, encoding='utf-8') as lines:
        for line in lines:
            what, number = line.split()
            counts[what] += int(number)
    return counts, run.stdout


def count(path, counter, records):
    """Calls of each command with so many records of rewinds, and after so many other changes."""
    counts = {}
    with world(path) as w:
        p = w.program
        file = put(w.project + '/a', 'two')
        sid = claude(w, w.project, {file: 'one'}, {file: 'two'})
        p.same('a rewind', w.rewind(sid, FIRST, '--apply').returncode, 0)
        folder = w.top + '/STATE/reprise/rewinds'
        (first,) = (n for n in os.listdir(folder) if n[0].isdigit())
        for n in range(records):
            name = f'{int(first.split("-")[0]) - 1000 * (n + 1):0{len(first.split("-")[0])}}-{n:08x}'
            shutil.copytree(f'{folder}/{first}', f'{folder}/{name}')
        put(file, 'two')
        time.sleep(3)  # the index trusts no record of the last two seconds
        p.same('the index is made', p.run('rewinds').returncode, 0)
        commands = {'list': ['list'], 'info': ['info', sid], 'rename': ['rename', sid, 'x'], 'dry run': ['rewind', sid, '--to', FIRST],
                    'undo': ['undo'], 'rewinds': ['rewinds'], 'rewind': ['rewind', sid, '--to', FIRST, '--apply']}
        for n in range(records):
            p.run('rename', sid, f'title {n}')
        for name, command in commands.items():
            counts[name], written = count_calls(w, counter, command)
            if name == 'rewinds':
                p.same('all are listed', written.count(b'\n') >= records, True)
        return counts, p


def count_unchanged(path, counter, files):
    """Calls of a dry run of so many files, all but one of which are as they were."""
    with world(path) as w:
        then = {put(f'{w.project}/f{n}', f'text {n}'): f'text {n}' for n in range(files)}
        sid = claude(w, w.project, {**then, put(w.project + '/a', 'two'): 'one'}, {**then, w.project + '/a': 'two'})
        return count_calls(w, counter, ['rewind', sid, '--to', FIRST])[0], w.program


def main():
    (few, p), (many, q) = (count(sys.argv[1], sys.argv[2], n) for n in (FEW, MANY))
    q.passed, q.failed = p.passed + q.passed, p.failed + q.failed
    (few['unchanged'], p), (many['unchanged'], r) = (count_unchanged(sys.argv[1], sys.argv[2], n) for n in (FEW, MANY))
    q.passed, q.failed = q.passed + p.passed + r.passed, q.failed + p.failed + r.failed
    for name, budget in BUDGET.items():
        each = {what: (many[name][what] - few[name][what]) / (MANY - FEW) for what in budget}
        print(f'{name}: ' + ', '.join(f'{what} {n:.2f} for each record' for what, n in each.items()))
        for what, most in budget.items():
            q.need(each[what] <= most + SLACK, f'{name}: {each[what]:.2f} times {what} for each record, budget {most}')
    q.finish(39)


main()
