"""Sessions in a store behind HTTP, with a server of this test's.
   usage: http_store.py REPRISE PLUGIN FIXTURES"""
import glob
import json
import os
import shutil
import sys
import tempfile

from support import certificate
from support.http_server import Server
from support.program import Program
from support.team_store import ONE, TWO, Team, large, make_local, put, read_rows, row_of

PROJECT = '-home-dev-ws-beta'
SECRET = 'KEPT-SECRET-7'


def up_and_down(p, server, team, fixtures):
    """Pushed, listed, read, removed here, retrieved: the same rows."""
    server.log.clear()
    team.configure(server.url(), f'project = {PROJECT}')
    folder = make_local(p.home, fixtures)
    want = {path: read_rows(path) for path in glob.glob(f'{folder}/**/*.json*', recursive=True)}
    p.same('dry run', [r['rows'] > 0 for r in p.json('push', '--dry-run', 'team', ONE)], [True])
    p.same('nothing was written', server.rows, {})
    first = p.json('push', 'team', ONE)[0]
    p.same('pushed', (first['new'], first['rows']), (True, sum(len(r) for r in want.values())))
    p.same('again', p.json('push', 'team', ONE)[0]['rows'], 0)
    p.same('keys', sorted(k[2] or '' for k in server.rows), ['', 'subagents/agent-a1', 'subagents/nested/agent-b2'])
    p.same('of one project', {k[:2] for k in server.rows}, {(PROJECT, ONE)})
    p.same('rows', server.rows[PROJECT, ONE, None], want[f'{folder}/{ONE}.jsonl'])
    p.same('addresses', {path for path, _ in server.log} - {'/api/sessions/append', '/api/sessions/load', '/api/sessions/list-sessions',
                                                            '/api/sessions/list-subkeys'}, set())
    listed = p.json('list', '--all', '--store', 'team')
    p.same('listed', [(r['sessionId'], r['summary']) for r in listed], [(ONE, 'Mock generated title')])
    there = p.json('messages', f'team:{ONE}')
    p.same('messages', there, p.json('messages', f'claude:{ONE}'))
    p.same('a page', p.json('messages', f'team:{ONE}', '--tail', '2'), there[-2:])
    p.same('sub-agents', p.json('subagents', f'team:{ONE}'), p.json('subagents', f'claude:{ONE}'))
    shutil.rmtree(folder)
    p.json('retrieve', f'team:{ONE}')
    p.same('retrieved', {path: read_rows(path) for path in glob.glob(f'{folder}/**/*.json*', recursive=True)}, want)
    p.run('rename', f'team:{ONE}', 'A title of the team')
    p.same('renamed', server.rows[PROJECT, ONE, None][-1]['customTitle'], 'A title of the team')
    p.same('deleted', p.run('delete', '--permanently', f'team:{ONE}').returncode, 0)
    p.same('with its sub-agents', server.rows, {})
    shutil.rmtree(folder)


def projects(p, server, team):
    """The protocol lists one project at a time."""
    server.rows.clear()
    row = {'type': 'user', 'uuid': 'u', 'cwd': p.home, 'message': {'role': 'user', 'content': 'Hello'}}
    here = ''.join(c if c.isalnum() else '-' for c in os.path.realpath(p.home))
    for n, project in enumerate((here, '-other', 'tenant')):
        server.call('append', {'projectKey': project, 'sessionId': f'{n}{ONE[1:]}', 'entries': [row]})

    def listed(*args):
        run = p.run('list', '--json', '--store', 'team', *args)
        return [r['projectKey'] if 'projectKey' in r else r['path'].split('/')[0].partition(':')[2] for r in json.loads(run.stdout or '[]')], run
    team.configure(server.url())
    p.same('of this directory', listed()[0], [here])
    run = listed('--all')[1]
    p.need(run.returncode != 0 and b'/list-sessions' in run.stderr, f'without a project: {run}')
    server.everything = True
    p.same('a server that lists all', sorted(listed('--all')[0]), sorted([here, '-other', 'tenant']))
    server.everything = False
    team.configure(server.url(), 'project = tenant')
    p.same('the one of the configuration', listed('--all')[0], ['tenant'])
    p.same('and of this directory', sorted(listed()[0]), sorted([here, 'tenant']))
    server.rows.clear()
    server.mtime.clear()


def token(p, server, team):
    """From a file that nobody else can read, sent over no open line, in no message."""
    server.token = SECRET
    path = f'{p.home}/token'
    put(path, SECRET + '\nsecond line\n')

    def tried(what, code, *lines, url=None, said=b''):
        team.configure(url or server.url(), 'project = t', *lines)
        run = p.run('list', '--store', 'team', '--all')
        p.need(run.returncode == code and said in run.stderr and SECRET.encode() not in run.stdout + run.stderr, f'{what}: {run}')
    os.chmod(path, 0o600)
    tried('right', 0, f'token-file = {path}')
    tried('below the home', 0, 'token-file = ~/token')
    tried('without one', 1, said=b'access denied (401): token-file')
    put(f'{p.home}/wrong', 'nonsense')
    os.chmod(f'{p.home}/wrong', 0o600)
    tried('a wrong one', 1, f'token-file = {p.home}/wrong', said=b'access denied (401)')
    put(f'{p.home}/empty', '\n')
    os.chmod(f'{p.home}/empty', 0o600)
    tried('an empty one', 1, f'token-file = {p.home}/empty', said=b'is empty')
    os.chmod(path, 0o640)
    tried('others can read it', 1, f'token-file = {path}', said=b'chmod 600')
    os.chmod(path, 0o600)
    tried('none', 1, f'token-file = {path}-none', said=b'No such file')
    tried('relative', 1, 'token-file = token', said=b'needs an absolute path')
    tried('in the section', 1, f'token = {SECRET}', said=b'keep that in a token-file')
    tried('in the path', 4, url=f'http://u:{SECRET}@127.0.0.1/', said=b'contains a password')
    tried('an open line', 1, f'token-file = {path}', url='http://example.invalid/api', said=b'without encryption')
    for url in ('http://', 'https:///x', 'ftp://x', 'http://h/?a=b', 'http://h/#a'):
        tried(f'path {url}', 1, url=url, said=b'its path needs https://HOST/PATH')
    tried('a setting that is none', 1, 'color = red', said=b'color is not a setting')
    server.token = None


def tls(p, team):
    made = certificate.make(p.home)
    if not made:
        return
    server = Server(tls=made)
    url = server.url(scheme='https')
    team.configure(url, 'project = t')
    run = p.run('list', '--store', 'team', '--all')
    p.need(run.returncode == 1 and b'certificate' in run.stderr, f'a certificate of nobody: {run}')
    p.same('nothing was sent to it', server.log, [])
    team.configure(url, 'project = t', f'ca-file = {made[0]}')
    p.same('a private certificate', p.run('list', '--store', 'team', '--all').returncode, 0)
    team.configure(server.url(), 'project = t')
    run = p.run('list', '--store', 'team', '--all')
    p.need(run.returncode == 1, f'without TLS: {run}')
    server.close()


def misbehaves(p, server, team):
    """Wrong answers: one line, nothing is taken for an empty store, and nothing is added because of them."""
    folder = f'{p.home}/.claude/projects/-w'
    large(f'{folder}/{ONE}.jsonl', ONE, 3)
    team.configure(server.url(), 'project = t', 'timeout = 1')
    p.json('push', 'team', ONE)
    rows = json.dumps(server.rows['t', ONE, None])
    elsewhere = Server()
    answers = {
        'no JSON': (200, '<html>', b'is not JSON'), 'half of it': (200, '{"entries":[', b'is not JSON'), 'nothing': (200, '', b'has no list'),
        'another list': (200, '{"rows":[]}', b'has no list'), 'a text': (200, '{"entries":"x","sessions":"x","subpaths":"x"}', b'has no list'),
        'an array': (200, '[]', b'has no list'), 'an error': (500, '{"error":"\x1b]0;T\x07"}', b'returned 500'), 'busy': (429, '', b'returned 429'),
        'not there': (404, '', b'returned 404'), 'forbidden': (403, '', b'access denied (403)')}
    for name, (status, text, said) in answers.items():
        server.before = lambda handler, call, q, status=status, text=text: handler.reply(status, text) or True
        for args in (['list', '--all', '--store', 'team'], ['push', 'team', ONE], ['messages', f'team:{ONE}']):
            run = p.run(*args)
            p.need(run.returncode not in (0, None) and said in run.stderr and run.stderr.count(b'\n') == 1 and b'\x1b' not in run.stderr,
                   f'{name}: {args[0]}: {run}')

    def redirect(handler, call, q):
        handler.send_response(307)
        handler.send_header('Location', elsewhere.url())
        handler.send_header('Content-Length', '0')
        handler.end_headers()
        return True
    server.before = redirect
    run = p.run('list', '--all', '--store', 'team')
    p.need(run.returncode == 1 and b'redirects' in run.stderr, f'a redirection: {run}')
    p.same('is not followed', elsewhere.log, [])

    def odd(handler, call, q):
        handler.reply(200, json.dumps({'sessions': [7, None, {}, {'sessionId': 7}, {'sessionId': ''}, {'sessionId': 'a\0b', 'mtime': 1},
                                                    {'sessionId': '../../x', 'mtime': 1}, {'sessionId': ONE, 'mtime': 'x'}],
                                       'entries': [7, None, [], {'type': 'user', 'uuid': 'u', 'cwd': '/w', 'message': {'role': 'user', 'content': 'Hi'}}],
                                       'subpaths': [7, '', '../../x', 'subagents/agent-a']}))
        return True
    server.before = odd
    p.same('odd members', [r['sessionId'] for r in p.json('list', '--all', '--store', 'team')], [ONE])
    server.before = None
    p.same('nothing was added', json.dumps(server.rows['t', ONE, None]), rows)
    p.same('nor is anything missing', p.json('push', 'team', ONE)[0]['rows'], 0)

    # Another program adds rows between a look and an append.
    def beside(handler, call, q):
        if call == 'load' and not beside.done and q['sessionId'] == ONE and server.rows:
            beside.done = True
            handler.reply(200, json.dumps(server.call(call, q)))
            server.call('append', {'projectKey': 't', 'sessionId': ONE, 'entries': [{'type': 'x', 'n': 1}]})
            return True
        return False
    beside.done = False
    large(f'{folder}/{ONE}.jsonl', ONE, 5)
    server.before = beside
    run = p.run('push', 'team', ONE)
    server.before = None
    texts = [json.dumps(row) for row in server.rows['t', ONE, None]]
    p.need(len(texts) == len(set(texts)), f'no row twice: {run}')
    elsewhere.close()


def in_pieces(p, server, team):
    """However an answer is written and cut, its rows are the same; a broken one is an error."""
    team.configure(server.url(), 'project = t', 'timeout = 5')
    texts = ['First', 'a "quote" \\ [ ] { } , \\"', '"entries":[{"type":"user"}]', 'über \u2028 \u0001', 'Last']
    server.rows['t', ONE, None] = rows = [json.loads(row_of(ONE, n, text)) for n, text in enumerate(texts)]
    server.mtime['t', ONE] = 1795400000000
    want = p.json('messages', f'team:{ONE}')
    p.same('whole', [m['message']['content'] for m in want], texts)
    plain, spaced = [json.dumps(row) for row in rows], [json.dumps(row, indent=2, ensure_ascii=False) for row in rows]
    answers = {'plain': '{"entries":[' + ','.join(plain) + ']}', 'spaced': '\n{ "entries" : [ ' + ' ,\n'.join(spaced) + ' ] }\n',
               'beside': '{"note":"\\"entries\\":[7]","x":{"entries":[1]},"y":["entries",[2]],"entries":[' + ','.join(plain) + '],"z":["entries"]}',
               'escaped': '{"\\u0065ntries":[' + ','.join(plain) + ']}', 'others': '{"entries":[7,' + ',null,[],"x",'.join(plain) + ']}'}
    for name, text in answers.items():
        for size in (1, 7, 1 << 20) if name in ('spaced', 'beside') else (1 << 20,):
            def pieces(handler, call, _q, text=text.encode(), size=size):
                if call != 'load':
                    return False
                handler.send_response(200)
                handler.send_header('Content-Length', str(len(text)))
                handler.end_headers()
                for at in range(0, len(text), size):
                    handler.wfile.write(text[at:at + size])
                    handler.wfile.flush()
                return True
            server.before = pieces
            p.same(f'{name}, {size}', p.json('messages', f'team:{ONE}'), want)
    for name, text in {'a comma too many': f'{{"entries":[{plain[0]},]}}', 'no comma': f'{{"entries":[{plain[0]}{plain[1]}]}}',
                       'another bracket': f'{{"entries":[{plain[0]}}}', 'no end': f'{{"entries":[{plain[0]},{plain[1]}', 'cut': f'{{"entries":[{plain[0]},{plain[1][:-2]}',
                       'a broken row': f'{{"entries":[{plain[0]},{{"a":]}}', 'something behind': f'{{"entries":[{plain[0]}]}}x'}.items():
        server.before = lambda handler, call, q, text=text: call == 'load' and (handler.reply(200, text) or True)
        run, pull = p.run('messages', f'team:{ONE}'), p.run('pull', f'team:{ONE}')
        p.need(run.returncode == 1 and b'JSON' in run.stderr and run.stderr.count(b'\n') == 1 and not run.stdout, f'{name}: {run}')
        p.need(pull.returncode == 1 and not os.path.exists(f'{p.home}/.claude/projects/-w/{ONE}.jsonl'), f'{name}: {pull}')
    # The name of this list ends with a quote that is escaped, and the word.
    other = '{"note\\"entries":[' + ','.join(plain) + '],"entries":[]}'
    server.before = lambda handler, call, q: call == 'load' and (handler.reply(200, other) or True)
    run = p.run('messages', f'team:{ONE}')
    p.need(b'First' not in run.stdout, f'another list: {run}')
    server.before = None
    server.rows.clear()
    server.mtime.clear()


def in_little_memory(p, server, team):
    """A session of 60 MB takes the memory of its largest row, and its title is at the end."""
    rows = [row_of(TWO, n, f'{n} {"x" * 2000}') for n in range(29000)]
    rows.append(json.dumps({'type': 'custom-title', 'customTitle': 'At the end', 'sessionId': TWO}))
    text = ('{"entries":[' + ','.join(rows) + ']}').encode()
    server.mtime['-w', TWO] = 1795400000000
    server.before = lambda handler, call, q: call == 'load' and (handler.reply(200, text) or True)
    team.configure(server.url(), 'project = -w')
    for what in ['list', '--all', '--store', 'team'], ['info', f'team:{TWO}'], ['pull', f'team:{TWO}']:
        most = team.memory(p, *what)
        p.need(most < 40 << 10 or any('SAN_OPTIONS' in name for name in p.env), f'{what}: {most} KB')
    listed = p.json('list', '--all', '--store', 'team')
    p.same('its ends', [(r['customTitle'], r['firstPrompt'][:3]) for r in listed], [('At the end', '0 x')])
    with open(f'{p.home}/.claude/projects/-w/{TWO}.jsonl', encoding='utf-8') as f:
        p.need([json.loads(line) for line in f] == [json.loads(row) for row in rows], 'the rows are not those of the store')
    info = [p.json('info', f'{where}:{TWO}') for where in ('team', 'claude')]
    p.same('what info counts', *[[i[k] for k in ('messageCount', 'damaged', 'customTitle', 'firstPrompt')] for i in info])
    os.remove(f'{p.home}/.claude/projects/-w/{TWO}.jsonl')
    server.before = None
    server.mtime.clear()


def behind_a_long_row(p, server, team):
    """A list keeps the last rows, and does not look through a long one before them again for each."""
    rows = [row_of(TWO, 0, 'x' * 70000), row_of(TWO, 1, 'y' * 8000000), *['{"a":1}'] * 8000,
            json.dumps({'type': 'custom-title', 'customTitle': 'At the end', 'sessionId': TWO})]
    text = ('{"entries":[' + ','.join(rows) + ']}').encode()
    server.mtime['-w', TWO] = 1795400000000
    server.before = lambda handler, call, q: call == 'load' and (handler.reply(200, text) or True)
    team.configure(server.url(), 'project = -w')
    spent = -os.times().children_user
    p.same('behind a long row', [r['customTitle'] for r in p.json('list', '--all', '--store', 'team')], ['At the end'])
    spent += os.times().children_user
    p.need(spent < 1 or any('SAN_OPTIONS' in name for name in p.env), f'a list took {spent} s of the processor')
    server.before = None
    server.mtime.clear()


def of_many_rows(p, server, team):
    """Of more than 100,000 rows, info reads no more than that, and does not count them."""
    row = '{"type":"user","uuid":"%d","message":{"role":"user","content":"x"}}'
    body = '{"entries":[' + ','.join(row % n for n in range(100_001)) + ']}'
    server.mtime['-w', TWO] = 1795400000000
    server.before = lambda handler, call, q: call == 'load' and (handler.reply(200, body.encode()) or True)
    team.configure(server.url(), 'project = -w')
    run = p.run('info', '--json', f'team:{TWO}')
    info = json.loads(run.stdout)
    p.need(run.returncode == 0 and 'messageCount' not in info and info['firstPrompt'] == 'x', f'too many rows: {run}')
    p.need(b'pull it first' in run.stderr and f'team:-w/{TWO}'.encode() in run.stderr, f'why they are not counted: {run.stderr}')
    text = p.run('info', f'team:{TWO}').stdout
    p.need(b'messages' not in text and b'damaged' not in text, f'a number that nobody counted: {text}')
    body = body.replace(row % 7 + ',', '')
    p.same('as many as it counts', p.json('info', f'team:{TWO}')['messageCount'], 1)
    server.before = None
    server.mtime.clear()


def main():
    with tempfile.TemporaryDirectory() as top:
        server = Server()
        team = Team(f'{top}/home', sys.argv[2])
        p = Program(sys.argv[1], team.home, team.env)
        team.keeps_rules(p, server.url(), lacks=['page'])
        p.same('nothing is left', (server.rows, server.mtime), ({}, {}))
        up_and_down(p, server, team, sys.argv[3])
        team.newer_wins(p, server.url(), sys.argv[3])
        server.rows.clear()
        server.mtime.clear()
        team.goes_round(p, server.url(), 'project = -w')
        server.rows.clear()
        server.mtime.clear()
        in_pieces(p, server, team)
        in_little_memory(p, server, team)
        behind_a_long_row(p, server, team)
        of_many_rows(p, server, team)
        projects(p, server, team)
        token(p, server, team)
        tls(p, team)
        misbehaves(p, server, team)
        server.close()
        p.finish(90)


main()
