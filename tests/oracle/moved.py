#!/usr/bin/env python3
"""Asks the newest agents whether they go on with the sessions of a project that was moved, after `reprise move`.

usage: moved.py PROGRAM FOLDER [AGENT...]

Installs each agent from npm below FOLDER (as newest.py does), asks it something in a project, renames the project, and asks once
more in the new place: that request has to contain the first prompt, and the answer has to land in the session, of which there is
one. It needs the network and is no part of the suite. Exit 1 if anything differs.
"""
import json
import os
import sys

sys.path[:0] = [os.path.dirname(os.path.abspath(__file__)), os.path.dirname(os.path.dirname(os.path.abspath(__file__)))]

from newest import FIRST, Trial

NEXT, ANSWER = 'And what now?', 'Now it goes on.'
AGENTS = 'claude', 'gemini', 'qwen', 'pi', 'kimi'


def try_agent(program, folder, name):
    trial = Trial(program, folder, name, None)
    trial.prepare()
    trial.ask(FIRST)
    session, old = trial.row()['sessionId'], trial.project
    trial.project = f'{trial.top}/A New Name'
    os.rename(old, trial.project)
    moved = trial.reprise.json('move', old, trial.project, '--apply')['sessions']
    trial.model.script[NEXT] = [{'text': ANSWER}]
    requests, answer = [], trial.model.answer

    def record(handler, path, body):
        requests.append(json.dumps(body))
        answer(handler, path, body)
    trial.model.answer = record
    trial.ask(NEXT, session)
    trial.end_daemons()
    said = [f'stays: {s["why"]}' for s in moved if s.get('why')]
    said += ['the conversation was not sent'] * (not any(FIRST in r and NEXT in r for r in requests))
    row = trial.row()
    said += [f'is of {row["cwd"]}'] * (row['cwd'] != trial.project)
    said += ['the answer did not land in it'] * (ANSWER not in trial.reprise.text('messages', '--all', f'{name}:{session}'))
    return said


def main():
    program, folder, *names = sys.argv[1:]
    failed = 0
    for name in names or AGENTS:
        said = try_agent(program, folder, name)
        failed += bool(said)
        print(f'{name}:', '; '.join(said) or 'ok', flush=True)
    sys.exit(1 if failed else 0)


if __name__ == '__main__':
    main()
