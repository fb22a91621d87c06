#!/usr/bin/env python3
"""What the newest Claude Code writes, and how it may change a transcript while it is read.

usage: client_rules.py PROGRAM

Queued prompts in forks, failed requests, last rows without a time, sessions of a command alone, resent rows, kinds of rows
that nobody documented, a transcript that the client compacts while it is listed, and settings that say wrongly how long sessions stay.
"""
import json
import os
import shutil
import sys
import threading

from resume_by_id import World, flat

ERROR = 'API Error: 529 overloaded'


def uuid(n):
    return f'{n:08}-0000-4000-8000-000000000000'


def sid(n):
    return f'aaaaaaaa-0000-4000-8000-{n:012}'


class Rules(World):
    def bytes_of(self, number, rows):
        return b''.join(json.dumps({**row, 'sessionId': sid(number)}, separators=(',', ':')).encode() + b'\n' for row in rows)

    def path(self, number):
        return f'{self.config}/projects/{flat(self.home)}/{sid(number)}.jsonl'

    def write(self, number, rows):
        os.makedirs(os.path.dirname(self.path(number)), exist_ok=True)
        with open(self.path(number), 'wb') as f:
            f.write(self.bytes_of(number, rows))
        return sid(number)

    def row(self, n, kind, parent, **more):
        return {'parentUuid': parent and uuid(parent), 'isSidechain': False, 'type': kind, 'uuid': uuid(n), 'cwd': self.home,
                'timestamp': f'2026-03-01T10:00:{n % 60:02}.000Z', **more}

    def say(self, n, kind, text, parent, **more):
        return self.row(n, kind, parent, message={'role': kind, 'content': text if kind == 'user' else [{'type': 'text', 'text': text}]}, **more)

    def talk(self):
        return [self.say(1, 'user', 'begin', None), self.say(2, 'assistant', 'ok', 1)]

    def texts(self, session):
        return [line for line in self.program.run('messages', session).stdout.decode().split('\n') if line]

    def restored(self, session):
        return json.loads(self.program.run('restore', session, '--json').stdout)['messages']


def check_queued(w):
    """A prompt that was typed while the agent worked stays in a fork; the rows of the queue do not."""
    queue = [{'type': 'queue-operation', 'operation': what, 'timestamp': '2026-03-01T10:00:03.000Z', 'content': 'queued words'}
             for what in ('enqueue', 'remove')]
    queued = w.row(3, 'attachment', 2, attachment={'type': 'queued_command', 'prompt': 'queued words', 'commandMode': 'prompt'})
    session = w.write(1, [*w.talk(), *queue, queued, w.say(4, 'assistant', 'fine', 3)])
    fork = json.loads(w.program.run('fork', session, '--json').stdout)
    for name in session, fork['sessionId']:
        w.program.same('messages with a queued prompt', w.texts(name), ['> begin', 'ok', '> queued words', 'fine'])
    with open(fork['path'], encoding='utf-8') as f:
        w.program.need('queue-operation' not in f.read(), 'a fork has rows of the queue')


def check_errors(w):
    """What a request failed with is shown where the agent shows it, and is no answer: the session waits for one."""
    rows = [*w.talk(), w.say(3, 'user', 'again', 2), w.say(4, 'assistant', ERROR, 3, isApiErrorMessage=True)]
    session = w.write(2, rows)
    answer = json.loads(w.program.run('restore', session, '--json').stdout)
    w.program.need(ERROR in w.texts(session), 'the error is not shown')
    w.program.same('interrupted by an error', answer['interruption']['kind'], 'interrupted_prompt')


def check_ends(w):
    """A last row without a time, or with a bad one, neither hides the session nor empties it."""
    for value in 'bad', '', None, 7, []:
        last = w.say(4, 'assistant', 'fine', 3)
        last['timestamp'] = value
        if value == []:
            del last['timestamp']
        session = w.write(3, [*w.talk(), w.say(3, 'user', 'again', 2), last])
        w.program.same(f'messages, time {value!r}', w.texts(session), ['> begin', 'ok', '> again', 'fine'])
        w.program.same(f'restored, time {value!r}', len(w.restored(session)), 4)
        info = json.loads(w.program.run('info', session, '--json').stdout)
        w.program.same(f'last activity, time {value!r}', info['lastActivity'], 1772359203000)


def check_commands_alone(w):
    """A session in which only a screen was opened is in no list; with a prompt it is."""
    command = [w.row(1, 'system', None, subtype='local_command', content='<command-name>/model</command-name>'),
               w.row(2, 'system', 1, subtype='local_command', content='<local-command-stdout>Set model to x</local-command-stdout>')]
    for more, listed in ([], False), ([w.say(3, 'user', 'a prompt', 2)], True):
        session = w.write(4, [*command, *more])
        w.program.same('a command alone is listed', session in w.program.run('list', '--json').stdout.decode(), listed)
        w.program.same('a command alone on the list', session[:8] in w.program.run('list', '-C', w.home).stdout.decode(), True)


def check_resent(w):
    """A row that was sent again has a new id and names the old one: only one of the two is in the conversation."""
    session = w.write(5, [*w.talk(), w.say(3, 'user', 'again', 2),
                          w.say(4, 'user', 'again', 2, sentAsUuid=uuid(3), storedAnewFor='x'), w.say(5, 'assistant', 'fine', 4)])
    w.program.same('a resent prompt', w.texts(session), ['> begin', 'ok', '> again', 'fine'])
    w.program.same('a resent prompt, restored', len(w.restored(session)), 4)
    fork = json.loads(w.program.run('fork', session, '--json').stdout)
    with open(fork['path'], encoding='utf-8') as f:
        w.program.need('sentAsUuid' not in f.read(), 'a fork names an id of another session')


def check_unknown(w):
    """Rows of other types change nothing, whether they have ids or not, and doctor finds nothing wrong."""
    kinds = ('memory-mode', 'dev-mods', 'observer-ref', 'api-request', 'api-request-blob', 'api-request-shape', 'api-request-resumed',
             'artifact-comment-monitor', 'artifact-autoreact-ledger', 'repl-mode', 'clients-started-by', 'never-seen', '')
    rows = w.talk()
    for n, kind in enumerate(kinds):
        rows += [{'type': kind, 'value': {'x': [n]}, 'timestamp': '2026-03-01T12:00:00.000Z'}, {'type': kind, 'uuid': uuid(50 + n), 'parentUuid': uuid(2)}]
    rows += [w.row(3, 'attachment', 2, attachment={'type': 'progress_reminder_sent'}),
             w.row(6, 'attachment', 3, attachment={'type': 'hook_success', 'hookEvent': 'PreSkillShellCommand'}),
             w.say(4, 'user', 'next', 6), w.say(5, 'assistant', 'fine', 4)]
    session = w.write(6, rows)
    w.program.same('among unknown rows', w.texts(session), ['> begin', 'ok', '> next', 'fine'])
    kinds_found = {f['kind'] for f in json.loads(w.program.run('doctor', session, '--json').stdout)}
    w.program.need(kinds_found <= {'expires'}, f'doctor: {kinds_found}')
    with open(w.path(6), 'rb') as f:
        w.program.same('export', w.program.run('export', session, '--format', 'jsonl', '-o', '-').stdout, f.read())


def check_compacted_while_read(w):
    """The client rewrites a transcript, shorter or longer, while it is read: each answer is of one state or an error, never a mixture."""
    def state(name, n):
        rows = []
        for i in range(n):
            rows.append(w.say(i + 1, 'user' if i % 2 == 0 else 'assistant', f'{name} {i} ' + name * (40 if name == 'short' else 400), i or None))
        return w.bytes_of(7, rows)

    states = {'short': state('short', 20), 'longer': state('longer', 200)}
    w.write(7, [])
    done = threading.Event()

    def rewrite():
        while not done.is_set():
            for name, data in states.items():
                if name == 'short':
                    with open(w.path(7) + '.new', 'wb') as f:
                        f.write(data)
                    os.rename(w.path(7) + '.new', w.path(7))
                else:
                    with open(w.path(7), 'r+b') as f:
                        f.truncate(0)
                        f.write(data)

    with open(w.path(7), 'wb') as f:
        f.write(states['short'])
    writer = threading.Thread(target=rewrite)
    writer.start()
    try:
        for i in range(60):
            command = (['list', '--json'], ['messages', sid(7), '--json'], ['info', sid(7), '--json'], ['restore', sid(7), '--json'],
                       ['export', sid(7), '--format', 'md', '-o', '-'], ['search', 'short', '--json'])[i % 6]
            run = w.program.run(*command)
            text = run.stdout.decode(errors='replace')
            w.program.need(run.returncode in (0, 1 if command[0] == 'search' else 0, 3, 4, 5), f'{command}: {run.returncode} {run.stderr!r}')
            if command[0] in ('messages', 'restore', 'export') and run.returncode == 0:
                w.program.need(not ('short 0' in text and 'longer 199' in text), f'{command}: two states in one answer')
                w.program.need('\\u0000' not in text and '\0' not in text, f'{command}: bytes of no state')
            if command[1:2] == ['--json'] or command[-1] == '--json' and run.returncode == 0 and command[0] != 'search':
                json.loads(text or '[]')
    finally:
        done.set()
        writer.join()
    os.remove(w.path(7))


def check_periods(w):
    """A period that cannot be read, or 0, is named by list and doctor, wherever it is; no other one is."""
    own, managed = f'{w.config}/settings.json', f'{w.home}/claude-code/managed-settings.d/50-x.json'
    for place in own, f'{w.home}/.claude/settings.json', f'{w.home}/.claude/settings.local.json', managed:
        os.makedirs(os.path.dirname(place), exist_ok=True)
        for text, odd in [('{"cleanupPeriodDays":0}', True), ('{"cleanupPeriodDays":"60"}', True), ('{"cleanupPeriodDays":-1}', True),
                          ('{bad json', True), ('{"cleanupPeriodDays":1e12}', True), ('{"cleanupPeriodDays":null}', True),
                          ('{"cleanupPeriodDays":30.5}', False), ('{"cleanupPeriodDays":99999}', False), ('{}', False)]:
            with open(place, 'w', encoding='utf-8') as f:
                f.write(text)
            for form in [], ['--json']:
                run = w.program.run('list', *form)
                said = run.stderr.decode()
                w.program.same(f'list {form}: {place} {text}', (run.returncode, place in said, 'cleanupPeriodDays' in said, said.count('\n')),
                               (0, odd, odd, int(odd)))
            found = [f for f in json.loads(w.program.run('doctor', '--json').stdout) if f['kind'] == 'settings']
            w.program.same(f'doctor: {place} {text}', [f['path'] for f in found], [place] if odd else [])
            w.program.same(f'no expiry: {text}', odd, not any('expiresAt' in r for r in json.loads(w.program.run('list', '--json').stdout)))
        os.unlink(place)


def main():
    w = Rules(sys.argv[1])
    try:
        for check in check_queued, check_errors, check_ends, check_commands_alone, check_resent, check_unknown, check_compacted_while_read,\
                check_periods:
            check(w)
    finally:
        shutil.rmtree(w.top, ignore_errors=True)
    w.program.finish(160)


if __name__ == '__main__':
    main()
