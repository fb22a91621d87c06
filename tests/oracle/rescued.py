#!/usr/bin/env python3
"""Asks the real Claude Code whether it goes on with a session that was rescued.

usage: rescued.py PROGRAM FOLDER [WAY...]

Installs the agent from npm below FOLDER (as newest.py does) and asks it two things. Then something happens to the session. A
resume of it has to fail, or to lack the first prompt, or nothing was proven; once more after the rescue, the request has to
contain both prompts, and the answer has to land in the session, of which there is one. It needs the network and is no part of
the suite. Exit 1 if anything differs.
"""
import glob
import json
import os
import shutil
import sys

sys.path[:0] = [os.path.dirname(os.path.abspath(__file__)), os.path.dirname(os.path.dirname(os.path.abspath(__file__)))]

from newest import FIRST, Trial

MORE, NEXT, ANSWER = 'And what more?', 'And what now?', 'Now it goes on.'


def transcript(trial):
    return glob.glob(f'{trial.home}/.claude/projects/*/*.jsonl')[0]


def damaged(trial, path, _):
    """A crash: a cut row in front of each row of the first turn, and of the second prompt, and a line of NULs."""
    with open(path, 'rb') as f:
        rows = f.readlines()
    last = next(i for i, row in enumerate(rows) if MORE.encode() in row and b'"type":"user"' in row)
    with open(path, 'wb') as f:
        f.writelines([row[:40] + row if i <= last and b'"uuid"' in row else row for i, row in enumerate(rows)] + [b'\0' * 300 + b'\n'])


def misplaced(trial, path, _):
    """One folder too deep."""
    folder = os.path.dirname(path)
    os.renames(path, f'{folder}/{os.path.basename(folder)}/{os.path.basename(path)}')


def kept(trial, path, session):
    """The agent's own clean-up, which the copy survives."""
    trial.reprise.json('keep', session)
    os.remove(path)


def bundled(trial, path, session):
    """Another directory, as on another machine."""
    trial.reprise.run('bundle', session, '-o', f'{trial.top}/x.bundle')
    shutil.rmtree(os.path.dirname(path))
    os.rename(trial.project, f'{trial.top}/Another Place')
    trial.project = f'{trial.top}/Another Place'


WAYS = {damaged: lambda trial, session: ['doctor', session, '--fix'],
        misplaced: lambda trial, session: ['doctor', session, '--fix'],
        kept: lambda trial, session: ['keep', 'restore', session],
        bundled: lambda trial, session: ['unbundle', f'{trial.top}/x.bundle', '--to', trial.project, '--apply']}


def resumed(trial, session, requests):
    """Returns the prompts that a resume lacks."""
    requests.clear()
    try:
        trial.ask(NEXT, session)
    except RuntimeError as refused:
        return [str(refused)]
    return [p for p in (FIRST, MORE) if not any(p in r and NEXT in r for r in requests)]


def try_way(program, folder, way, rescue):
    trial = Trial(program, folder, 'claude', None)
    trial.prepare()
    trial.model.script |= {MORE: [{'text': 'Nothing more.'}], NEXT: [{'text': ANSWER}]}
    requests, answer = [], trial.model.answer

    def record(handler, path, body):
        requests.append(json.dumps(body))
        answer(handler, path, body)
    trial.model.answer = record
    trial.ask(FIRST)
    session = trial.row()['sessionId']
    trial.ask(MORE, session)
    way(trial, transcript(trial), session)
    shutil.copytree(trial.home, f'{trial.top}/before', symlinks=True)
    said = [] if resumed(trial, session, requests) else ['it is resumed without a rescue, so nothing is proven']
    trial.end_daemons()
    shutil.rmtree(trial.home)
    os.rename(f'{trial.top}/before', trial.home)

    run = trial.reprise.run(*rescue(trial, session))
    said += [f'exit {run.returncode}: {run.stderr.decode()}'] * (run.returncode != 0)
    said += [f'a resume lacks: {x}' for x in resumed(trial, session, requests)]
    trial.end_daemons()
    row = trial.row()
    said += [f'it is now {row["sessionId"]}'] * (row['sessionId'] != session)
    said += ['the answer did not land in it'] * (ANSWER not in trial.reprise.text('messages', '--all', session))
    return said


def main():
    program, folder, *names = sys.argv[1:]
    failed = 0
    for way, rescue in WAYS.items():
        if not names or way.__name__ in names:
            said = try_way(program, folder, way, rescue)
            failed += bool(said)
            print(f'{way.__name__}:', '; '.join(said) or 'ok', flush=True)
    sys.exit(1 if failed else 0)


if __name__ == '__main__':
    main()
