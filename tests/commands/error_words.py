#!/usr/bin/env python3
"""What a person reads after a mistake: one line, "cannot VERB OBJECT: REASON" or the word that was wrong, then the next step.

usage: error_words.py PROGRAM DEMO_STORE
"""
import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

TIME = 'write 2w, 3d, 12h, 30m, a date or an RFC 3339 time'
MISTAKES = (
    (('info', 'zzzz'), 'no session matches "zzzz"; see reprise list --all'),
    (('info', '4'), 'no session matches "4"; give at least 4 characters of an id'),
    (('keep', 'foo'), 'no session matches "foo"; give at least 4 characters of an id'),
    (('list', '--since', 'foo'), f'"foo" is not a time; {TIME}'),
    (('usage', '--before', 'last week'), f'"last week" is not a time; {TIME}'),
    (('help', 'foo'), 'no command "foo"; see reprise --help'),
    (('help', 'lst'), 'no command "lst"; did you mean list?'),
    (('lst',), 'no command "lst"; did you mean list?'),
    (('list', '--foo'), 'unknown option --foo; see reprise list --help'),
    (('list', '-Z'), 'unknown option -Z; see reprise list --help'),
    (('--foo', 'list'), 'unknown option --foo; see reprise --help'),
    (('list', '--jsn'), 'unknown option --jsn; did you mean --json? See reprise list --help'),
    (('list', '--json=3'), '--json takes no value; see reprise list --help'),
    (('--plain', 'list'), '--plain is not an option of this command; see reprise list --help'),
    (('rewinds', 'prune', '--keep', 'x'), '--keep needs a whole number, 0 or more; see reprise rewinds --help'),
    (('sweep',), 'sweep needs a rule, such as --older-than 30d'),
    (('search',), 'search needs a pattern; see reprise search --help'),
    (('tag', 'ID'), 'tag needs a tag, or --none; see reprise tag --help'),
    (('tag', 'ID', 'a', '--none'), 'tag needs a tag, or --none; see reprise tag --help'),
    (('continue', 'ID'), 'continue needs --in AGENT; see reprise help agents'),
    (('trash', 'empty', '--older-than', 'foo'), '"foo" is not an age; write 30d, 12h or 2w'),
    (('list', '--system', 'foo:/x'), '"foo" is not an agent that reprise knows; see reprise help agents'),
    (('-C', '/nonexistent', 'list'), 'cannot change to /nonexistent: no such directory; see reprise list --all'),
    (('-C', 'src/pay.ts', 'list'), 'cannot change to src/pay.ts: Not a directory'),
    (('bundle', '--list', 'none.zst'), 'cannot read the bundle none.zst: no such file'),
    (('unbundle', 'src/pay.ts'), 'cannot read the bundle src/pay.ts: it is damaged, or no bundle (Unknown frame descriptor)'),
    (('search', '['), '"[" is not a pattern: missing terminating ] for character class at character 2; -F searches for it as text'),
    (('search', '-e', ''), '"" is not a pattern: an empty one matches everything'),
    (('checkpoint', 'ID'), 'checkpoint needs --id MSG; see reprise checkpoint --help'),
    (('set', 'ID', 'x'), '"x" is not KEY=VALUE; see reprise set --help'),
    (('resume-at', 'ID'), 'resume-at needs a message, or --clear; see reprise resume-at --help'),
    (('compare', 'ID', 'ID', '--hunk', '2'), 'compare needs --take a or --take b for this option; see reprise compare --help'),
    (('--store', 'x', '--bundle', 'y', 'list'), '--store does not go with --bundle'),
    (('messages', 'ID', '--follow', '--json'), '--follow prints JSON with --plain only'),
    (('rewind', 'ID', '--to', '@1', '--entire-rule', '--mode', 'code'), 'cannot rewind ID: --entire-rule is for sessions of Entire, and this is one of claude'),
    (('push', 'nostore', 'ID'), '"nostore" is no store of the configuration and no URL; see reprise help teams'),
    (('blame', 'src/pay.ts:99'), 'no line 99 in "src/pay.ts": it has 18 lines'),
    (('blame', 'src/pay.ts:9-3'), 'the range of lines of "src/pay.ts" ends before it begins'),
    (('export', 'ID', '-o', '/nonexistent/a.md'), 'cannot write into /nonexistent: no such directory'),
    ((), 'no terminal to draw on; try reprise list'),
    (('usage', '--by', 'year'), '--by must be day, week, month, session, model, project or agent; see reprise usage --help'),
    (('usage', '--by'), '--by needs a value; see reprise usage --help'),
    (('snapshots', 'foo'), 'snapshots takes on, off or prune, not "foo"'),
    (('snapshots', 'prune', 'a', 'b'), 'unexpected argument "b"; see reprise snapshots --help'),
    (('snapshots', 'prune', 'none.ts'), 'no snapshot contains "none.ts"'),
    (('snapshots', 'on', 'cluade'), '"cluade" is not an agent that reprise knows; did you mean claude?'),
    (('list', '--store', 'claude:'), '"claude:" is not SYSTEM:PATH'),
    (('init', 'csh'), 'no scripts for "csh"; use bash, zsh, fish or tmux'),
    (('init', 'bash', '--key', 'f'), '"f" is not a key; use alt-r or ctrl-g'),
    (('completion', 'tmux'), 'no completion for "tmux"; use bash, zsh or fish'),
    (('list', '--system', 'cluade'), '"cluade" is not an agent that reprise knows; did you mean claude?'),
    (('info', 'ID', 'more'), 'unexpected argument "more"; see reprise info --help'),
    (('search', '--in', 'titles', 'x'), '"titles" is not a place to search; use prompts, replies, thinking, tools or all'),
    (('set', 'ID', 'colour=red'), 'cannot set ID: Claude Code sessions have no setting colour'),
    (('rename', 'ID', ' '), 'cannot rename ID: title must be non-empty'),
    (('rewind', 'ID', '--to', 'zz'), 'cannot rewind ID: no checkpoint of its files is named zz; see reprise checkpoints'),
    (('export', 'ID', '-o', 'src'), 'cannot export to PROJECT/src: a link, or not a regular file'),
    (('blame', 'src/none.ts'), 'no file "src/none.ts"; see reprise touched src/none.ts'),
    (('blame', 'src/none.ts:4'), 'no file "src/none.ts"; see reprise touched src/none.ts'),
    (('blame', 'src/pay.ts:3,5'), '"3,5" is not a range of lines; write FILE:10-20'),
    (('blame', 'HEAD', '--notes', '--offset', '2'), '--notes: not together with --by, --porcelain, --offset or --max-bytes'),
    (('blame', 'src', '--apply'), '--apply: only together with --notes'),
    (('messages', 'ID', '--follow', '--limit', '2'), '--follow: not together with --before, --at, --tail, --offset, --around, --limit, --raw or --as-sdk'),
    (('messages', 'ID', '--after', 'x', '--around', 'y'), '--after: not together with --before, --at, --tail, --offset, --around, --raw or --as-sdk'),
    (('blame', 'src'), '"src" is a directory; see reprise touched src'),
    (('resume-at', 'ID', 'zz'), 'cannot find message zz (ID): no such message; see reprise messages --plain'),
    (('tombstone', 'ID', '@0'), 'cannot find message @0 (ID): it is named by its place, and only a row with an id of its own can be changed or resumed at'),
    (('fork', 'ID', '--at', 'zz'), 'cannot fork ID: message zz is not in the session; see reprise messages --plain'),
    (('messages', 'ID', '--before', 'zz'), 'cannot read messages (zz): no such message; see reprise messages --plain'),
    (('messages', 'ID', '--agent', 'zz'), 'cannot read sub-agent zz (ID): no such sub-agent; see reprise subagents'),
    (('export', 'ID', '--from', 'zz'), 'cannot export zz: no such message; see reprise messages --plain'),
    (('rewinds', 'show', 'zz'), 'no rewind has the id "zz"; see reprise rewinds'),
    (('undo', 'zz'), 'no change has the id "zz"; see reprise log'),
    (('trash', 'restore', 'zz'), 'cannot restore zz: not in the trash; see reprise trash list'),
    (('undo', '--back-to', 'zz'), 'no change has the id "zz"; see reprise log'),
    (('rewinds', 'abandon', 'zz'), 'no rewind has the id "zz"; see reprise rewinds'),
    (('rewinds', 'show'), 'rewinds show needs a change; see reprise rewinds'),
    (('rewind', 'ID'), 'rewind needs --to MSG; see reprise checkpoints'),
    (('trash', 'restore'), 'trash restore needs an id; see reprise trash list'),
    (('trash', 'empty', 'zz'), 'unexpected argument "zz"; see reprise trash --help'),
    (('rewinds', 'prune', 'zz'), 'unexpected argument "zz"; see reprise rewinds --help'),
    (('rewinds', 'abandon'), 'rewinds abandon needs a change; see reprise rewinds'),
    (('rewinds', 'zz'), 'rewinds has no "zz"; use show, abandon or prune'),
    (('trash', 'burn'), 'trash has no "burn"; use list, restore or empty'),
    (('sweep', '--apply', '--dry-run', '--empty'), '--apply: not together with --dry-run'),
    (('--config', 'ID.config', 'list'), 'cannot read the configuration ID.config: No such file or directory'),
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
            done = run(*(a.replace('ID', session) for a in args), start_new_session=True)
            said = said.replace('ID', session).replace('PROJECT', str(project))
            need(' '.join(args), done.returncode and done.stderr == f'reprise: {said}\n', done)

        # The trash is emptied as a whole: with an id, nothing is.
        run('delete', session)
        need('trash empty ID', run('trash', 'empty', session).returncode == 2 and session in run('trash').stdout, run('trash'))
        need('undo of the delete', run('undo').returncode == 0, run('log'))

        # A prompt that is larger than what a list reads, in a session that has nothing else to be listed by: its agent lists it
        # nowhere, and it can be read and resumed.
        folder = home / 'claude/projects' / re.sub('[^A-Za-z0-9]', '-', str(project))
        for n, size in enumerate((70_000, 6_000_000)):
            sid = f'7e6b0f00-0000-4000-8000-00000000000{n}'
            log = folder / f'{sid}.jsonl'
            log.write_text(''.join(json.dumps({
                'type': kind, 'uuid': f'7e6b0f0{k}-0000-4000-8000-000000000000', 'parentUuid': k and '7e6b0f00-0000-4000-8000-000000000000' or None,
                'sessionId': sid, 'cwd': str(project), 'isSidechain': False, 'timestamp': f'2026-02-09T02:0{k}:00.000Z',
                'message': {'role': kind, 'content': text}}) + '\n' for k, (kind, text) in enumerate((('user', 'x' * size), ('assistant', 'done')))))
            done = run('info', sid)
            need('info of a huge prompt', done.returncode == 3 and done.stderr == f'reprise: cannot describe session {sid}: nothing in it '
                 'could serve as a title, so that only list --all-kinds has it\n', done)
            need('list of a huge prompt', sid not in run('list', '--all', '--json').stdout, done)
            need('list --all-kinds of a huge prompt', sid in run('list', '--all-kinds', '--json').stdout, done)
            need('messages of a huge prompt', 'done' in run('messages', sid).stdout, done)
            need('resuming a huge prompt', sid in run('--resume', sid, '--print').stdout, done)
            need('renaming a huge prompt', run('rename', sid, 'Huge').returncode == 0 and 'Huge' in run('list').stdout, done)
            log.unlink()

        # What cannot be written is said as what could not be done.
        with open('/dev/full', 'w', encoding='utf-8') as full:
            done = subprocess.run([program, 'list', '--all'], cwd=project, env=env, stdout=full, stderr=subprocess.PIPE, text=True)
        need('full', done.returncode == 1 and done.stderr == 'reprise: cannot write to standard output: No space left on device\n',
             subprocess.CompletedProcess([], done.returncode, '', done.stderr))

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
            missing = f'reprise: cannot load libgit2 ({library[0].decode()}): the library is not installed'
            bare = run('list', '--all')
            rest = [line for line in rows.stdout.splitlines() if '  entire  ' not in line]
            need('list without libgit2', bare.stdout.splitlines() == rest and missing in bare.stderr, bare)
            blame = run('blame', 'README.md')
            need('blame without libgit2', missing in blame.stderr, blame)
            nothing = subprocess.run([program, 'list'], cwd=broken, env=env, capture_output=True, text=True)
            need('git is not started outside of a repository', not (broken / 'started').exists(), nothing)
            env = plain

        # libcrypto is loaded by the first digest: a list has none, a rewind compares contents by them.
        library = re.search(rb'libcrypto[.]so[.][0-9]+', Path(program).read_bytes())
        if library:
            broken = Path(top) / 'broken-crypto'
            broken.mkdir()
            (broken / library[0].decode()).write_text('not a library')
            checkpoint = json.loads(run('checkpoints', session, '--json').stdout)[0]['id']
            plain, env = env, {**env, 'LD_LIBRARY_PATH': str(broken)}
            bare = run('list', '--system', 'claude')
            need('list without libcrypto', session[:8] in bare.stdout and not bare.stderr, bare)
            refused = run('rewind', session, '--to', checkpoint)
            need('rewind without libcrypto', refused.returncode == 4 and not refused.stdout and refused.stderr.endswith(
                f'reprise: cannot load libcrypto ({library[0].decode()}): the library is not installed\n'), refused)
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
        for words in ('info', session), ('--resume', session, '--print'):
            refused = run(*words, **other)
            need(f'mode 000: {words[0]}', refused.returncode == 1 and re.fullmatch('reprise: cannot [a-z ]+ [(]?/.*: Permission denied\n', refused.stderr), refused)
    for line in wrong:
        print(line)
    print(f'{len(MISTAKES) + 10 - len(wrong)} passed, {len(wrong)} failed')
    return bool(wrong)


if __name__ == '__main__':
    sys.exit(main())
