#!/usr/bin/env python3
"""A session is continued in another agent: what the new session holds is what the original held, except for what is named.

usage: continue_in.py PROGRAM

Without --apply nothing is written; with it one session more exists, which an undo removes, and nothing else changes.
"""
import json
import os
import re
import shutil
import sqlite3
import sys
import tarfile

import copies_matrix as agents
from resume_by_id import World, flat
from support.program import snapshot

TARGETS = {'claude': '.claude/projects', 'codex': '.codex/sessions', 'qwen': '.qwen/projects', 'pi': '.pi/agent/sessions', 'gemini': '.gemini/tmp/one', 'opencode': '.local/share/opencode'}
SOURCES = ['claude', 'codex', 'qwen', 'pi', 'gemini', 'kimi', 'copilot', 'droid', 'grok', 'kiro']
HOSTILE = 'half \ud83d and \0 nul, \x1b[31m, \u2028 and "quotes"\n'
# What each agent calls the tools that mean the same; a patch of one hunk replaces lines.
NAMES = {'Bash': 'command', 'exec_command': 'command', 'run_shell_command': 'command', 'bash': 'command',
         'Read': 'read', 'read_file': 'read', 'read': 'read', 'Write': 'write', 'write_file': 'write', 'write': 'write',
         'Edit': 'replace', 'replace': 'replace', 'edit': 'replace', 'apply_patch': 'patch'}
FIXTURES = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), 'fixtures')


def world(program):
    w = World(program)
    w.home, w.database = w.program.env['HOME'], f'{w.top}/opencode/opencode.db'
    os.makedirs(os.path.dirname(w.database))
    w.program.env.update(CLAUDE_CONFIG_DIR=f'{w.home}/.claude', OPENCODE_DB=w.database)
    w.project = f'{w.top}/one'
    os.makedirs(w.project)
    fresh(w)
    return w


def fresh(w):
    """Only the stores that a target needs, and no session."""
    shutil.rmtree(w.home)
    for folder in TARGETS.values():
        os.makedirs(f'{w.home}/{folder}')
    with open(f'{w.home}/.gemini/tmp/one/.project_root', 'w', encoding='utf-8') as f:
        f.write(w.project)
    make_database(w.database)


def make_database(path):
    """The tables of a database that OpenCode made, with one session of another project."""
    for end in '', '-wal', '-shm':
        if os.path.exists(path + end):
            os.remove(path + end)
    with tarfile.open(f'{FIXTURES}/agents/opencode/store.tar.gz') as archive:
        with open(path, 'wb') as f:
            f.write(archive.extractfile('./.local/share/opencode/opencode.db').read())
    with sqlite3.connect(path) as db:
        kept = db.execute('SELECT id FROM session WHERE project_id = ?', ('global',)).fetchone()
        for table, column in ('part', 'session_id'), ('message', 'session_id'), ('session', 'id'):
            db.execute(f'DELETE FROM {table} WHERE {column} <> ?', kept)
    db.close()


def database(w):
    return sqlite3.connect(w.database)


def image(w):
    """Every file of the home, and the rows of OpenCode's database, which is elsewhere: a process that opens and closes the
    file itself would take SQLite's locks from its other connections."""
    return {**snapshot(w.home), **rows(w.database)}


def rows(path):
    """Every row of a database."""
    db, out = sqlite3.connect(path), {}
    for (table,) in db.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall():
        out.update({f'{table} {row[:2]}': row for row in db.execute(f'SELECT * FROM "{table}"')})
    db.close()
    return out


def save(path, rows):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, 'wb') as f:
        f.write(rows if isinstance(rows, bytes) else b''.join(json.dumps(row, separators=(',', ':')).encode() + b'\n' for row in rows))


def clean(text):
    return re.sub('[\ud800-\udfff]', '\ufffd' * 3, text).replace('\0', '')


def call_of(tool, cwd):
    """What a call means: its kind, path and texts; None: as a text."""
    kind, given = NAMES.get(tool['name']), tool.get('input', '')
    if 'result' not in tool or not kind:
        return None
    if kind == 'patch':
        lines = given.split('\n')
        how, name = re.match(r'\*\*\* (Add|Update) File: (.*)', lines[1]).groups()
        old, new = (''.join(x[1:] + '\n' for x in lines[2:] if x.startswith(sign)) for sign in '-+')
        return ('write' if how == 'Add' else 'replace', os.path.join(cwd, name), *([old] if how == 'Update' else []), new)
    if kind == 'command':
        return (kind, given.get('command', given.get('cmd')))
    path = os.path.join(cwd, given.get('file_path') or given.get('path') or given.get('filePath'))
    if kind == 'read':
        return (kind, path) if len(given) == 1 else None
    if kind == 'write':
        return (kind, path, given['content'])
    old, new = (next(given[k] for k in names if k in given) for names in (('old_string', 'oldText', 'oldString'), ('new_string', 'newText', 'newString')))
    return (kind, path, old, new)


def as_text(tool):
    given = tool.get('input', '')
    given = given if isinstance(given, str) else tool['raw']
    end = f'\n[Result]\n{tool["result"]}' if 'result' in tool else '\n[No result was recorded]'
    return ('assistant', clean(f'[Tool call: {tool["name"]}]\n{given}{end}').strip())


def events(messages, cwd, takes=None):
    """What was said and done. takes: which calls become calls of the target; the others become texts of it."""
    out, answered = [], set()
    for m in messages:
        text = '\n'.join([m.get('text', '')] * bool(m.get('text', '').strip()) + [f'[{x}, left out]' for x in m.get('media', [])])
        if text:
            out.append(('user' if m['role'] == 'user' else 'assistant', clean(text).strip()))
        for tool in m.get('tools', []):
            if 'name' not in tool and tool['call'] in answered:
                continue # Codex records some results twice
            answered.add(tool['call'])
            call = call_of(tool, cwd)
            if call and (not takes or takes(call)):
                out.append(('call', tuple(map(clean, call)), clean(tool['result'])))
            else:
                out.append(as_text(tool))
    return out


def plain(w, which):
    text = w.program.run('messages', '--plain', '--json', '--all', which).stdout
    messages = json.loads(text)
    for m in messages:
        for tool in m.get('tools', []):
            tool['raw'] = json.dumps(tool.get('input'), separators=(',', ':'), ensure_ascii=False)
    return messages


def codex_takes(call):
    return call[0] == 'command' or call[0] != 'read' and all(x.endswith('\n') for x in call[2:])


TAKES = {'codex': codex_takes}


def continued(w, which, target, *args):
    return w.program.json('continue', which, '--in', target, *args)


def follow(w, source, sid, target):
    """Continues a session and compares. Returns the answer."""
    which = f'{source}:{sid}'
    before = image(w)
    shown = continued(w, which, target)
    w.program.same(f'{which} in {target}: only shown', image(w), before)
    made = continued(w, which, target, '--apply')
    after = image(w)
    w.program.same(f'{which} in {target}: as shown', {k: made[k] for k in shown if k != 'dryRun'}, {k: shown[k] for k in shown if k != 'dryRun'})
    w.program.same('nothing else changed', {k: v for k, v in after.items() if k in before and not os.path.isdir(k)},
                   {k: v for k, v in before.items() if not os.path.isdir(k)})
    new = [k for k in after if k not in before and not os.path.isdir(k)]
    if target == 'opencode':
        w.program.same('rows of the session are new', {made['sessionId']}, {next(x for x in after[k] if str(x).startswith('ses_')) for k in new})
        w.program.same('its path', made['path'], f'{w.database}/{made["sessionId"]}')
    else:
        w.program.same('one file is new', new, [made['path']])
        w.program.same('its size', os.path.getsize(made['path']), made['bytes'])
    want = events(plain(w, which), shown['cwd'], TAKES.get(target))
    got = events(plain(w, f'{target}:{made["sessionId"]}'), shown['cwd'])
    w.program.same(f'{which} in {target}', got, want)
    w.program.same('counted', (made['prompts'], made['replies'] + made['callsAsText'], made['calls']),
                   tuple(sum(x[0] == kind for x in want) for kind in ('user', 'assistant', 'call')))
    rows = w.program.json('list', '--all', '--system', target)
    w.program.need(made['sessionId'] in [r['sessionId'] for r in rows if r['cwd'] == shown['cwd']], f'{target} lists it: {rows}')
    w.program.same(f'{target} has no damage', w.program.run('doctor', f'{target}:{made["sessionId"]}').returncode, 0)
    for goes_on, takes_back in going_on(w, target, made):
        goes_on()
        grown = image(w)
        run = w.program.run('undo', made['change'])
        w.program.need(run.returncode == 4 and b'the session has continued since' in run.stderr, f'it went on: {run}')
        w.program.same('and nothing is lost', image(w), grown)
        takes_back()
    w.program.run('undo', made['change'])
    w.program.same('an undo removes it', sorted(k for k in image(w) if not os.path.isdir(k)), sorted(k for k in before if not os.path.isdir(k)))
    run = w.program.run('undo', max(x['id'] for x in w.program.json('log', '--all')))
    w.program.same('redo', (run.returncode, run.stderr), (0, b''))
    again = image(w)
    w.program.same('and a redo makes it again', [again[k] if target == 'opencode' else again[k][2] for k in new],
                   [after[k] if target == 'opencode' else after[k][2] for k in new])
    return made


def going_on(w, target, made):
    """Ways in which the session goes on, each with how it becomes as it was made."""
    def run(*statements):
        with database(w) as db:
            for statement in statements:
                db.execute(statement, (made['sessionId'],) if '?' in statement else ())
        db.close()
    if target != 'opencode':
        def append():
            with open(made['path'], 'ab') as f:
                f.write(b'\n')
        return [(append, lambda: os.truncate(made['path'], made['bytes']))]
    last = "(SELECT id FROM message WHERE session_id = ? ORDER BY id DESC LIMIT 1)"
    return [(lambda: run(f"INSERT INTO message VALUES ('msg_zz', ?, 1, 1, '{{}}')"), lambda: run("DELETE FROM message WHERE id = 'msg_zz'")),
            (lambda: run(f"UPDATE message SET data = data || ' ' WHERE id = {last}"), lambda: run(f"UPDATE message SET data = rtrim(data) WHERE id = {last}")),
            (lambda: run(f"INSERT INTO part SELECT 'prt_zz', id, 'ses_other', 1, 1, '{{}}' FROM message WHERE id = {last}"), lambda: run("DELETE FROM part WHERE id = 'prt_zz'")),
            (lambda: run("INSERT INTO todo VALUES (?, 'do it', 'open', 'high', 0, 1, 1)"), lambda: run("DELETE FROM todo")),
            (lambda: run("UPDATE session SET title = title || 's' WHERE id = ?"), lambda: run("UPDATE session SET title = substr(title, 1, length(title) - 1) WHERE id = ?"))]


def claude_session(w):
    """Everything that a conversation can have."""
    sid, rows = agents.SID, []
    file = f'{w.project}/a.txt'

    def row(kind, content, **more):
        k = len(rows)
        rows.append({'parentUuid': rows[-1]['uuid'] if rows else None, 'isSidechain': False, 'type': kind, 'uuid': f'bbbbbbbb-0000-4000-8000-{k:012}',
                     'sessionId': sid, 'cwd': w.project, 'timestamp': f'2026-03-01T10:00:{k:02}.000Z', 'gitBranch': 'main',
                     'message': {'role': kind, 'content': content, **({'id': f'm{k}', 'model': 'x'} if kind == 'assistant' else {})}, **more})

    def call(name, given, result=None, failed=False):
        row('assistant', [{'type': 'tool_use', 'id': f't{len(rows)}', 'name': name, 'input': given}])
        if result is not None:
            row('user', [{'type': 'tool_result', 'tool_use_id': f't{len(rows) - 1}', 'content': result, 'is_error': failed}])
    row('user', HOSTILE)
    row('assistant', [{'type': 'thinking', 'thinking': 'hm', 'signature': 'x'}])
    row('assistant', [{'type': 'text', 'text': f'I look. {HOSTILE}'}])
    rows[-1]['message']['id'] = 'm1'
    call('Bash', {'command': 'ls -l', 'description': 'list'}, 'a.txt\0')
    call('Bash', {'command': 'false'}, 'Exit code 1', True)
    call('Read', {'file_path': file}, '1\tone')
    call('Read', {'file_path': file, 'limit': 1}, '1\tone')
    call('Write', {'file_path': file, 'content': 'two\nlines\n'}, 'ok')
    call('Write', {'file_path': file, 'content': 'no newline'}, 'ok')
    call('Edit', {'file_path': file, 'old_string': 'two\n', 'new_string': 'three\n', 'replace_all': False}, 'ok')
    call('Edit', {'file_path': file, 'old_string': 'li', 'new_string': 'LI'}, 'ok')
    call('Grep', {'pattern': 'o', 'path': w.project}, 'a.txt')
    row('user', [{'type': 'image', 'source': {'type': 'base64', 'media_type': 'image/png', 'data': 'aGk='}}, {'type': 'text', 'text': 'and this?'}])
    row('assistant', [{'type': 'text', 'text': 'That, too.'}])
    save(f'{w.home}/.claude/projects/{flat(w.project)}/{sid}.jsonl', rows)
    return sid


def codex_session(w):
    rows, sid = [], '01a20000-0000-7000-8000-000000000001'

    def row(kind, **payload):
        rows.append({'timestamp': f'2026-03-01T10:00:{len(rows):02}.000Z', 'type': kind, 'payload': payload})

    def item(**payload):
        row('response_item', **payload)
    row('session_meta', id=sid, timestamp='2026-03-01T10:00:00.000Z', cwd=w.project, originator='codex_cli_rs', cli_version='0.130.0', source='cli')
    item(type='message', role='user', content=[{'type': 'input_text', 'text': 'Change it'}])
    row('event_msg', type='user_message', message='Change it', images=[])
    item(type='function_call', name='exec_command', arguments='{"cmd":"cat a.txt"}', call_id='c1')
    item(type='function_call_output', call_id='c1', output='one\n')
    item(type='custom_tool_call', name='apply_patch', call_id='c2', input='*** Begin Patch\n*** Update File: a.txt\n@@\n-one\n+two\n*** End Patch\n')
    row('event_msg', type='patch_apply_end', call_id='c2', changes={f'{w.project}/a.txt': {'type': 'update', 'unified_diff': '@@ -1 +1 @@\n-one\n+two\n'}})
    item(type='custom_tool_call_output', call_id='c2', output='Success')
    item(type='function_call', name='lost', arguments='{"q":1}', call_id='c4')
    item(type='function_call', name='update_plan', arguments='{"plan":[]}', call_id='c3')
    item(type='function_call_output', call_id='c3', output='Plan updated')
    row('event_msg', type='agent_message', message='Changed.')
    item(type='message', role='assistant', content=[{'type': 'output_text', 'text': 'Changed.'}])
    save(f'{w.home}/.codex/sessions/2026/03/01/rollout-2026-03-01T10-00-00-{sid}.jsonl', rows)
    return sid


def check_claude_rows(w, path, sid):
    """The chain, the times and the ids of the rows are those that the client writes."""
    with open(path, encoding='utf-8') as f:
        rows = [json.loads(line) for line in f]
    w.program.same('chain', [r['parentUuid'] for r in rows], [None] + [r['uuid'] for r in rows[:-1]])
    w.program.same('times', [r['timestamp'] for r in rows], sorted(r['timestamp'] for r in rows))
    w.program.same('ids', {(r['sessionId'], r['cwd'], r['isSidechain']) for r in rows}, {(sid, w.project, False)})
    asked = [b['id'] for r in rows for b in r['message']['content'] if isinstance(b, dict) and b['type'] == 'tool_use']
    got = [b['tool_use_id'] for r in rows for b in r['message']['content'] if isinstance(b, dict) and b['type'] == 'tool_result']
    w.program.same('each call has its result', got, asked)
    w.program.same('sound', w.program.run('doctor', sid).returncode, 0)


def check_rich(w):
    sid = claude_session(w)
    for target, calls in ('qwen', 7), ('pi', 7), ('gemini', 7), ('opencode', 7), ('codex', 4):
        made = follow(w, 'claude', sid, target)
        w.program.same(f'report of {target}', {k: made[k] for k in ('calls', 'callsAsText', 'callsWithoutResult', 'textsRepaired', 'leftOut')},
                       {'calls': calls, 'callsAsText': 9 - calls, 'callsWithoutResult': 0, 'textsRepaired': 3,
                        'leftOut': {'thinking': 1, 'media': 1, 'subagents': 0}})
    w.program.same('hand-off', w.program.run('continue', f'claude:{sid}', '--in', 'codex', '--apply').stdout.decode().split('\n')[-2].split(' && ')[1].split()[:2], ['codex', 'resume'])
    with open(made['path'], encoding='utf-8') as f:
        rows = [json.loads(line) for line in f]
    w.program.same('the log begins with its session', (rows[0]['type'], rows[0]['payload']['id'], rows[0]['payload']['cwd']), ('session_meta', made['sessionId'], w.project))
    w.program.same('times', [r['timestamp'] for r in rows], sorted(r['timestamp'] for r in rows))
    made = follow(w, 'codex', codex_session(w), 'claude')
    w.program.same('calls', (made['calls'], made['callsAsText'], made['callsWithoutResult']), (2, 2, 1))
    check_claude_rows(w, made['path'], made['sessionId'])


def check_sources(w):
    """Every agent's sessions can be continued."""
    for n, source in enumerate(SOURCES):
        fresh(w)
        path, rows = agents.AGENTS[source](w.home, w.project, 'said', 60)
        save(path, rows)
        for k in range(2):
            target = list(TARGETS)[(n + k) % len(TARGETS)]
            if target != source:
                made = follow(w, source, w.program.json('list', '--all', '--system', source)[0]['sessionId'], target)
                w.program.same(f'{source} in {target}', (made['prompts'], made['replies']), (1, source != 'codex'))


def check_counted_once(w):
    """What the original did is not counted again for the sessions that continue it."""
    for make, source, chain in ((claude_session, 'claude', ('codex', 'pi')), (claude_session, 'claude', ('gemini', 'qwen')),
                                (claude_session, 'claude', ('pi', 'opencode')),
                                (codex_session, 'codex', ('claude', 'opencode')), (codex_session, 'codex', ('claude', 'pi')), (codex_session, 'codex', ('qwen', 'gemini'))):
        fresh(w)
        sid = make(w)
        (original,) = [k for k in snapshot(w.home) if sid in k]
        with open(f'{w.project}/a.txt', 'w', encoding='utf-8') as f:
            f.write('no newline' if source == 'claude' else 'two\n')
        ask = lambda *command: json.loads(w.program.run('-C', w.project, *command, '--json').stdout)
        asked = lambda: (ask('touched', 'a.txt'), ask('touched', '.'), ask('blame', 'a.txt'))
        before, copies, which = asked(), [], f'{source}:{sid}'
        w.program.need(before[0] and before[2], f'{source} has edits: {before}')
        for target in chain: # a copy, and the copy of that
            made = continued(w, which, target, '--apply')
            which = f'{target}:{made["sessionId"]}'
            copies.append(made)
            w.program.same(f'{source} continued in {target}', asked(), before)
        for age, word in ((3600, 'older'), (-3600, 'newer')): # the order in which sessions are read
            at = os.path.getmtime(copies[0]['path']) + age
            os.utime(original, (at, at))
            w.program.same(f'{source}: the copies are {word}', asked(), before)
        os.remove(original)
        touched = ask('touched', 'a.txt')
        w.program.same(f'{source} is gone: the copies are what is left of it', {t['session'] for t in touched} <= {c['sessionId'] for c in copies} and len(touched), len(before[0]))
        os.remove(f'{w.project}/a.txt')


def check_refused(w):
    fresh(w)
    sid = claude_session(w)
    for args, words in (((sid, '--in', 'claude'), 'it is a session of this agent'), ((sid, '--in', 'kiro'), 'sessions can only be made for claude'),
                        ((sid, '--in', 'nobody'), 'sessions can only be made'), ((sid,), 'needs --in AGENT')):
        run = w.program.run('continue', *args)
        w.program.need(run.returncode not in (0, 1) and words in run.stderr.decode(), f'{args}: {run.returncode} {run.stderr}')
    # A directory that Gemini does not know yet gets a folder with a mark, which Gemini looks for.
    os.remove(f'{w.home}/.gemini/tmp/one/.project_root')
    change = json.loads(w.program.run('continue', sid, '--in', 'gemini', '--apply', '--json').stdout)
    folder = os.path.dirname(os.path.dirname(change['path']))
    with open(f'{folder}/.project_root', encoding='utf-8') as f:
        w.program.same('the mark of its folder', f.read(), w.project)
    w.program.same('listed there', [r['sessionId'] for r in w.program.json('list', '-C', w.project, '--system', 'gemini')], [change['sessionId']])
    w.program.same('undone', (w.program.run('undo').returncode, os.path.exists(f'{folder}/.project_root')), (0, False))
    os.rmdir(f'{w.home}/.codex/sessions')
    os.rmdir(f'{w.home}/.codex')
    run = w.program.run('continue', sid, '--in', 'codex', '--apply')
    w.program.need(b'start it once' in run.stderr, f'no store: {run.stderr}')
    os.makedirs(f'{w.home}/.codex')
    os.makedirs(f'{w.home}/.codex/sessions')
    for mode, words in ((0o500, b'cannot'),):
        os.chmod(f'{w.home}/.codex/sessions', mode)
        run = w.program.run('continue', sid, '--in', 'codex', '--apply')
        os.chmod(f'{w.home}/.codex/sessions', 0o700)
        if os.geteuid():
            w.program.need(run.returncode and words in run.stderr, f'{run}')
            w.program.same('no copy is left', os.listdir(f'{w.top}/DATA/reprise/forks'), [])


def check_database(w):
    """What a running OpenCode sees, and databases that are not written to."""
    fresh(w)
    sid = claude_session(w)
    other = database(w)  # OpenCode, in the middle of reading
    other.execute('BEGIN')
    old = other.execute('SELECT count(*) FROM session').fetchone()
    made = continued(w, sid, 'opencode', '--apply')
    w.program.same('a reader keeps its view', other.execute('SELECT count(*) FROM session').fetchone(), old)
    other.commit()
    w.program.same('and then has the new session', other.execute('SELECT project_id, path, parent_id FROM session WHERE id = ?', (made['sessionId'],)).fetchall(),
                   [('global', w.project[1:], None)])
    w.program.same('whole', (other.execute('PRAGMA integrity_check').fetchall(), other.execute('PRAGMA foreign_key_check').fetchall()), ([('ok',)], []))
    other.execute('BEGIN IMMEDIATE')
    before = image(w)
    for args in (('continue', sid, '--in', 'opencode', '--apply'), ('undo', made['change'])):
        run = w.program.run(*args)
        w.program.need(run.returncode not in (0, 1) and run.stderr.count(b'\n') == 1 and b'another program is writing to it' in run.stderr, f'{args}: {run}')
    w.program.need(w.program.run('continue', sid, '--in', 'opencode').returncode == 0, 'a busy database can be asked')
    other.rollback()
    w.program.same('nothing was changed', image(w), before)
    w.program.run('undo', made['change'])
    # The project of a directory, which may be below its work tree; a repository in there is another one.
    for folder, worktree, inner, want in (('', w.project, None, ('p1', '')), ('a/b', w.project, None, ('p1', 'a/b')), ('a/b', w.project, 'a/b', ('global', f'{w.project[1:]}/a/b')),
                                          ('a/b', w.project, 'a', ('global', f'{w.project[1:]}/a')),
                                          ('', w.project + 'x', None, ('global', w.project[1:]))):
        os.makedirs(f'{w.project}/a/b', exist_ok=True)
        shutil.rmtree(f'{w.project}/a/b/.git', ignore_errors=True)
        if inner:
            os.makedirs(f'{w.project}/{inner}/.git')
        other.execute("INSERT OR REPLACE INTO project (id, worktree, time_created, time_updated, sandboxes) VALUES ('p1', ?, 1, 1, '[]')", (worktree,))
        other.commit()
        project, w.project = w.project, f'{w.project}/{folder}'.rstrip('/')
        sid = claude_session(w)
        w.project = project
        there = f'{w.project}/{folder}'.rstrip('/') if want[0] != 'global' else '/' + want[1]
        told = f"in the repository's directory, because OpenCode knows no other: {there}\n" in w.program.text('continue', sid, '--in', 'opencode')
        w.program.same(f'{folder} with {inner}: it is told', told, there != f'{w.project}/{folder}'.rstrip('/'))
        made = continued(w, sid, 'opencode', '--apply')
        w.program.same(f'{folder} with {inner}: directory', (made['cwd'], *other.execute('SELECT directory FROM session WHERE id = ?', (made['sessionId'],)).fetchone()), (there, there))
        w.program.same(f'{folder} in {worktree}', other.execute('SELECT project_id, path FROM session WHERE id = ?', (made['sessionId'],)).fetchone(), want)
        w.program.need(w.program.run('undo', made['change']).returncode == 0, 'undone')
        os.remove(next(k for k in snapshot(w.home) if k.endswith(f'{sid}.jsonl')))
    shutil.rmtree(f'{w.project}/a')
    sid = claude_session(w)
    # The model of the last prompt in the directory.
    model = {'providerID': 'p', 'modelID': 'm', 'variant': 'v'}
    other.execute("UPDATE message SET data = json_set(data, '$.model', json(?), '$.agent', 'plan') WHERE data LIKE '%\"role\":\"user\"%'", (json.dumps(model),))
    other.commit()
    made = continued(w, sid, 'opencode', '--apply')
    rows_of = lambda: [json.loads(x) for (x,) in other.execute('SELECT data FROM message WHERE session_id = ? ORDER BY time_created, id', (made['sessionId'],))]
    w.program.same('it goes on with', [(m['model'], m['agent']) for m in rows_of() if m['role'] == 'user'], [(model, 'plan')] * 2)
    ids = [x for (x,) in other.execute("SELECT id FROM message WHERE session_id = ? ORDER BY rowid", (made['sessionId'],))]
    w.program.same('ids ascend', ids, sorted(ids))
    w.program.run('undo', made['change'])
    # A long conversation does not stay in memory.
    long = [{'parentUuid': f'{k - 1}' if k else None, 'isSidechain': False, 'type': kind, 'uuid': f'{k}', 'sessionId': sid, 'cwd': w.project, 'timestamp': '2026-03-01T10:00:00.000Z',
             'message': {'role': kind, 'content': text}} for k, (kind, text) in enumerate([('user', f'say {k}'), ('assistant', [{'type': 'text', 'text': f'{k} ' + 'x' * (3_000_000 if k == 7 else 100)}])][j] for k in range(400) for j in range(2))]
    save(f'{w.home}/.claude/projects/{flat(w.project)}/{sid}.jsonl', long)
    before = image(w)
    made = continued(w, sid, 'opencode', '--apply')
    w.program.same('all of it, in order', events(plain(w, f'opencode:{made["sessionId"]}'), w.project), events(plain(w, f'claude:{sid}'), w.project))
    w.program.same('undone', (w.program.run('undo', made['change']).returncode, image(w)), (0, before))
    made = continued(w, sid, 'opencode', '--apply')
    for table, column in ('part', 'session_id'), ('message', 'session_id'), ('session', 'id'):
        other.execute(f'DELETE FROM {table} WHERE {column} = ?', (made['sessionId'],))
    other.commit()
    run = w.program.run('undo', made['change'])
    w.program.need(run.returncode == 3 and b'no longer there' in run.stderr, f'OpenCode deleted it: {run}')
    w.program.same('nothing came back', image(w), before)
    for statement, back, words in (("CREATE TRIGGER t AFTER INSERT ON part BEGIN DELETE FROM part; END", 'DROP TRIGGER t', 'it has triggers'),
                                   ("UPDATE project SET id = 'gone' WHERE id = 'global'", "UPDATE project SET id = 'global' WHERE id = 'gone'", 'OpenCode does not know this directory'),
                                   ('ALTER TABLE part RENAME TO parts', 'ALTER TABLE parts RENAME TO part', 'no such table'),
                                   ('PRAGMA journal_mode = DELETE', 'PRAGMA journal_mode = WAL', 'no write-ahead log')):
        other.execute(statement)
        other.commit()
        before = image(w)
        run = w.program.run('continue', sid, '--in', 'opencode', '--apply')
        w.program.need(run.returncode not in (0, 1) and run.stderr.count(b'\n') == 1 and words in run.stderr.decode(), f'{statement}: {run}')
        w.program.same(f'{statement}: nothing changed', image(w), before)
        other.execute(back)
        other.commit()
    other.close()
    os.chmod(w.database, 0o400)
    run = w.program.run('continue', sid, '--in', 'opencode', '--apply')
    w.program.need(not os.geteuid() or run.returncode and b'Permission denied' in run.stderr, f'{run}')
    os.chmod(w.database, 0o600)


def check_kilo(w):
    """Kilo has OpenCode's tables, in a database of its own, and calls the agent that a conversation begins with "code"."""
    fresh(w)
    sid, opencode = claude_session(w), rows(w.database)
    path = w.program.env['KILO_DB'] = f'{w.top}/kilo/kilo.db'
    os.makedirs(os.path.dirname(path))
    make_database(path)
    before = rows(path)
    made = continued(w, sid, 'kilo', '--apply')
    want, got = (events(plain(w, which), w.project) for which in (f'claude:{sid}', f'kilo:{made["sessionId"]}'))
    w.program.same('the conversation in kilo', got, want)
    w.program.same('its database', made['path'], f'{path}/{made["sessionId"]}')
    w.program.need(made['sessionId'] in [r['sessionId'] for r in w.program.json('list', '--all', '--system', 'kilo')], 'kilo lists it')
    with sqlite3.connect(path) as db:
        said = [json.loads(data)['agent'] for data, in db.execute('SELECT data FROM message WHERE session_id = ?', (made['sessionId'],))]
    db.close()
    w.program.need(len(said) > 3 and set(said[1:]) <= {'code', said[0]}, f'its agent: {said}')
    w.program.same("OpenCode's database stays", rows(w.database), opencode)
    w.program.same('undo', w.program.run('undo', made['change']).returncode, 0)
    w.program.same('undone', rows(path), before)


def main():
    program = sys.argv[1]
    w = world(program)
    check_rich(w)
    check_sources(w)
    check_counted_once(w)
    check_refused(w)
    check_database(w)
    check_kilo(w)
    w.program.finish(427)


if __name__ == '__main__':
    main()
