"""The CPU time of a look for new messages of a long transcript, and of one that finds one: through the library, and by the command.
   usage: bench_follow.py REPRISE LIBRARY BYTES LOOKS"""
import ctypes
import json
import os
import resource
import subprocess
import sys
import tempfile
import time

from installed import ffi

SESSION = '11111111-1111-4111-8111-111111111111'


class Query(ffi.Sized):
    _fields_ = [('size', ctypes.c_size_t)]


def row(number):
    answer = number % 2
    text = f'{number} {"word " * 400}'
    return json.dumps({'parentUuid': f'{number - 1:08d}-0000-4000-8000-000000000000' if number else None, 'isSidechain': False, 'userType': 'external',
                       'cwd': '/w', 'sessionId': SESSION, 'version': '2.1.332', 'gitBranch': 'main',
                       **({'message': {'role': 'assistant', 'id': f'msg_{number}', 'type': 'message', 'content': [{'type': 'text', 'text': text}]}} if answer
                          else {'type': 'user', 'message': {'role': 'user', 'content': text}}),
                       **({'type': 'assistant'} if answer else {}), 'uuid': f'{number:08d}-0000-4000-8000-000000000000',
                       'timestamp': '2026-02-09T02:48:28.000Z'}, separators=(',', ':')) + '\n'


def rows_of(numbers):
    """With what the client writes after some rows: where the conversation is."""
    for number in numbers:
        yield row(number)
        if number % 16 == 15:
            yield json.dumps({'type': 'last-prompt', 'lastPrompt': 'word', 'leafUuid': f'{number:08d}-0000-4000-8000-000000000000',
                              'sessionId': SESSION}, separators=(',', ':')) + '\n'


def show(what, times, goal=''):
    print(f'{what:60} {sorted(times)[len(times) // 2]:9.3f} ms {goal}', flush=True)


def library(path, home, add, looks):
    lib = ffi.Library(path)
    environment = (ctypes.c_char_p * 2)(f'HOME={home}'.encode(), None)
    options = ffi.Options(system=b'claude', path=f'{home}/.claude'.encode(), directory=b'/w', environment=environment)
    stores = lib.make('reprise_open', ctypes.byref(options))
    session = lib.make('reprise_session_open', stores, SESSION.encode())
    follow = lib.make('reprise_follow_open', session, None)
    for what, goal in (('nothing is new', '1'), ('one message is new', '')):
        times = []
        for _ in range(looks):
            if not goal:
                add()
            began = time.process_time()
            texts = lib.make('reprise_follow_next', follow)
            times.append((time.process_time() - began) * 1000)
            found = lib.c.reprise_texts_count(texts)
            lib.c.reprise_texts_free(texts)
            if found != (not goal):
                sys.exit(f'{what}: {found} messages')
        show(f'follow, {what}: CPU of a look', times, goal)


def command(reprise, home, last, looks):
    env = {**os.environ, 'HOME': home, 'TZ': 'UTC'}
    for what, args in (('--version', ['--version']), ('messages --after the last message', ['messages', f'claude:{SESSION}', '--after', last, '--json'])):
        times = []
        for _ in range(looks):
            before = resource.getrusage(resource.RUSAGE_CHILDREN)
            subprocess.run([reprise, *args], env=env, cwd=home, check=True, stdout=subprocess.DEVNULL)
            after = resource.getrusage(resource.RUSAGE_CHILDREN)
            times.append((after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime) * 1000)
        show(f'{what}: CPU of the process', times)


def main():
    (reprise, path), (size, looks) = map(os.path.abspath, sys.argv[1:3]), map(int, sys.argv[3:5])
    with tempfile.TemporaryDirectory() as home:
        os.makedirs(f'{home}/.claude/projects/-w')
        rows = size // len(row(1))
        transcript = f'{home}/.claude/projects/-w/{SESSION}.jsonl'
        with open(transcript, 'w', encoding='utf-8') as f:
            f.writelines(rows_of(range(rows)))

        def add():
            nonlocal rows
            with open(transcript, 'a', encoding='utf-8') as f:
                f.write(row(rows))
            rows += 1

        print(f'{os.path.getsize(transcript) / 1e6:.0f} MB, {rows} messages')
        library(path, home, add, looks)
        command(reprise, home, f'{rows - 1:08d}-0000-4000-8000-000000000000', looks)


main()
