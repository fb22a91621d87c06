#!/usr/bin/env python3
"""Runs the benches and shows the ratio of each beside the one in the record, so that none becomes slower unnoticed.

usage: record.py [--write COLUMN | --names] RECORD COMMAND [ARGUMENT...]

COMMAND prints the benches (bench.sh). The record has a row for each ratio and a column for each release; the last column is
that of the present revision; its first column is the goal of the row, if it has one. A ratio above 1.1 times that of the last
column is marked, and one above its goal; the command does not fail for it, since a machine may be busy.

--write COLUMN  puts the ratios into this column, which is added if the record has none of this name
--names         fails unless the record has exactly the ratios that were printed; how large they are does not matter
"""
import re
import subprocess
import sys

WORSE = 1.1
GOAL = 'goal'
# Without less and fzf nothing is measured beside them; the static program is a build of its own.
MAY_BE_MISSING = {'keys at: scroll by a line', 'keys at: by a page', 'start: a process: reprise beside fzf',
                  'start: a process: the static one beside true'}


def without_sizes(text):
    """Paths and sizes are those of this run."""
    return ' '.join(word for word in text.split() if not re.search(r'/.*/|\d', word)).strip(' ,:')


def read_ratios(lines):
    """The ratio of each line that has one, by its title and label; smaller is better."""
    ratios, title = {}, ''
    for line in lines:
        print(line, end='', flush=True)
        found = re.findall(r'(?:ratio +)?(\d+\.\d+)(?:x|$)', line.rstrip()) if 'x' in line or 'ratio' in line else []
        label = re.match(r'\s*(.*?):?\s+[\d.]+ (?:ms|MB(?=  )|GB/s|bytes|hits)', line)
        if found and label:
            ratio = 1 / float(found[-1]) if 'GB/s' in line and float(found[-1]) else float(found[0])
            name = base = f'{title}: {without_sizes(label[1])}'
            number = 1
            while name in ratios:
                number += 1
                name = f'{base} ({number})'
            ratios[name] = f'{ratio:.2f}'
        elif not line.startswith(' '):
            title = without_sizes(re.split('[,;]', line)[0])
    return ratios


def read_record(path):
    """The columns, and the cells of each row by its name."""
    with open(path, encoding='utf-8') as record:
        columns, *rows = (line.rstrip('\n').split('\t') for line in record)
    return columns[1:], {name: cells for name, *cells in rows}


def write_record(path, columns, rows):
    with open(path, 'w', encoding='utf-8') as record:
        for name, cells in [('bench', columns), *rows.items()]:
            record.write('\t'.join([name, *cells]) + '\n')


def show(columns, rows, ratios):
    print(f'\n{columns[-1]:>12} {"now":>8} {GOAL:>6}')
    for name in [*rows, *(name for name in ratios if name not in rows)]:
        goal, *releases = rows.get(name, ['-', '-'])
        old, new = releases[-1] if releases else '-', ratios.get(name, '-')
        worse = '-' not in (old, new) and float(new) > WORSE * float(old)
        missed = '-' not in (goal, new) and float(new) > float(goal)
        print(f'{old:>12} {new:>8} {goal:>6}  {"worse" if worse else "":<5} {"missed" if missed else "":<6}  {name}')


def main():
    options = sys.argv[1:]
    column = options[1] if options[0] == '--write' else None
    names = options[0] == '--names'
    path, *command = options[2 if column else 1 if names else 0:]
    columns, rows = read_record(path)
    with subprocess.Popen(command, stdout=subprocess.PIPE, encoding='utf-8') as run:
        ratios = read_ratios(run.stdout)
    if run.returncode:
        sys.exit(run.returncode)
    show(columns, rows, ratios)
    if names:
        differing = (set(rows) ^ set(ratios)) - MAY_BE_MISSING
        for name in differing:
            print(f'{"not measured" if name in rows else "not in the record"}: {name}')
        sys.exit(bool(differing))
    if column:
        if column not in columns:
            columns.append(column)
        at = columns.index(column)
        for name in {**rows, **ratios}:
            cells = rows.setdefault(name, ['-'])
            cells += ['-'] * (len(columns) - len(cells))
            cells[at] = ratios.get(name, '-')
        write_record(path, columns, rows)


main()
