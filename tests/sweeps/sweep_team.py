#!/usr/bin/env python3
"""Breaks the built program in `pull`, `push` and `mirror` at the calls that change a file, and takes the server away after each row.

usage: sweep_team.py PROGRAM INJECTOR PLUGIN

The plug-in keeps its rows in files, so the injector breaks both sides.
- pull: after the next command the local session is the old or the new one, with its sub-agents, byte for byte, as the exit
  code said; an undo brings the old one back.
- push, mirror: each transcript in the store begins as the local one does; a session that is listed there has its sub-agents;
  the next call adds what is missing, and nothing twice; nothing changes here.
REPRISE_SWEEP=long: at every call instead of at some.
"""
import json
import os
import shutil
import subprocess
import sys
import tempfile

import sweep_program
from sweep_program import ID, PROJECT, STEM, WAYS, row
from support.program import Program, compact, snapshot

STRIDE = 1 if sweep_program.STRIDE == 1 else 7
TEAM = 'team/-srv-app'
OTHER = ID[:-1] + '9'
ROWS = 1100  # more than one batch


def text_of(rows):
    return ''.join(compact(r) + '\n' for r in rows)


def long_rows():
    rows = [row('2', None)]
    for i in range(1, ROWS):
        rows.append({**row('2', None), 'uuid': f'{i:08d}', 'parentUuid': rows[-1]['uuid']})
    return rows


def large_rows():
    """More than a pull keeps in memory: they are in a file of the change."""
    return [{**row('2', None), 'uuid': f'large-{i}', 'message': {'role': 'user', 'content': 'x' * 30000}} for i in range(12)]


def put(top, files):
    for name, text in files.items():
        path = os.path.join(top, name)
        os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)
        with open(path, 'w', encoding='utf-8') as f:
            f.write(text)


def session_files(place, rows):
    return {f'{place}/{ID}.jsonl': text_of(rows), f'{place}/{ID}/subagents/agent-a.jsonl': text_of([row('5', None), row('6', '5')]),
            f'{place}/{ID}/subagents/nested/agent-b.jsonl': text_of([row('7', None)])}


def files_below(top, place):
    """By name, the bytes: an empty folder is no session."""
    return {os.path.relpath(path, f'{top}/{place}'): body for path, (_, _, body) in snapshot(f'{top}/{place}').items() if body is not None}


class Sweep(sweep_program.Sweep):
    def __init__(self, path, injector, plugin, top):
        super().__init__(path, injector, top)
        self.plugin = shutil.copy(plugin, f'{top}/kept.so')
        os.chmod(self.plugin, 0o700)
        os.chmod(top, 0o700)

    def program(self, top):
        p = super().program(top)
        p.env['XDG_CONFIG_HOME'] = top + '/config'
        return p

    def begin(self, files):
        """Puts the files in place of what was there."""
        shutil.rmtree(self.now, ignore_errors=True)
        put(self.now, {'config/reprise/config': f'[store.team]\nplugin = {self.plugin}\npath = {self.now}/team\n', 'team/-srv-app/.here': '', **files})

    def points(self, command, files):
        """Runs the command broken in every way; yields where, and what came of it."""
        for i, way in enumerate(WAYS):
            nth = 1 + i % STRIDE
            while True:
                self.begin(files)
                code, said, calls = self.broken(self.now, command, *way, nth)
                if calls < nth:
                    break
                self.runs += 1
                self.killed += code < 0
                yield f'{command[0]}, {way} at {nth}: exit {code}, {said!r}', code
                nth += STRIDE

    # ---- down ----

    def judge_pull(self, p, at, code, before, after):
        p.need(self.program(self.now).run('log').returncode == 0, f'{at}: the next command failed')
        now = files_below(self.now, 'cfg')
        p.need(now in (before, after), f'{at}: neither old nor new: {sorted(now)}')
        p.need(code != 0 or now == after, f'{at}: success was reported, but nothing came')
        p.need(code <= 0 or now == before, f'{at}: said failed and is done')
        left = [path for path in snapshot(self.now) if '.reprise' in path or path.endswith('.intent')]
        p.need(not left, f'{at}: left {left}')
        done = json.loads(self.program(self.now).run('log', '--json').stdout)
        p.need(len(done) == (now == after), f'{at}: the log has {done}')
        if now == after:
            self.program(self.now).run('undo', '--all')
            p.need(files_below(self.now, 'cfg') == before, f'{at}: not undone')

    def pull(self, p, here, *more):
        """here: what is on this machine. more: rows of the session in the store."""
        command = ['retrieve', f'team:{ID}']
        start = {**session_files(TEAM, [row('2', None), row('3', '2'), row('4', '3'), *more]), **here}
        self.begin(start)
        before = files_below(self.now, 'cfg')
        run = self.program(self.now).run(*command)
        after = files_below(self.now, 'cfg')
        p.need(run.returncode == 0 and len(after) == 3, f'pull: {run}')
        for at, code in self.points(command, start):
            self.judge_pull(p, at, code, before, after)
        self.gone_after_each_row(p, command, start, before)

    def gone_after_each_row(self, p, command, start, before):
        self.begin(start)
        for rows in range(6):
            program = self.program(self.now)
            program.env['COMPLETE_STORE_ROWS'] = str(rows)
            run = program.run(*command)
            p.need(run.returncode == 1 and run.stderr.count(b'\n') == 1, f'gone after {rows} rows: {run}')
            p.need(files_below(self.now, 'cfg') == before, f'gone after {rows} rows: something came')
        p.need(self.program(self.now).run(*command).returncode == 0, 'the server is back')

    # ---- up ----

    def stored(self, p, at, want):
        """What is in the store: beginnings of what is here, and no session without its sub-agents."""
        now = files_below(self.now, TEAM)
        for name, body in now.items():
            whole = body[:body.rfind(b'\n') + 1]
            p.need(want.get(name, b'').startswith(whole), f'{at}: {name} is no beginning')
        if now.get(f'{ID}.jsonl', b'').count(b'\n'):
            agents = {name: now.get(name) for name in want if '/' in name}
            p.need(agents == {name: want[name] for name in agents}, f'{at}: it is listed without its sub-agents')
        return now

    def push(self, p, command):
        rows = long_rows()
        start = {**session_files(PROJECT, rows), f'{PROJECT}/{OTHER}.jsonl': text_of(rows[:3]).replace(ID, OTHER)}
        self.begin(start)
        want = {name: body for name, body in files_below(self.now, PROJECT).items() if command[0] == 'mirror' or not name.startswith(OTHER)}
        want['.here'] = b''
        for at, code in self.points(command, start):
            here = files_below(self.now, 'cfg')
            now = self.stored(p, at, want)
            p.need(code != 0 or now == want, f'{at}: success was reported')
            run = self.program(self.now).run(*command, '--json')
            p.need(run.returncode == 0, f'{at}: the next call failed: {run}')
            p.need(self.stored(p, at, want) == want, f'{at}: not all of it is there')
            there = sum(body[:body.rfind(b'\n') + 1].count(b'\n') for body in now.values())
            p.same(f'{at}: what was missing was added', sum(r['rows'] for r in json.loads(run.stdout)),
                   sum(body.count(b'\n') for body in want.values()) - there)
            p.need(files_below(self.now, 'cfg') == here, f'{at}: it changed something here')


def main():
    path, injector, plugin = (os.path.abspath(p) for p in sys.argv[1:4])
    place = '/dev/shm' if os.access('/dev/shm', os.W_OK) else None
    with tempfile.TemporaryDirectory(dir=place) as top:
        p = Program(path, top, {})
        sweep = Sweep(path, injector, plugin, top)
        sweep.pull(p, {})
        sweep.pull(p, {f'{PROJECT}/{ID}.jsonl': text_of([row('2', None)])})
        sweep.pull(p, {f'{PROJECT}/{ID}.jsonl': text_of([row('2', None), *large_rows()])}, *large_rows())
        sweep.push(p, ['push', 'team', ID])
        sweep.push(p, ['mirror', '--all', 'team'])
        print(f'{sweep.runs} runs, {sweep.killed} of them killed')
        p.need(sweep.killed > 20, 'too few were killed: is the injector loaded?')
        p.finish(200)


main()
