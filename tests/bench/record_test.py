#!/usr/bin/env python3
"""What became slower is marked, a bench that the record does not know is noticed, and a column is added.

usage: record_test.py RECORD_PY
"""
import os
import subprocess
import sys
import tempfile

OUTPUT = '''/tmp/x/many: 64638354 bytes
list: 200 sessions, best of the rounds
  bare loop, both ends         16.9 ms (cpu      5.3)
  list --json --all            55.8 ms (cpu     19.7)  {list}x the loop
  peak memory                   7.6 MB
index: /tmp/x/large.jsonl, 0.00 GB, 139 lines
  index                        0.55 GB/s (cpu    0.55)    0.09x the newlines    2.50x faster than cJSON
pay                1293 hits     0.40 ms   plain      749     0.06 ms   ratio  7.26
'''


def main():
    with tempfile.TemporaryDirectory() as home:
        output, record = os.path.join(home, 'output'), os.path.join(home, 'record.tsv')

        def run(ratio, *options):
            with open(output, 'w', encoding='utf-8') as out:
                out.write(OUTPUT.format(list=ratio))
            run = subprocess.run([sys.executable, sys.argv[1], *options, record, 'cat', output], capture_output=True,
                                 encoding='utf-8', check=False)
            return run.returncode, [line.split() for line in run.stdout.splitlines() if ': ' in line[26:]]

        def expect(what, got, wanted):
            if got != wanted:
                sys.exit(f'{what}: {got}, not {wanted}')

        with open(record, 'w', encoding='utf-8') as out:
            out.write('bench\tgoal\t1.0\n')
        expect('a bench without a record', run('1.00', '--names')[0], 1)
        run('1.00', '--write', '1.0')
        run('2.00', '--write', '2.0')
        with open(record, encoding='utf-8') as rows:
            text = rows.read()
        expect('the record', text, 'bench\tgoal\t1.0\t2.0\nlist: sessions: list --json --all\t-\t1.00\t2.00\n'
               'index: index\t-\t0.40\t0.40\nindex: pay\t-\t7.26\t7.26\n')
        with open(record, 'w', encoding='utf-8') as rows:
            rows.write(text.replace('--all\t-', '--all\t2.20'))
        expect('all benches', run('1.00', '--names')[0], 0)
        marked = [(code, [row[:row.index('list:')] for row in rows if 'list:' in row])
                  for code, rows in (run('2.19'), run('2.21'))]
        expect('the marks', marked, [(0, [['2.00', '2.19', '2.20']]), (0, [['2.00', '2.21', '2.20', 'worse', 'missed']])])
        print('1 passed, 0 failed')


main()
