"""Sessions for tests of stores of a team."""
import json
import os

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
    row = '{"type":"user","uuid":"%08d","sessionId":"%s","cwd":"/w","message":{"role":"user","content":"%s"}}\n'
    put(path, ''.join(row % (i, session, 'x' * 2000) for i in range(rows)))
