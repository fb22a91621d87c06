#!/usr/bin/env python3
"""The manual, --help and the tables of the program name the same commands, options and settings; `config` shows and checks them.

usage: documents.py PROGRAM SOURCE_DIR DEMO_STORE [--write]

The sections KEYS and OPTIONS OF EACH COMMAND of the manual are made here, by --write.
"""
import json
import os
import re
import resource
import subprocess
import sys
import tempfile

from support.program import Program


def plain(roff):
    """The text of a manual page without fonts and escapes."""
    text = re.sub(r'\\f[A-Z]|\\&', '', roff).replace('\\-', '-')
    return re.sub(r'^\.[A-Z]{1,2} ?', '', text, flags=re.M).replace('" "', ' ').replace('"', '')


def read(p, *parts):
    with open(os.path.join(p, *parts), encoding='utf-8') as f:
        return f.read()


def check_manual(p, source, write):
    listed = p.run('--help').stdout.decode().split('Commands:')[1].split('\nOptions:')[0]
    names = re.findall(r'^  ([a-z-]+) ', listed, re.M)
    check_made(p, source, names, write)
    page = read(source, 'docs', 'man', 'reprise.1')
    text = plain(page)
    version = p.json('--version')['version']
    p.need(f'"reprise {version}"' in page.splitlines()[0], f'version of the manual: {page.splitlines()[0]}')
    p.need(len(names) > 30, f'commands of --help: {names}')
    for name in names:
        p.need(re.search(rf'^(?:[a-z-]+ *, *)*{re.escape(name)}\b', text, re.M), f'the manual does not name the command {name}')
    for name in ['', *names]:
        words = [name] if name else []
        for option in re.findall(r'^  (?:-.,|   ) --([a-z-]+)', p.run(*words, '--help').stdout.decode(), re.M):
            p.need(f'--{option}' in text, f'the manual does not name --{option} ({name or "picker"})')


def roff(text):
    return re.sub(r'^([.\'])', r'\\&\1', text.replace('\\', '\\e').replace('-', '\\-'))


def keys_section(p):
    """From `help keys`, whose lines are "  KEYS   ACTION   what it does"."""
    out = ['.SH KEYS', 'Keys that are other ones with', '.B \\-\\-keys=vim', 'are named behind the action. The menu',
           '.RB ( ^X )', 'has a letter for each action of the list.', 'In brackets is the name of the action in the configuration',
           '.RB ( reprise\\-config (5)),', 'which may bind other keys.']
    for line in p.run('help', 'keys').stdout.decode().splitlines():
        if line and not line.startswith(' '):
            out.append(f'.SS {line.rstrip(":").capitalize()}')
        elif line:
            keys, action, text = line[2:20].strip(), line[22:37].strip(), line[39:].strip()
            out += ['.TP', f'.B {roff(keys) or "(none)"}', f'{roff(text)} [{roff(action)}]']
    return out


def options_section(p, names):
    out = ['.SH OPTIONS OF EACH COMMAND', 'Besides those above, which every command has:']
    for name in names:
        text = p.run(name, '--help').stdout.decode()
        own = text.split('Options of every command')[0]
        out.append(f'.SS {roff(text.splitlines()[0].removeprefix("usage: "))}')
        for option in re.findall(r'^ {2,6}(-.*(?:\n {30}.*)*)', own.partition('\nOptions:\n')[2], re.M):
            spelled, text = re.split(r'\s{2,}', option, maxsplit=1)
            out += ['.TP', f'.B {roff(spelled)}', roff(' '.join(text.split()))]
    return out


def check_part(p, path, begin, end, want, write):
    page = read(path)
    front, begins, rest = page.partition(begin)
    made, ends, back = rest.partition(end)
    p.need(begins and ends, f'{path} has no place for what is made')
    if write:
        with open(path, 'w', encoding='utf-8') as f:
            f.write(front + begin + want + end + back)
    else:
        p.need(made == want, f'{path} is not up to date: documents.py PROGRAM SOURCE_DIR --write')


def check_made(p, source, names, write):
    check_part(p, os.path.join(source, 'docs', 'man', 'reprise.1'), '.\\" made by tests/tui/setup/documents.py --write\n',
               '.\\" end of what is made\n', '\n'.join(keys_section(p) + options_section(p, names)) + '\n', write)
    check_part(p, os.path.join(source, 'README.md'), '<!-- made of `reprise help agents` by tests/tui/setup/documents.py --write -->\n',
               '<!-- end of what is made -->\n', p.run('help', 'agents').stdout.decode(), write)


def check_settings(p, source):
    page = plain(read(source, 'docs', 'man', 'reprise-config.5'))
    for entry in p.json('config'):
        p.need(re.search(rf'^{re.escape(entry["name"])}\b', page, re.M), f'reprise-config(5) does not name {entry["name"]}')
    for line in p.run('config').stdout.decode().splitlines():
        for word in re.findall(r'one of (\S+)', line):
            p.need(word.replace('|', ' | ') in page, f'reprise-config(5) does not give the values {word}')


def check_keys(p, source):
    page = plain(read(source, 'docs', 'man', 'reprise-config.5'))
    contexts = [line[:-1] for line in p.run('help', 'keys').stdout.decode().splitlines() if line[:1].strip()]
    p.need(', '.join(contexts) in page, f'reprise-config(5) does not name the contexts {contexts}')
    path = os.path.join(p.home, 'k')
    with open(path, 'w', encoding='utf-8') as f:
        f.write('[keys.list]\ndelete = ^D alt-d\nfork = ctrl-d\nrename = none\n')
    run = p.run('config', '--check', '--config', path)
    p.same('conflicts are damage', (run.returncode, b'^D in [keys.list] is bound to delete already' in run.stderr, b'k:3' in run.stderr),
           (5, True, True))
    shown = p.run('help', 'keys', '--config', path).stdout.decode().split('\n\n')[0]
    p.need(re.search(r'^  \^D Alt\+d +delete +move', shown, re.M), f'help keys shows the keys in force: {shown}')
    p.need(re.search(r'^  \^X n +rename ', shown, re.M), f'help keys: a key that was taken away: {shown}')


def check_config(p):
    path = os.path.join(p.home, 'c')
    with open(path, 'w', encoding='utf-8') as f:
        f.write('keys = vim\npewview = on\n[colors]\ntitel = red\ntitle = bold red\ntitle = red\n[other]\nresume = go {id}\n')
    run = p.run('config', '--config', path)
    p.same('mistakes do not stop it', run.returncode, 0)
    p.need(b'did you mean preview?' in run.stderr and b'did you mean title?' in run.stderr, f'nearest names: {run.stderr}')
    shown = {(e.get('section', ''), e['name']): (e['value'], e['source'], e.get('line')) for e in
             json.loads(p.run('config', '--json', '--config', path).stdout)}
    p.same('from the file', shown['', 'keys'], ('vim', 'file', 1))
    p.same('the last one counts', shown['colors', 'title'], ('red', 'file', 6))
    p.same('a default', shown['', 'sort'], ('recent', 'default', None))
    p.same('a command', shown['other', 'resume'], ('go {id}', 'file', 8))
    p.same('mistakes are damage', p.run('config', '--check', '--config', path).returncode, 5)
    with open(path, 'wb') as f:
        f.write(p.run('config', '--config', os.devnull).stdout)
    p.same('the answer is a configuration', (p.run('config', '--check', '--config', path).returncode, p.run(
        'config', '--check', '--config', path).stderr), (0, b''))
    p.env['VISUAL'] = 'touch'
    made = os.path.join(p.home, '.config', 'reprise', 'config')
    run = p.run('config', '--edit', preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (500, 500)))
    p.same('without room no file is begun', (run.returncode, os.path.exists(made)), (1, False))
    p.same('a new file is edited', p.run('config', '--edit').returncode, 0)
    p.need('# keys = default' in read(made), 'the new file has every setting')
    before = read(made)
    p.same('and kept', (p.run('config', '--edit').returncode, read(made)), (0, before))
    p.env['VISUAL'] = 'false'
    p.same('an editor that fails', p.run('config', '--edit').returncode, 1)


def members(value):
    """(name, type) of the members of an object, or of those of a list; of lists inside, too."""
    if isinstance(value, list):
        for v in value:
            yield from members(v)
    elif isinstance(value, dict):
        for name, v in value.items():
            kind = {bool: 'true', int: 'number', float: 'number', str: 'text', list: 'list', dict: ''}[type(v)]
            yield name, kind
            yield from members(v)


def check_json(p, source):
    """Each member of real answers is a row of docs/json.md below its command, with its type."""
    page = read(source, 'docs', 'json.md')
    sections = {t.split('\n')[0]: t for t in re.split(r'^## ', page, flags=re.M)[1:]}
    session, turn = 'f3a97c58-04d2-4b61-8c9e-d15e7b20a6bb', '73d77d08-11d9-4ac4-85a9-837ac3278793'
    shop = os.path.join(p.home, 'code', 'shop')
    seen = 0
    for args in (['--version'], ['list', '--all'], ['info', session], ['search', 'idempotency', '--all'], ['usage', '--all'],
                 ['usage', '--all', '--by', 'model'], ['files', session], ['touched', f'{shop}/src'], ['blame', f'{shop}/src/pay.ts'],
                 ['checkpoints', session], ['rewind', session, '--to', turn], ['doctor', '--all'], ['sweep', '--older-than', '1d', '--all'],
                 ['rename', session, 'x'], ['tag', session, 't'], ['log'], ['undo', '--all'], ['fork', session], ['archive', session],
                 ['rewind', session, '--to', turn, '--apply', '--skip-refused'], ['rewinds'], ['delete', session], ['trash', 'list'],
                 ['undo', '--all'], ['export', session, '-o', os.path.join(p.home, 'x.md')], ['config']):
        run = p.run(args[0], '--json', *args[1:])
        text = run.stdout.decode()
        lines = [text] if args[0] != 'search' else text.splitlines()
        answers = [json.loads(line) for line in lines if line.strip()]
        command = args[0]
        one = isinstance(answers[0], dict) and command != 'search'
        p.same(f'{args}: the version of the answer', one and (next(iter(answers[0])), answers[0].pop('schemaVersion')), one and (
            'schemaVersion', 1))
        found = set(m for answer in answers for m in members(answer))
        p.need('schemaVersion' not in [name for name, _ in found], f'{args}: rows have no version')
        section = next(t for title, t in sections.items() if command in re.split(', | |, and', title))
        p.need(found, f'{args}: no answer, exit {run.returncode}: {run.stderr[:300]}')
        for name, kind in sorted(found):
            row = re.search(rf'^\|.*`{name}`.*\|$', section, re.M)
            p.need(row, f'docs/json.md does not name {name} ({" ".join(args[:2])})')
            types = re.findall(rf'^\|[^|]*`{name}`[^|]*\|([^|]*)\|', section, re.M)
            p.need(not types or any(kind in t for t in types), f'docs/json.md: {name} of {args[:2]} is no {kind}')
            seen += 1
    p.need(seen > 150, f'only {seen} members were compared')


def files_of(source, *rooms):
    return [os.path.relpath(os.path.join(top, name), source) for room in rooms for top, _, names in os.walk(os.path.join(source, room))
            for name in names]


def check_names(p, source):
    """The files, functions and members of store_ops that the documents name are in the sources, and the guide names every member."""
    files = files_of(source, 'lite', 'store', 'tui', 'tests', 'docs', 'screenshots')
    code = ''.join(read(source, f) for f in files if f.endswith(('.c', '.h', '.py', '.sh', '.cmake', 'CMakeLists.txt')))
    called = set(re.findall(r'\b(\w+)\(', code))
    pages = {f: read(source, f) for f in files_of(source, 'docs') if f.endswith('.md')}
    pages |= {f: read(source, f) for f in os.listdir(source) if f.endswith('.md')}
    p.need(len(files) > 1000 and len(pages) > 20, f'{len(files)} files, {len(pages)} documents')
    for page, text in pages.items():
        if page.startswith('docs/formats/'): # names the sources of other programs
            continue
        for name in re.findall(r'`([\w./-]+/[\w.-]+\.(?:c|h|sh|py))`', text):
            p.need(any(f'/{f}'.endswith(f'/{name}') for f in files), f'{page}: {name} does not exist')
        for name in re.findall(r'`([a-z][a-z0-9]*_[a-z0-9_]+)\(\)`', text):
            p.need(name in called, f'{page}: {name}() does not exist')
    ops = re.search(r'^struct store_ops \{(.*?)^\};', read(source, 'store', 'api', 'store.h'), re.M | re.S)[1]
    members = re.findall(r'(\w+); *$', re.sub(r'/\*.*?\*/', '', ops, flags=re.S), re.M)
    p.need(len(members) > 60, f'members of store_ops: {members}')
    for name in members:
        p.need(f'`{name}`' in pages['docs/adding-an-agent.md'], f'docs/adding-an-agent.md does not explain {name}')


def main():
    with tempfile.TemporaryDirectory() as home:
        p = Program(sys.argv[1], home, {'CLAUDE_CONFIG_DIR': os.path.join(home, 'claude')})
        subprocess.run([sys.argv[3], home], check=True)
        check_manual(p, sys.argv[2], '--write' in sys.argv)
        check_settings(p, sys.argv[2])
        check_keys(p, sys.argv[2])
        check_config(p)
        check_json(p, sys.argv[2])
        check_names(p, sys.argv[2])
        print(f'{p.passed} passed, {p.failed} failed')
        sys.exit(p.failed != 0)


main()
