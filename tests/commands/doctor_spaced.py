#!/usr/bin/env python3
"""A transcript that a program printed again, with blanks after the colons: Claude Code searches its rows as text.

usage: doctor_spaced.py PROGRAM

The finding is made once, the repair takes exactly these blanks out, and an undo brings them back.
"""
import json
import os
import shutil
import sys

from project_move import claude, save, session_id
from resume_by_id import World

SPACED = {
    'as Python prints it': json.dumps,
    'only after colons': lambda row: json.dumps(row, separators=(',', ': ')),
    'around colons': lambda row: json.dumps(row, separators=(', ', '  : '), ensure_ascii=False),
}


def found(w):
    return [f for f in w.program.json('doctor', '--all', missing=[]) if f['kind'] == 'spaced-row']


def write(path, lines):
    with open(path, 'w', encoding='utf-8') as f:
        f.writelines(line + '\n' for line in lines)
    os.utime(path, (1700000000,) * 2)


def body(path):
    with open(path, 'rb') as f:
        return f.read()


def main():
    w = World(sys.argv[1])
    cwd = f'{w.top}/a "quoted": place'
    os.makedirs(cwd)
    path = claude(w, 1, cwd)
    with open(path, encoding='utf-8') as f:
        plain = [line.rstrip('\n') for line in f]
    rows = [json.loads(line) for line in plain]
    rows[0]['message']['content'] = 'the text "cwd": "/x" and "cwd":"/y", and \U0001f600'
    with_cwd = sum('cwd' in r for r in rows)
    w.program.same('a healthy one', found(w), [])
    for what, dump in SPACED.items():
        write(path, map(dump, rows))
        before, said = body(path), found(w)
        w.program.same(f'{what}: one row, and how many more', [(s['path'], 'line' in s, f'and {with_cwd - 1} more' in s['why']) for s in said],
                       [(path, True, False), (path, False, True)])
        run = w.program.run('doctor', session_id(1), '--fix')
        now = body(path).decode()
        w.program.same(f'{what}: as the client writes them', [line for line, r in zip(now.splitlines(), rows) if 'cwd' in r],
                       [json.dumps(r, separators=(',', ':'), ensure_ascii=dump is not SPACED['around colons']) for r in rows if 'cwd' in r])
        w.program.same(f'{what}: others stay', [line for line, r in zip(now.splitlines(), rows) if 'cwd' not in r], [dump(r) for r in rows if 'cwd' not in r])
        w.program.same(f'{what}: the same rows', [json.loads(line) for line in now.splitlines()], rows)
        w.program.same(f'{what}: its time', os.stat(path).st_mtime, 1700000000)
        w.program.same(f'{what}: found no more', (run.returncode, found(w)), (0, []))
        change = w.program.json('log', '--all')[0]['id']
        w.program.same(f'{what}: undone', (w.program.run('undo', change).returncode, body(path)), (0, before))
    # The client finds it if the first row is as it writes it; of rows without a directory nothing is said.
    write(path, [plain[0], *map(json.dumps, rows[1:])])
    w.program.same('the first is plain', found(w), [])
    write(path, [*map(json.dumps, rows[:-1]), plain[-1]])
    w.program.same('the last is plain', len(found(w)), 2)
    write(path, [json.dumps({k: v for k, v in r.items() if k != 'cwd'}) for r in rows])
    w.program.same('no directory', found(w), [])
    write(path, [json.dumps({**r, 'cwd': 5}) for r in rows])
    w.program.same('no text', found(w), [])
    # A row that is damaged in another way is repaired along with it.
    write(path, ['\0\0' + json.dumps(rows[0]), *map(json.dumps, rows[1:])])
    w.program.run('doctor', session_id(1), '--fix')
    w.program.run('doctor', session_id(1), '--fix')
    w.program.same('with other damage', [json.loads(line) for line in body(path).decode().splitlines()], rows)
    # Other agents do not search so.
    save(f'{w.home}/.qwen/projects/x/chats/{session_id(2)}.jsonl', [])
    write(f'{w.home}/.qwen/projects/x/chats/{session_id(2)}.jsonl', [json.dumps({
        'uuid': 'u0', 'parentUuid': None, 'sessionId': session_id(2), 'timestamp': '2026-03-01T10:00:00.000Z', 'type': 'user', 'cwd': cwd,
        'message': {'role': 'user', 'parts': [{'text': 'x'}]}})])
    os.unlink(path)
    w.program.same('Qwen Code', found(w), [])
    shutil.rmtree(w.top)
    w.program.finish(20)


if __name__ == '__main__':
    main()
