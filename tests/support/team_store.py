"""Sessions for tests of stores of a team."""
import json
import os
import shutil
import subprocess

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
