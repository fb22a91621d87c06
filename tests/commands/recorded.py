#!/usr/bin/env python3
"""Runs the built program on the recorded calls of the vendor's SDK, and compares the answers.

usage: recorded.py PROGRAM GROUP

recorded/GROUP.jsonl has one case a line: `files` is a CLAUDE_CONFIG_DIR tree (a text, or bytes as hex; a name that ends
in a slash is an empty folder), `stage` the rest of the disk and the environment, `fn` and `args` the SDK call,
`want` its recorded answer. {{CFG}} and {{W}} stand for the configuration directory and a working directory. A call that
only reads must leave the tree unchanged, mtimes included; for one that writes, `want.disk` is its change: rows and
ids are compared as values, with new ids numbered ($U1) and the current time as $NOW.

Some answers contain the path where they were recorded (folder names are made from paths): those cases are laid out at
that path again, one program at a time.
"""
import datetime
import fcntl
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time

FIXTURES = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), 'fixtures')
RECORDED_AT = '/tmp/ccvec'
ROW_KEYS = ('sessionId', 'summary', 'lastModified', 'fileSize', 'customTitle', 'firstPrompt', 'gitBranch', 'cwd', 'tag',
            'createdAt', 'archived')
UUID = re.compile('[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}', re.I)
ISO = re.compile(r'\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z')
WRITES = ('forkSession',)
GIT = ['git', '-c', 'init.defaultBranch=main', '-c', 'user.name=t', '-c', 'user.email=t@example.invalid']


def placed(value, place):
    """value with the placeholders filled in, at any depth."""
    if isinstance(value, str):
        return value.replace('{{W}}', place + '/w').replace('{{CFG}}', place + '/cfg')
    if isinstance(value, list):
        return [placed(x, place) for x in value]
    if isinstance(value, dict):
        return {placed(k, place): placed(v, place) for k, v in value.items()}
    return value


def part_bytes(part):
    if isinstance(part, str):
        return part.encode('utf-8', 'surrogatepass')
    if 'hex' in part:
        return bytes.fromhex(part['hex'])
    if 'repeat' in part:
        return b''.join(part['repeat'].replace('{i}', str(i)).encode() for i in range(part['n']))
    return part['pad'].encode() * part['n']


def put(path, parts):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, 'wb') as f:
        for part in parts:
            f.write(part_bytes(part))


def run_step(step):
    if 'mkdir' in step:
        os.makedirs(step['mkdir'], exist_ok=True)
    elif 'symlink' in step:
        os.makedirs(os.path.dirname(step['symlink'][1]), exist_ok=True)
        os.symlink(*step['symlink'])
    elif 'write' in step:
        put(step['write'][0], [step['write'][1]])
    elif 'chmod' in step:
        os.chmod(step['chmod'][0], int(step['chmod'][1], 8))
    elif 'git' in step:
        subprocess.run([*GIT, *step['git']], cwd=step['cwd'], check=True, capture_output=True)
    else:
        raise ValueError(f'unknown step {step}')


def lay_out(case, place):
    config, stage = place + '/cfg', case['stage']
    os.makedirs(place + '/w')
    os.makedirs(config)
    for name, content in case['files'].items():
        if name.endswith('/'):
            os.makedirs(f'{config}/{name}', exist_ok=True)
        else:
            put(f'{config}/{name}', [content])
    for name, parts in stage.get('expand', {}).items():
        put(f'{config}/{name}', parts)
    for step in placed(stage.get('setup', []), place):
        run_step(step)
    for name, seconds in stage.get('mtimes', {}).items():
        ns = round(seconds * 1e6) * 1000
        os.utime(f'{config}/{name}', ns=(ns, ns))


def snapshot(top):
    """Everything below top: kind, bytes, mode and mtime."""
    seen = {}
    for folder, names, files in os.walk(top):
        for name in names + files:
            path = os.path.join(folder, name)
            st = os.lstat(path)
            body = open(path, 'rb').read() if os.path.isfile(path) and not os.path.islink(path) else None
            seen[path] = (st.st_mode, st.st_mtime_ns, body)
    return seen


def command(fn, args):
    """Returns the command line of the same query."""
    options = next((a for a in args if isinstance(a, dict)), {})
    ids = [a for a in args if not isinstance(a, dict)]
    where = ['--project', options['dir']] if 'dir' in options else ['--all']
    page = [x for key in ('limit', 'offset') if key in options for x in ('--' + key, str(options[key]))]
    if fn == 'listSessions':
        no = [f for key, f in (('includeWorktrees', '--no-worktrees'), ('includeProgrammatic', '--no-programmatic'))
              if options.get(key) is False]
        return ['list', '--json', '--sort=modified', '--system', 'claude', *where, *page, *no]
    if fn == 'getSessionInfo':
        return ['info', '--json', *where, '--', *ids]
    if fn == 'getSessionMessages':
        system = ['--system-messages'] if options.get('includeSystemMessages') else []
        return ['messages', '--as-sdk', '--json', *where, *page, *system, '--', *ids]
    if fn == 'listSubagents':
        return ['subagents', '--json', *where, '--', *ids]
    if fn == 'getSubagentMessages':
        return ['messages', '--as-sdk', '--json', *where, *page, '--agent', ids[1], '--', ids[0]]
    if fn == 'forkSession':
        at = ['--at', options['upToMessageId']] if 'upToMessageId' in options else []
        title = ['--title', options['title']] if 'title' in options else []
        return ['fork', '--json', *where, *at, *title, '--', *ids]
    raise ValueError(f'unknown call {fn}')


def as_recorded(fn, answer):
    if fn == 'listSessions':
        return [{k: row[k] for k in ROW_KEYS if k in row} for row in answer]
    if fn == 'forkSession':
        return {'sessionId': answer['sessionId']}
    if fn == 'getSessionInfo':
        return {k: answer[k] for k in ROW_KEYS if k in answer}
    return answer


def environment(case, place):
    env = {'PATH': os.environ['PATH'], 'LC_ALL': 'C.UTF-8', 'TZ': 'UTC', 'HOME': place + '/home',
           'CLAUDE_CONFIG_DIR': place + '/cfg'}
    env.update({k: v for k, v in os.environ.items() if k.endswith('SAN_OPTIONS')})
    for name, value in placed(case['stage'].get('env', {}), place).items():
        env.pop(name, None)
        if value is not None:
            env[name] = value
    return env


def difference(case, run):
    """Returns the error in the program's answer, or None."""
    fn, want = case['fn'], case['want']
    if 'error' in want:
        return None if run.returncode else f'accepted; the SDK says {want["error"]["message"]!r}'
    nothing = want.get('undefined') or want.get('result') == []
    if nothing and run.returncode == 3:
        return None
    if want.get('undefined'):
        return f'exit {run.returncode} instead of 3: {run.stdout[:300]!r}'
    if run.returncode:
        return f'exit {run.returncode}: {run.stderr.decode("utf-8", "replace")[:500]}'
    try:
        got = as_recorded(fn, json.loads(run.stdout))
    except ValueError as e:
        return f'stdout is not JSON ({e}): {run.stdout[:300]!r}'
    if got == want['result']:
        return None
    return f'\n  want {json.dumps(want["result"])[:900]}\n  got  {json.dumps(got)[:900]}'


def ms_of(iso):
    return datetime.datetime.fromisoformat(iso.replace('Z', '+00:00')).timestamp() * 1000


def named(value, known, ids, since, until):
    """Returns value with new ids numbered in the order in which they come, and times of this run as $NOW."""
    def name(text):
        text = UUID.sub(lambda m: m[0] if m[0].lower() in known else ids.setdefault(m[0], f'$U{len(ids) + 1}'), text)
        return ISO.sub(lambda m: '$NOW' if since - 5 <= ms_of(m[0]) <= until + 5 else m[0], text)
    if isinstance(value, str):
        return name(value)
    if isinstance(value, list):
        return [named(x, known, ids, since, until) for x in value]
    if isinstance(value, dict):
        return {name(k): named(x, known, ids, since, until) for k, x in value.items()}
    return value


def rows_of(text):
    return [json.loads(line) for line in text.split('\n') if line]


def added_below(config, before, after):
    """Returns the additions in the form of want.disk; any other difference is listed too."""
    changes = []
    for path, (mode, _, body) in after.items():
        name = os.path.relpath(path, config)
        if path not in before:
            rows = [] if body is None else rows_of(body.decode('utf-8', 'replace'))
            changes.append({'added': name, 'mode': f'{mode & 0o777:o}', 'rows': rows})
        elif before[path][2] != body:
            changes.append({'changed': name})
    return changes + [{'removed': path} for path in before if path not in after]


def try_writing(program, case, place):
    lay_out(case, place)
    config = place + '/cfg'
    before, since = snapshot(config), time.time() * 1000
    run = subprocess.run([program, *command(case['fn'], placed(case['args'], place))], env=environment(case, place),
                         cwd=placed(case['stage'].get('cwd', place + '/w'), place), capture_output=True, timeout=300)
    until, after = time.time() * 1000, snapshot(config)
    if 'error' in case['want']:
        return 'refused, but the disk changed' if before != after else difference(case, run)
    if run.returncode:
        return difference(case, run)
    known = {x.lower() for x in UUID.findall(json.dumps(case['args']) + json.dumps(case['files']))}
    ids = {}
    answer = named(as_recorded(case['fn'], json.loads(run.stdout)), known, ids, since, until)
    disk = named(added_below(config, before, after), known, ids, since, until)
    want = [{**d, 'rows': rows_of(d['text'])} for d in case['want']['disk']]
    for d in want:
        del d['text']
    if answer == case['want']['result'] and disk == want:
        return None
    return f'\n  want {json.dumps(want)[:1500]}\n  got  {json.dumps(disk)[:1500]}'


def try_case(program, case, place):
    if case['fn'] in WRITES:
        return try_writing(program, case, place)
    lay_out(case, place)
    before = snapshot(place)
    run = subprocess.run([program, *command(case['fn'], placed(case['args'], place))], env=environment(case, place),
                         cwd=placed(case['stage'].get('cwd', place + '/w'), place), capture_output=True, timeout=300)
    after = snapshot(place)
    if before != after:
        return f'the disk changed: {sorted(set(before) ^ set(after)) or "bytes, modes or times"}'
    return difference(case, run)


def try_in_place(program, case, top):
    if RECORDED_AT not in json.dumps(case) and RECORDED_AT.replace('/', '-') not in json.dumps(case):
        place = os.path.join(top, case['name'])
        return try_case(program, case, place)
    with open(RECORDED_AT + '.lock', 'w') as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        place = os.path.join(RECORDED_AT, case['name'])
        shutil.rmtree(place, ignore_errors=True)
        try:
            return try_case(program, case, place)
        finally:
            shutil.rmtree(place, ignore_errors=True)


def main():
    program, group = os.path.abspath(sys.argv[1]), sys.argv[2]
    with open(f'{FIXTURES}/recorded/{group}.jsonl', encoding='utf-8') as f:
        cases = list(map(json.loads, f))
    failed = 0
    with tempfile.TemporaryDirectory() as top:
        for case in cases:
            wrong = try_in_place(program, case, os.path.realpath(top))
            if wrong:
                failed += 1
                print(f'{case["name"]} ({case["note"]}): {wrong}')
    print(f'{len(cases) - failed} passed, {failed} failed')
    sys.exit(1 if failed or not cases else 0)


main()
