#!/usr/bin/env python3
"""Asks the newest agents whether they go on with a session that `reprise continue` made for them.

usage: continued.py PROGRAM FOLDER [AGENT...]

Installs each agent from npm below FOLDER (as newest.py does), makes a session of Claude Code or Codex its own, and asks one more
question of a scripted model: that request has to contain every prompt, reply and result of the original, the answer has to
land in the session, and a list that the agent prints has to name it. It needs the network and is no part of the suite. Exit 1 if anything differs.
"""
import json
import os
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.dirname(HERE), os.path.join(os.path.dirname(HERE), 'commands')]

import continue_in
from newest import FIRST, Trial

LISTS = {'opencode': ['session', 'list']}  # what prints the agent's own list, if anything does
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
    run = name in LISTS and subprocess.run([trial.program, *LISTS[name]], env=trial.env, cwd=trial.project, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=120, check=False)
    trial.model.script[NEXT] = [{'text': ANSWER}]
    requests, answer = [], trial.model.answer

    def record(handler, path, body):
        requests.append(json.dumps(body))
        answer(handler, path, body)
    trial.model.answer = record
    trial.ask(NEXT, made['sessionId'])
    trial.end_daemons()
    missing = min((lacks(r, spoken(want) + [NEXT]) for r in requests), key=len, default=['no request'])
    asked = json.dumps(NEXT) if name == 'opencode' else NEXT  # as `opencode run` records it
    after = continue_in.events(continue_in.plain(world, f'{name}:{made["sessionId"]}'), trial.project)
    said = [f'not sent: {missing}'] * bool(missing)
    said += [f'ends with {after[-2:]}'] * (after[-2:] != [('user', asked), ('assistant', ANSWER)])
    said += ['the conversation before it changed'] * (after[:-2] != want)
    said += [f'its list: {run}'] * (bool(run) and made['sessionId'] not in run.stdout)
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
