#!/usr/bin/env python3
"""A value of 150 MB in the database of an agent: it costs no more memory than others, and everything else is read.

usage: large_values.py PROGRAM [AGENT...]

In turn, each column of each table gets such a value in the last row. Forty smaller values are all read, and as titles cost a
list no memory. All sessions stay listed, the conversation of the other session is as before, and no command needs 128 MB. The
columns of all agents get one with REPRISE_LONG only: else it is every third column besides those of text, and times get 5 MB.
"""
import os
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from crafted_databases import PLACES, World, columns, tables

IDS = 'id', 'session_id', 'message_id', 'key', 'conversation_id', 'parent_session_id', 'parent_id', 'project_id'
LARGE, LARGER = 40_000_000, 150_000_000
MEMORY_KB = 128 << 10
LONG = 'REPRISE_LONG' in os.environ
GIANT = 'data', 'parts', 'content_json', 'value', 'title'  # the columns that get the larger value


def run(w, what, *args, most=MEMORY_KB):
    """The exit, the output and the errors of a command, whose memory is measured."""
    child = subprocess.Popen([w.p.path, *args], cwd=w.home, env=w.p.env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    out = child.stdout.read()
    child.stdout.close()
    _, status, usage = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    w.p.need(child.returncode in (0, 1, 4), f'{what}: {args}: exit {child.returncode}: {out[-300:]!r}')
    w.p.need(usage.ru_maxrss < most, f'{what}: {args}: {usage.ru_maxrss >> 10} MB')
    return child.returncode, out


def make_larger(w, table, column, size):
    """In a process of its own, because a child's memory counts that of the process from which it was forked."""
    value = f'CAST(zeroblob({size}) AS text)' if (w.agent, column) != ('cursor', 'data') else f'zeroblob({size})'
    return subprocess.run([sys.executable, '-c', 'import sqlite3, sys; sqlite3.connect(sys.argv[1], isolation_level=None).execute(sys.argv[2])', w.path,
                           f'UPDATE {table} SET {column} = {value} WHERE rowid = (SELECT max(rowid) FROM {table})'], stderr=subprocess.DEVNULL, check=False).returncode == 0


def check(w, what, table, column):
    rows, error = w.rows(what)
    w.p.same(f'{what}: sessions', sorted(rows), sorted(w.ids))
    w.p.same(f'{what}: errors', error, '')
    for i, sid in enumerate(w.ids):
        code, out = run(w, what, 'messages', '--all', f'{w.agent}:{sid}')
        if i == 0 and w.agent != 'cursor':
            w.p.need(code == 0 and f'a prompt {i}'.encode() in out, f'{what}: the other conversation: {code} {out[-300:]!r}')
    for args in ('list', '--all'), ('search', '--all', 'prompt'), ('usage', '--all'), ('checkpoints', '--all', f'{w.agent}:{w.ids[1]}'):
        run(w, what, *args)
    if (table, column) in (('part', 'data'), ('messages', 'parts'), ('messages', 'content_json')):
        _, out = run(w, what, 'messages', '--all', f'{w.agent}:{w.ids[1]}')
        w.p.need(b'too large to be read' in out, f'{what}: it is not said: {out[-300:]!r}')


def check_several(w, table, column):
    """Forty rows more, like the second one, each with a value of three million bytes."""
    w.fill()
    insert = """import sqlite3, sys
db = sqlite3.connect(sys.argv[1], isolation_level=None)
for i in range(40):
    row = list(db.execute(f'SELECT * FROM {sys.argv[2]} ORDER BY rowid LIMIT 1 OFFSET 1').fetchone())
    at = [x[1] for x in db.execute(f'PRAGMA table_info({sys.argv[2]})')].index(sys.argv[3])
    row[0] += f'x{i:02}'
    row[at] = row[at].replace('a prompt', 'y' * 3_000_000 + ' a prompt') if '{' in row[at] else 'y' * 3_000_000
    db.execute(f'INSERT INTO {sys.argv[2]} VALUES ({",".join("?" * len(row))})', row)"""
    w.p.need(subprocess.run([sys.executable, '-c', insert, w.path, table, column], check=False).returncode == 0, f'{table}: the rows are made')
    run(w, f'{w.agent}: {table}: forty values', 'list', '--all')
    # Read in pieces: what this program keeps counts as memory of the commands that it starts.
    with subprocess.Popen([w.p.path, 'messages', '--all', f'{w.agent}:{w.ids[0]}'], cwd=w.home, env=w.p.env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE) as child:
        shown = sum(piece.count(b'y') for piece in iter(lambda: child.stdout.read(1 << 20), b''))
    w.p.need(table != 'part' or shown >= 40 * 3_000_000, f'{w.agent}: {table}: not every value is shown: {shown} bytes')


def main():
    failed = 0
    for agent in sys.argv[2:] or list(PLACES)[::1 if LONG else 3]:
        w = World(sys.argv[1], agent)
        db = w.open()
        places = [(t, c) for t in tables(db) for c in columns(db, t) if c not in IDS and not c.endswith(('_at', '_timestamp'))]
        db.close()
        if not LONG:
            places = [(t, c) for i, (t, c) in enumerate(places) if c in GIANT or i % 3 == 0]
        for table, column in places:
            size = LARGER if column in GIANT else LARGE // 8 if column.startswith('time_') and not LONG else LARGE
            w.fill()
            if make_larger(w, table, column, size):
                check(w, f'{agent}: {table}.{column}: {size} bytes', table, column)
        if agent == 'opencode':
            check_several(w, 'part', 'data')
            check_several(w, 'session', 'title')
        failed += w.p.failed
        print(f'{agent}: {w.p.passed} checks passed, {w.p.failed} failed')
        w.close()
    sys.exit(1 if failed else 0)


main()
