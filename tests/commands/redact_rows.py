#!/usr/bin/env python3
"""What people type and programs print when a password, a key or a code is beside a word that says so.

usage: redact_rows.py PROGRAM

redact_rows.txt has a row on each line, «» around what must not be left by `export --redact`, and below the line of
dashes rows that must stay as they are. Each row is a session, because what was found in one row is replaced in all rows
of its session. It stands alone, between other lines, behind a prompt, and in a result of a tool; the last rows and the plain
ones also in JSON inside of the result, and behind the numbers or times with which programs begin lines.
"""
import json
import os
import re
import subprocess
import sys
import tempfile

SHM = '/dev/shm' if os.access('/dev/shm', os.W_OK) else None  # thousands of files are synced
PLACES = {'alone': '{}', 'between': 'First line.\n{}\nand the last one', 'prompt': '$ {}\n$ ls'}
PREFIXES = {'numbers': '{:6}\t', 'times': '2026-11-20T09:00:{:02}.5Z '}


def row_of(session, content, n=0):
    return json.dumps({'parentUuid': None, 'isSidechain': False, 'userType': 'external', 'cwd': '/tmp/p', 'sessionId': session, 'version': '2.1.300', 'type': 'user',
                       'message': {'role': 'user', 'content': content}, 'uuid': f'22222222-2222-4222-8222-{n:012d}', 'timestamp': '2026-11-20T10:00:00.000Z'}) + '\n'


def redacted(program, sessions):
    """Exports sessions, each with its own contents, and returns what is left of them."""
    with tempfile.TemporaryDirectory(dir=SHM) as home:
        ids = [f'{n:08x}-1111-4111-8111-111111111111' for n in range(len(sessions))]
        os.makedirs(f'{home}/.claude/projects/-tmp-p')
        for session, contents in zip(ids, sessions):
            with open(f'{home}/.claude/projects/-tmp-p/{session}.jsonl', 'w', encoding='utf-8') as f:
                f.write(''.join(row_of(session, content, n) for n, content in enumerate(contents)))
        subprocess.run([program, 'export', *ids, '--redact', '--format', 'jsonl', '-o', f'{home}/out/'], env={'HOME': home, 'PATH': os.environ['PATH']},
                       capture_output=True, text=True, check=True)
        answers = {}
        for name in os.listdir(f'{home}/out'):
            with open(f'{home}/out/{name}', encoding='utf-8') as f:
                rows = [json.loads(line) for line in f]
            answers[rows[0]['sessionId']] = [row['message']['content'] for row in rows]
        return [answers[session] for session in ids]


def far_away(program):
    """What one row calls a password is replaced in all rows, in each format, and in a part that does not have the row."""
    password, problems = 'zq7-Kappa', []
    rows = [f'Please log in as bob with {password} and look around.', result(f'bob:x:{password}:1000\nzq7-Kappaleia'), 'The name NL80211_ATTR_MAC and latin1 stay.',
            f'DB_PASSWORD={password}', 'password: NL80211_ATTR_MAC', [{'type': 'tool_use', 'id': 't', 'name': 'Bash', 'input': {'command': f'cat {password}.txt'}}],
            f'and {password} once more']
    with tempfile.TemporaryDirectory(dir=SHM) as home:
        session = '33333333-1111-4111-8111-111111111111'
        os.makedirs(f'{home}/.claude/projects/-tmp-p')
        with open(f'{home}/.claude/projects/-tmp-p/{session}.jsonl', 'w', encoding='utf-8') as f:
            parent = None
            for n, content in enumerate(rows):
                row = json.loads(row_of(session, content, n))
                row['parentUuid'], parent = parent, row['uuid']
                f.write(json.dumps(row) + '\n')
        for form in ('jsonl', 'md', 'txt', 'html'):
            for part in ([], ['--to', '22222222'], ['--from', '22222222-2222-4222-8222-000000000006']):
                if part == ['--to', '22222222']:
                    part = ['--to', '22222222-2222-4222-8222-000000000002']
                out = subprocess.run([program, 'export', session, '--redact', '--format', form, *([] if form == 'jsonl' else ['--tools', 'full']), '-o', '-', *part],
                                     env={'HOME': home, 'PATH': os.environ['PATH']}, capture_output=True, text=True, check=False)
                if out.returncode or password in out.stdout.replace('zq7-Kappaleia', ''):
                    problems.append(f'{form} {part}: {out.stderr or out.stdout[-400:]}')
                if not part and form == 'jsonl' and ('zq7-Kappaleia' not in out.stdout or 'name NL80211_ATTR_MAC and latin1' not in out.stdout):
                    problems.append(f'too much was replaced: {out.stdout}')
        subprocess.run([program, 'export', session, '--redact', '-o', f'{home}/out/'], env={'HOME': home, 'PATH': os.environ['PATH']}, capture_output=True, check=True)
        if os.listdir(f'{home}/out') != ['please-log-in-as-bob-with-and-look-around-33333333.md']:
            problems.append(f'the name of the file: {os.listdir(f"{home}/out")}')
    return problems


def result(text):
    return [{'type': 'tool_result', 'tool_use_id': 'toolu_1', 'content': text}]


def main(program):
    with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), 'redact_rows.txt'), encoding='utf-8') as f:
        secret, plain = (part.strip('\n').split('\n') for part in f.read().split('\n----\n'))
    passed, failures = 0, []
    for name, place in {**PLACES, 'result': None, 'json': None, 'numbers': None, 'times': None}.items():
        def put(row):
            text = row.replace('\\n', '\n').replace('«', '').replace('»', '')
            text = json.dumps({'command': text}, ensure_ascii=False) if name == 'json' else text
            text = '\n'.join(f'{PREFIXES[name].format(n)}{line}' for n, line in enumerate(text.split('\n'))) if name in PREFIXES else text
            return result(text) if place is None else place.format(text)
        rows = (secret[-40:] if name in ('json', *PREFIXES) else secret) + plain[-120 if name in PREFIXES else 0:]
        answers = [contents[0] for contents in redacted(program, [[put(row)] for row in rows])]
        assert len(answers) == len(rows), f'{len(answers)} rows of {len(rows)}'
        for row, answer in zip(rows, answers):
            left = [s for s in re.findall('«(.*?)»', row.replace('\\n', '\n'), re.S) if s in json.dumps(answer, ensure_ascii=False)]
            changed = '«' not in row and answer != put(row)
            if left or changed:
                failures.append(f'{name}: {row}' + (f' -> {answer}' if changed else ''))
            else:
                passed += 1
    problems = far_away(program)
    failures += problems
    passed += 14 - len(problems)
    for failure in failures:
        print('FAILED:', failure)
    print(f'{passed} passed, {len(failures)} failed')
    return bool(failures)


if __name__ == '__main__':
    sys.exit(main(os.path.abspath(sys.argv[1])))
