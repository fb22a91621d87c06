#!/usr/bin/env python3
"""Codex's own index, a database: its names and times count, a newer one is taken, and one that is damaged or busy costs
nothing but them.

usage: codex_index.py PROGRAM
"""
import os
import sqlite3
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, '..', 'recorded'), os.path.join(HERE, '..', '..', '..')]

from agents import AGENTS
from recorded_store import RecordedStore

from support.program import Program


class Index:
    def __init__(self, program, store):
        self.store = store
        self.p = Program(program, store.home, {**store.environment(), 'REPRISE_PROC_DIR': store.trees})
        self.codex = f'{store.home}/.codex'
        self.db = f'{self.codex}/state_5.sqlite'

    def rows(self):
        before = self.store.contents()
        rows = self.p.json('list', '--all', '--all-kinds')
        self.p.same('nothing was written', self.store.contents(), before)
        return rows

    def row(self, id):
        return next(r for r in self.rows() if r['sessionId'] == id)

    def change(self, path, *statements):
        db = sqlite3.connect(path)
        with db:
            for sql, *parameters in statements:
                db.execute(sql, parameters)
        db.close()

    def names_and_times(self):
        self.store.fill()
        whole = [(r['sessionId'], r['summary']) for r in self.rows()]
        os.unlink(f'{self.codex}/session_index.jsonl')
        self.p.same('names without session_index.jsonl', [(r['sessionId'], r['summary']) for r in self.rows()], whole)
        for r in self.rows():
            os.utime(r['path'], (1, 1))
        self.p.same('order whatever the times of the files', [r['sessionId'] for r in self.rows()], [i for i, _ in whole])
        last = whole[-1][0]
        self.change(self.db, ('UPDATE threads SET updated_at_ms = NULL, updated_at = 4000000000, name = ? WHERE id = ?', 'First\x1b[2J', last))
        self.p.same('a change of the index', self.row(last)['summary'], 'First\x1b[2J')
        self.p.same('the order is that of the last messages', [r['sessionId'] for r in self.rows()], [i for i, _ in whole])
        self.p.same('the order of the index', self.p.json('list', '--all', '--all-kinds', '--sort=modified')[0]['sessionId'], last)
        self.p.need('\x1b' not in self.p.text('list', '--all', '--all-kinds'), 'a name reaches the terminal raw')
        self.change(self.db, ('UPDATE threads SET cwd = ? WHERE id = ?', '/elsewhere', last))
        self.p.same('the directory of a thread that was resumed elsewhere', self.row(last)['cwd'], '/elsewhere')
        with open(self.db, 'rb') as f, open(f'{self.codex}/state_12.sqlite', 'wb') as g:
            g.write(f.read())
        self.change(f'{self.codex}/state_12.sqlite', ('UPDATE threads SET name = ? WHERE id = ?', 'Of the newest', last))
        self.p.same('the newest index', self.row(last)['summary'], 'Of the newest')

    def old_columns(self):
        self.store.fill()
        whole = [r['sessionId'] for r in self.rows()]
        os.unlink(f'{self.codex}/session_index.jsonl')
        self.change(self.db, ('CREATE TABLE old AS SELECT id, updated_at FROM threads',), ('DROP TABLE threads',),
                    ('ALTER TABLE old RENAME TO threads',))
        rows = self.rows()
        self.p.same('the sessions of an old index', sorted(r['sessionId'] for r in rows), sorted(whole))
        self.p.same('its order', rows[0]['sessionId'], whole[0])

    def damaged(self):
        for what, body in ('a table that is gone', None), ('no database', b'x' * 9000), ('empty', b''), ('cut', 5000):
            self.store.fill()
            whole = {r['sessionId'] for r in self.rows()}
            if body is None:
                self.change(self.db, ('DROP TABLE threads',))
            else:
                with open(self.db, 'rb') as f:
                    old = f.read()
                with open(self.db, 'wb') as f:
                    f.write(old[:body] if isinstance(body, int) else body)
            self.p.same(f'{what}: the sessions', {r['sessionId'] for r in self.rows()}, whole)
            run = self.p.run('list', '--all')
            self.p.need(run.returncode == 0 and b'state_5.sqlite' in run.stderr and run.stderr.count(b'\n') == 1,
                        f'{what}: is named: {run.stderr}')


def main():
    store = RecordedStore(AGENTS['codex'])
    try:
        index = Index(sys.argv[1], store)
        index.names_and_times()
        index.old_columns()
        index.damaged()
    finally:
        store.remove()
    index.p.finish(25)


main()
