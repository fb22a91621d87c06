#!/usr/bin/env python3
"""What people type and programs print when a password, a key or a code is beside a word that says so.

usage: redact_rows.py PROGRAM

redact_rows.txt has a row on each line, «» around what must not be left by `export --redact`, and below the line of
dashes rows that must stay as they are. Each row stands alone, between other lines, behind a prompt, and in a result
of a tool.
"""
import json
import os
import re
import subprocess
import sys
import tempfile

SESSION = '11111111-1111-4111-8111-111111111111'
PLACES = {'alone': '{}', 'between': 'First line.\n{}\nand the last one', 'prompt': '$ {}\n$ ls'}


def transcript(contents):
    rows, parent = [], None
    for n, content in enumerate(contents):
        uuid = f'22222222-2222-4222-8222-{n:012d}'
        rows.append({'parentUuid': parent, 'isSidechain': False, 'userType': 'external', 'cwd': '/tmp/p', 'sessionId': SESSION, 'version': '2.1.300', 'type': 'user',
                     'message': {'role': 'user', 'content': content}, 'uuid': uuid, 'timestamp': '2026-11-20T10:00:00.000Z'})
        parent = uuid
    return ''.join(json.dumps(row) + '\n' for row in rows)


def redacted(program, contents):
    with tempfile.TemporaryDirectory() as home:
        os.makedirs(f'{home}/.claude/projects/-tmp-p')
        with open(f'{home}/.claude/projects/-tmp-p/{SESSION}.jsonl', 'w', encoding='utf-8') as f:
            f.write(transcript(contents))
        out = subprocess.run([program, 'export', SESSION, '--redact', '--format', 'jsonl', '-o', '-'], env={'HOME': home, 'PATH': os.environ['PATH']},
                             capture_output=True, text=True, check=True).stdout
    return [row['message']['content'] for row in map(json.loads, out.splitlines()) if row.get('type') == 'user']


def result(text):
    return [{'type': 'tool_result', 'tool_use_id': 'toolu_1', 'content': text}]


def main(program):
    with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), 'redact_rows.txt'), encoding='utf-8') as f:
        secret, plain = (part.strip('\n').split('\n') for part in f.read().split('\n----\n'))
    passed, failures = 0, []
    for name, place in {**PLACES, 'result': None}.items():
        def put(row):
            text = row.replace('\\n', '\n').replace('«', '').replace('»', '')
            return result(text) if place is None else place.format(text)
        rows = secret + plain
        answers = redacted(program, [put(row) for row in rows])
        assert len(answers) == len(rows), f'{len(answers)} rows of {len(rows)}'
        for row, answer in zip(rows, answers):
            left = [s for s in re.findall('«(.*?)»', row.replace('\\n', '\n'), re.S) if s in json.dumps(answer, ensure_ascii=False)]
            changed = '«' not in row and answer != put(row)
            if left or changed:
                failures.append(f'{name}: {row}' + (f' -> {answer}' if changed else ''))
            else:
                passed += 1
    for failure in failures:
        print('FAILED:', failure)
    print(f'{passed} passed, {len(failures)} failed')
    return bool(failures)


if __name__ == '__main__':
    sys.exit(main(os.path.abspath(sys.argv[1])))
