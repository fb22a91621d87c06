#!/usr/bin/env python3
"""Goes through the capabilities that the seeds describe, row by row, on the installed program, and prints the table.

usage: coverage_of_seeds.py BUILD [SEED[/ROW]...]      coverage_of_seeds.py build 002 003/12

To add a row, write a function in seeds/<seed>.py under @row(NUMBER, 'capability'): it gets a Place of its own (a home
and a work tree without any files), uses the program there, and calls place.holds('evidence in a few words', condition)
for each thing that the capability consists of.

  Y  all of them hold     P  some hold     N  none holds, or the program failed     X  not sensible for this program
  ?  nobody tried: the seed has a row of this number, the table has none

P, N and X need a reason: @row(24, 'capability', reason='why a user would not want it') and not_sensible(28, 'capability',
'reason'). The test fails if one has none, and if a row with a reason is Y, so that the table stays true.
"""
import importlib.util
import os
import subprocess
import sys
import tempfile
import traceback

from support.seed_rows import ROWS, Missing, Place

# The seeds in the order of the table, each with its number of rows; a number without a row is "?".
SEEDS = {'002': ('Claude Code sessions', 45), '000': ('Go, specification', 30), '004': ('Go, document', 29),
         '001': ('ExAthena', 34), '003': ('Entire', 49), 'library': ('Host library', 14)}
# Those that have all their rows: a missing one is an error.
COMPLETE = ('002', '000', '004', '001', '003', 'library')


def install(build, prefix):
    run = subprocess.run(['cmake', '--install', build, '--prefix', prefix], capture_output=True, text=True, check=False)
    if run.returncode:
        sys.exit(f'coverage: cannot be installed:\n{run.stdout}{run.stderr}')
    return prefix


def try_row(row, prefix, top):
    """Returns the state and the evidence of one row."""
    if not row.run:
        return 'X', row.reason
    place = Place(prefix, top)
    try:
        row.run(place)
    except Missing as why:
        place.lacks.append(str(why))
    except Exception as why:  # a row that trips over an answer is a row that does not hold
        where = traceback.extract_tb(why.__traceback__)[-1]
        place.lacks.append(f'{type(why).__name__}: {why} ({os.path.basename(where.filename)}:{where.lineno})')
    if not place.lacks and place.held:
        return 'Y', '; '.join(place.held)
    return ('P' if place.held else 'N'), '; '.join([*place.held, *(f'NOT {text}' for text in place.lacks)]) or 'nothing checked'


def problem_of(seed, row, state):
    """Why the state of a row is an error; empty if it is none."""
    if state == '?':
        return 'nobody tried it' if seed in COMPLETE else ''
    if state in 'NPX' and not row.reason:
        return 'needs a reason'
    return 'has a reason, but works: remove the reason' if state == 'Y' and row.reason else ''


def wanted(seed, number, names):
    return not names or seed in names or f'{seed}/{number}' in names


def main():
    build, names = sys.argv[1], sys.argv[2:]
    counts, problems = dict.fromkeys('YPNX?', 0), []
    with tempfile.TemporaryDirectory() as top:
        prefix = install(build, f'{top}/prefix')
        for seed, (title, last) in SEEDS.items():
            if importlib.util.find_spec(f'seeds.seed_{seed}'):
                importlib.import_module(f'seeds.seed_{seed}')
            rows = ROWS.get(seed, {})
            print(f'\n## {seed} {title}')
            for number in range(1, max([last, *rows]) + 1):
                if not wanted(seed, number, names):
                    continue
                row = rows.get(number)
                state, evidence = try_row(row, prefix, f'{top}/{seed}-{number}') if row else ('?', '')
                problem = problem_of(seed, row, state)
                counts[state] += 1
                because = f' | {row.reason}' if row and row.run and row.reason else ''
                print(f'|{number}|{row.title if row else ""}|{state}|{evidence}{because}|')
                if problem:
                    problems.append(f'{seed}/{number} is {state} and {problem}')
    print('\n' + ' · '.join(f'{state} {n}' for state, n in counts.items()))
    print('\n'.join(problems))
    sys.exit(1 if problems or not counts['Y'] else 0)


if __name__ == '__main__':
    main()
