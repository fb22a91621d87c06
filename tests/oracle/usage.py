#!/usr/bin/env python3
"""Sums of random stores, by ccusage and by reprise: they have to be equal.

usage: usage.py REPRISE FOLDER [SEED] [STORES]

FOLDER is where ccusage is installed (npm install ccusage@20.0.24). It is not part of this repository; without it this
prints a line and ends well. The stores avoid what is known to differ:

- ccusage leaves out answers without a time, rows with a blank behind "usage":, and reads files of other names in the
  projects' folders;
- if it reads a side question before the answer that it repeats, it counts the rows of that answer again;
- it counts the copies of an answer without a request id in other sessions;
- version 18 counts the first row of an answer instead of the one that says most, and all rows of an answer without a
  request id.
"""
import json
import os
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from support.usage_store import Store  # noqa: E402


def sums(rows, by):
    return {r.get(by): [r[k] for k in ('input', 'output', 'cacheWrite', 'cacheRead')] for r in rows}


def theirs(command, env):
    rows = json.loads(subprocess.run(command, env=env, capture_output=True, check=True).stdout)['daily']
    days, models = {}, {}
    for r in rows:
        days[r['date']] = [r['inputTokens'], r['outputTokens'], r['cacheCreationTokens'], r['cacheReadTokens']]
        for m in r['modelBreakdowns']:
            old = models.setdefault(m['modelName'], [0, 0, 0, 0])
            new = [m['inputTokens'], m['outputTokens'], m['cacheCreationTokens'], m['cacheReadTokens']]
            models[m['modelName']] = [a + b for a, b in zip(old, new)]
    return {k: v for k, v in days.items() if any(v)}, {k: v for k, v in models.items() if any(v)}


def main():
    reprise, folder = sys.argv[1:3]
    seed, stores = (int(a) for a in (sys.argv[3:] + ['1', '20'])[:2])
    program = f'{folder}/node_modules/.bin/ccusage'
    if not os.path.exists(program):
        print(f'skipped: no ccusage at {program}')
        return 0
    wrong = 0
    for number in range(seed, seed + stores):
        with tempfile.TemporaryDirectory() as top:
            env = {'PATH': os.environ['PATH'], 'HOME': top, 'TZ': 'UTC', 'CLAUDE_CONFIG_DIR': f'{top}/config', 'LOG_LEVEL': '0'}
            Store(f'{top}/config', number, plain=True)
            days, models = theirs([program, 'claude', 'daily', '--json', '--offline'], env)
            for by, want in (('day', days), ('model', models)):
                run = subprocess.run([reprise, 'usage', '--all', '--json', '--by', by], env=env, capture_output=True, check=True)
                got = sums(json.loads(run.stdout), by)
                if got != want:
                    wrong += 1
                    print(f'store {number} by {by}:\n  theirs {want}\n  ours   {got}')
    print(f'{stores} stores, {wrong} differences')
    return 1 if wrong else 0


sys.exit(main())
