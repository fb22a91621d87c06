#!/usr/bin/env python3
"""Twenty ways in which text tries to act on a terminal, in every place where text comes from a file or a person.

usage: hostile.py PROGRAM

Each pattern is put into a title, a tag, a branch, a directory, prompts, answers, tool calls and their output, and into
arguments and names. None of it may reach stdout or stderr raw in output for people, and in JSON only inside
escapes.
"""
import json
import os
import sys
import tempfile

from support.terminal_attacks import PATTERNS, SID, transcript
from support.program import Program


def silent(program, name, what, run, raw):
    for channel, said in (('stdout', run.stdout), ('stderr', run.stderr)):
        program.need(raw not in said, f'{name}: {what}: raw on {channel}: {said[:300]!r}')
        program.need(b'\x1b' not in said, f'{name}: {what}: an escape on {channel}: {said[:300]!r}')


def check_reading(program, name, sid, raw):
    for command in ('list --all', 'info ' + sid, 'messages ' + sid, 'restore ' + sid, 'subagents ' + sid,
                    'doctor ' + sid, 'sweep --all --older-than 1m'):
        run = program.run(*command.split())
        program.need(run.returncode in (0, 3), f'{name}: {command}: exit {run.returncode}: {run.stderr!r}')
        silent(program, name, command, run, raw)


def check_json(program, name, sid, raw):
    """JSON is data: it contains the text of the file, but anything that acts on a terminal is escaped."""
    for command in ('info', 'messages', 'restore', 'doctor'):
        run = program.run(command, '--json', sid)
        program.need(not [b for b in run.stdout if b < 32 and b != 10], f'{name}: {command} --json: raw control bytes')
        program.need(raw not in run.stdout, f'{name}: {command} --json: raw: {run.stdout[:300]!r}')
        json.loads(run.stdout)


def check_arguments(program, name, evil, raw):
    """Arguments are repeated in error messages."""
    for args in (['info', evil], ['messages', b'claude:' + evil], [b'--' + evil], [evil], ['list', '--since', evil],
                 ['list', '--store', b'claude:/nowhere/' + evil], ['list', '-C', b'/nowhere/' + evil],
                 ['list', '--config', b'/nowhere/' + evil], ['list', '--system', evil], ['sweep', '--older-than', evil],
                 ['sweep', '--older-than', '1d', '--larger-than', evil], ['doctor', evil]):
        run = program.run(*args)
        silent(program, name, args, run, raw)


def check_names(program, top, name, evil, raw):
    """File names are bytes too."""
    folder = os.fsencode(top) + b'/projects/-' + evil.replace(b'/', b'_')
    os.makedirs(folder, exist_ok=True)
    with open(folder + b'/' + evil.replace(b'/', b'_') + b'.jsonl', 'wb') as f:
        f.write(b'{}\n')
    os.makedirs(folder + b'/' + (SID % 7).encode() + b'.jsonl', exist_ok=True)
    silent(program, name, 'names', program.run('list', '--all'), raw)


def main():
    with tempfile.TemporaryDirectory() as top:
        os.makedirs(top + '/projects/-w')
        program = Program(sys.argv[1], top, {'CLAUDE_CONFIG_DIR': top})
        for i, (name, (evil, raw)) in enumerate(PATTERNS.items()):
            sid = SID % (0xabc000 + i)
            with open(f'{top}/projects/-w/{sid}.jsonl', 'wb') as f:
                f.write(transcript(sid, evil))
            check_reading(program, name, sid, raw)
            check_json(program, name, sid, raw)
            check_arguments(program, name, evil, raw)
            check_names(program, top, name, evil, raw)
        program.same('all listed', len(program.json('list', '--all')), len(PATTERNS))
        program.finish(len(PATTERNS) * 40)


main()
