#!/usr/bin/env python3
"""How many system calls a list or a search makes for each session: a budget, since each is made ten thousand times.

usage: list_calls.py PROGRAM COUNT_CALLS

Counts are not times: they are the same on a slow machine. Two stores of different length are compared, so that what the
program does once at its start is left out.
"""
import collections
import json
import os
import subprocess
import sys
import tempfile
import uuid

from support.program import Program

FEW, MANY = 100, 400
BUDGET = {'open': 1, 'close': 1, 'stat': 2, 'usage': 0, 'clock': 0}
SLACK = {'usage': 0.1}  # a machine that is busy seems to read slowly, which is then found out
LITTLE = 0.02  # once for the program, not for each session


def write_claude(home, number, size):
    folder = os.path.join(home, '.claude', 'projects', '-home-dev-shop')
    base = {'cwd': '/home/dev/shop', 'gitBranch': 'main', 'sessionId': str(uuid.UUID(int=number)), 'version': '2.1.0'}
    parent, rows, written = None, [], 0
    while not rows or written < size:
        turn = len(rows)
        own = str(uuid.UUID(int=number << 32 | turn))
        role = 'assistant' if turn % 2 else 'user'
        text = f'prompt {turn} of session {number} ' + 'word ' * 100
        content = [{'type': 'text', 'text': text}] if turn % 2 else text
        message = {'role': role, 'content': content, **({'model': 'claude-opus-4-1', 'id': f'msg_{turn}'} if turn % 2 else {})}
        rows.append(json.dumps({'parentUuid': parent, 'isSidechain': False, 'type': role, 'message': message, 'uuid': own,
                                'timestamp': f'2026-03-01T{turn // 3600 % 24:02}:{turn // 60 % 60:02}:{turn % 60:02}.000Z',
                                **base}, separators=(',', ':')))
        written += len(rows[-1])
        parent = own
    write_rows(os.path.join(folder, base['sessionId'] + '.jsonl'), rows)


def write_codex(home, number, size):
    """Instructions are most of it, and precede the first prompt."""
    thread = str(uuid.UUID(int=number))
    rows = [('session_meta', {'id': thread, 'timestamp': '2026-03-01T10:00:00.000Z', 'cwd': '/home/dev/shop', 'source': 'cli',
                              'base_instructions': {'text': 'word ' * (size // 5)}}),
            ('event_msg', {'type': 'task_started'}), ('event_msg', {'type': 'user_message', 'message': f'prompt {number}'}),
            ('event_msg', {'type': 'agent_message', 'message': 'answer'}), ('event_msg', {'type': 'task_complete'})]
    write_rows(os.path.join(home, f'.codex/sessions/2026/03/01/rollout-2026-03-01T10-00-00-{thread}.jsonl'),
               [json.dumps({'timestamp': f'2026-03-01T10:00:0{i}.000Z', 'type': kind, 'payload': payload})
                for i, (kind, payload) in enumerate(rows)])


def write_gemini(home, number, size):
    id, time = str(uuid.UUID(int=number << 96 | number)), '2026-03-01T10:00:00.000Z'
    rows = [{'sessionId': id, 'projectHash': '0', 'startTime': time, 'lastUpdated': time, 'kind': 'main'},
            {'id': f'u{number}', 'timestamp': time, 'type': 'user', 'content': [{'text': f'prompt {number}'}]},
            {'id': f'g{number}', 'timestamp': time, 'type': 'gemini', 'content': 'word ' * (size // 5)},
            {'$set': {'lastUpdated': time}}]
    write_rows(os.path.join(home, '.gemini/tmp/shop/.project_root'), ['/home/dev/shop'])
    write_rows(os.path.join(home, f'.gemini/tmp/shop/chats/session-2026-03-01T10-00-{id[:8]}.jsonl'), map(json.dumps, rows))


def write_auggie(home, number, size):
    """One document for each session, beside which there are no directories."""
    id, time = str(uuid.UUID(int=number)), '2026-03-01T10:00:00.000Z'
    exchange = {'request_message': f'prompt {number}', 'response_text': 'word ' * (size // 5), 'request_id': id}
    document = {'sessionId': id, 'created': time, 'modified': time,
                'chatHistory': [{'exchange': exchange, 'completed': True, 'sequenceId': 1, 'finishedAt': time}]}
    write_rows(os.path.join(home, f'.augment/sessions/{id}.json'), [json.dumps(document, indent=2)])


def write_rows(path, rows):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, 'w', encoding='utf-8') as out:
        out.write('\n'.join(rows) + '\n')


# A short transcript is read at once, of a long one both ends. A log of Gemini is opened for its id and time, and again for its row.
TWICE = {'open': 2, 'close': 2, 'read': 2}
LIST, SEARCH = ('list', '--all', '--json'), ('search', '--all', '--json', '--count')
ONCE = {'read': 1, 'futex': 1}
# The bytes that a search has read are not read again for the title, nor to learn that nothing follows; no thread waits for another
# at every session. A list for people reads the names of the sessions elsewhere, for short ids, and does not look at their files.
CASES = ((LIST, write_claude, 2000, {'read': 1}), (LIST, write_claude, 200000, {'read': 2}),
         (('list', '-C', '/'), write_claude, 2000, {'open': 0, 'close': 0, 'stat': 0}),
         (LIST, write_codex, 100000, {'read': 1}), (LIST, write_gemini, 8000, TWICE),
         (LIST, write_auggie, 8000, {'read': 1}),
         ((*SEARCH, 'prompt'), write_claude, 2000, ONCE), ((*SEARCH, 'prompt'), write_claude, 200000, ONCE),
         ((*SEARCH, 'nobody'), write_claude, 200000, ONCE))


def count(p, counter, command, sessions, write, size):
    with tempfile.TemporaryDirectory() as home:
        for number in range(sessions):
            write(home, number + 1, size)
        output = os.path.join(home, 'counts')
        run = subprocess.run([counter, output, p.path, *command], env={**p.env, 'HOME': home},
                             stdin=subprocess.DEVNULL, capture_output=True, timeout=300, check=False)
        if run.returncode == 77:
            print('0 passed, 0 failed: no program may be traced here')
            sys.exit(77)
        found = 0 if command[-1] in ('nobody', '/') else sessions
        p.same(f'{sessions} of {size}: {command[0]}', (run.returncode, run.stdout.count(b'\n')), (found == 0 and command[0] == 'search', found))
        counts = collections.Counter()
        with open(output, encoding='utf-8') as lines:
            for line in lines:
                name, number = line.split()
                counts[name] += int(number)
        return counts


def count_snapshot(p, counter):
    """Each attempt that was given up left a pack; they are not read again for each new file."""
    packs, files, most = 6, 300, 3
    with tempfile.TemporaryDirectory() as home:
        env, project, output = {**p.env, 'HOME': home}, os.path.join(home, 'project'), os.path.join(home, 'counts')
        told = json.dumps({'session_id': 's', 'cwd': project, 'prompt': 'p'}).encode()
        command = [p.path, 'snapshot', '--agent', 'claude', '--event', 'prompt']
        for number in range(files * (packs + 1)):
            if number and number % files == 0:
                subprocess.run(command, env=env, input=told, check=True)
            write_rows(os.path.join(project, f'{number // files}/{number}'), [f'file {number}'])
        subprocess.run([counter, output, *command], env=env, input=told, check=True)
        with open(output, encoding='utf-8') as lines:
            counts = {name: int(n) for name, n in (line.split() for line in lines)}
        reads, opened = counts.get('read', 0), counts.get('open', 0)  # files of the moment before the last snapshot are opened, too
        p.need(files < opened and 0 < reads < opened * most, f'snapshot: {reads} times read for {opened} files and {packs} packs')
        print(f'snapshot: {packs} packs, {opened} files, read {reads / opened:.2f} times')


def main():
    with tempfile.TemporaryDirectory() as home:
        p = Program(sys.argv[1], home, {})
        for command, write, size, own in CASES:
            few, many = (count(p, sys.argv[2], command, n, write, size) for n in (FEW, MANY))
            what = f'{" ".join(command)}: {write.__name__[6:]}, {size} bytes'
            for name, most in {**BUDGET, **own}.items():
                each = (many[name] - few[name]) / (MANY - FEW)
                p.need(each <= most + SLACK.get(name, LITTLE), f'{what}: {each:.2f} times {name} for each, budget {most}')
            print(f'{what}: ' + ', '.join(f'{name} {(many[name] - few[name]) / (MANY - FEW):.2f}' for name in many))
        count_snapshot(p, sys.argv[2])
        p.finish(75)


main()
