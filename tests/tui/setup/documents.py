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
    of_picker = plain(page.split('.SH OPTIONS\n')[1].split('.SH ')[0])
    for name in ['', *names]:
        words = [name] if name else []
        for option in re.findall(r'^  (?:-.,|   ) --([a-z-]+)', p.run(*words, '--help').stdout.decode(), re.M):
            p.need(f'--{option}' in (text if name else of_picker), f'the manual does not name --{option} ({name or "picker"})')


def roff(text):
    return re.sub(r'^([.\'])', r'\\&\1', text.replace('\\', '\\e').replace('-', '\\-'))


def keys_section(p):
    """From `help keys`, whose lines are "  KEYS   ACTION   what it does"."""
    out = ['.SH KEYS', 'These are the keys of each part of the screen. Keys that differ with', '.B \\-\\-keys=vim', 'follow in parentheses.',
           'The word in brackets is the name of the action in the configuration, which can bind other keys: see',
           '.BR reprise\\-config (5).', 'The menu', '.RB ( ^X )', 'has a letter for each action of the list. While nothing is typed there,', '.B ?',
            'shows all keys as well.']
    for line in p.run('help', 'keys').stdout.decode().splitlines():
        if line and not line.startswith(' '):
            out.append(f'.SS {line.rstrip(":").capitalize()}')
        elif line:
            keys, action, text = line[2:20].strip(), line[22:37].strip(), line[39:].strip()
            out += ['.TP', f'.B {roff(keys) or "(none)"}', f'{roff(text)} [{roff(action)}]']
    return out


def options_section(p, names):
    out = ['.SH OPTIONS OF EACH COMMAND', 'These are in addition to those that every command has.']
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


def check_variables(p, source):
    """The manual names every variable of the environment that is read."""
    page = read(source, 'docs', 'man', 'reprise.1').split('.SH ENVIRONMENT')[1].split('.SH ')[0]
    code = ''.join(read(source, f) for f in files_of(source, 'store/systems') if f.endswith('.c'))
    code += read(source, 'store', 'api', 'env.c') + read(source, 'tui', 'main.c')
    names = set(re.findall(r'"((?:[A-Z]+_)+(?:DIR|HOME|DB|DATA|ROOT|NAME|SKIP|HISTORY|COLOR)|VISUAL|EDITOR|COLORTERM|TMPDIR)"', code))
    p.need(len(names) > 25, f'variables: {names}')
    for name in names:
        p.need(re.search(rf'\b{name}\b', page), f'the manual does not name the variable {name}')


def check_examples(p, source):
    """The examples of the manual work on the demo; those that open the picker or need another program are left out."""
    page = plain(read(source, 'docs', 'man', 'reprise.1')).split('EXAMPLES\n')[1].split('SEE ALSO')[0]
    commands = [line.split()[1:] for line in page.splitlines() if re.match(r'reprise [a-z]', line) and '|' not in line]
    p.need(len(commands) > 5, f'examples: {commands}')
    for words in commands:
        run = p.run('-C', os.path.join(p.home, 'code', 'shop'), *words)
        p.need(run.returncode == 0 and (run.stdout or 'export' in words), f'{words}: exit {run.returncode}: {run.stderr.decode()}')


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
    p.env['NO_COLOR'] = '1'
    shown = {e['name']: (e['value'], e['source'], e.get('line')) for e in json.loads(
        p.run('config', '--json', '--config', path, '--keys', 'default', '--all').stdout) if 'section' not in e}
    del p.env['NO_COLOR']
    p.same('an option overrules the file', shown['keys'], ('default', 'command line', 1))
    p.same('and the default', shown['scope'], ('all', 'command line', None))
    p.same('so does the environment', shown['colors'], ('none', 'environment', None))
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


TYPES = {'text': str, 'number': (int, float), 'true': bool, 'true or false': bool, 'list': list, 'list of texts': list, 'list of rows': list,
         'object': dict, 'row': (dict, str)}


def tables_of(section):
    """{'': the members of the answer, 'files': those of the objects in it that are called so, ...}: name -> (type, may be absent)."""
    tables = {}
    for head, rows in re.findall(r'^\| member(?: of ([^|]*))? \| type .*\n\|[-|]+\n((?:\|.*\n?)+)', section, re.M):
        for name in re.findall(r'`(\w+)`', head) or ['']:
            table = tables.setdefault(name, {})
            for names, kind in re.findall(r'^\| ([^|]*) \| ([^|]*) \|', rows, re.M):
                table |= {n: (kind.rstrip('?'), kind.endswith('?')) for n in re.findall(r'`(\w+)`', names)}
    return tables


def check_object(p, where, answer, tables, table=''):
    """Every member of an answer is in the table, with its type, and every member of the table that cannot be absent is in the answer."""
    for name, (_, absent) in tables[table].items():
        p.need(absent or name in answer, f'{where}: docs/json.md says that {name} is always there: {answer}')
    for name, value in answer.items():
        kind = tables[table].get(name, ('', False))[0]
        p.need(kind, f'docs/json.md does not name {name} ({where})')
        p.need(not kind or isinstance(value, TYPES[kind]) and isinstance(value, bool) == (TYPES[kind] is bool) and (value != '' or name == 'text'),
               f'docs/json.md: {where}: {name} is no {kind}: {value}')
        for inner in value if isinstance(value, list) else [value]:
            if name in tables and isinstance(inner, dict):
                check_object(p, f'{where}: {name}', inner, tables, name)


def check_answer(p, args, sections):
    """Returns the number of objects in the answer."""
    run = p.run('-C', os.path.join(p.home, 'code', 'shop'), args[0], '--json', *args[1:])
    text = run.stdout.decode()
    p.need(text.endswith('\n'), f'{args}: the answer is a whole line: exit {run.returncode}: {run.stderr[:300]}')
    answers = [json.loads(line) for line in (text.splitlines() if args[0] == 'search' else [text]) if line.strip()]
    if len(answers) == 1 and isinstance(answers[0], list):
        answers = answers[0]
    elif args[0] != 'search':
        p.same(f'{args}: the version of the answer', (next(iter(answers[0])), answers[0].pop('schemaVersion')), ('schemaVersion', 1))
    command = 'rewind' if answers and 'canRewind' in answers[0] else args[0] # also an undo of one
    tables = tables_of(next(t for title, t in sections.items() if command in title.split(', ')))
    if args[0] == 'info':
        tables[''] |= tables_of(sections['list'])['']
    for answer in answers:
        check_object(p, ' '.join(args[:2]), answer, tables)
    return len(answers)


def check_json(p, source):
    """Real answers have the members that docs/json.md names below their command, and no others."""
    page = read(source, 'docs', 'json.md')
    sections = {t.split('\n')[0]: t for t in re.split(r'^## ', page, flags=re.M)[1:]}
    session, turn, other = 'f3a97c58-04d2-4b61-8c9e-d15e7b20a6bb', '73d77d08-11d9-4ac4-85a9-837ac3278793', 'a85d3b60'
    shop, goat = os.path.join(p.home, 'code', 'shop'), os.path.join(p.home, 'g')
    seen = 0
    for args in (['--version'], ['list', '--all', '--all-kinds'], ['info', session], ['info', '60701e01-0000-4000-8000-000000000001'],
                 ['info', 'e47113e1-0000-4000-8000-000000000001'], ['search', 'idempotency', '--all', '--context', '1'], ['usage', '--all'],
                 ['usage', '--all', '--by', 'model'], ['usage', '--all', '--by', 'session'], ['files', session], ['touched', f'{shop}/src'],
                 ['blame', f'{shop}/src/pay.ts'], ['checkpoints', session], ['checkpoint-of', 'HEAD'], ['restore', session],
                 ['restore', '60701e01-0000-4000-8000-000000000001'], ['rewind', session, '--to', turn], ['doctor', '--all'],
                 ['sweep', '--older-than', '1d', '--all'], ['rename', session, 'x'], ['tag', session, 't'], ['log'],
                 ['undo', '--all', '--dry-run'], ['undo', '--all'], ['fork', session], ['archive', session], ['archive', session, other],
                 ['unarchive', session], ['resume-at', session, turn], ['reappend', session],
                 ['rewind', session, '--to', turn, '--mode', 'both', '--apply', '--skip-refused'], ['rewinds'], ['undo', '--all'],
                 ['delete', session], ['delete', other, 'c3f7a912'], ['trash', 'list'], ['sweep', '--older-than', '1d', '--all', '--apply'],
                 ['export', '4b7e0f91', '-o', os.path.join(p.home, 'x.md'), '--redact'], ['create', f'goat:{goat}', '--cwd', shop],
                 ['create', 'claude', '--no-persist'], ['config']):
        seen += check_answer(p, args, sections)
    p.need(seen > 150, f'only {seen} objects were compared')


def check_members(p, source):
    """docs/json.md names every member that the program can write, and no other."""
    page = read(source, 'docs', 'json.md')
    files = [os.path.join('tui', 'setup', 'config_show.c'), os.path.join('tui', 'config', 'resume_command.c')]
    files += [f for f in files_of(source, 'tui/commands', 'store/query', 'store/api') if f.endswith('.c')]
    code = ''.join(read(source, f) for f in files)
    written = set(re.findall(r'\b(?:out|jsonout|time|value|values|bool)_(?:member|string|int|bool|true|open|strings|slices|key)\(\w+(?:\(o\))?,'
                             r'\s*"(\w+)"', code))
    code += ''.join(read(source, f) for f in files_of(source, 'store/systems') if re.search(r'(facts|exathena/rewind|messages)\.c$', f))
    named = {n for section in re.split(r'^## ', page, flags=re.M)[1:] for table in tables_of(section).values() for n in table}
    p.need(len(written) > 100 and len(named) > 100, f'{len(written)} members, {len(named)} in docs/json.md')
    for name in written:
        p.need(f'`{name}`' in page or f'"{name}"' in page, f'docs/json.md does not name {name}')
    for name in named:
        p.need(f'"{name}"' in code, f'docs/json.md names {name}, which is never written')


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
        check_variables(p, sys.argv[2])
        check_examples(p, sys.argv[2])
        check_settings(p, sys.argv[2])
        check_keys(p, sys.argv[2])
        check_config(p)
        check_json(p, sys.argv[2])
        check_members(p, sys.argv[2])
        check_names(p, sys.argv[2])
        print(f'{p.passed} passed, {p.failed} failed')
        sys.exit(p.failed != 0)


main()
