"""Stores of agents of which no recording exists. They are MADE FROM THE SOURCES of the agents (docs/formats/NAME.md), not
recorded: they show that reprise reads what is described there, and not that the agent writes it so.

A maker writes what a folder of tests/fixtures/agents has: store.tar.gz, trees.tar.gz and expected.json, the latter with the
members of agents.Expected.
"""
import json
import os
import tarfile
import tempfile

HOME = '/home/dev'
CWD = HOME + '/proj'


class Made:
    """A home that is being written, the trees of the project, and what is expected of both."""

    def __init__(self, folder):
        self.folder = folder
        self.top = tempfile.mkdtemp(dir=folder)
        self.expected = {'home': HOME, 'sessions': [], 'turns': [], 'orders': []}
        for part in 'store', 'trees':
            os.mkdir(f'{self.top}/{part}')

    def put(self, path, data, at, part='store'):
        """at: minutes on a day of the past."""
        path = f'{self.top}/{part}/{path}'
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, 'wb') as f:
            f.write(data.encode())
        os.utime(path, (1_780_000_000 + 60 * at,) * 2)

    def lines(self, path, rows, at):
        self.put(path, ''.join(json.dumps(r, ensure_ascii=False) + '\n' for r in rows), at)

    def tree(self, name, files):
        os.makedirs(f'{self.top}/trees/{name}')
        for path, data in files.items():
            self.put(f'{name}/{path}', data, 0, part='trees')

    def session(self, **more):
        self.expected['sessions'].append({'cwd': CWD, **more})

    def finish(self):
        for part in 'store', 'trees':
            with tarfile.open(f'{self.folder}/{part}.tar.gz', 'w:gz') as tar:
                tar.add(f'{self.top}/{part}', '.')
        with open(f'{self.folder}/expected.json', 'w', encoding='utf-8') as f:
            json.dump(self.expected, f)


# ---- Vibe ----

def vibe_session(made, id, minute, messages, folder='.vibe/logs/session', prefix='session', meta=(), stats=None):
    where = f'{folder}/{prefix}_20260528_20{minute:02}00_{id[:8]}'
    made.lines(f'{where}/messages.jsonl', messages, minute)
    made.put(f'{where}/meta.json', json.dumps({
        'session_id': id, 'parent_session_id': None, 'start_time': f'2026-05-28T20:{minute:02}:00.123456+00:00',
        'end_time': f'2026-05-28T20:{minute:02}:30.5+00:00', 'git_commit': None, 'git_branch': 'main',
        'environment': {'working_directory': CWD}, 'username': 'dev', 'loops': [], 'title': None, 'title_source': 'auto',
        'stats': {'steps': 2, 'session_prompt_tokens': 1000, 'session_completion_tokens': 50, **(stats or {})},
        'total_messages': len(messages), 'config': {'active_model': 'devstral-2'}, 'system_prompt': None, **dict(meta)},
        indent=2), minute)
    return where


def vibe_user(text, n, **more):
    return {'role': 'user', 'content': text, 'injected': False, 'message_id': f'00000000-0000-4000-8000-{n:012}', **more}


def vibe_agent(text, n, *calls, **more):
    row = {'role': 'assistant', 'content': text, 'injected': False, 'message_id': f'00000000-0000-4000-8000-{n:012}', **more}
    if calls:
        row['tool_calls'] = [{'id': f'call{n}{i}', 'index': i, 'type': 'function', 'function': {'name': name, 'arguments': json.dumps(args)}}
                             for i, (name, args) in enumerate(calls)]
    return row


def make_vibe(folder):
    made = Made(folder)
    gate = '11111111-aaaa-4000-8000-0123456789ab'
    where = vibe_session(made, gate, 5, [
        vibe_user('Mend the gate', 1),
        vibe_agent('I look.', 2, ('bash', {'command': 'ls'}), ('write_file', {'path': 'gate.txt', 'content': 'shut\n'}), reasoning_content='Hm.'),
        {'role': 'tool', 'content': 'gate.txt', 'injected': False, 'name': 'bash', 'tool_call_id': 'call20'},
        {'role': 'tool', 'content': 'written', 'injected': False, 'name': 'write_file', 'tool_call_id': 'call21'},
        vibe_user('<vibe_warning>plan mode</vibe_warning>', 3, injected=True),
        vibe_agent('Done: größer.', 4), vibe_user('Oil it\nwell', 5), vibe_agent('Oiled.', 6)],
        meta={'title': 'Gate', 'title_source': 'manual'})
    vibe_session(made, '22222222-bbbb-4000-8000-0123456789ab', 6, [vibe_user('Look at it', 1), vibe_agent('It is a gate.', 2)],
                 f'{where}/agents', 'explore', {'parent_session_id': gate}, {'session_prompt_tokens': 70})
    vibe_session(made, '33333333-cccc-4000-8000-0123456789ab', 9, [vibe_user('Paint the fence', 1), vibe_agent('Painted.', 2)],
                 meta={'title': 'Paint the fence', 'parent_session_id': gate})
    vibe_session(made, '44444444-dddd-4000-8000-0123456789ab', 7, [], meta={'title': None})
    vibe_session(made, '55555555-eeee-4000-8000-0123456789ab', 8, [vibe_user('Anderswo: Übung', 1)],
                 meta={'environment': {'working_directory': HOME + '/Mein Projekt äöü'}})
    made.session(name='gate', id='11111111', prompts=['Mend the gate', 'Oil it\nwell'], title='Gate')
    made.session(name='fence', id='33333333', prompts=['Paint the fence'], title='Paint the fence')
    made.session(name='empty', id='44444444', prompts=[], listed=False)
    made.session(name='elsewhere', id='55555555', prompts=['Anderswo: Übung'], cwd=HOME + '/Mein Projekt äöü')
    made.expected['orders'].append([CWD, ['33333333', '11111111'], []])
    made.finish()
