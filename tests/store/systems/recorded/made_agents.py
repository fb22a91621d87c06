"""Stores of agents of which no recording exists. They are MADE FROM THE SOURCES of the agents (docs/formats/NAME.md), not
recorded: they show that reprise reads what is described there, and not that the agent writes it so.

A maker writes what a folder of tests/fixtures/agents has: store.tar.gz, trees.tar.gz and expected.json, the latter with the
members of agents.Expected.
"""
import json
import os
import tarfile
import tempfile
from urllib.parse import quote

HOME = '/home/dev'
CWD = HOME + '/proj'


class Made:
    """A home that is being written, the trees of the project, and what is expected of both."""

    def __init__(self, folder):
        self.folder = folder
        self.top = tempfile.mkdtemp(dir=folder)
        self.expected = {'home': HOME, 'sessions': [], 'turns': [], 'orders': [], 'edits': []}
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
    def done(call, name, text):
        return {'role': 'tool', 'content': text, 'injected': False, 'name': name, 'tool_call_id': call}
    where = vibe_session(made, gate, 5, [
        vibe_user('Mend the gate', 1),
        vibe_agent('I look.', 2, ('bash', {'command': 'ls'}), ('write_file', {'path': 'gate.txt', 'content': 'shut\ntight\n'}),
                   ('write_file', {'path': 'old.txt', 'content': 'a hinge\n'}), reasoning_content='Hm.'),
        done('call20', 'bash', 'command: ls\nstdout: gate.txt\nstderr: \nreturncode: 0'),
        done('call21', 'write_file', 'path: /home/dev/proj/gate.txt\nbytes_written: 11\nfile_existed: False\ncontent: shut\ntight\n'),
        done('call22', 'write_file', 'path: /home/dev/proj/old.txt\nbytes_written: 8\nfile_existed: False\ncontent: a hinge\n'),
        vibe_user('<vibe_warning>plan mode</vibe_warning>', 3, injected=True),
        vibe_agent('Done: größer.', 4), vibe_user('Oil it\nwell', 5),
        vibe_agent('', 6, ('search_replace', {'file_path': 'gate.txt', 'content': '<<<<<<< SEARCH\ntight\n=======\noiled\n>>>>>>> REPLACE'}),
                   ('edit', {'file_path': CWD + '/gate.txt', 'old_string': 'none', 'new_string': 'oiled'}),
                   ('write_file', {'path': 'gate.txt', 'content': 'oiled\n', 'overwrite': True}), ('bash', {'command': 'mv old.txt new.txt'})),
        done('call60', 'search_replace', 'file: /home/dev/proj/gate.txt\nblocks_applied: 1\nlines_changed: 0\ncontent: ...\nwarnings: []'),
        done('call61', 'edit', '<tool_error>edit failed: String to replace not found in file.</tool_error>'),
        done('call62', 'write_file', 'no, leave it'), done('call63', 'bash', 'command: mv old.txt new.txt\nstdout: \nstderr: \nreturncode: 0'),
        vibe_agent('Oiled.', 7)],
        meta={'title': 'Gate', 'title_source': 'manual'})
    made.tree('gate/0', {})
    made.tree('gate/1', {'gate.txt': 'shut\ntight\n', 'old.txt': 'a hinge\n'})
    made.tree('gate/2', {'gate.txt': 'shut\noiled\n', 'new.txt': 'a hinge\n'})
    made.expected['edits'] = [{'session': '11111111', 'number': i, 'before': f'gate/{i}', 'end': 'gate/2'} for i in range(2)]
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


# ---- Grok ----

class GrokLog:
    """updates.jsonl and rewind_points.jsonl of a session."""

    def __init__(self, id, minute):
        self.id, self.at, self.rows, self.points = id, 1_780_000_000 + 60 * minute, [], []

    def update(self, name, method='session/update', **more):
        self.at += 1
        self.rows.append({'timestamp': self.at, 'method': method, 'params': {
            'sessionId': self.id, 'update': {'sessionUpdate': name, **more}, '_meta': {'eventId': f's-{len(self.rows)}'}}})

    def text(self, name, *pieces, **meta):
        for piece in pieces:
            self.update(name, content={'type': 'text', 'text': piece}, **({'_meta': meta} if meta else {}))

    def call(self, id, title, kind, output, status='completed', raw=None, **more):
        """output: a text, or changes (path, old text, new text, replaced places)."""
        content = [{'type': 'content', 'content': {'type': 'text', 'text': output}}] if isinstance(output, str) else [
            {'type': 'diff', 'path': f'{CWD}/{path}', 'oldText': old, 'newText': new,
             '_meta': {'details': [{'old_string': p, 'old_line': 1, 'new_string': '', 'new_line': 1} for p in places]}}
            for path, old, new, places in output]
        self.update('tool_call', toolCallId=id, title=title, kind=kind, status='pending', **more)
        self.update('tool_call_update', toolCallId=id, status='in_progress')
        self.update('tool_call_update', toolCallId=id, status=status, content=content, **({'rawOutput': raw} if raw else {}))

    def completed(self, id, input, output, cached):
        self.update('turn_completed', '_x.ai/session/update', prompt_id=id, stop_reason='end_turn', usage={
            'inputTokens': input, 'outputTokens': output, 'totalTokens': input + output, 'cachedReadTokens': cached, 'reasoningTokens': 3,
            'costUsdTicks': 25_000_000, 'modelUsage': {'grok-code': {'inputTokens': input}}, 'numTurns': 1})

    def point(self, index, before, after):
        def shots(files):
            return {p: {'path': p, 'content': c, 'captured_at': f'2026-05-28T20:26:{index * 2:02}Z'} for p, c in files.items()}
        self.points.append({'prompt_index': index, 'created_at': f'2026-05-28T20:26:{index * 2:02}Z',
                            'file_snapshots': shots(before), 'after_snapshots': shots(after)})


def grok_session(made, log, minute, cwd=CWD, folder=None, **more):
    where = f'.grok/sessions/{folder or quote(cwd, safe="")}/{log.id}'
    at = f'2026-05-28T20:{minute:02}:00.123456Z'
    made.lines(f'{where}/updates.jsonl', log.rows, minute)
    if log.points:
        made.lines(f'{where}/rewind_points.jsonl', log.points, minute)
    made.put(f'{where}/summary.json', json.dumps({
        'info': {'id': log.id, 'cwd': cwd}, 'session_summary': '', 'created_at': at, 'updated_at': at, 'last_active_at': at,
        'num_messages': len(log.rows), 'current_model_id': 'grok-code', 'head_branch': 'main', **more}), minute)
    return where


def make_grok(folder):
    made = Made(folder)
    ids = [f'0197{n}000-aaaa-7000-8000-0123456789ab' for n in range(6)]
    gate = GrokLog(ids[0], 5)
    gate.text('user_message_chunk', 'Mend the gate', promptIndex=0)
    gate.text('agent_thought_chunk', 'Hm', '.')
    gate.text('agent_message_chunk', 'I ', 'look.')
    gate.call('t1', 'Read `gate.txt`', 'read', 'open', rawInput={'path': 'gate.txt'})
    gate.call('t2', 'Edit `gate.txt`', 'edit', [('gate.txt', 'open\r\n', 'shut\r\n', ['open\r\n']), ('new/größe.txt', None, 'ä\n', [])],
              rawInput={'path': 'gate.txt', 'old_string': 'open', 'new_string': 'shut'})
    gate.text('agent_message_chunk', 'Done: größer.')
    gate.completed('p0', 1000, 40, 700)
    gate.text('user_message_chunk', 'Forget this', promptIndex=1)
    gate.call('t2a', 'Edit `lost.txt`', 'edit', [('lost.txt', None, 'forgotten\n', [])])
    gate.text('agent_message_chunk', 'Forgotten.')
    gate.completed('p1', 10, 4, 0)
    gate.update('rewind_marker', '_x.ai/session/update', target_prompt_index=1, created_at='2026-05-28T20:26:00Z')
    gate.text('user_message_chunk', 'Oil it\nwell', promptIndex=1)
    gate.text('user_message_chunk', 'a phantom')
    gate.call('t3', 'Edit `gate.txt`', 'edit', 'cannot', status='failed', rawInput={'path': 'gate.txt', 'old_string': 'shut', 'new_string': 'no'})
    gate.call('t4', 'Patch', 'edit', [('gate.txt', 'shut\r\n', 'shut, oiled', ['shut'])])
    gate.call('t5', 'Execute `rm old/hinge.txt`', 'execute', '', rawInput={'command': 'rm old/hinge.txt'}, raw={'type': 'Bash', 'exit_code': 0})
    gate.call('t6', 'Execute `rm read.txt`', 'execute', 'no', rawInput={'command': 'rm read.txt'}, raw={'type': 'Bash', 'exit_code': 1})
    gate.text('agent_message_chunk', 'Oiled.')
    gate.completed('p2', 2000, 50, 1500)
    gate.text('user_message_chunk', 'And ', 'paint it', promptIndex=2)
    gate.call('t7', 'Edit `gate.txt`', 'edit', [('gate.txt', 'oiled', 'oiled, red', ['oiled'])])
    gate.text('agent_message_chunk', 'Painted.')
    gate.completed('p3', 3000, 60, 2500)
    trees = [{'gate.txt': 'open\r\n', 'read.txt': 'read\n', 'old/hinge.txt': 'a hinge\n'},
             {'gate.txt': 'shut\r\n', 'read.txt': 'read\n', 'old/hinge.txt': 'a hinge\n', 'new/größe.txt': 'ä\n'},
             {'gate.txt': 'shut, oiled', 'read.txt': 'read\n', 'new/größe.txt': 'ä\n'},
             {'gate.txt': 'shut, oiled, red', 'read.txt': 'read by hand\n', 'new/größe.txt': 'ä\n'}]
    gate.point(0, {'gate.txt': 'open\r\n', 'read.txt': 'read\n', 'new/größe.txt': None},
               {'gate.txt': 'shut\r\n', 'read.txt': 'read\n', 'new/größe.txt': 'ä\n'})
    gate.point(1, {'gate.txt': 'shut\r\n', 'old/hinge.txt': 'a hinge\n'}, {'gate.txt': 'shut, oiled', 'old/hinge.txt': None})
    gate.point(2, {'gate.txt': 'shut, oiled'}, {'gate.txt': 'shut, oiled, red'})
    for i, tree in enumerate(trees):
        made.tree(f'gate/{i}', {**tree, 'read.txt': trees[3]['read.txt']})
    where = grok_session(made, gate, 5, generated_title='Gate', title_is_manual=True)
    made.put(f'{where}/subagents/{ids[1]}/meta.json', '{}', 5)

    helper = GrokLog(ids[1], 6)
    helper.text('user_message_chunk', 'Look at it')
    helper.completed('helper', 9, 9, 9)  # the turn of its session has it
    grok_session(made, helper, 6, session_kind='subagent', parent_session_id=ids[0])
    fence = GrokLog(ids[2], 9)
    fence.text('user_message_chunk', 'Paint the fence')
    fence.text('agent_message_chunk', 'Painted.')
    fence.completed('p0', 1000, 40, 700)  # copied
    fence.completed('f0', 500, 20, 0)
    grok_session(made, fence, 9, generated_title='Fence, painted', session_kind='fork', parent_session_id=ids[0])
    far = GrokLog(ids[3], 7)
    far.text('user_message_chunk', 'Far', ' away')
    cwd = HOME + '/ä' + 'x' * 250
    grok_session(made, far, 7, cwd, folder='x-0123456789abcdef')
    made.put('.grok/sessions/x-0123456789abcdef/.cwd', cwd, 7)

    made.session(name='gate', id=ids[0], prompts=['Mend the gate', 'Oil it\nwell', 'And paint it'], title='Gate')
    made.session(name='helper', id=ids[1], prompts=['Look at it'], listed=False)
    made.session(name='fence', id=ids[2], prompts=['Paint the fence'], title='Fence, painted')
    made.session(name='far', id=ids[3], prompts=['Far away'], cwd=cwd)
    made.expected['turns'] = [{'session': ids[0], 'number': i, 'before': f'gate/{i}', 'end': 'gate/3'} for i in range(3)]
    made.expected['orders'].append([CWD, [ids[2], ids[0]], []])
    made.finish()


# ---- Droid ----

def droid_session(made, n, minute, messages, title, cwd=CWD, settings=True):
    id = f'0000000{n}-aaaa-4000-8000-0123456789ab'
    rows = [{'type': 'session_start', 'id': id, 'title': title, 'owner': 'dev', 'version': 2, 'cwd': cwd}]
    for i, (role, content) in enumerate(messages):
        rows.append({'type': 'message', 'id': f'm{n}-{i}', 'timestamp': f'2026-05-28T20:{minute:02}:{i:02}.123Z',
                     'message': {'role': role, 'content': content}, **({'parentId': f'm{n}-{i - 1}'} if i else {})})
    folder = '.factory/sessions/' + cwd.replace('/', '-')
    made.lines(f'{folder}/{id}.jsonl', rows, minute)
    if settings:
        made.put(f'{folder}/{id}.settings.json', json.dumps({'model': 'claude-opus', 'tokenUsage': {
            'inputTokens': 100, 'outputTokens': 50, 'cacheCreationTokens': 20, 'cacheReadTokens': 10, 'thinkingTokens': 5}}), minute)
    return id


def make_droid(folder):
    made = Made(folder)

    def said(text):
        return [{'type': 'text', 'text': text}]
    reminder = '<system-reminder>\nYou are in /home/dev/proj\n</system-reminder>'
    gate = droid_session(made, 1, 5, [
        ('user', said(reminder) + said('Mend the gate')),
        ('assistant', [{'type': 'thinking', 'thinking': 'Hm.', 'signature': 'x'}, *said('I look.'),
                       {'type': 'tool_use', 'id': 'c1', 'name': 'Create', 'input': {'file_path': CWD + '/gate.txt', 'content': 'shut\ntight\n'}},
                       {'type': 'tool_use', 'id': 'c2', 'name': 'Edit', 'input': {'file_path': 'no.txt', 'old_str': 'a', 'new_str': 'b'}}]),
        ('user', [{'type': 'tool_result', 'tool_use_id': 'c1', 'content': 'created'},
                  {'type': 'tool_result', 'tool_use_id': 'c2', 'content': said('no such file'), 'is_error': True}]),
        ('assistant', said('Done: größer.')), ('user', said(reminder + '\n\nOil it\nwell')),
        ('assistant', [*said('Oiled.'), {'type': 'tool_use', 'id': 'c3', 'name': 'Edit', 'input': {
            'file_path': CWD + '/gate.txt', 'old_str': 'tight', 'new_str': 'oiled'}}]),
        ('user', [{'type': 'tool_result', 'tool_use_id': 'c3', 'content': 'edited'}])], 'Gate')
    helper = droid_session(made, 2, 6, [('user', said('Look at it'))], '# Task Tool Invocation: look')
    fence = droid_session(made, 3, 9, [('user', said('Paint the fence')), ('assistant', said('Painted.'))], 'Paint the fence', settings=False)
    empty = droid_session(made, 4, 7, [], 'New Session')
    far = droid_session(made, 5, 8, [('user', said('Anderswo'))], 'Anderswo', HOME + '/mein.projekt')
    made.session(name='gate', id=gate, prompts=['Mend the gate', 'Oil it\nwell'], title='Gate')
    made.session(name='helper', id=helper, prompts=['Look at it'], listed=False)
    made.session(name='fence', id=fence, prompts=['Paint the fence'], title='Paint the fence')
    made.session(name='empty', id=empty, prompts=[], listed=False)
    made.session(name='far', id=far, prompts=['Anderswo'], title='Anderswo', cwd=HOME + '/mein.projekt')
    made.expected['orders'].append([CWD, [fence, gate], []])
    made.tree('gate/0', {})
    made.tree('gate/1', {'gate.txt': 'shut\ntight\n'})
    made.tree('gate/2', {'gate.txt': 'shut\noiled\n'})
    made.expected['edits'] = [{'session': gate, 'number': i, 'before': f'gate/{i}', 'end': 'gate/2'} for i in range(2)]
    made.finish()


# ---- Kiro ----

def kiro_flat(made, n, minute, rows, title, cwd=CWD, **more):
    """Engine v2. Each row is (kind, parts)."""
    id = f'0000000{n}-bbbb-4000-8000-0123456789ab'
    at = f'2026-05-28T20:{minute:02}'
    made.put(f'.kiro/sessions/cli/{id}.json', json.dumps({
        'session_id': id, 'cwd': cwd, 'created_at': f'{at}:00.123456Z', 'updated_at': f'{at}:30.5Z', 'title': title,
        'session_created_reason': 'subagent', 'parent_session_id': None, **more, 'session_state': {
            'version': 'v1', 'rts_model_state': {'model_info': {'model_id': 'claude-sonnet', 'context_window_tokens': 200000}}}}), minute)
    made.lines(f'.kiro/sessions/cli/{id}.jsonl', [{'version': 'v1', 'kind': kind, 'data': {
        'message_id': f'k{n}-{i}', 'content': parts, **({'meta': {'timestamp': 1_780_000_000 + 60 * minute + i}} if kind == 'Prompt' else {})}}
        for i, (kind, parts) in enumerate(rows)], minute)
    made.put(f'.kiro/sessions/cli/{id}.history', 'typed\n', minute)
    return id


def kiro_directory(made, n, minute, payloads, title, cwd=CWD, **more):
    """Engine v3."""
    id = f'sess_0000000{n}-cccc-4000-8000-0123456789ab'
    at = f'2026-05-28T20:{minute:02}'
    where = f'.kiro/sessions/9f3c1d0b7a4e2856/{id}'
    made.put(f'{where}/session.json', json.dumps({
        'schemaVersion': '1.0.0', 'dataModelVersion': 1, 'id': id, 'title': title, 'agentMode': 'vibe', 'modelId': 'auto', 'status': 'idle',
        'workspacePaths': [cwd], 'createdAt': f'{at}:00.123Z', 'lastModifiedAt': f'{at}:30.123Z', **more}, indent=2), minute)
    made.lines(f'{where}/messages.jsonl', [{'id': f's{n}-{i}', 'timestamp': f'{at}:{i:02}.123Z', 'payload': p} for i, p in enumerate(payloads)], minute)
    return id


def make_kiro(folder):
    made = Made(folder)

    def said(*texts):
        return [{'kind': 'text', 'data': text} for text in texts]

    def use(id, name, **given):
        return {'kind': 'toolUse', 'data': {'toolUseId': id, 'name': name, 'input': {**given, '__tool_use_purpose': 'to help'}}}

    def used(id, content, status='success'):
        return ('ToolResults', [{'kind': 'toolResult', 'data': {'toolUseId': id, 'content': content, 'status': status}}])
    gate = kiro_flat(made, 1, 5, [
        ('Prompt', said('Mend the gate')),
        ('AssistantMessage', [{'kind': 'thinking', 'data': {'text': 'Hm.'}}, *said('I look.'),
                              use('t1', 'write', command='create', path=CWD + '/gate.txt', content='shut\ntight\n')]),
        used('t1', said('written')),
        ('AssistantMessage', [*said(''), use('t2', 'shell', command='ls'), use('t3', 'write', command='strReplace', path='no.txt', oldStr='a', newStr='b')]),
        used('t2', [{'kind': 'json', 'data': {'exit_status': 'exit status: 0', 'stdout': 'gate.txt', 'stderr': ''}}]),
        used('t3', said('no such file'), 'error'),
        ('AssistantMessage', said('Done: größer.')), ('Prompt', said('Oil it\nwell')),
        ('AssistantMessage', [use('t4', 'write', command='strReplace', path=CWD + '/gate.txt', oldStr='tight', newStr='oiled')]),
        used('t4', said('written')), ('AssistantMessage', said('Oiled.'))], 'Mend the gate')
    helper = kiro_flat(made, 2, 6, [('Prompt', said('Look at it'))], 'Look at it', parent_session_id=gate)
    empty = kiro_flat(made, 4, 7, [], 'New Session')
    far = kiro_flat(made, 5, 8, [('Prompt', said('Anderswo'))], 'Far away', HOME + '/mein.projekt')
    fence = kiro_directory(made, 3, 9, [
        {'type': 'session_start', 'content': 'You are Kiro CLI'},
        {'type': 'user', 'content': 'Paint the fence', 'images': [], 'documents': []}, {'type': 'turn_start', 'executionId': 'x'},
        {'type': 'assistant', 'operationType': 'Reasoning', 'content': 'Which colour?'},
        {'type': 'tool_call', 'toolCallId': 'c1', 'toolName': 'fs_write', 'args': {'path': CWD + '/fence.txt'}, 'status': 'approved'},
        {'type': 'tool_result', 'toolCallId': 'c1', 'success': True, 'content': 'written'},
        {'type': 'assistant', 'operationType': 'Say', 'content': 'Painted.'},
        {'type': 'usage_summary', 'promptTurnSummaries': [{'unit': 'credit', 'usage': 0.1}]}, {'type': 'turn_end', 'executionId': 'x'},
        {'type': 'user', 'content': [{'type': 'text', 'text': 'And dry it'}]},
        {'type': 'assistant', 'operationType': 'Say', 'content': 'Dried.'}], 'A fence in green')
    aside = kiro_directory(made, 6, 10, [{'type': 'user', 'content': 'By the way'}], 'Aside', parentSessionId=fence, createdReason='tangent')
    agent = kiro_directory(made, 7, 11, [{'type': 'user', 'content': 'Count the posts'}], 'Counting', parentSessionId=fence, createdReason='subagent')
    made.session(name='gate', id=gate, prompts=['Mend the gate', 'Oil it\nwell'])
    made.session(name='helper', id=helper, prompts=['Look at it'], listed=False)
    made.session(name='empty', id=empty, prompts=[], listed=False)
    made.session(name='far', id=far, prompts=['Anderswo'], title='Far away', cwd=HOME + '/mein.projekt')
    made.session(name='fence', id=fence, prompts=['Paint the fence', 'And dry it'], title='A fence in green')
    made.session(name='aside', id=aside, prompts=['By the way'], title='Aside')
    made.session(name='agent', id=agent, prompts=['Count the posts'], listed=False)
    made.expected['orders'].append([CWD, [aside, fence, gate], []])
    made.tree('gate/0', {})
    made.tree('gate/1', {'gate.txt': 'shut\ntight\n'})
    made.tree('gate/2', {'gate.txt': 'shut\noiled\n'})
    made.expected['edits'] = [{'session': gate, 'number': i, 'before': f'gate/{i}', 'end': 'gate/2'} for i in range(2)]
    made.finish()


# ---- Antigravity ----

def make_antigravity(folder):
    made = Made(folder)

    def session(n, minute, steps, cwd):
        id = f'0000000{n}-aaaa-4000-8000-0123456789ab'
        rows = [{'step_index': i, 'source': source, 'type': kind, 'status': 'DONE', 'created_at': f'2026-05-28T20:{minute:02}:{i:02}Z', **more}
                for i, (source, kind, more) in enumerate(steps)]
        made.lines(f'.gemini/antigravity-cli/brain/{id}/.system_generated/logs/transcript.jsonl', rows, minute)
        made.put(f'.gemini/antigravity-cli/brain/{id}/task.md', '- [ ] mend', minute)
        history.extend({'conversationId': id, 'display': r['content'][:20], 'workspace': cwd, 'timestamp': 1_780_000_000_000 + 60000 * minute}
                       for r in rows if r['source'] == 'USER_EXPLICIT')
        return id

    def typed(text):
        return ('USER_EXPLICIT', 'USER_INPUT', {'content': f'<USER_REQUEST>\n{text}\n</USER_REQUEST>\n<ADDITIONAL_METADATA>\n'
                                                           'The current local time is: 2026-05-28T20:00:00+02:00.\n</ADDITIONAL_METADATA>'})

    def said(text, **more):
        return ('MODEL', 'PLANNER_RESPONSE', {'content': text, **more})
    history = []
    gate = session(1, 5, [
        typed('Mend the gate'), ('SYSTEM', 'CONVERSATION_HISTORY', {}),
        ('MODEL', 'PLANNER_RESPONSE', {'tool_calls': [{'name': 'view_file', 'args': {'AbsolutePath': '"/home/dev/proj/gate.txt"'}}]}),
        ('MODEL', 'VIEW_FILE', {'content': 'Created At: 2026-05-28T20:05:03Z\n1: open'}), said('Done: größer.', thinking='Hm.'),
        ('SYSTEM_SDK', 'USER_INPUT', {'content': '<USER_REQUEST>\nnot typed\n</USER_REQUEST>'}), typed('Oil it\nwell'), said('Oiled.')], CWD)
    fence = session(2, 9, [typed('Paint the fence'), said('Painted.')], 'file://' + CWD)
    empty = session(3, 7, [('SYSTEM', 'CONVERSATION_HISTORY', {})], CWD)
    far = session(4, 8, [typed('Anderswo: Übung')], HOME + '/mein.projekt')
    made.lines('.gemini/antigravity-cli/history.jsonl', history, 9)
    made.session(name='gate', id=gate, prompts=['Mend the gate', 'Oil it\nwell'])
    made.session(name='fence', id=fence, prompts=['Paint the fence'])
    made.session(name='empty', id=empty, prompts=[], listed=False, cwd=HOME)
    made.session(name='far', id=far, prompts=['Anderswo: Übung'], cwd=HOME + '/mein.projekt')
    made.expected['orders'].append([CWD, [fence, gate], []])
    made.finish()
