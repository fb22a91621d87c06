#!/usr/bin/env python3
"""Asks the newest agents whether they go on with a session that `reprise continue` made for them.

usage: continued.py PROGRAM FOLDER [AGENT...]

Installs each agent from npm below FOLDER (as newest.py does), makes a session of Claude Code or Codex its own, and asks one more
question of a scripted model: that request has to contain every prompt, reply and result of the original, and the answer has to
land in the session. It needs the network and is no part of the suite. Exit 1 if anything differs.
"""
import json
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.dirname(HERE), os.path.join(os.path.dirname(HERE), 'commands')]

import continue_in
from newest import FIRST, Trial

NEXT, ANSWER = 'And what now?', 'Now it goes on.'


class World:
    """The trial as the world of tests/commands/continue_in.py."""

    def __init__(self, trial):
        self.home, self.project, self.program = trial.home, trial.project, trial.reprise


def spoken(events):
    """The texts that the model has to be sent."""
    return [text for event in events for text in ([event[1]] if event[0] != 'call' else [event[2]]) if text]


def lacks(request, texts):
    return [t for t in texts if json.dumps(t)[1:-1] not in request and json.dumps(t, ensure_ascii=False)[1:-1] not in request]


def try_agent(program, folder, name):
    trial = Trial(program, folder, name, None)
    trial.prepare()
    trial.ask(FIRST)  # now it has a store
    world = World(trial)
    source, make = ('codex', continue_in.codex_session) if name == 'claude' else ('claude', continue_in.claude_session)
    trial.reprise.env['CLAUDE_CONFIG_DIR'] = os.path.join(trial.home, '.claude')
    sid = make(world)
    made = trial.reprise.json('continue', f'{source}:{sid}', '--in', name, '--apply')
    want = continue_in.events(continue_in.plain(world, f'{source}:{sid}'), trial.project, continue_in.TAKES.get(name))
    trial.model.script[NEXT] = [{'text': ANSWER}]
    requests, answer = [], trial.model.answer

    def record(handler, path, body):
        requests.append(json.dumps(body))
        answer(handler, path, body)
    trial.model.answer = record
    trial.ask(NEXT, made['sessionId'])
    trial.end_daemons()
    missing = min((lacks(r, spoken(want) + [NEXT]) for r in requests), key=len, default=['no request'])
    after = continue_in.events(continue_in.plain(world, f'{name}:{made["sessionId"]}'), trial.project)
    said = [f'not sent: {missing}'] * bool(missing)
    said += [f'ends with {after[-2:]}'] * (after[-2:] != [('user', NEXT), ('assistant', ANSWER)])
    said += ['the conversation before it changed'] * (after[:-2] != want)
    return said


def main():
    program, folder, *names = sys.argv[1:]
    failed = 0
    for name in names or continue_in.TARGETS:
        said = try_agent(program, folder, name)
        failed += bool(said)
        print(f'{name}:', '; '.join(said) or 'ok', flush=True)
    sys.exit(1 if failed else 0)


if __name__ == '__main__':
    main()
