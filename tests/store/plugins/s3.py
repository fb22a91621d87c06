"""Sessions in S3, with a server of this test's that checks every signature.
   usage: s3.py REPRISE PLUGIN FIXTURES"""
import datetime
import glob
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import time

from support import certificate
from support.program import Program
from support.s3_server import KEY, REGION, SECRET, TOKEN, Refused, Server
from support.team_store import ONE, TWO, Team, large, make_local, put, read_rows, row_of

PROJECT = '-home-dev-ws-beta'
PART = re.compile(r'part-(\d{13})-[0-9a-f]{6}\.jsonl')


def row_ms(row):
    return round(datetime.datetime.fromisoformat(row['timestamp'].replace('Z', '+00:00')).timestamp() * 1000)


def conforms(p, server, team):
    for prefix in ('', 'team', 'pre fix/%C3%BC+%2B//', 'a/./b/../%2e%2e/.c'):
        server.objects.clear()
        team.keeps_rules(p, server.url(prefix))
        p.same(f'nothing is left {prefix}', server.keys(), [])
        p.same('type', server.types, {'application/x-ndjson'})
    for attribute, value in (('conditions', False), ('ignores', True)):
        setattr(server, attribute, value)
        team.keeps_rules(p, server.url(attribute))
        setattr(server, attribute, not value)


def up_and_down(p, server, team, fixtures):
    """Pushed, listed, read, removed here, retrieved: the same rows, under the keys of the reference."""
    server.objects.clear()
    team.configure(server.url('team'))
    home = p.home
    folder = make_local(home, fixtures)
    want = {path: read_rows(path) for path in glob.glob(f'{folder}/**/*.json*', recursive=True)}
    p.same('dry run', [r['rows'] > 0 for r in p.json('push', '--dry-run', 'team', ONE)], [True])
    p.same('nothing was written', server.keys(), [])
    first = p.json('push', 'team', ONE)[0]
    p.same('pushed', (first['new'], first['rows']), (True, sum(len(r) for r in want.values())))
    p.same('again', p.json('push', 'team', ONE)[0]['rows'], 0)
    session = f'team/{PROJECT}/{ONE}/'
    p.same('keys', [PART.sub('PART', key) for key in server.keys()],
           [f'{session}PART', f'{session}subagents/agent-a1/PART', f'{session}subagents/nested/agent-b2/PART'])
    times = [int(PART.search(key).group(1)) for key in server.keys()]
    began, ended = (row_ms([r for r in want[f'{folder}/{ONE}.jsonl'] if 'timestamp' in r][i]) for i in (0, -1))
    p.same('the time of the first row', times, [began] * 3)
    p.same('rows', [json.loads(line) for line in server.lines(session)], want[f'{folder}/{ONE}.jsonl'])
    p.need(all(body.endswith(b'\n') for body in server.objects.values()), 'a part ends in a newline')
    listed = p.json('list', '--all', '--store', 'team')
    p.same('listed', [(r['sessionId'], r['summary'], r['lastModified']) for r in listed], [(ONE, 'Mock generated title', ended)])
    there = p.json('messages', f'team:{ONE}')
    p.same('the same messages', there, p.json('messages', f'claude:{ONE}'))
    p.same('the newest ones', p.json('messages', f'team:{ONE}', '--tail', '2'), p.json('messages', f'claude:{ONE}', '--tail', '2'))
    p.same('sub-agents', sorted(p.json('subagents', f'team:{ONE}')), ['a1', 'b2'])
    p.same('messages of a sub-agent', p.json('messages', '--agent', 'a1', f'team:{ONE}'), p.json('messages', '--agent', 'a1', f'claude:{ONE}'))
    found = p.run('search', '--all', '--store', 'team', '.')
    p.need(ONE[:8].encode() in found.stdout, f'found by search: {found}')
    shutil.rmtree(folder)
    p.same('retrieved', {r['written'] for r in p.json('retrieve', f'team:{ONE}')}, {True})
    got = {path: read_rows(path) for path in glob.glob(f'{folder}/**/*.json*', recursive=True)}
    p.same('the same files with the same rows', got == want, True)
    p.same('unchanged', {r['state'] for r in p.json('retrieve', f'team:{ONE}')}, {'unchanged'})
    other = [f'team/{PROJECT}/{ONE}x/part-1795400000000-abcdef.jsonl', f'team/{PROJECT}/{TWO}/part-1795400000000-abcdef.jsonl']
    server.objects.update({key: b'{}\n' for key in other})
    p.run('delete', '--permanently', f'team:{ONE}')
    p.same('deleted with its sub-agents, and nothing else', server.keys(), other)
    shutil.rmtree(folder)


def mirrors(p, server, team):
    """More sessions than requests at a time, more keys than in a page, more parts than are read ahead."""
    server.objects.clear()
    server.page = 50
    team.configure(server.url('', '&profile='))
    ids = [f'{i:08d}-1111-4111-8111-111111111111' for i in range(120)]
    for i in ids:
        put(f'{p.home}/.claude/projects/-w/{i}.jsonl', ''.join(row_of(i, n, f'Prompt {n}') + '\n' for n in range(30)))
    p.same('all sessions', len(p.json('mirror', '--all', 'team')), 120)
    p.same('all rows', len(server.lines(f'-w/{ids[7]}/')), 30)
    p.same('again', {r['rows'] for r in p.json('mirror', '--all', 'team')}, {0})
    for n in range(30, 140):
        server.objects[f'-w/{ids[3]}/part-{int(time.time() * 1000) + n}-0000ff.jsonl'] = (row_of(ids[3], n, f'Prompt {n}') + '\n').encode()
    server.requests.clear()
    listed = p.json('list', '--all', '--store', 'team')
    p.same('first rows', len([r for r in listed if r['firstPrompt'] == 'Prompt 0']), 120)
    p.need(len(server.requests) < 180, f'requests of a list: {len(server.requests)}')
    server.requests.clear()
    pages = p.json('messages', f'team:{ids[3]}', '--tail', '4')
    older = p.json('messages', f'team:{ids[3]}', '--before', pages[0]['uuid'], '--limit', '4')
    p.same('pages backwards', [m['uuid'].split('-')[1] for m in older + pages], [str(n) for n in range(132, 140)])
    p.same('all of them, in order', [m['uuid'].split('-')[1] for m in p.json('messages', f'team:{ids[3]}')], [str(n) for n in range(140)])
    put(f'{p.home}/.claude/projects/-w/{ids[3]}.jsonl', ''.join(row_of(ids[3], n, f'Prompt {n}') + '\n' for n in range(150)))
    p.same('what was added', sum(r['rows'] for r in p.json('mirror', '--all', 'team')), 10)
    p.same('behind what has a later time', json.loads(server.lines(f'-w/{ids[3]}/')[-1])['uuid'].split('-')[1], '149')
    server.page = 1000
    shutil.rmtree(f'{p.home}/.claude/projects/-w')


def counts_of_requests(p, server, team):
    """An id is looked for once, in each of two projects, and what the search found is not asked for again."""
    server.objects.clear()
    team.configure(server.url())
    for project, first, last in (('-w', 0, 6), ('-v', 6, 8)):
        for i in range(first, last):
            session = f'{i:08d}-1111-4111-8111-111111111111'
            server.objects[f'{project}/{session}/part-{1795400000000 + i}-aaaaaa.jsonl'] = \
                ''.join(row_of(session, n, f'Prompt {n}') + '\n' for n in range(30)).encode()
    one = 'team:00000003-1111-4111-8111-111111111111'
    server.objects['-w/00000003-1111-4111-8111-111111111111/subagents/agent-a1/part-1795400000000-aaaaaa.jsonl'] = (row_of(ONE, 0, 'Task') + '\n').encode()

    def need(words, lists, gets):
        server.requests.clear()
        run = p.run(*words)
        asked = ['list-type' in request for request in server.requests]
        p.same(f'requests of {words}: lists, others', (run.returncode, sum(asked), len(asked) - sum(asked)), (0, lists, gets))

    find = 3  # the projects, and the session in both
    need(('messages', one, '--tail', '2'), find + 1, 2)
    need(('messages', one), find + 1, 2)
    need(('messages', one, '--agent', 'a1', '--tail', '2'), find + 2, 2)
    need(('info', one), find + 2, 2)
    need(('subagents', '--json', one), find + 1, 1)
    need(('export', one), find + 1, 2)
    need(('list', '--all', '--store', 'team'), 3, 8)
    need(('info', '00000003', '--store', 'team'), find + 3 + find + 2, 3)
    need(('tag', one, 'x'), find + 1, 2)
    need(('delete', '--permanently', one), find + 1, 5)


def titles_at_the_end(p, server, team):
    """Of parts of any size, read in pieces."""
    server.objects.clear()
    team.configure(server.url())
    sizes = [(30, 100), (30, 1000), (30, 3000), (12, 9000), (400, 200), (1, 40000), (1, 70000), (2, 32768)]
    for k, (rows, size) in enumerate(sizes):
        session = f'44444444-2222-4333-8444-{k:012d}'
        title = {'type': 'custom-title', 'customTitle': f'Title {k}', 'sessionId': session}
        body = '\n'.join([*(row_of(session, n, f'Prompt {n} ' + 'x ' * (size // 2)) for n in range(rows)), json.dumps(title), ''])
        server.objects[f'-w/{session}/part-{1795400000000 + k}-aaaaaa.jsonl'] = body.encode()
    want = [f'Title {k}' for k in range(len(sizes))]
    listed = p.json('list', '--all', '--store', 'team')
    p.same('in a list', sorted(r.get('customTitle', '') for r in listed), want)
    p.same('of one', [p.json('info', f'team:44444444-2222-4333-8444-{k:012d}').get('customTitle') for k in (0, 2, 6)], [want[k] for k in (0, 2, 6)])


def what_others_wrote(p, server, team):
    """Lines that are not JSON, parts with other names, objects that are none, keys that lead elsewhere."""
    server.objects.clear()
    team.configure(server.url())
    rows = '\n'.join([row_of(TWO, 0, 'First'), 'not JSON', '{"torn":', '', '  ' + row_of(TWO, 1, 'Second\u2028') + ' \r'])
    server.objects.update({
        f'-w/{TWO}/part-1795400000000-aaaaaa.jsonl': rows.encode(), f'-w/{TWO}/part-1795400000000-bbbbbb.jsonl': row_of(TWO, 2, 'Third').encode(),
        f'-w/{TWO}/zzz': row_of(TWO, 3, 'Fourth').encode() + b'\n', f'-w/{TWO}/': b'', f'-w/{TWO}/part-1795400000000-cc.jsonl': b'',
        f'-w/{TWO}/../{ONE}/part-1795400000000-aaaaaa.jsonl': b'{}', f'-w/{TWO}//part-1795400000000-aaaaaa.jsonl': b'{}',
        f'../{ONE}/part-1795400000000-aaaaaa.jsonl': b'{}', '-w/../part-1795400000000-aaaaaa.jsonl': b'{}', '-w/README': b'x', 'README': b'x',
        f'-x\x1b[31m/{ONE}/part-1795400000000-aaaaaa.jsonl': row_of(ONE, 0, 'Red').encode(), '-w/\x07bell/part-1795400000000-aaaaaa.jsonl': b'{}',
        f'-w/{"y" * 900}/part-1795400000000-aaaaaa.jsonl': b'{}', f'-w/{ONE}/subagents/agent-alone/part-1795400000000-aaaaaa.jsonl': b'{}'})
    run = p.run('list', '--all', '--store', 'team')
    p.need(run.returncode == 0 and not re.search(rb'[\x00-\x09\x0b-\x1f]', run.stdout + run.stderr), f'hostile keys: {run}')
    server.folders = False
    p.same('a server without folders', [r['sessionId'] for r in p.json('list', '--all', '--store', 'team') if r['sessionId'] == TWO], [TWO])
    server.folders = True
    mine = [r for r in p.json('list', '--all', '--store', 'team') if r['sessionId'] == TWO]
    p.same('listed', [(r['firstPrompt'], r['lastModified']) for r in mine], [('First', 1795400000000)])
    p.same('its messages', len(p.json('messages', f'team:{TWO}')), 4)
    p.same('its sub-agents', p.json('subagents', f'team:{TWO}'), [])
    p.json('retrieve', f'team:{TWO}')
    path = f'{p.home}/.claude/projects/-w/{TWO}.jsonl'
    p.same('retrieved without what is no row', len(read_rows(path)), 4)
    with open(path, 'a', encoding='utf-8') as f:
        f.write(row_of(TWO, 4, 'Fifth') + '\n')
    run = p.run('push', 'team', TWO)
    p.need(run.returncode == 0 and json.loads(server.objects[sorted(k for k in server.objects if k.startswith(f'-w/{TWO}/part-'))[-1]])['uuid'].endswith('-4'),
           f'pushed behind what is no row: {run}')
    os.remove(path)
    server.objects.clear()
    first = json.dumps({'type': 'user', 'uuid': 'a', 'cwd': '/w', 'message': {'role': 'user', 'content': 'Begin ' + 'x' * 40000}})
    server.objects[f'-w/{TWO}/part-1795400000000-aaaaaa.jsonl'] = f'{first}\n{row_of(TWO, 1, "y" * 40000)}\n'.encode()
    server.objects.update({f'-w/{ONE}/part-179540000000{i}-aaaaaa.jsonl': ''.join(row_of(ONE, n, 'Twice') + '\n' for n in rows).encode()
                           for i, rows in ((0, (0, 1, 2)), (1, (0, 1, 2)), (2, (2, 3)))})
    p.same('messages that others stored twice', [m['uuid'][-1] for m in p.json('messages', f'team:{ONE}')], ['0', '1', '2', '3'])
    p.json('retrieve', f'team:{ONE}')
    path = f'{p.home}/.claude/projects/-w/{ONE}.jsonl'
    p.same('rows that others stored twice', [row['uuid'][-1] for row in read_rows(path)], ['0', '1', '2', '3'])
    os.remove(path)
    server.objects = {key: body for key, body in server.objects.items() if ONE not in key}
    p.same('a first row that is long', [r['firstPrompt'][:5] for r in p.json('list', '--all', '--store', 'team')], ['Begin'])


def keys_and_places(p, server, team):
    """Where the access key, the region and the endpoint come from."""
    server.objects.clear()
    server.objects[f'-w/{TWO}/part-1795400000000-aaaaaa.jsonl'] = row_of(TWO, 0, 'First').encode()
    bare = {k: v for k, v in p.env.items() if not k.startswith('AWS_')}

    def lists(code, why, *lines, path='s3://team', **env):
        team.configure(path, *lines)
        run = subprocess.run([p.path, 'list', '--all', '--store', 'team'], env={**bare, **env}, cwd=p.home, capture_output=True, check=False)
        text = run.stdout + run.stderr
        p.need(run.returncode == code and why in text and SECRET.encode() not in text and TOKEN.encode() not in text and text.count(b'\n') <= 3,
               f'{path} {lines} {env}: {run}')

    here = f'http://127.0.0.1:{server.port}/'
    pair = {'AWS_ACCESS_KEY_ID': KEY, 'AWS_SECRET_ACCESS_KEY': SECRET}
    place = {'AWS_ENDPOINT_URL': here, 'AWS_REGION': REGION}
    lists(1, b'no access key', **place)
    lists(0, b'First', **pair, **place)
    lists(0, b'First', f'endpoint = {here}', f'region = {REGION}', AWS_REGION='elsewhere', AWS_ENDPOINT_URL='http://127.0.0.1:1', **pair)
    lists(1, b'wrong access key or secret', **{**pair, 'AWS_SECRET_ACCESS_KEY': 'wrong'}, **place)
    lists(1, b'wrong access key or secret', **{**pair, 'AWS_ACCESS_KEY_ID': 'wrong'}, **place)
    lists(1, b'another region: region = ' + REGION.encode(), AWS_ENDPOINT_URL=here, **pair)
    lists(1, b'no such bucket', path='s3://other', **pair, **place)
    server.token = True
    lists(1, b'token is malformed', **pair, **place)
    lists(0, b'First', AWS_SESSION_TOKEN=TOKEN, **pair, **place)
    put(f'{p.home}/.aws/credentials', f'# keys\n[default]\naws_access_key_id = {KEY}\naws_secret_access_key=wrong\n[team]\naws_access_key_id={KEY}\n'
        f' aws_secret_access_key = indented\naws_secret_access_key = {SECRET}\r\naws_session_token = {TOKEN}\n')
    put(f'{p.home}/.aws/config', f'[default]\nregion = elsewhere\n[profile team]\nregion = {REGION}\ns3 =\n  endpoint_url = x\nendpoint_url = {here}\n')
    lists(0, b'First', AWS_PROFILE='team')
    lists(0, b'First', path='s3://team?profile=team')
    lists(0, b'First', 'profile = team', **{**pair, 'AWS_SECRET_ACCESS_KEY': 'wrong'})
    lists(1, b'token is malformed', AWS_PROFILE='team', **pair)
    lists(1, b'wrong access key', AWS_ENDPOINT_URL=here, AWS_REGION=REGION)
    os.rename(f'{p.home}/.aws/credentials', f'{p.home}/moved')
    lists(1, b'no access key', AWS_PROFILE='team')
    lists(0, b'First', AWS_PROFILE='team', AWS_SHARED_CREDENTIALS_FILE=f'{p.home}/moved')
    shutil.rmtree(f'{p.home}/.aws')
    server.token = False
    for path, why in [('s3:///x', b'name of a bucket'), ('s3://a b/', b'name of a bucket'), ('s3://ab/', b'3 to 255'), ('s4://team', b'needs s3://'),
                      ('s3://team?endpoint=ftp://x', b'endpoint needs'), ('s3://team?region=a/b', b'region needs'),
                      ('s3://team?endpoint=http://ann@x', b'endpoint needs')]:
        lists(1, why, path=path, **pair)
    for path in (f's3://team?aws_secret_access_key={SECRET}', f's3://team?endpoint=http://{KEY}:{SECRET[-4:]}@x'):
        lists(4, b'contains a password', path=path, **pair)
    lists(1, b'contains a key', f'secret = {SECRET}', **pair)
    lists(1, b'endpont is not a setting of this store', f'endpont = {here}', **pair)


def late_answers(p, server, team):
    """Text has what is here first, and what a slow server has after it; JSON keeps the order, newest first."""
    server.objects.clear()
    team.configure(server.url(), 'timeout = 100')
    row = row_of(ONE, 0, 'In both').replace('{', '{"timestamp":"2026-01-01T10:00:00.000Z",', 1)
    put(f'{p.home}/.claude/projects/-w/{ONE}.jsonl', row + '\n')
    server.objects[f'-w/{ONE}/part-1795400000000-aaaaaa.jsonl'] = f'{row}\n{row_of(ONE, 1, "Later")}\n'.encode()
    server.objects[f'-w/{TWO}/part-1795400000000-aaaaaa.jsonl'] = (row_of(TWO, 0, 'Only there') + '\n').encode()
    gate = threading.Event()

    def wait(_handler, body):
        gate.wait(100)
        return body

    server.spoil = wait
    found = {}
    for words in (['list', '--all'], ['search', '--all', 'n', '--color=never']):
        gate.clear()
        child = subprocess.Popen([p.path, *words], env=p.env, cwd=p.home, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        first = child.stdout.readline()
        gate.set()
        out, said = child.communicate(timeout=100)
        found[words[0]] = first + out
        p.need(b'In both' in first and b'Only there' in out and ONE[:8].encode() not in out and not said, f'late: {words}: {first} {out} {said}')
    server.spoil = lambda handler, body: body
    p.same('in time', [b'Only there' in line for line in p.run('list', '--all').stdout.splitlines()], [True, False])
    p.same('as JSON', [r['sessionId'] for r in p.json('list', '--all')], [TWO, ONE])
    os.remove(f'{p.home}/.claude/projects/-w/{ONE}.jsonl')


def bad_answers(p, server, team):
    """What a server may say instead of an answer: each is one line."""
    server.objects.clear()
    server.objects.update({f'-w/{ONE}/part-179540000000{i}-aaaaaa.jsonl': row_of(ONE, i, 'First').encode() for i in range(9)})
    team.configure(server.url())

    def fails(what, why, *words):
        run = p.run(*(words or ('list', '--all', '--store', 'team')))
        p.need(run.returncode == 1 and why in run.stderr and run.stderr.count(b'\n') == 1, f'{what}: {run}')
        server.spoil, server.answers = lambda handler, body: body, []

    for what, spoil, why in [
            ('truncated XML', lambda handler, body: body[:len(body) // 2] if b'ListBucket' in body else body, b'unexpected answer'),
            ('a page', lambda handler, body: b'<html><body>Welcome</body></html>', b'unexpected answer'),
            ('a truncated list without a token', lambda handler, body: body.replace(b'>false<', b'>true<'), b'unexpected answer'),
            ('a list without an end', lambda handler, body: body.replace(b'>false<', b'>true<').replace(
                b'</ListB', b'<NextContinuationToken>a</NextContinuationToken></ListB'), b'unexpected answer'),
            ('nothing', lambda handler, body: b'', b'unexpected answer')]:
        server.spoil = spoil
        fails(what, why)
    for status, code in ((301, 'PermanentRedirect'), (307, 'TemporaryRedirect')):
        server.answers = [Refused(status, code, 'The bucket you are attempting to access must be addressed using the specified endpoint.')]
        fails(code, b'on another server')
    server.answers = [Refused(301, 'PermanentRedirect', 'There', '<Region>eu-x-1</Region>')]
    fails('another region', b'region = eu-x-1')
    server.answers = [Refused(403, 'AccessDenied', 'Access \x1b[31mDenied'.replace('\x1b', ''))]
    fails('denied', b'Denied')
    server.answers = [Refused(503, 'SlowDown', 'Please reduce your request rate.')] * 3
    p.same('a busy server', len(p.json('list', '--all', '--store', 'team')), 1)
    server.answers = [Refused(503, 'SlowDown', 'Please reduce your request rate.')] * 4
    fails('a server that stays busy', b'reduce your request rate')
    lists = []

    def vanish(handler, body):
        """After the names of the parts were asked for again, to read them: once to find and describe the session, once here."""
        if b'part-' in body and b'ListBucket' in body:
            lists.append(body)
        if len(lists) > 1:
            server.objects.pop(f'-w/{ONE}/part-1795400000004-aaaaaa.jsonl', None)
        return body

    server.spoil = vanish
    fails('deleted while it is read', b'deleted while it was read', 'messages', f'team:{ONE}')


def meanwhile(p, server, team):
    """Another program adds a part between our look at the names and our part, or has taken the name."""
    path, folder = f'{p.home}/.claude/projects/-w/{TWO}.jsonl', f'-w/{TWO}/'
    foreign = (row_of(TWO, 90, 'Of another machine') + '\n').encode()
    put(path, ''.join(row_of(TWO, n, 'Mine') + '\n' for n in range(5)))
    team.configure(server.url())

    def add(_key):
        server.objects[f'{folder}part-1795400000000-aaaaaa.jsonl'] = foreign

    def take(key):
        server.objects.setdefault(key, foreign)

    for what, act in ('a part was added', add), ('the name was taken', take):
        server.objects.clear()
        server.before_put = act
        run = p.run('push', 'team', TWO)
        server.before_put = lambda key: None
        p.need(run.returncode == 4 and b'rows that are not here' in run.stderr, f'{what}: {run}')
        p.same(f'{what}: it alone is there', list(server.objects.values()), [foreign])
    later = f'{folder}part-{int(time.time() * 1000) + 100000}-aaaaaa.jsonl'
    mine = [json.loads(row_of(TWO, n, 'Mine')) for n in range(5)]

    def push(what, act, rows, want):
        """The hook is called for the first part only."""
        def once(key):
            server.before_put = lambda key: None
            act(key)

        server.before_put = once
        p.same(f'{what}: pushed', p.json('push', 'team', TWO)[0]['rows'], rows)
        p.same(f'{what}: there', [json.loads(line) for line in server.lines(folder)], want)

    server.objects.clear()
    push('rows were added behind ours', lambda key: server.objects.update({later: foreign}), 5, mine + [json.loads(foreign)])
    server.objects.clear()
    push('the same rows were added', lambda key: server.objects.update({later: ''.join(json.dumps(r, separators=(',', ':')) + '\n' for r in mine).encode()}),
         0, mine)
    p.same('the same rows were added: ours are gone', server.keys(), [later])
    first = json.dumps(mine[0], separators=(',', ':')).encode() + b'\n'
    server.objects.clear()
    server.objects[f'{folder}part-1795400000000-aaaaaa.jsonl'] = first
    push('the rows before ours were removed', lambda key: server.objects.clear(), 5, mine)
    for attribute, value in (('conditions', False), ('ignores', True)):
        server.objects.clear()
        setattr(server, attribute, value)
        p.same(f'{attribute}: {value}', (p.json('push', 'team', TWO)[0]['rows'], len(server.objects)), (5, 1))
        setattr(server, attribute, not value)
    os.remove(path)


def large_file(p, server, team):
    """A push takes little memory, and does not send what another program puts in the place of the rows meanwhile."""
    path, folder = f'{p.home}/.claude/projects/-w/{TWO}.jsonl', f'-w/{TWO}/'
    team.configure(server.url())
    server.objects.clear()
    large(path, TWO, 40000)
    most = team.memory(p, 'push', 'team', TWO)
    p.need(most < 64 << 10 or any('SAN_OPTIONS' in name for name in p.env), f'memory of a push of {os.path.getsize(path)} bytes: {most} KB')
    p.same('all rows', len(server.lines(folder)), 40000)
    server.objects.clear()
    most = team.memory(p, 'push', '--redact', 'team', TWO)
    p.need(most < 64 << 10 or any('SAN_OPTIONS' in name for name in p.env), f'memory of a redacted push: {most} KB')
    p.same('all rows, redacted', len(server.lines(folder)), 40000)
    p.same('the same rows again', p.json('push', '--redact', 'team', TWO)[0]['rows'], 0)
    server.objects.clear()
    team.pulls_in_little_memory(p)
    server.objects.clear()
    large(path, TWO, 3000)

    def replace(_key):
        if len(server.objects) == 2:
            with open(path, 'r+b') as f:
                rows = f.read().replace(b'"uuid":"0', b'"uuid":"9')
                f.seek(0)
                f.write(rows)

    server.before_put = replace
    run = p.run('push', 'team', TWO)
    server.before_put = lambda key: None
    p.need(run.returncode == 1 and b'changed meanwhile' in run.stderr, f'replaced meanwhile: {run}')
    p.need(all(json.loads(line)['uuid'].startswith('0') for line in server.lines(folder)), 'rows of the other file were sent')
    os.remove(path)


def same_name(p, server, team):
    """Another push of the session continues at the same place and is faster: its rows stay, and only the others are added."""
    path, folder = f'{p.home}/.claude/projects/-w/{TWO}.jsonl', f'-w/{TWO}/'
    team.configure(server.url())
    large(path, TWO, 900)
    rows = read_rows(path)

    def push(what, at, to, mine):
        """The other one adds the rows from the place of our part number `at` on."""
        puts = []

        def win(key):
            puts.append(key)
            if len(puts) == at + 1:
                there = len(server.lines(folder))
                server.objects[key] = ''.join(json.dumps(row, separators=(',', ':')) + '\n' for row in rows[there:to]).encode()

        server.objects.clear()
        server.before_put = win
        p.same(f'{what}: pushed', p.json('push', 'team', TWO)[0]['rows'], mine)
        server.before_put = lambda key: None
        p.same(f'{what}: there', [json.loads(line) for line in server.lines(folder)] == rows, True)

    def wait(key):
        """Our first part is delayed until another program has pushed all rows."""
        server.before_put = lambda key: None
        p.json('push', 'team', TWO)

    server.objects.clear()
    server.before_put = wait
    p.same('late: pushed', p.json('push', 'team', TWO)[0]['rows'], 0)
    p.same('late: there', [json.loads(line) for line in server.lines(folder)] == rows, True)
    push('some rows', 0, 200, 700)
    push('more rows than ours', 0, 700, 200)
    push('all rows', 0, 900, 0)
    first = len(server.lines(folder))
    p.json('push', 'team', TWO)
    p.same('nothing is added later', len(server.lines(folder)), first)
    os.remove(path)


def gone_in_the_middle(p, server, team):
    """The server is killed while rows go up and come down: nothing half-written is listed, and the next run goes on."""
    server.objects.clear()
    team.configure(server.url())
    path = f'{p.home}/.claude/projects/-w/{TWO}.jsonl'
    large(path, TWO, 6000)
    arrived = threading.Event()
    server.before_put = lambda key: len(server.objects) >= 3 and arrived.set()
    push = subprocess.Popen([p.path, 'push', 'team', TWO], env=p.env, cwd=p.home, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL)
    arrived.wait(20)
    server.kill()
    _, text = push.communicate()
    p.need(push.returncode == 1 and text.count(b'\n') == 1, f'killed in a push: {push.returncode} {text!r}')
    run = p.run('list', '--all')
    p.need(run.returncode == 0 and TWO[:8].encode() in run.stdout and run.stderr.count(b'\n') == 1, f'without a server: {run}')
    p.same('alone', p.run('list', '--all', '--store', 'team').returncode, 1)
    server.before_put = lambda key: None
    server.start()
    before = len(server.lines(f'-w/{TWO}/'))
    p.same('it went on', (before > 0, before + p.json('push', 'team', TWO)[0]['rows']), (True, 6000))
    rows = [json.loads(line)['uuid'] for line in server.lines(f'-w/{TWO}/')]
    p.same('no row twice, all in order', rows == [f'{i:08d}' for i in range(6000)], True)
    os.remove(path)
    sent = threading.Event()

    def stop_in_parts(handler, body):
        if len(body) > 100000:
            sent.set()
            time.sleep(0.3)
        return body

    server.spoil = stop_in_parts
    pull = subprocess.Popen([p.path, 'retrieve', f'team:{TWO}'], env=p.env, cwd=p.home, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL)
    sent.wait(20)
    server.kill()
    _, text = pull.communicate()
    p.need(pull.returncode == 1 and text.count(b'\n') == 1, f'killed in a retrieve: {pull.returncode} {text!r}')
    p.same('not there', os.path.exists(path), False)
    server.spoil = lambda handler, body: body[:-10] if len(body) > 100000 else body
    server.start()
    p.same('a part that is shorter than the last one', p.run('retrieve', f'team:{TWO}').returncode, 0)
    p.need(len(read_rows(path)) < 6000, 'rows that are torn are none')
    server.spoil = lambda handler, body: body
    p.json('retrieve', f'team:{TWO}')
    p.same('then all of it', len(read_rows(path)), 6000)
    os.remove(path)
    team.configure(server.url(), 'timeout = 1')
    server.delay = 3
    run = p.run('list', '--all', '--store', 'team')
    p.need(run.returncode == 1 and b'not answered for 1 second' in run.stderr, f'silent: {run}')
    server.delay = 0.05
    p.same('slow', len(p.json('list', '--all', '--store', 'team')), 1)
    server.delay = 0


def encrypted(p, server, team):
    """A server that has to be asked with TLS, and a certificate that is not to be trusted."""
    made = certificate.make(p.home)
    if not made:
        return
    cert, key = made
    pem = f'{p.home}/pem'
    with open(pem, 'wb') as both:
        for name in (key, cert):
            with open(name, 'rb') as f:
                both.write(f.read())
    server.kill()
    server.start(pem)
    team.configure(server.url())
    run = p.run('list', '--all', '--store', 'team')
    p.need(run.returncode == 1 and run.stderr.count(b'\n') == 1, f'TLS is required: {run}')
    team.configure(server.url().replace('http:', 'https:'))
    run = p.run('list', '--all', '--store', 'team')
    p.need(run.returncode == 1 and b'certificate' in run.stderr, f'a certificate of nobody: {run}')
    p.env['AWS_CA_BUNDLE'] = cert
    p.same('trusted', p.run('list', '--all', '--store', 'team').returncode, 0)
    server.kill()
    server.start()
    run = p.run('list', '--all', '--store', 'team')
    p.need(run.returncode == 1 and run.stderr.count(b'\n') == 1, f'no TLS there: {run}')


def main():
    with tempfile.TemporaryDirectory() as top:
        server = Server()
        team = Team(f'{top}/home', sys.argv[2])
        p = Program(sys.argv[1], team.home, {**team.env, **server.env()})
        conforms(p, server, team)
        up_and_down(p, server, team, sys.argv[3])
        server.objects.clear()
        team.newer_wins(p, server.url(), sys.argv[3])
        p.need(all(key.startswith('tenant/') for key in server.keys()), f'the project of the configuration: {server.keys()}')
        server.objects.clear()
        team.goes_round(p, server.url())
        mirrors(p, server, team)
        counts_of_requests(p, server, team)
        titles_at_the_end(p, server, team)
        what_others_wrote(p, server, team)
        keys_and_places(p, server, team)
        late_answers(p, server, team)
        bad_answers(p, server, team)
        server.objects.clear()
        team.three_at_once(p, server.url(), lambda: server.lines(f'-w/{TWO}/'))
        server.objects.clear()
        team.pages_far_back(p, server.url())
        meanwhile(p, server, team)
        same_name(p, server, team)
        large_file(p, server, team)
        gone_in_the_middle(p, server, team)
        encrypted(p, server, team)
        server.kill()
        print(f'{p.passed} passed, {p.failed} failed')
        sys.exit(p.failed > 0)


main()
