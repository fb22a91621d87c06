#!/usr/bin/env python3
"""Reads sessions of real clients, and compares the answers with those of the vendor's SDK.

usage: corpus.py PROGRAM VERSION

corpus/corpus-VERSION.tar.gz is a CLAUDE_CONFIG_DIR tree, corpus/answers-VERSION.jsonl the SDK's row for each of its
sessions, with the number of messages (without and with system rows), a hash of their uuids, and the sub-agents. Every
reading command is run on every session, as JSON and as text; afterwards the tree must be the same, to the last mtime.
"""
import hashlib
import json
import os
import sys
import tarfile
import tempfile

from support.program import Program, snapshot

FIXTURES = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), 'fixtures')


def hash_of(values):
    text = json.dumps(values, separators=(',', ':'))
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def check_list(program, answers):
    rows = program.json('list', '--all')
    program.same('list: order', [r['sessionId'] for r in rows], [a['sessionId'] for a in answers])
    for row, answer in zip(rows, answers):
        same = {k: v for k, v in answer.items() if k not in ('messages', 'withSystem', 'uuids', 'agents')}
        program.same(f'list: {answer["sessionId"]}', {k: row.get(k) for k in same}, same)
        program.need(os.path.isfile(row['path']), f'list: no file {row["path"]}')


def check_messages(program, answer):
    sid = answer['sessionId']
    plain = program.json('messages', '--as-sdk', sid)
    program.same(f'{sid}: messages', len(plain), answer['messages'])
    program.same(f'{sid}: uuids', hash_of([m['uuid'] for m in plain]), answer['uuids'])
    program.same(f'{sid}: with system rows', len(program.json('messages', '--as-sdk', '--system-messages', sid)), answer['withSystem'])
    program.same(f'{sid}: limit', program.json('messages', '--as-sdk', '--offset', '1', '--limit', '2', sid), plain[1:3])


def check_session(program, answer):
    sid, agents = answer['sessionId'], answer.get('agents', {})
    check_messages(program, answer)
    info = program.json('info', sid)
    program.same(f'{sid}: info', info['summary'], answer['summary'])
    program.same(f'{sid}: messageCount', info['messageCount'], answer['messages'])
    program.same(f'{sid}: subagents', sorted(program.json('subagents', sid, missing=[])), sorted(agents))
    for agent, count in agents.items():
        program.same(f'{sid} {agent}: messages', len(program.json('messages', '--agent', agent, sid)), count)
    bundle = program.json('restore', sid)
    program.same(f'{sid}: restore', bundle['sessionId'], sid)
    program.need(bundle['command'], f'{sid}: restore without a command')
    program.need(os.path.isdir(bundle['commandCwd']), f'{sid}: nowhere to run it')


def check_text(program, answers):
    for line in program.text('list', '--all').splitlines():
        program.need(line.isprintable(), f'list: not printable: {line!r}')
    for answer in answers:
        for command in ('info', 'messages', 'restore'):
            program.text(command, answer['sessionId'])


def main():
    version = sys.argv[2]
    with open(f'{FIXTURES}/corpus/answers-{version}.jsonl', encoding='utf-8') as f:
        answers = [json.loads(line) for line in f]
    with tempfile.TemporaryDirectory() as top:
        with tarfile.open(f'{FIXTURES}/corpus/corpus-{version}.tar.gz') as tar:
            tar.extractall(top)
        program = Program(sys.argv[1], top, {'CLAUDE_CONFIG_DIR': top + '/cfg'})
        before = snapshot(top)
        check_list(program, answers)
        for answer in answers:
            check_session(program, answer)
        check_text(program, answers)
        program.need(snapshot(top) == before, 'reading changed the disk')
        program.finish(len(answers))


main()
