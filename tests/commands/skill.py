#!/usr/bin/env python3
"""The skill for agents: its commands exist, are answered, and change nothing.

usage: skill.py PROGRAM SOURCE_DIR
"""
import os
import re
import sys
import tempfile

from bounded import edited
from support import checks
from support.program import Program, snapshot


def main():
    check = checks.Checks()
    with open(f'{sys.argv[2]}/docs/skill/past-sessions/SKILL.md', encoding='utf-8') as f:
        text = f.read()
    check.same('its name is that of its directory', re.search(r'\A---\nname: (.*)\n', text).group(1), 'past-sessions')
    check.need('its description has at most 1,024 characters', len(re.search(r'\ndescription: (.*)\n---\n', text).group(1)) <= 1024)
    check.need('it is small', len(text) < 4000)
    with tempfile.TemporaryDirectory() as top:
        top = os.path.realpath(top)
        path = edited(top) + '/f'
        p = Program(sys.argv[1], top, {})
        names = {'SYSTEM:SESSION': 'claude:40000000-1111-4111-8111-111111111111', 'MESSAGE': 'a4', 'TURN': 'u4', 'FILE': path, 'PATH': path,
                 "'words'": 'line'}
        before = snapshot(top)
        commands = re.findall(r'`reprise ([^`]+)`', re.sub(r'\s+', ' ', text))
        check.need('its commands', len(commands) >= 8)
        for command in commands:
            words = [names.get(word, word) for word in command.split()]
            run = p.run(*words, '--project', os.path.dirname(path)) if words[0] in ('list', 'search') else p.run(*words)
            if words[0] == 'rewind':  # these sessions have no checkpoints, which is an answer, too
                check.need(f'{command}: {run}', run.stdout.startswith(b'{"schemaVersion":1,"canRewind":false,"error":'))
            else:
                check.same(command, (run.returncode, run.stdout[:1] in (b'[', b'{'), run.stderr), (0, True, b''))
        for option in set(re.findall(r'`(--[a-z-]+)', text)):
            check.need(f'{option} exists', any(option.encode() in p.run(c, '--help').stdout for c in ('search', 'messages', 'blame', 'rewind', 'list')))
        check.same('nothing is changed', snapshot(top) == before, True)
    print(f'{check.passed} passed, {check.failed} failed')
    sys.exit(1 if check.failed or check.passed < 20 else 0)


if __name__ == '__main__':
    main()
