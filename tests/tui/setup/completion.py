#!/usr/bin/env python3
"""Completions name what `--help` names, and the shells accept them.

usage: completion.py PROGRAM DEMO_STORE

Shells that are not installed are left out, and named.
"""
import os
import re
import shutil
import subprocess
import sys
import tempfile

from support.program import Program

FIX = '4b7e0f91-d836-4a5c-b0f2-29c4e8a163cc'
KEYS = 'f3a97c58-04d2-4b61-8c9e-d15e7b20a6bb'


def candidates(p, *words):
    run = p.run('complete', '--', *words)
    p.same(f'exit and stderr of complete {words}', (run.returncode, run.stderr), (0, b''))
    return [line.split('\t')[0] for line in run.stdout.decode().splitlines()]


def commands_of_help(p):
    text = p.run('--help').stdout.decode()
    return re.findall(r'^  ([a-z-]+) ', text.split('Commands:')[1].split('\nOptions:')[0], re.M)


def check_against_help(p):
    names = commands_of_help(p)
    p.same('commands', candidates(p, ''), names)
    p.need(25 < len(names) <= 37 and 'complete' not in names, f'commands of --help: {names}')
    for name in names:
        text = p.run(name, '--help').stdout.decode()
        long = re.findall(r'^  (?:-.,|   ) --([a-z-]+)', text, re.M)
        p.same(f'options of {name}', [c[2:] for c in candidates(p, name, '--')], long)
        for option, words in re.findall(r'--([a-z-]+)=([a-z0-9_-]+(?:\|[a-z0-9_-]+)+)', text):
            p.same(f'{name} --{option}', candidates(p, name, f'--{option}', ''), words.split('|'))
            p.same(f'{name} --{option}=', candidates(p, name, f'--{option}='),
                   [f'--{option}={w}' for w in words.split('|')])


def check_rules(p):
    p.same('a beginning', candidates(p, 'li'), ['list'])
    p.same('a command of another help', candidates(p, 'unb') + candidates(p, 'mc'), ['unbundle', 'mcp'])
    p.same('an alias completes operands', candidates(p, 'ls', '--so'), ['--sort'])
    p.same('no command twice', candidates(p, 'list', ''), [])
    p.same('options end', candidates(p, '--', '--so'), [])
    p.same('globals before the command', candidates(p, '--all', 'li'), ['list'])
    p.same('a value is not a command', candidates(p, '--color', 'always', 'li'), ['list'])
    p.same('a value is being typed', candidates(p, '--color', 'a'), ['auto', 'always'])
    p.same('an id', candidates(p, 'info', 'f3'), [KEYS])
    p.same('an id with its system', candidates(p, 'info', 'claude:f3'), [f'claude:{KEYS}'])
    p.same('several ids', candidates(p, 'archive', FIX, 'f3'), [KEYS])
    p.same('one id only', candidates(p, 'info', FIX, 'f3'), [])
    p.same('an id that is not there', candidates(p, 'info', 'zzz'), [])
    p.same('of the picker', candidates(p, '--resume', 'f3'), [KEYS])
    p.same('of the picker, one word', candidates(p, '--resume=f3'), [f'--resume={KEYS}'])
    p.same('tags', sorted(candidates(p, 'list', '--tag', '')), ['infra', 'security', 'spike'])
    p.run('tag', KEYS, 'two words', 'zeta')
    p.same('each tag by itself', sorted(candidates(p, 'list', '--tag', '')), ['infra', 'security', 'spike', 'two words', 'zeta'])
    p.same('a second tag', candidates(p, 'untag', KEYS, 'ze'), ['zeta'])
    p.run('untag', KEYS, 'two words', 'zeta')
    points = [c['id'] for c in p.json('checkpoints', KEYS) if not c.get('why')][::-1]
    p.same('points, newest first', candidates(p, 'rewind', KEYS, '--to', ''), points)
    p.same('one word', candidates(p, 'rewind', KEYS, f'--to={points[-1][:6]}'), [f'--to={points[-1]}'])
    with_titles = p.run('complete', '--', 'rewind', KEYS, '--to', points[-1]).stdout.decode().split('\t')
    p.need(len(with_titles) == 2 and len(with_titles[1].split()) > 1, f'a point has its prompt: {with_titles}')
    for words in (('fork', KEYS, '--at'), ('resume-at', KEYS), ('export', KEYS, '--from'), ('export', KEYS, '--to')):
        p.same(f'points for {words}', candidates(p, *words, ''), points)
    p.same('two sessions', candidates(p, 'compare', FIX, 'f3'), [KEYS])
    p.same('an empty trash', candidates(p, 'trash', 'restore', ''), [])
    p.run('delete', KEYS)
    changes = [row['id'] for row in p.json('log')]
    p.same('changes', candidates(p, 'undo', ''), changes)
    p.same('changes to go back to', candidates(p, 'undo', '--back-to', ''), changes)
    trashed = [row['trashId'] for row in p.json('trash')]
    p.same('what can be restored', (candidates(p, 'trash', 'restore', ''), len(trashed)), (trashed, 1))
    p.run('undo')
    p.same('points of no session', candidates(p, 'rewind', '--to', ''), [])
    p.same('points of a session that is not there', candidates(p, 'rewind', 'zzzz', '--to', ''), [])
    p.need('fix/webhook-retry' in candidates(p, 'list', '--branch', ''), 'branches')
    p.same('systems', candidates(p, 'list', '--system', 'cl'), ['claude', 'cline'])
    p.same('stores', candidates(p, '--store', 'cl'), ['claude:', 'cline:'])
    p.same('directories', candidates(p, '-C', ''), [':dirs'])
    p.same('files', candidates(p, '--config', ''), [':files'])
    p.same('alternatives', candidates(p, 'trash', ''), ['list', 'restore', 'empty'])
    p.same('nothing after a last word', candidates(p, 'trash', 'list', ''), [])
    p.same('another store', candidates(p, '--store', 'claude:/nowhere', 'info', 'f3'), [])
    p.same('what cannot be', candidates(p, '--no-such-option', 'list', '--'), candidates(p, 'list', '--'))
    p.same('not a word', p.run('complete').returncode, 0)
    for shell in 'bash', 'zsh', 'fish':
        script = p.run('completion', shell).stdout
        p.need(script and script in p.run('init', shell).stdout, f'init {shell} completes')
    p.same('no such shell', p.run('completion', 'csh').returncode, 2)
    p.same('no such key', p.run('init', 'bash', '--key', 'alt-\x1b').returncode, 2)
    p.need(b'"\\C-g"' in p.run('init', 'bash', '--key', 'ctrl-g').stdout, 'another key')


def in_bash(p, line):
    script = ('eval "$(reprise completion bash)"; COMP_LINE=$1 COMP_POINT=${#1}; '
              'compopt() { :; }; _reprise; printf "%s\\n" "${COMPREPLY[@]}"')
    return ['bash', '--norc', '-c', script, 'bash', line]


def in_fish(p, line):
    return ['fish', '--no-config', '-c', f'reprise completion fish | source; complete -C "{line}"']


def in_zsh(p, line):
    # compadd of the completion system works in a widget only: this one prints what it is given.
    script = ('compadd() { while [[ $1 == -* ]]; do [[ $1 == -[VdS] ]] && shift; [[ $1 == -- ]] && { shift; break }; shift; done; '
              'print -rl -- "$@" }; compset() { :; }; eval "$(reprise completion zsh)"; '
              'words=("${(@s: :)1}"); CURRENT=$#words; _reprise')
    return ['zsh', '-f', '-c', script, 'zsh', line]


def check_shells(p):
    env = dict(p.env, PATH=os.path.dirname(p.path) + ':' + p.env['PATH'])
    for shell, words in ('bash', in_bash), ('zsh', in_zsh), ('fish', in_fish):
        if not shutil.which(shell):
            print(f'{shell} is not installed: left out')
            continue
        for line, want in (('reprise li', ['list']), ('reprise list --so', ['--sort']), ('reprise info f3', [KEYS]),
                           ('reprise trash ', ['list', 'restore', 'empty']), ('reprise list --tag s', ['security', 'spike'])):
            run = subprocess.run(words(p, line), env=env, cwd=p.home, capture_output=True, timeout=300, check=False)
            got = [w.split('\t')[0] for w in run.stdout.decode().splitlines() if w]
            p.same(f'{shell}: {line} ({run.stderr.decode()[:300]})', sorted(got), sorted(want))


def main():
    with tempfile.TemporaryDirectory() as home:
        subprocess.run([sys.argv[2], home], check=True)
        p = Program(sys.argv[1], home, {'CLAUDE_CONFIG_DIR': f'{home}/claude'})
        check_against_help(p)
        check_rules(p)
        check_shells(p)
        print(f'{p.passed} passed, {p.failed} failed')
        sys.exit(p.failed != 0)


main()
