"""Sessions for tests of stores of a team."""
import copy
import json
import os
import shutil
import subprocess
import sys

ONE, TWO = '11111111-1111-4111-8111-111111111111', '22222222-1111-4111-8111-111111111111'


def put(path, text):
    os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)
    with open(path, 'w', encoding='utf-8') as f:
        f.write(text)


def read_rows(path):
    with open(path, encoding='utf-8') as f:
        return [json.loads(line) for line in f]


def make_local(home, fixtures):
    """A session with two sub-agents, one of them with a document about it."""
    folder = f'{home}/.claude/projects/-home-dev-ws-beta'
    with open(f'{fixtures}/claude/rewound.jsonl', encoding='utf-8') as f:
        rows = f.read()
    put(f'{folder}/{ONE}.jsonl', rows)
    put(f'{folder}/{ONE}/subagents/agent-a1.jsonl', rows)
    put(f'{folder}/{ONE}/subagents/agent-a1.meta.json', '{"agentType":"Explore","description":"Look around"}')
    put(f'{folder}/{ONE}/subagents/nested/agent-b2.jsonl', rows)
    return folder


def large(path, session, rows):
    row = '{"type":"user","uuid":"%08d","sessionId":"%s","cwd":"/w","timestamp":"2026-02-09T02:48:28.000Z","message":{"role":"user","content":"%s"}}\n'
    put(path, ''.join(row % (i, session, 'x' * 2000) for i in range(rows)))


def row_of(session, number, text):
    return json.dumps({'type': 'user', 'uuid': f'{session[:8]}-{number}', 'parentUuid': f'{session[:8]}-{number - 1}' if number else None,
                       'sessionId': session, 'cwd': '/w', 'message': {'role': 'user', 'content': text}}, separators=(',', ':'))


class Team:
    """A home with a plug-in, and what is the same for every server."""

    def __init__(self, home, plugin):
        put(f'{home}/.claude/settings.json', '{}')
        self.home = home
        self.plugin = shutil.copy(plugin, home)
        os.chmod(self.plugin, 0o700)
        os.chmod(home, 0o700)
        self.env = {'XDG_CONFIG_HOME': f'{home}/config', 'XDG_DATA_HOME': f'{home}/data', 'XDG_STATE_HOME': f'{home}/state'}

    def configure(self, path, *lines):
        put(f'{self.home}/config/reprise/config', '\n'.join(['[store.team]', f'plugin = {self.plugin}', f'path = {path}', *lines, '']))

    def keeps_rules(self, p, url, *settings, lacks=()):
        """The rules of stores, none of which is left out."""
        rules = p.run('doctor', '--json', '--plugin', self.plugin, url, '--apply', *settings)
        may_lack = [f'the plug-in has no {optional}' for optional in ('find', 'ids', *lacks)]
        wrong = [r for r in json.loads(rules.stdout) if r['result'] == 'failed' or r.get('why', may_lack[0]) not in may_lack]
        p.need(rules.returncode == 0 and not wrong, f'the rules of a store {url} {settings}: {wrong} {rules.stderr}')

    def newer_wins(self, p, url, fixtures, *lines):
        """The store is empty."""
        self.configure(url, 'project = tenant', *lines)
        folder = make_local(self.home, fixtures)
        p.json('push', 'team', ONE)
        p.run('rename', f'claude:{ONE}', 'A local title')
        p.same('one row more', p.json('push', 'team', ONE)[0]['rows'], 1)
        p.run('rename', f'team:{ONE}', 'A title of the team')
        p.same('retrieved', [r['state'] for r in p.json('retrieve', f'team:{ONE}')][-1], 'checkpoint-newer')
        p.same('its title', p.json('info', f'claude:{ONE}')['summary'], 'A title of the team')
        p.run('rename', f'team:{ONE}', 'There')
        p.run('rename', f'claude:{ONE}', 'Here')
        run = p.run('push', 'team', ONE)
        p.need(run.returncode == 4 and b'rows that are not here' in run.stderr, f'rows on both sides: push: {run}')
        p.same('rows on both sides: retrieve', p.run('retrieve', f'team:{ONE}').returncode, 4)
        p.same('nothing was overwritten', p.json('info', f'claude:{ONE}')['summary'], 'Here')
        shutil.rmtree(folder)

    def goes_round(self, p, url, *lines):
        """Two machines push, pull and go on in turn, without --force. The store is empty.

        As Claude Code 2.1.332 leaves them, the files have rows about requests that its mirror never adds, and the store has
        one row for each state of the document about a sub-agent."""
        self.configure(url, *lines)
        there = copy.copy(p)
        there.env = {**p.env, 'CLAUDE_CONFIG_DIR': f'{self.home}/there', 'XDG_STATE_HOME': f'{self.home}/there/state'}
        request = json.dumps({'type': 'api-request', 'sessionId': TWO, 'id': 'x', 'params': {}}) + '\n'
        rows = [row_of(TWO, n, f'Prompt {n}') + '\n' for n in range(4)]
        side = [row_of(ONE, n, f'Task {n}').replace(ONE, TWO) + '\n' for n in range(3)]
        here = f'{self.home}/.claude/projects/-w/{TWO}'
        other = f'{self.home}/there/projects/-w/{TWO}'

        def add(path, *more):
            with open(path, 'a', encoding='utf-8') as f:
                f.write(''.join(more))

        def text(path):
            with open(path, encoding='utf-8') as f:
                return f.read()

        def agent(folder, finished):
            put(f'{folder}/subagents/agent-a1.meta.json', json.dumps({'agentType': 'Explore', 'finished': finished}))

        def pushed(what, who, want, *more):
            p.same(what, [r['rows'] for r in who.json('push', 'team', f'claude:{TWO}', *more)], [want])

        def pulled(what, who, *want):
            p.same(what, [r['state'] for r in who.json('retrieve', f'team:{TWO}')], list(want))

        put(f'{here}.jsonl', rows[0] + request + rows[1] + request)
        put(f'{here}/subagents/agent-a1.jsonl', side[0] + request + side[1])
        agent(here, 0)
        pushed('without the rows about requests', p, 5)
        agent(here, 1)
        pushed('another state of the document', p, 1)
        pushed('the same state', p, 0)
        pulled('nothing is newer', p, 'unchanged', 'unchanged')
        pulled('on another machine', there, 'new', 'new')
        p.same('its rows', text(f'{other}.jsonl').count('\n'), 2)
        p.same('the newest state', json.loads(text(f'{other}/subagents/agent-a1.meta.json'))['finished'], 1)
        pushed('nothing to add there', there, 0)
        add(f'{other}.jsonl', rows[2], request)
        add(f'{other}/subagents/agent-a1.jsonl', side[2], request)
        agent(other, 2)
        pushed('went on there', there, 3)
        pushed('again', there, 0)
        pulled('nothing newer there', there, 'unchanged', 'unchanged')
        pulled('back here', p, 'checkpoint-newer', 'checkpoint-newer')
        p.same('the rows about requests stay where they were', [json.loads(line)['type'] for line in text(f'{here}.jsonl').splitlines()],
               ['user', 'api-request', 'user', 'api-request', 'user'])
        p.same('the newest state, here', json.loads(text(f'{here}/subagents/agent-a1.meta.json'))['finished'], 2)
        add(f'{here}.jsonl', rows[3])
        pushed('goes on here', p, 1)
        pulled('and there', there, 'unchanged', 'checkpoint-newer')
        pushed('the requests as well, if that is asked for', p, 3, '--requests')
        pushed('once', p, 0, '--requests')
        pulled('which makes nothing newer', there, 'unchanged', 'unchanged')
        self.refuses_one(p)
        shutil.rmtree(f'{self.home}/.claude/projects/-w')
        shutil.rmtree(f'{self.home}/there')

    def refuses_one(self, p):
        """The answer of mirror is complete if one of its sessions is refused."""
        put(f'{self.home}/.claude/projects/-w/{ONE}.jsonl', row_of(ONE, 0, 'First') + '\n')
        p.run('rename', f'team:{TWO}', 'There')
        p.run('rename', f'claude:{TWO}', 'Here')
        run = p.run('mirror', 'team', '--all', '--json')
        p.same('mirror fails', run.returncode, 1)
        p.same('and reports the other one', [(r['sessionId'], r['rows']) for r in json.loads(run.stdout or b'null') or []], [(ONE, 1)])
        p.need(b'1 of 2 sessions' in run.stderr, f'and how many were refused: {run.stderr}')

    def pulls_in_little_memory(self, p):
        """A session of 60 MB that is in the store: new here, and with what is only here among its rows; and their undo."""
        path = f'{self.home}/.claude/projects/-w/{TWO}.jsonl'
        request = json.dumps({'type': 'api-request', 'sessionId': TWO, 'params': 'x' * 5000}) + '\n'
        large(path, TWO, 30000)
        p.json('push', 'team', TWO)
        with open(path, encoding='utf-8') as f:
            rows = f.readlines()
        os.remove(path)
        for here in ([], [request, *rows[:20000], request, *rows[20000:29000], request]):
            if here:
                put(path, ''.join(here))
            want = [*here, *rows[len([row for row in here if row != request]):]]
            for what in (['retrieve', f'team:{TWO}'], ['log'], ['undo']):
                most = self.memory(p, *what)
                p.need(most < 64 << 10 or any('SAN_OPTIONS' in name for name in p.env), f'{what} of 60 MB with {len(here)} rows here: {most} KB')
                if what[0] == 'retrieve':
                    p.need(read_rows(path) == [json.loads(row) for row in want], f'{what}: the rows are not those of both sides')
            if here:
                with open(path, encoding='utf-8') as f:
                    p.need(f.readlines() == here, f'not undone with {len(here)} rows')
            p.same(f'undone with {len(here)} rows', os.path.exists(path), bool(here))
        os.remove(path)

    def pushes_without_secrets(self, p, lines):
        """lines: the rows of the session in the store."""
        path = f'{self.home}/.claude/projects/-w/{TWO}.jsonl'
        token = 'gh' + 'p_' + 'a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8'
        rows = [row_of(TWO, 0, 'First'), row_of(TWO, 1, f'as zq7-Kappa: export TOKEN={token}'), json.dumps({'type': 'summary', 'summary': f'uses {token}'}),
                '{"no row', row_of(TWO, 2, f'again {token}'), row_of(TWO, 2, 'the same id'), row_of(TWO, 3, 'DB_PASSWORD=zq7-Kappa')]
        put(path, '\n'.join(rows) + '\n' + row_of(TWO, 4, 'not finished'))
        p.same('a dry run', p.json('push', '--redact', '--dry-run', 'team', TWO)[0]['rows'], 5)
        p.same('kept nothing', os.path.exists(f'{self.home}/state/reprise/changes'), False)
        pushed = p.json('push', '--redact', 'team', TWO)[0]
        p.same('its rows', (pushed['rows'], pushed['leftOut']), (5, 1))
        there = [json.loads(row) for row in lines()]
        p.same('the rows in order', [row.get('uuid', row['type']) for row in there], [f'{TWO[:8]}-0', f'{TWO[:8]}-1', 'summary', f'{TWO[:8]}-2', f'{TWO[:8]}-3'])
        p.need(token not in str(there) and 'zq7-Kappa' not in str(there) and str(there).count('REDACTED') == 5, f'a secret was sent: {there}')
        p.same('again', p.json('push', '--redact', 'team', TWO)[0]['rows'], 0)
        put(path, '\n'.join(rows) + '\n' + row_of(TWO, 4, 'finished') + '\n')
        p.same('one row more', p.json('push', '--redact', 'team', TWO)[0]['rows'], 1)
        left = [name for name in os.listdir(f'{self.home}/state/reprise/changes') if 'tmp' in name]
        p.same('nothing of the copy is left', left, [])
        os.remove(path)

    def memory(self, p, *args):
        """The most memory of a command that succeeds, in KB."""
        measure = 'import os, subprocess, sys; c = subprocess.Popen(sys.argv[1:]); _, s, u = os.wait4(c.pid, 0); print(s, u.ru_maxrss)'
        run = subprocess.run([sys.executable, '-S', '-c', measure, p.path, *args], env=p.env, cwd=p.home, capture_output=True, check=False)
        status, most = map(int, run.stdout.split()[-2:])
        p.need(status == 0, f'{args}: {run}')
        return most

    def pages_far_back(self, p, url):
        """Pages of a conversation of 8 MB, far from its end, are those of the local one."""
        self.configure(url)
        name = '%08d-1111-4111-8111-111111111111'
        rows = [{'type': 'user', 'uuid': name % n, 'parentUuid': name % (n - 1) if n else None, 'sessionId': TWO, 'cwd': '/w',
                 'timestamp': '2026-02-09T02:48:28.000Z', 'message': {'role': 'user', 'content': f'{n} {"x" * 2000}'}} for n in range(4000)]
        path = f'{self.home}/.claude/projects/-w/{TWO}.jsonl'
        put(path, ''.join(json.dumps(row) + '\n' for row in rows))
        p.json('push', 'team', TWO)
        for cursor in (3990, 2500, 400, 3, 0):
            page = [p.json('messages', f'{where}:{TWO}', '--before', name % cursor, '--limit', '3') for where in ('claude', 'team')]
            p.same(f'the page before {cursor}', page[1], page[0])
            text = [p.run('messages', f'{where}:{TWO}', '--before', name % cursor, '--limit', '3').stdout for where in ('claude', 'team')]
            p.same(f'the page before {cursor} as text', text[1], text[0])
        p.same('no such message', p.run('messages', f'team:{TWO}', '--before', name % 4000, '--limit', '3').returncode, 3)
        os.remove(path)

    def three_at_once(self, p, url, lines):
        """Three programs push the same session to an empty store, while it grows: each row is there once, in order."""
        self.configure(url)
        path = f'{self.home}/.claude/projects/-w/{TWO}.jsonl'
        pushes = []
        for rows in (3700, 4400, 5000):
            large(f'{path}.new', TWO, rows)
            os.rename(f'{path}.new', path)
            pushes.append(subprocess.Popen([p.path, 'push', 'team', TWO], env=p.env, cwd=self.home, stderr=subprocess.PIPE,
                                           stdout=subprocess.DEVNULL))
        said = [push.communicate()[1] for push in pushes]
        p.json('push', 'team', TWO)
        rows = [json.loads(line)['uuid'] for line in lines()]
        known = [f'{i:08d}' for i in range(5000)]
        p.need(rows == known, f'pushed by three at once: {len(rows)} rows, {len(set(rows))} different, in order: '
               f'{list(dict.fromkeys(rows)) == known}: {said}')
        os.remove(path)
