#!/usr/bin/env python3
"""Sessions of OpenCode in databases that are made here, and in one that OpenCode itself wrote before it lost a file.

usage: opencode_store.py PROGRAM
"""
import json
import os
import shutil
import sqlite3
import subprocess
import sys
import tarfile
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, '..', '..', '..'), os.path.join(HERE, '..', 'recorded')]

from recorded_store import FIXTURES, Paths, manifest, new_root, rewrite_file

from support.program import Program, snapshot

SCHEMA = """
CREATE TABLE project (id text PRIMARY KEY, worktree text NOT NULL, sandboxes text NOT NULL);
CREATE TABLE session (id text PRIMARY KEY, project_id text NOT NULL, parent_id text, directory text NOT NULL,
    title text NOT NULL, version text NOT NULL, revert text, model text, time_created integer NOT NULL,
    time_updated integer NOT NULL, time_archived integer);
CREATE TABLE message (id text PRIMARY KEY, session_id text NOT NULL, time_created integer NOT NULL,
    time_updated integer NOT NULL, data text NOT NULL);
CREATE INDEX message_session_time_created_id_idx ON message (session_id, time_created, id);
CREATE TABLE part (id text PRIMARY KEY, message_id text NOT NULL, session_id text NOT NULL,
    time_created integer NOT NULL, time_updated integer NOT NULL, data text NOT NULL);
CREATE INDEX part_message_id_id_idx ON part (message_id, id);
"""
T = 1_790_000_000_000


def compact(value):
    """As JavaScript writes it."""
    return json.dumps(value, separators=(',', ':'), ensure_ascii=False)


class World:
    def __init__(self, program):
        self.top = tempfile.mkdtemp(prefix='opencode-')
        self.home = f'{self.top}/home'
        self.data = f'{self.home}/.local/share/opencode'
        self.project = f'{self.home}/app'
        os.makedirs(self.data)
        os.makedirs(self.project)
        self.p = Program(program, self.home, {'XDG_STATE_HOME': f'{self.top}/state'})
        self.n = 0
        self.db = self.open('opencode.db')

    def open(self, name):
        db = sqlite3.connect(f'{self.data}/{name}')
        db.executescript('PRAGMA journal_mode=WAL; PRAGMA wal_autocheckpoint=0;' + SCHEMA)
        db.execute("INSERT INTO project VALUES ('p1', ?, '[]')", (self.project,))
        db.commit()
        return db

    def session(self, id, title='A title', db=None, directory=None, **more):
        row = {'id': id, 'project_id': 'p1', 'directory': directory or self.project, 'title': title, 'version': '1',
               'time_created': T, 'time_updated': T + self.n, **more}
        self.insert(db or self.db, 'session', row)

    def insert(self, db, table, row):
        db.execute(f'INSERT INTO {table} ({",".join(row)}) VALUES ({",".join("?" * len(row))})', tuple(row.values()))
        db.commit()

    def message(self, session, role, *parts, db=None, **data):
        self.n += 1
        id = f'msg_{self.n:04}'
        body = compact({'role': role, 'time': {'created': T + self.n, 'completed': T + self.n}, **data})
        self.insert(db or self.db, 'message', {'id': id, 'session_id': session, 'time_created': T + self.n,
                                               'time_updated': T, 'data': body})
        for k, part in enumerate(parts):
            part = part if isinstance(part, str) else compact(part)
            self.insert(db or self.db, 'part', {'id': f'prt_{self.n:04}{k}', 'message_id': id, 'session_id': session,
                                                'time_created': T, 'time_updated': T, 'data': part})
        return id

    def close(self):
        self.db.close()
        shutil.rmtree(self.top)


def text(words, **more):
    return {'type': 'text', 'text': words, **more}


def check_list(w):
    w.session('ses_one', 'First', time_updated=T + 50)
    w.message('ses_one', 'user', text('Question'), text('<file>', synthetic=True), text('in two parts'), text('no', ignored=True))
    w.message('ses_one', 'assistant', text('Answer'))
    w.session('ses_child', 'Look (@explore subagent)', parent_id='ses_one', time_updated=T + 90)
    w.message('ses_child', 'user', text('Task'))
    w.message('ses_child', 'assistant', text('Report'))
    w.session('ses_two', 'First (fork #1)', time_updated=T + 70, time_archived=T)
    w.session('ses_three', 'New session', directory='/elsewhere', time_updated=T + 60)
    before = snapshot(w.data)
    rows = w.p.json('list', '--all')
    w.p.same('sessions', [r['sessionId'] for r in rows], ['ses_two', 'ses_three', 'ses_one'])
    forks = [line for line in w.p.text('list', '--all').split('\n') if 'fork' in line.rsplit('  ', 1)[-1]]
    w.p.need(len(forks) == 1 and 'First (fork #1)' in forks[0], f'forks: {forks}')
    w.p.same('here', [r['sessionId'] for r in w.p.json('list', '-C', w.project)], ['ses_two', 'ses_one'])
    w.p.same('prompt', rows[2]['firstPrompt'], 'Question\nin two parts')
    w.p.same('last prompt', rows[2]['lastPrompt'], 'Question\nin two parts')
    w.p.same('prompt of the point', [c['prompt'] for c in w.p.json('checkpoints', '--all', 'ses_one')], ['Question\nin two parts'])
    w.p.same('sub-agents', w.p.json('subagents', '--all', 'ses_one'), ['ses_child'])
    w.p.need('Report' in w.p.text('subagents', '--all', 'ses_one'), 'its outcome')
    said = w.p.json('messages', '--all', 'ses_one', '--agent', 'ses_child')
    w.p.same('its messages', [m['type'] for m in said], ['user', 'assistant'])
    w.p.need(snapshot(w.data) == before, 'reading changed the directory')
    for command in 'rename', 'archive', 'delete', 'fork':
        args = ['ses_one', 'x'] if command == 'rename' else ['ses_one']
        run = w.p.run(command, '--all', *args)
        w.p.need(run.returncode != 0 and b'opencode' in run.stderr.lower(), f'{command}: {run.stderr!r}')
    w.p.need(snapshot(w.data) == before, 'a refused change changed the directory')


def check_other_databases(w):
    other = w.open('opencode-dev.db')
    w.session('ses_dev', 'Of another channel', db=other, time_updated=T + 95)
    w.p.same('both channels', [r['sessionId'] for r in w.p.json('list', '--all')][0], 'ses_dev')
    other.close()
    for name, data in {'text': b'no database, but a text that is long enough to be one ' * 9, 'nothing': b'',
                       'half': open(f'{w.data}/opencode.db', 'rb').read()[:3000]}.items():
        with open(f'{w.data}/opencode-dev.db', 'wb') as f:
            f.write(data)
        run = w.p.run('list', '--all')
        w.p.need(run.returncode == 0 and b'First' in run.stdout, f'{name}: the others are listed: {run.stdout!r}')
        w.p.need(b'opencode-dev.db' in run.stderr, f'{name}: the damaged one is named: {run.stderr!r}')
    os.unlink(f'{w.data}/opencode-dev.db')
    for old in f'{w.data}/opencode-dev.db-wal', f'{w.data}/opencode-dev.db-shm':
        if os.path.exists(old):
            os.unlink(old)


def check_busy(w):
    """A program is in the middle of a transaction, and finished ones are still in its log."""
    w.db.execute('BEGIN IMMEDIATE')
    w.db.execute("UPDATE session SET title = 'half done'")
    w.p.need('half done' not in json.dumps(w.p.json('list', '--all')), 'an open transaction was read')
    w.db.execute('ROLLBACK')
    os.chmod(w.data, 0o555)
    before = snapshot(w.data)
    w.p.need(w.p.json('list', '--all'), 'a directory that cannot be written')
    w.p.need(snapshot(w.data) == before, 'the directory changed')
    os.chmod(w.data, 0o755)


def check_hostile(w):
    bad = 'a\x1b]52;c;UEFZ\x07\x9b2J\u202e'
    w.session('ses_bad', bad, model='not JSON', revert='{"messageID":7')
    w.message('ses_bad', 'user', text(bad), 'no JSON at all', '[]', '{"type":"text"}', '{"type":"new kind","x":1}')
    w.message('ses_bad', 'assistant', {'type': 'tool', 'tool': bad, 'state': 7}, {'type': 'tool'},
              {'type': 'step-start', 'snapshot': '../../x'}, {'type': 'patch', 'files': ['../../etc/passwd', 7]})
    w.insert(w.db, 'message', {'id': 'msg_zz', 'session_id': 'ses_bad', 'time_created': T, 'time_updated': 0, 'data': '{"role":'})
    w.session('../../etc', 'climbs')
    w.session('', 'no id')
    for command in ('list', '--all'), ('info', '--all', 'ses_bad'), ('messages', '--all', 'ses_bad'), \
            ('messages', '--all', '--json', 'ses_bad'), ('checkpoints', '--all', 'ses_bad'), ('doctor', '--all'):
        run = w.p.run(*command)
        raw = {b for b in run.stdout + run.stderr if b < 32 and b != 10}
        w.p.need(0 <= run.returncode < 64 and not raw, f'{command}: {run.returncode}, raw {sorted(raw)}')
    rows = {r['sessionId'] for r in w.p.json('list', '--all')}
    w.p.need('ses_bad' in rows and not {'../../etc', ''} & rows, f'ids {rows}')
    w.p.json('messages', '--all', 'ses_bad')


def check_usage(w):
    w.session('ses_u', 'Tokens', time_created=T)
    tokens = {'input': 100, 'output': 5, 'reasoning': 3, 'cache': {'read': 20, 'write': 7}}
    w.message('ses_u', 'user', text('Count'))
    w.message('ses_u', 'assistant', text('One'), tokens=tokens, cost=0.25, modelID='m')
    w.message('ses_u', 'assistant', text('Two'), tokens={**tokens, 'total': 132}, cost=0.25, modelID='m')
    w.session('ses_u_child', 'Sub', parent_id='ses_u')
    w.message('ses_u_child', 'assistant', text('Three'), tokens={'input': 1000}, modelID='m')
    run = w.p.run('usage', '--all', '--json', 'ses_u')
    w.p.need(run.returncode == 0, f'usage: {run.stderr!r}')
    said = run.stdout.decode()
    w.p.need('1200' in said and '0.5' in said and '13' in said, f'usage: {said}')


def check_place(w):
    """A relative $OPENCODE_DB is below the data directory, whatever the present directory is."""
    os.mkdir(f'{w.data}/other')
    other = w.open('other/work.db')
    w.session('ses_place', 'Elsewhere', db=other)
    p = Program(w.p.path, w.home, {**w.p.env, 'OPENCODE_DB': 'other/work.db'})
    w.p.same('only this database', [r['sessionId'] for r in p.json('list', '--all')], ['ses_place'])
    other.close()


def write(path, value):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, 'w', encoding='utf-8') as f:
        f.write(value if isinstance(value, str) else json.dumps(value, indent=2))


def check_files(program):
    """Sessions of old versions, in files, some of which are damaged; with a database they are not read."""
    w = World(program)
    try:
        w.db.close()
        for name in os.listdir(w.data):
            os.unlink(f'{w.data}/{name}')
        at = f'{w.data}/storage'
        for i, (id, more) in enumerate({'ses_a': {'revert': {'messageID': 'msg_2'}}, 'ses_b': {'parentID': 'ses_a'}, 'ses_e': {}}.items()):
            write(f'{at}/session/p1/{id}.json', {'id': id, 'projectID': 'p1', 'directory': w.project, 'title': f'Title {id}',
                                                 'time': {'created': T, 'updated': T + i}, **more})
        write(f'{at}/session/p1/ses_bad.json', '{"id":')
        write(f'{at}/session/p1/..bad.json', '{}')
        write(f'{at}/session/stray.json', '{}')
        for n, (role, parts) in enumerate([('user', [text('First')]), ('assistant', [text('Answer'), '{"type":']), ('user', [text('Taken back')])]):
            write(f'{at}/message/ses_a/msg_{n}.json', {'id': f'msg_{n}', 'role': role, 'time': {'created': T + n}})
            for k, part in enumerate(parts):
                write(f'{at}/part/msg_{n}/prt_{k}.json', part)
        write(f'{at}/message/ses_a/msg_9.json', 'no JSON')
        before = snapshot(w.data)
        rows = w.p.json('list', '--all')
        w.p.same('in files', [(r['sessionId'], r.get('firstPrompt'), r.get('lastPrompt')) for r in rows],
                 [('ses_e', None, None), ('ses_a', 'First', 'First'), ('ses_bad', None, None)])
        w.p.need('Answer' in w.p.text('messages', '--all', 'ses_a'), 'its conversation')
        w.p.need(w.p.run('messages', '--all', 'ses_bad').returncode == 0, 'a damaged session')
        w.p.need(snapshot(w.data) == before, 'reading changed the directory')
        db = w.open('opencode.db')
        w.p.same('with a database', w.p.json('list', '--all'), [])
        db.close()
        return w.p
    finally:
        w.close()


def git(folder, *args):
    return subprocess.run(['git', '-C', folder, '-c', 'user.name=x', '-c', 'user.email=x@x', *args], check=True,
                          capture_output=True, text=True).stdout.strip()


class Snapshots:
    """The trees of a project, as OpenCode writes them."""

    def __init__(self, w, project='p1'):
        self.w = w
        self.dir = f'{w.data}/snapshot/{project}/0123'
        os.makedirs(self.dir)
        git(w.project, 'init', '-q')
        subprocess.run(['git', f'--git-dir={self.dir}', f'--work-tree={w.project}', 'init', '-q'], check=True)

    def tree(self):
        base = ['git', f'--git-dir={self.dir}', f'--work-tree={self.w.project}', '-c', 'core.autocrlf=false']
        subprocess.run([*base, 'add', '-A', '.'], check=True, cwd=self.w.project, capture_output=True)
        return subprocess.run([*base, 'write-tree'], check=True, capture_output=True, text=True).stdout.strip()


def put(w, name, body):
    os.makedirs(os.path.dirname(f'{w.project}/{name}'), exist_ok=True)
    with open(f'{w.project}/{name}', 'wb') as f:
        f.write(body)


def turn(w, s, session, words, *steps):
    """Each step is a function that changes the project, and the files that OpenCode notes for it."""
    prompt = w.message(session, 'user', text(words))
    for change, files in steps:
        before = s.tree()
        change()
        w.message(session, 'assistant', {'type': 'step-start', 'snapshot': before}, {'type': 'tool', 'tool': 'bash', 'state': {}},
                  {'type': 'step-finish', 'snapshot': s.tree()},
                  {'type': 'patch', 'hash': before, 'files': [f'{w.project}/{f}' for f in files]},
                  path={'cwd': w.project, 'root': w.project})
    return prompt


def rewind(w, session, prompt, *more):
    run = w.p.run('rewind', '--json', '--all', session, '--to', prompt, *more)
    return json.loads(run.stdout) if run.stdout.strip() else {'error': run.stderr.decode()}


def actions(w, answer):
    return {os.path.relpath(f['path'], w.project): f['action'] for f in answer.get('files', [])}


def check_rewind(w):
    s = Snapshots(w)
    w.session('ses_w', 'Work')
    put(w, 'a.txt', b'one\n')
    put(w, 'long.txt', b'long\n')
    put(w, 'run.sh', b'#!/bin/sh\n')
    put(w, 'mine.txt', b'mine\n')
    start = manifest(w.project)

    def first():
        put(w, 'a.txt', b'two\n')
        os.rename(f'{w.project}/long.txt', f'{w.project}/short.txt')
        os.chmod(f'{w.project}/run.sh', 0o755)
        put(w, 'new/deep.txt', b'new\n')

    def second():
        put(w, 'a.txt', b'three\n')
        put(w, 'person.txt', b'agent\n')

    one = turn(w, s, 'ses_w', 'First', (first, ['a.txt', 'short.txt', 'new/deep.txt']))
    middle = manifest(w.project)
    put(w, 'mine.txt', b'mine, edited between the turns\n')
    put(w, 'person.txt', b'a person made this\n')
    two = turn(w, s, 'ses_w', 'Second', (second, ['a.txt', 'person.txt']))
    end = manifest(w.project)

    dry = rewind(w, 'ses_w', one, '--dry-run')
    want = {'a.txt': 'restore', 'long.txt': 'create', 'short.txt': 'delete', 'run.sh': 'restore', 'new/deep.txt': 'delete',
            'person.txt': 'refused'}
    w.p.same('the files of the first point', actions(w, dry), want)
    w.p.need(manifest(w.project) == end, 'a dry run changed the project')
    done = rewind(w, 'ses_w', one, '--apply', '--skip-refused', '--plan', dry['plan'])
    now = manifest(w.project)
    w.p.same('after it', now, {**start, 'mine.txt': end['mine.txt'], 'person.txt': end['person.txt']})
    w.p.need(w.p.run('undo', done['undo']).returncode == 0 and manifest(w.project) == end, 'undo')

    put(w, 'a.txt', b'edited by hand\n')
    w.p.same('a hand edit', actions(w, rewind(w, 'ses_w', two, '--dry-run')), {'a.txt': 'refused', 'person.txt': 'restore'})
    put(w, 'a.txt', b'three\n')

    w.session('ses_o', 'Other work')
    turn(w, s, 'ses_o', 'Elsewhere', (lambda: put(w, 'a.txt', b'four\n'), ['a.txt']))
    files = {os.path.relpath(f['path'], w.project): f for f in rewind(w, 'ses_w', two, '--dry-run')['files']}
    w.p.need('Other work' in json.dumps(files['a.txt']), f'the other session is named: {files["a.txt"]}')
    put(w, 'a.txt', b'three\n')

    w.session('ses_q', 'Quotes')
    quoted = turn(w, s, 'ses_q', 'Names', (lambda: put(w, 'it "is".txt', b'x'), ['"it /"is/".txt"']))  # what OpenCode makes of git's quoting
    w.p.same('a name that git quotes', actions(w, rewind(w, 'ses_q', quoted, '--dry-run')), {'it "is".txt': 'delete'})
    os.unlink(f'{w.project}/it "is".txt')

    put(w, '.gitattributes', b'*.txt text eol=crlf\n')
    w.p.same('files that git converts', actions(w, rewind(w, 'ses_w', two, '--dry-run')), {'a.txt': 'refused', 'person.txt': 'refused'})
    os.unlink(f'{w.project}/.gitattributes')

    os.rename(s.dir, f'{w.top}/away')
    pruned = rewind(w, 'ses_w', two, '--dry-run')
    w.p.need(all(f['action'] == 'refused' and 'pruned' in f['why'] for f in pruned['files']), f'pruned: {pruned}')
    os.mkdir(s.dir)
    for name, body in ('HEAD', 'ref: refs/heads/main\n'), ('objects/info/alternates', f'{w.top}/gone/objects\n'), ('refs/heads/none', ''):
        os.makedirs(os.path.dirname(f'{s.dir}/{name}'), exist_ok=True)
        with open(f'{s.dir}/{name}', 'w', encoding='utf-8') as f:
            f.write(body)
    lost = rewind(w, 'ses_w', two, '--dry-run')
    w.p.need(all(f['action'] == 'refused' and 'own git repository, which is gone' in f['why'] for f in lost['files']), f'lost: {lost}')
    shutil.rmtree(s.dir)
    os.rename(f'{w.top}/away', s.dir)
    w.p.need(middle != end, 'the second turn did something')


def call(tool, status='completed', metadata=None, **given):
    return {'type': 'tool', 'tool': tool, 'state': {'status': status, 'input': given, 'metadata': metadata or {}}}


def bash(command):
    return call('bash', command=command)


def check_not_new(w):
    """A file that is in no earlier tree may have existed: git ignored it, it was too large, or OpenCode did not see it."""
    s = Snapshots(w, 'p2')
    data, rules, lists = f'{w.project}/archive/data.txt', f'{w.project}/.gitignore', f'{s.dir}/info/exclude'
    personal = f'{w.home}/.config/git/ignore'

    def rule(path, body, old=True):
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, 'w', encoding='utf-8') as f:
            f.write(body)
        if old:
            os.utime(path, (1, 1))

    def remake(body=b'new\n', when=None):
        put(w, 'archive/data.txt', body)
        if when:
            os.utime(data, (when, when))

    def refused(name, why, calls, before=lambda: None, step=lambda: None):
        check(name, 'refused', calls, before, step, why)

    def check(name, action, calls, before=lambda: None, step=lambda: None, why='', cut=False):
        id = f'ses_new{w.n}'
        for old in rules, lists, personal, data, f'{w.project}/archive/.gitignore':
            if os.path.lexists(old):
                os.unlink(old)
        w.session(id, name, project_id='p2')
        s.tree()
        before()
        begin = time.time_ns() // 1_000_000
        asked = w.message(id, 'user', text(name), time={'created': begin})
        first = s.tree()
        step()
        parts = [{'type': 'step-start', 'snapshot': first}, *calls]
        if not cut:
            parts.append({'type': 'step-finish', 'snapshot': s.tree()})
        w.message(id, 'assistant', *parts, path={'cwd': w.project, 'root': w.project},
                  time={'created': begin, 'completed': time.time_ns() // 1_000_000})
        answer = rewind(w, id, asked, '--dry-run')
        files = {os.path.relpath(f['path'], w.project): f for f in answer.get('files', [])}
        got = files.get('archive/data.txt', {'action': None})
        w.p.need(got['action'] == action and why in got.get('why', ''), f'{name}: {answer}')

    make = [bash('echo new > archive/data.txt')]
    build = [bash('npm run build')]
    wrote = [call('write', metadata={'exists': False}, filePath=data, content='new\n')]
    check('a command made it', 'delete', make, step=remake)
    check('a build made it', 'delete', build, step=remake)
    check('an old file', 'refused', build, why='older', step=lambda: os.unlink(lists),
          before=lambda: (rule(lists, '/archive/data.txt\n'), remake(when=1_600_000_000), time.sleep(.03)))
    for where, body in (lists, '/archive/data.txt\n'), (f'{w.project}/archive/.gitignore', '*\n'):
        for calls in build, [bash('npm run build && mv /tmp/a other.txt')]:
            check(f'a file of the last moment before, and {os.path.basename(where)} is gone', 'refused', calls, why='older', step=lambda: os.unlink(where),
                  before=lambda: (rule(where, body), remake(), time.sleep(.03)))
    check('a command moved it there', 'delete', [bash('mv /tmp/x archive/data.txt')], step=lambda: remake(when=1_600_000_000))
    check('a tool made it', 'delete', wrote, step=remake)
    check('a tool made it where git ignores it', 'delete', wrote, before=lambda: rule(rules, 'archive/\n'), step=remake)
    check('a tool made it and was interrupted', 'delete', wrote, step=remake, cut=True)
    check('interrupted', 'refused', [call('edit', filePath=data)], step=remake, cut=True, why='cut off')
    check('edited since', 'refused', wrote, before=lambda: rule(rules, 'archive/\n'), step=lambda: remake(b'mine\n'), why='not by this session')
    check('included again', 'delete', make, before=lambda: rule(rules, 'archive/*\n!archive/data.txt\n'), step=remake)
    nothing = 'no call of the session made it'
    refused('it only read', nothing, [call('read', filePath=f'{w.project}/a')], step=remake)
    refused('another file', nothing, [bash('echo new > other.txt'), call('edit', filePath=f'{w.project}/b')], step=remake)
    refused('a tool found it', 'found it there', [call('write', metadata={'exists': True}, filePath=data, content='new\n')], step=remake)
    ignored = 'git ignored it'

    def include(path):
        return lambda: (remake(), os.unlink(path))

    for where, body in ((rules, 'archive/\n'), (rules, '*.txt\n'), (rules, '/archive/**\n'), (rules, '**/data.*\n'), (rules, 'arch[a-j]ve\r\n'),
                        (f'{w.project}/archive/.gitignore', '/data.txt\n'),
                        (rules, 'archive/\n!archive/data.txt\n')):
        refused(f'{os.path.relpath(where, w.project)} {body!r}', ignored, build, before=lambda: rule(where, body), step=include(where))
    for where in lists, personal, f'{w.project}/archive/.gitignore':  # which are in no tree
        refused(f'present {os.path.basename(where)}', ignored, build, before=lambda: rule(where, '/archive\n' if where in (lists, personal) else '*\n'),
                step=lambda: (remake(), subprocess.run(['git', f'--git-dir={s.dir}', f'--work-tree={w.project}', 'add', '-f', 'archive/data.txt'], check=True)))
    refused('a changed list', 'what git ignores was changed', build, before=lambda: rule(personal, 'archive\n'), step=lambda: (remake(), rule(personal, '\n', False)))
    for command in ('truncate -s 1000 archive/data.txt', ': > archive/data.txt', '> archive/data.txt', 'cd archive; head -n 9 data.txt > x && mv x data.txt',
                    "sed -i '9,$d' archive/data.txt", 'find archive -size +2M -exec truncate -s 1k {} +',
                    'sudo truncate -s 0 2>/dev/null archive/data.txt', 'cp /dev/null archive/data.txt'):
        refused(f'large {command}', 'shortened', [bash(command)], before=lambda: (rule(lists, '/archive/data.txt\n'), remake(b'long\n'), time.sleep(.03)),
                step=lambda: (remake(), os.unlink(lists)))


def check_after_cut(w):
    """A step that was cut off has no tree at its end: the one at the start of the next step has what it did, and what was done
    between the two."""
    s = Snapshots(w, 'p3')
    data, other = f'{w.project}/data.txt', f'{w.project}/other.txt'
    cut_off = 'a step that was cut off, or something after it'
    make, mend = [bash('./make data.txt')], [call('edit', filePath=data)]
    wrote = [call('write', metadata={'exists': False}, filePath=data, content='new\n')]

    def check(name, first, second, want, why='', done=(b'new\n', b'mended\n'), cuts=1):
        for path in data, other:
            if os.path.lexists(path):
                os.unlink(path)
        put(w, 'kept.txt', b'kept\n')
        id = f'ses_cut{w.n}'
        w.session(id, name, project_id='p3')
        asked = w.message(id, 'user', text(name), time={'created': time.time_ns() // 1_000_000})
        for n, (calls, body) in enumerate([(first, done[0])] * cuts + [(second, done[1])]):
            begin, parts = time.time_ns() // 1_000_000, [{'type': 'step-start', 'snapshot': s.tree()}, *calls]
            if body:
                put(w, 'data.txt', body)
            elif os.path.exists(data):
                os.unlink(data)
            if n == cuts:
                parts.append({'type': 'step-finish', 'snapshot': s.tree()})
            w.message(id, 'assistant', *parts, path={'cwd': w.project, 'root': w.project},
                      time={'created': begin, 'completed': time.time_ns() // 1_000_000})
        answer = rewind(w, id, asked, '--dry-run')
        got = {os.path.relpath(f['path'], w.project): f for f in answer.get('files', [])}.get('data.txt', {'action': None})
        w.p.need(got['action'] == want and why in got.get('why', ''), f'{name}: {answer}')
        w.p.need(any('cut off' in n for n in answer.get('notes', ())), f'{name}: {answer}')

    check('a command made it, a tool changed it', make, mend, 'refused', cut_off)
    check('a command made it, a command changed it', make, [bash('sed -i s/new/mended/ data.txt')], 'refused', cut_off)
    check('made by the first of two', make, mend, 'refused', cut_off, cuts=2)
    check('a tool made it, a tool changed it', wrote, mend, 'delete')
    check('a command made it, nothing changed it', make, [bash('ls')], None, done=(b'new\n', b'new\n'))
    check('a command made it, another removed it', make, [bash('rm data.txt')], None, done=(b'new\n', None))
    check('only the next step made it', [bash('ls')], make, 'delete', done=(None, b'new\n'))


def check_without_git(w):
    """Without a repository, the recorded root is / and there are no snapshots."""
    w.session('ses_n', 'No repository', directory='/elsewhere')
    asked = w.message('ses_n', 'user', text('Change it'))
    call = {'type': 'tool', 'tool': 'edit', 'callID': 'c', 'state': {'status': 'completed', 'input': {'filePath': '/elsewhere/a.txt'}}}
    patch = {'type': 'tool', 'tool': 'apply_patch', 'callID': 'd', 'state': {'status': 'completed', 'input': {}, 'metadata': {
        'files': [{'filePath': '/elsewhere/b.txt', 'type': 'move', 'movePath': '/elsewhere/c.txt'}]}}}
    w.message('ses_n', 'assistant', {'type': 'step-start'}, call, patch, {'type': 'step-finish'}, path={'root': '/', 'cwd': '/elsewhere'})
    files = rewind(w, 'ses_n', asked, '--dry-run')['files']
    w.p.same('the files of calls', [f['path'] for f in files], [f'/elsewhere/{name}.txt' for name in 'abc'])
    w.p.need(all('only in git repositories' in f['why'] for f in files), f'their reason: {files}')


def check_renamed(program):
    """OpenCode's revert removed short.txt and did not bring long.txt back."""
    root, own = new_root(), tempfile.mkdtemp(prefix='opencode-')
    try:
        folder = f'{FIXTURES}/opencode/rename-revert'
        with tarfile.open(f'{folder}/store.tar.gz') as tar:
            tar.extractall(root)
        with tarfile.open(f'{folder}/trees.tar.gz') as tar:
            tar.extractall(own)
        paths = Paths(root, set())
        for top, _, files in os.walk(root):
            for name in files:
                if '/objects/' not in top or name == 'alternates':
                    rewrite_file(f'{top}/{name}', paths)
        p = Program(program, root, {'XDG_STATE_HOME': f'{own}/state'})
        session = p.json('list', '--all')[0]['sessionId']
        point = p.json('checkpoints', '--all', session)[0]['id']
        p.need(not os.path.exists(f'{root}/verein/long.txt'), 'OpenCode lost the file')
        run = p.run('rewind', '--all', session, '--to', point, '--apply')
        p.need(run.returncode == 0, f'rewind: {run.stderr!r}')
        p.same('the project', manifest(f'{root}/verein'), manifest(f'{own}/trees/r/before'))
        return p
    finally:
        shutil.rmtree(root)
        shutil.rmtree(own)


def main():
    w = World(sys.argv[1])
    try:
        check_list(w)
        check_other_databases(w)
        check_busy(w)
        check_hostile(w)
        check_usage(w)
        check_place(w)
        check_rewind(w)
        check_not_new(w)
        check_after_cut(w)
        check_without_git(w)
    finally:
        w.close()
    for check in check_renamed, check_files:
        p = check(sys.argv[1])
        w.p.failed += p.failed
        w.p.passed += p.passed
    w.p.finish(92)


main()
