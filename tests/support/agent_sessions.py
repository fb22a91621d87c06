"""Sessions of many agents, written in the form of each agent's own rows, for tests that vary sizes and times.

write(agent, home, cwd, number, at, prompt, parts) writes one session with one prompt and its answer: `at` is when it was answered, in
seconds; `parts` says what else is in it: rows of so many bytes before the prompt (pad: [n, ...]), an image of so many bytes in
front of or behind the text (front, behind), a row of so many bytes at the end (last), and bytes in front of the log (mark).
"""
import hashlib
import json
import os
import re
import time
import urllib.parse


def iso(at):
    return time.strftime('%Y-%m-%dT%H:%M:%S.000Z', time.gmtime(at))


def uuid(number):
    return f'019a0000-0000-4000-8000-{number:012x}'


def put(path, rows, parts):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, 'wb') as f:
        f.write(parts.get('mark', b''))
        for row in rows:
            f.write(json.dumps(row, separators=(',', ':')).encode() + b'\n')
    return path


def document(path, value, indent=None):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, 'w', encoding='utf-8') as f:
        json.dump(value, f, indent=indent)
    return path


def contents(text, parts, words, image):
    """The parts of a message: a text, with images around it."""
    return ([image('A' * parts['front'])] if parts.get('front') else []) + [words(text)] + \
        ([image('A' * parts['behind'])] if parts.get('behind') else [])


def codex(home, cwd, number, at, prompt, parts):
    def row(kind, payload, when=at):
        return {'timestamp': iso(when), 'type': kind, 'payload': payload}

    def said(role, text):
        return row('response_item', {'type': 'message', 'role': role, 'content': [{'type': 'input_text', 'text': text}]})
    content = contents(prompt, parts, lambda x: {'type': 'input_text', 'text': x},
                       lambda x: {'type': 'input_image', 'image_url': 'data:image/png;base64,' + x})
    images = [x['image_url'] for x in content if 'image_url' in x]
    rows = [row('session_meta', {'id': uuid(number), 'timestamp': iso(at - 9), 'cwd': cwd, 'source': 'cli', 'cli_version': '0.169.0'}, at - 9)]
    if parts.get('context'):
        rows += [said('user', f'<environment_context>{"x" * 80000}</environment_context>'),
                 row('turn_context', {'turn_id': 't', 'cwd': cwd, 'model': 'gpt-6-codex'})]
    rows += [said('developer', 'x' * n) for n in parts.get('pad', [])]
    rows += [row('response_item', {'type': 'message', 'role': 'user', 'content': content}),
             row('event_msg', {'type': 'user_message', 'message': prompt, 'images': images}),
             row('event_msg', {'type': 'agent_message', 'message': 'done'}),
             row('event_msg', {'type': 'task_complete', 'last_agent_message': 'done'})]
    if parts.get('last'):
        rows.append(said('developer', 'x' * parts['last']))
    return put(f'{home}/.codex/sessions/2026/11/20/rollout-2026-11-20T09-00-00-{uuid(number)}.jsonl', rows, parts)


def copilot(home, cwd, number, at, prompt, parts):
    def row(kind, data, when=at):
        return {'type': kind, 'data': data, 'id': uuid(1), 'parentId': None, 'timestamp': iso(when)}
    rows = [row('session.start', {'sessionId': uuid(number), 'context': {'cwd': cwd}}, at - 9)]
    rows += [row('session.info', {'text': 'x' * n}) for n in parts.get('pad', [])]
    rows.append(row('user.message', {**({'attachments': [{'data': 'A' * parts['front']}]} if parts.get('front') else {}), 'content': prompt,
                                     **({'blobs': ['A' * parts['behind']]} if parts.get('behind') else {})}))
    rows.append(row('assistant.message', {'content': 'done' + 'x' * parts.get('last', 0), 'toolRequests': []}))
    return put(f'{home}/.copilot/session-state/{uuid(number)}/events.jsonl', rows, parts)


def gemini(home, cwd, number, at, prompt, parts):
    folder = f'{home}/.gemini/tmp/p'
    os.makedirs(folder, exist_ok=True)
    with open(f'{folder}/.project_root', 'w', encoding='utf-8') as f:
        f.write(cwd)
    rows = [{'sessionId': uuid(number), 'projectHash': 'p', 'startTime': iso(at - 9), 'lastUpdated': iso(at - 9), 'kind': 'main'}]
    rows += [{'id': f'i{k}', 'timestamp': iso(at), 'type': 'info', 'content': 'x' * n} for k, n in enumerate(parts.get('pad', []))]
    content = contents(prompt, parts, lambda x: {'text': x}, lambda x: {'inlineData': {'mimeType': 'image/png', 'data': x}})
    rows += [{'id': 'u', 'timestamp': iso(at), 'type': 'user', 'content': content},
             {'id': 'g', 'timestamp': iso(at), 'type': 'gemini', 'content': 'done' + 'x' * parts.get('last', 0)},
             {'$set': {'lastUpdated': iso(at)}}]
    return put(f'{folder}/chats/session-2026-11-20T09-00-{number:08x}.jsonl', rows, parts)


def pi(home, cwd, number, at, prompt, parts):
    def row(kind, **more):
        rows.append({'type': kind, 'id': f'{len(rows):08x}', 'parentId': rows[-1]['id'] if len(rows) > 1 else None, 'timestamp': iso(at), **more})
    rows = [{'type': 'session', 'version': 3, 'id': uuid(number), 'timestamp': iso(at - 9), 'cwd': cwd}]
    for n in parts.get('pad', []):
        row('custom', data='x' * n)
    content = contents(prompt, parts, lambda x: {'type': 'text', 'text': x}, lambda x: {'type': 'image', 'mimeType': 'image/png', 'data': x})
    row('message', message={'role': 'user', 'content': content})
    row('message', message={'role': 'assistant', 'content': [{'type': 'text', 'text': 'done' + 'x' * parts.get('last', 0)}]})
    folder = '--' + cwd.strip('/').replace('/', '-') + '--'
    return put(f'{home}/.pi/agent/sessions/{folder}/2026-11-20T09-00-00-000Z_{uuid(number)}.jsonl', rows, parts)


def qwen(home, cwd, number, at, prompt, parts):
    def row(kind, **more):
        rows.append({'uuid': uuid(len(rows) + 1), 'parentUuid': rows[-1]['uuid'] if rows else None, 'sessionId': uuid(number),
                     'timestamp': iso(at), 'type': kind, 'cwd': cwd, **more})
    rows = []
    for n in parts.get('pad', []):
        row('system', subtype='ui_telemetry', systemPayload={'x': 'x' * n})
    content = contents(prompt, parts, lambda x: {'text': x}, lambda x: {'inlineData': {'mimeType': 'image/png', 'data': x}})
    row('user', message={'role': 'user', 'parts': content})
    row('assistant', message={'role': 'model', 'parts': [{'text': 'done' + 'x' * parts.get('last', 0)}]})
    folder = re.sub('[^A-Za-z0-9]', '-', cwd)
    return put(f'{home}/.qwen/projects/{folder}/chats/{uuid(number)}.jsonl', rows, parts)


def qoder(home, cwd, number, at, prompt, parts):
    def row(kind, **more):
        rows.append({'type': kind, 'uuid': uuid(len(rows) + 1), 'timestamp': iso(at), **more, 'parentUuid': rows[-1]['uuid'] if rows else None,
                     'isSidechain': False, 'cwd': cwd, 'sessionId': uuid(number), 'version': '1.1.52'})
    rows = []
    for n in parts.get('pad', []):
        row('system', subtype='informational', content='x' * n)
    content = contents(prompt, parts, lambda x: {'type': 'text', 'text': x},
                       lambda x: {'type': 'image', 'source': {'type': 'base64', 'media_type': 'image/png', 'data': x}})
    row('user', message={'role': 'user', 'content': content})
    row('assistant', message={'id': 'm', 'role': 'assistant', 'content': [{'type': 'text', 'text': 'done' + 'x' * parts.get('last', 0)}]})
    last = {'type': 'last-prompt', 'sessionId': uuid(number), 'lastPrompt': prompt}
    leaf = {'type': 'active-leaf', 'sessionId': uuid(number), 'leafUuid': rows[-1]['uuid'], 'explicit': False, 'timestamp': at * 1000}
    folder = re.sub('[^A-Za-z0-9]', '-', cwd)
    return put(f'{home}/.qoder/projects/{folder}/{uuid(number)}.jsonl', [*rows, last, leaf], parts)


def kimi(home, cwd, number, at, prompt, parts):
    rows = [{'type': 'config.update', 'time': at * 1000, 'x': 'x' * n} for n in [1] + parts.get('pad', [])]
    content = contents(prompt, parts, lambda x: {'type': 'text', 'text': x}, lambda x: {'type': 'image_url', 'imageUrl': {'url': x}})
    rows += [{'type': 'turn.prompt', 'promptId': 'p1', 'time': at * 1000, 'input': content, 'origin': {'kind': 'user'}},
             {'type': 'context.append_loop_event', 'time': at * 1000,
              'event': {'type': 'content.part', 'part': {'type': 'text', 'text': 'done' + 'x' * parts.get('last', 0)}}}]
    top = f'{home}/.kimi-code/sessions/wd_p_{hashlib.sha256(cwd.encode()).hexdigest()[:12]}/session_{uuid(number)}'
    document(f'{top}/state.json', {'workDir': cwd})
    return put(f'{top}/agents/main/wire.jsonl', rows, parts)


def kimi_cli(home, cwd, number, at, prompt, parts):
    content = contents(prompt, parts, lambda x: {'type': 'text', 'text': x}, lambda x: {'type': 'image_url', 'image_url': {'url': x}})
    rows = [{'role': '_system_prompt', 'content': 'x' * n} for n in parts.get('pad', [])]
    rows += [{'role': 'user', 'content': content}, {'role': 'assistant', 'content': 'done' + 'x' * parts.get('last', 0)}]
    path = put(f'{home}/.kimi/sessions/{hashlib.md5(cwd.encode()).hexdigest()}/{uuid(number)}/context.jsonl', rows, parts)
    os.utime(path, (at, at))  # its rows have no times
    return path


def droid(home, cwd, number, at, prompt, parts):
    def said(role, content):
        return {'type': 'message', 'id': uuid(2), 'timestamp': iso(at), 'message': {'role': role, 'content': content}}
    content = contents(prompt, parts, lambda x: {'type': 'text', 'text': x}, lambda x: {'type': 'image', 'source': {'data': x}})
    rows = [{'type': 'session_start', 'id': uuid(number), 'title': '', 'cwd': cwd}]
    rows += [{'type': 'todo_state', 'timestamp': iso(at), 'todos': 'x' * n} for n in parts.get('pad', [])]
    rows += [said('user', content), said('assistant', [{'type': 'text', 'text': 'done' + 'x' * parts.get('last', 0)}])]
    return put(f'{home}/.factory/sessions/{cwd.replace("/", "-")}/{uuid(number)}.jsonl', rows, parts)


def cline(home, cwd, number, at, prompt, parts):
    def said(role, content):
        return {'id': uuid(number), 'role': role, 'content': content, 'ts': at * 1000}
    own, folder = f'1795464391{number:03}_aaaaa', f'{home}/.cline/data/sessions'
    content = contents(prompt, parts, lambda x: {'type': 'text', 'text': x}, lambda x: {'type': 'image', 'data': x})
    rows = [{**said('user', [{'type': 'text', 'text': 'x' * n}]), 'metadata': {'kind': 'notice'}} for n in parts.get('pad', [])]
    rows += [said('user', content), said('assistant', [{'type': 'text', 'text': 'done' + 'x' * parts.get('last', 0)}])]
    document(f'{folder}/{own}/{own}.json', {'session_id': own, 'cwd': cwd, 'metadata': {}}, 2)
    return document(f'{folder}/{own}/{own}.messages.json', {'version': 1, 'messages': rows}, 2)


def continue_(home, cwd, number, at, prompt, parts):
    def said(role, content):
        return {'message': {'role': role, 'content': content}, 'contextItems': []}
    content = contents(prompt, parts, lambda x: {'type': 'text', 'text': x}, lambda x: {'type': 'imageUrl', 'imageUrl': {'url': x}})
    rows = [said('system', 'x' * n) for n in parts.get('pad', [])] + [said('user', content), said('assistant', 'done' + 'x' * parts.get('last', 0))]
    path = document(f'{home}/.continue/sessions/{uuid(number)}.json',
                    {'sessionId': uuid(number), 'title': 'Untitled Session', 'workspaceDirectory': cwd, 'history': rows}, 2)
    os.utime(path, (at, at))  # its messages have no times
    return path


def auggie(home, cwd, number, at, prompt, parts):
    def exchange(request, answer, **more):
        state = {'id': 2, 'type': 4, 'ide_state_node': {'workspace_folders': [{'repository_root': cwd, 'folder_root': cwd}]}}
        images = [{'id': 3, 'type': 2, 'image_node': {'image_data': 'A' * parts[k]}} for k in ('front', 'behind') if parts.get(k)]
        return {'exchange': {'request_message': request, 'response_text': answer, 'request_id': uuid(number), 'request_nodes': [state, *images],
                             'response_nodes': []}, 'completed': True, 'finishedAt': iso(at), **more}
    pads = [exchange('', 'x' * n) for n in parts.get('pad', [])]
    return document(f'{home}/.augment/sessions/{uuid(number)}.json',
                    {'sessionId': uuid(number), 'created': iso(at - 9), 'modified': iso(at),
                     'chatHistory': [*pads, exchange(prompt, 'done' + 'x' * parts.get('last', 0))]}, 2)


def vibe(home, cwd, number, at, prompt, parts):
    def said(role, text, **more):
        return {'role': role, 'content': text, 'injected': False, 'message_id': uuid(number), **more}
    sid = f'{number:08x}-0000-4000-8000-000000000000'
    top = f'{home}/.vibe/logs/session/session_20261120_090000_{sid[:8]}'
    document(f'{top}/meta.json', {'session_id': sid, 'start_time': iso(at - 9), 'end_time': iso(at), 'environment': {'working_directory': cwd}, 'stats': {}}, 2)
    rows = [said('user', 'x' * n, injected=True) for n in parts.get('pad', [])]
    return put(f'{top}/messages.jsonl', [*rows, said('user', prompt), said('assistant', 'done' + 'x' * parts.get('last', 0))], parts)


def grok(home, cwd, number, at, prompt, parts):
    def chunk(kind, text, **meta):
        return {'timestamp': at, 'method': 'session/update',
                'params': {'sessionId': uuid(number), 'update': {'sessionUpdate': kind, 'content': {'type': 'text', 'text': text}, '_meta': meta}}}
    top = f'{home}/.grok/sessions/{urllib.parse.quote(cwd, safe="")}/{uuid(number)}'
    document(f'{top}/summary.json', {'info': {'id': uuid(number), 'cwd': cwd}, 'created_at': iso(at - 9), 'updated_at': iso(at)})
    rows = [chunk('agent_thought_chunk', 'x' * n) for n in parts.get('pad', [])]
    return put(f'{top}/updates.jsonl', [*rows, chunk('user_message_chunk', prompt, promptIndex=0), chunk('agent_message_chunk', 'done' + 'x' * parts.get('last', 0))], parts)


AGENTS = {'vibe': vibe, 'grok': grok, 'auggie': auggie, 'cline': cline, 'continue': continue_, 'codex': codex, 'copilot': copilot, 'gemini': gemini, 'pi': pi, 'qwen': qwen, 'qoder': qoder, 'kimi': kimi, 'kimi-cli': kimi_cli, 'droid': droid}
# These record no times in their logs.
TIMELESS = {'kimi-cli', 'continue'}
# Their sessions are documents instead of logs.
DOCUMENTS = {'auggie', 'cline', 'continue'}


def write(agent, home, cwd, number, at, prompt, parts=None):
    return AGENTS[agent](home, cwd, number, at, prompt, parts or {})
