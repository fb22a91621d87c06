#!/usr/bin/env python3
"""`reprise mcp --install AGENT`: the server in the configurations of agents: shown, added, undone, removed, refused.

usage: mcp_install.py PROGRAM SOURCE_DIR
"""
import json
import os
import sys
import tempfile

from support import checks
from support.program import Program, snapshot

try:
    import tomllib
except ImportError:  # before Python 3.11
    tomllib = None

# The file, texts that it may have before (None: no file), and where the server is in the document.
OBJECT = ['{}', '{ }\n', '{"a": 1}', '{\n  "a": [1,2],\n  "b": {"c": "é"}\n}\n', '{\r\n\t"%s": {\r\n\t\t"other": {"command": "x"}\r\n\t}\r\n}\r\n',
          '{"%s":{}}', '{"%s":{"other":{}},"a":1}', '\n']
COMMENTS = ['// mine\n{"a": 1, /* "%s" */ "b": 2}\n']
AGENTS = {
    'claude': ('.claude.json', OBJECT, 'mcpServers'), 'gemini': ('.gemini/settings.json', [None, *OBJECT, *COMMENTS], 'mcpServers'),
    'qwen': ('.qwen/settings.json', [None, *OBJECT, *COMMENTS], 'mcpServers'), 'kimi': ('.kimi-code/mcp.json', [None, *OBJECT], 'mcpServers'),
    'copilot': ('.copilot/mcp-config.json', [None, *OBJECT], 'mcpServers'), 'opencode': ('.config/opencode/opencode.json', [None, *OBJECT, *COMMENTS], 'mcp'),
    'codex': ('.codex/config.toml', [None, '', 'a = 1', 'a = 1\n\n[mcp_servers.other]\ncommand = "x"\n', 'a = 1\r\n[b]\r\nc = 2\r\n'], None),
}


def server(text, member):
    """Our entry as the agent reads it."""
    if member:
        return json.loads('\n'.join(line.split('//')[0] for line in text.replace('/* "%s" */' % member, '').split('\n')))[member]['reprise']
    if tomllib:
        return tomllib.loads(text)['mcp_servers']['reprise']
    return {'command': text.split('command = "')[-1].split('"')[0], 'args': ['mcp']}


def check_agent(c, p, home, agent):
    name, texts, member = AGENTS[agent]
    path = f'{home}/{name}'
    if agent not in ('gemini', 'codex') and 'REPRISE_LONG' not in os.environ:
        texts = [texts[0], texts[-5]]  # they share one editor
    os.makedirs(os.path.dirname(path), exist_ok=True)
    for before in texts:
        before = before.replace('%s', member) if before and member else before
        what = f'{agent} {before!r}'
        if os.path.exists(path):
            os.unlink(path)
        if before is not None:
            with open(path, 'w', encoding='utf-8', newline='') as f:
                f.write(before)

        def read():
            if not os.path.exists(path):
                return None
            with open(path, encoding='utf-8', newline='') as f:
                return f.read()

        shown = p.run('mcp', '--install', agent, '--dry-run')
        c.same(f'{what}: shown and not made', (shown.returncode, b'+++ ' in shown.stdout, b'mcp' in shown.stdout, read()), (0, True, True, before))
        c.same(f'{what}: without a terminal it needs a word', (p.run('mcp', '--install', agent).returncode, read()), (4, before))
        change = p.json('mcp', '--install', agent, '--apply')['change']
        after = read()
        entry = server(after, member)
        command = entry['command'] if isinstance(entry['command'], list) else [entry['command'], *entry['args']]
        c.same(f'{what}: added', command, [os.path.realpath(p.path), 'mcp'])
        if before and before.strip():
            left = after if member else after.replace('\r', '')
            c.need(f'{what}: the rest is as it was', all(part in left for part in ('"other"', '"a"') if part in before))
        c.same(f'{what}: again changes nothing', (p.run('mcp', '--install', agent, '--apply').stdout, read()), (b'Nothing to change.\n', after))
        c.same(f'{what}: undone', (p.run('undo', change).returncode, read()), (0, before))
        c.same(f'{what}: and made again', (p.run('mcp', '--install', agent, '--apply').returncode, read()), (0, after))
        left = before if member else before or ''  # a document in TOML may be empty
        c.same(f'{what}: removed', (p.run('mcp', '--remove', agent, '--apply').returncode, read()), (0, left))
        c.same(f'{what}: nothing to remove', p.run('mcp', '--remove', agent, '--apply').stdout, b'Nothing to change.\n')


def check_other_program(c, p, home):
    """The path of a program that moved is replaced; what a user wrote stays."""
    path = f'{home}/.gemini/settings.json'
    for text, code in (('{"mcpServers":{"reprise":{"command":"/old/reprise","args":["mcp"]},"z":{}}}', 0),
                       ('{"mcpServers":{"reprise":{"command":"npx","args":["other"]}}}', 4), ('{"mcpServers":[]}', 4), ('[]', 4), ('{', 4)):
        with open(path, 'w', encoding='utf-8') as f:
            f.write(text)
        run = p.run('mcp', '--install', 'gemini', '--apply')
        c.same(f'{text}: {run.stderr!r}', run.returncode, code)
        with open(path, encoding='utf-8') as f:
            now = f.read()
        c.need(f'{text}: as expected', now == text if code else json.loads(now)['mcpServers'].keys() == {'z', 'reprise'} and '/old' not in now)
    with open(path, 'w', encoding='utf-8') as f:
        f.write('{"mcpServers":{"reprise":{"env":{"A":"b"},"command":%s,"args":["mcp"]}}}' % json.dumps(os.path.realpath(p.path)))
    c.same('with settings of the user', p.run('mcp', '--install', 'gemini', '--apply').stdout, b'Nothing to change.\n')
    os.rename(path, f'{home}/real.json')
    os.symlink(f'{home}/real.json', path)
    c.same('a link', p.run('mcp', '--remove', 'gemini', '--apply').returncode, 4)


SKILLS = {'claude': '.claude', 'gemini': '.gemini', 'qwen': '.qwen', 'kimi': '.kimi-code', 'copilot': '.copilot', 'opencode': '.config/opencode',
          'codex': '.codex'}


def check_skill(c, p, home, agent):
    """The skill is shown, added among those of the user, brought up to date, undone, removed; another one of its name stays."""
    with open(f'{sys.argv[2]}/docs/skill/past-sessions/SKILL.md', encoding='utf-8') as f:
        text = f.read()
    skills = f'{home}/{SKILLS[agent]}/skills'
    path = f'{skills}/past-sessions/SKILL.md'
    os.makedirs(f'{skills}/other', exist_ok=True)

    def run(on, *more):
        return p.run('mcp', '--install' if on else '--remove', agent, '--skill', *more)

    def read():
        if not os.path.exists(path):
            return None
        with open(path, encoding='utf-8') as f:
            return f.read()

    before = snapshot(f'{home}/{SKILLS[agent]}')
    shown = run(True, '--dry-run')
    c.same(f'{agent}: a skill is shown', (shown.returncode, f'+++ {path}' in shown.stdout.decode(), read()), (0, True, None))
    c.same(f'{agent}: a skill needs a word', (run(True).returncode, read()), (4, None))
    change = p.json('mcp', '--install', agent, '--skill', '--apply')
    c.same(f'{agent}: a skill', (change['path'], read()), (path, text))
    c.same(f'{agent}: nothing else', [x for x in snapshot(f'{home}/{SKILLS[agent]}') if x not in before and not x.startswith(f'{skills}/past-sessions')], [])
    c.same(f'{agent}: again', run(True, '--apply').stdout, b'Nothing to change.\n')
    c.same(f'{agent}: undone', (p.run('undo', change['change']).returncode, os.path.exists(f'{skills}/past-sessions')), (0, False))
    os.makedirs(f'{skills}/past-sessions')
    for there, code in ((f'---\nname: past-sessions\n---\nAn older text: `reprise list`\n', 0), ('---\nname: past-sessions\n---\nMine\n', 4)):
        with open(path, 'w', encoding='utf-8') as f:
            f.write(there)
        c.same(f'{agent}: {there!r} is there', (run(True, '--apply').returncode, read()), (code, there if code else text))
        c.same(f'{agent}: {there!r} is removed', (run(False, '--apply').returncode, read()), (code, there if code else None))
        os.makedirs(f'{skills}/past-sessions', exist_ok=True)
    os.unlink(path)


def main():
    c = checks.Checks()
    with tempfile.TemporaryDirectory() as top:
        home = os.path.realpath(top) + '/home'
        os.makedirs(home)
        p = Program(sys.argv[1], home, {'XDG_STATE_HOME': f'{home}/state'})
        c.same('no agent', p.run('mcp', '--install', 'claude', '--apply').returncode, 4)
        c.same('no agent for a skill', p.run('mcp', '--install', 'claude', '--skill', '--apply').returncode, 4)
        for args, code in ((['--skill'], 2), (['--install', 'pi', '--skill'], 4), (['--install', 'pi'], 4), (['--install', 'nosuch'], 2), (['--install', 'claude', '--remove', 'claude'], 2), (['--apply'], 2)):
            c.same(f'{args}', p.run('mcp', *args).returncode, code)
        c.same('nothing was written', [x for x in snapshot(home) if not x.startswith(f'{home}/state') and x != f'{home}/.'], [])
        for agent in AGENTS:
            check_agent(c, p, home, agent)
            os.makedirs(f'{home}/{SKILLS[agent]}', exist_ok=True)
            check_skill(c, p, home, agent)
        check_other_program(c, p, home)
    print(f'{c.passed} passed, {c.failed} failed')
    sys.exit(c.failed > 0)


main()
