#!/usr/bin/env python3
"""What a person reads after a mistake: one line, the reason first, then the next step, with the words that were typed.

usage: error_words.py PROGRAM DEMO_STORE
"""
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

TIME = 'write 2w, 3d, 12h, 30m, a date or an RFC 3339 time'
MISTAKES = (
    (('info', 'zzzz'), 'no session matches "zzzz"'),
    (('info', '4'), '"4" is too short; give at least 4 characters of the id'),
    (('list', '--since', 'foo'), f'"foo" is not a time; {TIME}'),
    (('usage', '--before', 'last week'), f'"last week" is not a time; {TIME}'),
    (('help', 'foo'), 'no command "foo"; see reprise --help'),
    (('help', 'lst'), 'no command "lst"; did you mean list?'),
    (('lst',), 'no command "lst"; did you mean list?'),
    (('list', '--foo'), 'unknown option --foo; see reprise --help'),
    (('list', '--jsn'), 'unknown option --jsn; did you mean --json? See --help'),
    (('sweep',), 'sweep needs a rule, such as --older-than 30d'),
    (('trash', 'empty', '--older-than', 'foo'), '"foo" is not an age; write 30d, 12h or 2w'),
    (('list', '--system', 'foo:/x'), '"foo" is not an agent that reprise knows; see reprise help agents'),
    (('-C', '/nonexistent', 'list'), 'no such directory for -C: /nonexistent'),
    (('export', 'ID', '-o', '/nonexistent/a.md'), 'no such directory to write to: /nonexistent'),
)


def main():
    program, store = map(os.path.realpath, sys.argv[1:])
    wrong = []
    with tempfile.TemporaryDirectory() as top:
        home = Path(top, 'home')
        subprocess.run([store, home], check=True, stdout=subprocess.DEVNULL)
        env = {'HOME': str(home), 'CLAUDE_CONFIG_DIR': str(home / 'claude'), 'PATH': os.environ['PATH'],
               'LC_ALL': 'C.UTF-8', 'TZ': 'UTC'}
        project = home / 'code/shop'

        def run(*args, **more):
            return subprocess.run([program, *args], cwd=project, env=env, capture_output=True, text=True, **more)

        def need(what, is_true, run):
            if not is_true:
                wrong.append(f'{what}: exit {run.returncode}: {run.stdout[-300:]}{run.stderr}')

        session = run('list', '--json').stdout.split('"sessionId":"')[1].split('"')[0]
        for args, said in MISTAKES:
            done = run(*(session if a == 'ID' else a for a in args))
            need(' '.join(args), done.returncode and done.stderr == f'reprise: {said}\n', done)

        # The columns of a list are in one place in every row, whatever the length of an id.
        rows = run('list', '--all')
        lines = [line for line in rows.stdout.splitlines() if line.strip()]
        agents = {re.match(r'.{8}  (.{8})  (\w+)', line).start(2) if re.match(r'.{8}  (.{8})  (\w+)', line) else line
                  for line in lines}
        need('list: columns', len(lines) > 5 and len(agents) == 1, rows)

        # libgit2 is loaded when it is needed; where it cannot be, the rest works and says what is missing. A list starts no git
        # where there is no repository.
        library = re.search(rb'libgit2[.]so[.][0-9.]+', Path(program).read_bytes())
        if library:
            broken = Path(top) / 'broken'
            broken.mkdir()
            (broken / library[0].decode()).write_text('not a library')
            (broken / 'git').write_text(f'#!/bin/sh\ntouch {broken}/started\n')
            (broken / 'git').chmod(0o755)
            plain, env = env, {**env, 'LD_LIBRARY_PATH': str(broken), 'PATH': f'{broken}:{env["PATH"]}'}
            missing = f'reprise: the library is not installed: load libgit2: {library[0].decode()}'
            bare = run('list', '--all')
            rest = [line for line in rows.stdout.splitlines() if '  entire  ' not in line]
            need('list without libgit2', bare.stdout.splitlines() == rest and missing in bare.stderr, bare)
            blame = run('blame', 'README.md')
            need('blame without libgit2', missing in blame.stderr, blame)
            nothing = subprocess.run([program, 'list'], cwd=broken, env=env, capture_output=True, text=True)
            need('git is not started outside of a repository', not (broken / 'started').exists(), nothing)
            env = plain

        # Without a home directory nothing is known, and the reason is named.
        del env['HOME'], env['CLAUDE_CONFIG_DIR']
        lost = subprocess.run([program, 'list'], cwd='/', env=env, capture_output=True, text=True)
        need('no HOME', not lost.stdout and 'HOME is not set' in lost.stderr, lost)

        # A transcript that must not be read: the reason is the permission, not the kind of file.
        env.update(HOME=str(home), CLAUDE_CONFIG_DIR=str(home / 'claude'))
        transcript = next(home.glob(f'claude/projects/*/{session}.jsonl'))
        subprocess.run(['chmod', '-R', 'a+rX', top], check=True)
        transcript.chmod(0)
        other = {'user': 65534, 'extra_groups': ()} if os.getuid() == 0 else {}
        refused = run('info', session, **other)
        need('mode 000', refused.returncode and refused.stderr.startswith('reprise: Permission denied: '), refused)
    for line in wrong:
        print(line)
    print(f'{len(MISTAKES) + 6 - len(wrong)} passed, {len(wrong)} failed')
    return bool(wrong)


if __name__ == '__main__':
    sys.exit(main())
