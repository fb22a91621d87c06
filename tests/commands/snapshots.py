#!/usr/bin/env python3
"""Hooks in the configurations of agents: on, off, undo, what is refused, and that a hook never fails.

usage: snapshots.py PROGRAM
"""
import hashlib
import json
import os
import shutil
import subprocess
import sys
import tempfile

from support.program import Program

FILES = {'claude': ('.claude/settings.json', '{\n  "model": "x",\n  "hooks": {\n    "Stop": []\n  }\n}\n'),
         'codex': ('.codex/hooks.json', None),
         'gemini': ('.gemini/settings.json', '// mine\n{"a": 1}'),
         'qwen': ('.qwen/settings.json', '{\r\n\t"a": 1\r\n}'),
         'kimi': ('.kimi-code/config.toml', 'a = 1'),
         'copilot': ('.copilot/hooks/reprise.json', None),
         'opencode': ('.config/opencode/plugin/reprise.js', None),
         'kilo': ('.config/kilo/plugin/reprise.js', None),
         'pi': ('.pi/agent/extensions/reprise.ts', None),
         'qoder': ('.qoder/settings.json', None),
         'droid': ('.factory/settings.json', '{"model": "x"} // mine'),
         'kimi-cli': ('.kimi/config.toml', '\ufeffa = 1\r\n# the end'),
         'grok': ('.grok/hooks/reprise.json', None),
         'cursor': ('.cursor/hooks.json', '{\n  "version": 1,\n  "hooks": {\n    "stop": [{"command": "lint"}]\n  }\n}\n')}
HOOK = {'claude': {'session_id': 's', 'cwd': '', 'prompt': 'p', 'prompt_id': 't'},
        'codex': {'session_id': 's', 'cwd': '', 'prompt': 'p', 'turn_id': 't'},
        'gemini': {'session_id': 's', 'cwd': '', 'prompt': 'p'},
        'qwen': {'session_id': 's', 'cwd': '', 'prompt': 'p', 'prompt_id': 't'},
        'kimi': {'session_id': 's', 'cwd': '', 'prompt': 'p'},
        'copilot': {'sessionId': 's', 'cwd': '', 'prompt': 'p'},
        'opencode': {'sessionID': 's', 'messageID': 't', 'cwd': '', 'prompt': 'p'},
        'kilo': {'sessionID': 's', 'messageID': 't', 'cwd': '', 'prompt': 'p'},
        'pi': {'session': 's', 'cwd': '', 'prompt': 'p'},
        'qoder': {'session_id': 's', 'cwd': '', 'prompt': 'p'},
        'droid': {'session_id': 's', 'cwd': '', 'prompt': 'p'},
        'kimi-cli': {'session_id': 's', 'cwd': '', 'prompt': 'p'},
        'grok': {'sessionId': 's', 'promptId': 't', 'cwd': '', 'prompt': 'p'},
        'cursor': {'conversation_id': 's', 'generation_id': 't', 'prompt': 'p'}}
TOP = os.path.realpath(tempfile.mkdtemp())
HOME = f'{TOP}/home'
PROJECT = f'{HOME}/project'
failed = 0


def need(ok, what):
    global failed
    if not ok:
        failed += 1
        print(f'snapshots: {what}')


def tree():
    seen = {}
    for folder, names, files in os.walk(HOME):
        for name in names:
            seen[os.path.join(folder, name)] = None
        for name in files:
            with open(os.path.join(folder, name), 'rb') as f:
                seen[os.path.join(folder, name)] = f.read()
    return seen


def modes():
    return {path: os.stat(path).st_mode for path in (f'{HOME}/{name}' for name, text in FILES.values() if text)}


def run(p, *args, told=b'', code=0):
    done = subprocess.run([p.path, *args], input=told, capture_output=True, env=p.env, cwd=PROJECT, timeout=60)
    need(done.returncode == code, f'{args}: {done.returncode}: {done.stderr!r}')
    return done


def snapshots_of(agent):
    found = []
    for folder, _, names in os.walk(f'{TOP}/STATE/reprise/copies'):
        for name in names:
            if name == 'log':
                with open(os.path.join(folder, name), encoding='utf-8') as f:
                    found += [line for line in f if f'"{agent}"' in line]
    return found


def main():
    p = Program(sys.argv[1], HOME, {f'XDG_{k}_HOME': f'{TOP}/{k}' for k in ('STATE', 'DATA', 'CACHE')})
    os.makedirs(PROJECT)
    for path, text in FILES.values():
        parent = os.path.dirname(f'{HOME}/{path}')
        os.makedirs(parent if text else os.path.dirname(parent) if path.count('/') > 1 else parent, exist_ok=True)
        if text:
            with open(f'{HOME}/{path}', 'w', encoding='utf-8', newline='') as f:
                f.write(text)
            os.chmod(f'{HOME}/{path}', 0o600 + 0o40 * (len(path) % 2))
    with open(f'{PROJECT}/a', 'w', encoding='utf-8') as f:
        f.write('a\n')
    before, before_modes = tree(), modes()

    shown = run(p, 'snapshots', 'on', '--dry-run').stdout.decode()
    need(tree() == before and all(f'+++ {HOME}/{path}\n' in shown for path, _ in FILES.values()), f'a dry run: {shown}')
    run(p, 'snapshots', 'on', code=4)
    need(tree() == before, 'nothing is changed without consent')

    answer = json.loads(run(p, 'snapshots', 'on', '--yes', '--json').stdout)
    need(sorted(answer['agents']) == sorted(FILES), f'{answer}')
    need(modes() == before_modes, f'on keeps the permissions: {modes()}')
    on = tree()
    for agent, (path, _) in FILES.items():
        text = on.get(f'{HOME}/{path}', b'').decode()
        need(p.path in text and 'snapshot' in text, f'{agent}: {text!r}')
        if path.endswith('.json') and agent not in ('gemini', 'droid'):
            json.loads(text)
    states = json.loads(run(p, 'snapshots', '--json').stdout)
    need(all(s['state'] == ('untrusted' if s['agent'] == 'codex' else 'on') for s in states) and len(states) == len(FILES),
         f'{states}')
    command = f'{p.path} snapshot --agent codex --event prompt'
    identity = {'event_name': 'user_prompt_submit',
                'hooks': [{'async': False, 'command': command, 'timeout': 5, 'type': 'command'}]}
    trusted = hashlib.sha256(json.dumps(identity, separators=(',', ':')).encode()).hexdigest()
    with open(f'{HOME}/.codex/config.toml', 'w', encoding='utf-8') as f:
        f.write(f'[hooks.state."x:user_prompt_submit:0:0"]\ntrusted_hash = "sha256:{trusted}"\n')
    need(b'codex        on ' in run(p, 'snapshots').stdout, 'trusted by a person')
    os.remove(f'{HOME}/.codex/config.toml')
    need(b'Nothing to change' in run(p, 'snapshots', 'on', '--yes').stdout, 'on twice')

    # The command of the configuration is what a shell runs.
    for agent in ('claude', 'codex', 'gemini', 'qwen'):
        text = on[f'{HOME}/{FILES[agent][0]}'].decode().replace('// mine\n', '')
        event = 'BeforeAgent' if agent == 'gemini' else 'UserPromptSubmit'
        command = json.loads(text)['hooks'][event][0]['hooks'][0]['command']
        told = json.dumps({**HOOK[agent], 'cwd': PROJECT}).encode()
        done = subprocess.run(command, shell=True, input=told, capture_output=True, env=p.env, cwd=PROJECT, timeout=60)
        need(done.returncode == 0 and done.stdout == (b'{}\n' if agent == 'gemini' else b''), f'{agent}: {done}')
        need(len(snapshots_of(agent)) == 1, f'{agent}: {snapshots_of(agent)}')
    command = json.loads(on[f'{HOME}/.cursor/hooks.json'])['hooks']['beforeSubmitPrompt'][0]['command']
    done = subprocess.run(command, shell=True, capture_output=True, env=p.env, cwd=PROJECT, timeout=60,
                          input=json.dumps({**HOOK['cursor'], 'workspace_roots': [PROJECT, '/other']}).encode())
    need(done.returncode == 0 and json.loads(done.stdout) == {'continue': True}, f'cursor: {done}')
    need(len(snapshots_of('cursor')) == 1, f'cursor: {snapshots_of("cursor")}')
    for agent in ('kimi', 'copilot', 'opencode', 'kilo', 'pi', 'droid', 'kimi-cli', 'grok'):
        run(p, 'snapshot', '--agent', agent, '--event', 'end', told=json.dumps({**HOOK[agent], 'cwd': PROJECT}).encode())
        need(len(snapshots_of(agent)) == 1, f'{agent}: {snapshots_of(agent)}')
    need({k: v for k, v in tree().items()} == on, 'a snapshot writes nothing below the home directory')

    # Whatever a hook is told, it succeeds.
    for told in (b'', b'{', b'\0' * 100000, b'[' * 200000, b'{"session_id":"s","cwd":"/none/there"}', b'{"session_id":"s","cwd":"/"}',
                 json.dumps({'session_id': 's', 'cwd': PROJECT, 'prompt': 'x' * 9000000}).encode()):
        run(p, 'snapshot', '--agent', 'claude', '--event', 'prompt', told=told)
    for args in ((), ('--agent', 'none'), ('--agent', 'claude'), ('--event', 'x'), ('--newer', 'y'), ('operand',)):
        run(p, 'snapshot', *args)

    # Not even a call that blocks: libgit2 reads the user's configuration whatever it is.
    os.makedirs(f'{PROJECT}/.git/objects')
    os.mkdir(f'{PROJECT}/.git/refs')
    with open(f'{PROJECT}/.git/HEAD', 'w', encoding='utf-8') as f:
        f.write('ref: refs/heads/main\n')
    os.mkfifo(f'{HOME}/.gitconfig')
    with open(f'{PROJECT}/b', 'w', encoding='utf-8') as f:
        f.write('b\n')
    run(p, 'snapshot', '--agent', 'claude', '--event', 'prompt', told=json.dumps({**HOOK['claude'], 'cwd': PROJECT}).encode())
    shutil.rmtree(f'{PROJECT}/.git')
    os.remove(f'{HOME}/.gitconfig')
    os.remove(f'{PROJECT}/b')

    run(p, 'snapshots', 'off', '--yes')
    need(tree() == before, 'off gives back every byte')
    need(modes() == before_modes, f'and keeps the permissions: {modes()}')
    run(p, 'undo')
    need(tree() == on, 'an undo of off')
    run(p, 'undo')
    need(tree() == before, 'an undo of on')
    run(p, 'snapshots', 'on', 'claude', 'claude', 'kimi', '--yes')
    run(p, 'snapshots', 'off', 'kimi', 'claude', '--yes')
    need(tree() == before, 'agents by name, one of them twice')

    # What is not ours to change.
    os.rename(f'{HOME}/.claude/settings.json', f'{HOME}/real.json')
    os.symlink(f'{HOME}/real.json', f'{HOME}/.claude/settings.json')
    need(b'link' in run(p, 'snapshots', 'on', 'claude', '--yes', code=4).stderr, 'a link')
    os.remove(f'{HOME}/.claude/settings.json')
    with open(f'{HOME}/.claude/settings.json', 'w', encoding='utf-8') as f:
        f.write('{"a": 1,}')
    need(b'not valid JSON' in run(p, 'snapshots', 'on', 'claude', '--yes', code=4).stderr, 'no JSON')
    with open(f'{HOME}/.claude/settings.json', 'w', encoding='utf-8') as f:
        f.write('{"disableAllHooks": true}')
    need(b'disableAllHooks' in run(p, 'snapshots', 'on', 'claude', '--dry-run').stderr, 'hooks that are switched off')
    os.chmod(f'{HOME}/.claude/settings.json', 0o400)
    need(b'read-only' in run(p, 'snapshots', 'on', 'claude', '--yes', code=4).stderr, 'a read-only file')
    with open(f'{HOME}/.factory/hooks.json', 'w', encoding='utf-8') as f:
        f.write('{}')
    need(b'hooks.json instead' in run(p, 'snapshots', 'on', 'droid', '--yes', code=4).stderr, 'a file that hides ours')
    for agent, why in (('goose', b'in which directory'), ('cline', b'end of every turn'), ('continue', b'no hooks'), ('vibe', b'knows no hooks')):
        need(why in run(p, 'snapshots', 'on', agent, '--yes', code=4).stderr, f'why not {agent}')
    run(p, 'snapshots', 'on', 'nobody', '--yes', code=2)
    run(p, 'snapshots', 'maybe', code=2)


try:
    main()
finally:
    shutil.rmtree(TOP)
sys.exit(failed > 0)
