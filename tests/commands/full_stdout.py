#!/usr/bin/env python3
"""Every command that changes something, with an answer that cannot be written: the change was made, so the exit code is 0 and
stderr reports it, and no caller repeats the change because it looked like a failure.

usage: full_stdout.py PROGRAM
"""
import json
import os
import shutil
import subprocess
import sys
import tempfile

from support.program import Program

SAID = b'done, but the answer could not be written'


class Place:
    """A Go directory store with a session, made by the program."""

    def __init__(self, path):
        self.top = os.path.realpath(tempfile.mkdtemp())
        self.home = f'{self.top}/home'
        self.project = f'{self.home}/p'
        os.makedirs(self.project)
        with open(f'{self.project}/f', 'w', encoding='utf-8') as f:
            f.write('one\n')
        self.program = Program(path, self.home, {
            **{f'XDG_{k}_HOME': f'{self.top}/{k}' for k in ('STATE', 'DATA', 'CACHE', 'CONFIG')}})
        self.store = f'goat:{self.home}/goat'
        self.id = self.program.json('create', self.store, '--cwd', self.project)['sessionId']
        self.say('hello')

    def row(self, text):
        return json.dumps({'role': 'user', 'content': text}) + '\n'

    def run(self, *args, text='', out=subprocess.PIPE):
        return subprocess.run([self.program.path, *args], env=self.program.env, cwd=self.project, input=text.encode(),
                              stdout=out, stderr=subprocess.PIPE, timeout=300, check=False)

    def say(self, text):
        run = self.run('append', '--store', self.store, self.id, '--json', text=self.row(text))
        self.program.same('append answers for the session', json.loads(run.stdout)['sessionId'], self.id)


def changed(p):
    """The bytes of the files that the change may have touched."""
    seen = {}
    for folder, _, names in os.walk(p.top):
        for name in names:
            with open(os.path.join(folder, name), 'rb') as f:
                seen[os.path.join(folder, name)] = f.read()
    return seen


def one(p, words, text=''):
    before = changed(p)
    with open('/dev/full', 'wb') as full:
        run = p.run(*words, text=text, out=full)
    t = p.program
    t.same(f'{words}: exit code', (run.returncode, run.stderr if run.returncode else b''), (0, b''))
    t.need(SAID in run.stderr, f'{words}: stderr says {run.stderr!r}')
    t.need(changed(p) != before, f'{words}: nothing was changed')


def main():
    p = Place(sys.argv[1])
    at = ('--store', p.store)
    try:
        one(p, ('rename', *at, p.id, 'New title'))
        one(p, ('undo', *at, '--all'))
        one(p, ('fork', *at, p.id))
        one(p, ('create', p.store, '--cwd', p.project, '--json'))
        one(p, ('append', *at, p.id, '--json'), p.row('again'))
        one(p, ('checkpoint', *at, p.id, '--id', 'm-1', f'{p.project}/f', '--json'))
        one(p, ('delete', *at, p.id))
        one(p, ('undo', *at, '--all', '--json'))
        one(p, ('sweep', *at, '--empty', '--apply'))
        one(p, ('delete', *at, p.id))
        one(p, ('trash', 'empty'))
    finally:
        shutil.rmtree(p.top)
    p.program.finish(30)


main()
