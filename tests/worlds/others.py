"""Conversations of the agents whose sessions are one log each: prompts and answers, in sizes that their lists must survive."""
import hashlib
import json
import os
import urllib.parse

from claude import folder_of, mutate
from codex import diff
from world import Session, encode, past


class Log(Session):
    """A session that is one JSONL file. Agents say where it is, how it begins, and what a prompt and an answer are."""
    name, version = '', 4

    def __init__(self, world, step, sid=None):
        super().__init__(world, step, self.name)
        self.sid = sid or self.new_id()
        self.rows, self.last_id, self.files_exact = [], None, False
        self.path = self.where()
        self.add(*self.head(world.clock()))

    def new_id(self):
        return self.world.uuid(self.version)

    def head(self, at):
        return []

    def beside(self):
        """Writes what is beside the log."""

    def point(self):
        """The id of the prompt in the last row; None: files cannot be rewound."""

    def work(self, step):
        """What the agent does before it answers. Returns the time of its last row, if there is one."""

    def next_id(self):
        own, self.last_id = self.last_id, self.world.uuid()
        return self.last_id, own

    def add(self, *rows):
        self.rows += rows
        os.makedirs(os.path.dirname(self.path), exist_ok=True)
        with open(self.path, 'ab') as f:
            f.write(b''.join(encode(r) for r in rows))
        self.times()

    def times(self):
        if not self.world.live:
            os.utime(self.path, ns=(self.world.now * 1_000_000,) * 2)

    def step_turn(self, step):
        mark, text = self.say('mend it ' + 'a pasted line\n' * (step.get('size', 0) // 14))
        at = self.world.clock()
        before = self.world.state(self.cwd)
        self.prompts.append((None, mark, before))
        self.talk.append(mark)
        self.add(*self.pad(at, step.get('context', 0) if len(self.prompts) == 1 else 0), *self.prompt(at, text))
        self.prompts[-1] = self.point(), mark, before
        at = self.work(step) or at
        if step.get('answer', True):
            mark, text = self.say('done')
            at = self.world.clock()
            self.add(*self.answer(at, text))
            self.talk.append(mark)
        self.last = at
        self.beside()

    def pad(self, at, size):
        """Rows that say nothing to a person and stand before the first prompt."""
        return []

    def save(self):
        with open(self.path, 'wb') as f:
            f.write(b''.join(r if isinstance(r, bytes) else encode(r) for r in self.rows))
        self.times()

    def step_touch(self, step):
        if self.last:
            os.utime(self.path, ns=(past(int(self.last + step['days'] * 86_400_000) * 1_000_000),) * 2)

    def step_bom(self, _):
        if self.rows and not isinstance(self.rows[0], bytes):
            self.rows[0] = b'\xef\xbb\xbf' + encode(self.rows[0])
            self.save()

    def step_torn(self, step):
        with open(self.path, 'ab') as f:
            f.write(encode({'type': 'message', 'id': 'torn', 'text': 'torn'})[:step['bytes']])

    def step_mutate(self, step):
        if len(self.rows) > 1:
            self.rows = mutate(self.rows, step)
            self.exact, self.listed = False, None
            self.save()

    def step_double(self, step):
        """The same id in another project's folder."""
        if step['project'] == self.project or not self.exact:
            return
        other = type(self)(self.world, {'s': step['s'], 'project': step['project']}, self.sid)
        if other.path == self.path:
            return
        other.rows = other.rows + [self.here(r, other.cwd) for r in self.rows[len(other.rows):max(2, int(len(self.rows) * step['part']))]]
        other.save()
        other.beside()
        st = os.stat(self.path)
        os.utime(other.path, ns=(past(st.st_mtime_ns + (-3600 if step['older'] else 60) * 1_000_000_000),) * 2)
        self.copies.append(other.path)
        self.exact = False

    def here(self, row, cwd):
        return row if isinstance(row, bytes) else {**row, **({'cwd': cwd} if 'cwd' in row else {})}


class Qwen(Log):
    name = 'qwen'

    def where(self):
        return f'{self.world.home}/.qwen/projects/{folder_of(self.cwd)}/chats/{self.sid}.jsonl'

    def row(self, at, kind, **more):
        own, parent = self.next_id()
        return {'uuid': own, 'parentUuid': parent, 'sessionId': self.sid, 'timestamp': self.world.iso(at), 'type': kind, 'cwd': self.cwd,
                'gitBranch': 'main', **more}

    def pad(self, at, size):
        return [self.row(at, 'system', subtype='ui_telemetry', systemPayload={'x': 'x' * size})] if size else []

    def prompt(self, at, text):
        return [self.row(at, 'user', provenance='real_user', message={'role': 'user', 'parts': [{'text': text}]})]

    def answer(self, at, text):
        return [self.row(at, 'assistant', model='coder', message={'role': 'model', 'parts': [{'text': text}]})]


class Pi(Log):
    name, version = 'pi', 7

    def where(self):
        return f'{self.world.home}/.pi/agent/sessions/-{self.cwd.replace("/", "-")}--/2026-11-22T15-29-33-949Z_{self.sid}.jsonl'

    def head(self, at):
        return [{'type': 'session', 'version': 3, 'id': self.sid, 'timestamp': self.world.iso(at), 'cwd': self.cwd}]

    def row(self, at, kind, **more):
        own, parent = self.next_id()
        return {'type': kind, 'id': own[:8], 'parentId': parent and parent[:8], 'timestamp': self.world.iso(at), **more}

    def pad(self, at, size):
        return [self.row(at, 'message', message={'role': 'system', 'content': [{'type': 'text', 'text': 'x' * size}]})] if size else []

    def prompt(self, at, text):
        return [self.row(at, 'message', message={'role': 'user', 'content': [{'type': 'text', 'text': text}], 'timestamp': at})]

    def answer(self, at, text):
        return [self.row(at, 'message', message={'role': 'assistant', 'content': [{'type': 'text', 'text': text}], 'timestamp': at})]

    def __init__(self, world, step, sid=None):
        super().__init__(world, step, sid)
        self.files_exact = True

    def point(self):
        return self.last_id[:8]

    def work(self, step):
        """The calls of one message; their results follow it."""
        last = None
        for group in step.get('calls', ()):
            at, calls, results = self.world.clock(), [], []
            for call in {c['file']: c for c in group}.values():
                before, after = self.world.change(self.cwd, call['file'], call['how'], call['n'])
                said, more, own = 'done', {}, f'call_{len(self.rows)}_{len(calls)}'
                tool, arguments = 'write', {'path': call['file'], 'content': (after or b'').decode()}
                if call['how'] in ('append', 'remove'):
                    command = f'echo appended {call["n"]} >> "{call["file"]}"' if call['how'] == 'append' else f'rm "{call["file"]}"'
                    tool, arguments, self.files_exact = 'bash', {'command': command}, False
                elif call['how'] == 'edit' and before and before.count(b'\n') > 1:
                    tool, arguments = 'edit', {'path': call['file'], 'edits': []}
                    more = {'details': {'patch': f'--- {call["file"]}\n+++ {call["file"]}\n{diff(before, after, 4)}'}}
                    said = 'No changes made to it.' if before == after else said
                calls.append({'type': 'toolCall', 'id': own, 'name': tool, 'arguments': arguments})
                results.append({'role': 'toolResult', 'toolCallId': own, 'toolName': tool, 'content': [{'type': 'text', 'text': said}],
                                'isError': said != 'done', **more})
            self.add(self.row(at, 'message', message={'role': 'assistant', 'content': calls}))
            for result in results:
                last = self.world.clock(10)
                self.add(self.row(last, 'message', message=result))
        return last


class Copilot(Log):
    name = 'copilot'

    def where(self):
        return f'{self.world.home}/.copilot/session-state/{self.sid}/events.jsonl'

    def row(self, at, kind, data):
        own, parent = self.next_id()
        return {'type': kind, 'data': data, 'id': own, 'parentId': parent, 'timestamp': self.world.iso(at)}

    def head(self, at):
        return [self.row(at, 'session.start', {'sessionId': self.sid, 'version': 1, 'producer': 'copilot-agent', 'copilotVersion': '1.0.102',
                                               'startTime': self.world.iso(at), 'context': {'cwd': self.cwd}})]

    def pad(self, at, size):
        return [self.row(at, 'system.message', {'role': 'system', 'content': 'x' * size})] if size else []

    def prompt(self, at, text):
        return [self.row(at, 'user.message', {'content': text, 'attachments': []})]

    def answer(self, at, text):
        return [self.row(at, 'assistant.message', {'messageId': f'm{len(self.rows)}', 'content': text, 'toolRequests': []})]

    def beside(self):
        if not self.rows or len(self.prompts) != 1:
            return
        first = next(r['data']['content'] for r in self.rows if r['type'] == 'user.message')
        self.world.put(os.path.dirname(self.path) + '/workspace.yaml', (
            f'id: {self.sid}\ncwd: {self.cwd}\nname: {json.dumps(first[:60])}\nuser_named: false\ncreated_at: {self.rows[0]["timestamp"]}\n'
            f'updated_at: {self.rows[-1]["timestamp"]}\n').encode())

    def step_double(self, step):
        """Its folders have no project in their names."""


class Gemini(Log):
    name = 'gemini'

    def where(self):
        own = f'p{self.project}'
        self.world.put(f'{self.world.home}/.gemini/tmp/{own}/.project_root', self.cwd.encode())
        return f'{self.world.home}/.gemini/tmp/{own}/chats/session-2026-11-20T09-00-{self.sid[:8]}.jsonl'

    def head(self, at):
        return [{'sessionId': self.sid, 'projectHash': hashlib.sha256(self.cwd.encode()).hexdigest(), 'startTime': self.world.iso(at),
                 'lastUpdated': self.world.iso(at), 'kind': 'main'}]

    def pad(self, at, size):
        return [{'id': self.next_id()[0], 'timestamp': self.world.iso(at), 'type': 'info', 'content': 'x' * size}] if size else []

    def prompt(self, at, text):
        return [{'id': self.next_id()[0], 'timestamp': self.world.iso(at), 'type': 'user', 'content': [{'text': text}]}]

    def answer(self, at, text):
        return [{'id': self.next_id()[0], 'timestamp': self.world.iso(at), 'type': 'gemini', 'content': text, 'model': 'gemini-3',
                 'tokens': {'input': 5, 'output': 5, 'cached': 0, 'thoughts': 0, 'tool': 0, 'total': 10}},
                {'$set': {'lastUpdated': self.world.iso(at)}}]

    def step_double(self, step):
        """Ids that begin alike are another matter."""


class Kimi(Log):
    name = 'kimi'

    def new_id(self):
        return 'session_' + self.world.uuid()

    def where(self):
        own = hashlib.sha256(self.cwd.encode()).hexdigest()[:12]
        return f'{self.world.home}/.kimi-code/sessions/wd_{folder_of(os.path.basename(self.cwd))}_{own}/{self.sid}/agents/main/wire.jsonl'

    def head(self, at):
        return [{'type': 'metadata', 'protocol_version': '1.5', 'created_at': at}]

    def prompt(self, at, text):
        self.turn = len(self.prompts) - 1
        return [{'type': 'turn.prompt', 'agentId': 'main', 'input': [{'type': 'text', 'text': text}], 'origin': {'kind': 'user'},
                 'promptId': f'msg_{self.turn}', 'turnId': self.turn, 'time': at}]

    def answer(self, at, text):
        return [{'type': 'context.append_loop_event', 'agentId': 'main', 'event': {'type': 'content.part', 'part': {'type': 'text', 'text': text}},
                 'time': at}]

    def beside(self):
        self.world.put(os.path.dirname(self.path) + '/../../state.json', json.dumps({'cwd': self.cwd, 'archived': False}).encode())


class Droid(Log):
    name = 'droid'

    def where(self):
        return f'{self.world.home}/.factory/sessions/{self.cwd.replace("/", "-")}/{self.sid}.jsonl'

    def head(self, at):
        return [{'type': 'session_start', 'id': self.sid, 'title': '', 'cwd': self.cwd, 'version': 2}]

    def row(self, at, role, text):
        return {'type': 'message', 'id': self.next_id()[0], 'timestamp': self.world.iso(at), 'message': {
            'role': role, 'content': [{'type': 'text', 'text': text}]}}

    def prompt(self, at, text):
        return [self.row(at, 'user', text)]

    def answer(self, at, text):
        return [self.row(at, 'assistant', text)]


class Qoder(Log):
    """The rows of Claude Code, and a row that names the newest of them behind each."""
    name = 'qoder'

    def where(self):
        return f'{self.world.home}/.qoder/projects/{folder_of(self.cwd)}/{self.sid}.jsonl'

    def row(self, at, kind, **more):
        own, parent = self.next_id()
        return [{'type': kind, 'uuid': own, 'timestamp': self.world.iso(at), **more, 'parentUuid': parent, 'isSidechain': False, 'cwd': self.cwd,
                 'sessionId': self.sid, 'userType': 'external', 'entrypoint': 'cli', 'version': '1.1.52', 'gitBranch': 'main'},
                {'type': 'active-leaf', 'sessionId': self.sid, 'leafUuid': own, 'explicit': False, 'timestamp': at}]

    def head(self, at):
        return [{'type': 'workspace-directories', 'sessionId': self.sid, 'directories': []}]

    def pad(self, at, size):
        return self.row(at, 'system', subtype='informational', content='x' * size) if size else []

    def prompt(self, at, text):
        return self.row(at, 'user', message={'role': 'user', 'content': text}, permissionMode='default', origin={'kind': 'human'}, promptId=self.world.uuid())

    def answer(self, at, text):
        return self.row(at, 'assistant', message={'id': f'msg_{len(self.rows)}', 'type': 'message', 'role': 'assistant', 'model': 'coder-plus',
                                                  'content': [{'type': 'text', 'text': text}], 'stop_reason': 'end_turn', 'stop_sequence': None})


class Grok(Log):
    """A folder for each session; a document beside the log is the row of a list."""
    name, version = 'grok', 7

    def where(self):
        return f'{self.world.home}/.grok/sessions/{urllib.parse.quote(self.cwd, safe="")}/{self.sid}/updates.jsonl'

    def update(self, at, kind, text, **meta):
        return [{'timestamp': at // 1000, 'method': 'session/update', 'params': {
            'sessionId': self.sid, 'update': {'sessionUpdate': kind, 'content': {'type': 'text', 'text': text}, '_meta': meta},
            '_meta': {'eventId': f'{self.sid}-{len(self.rows)}', 'agentTimestampMs': at}}}]

    def pad(self, at, size):
        return self.update(at, 'agent_thought_chunk', 'x' * size) if size else []

    def prompt(self, at, text):
        return self.update(at, 'user_message_chunk', text, modelId='mock', promptIndex=len(self.prompts) - 1)

    def answer(self, at, text):
        return self.update(at, 'agent_message_chunk', text)

    def beside(self):
        at = self.world.iso(self.last or None)
        self.world.put(os.path.dirname(self.path) + '/summary.json', json.dumps({
            'info': {'id': self.sid, 'cwd': self.cwd}, 'session_summary': self.prompts[0][1] if self.prompts else '', 'created_at': at, 'updated_at': at,
            'last_active_at': at, 'num_messages': len(self.rows), 'chat_format_version': 1, 'session_kind': 'main'}).encode())


class Document(Log):
    """A session is one document, which is written anew each time."""
    rows_member = ''

    def document(self):
        """What precedes the rows in it."""
        return {}

    def add(self, *rows):
        self.rows += rows
        os.makedirs(os.path.dirname(self.path), exist_ok=True)
        self.save()

    def save(self):
        head = json.dumps(self.document(), ensure_ascii=False, indent=2)
        rows = [r if isinstance(r, bytes) else json.dumps(r, ensure_ascii=False, indent=2).encode('utf-8', 'surrogatepass') for r in self.rows]
        text = b',\n'.join(b'    ' + r.rstrip(b'\n').replace(b'\n', b'\n    ') for r in rows)
        with open(self.path, 'wb') as f:
            f.write(head.encode()[:-2] + f',\n  "{self.rows_member}": ['.encode() + (b'\n' + text + b'\n  ' if rows else b'') + b']\n}')
        self.times()

    def step_torn(self, step):
        """It was cut while it was written."""
        os.truncate(self.path, max(0, os.path.getsize(self.path) - step['bytes']))
        self.exact, self.listed = False, None

    def step_bom(self, _):
        """The agent itself could not read it."""

    def step_double(self, step):
        """All projects share one folder."""


class Continue(Document):
    """Its messages have no times and no ids."""
    name, rows_member = 'continue', 'history'

    def where(self):
        return f'{self.world.home}/.continue/sessions/{self.sid}.json'

    def document(self):
        return {'sessionId': self.sid, 'title': 'Untitled Session', 'workspaceDirectory': self.cwd}

    def item(self, role, text):
        return [{'message': {'role': role, 'content': text}, 'contextItems': []}]

    def pad(self, at, size):
        return self.item('system', 'x' * size) if size else []

    def prompt(self, at, text):
        return self.item('user', text)

    def answer(self, at, text):
        return self.item('assistant', text)

    def step_touch(self, step):
        super().step_touch(step)
        self.last = self.last and os.stat(self.path).st_mtime_ns // 1_000_000


class Auggie(Document):
    """A row is a prompt with its answer."""
    name, rows_member = 'auggie', 'chatHistory'

    def where(self):
        return f'{self.world.home}/.augment/sessions/{self.sid}.json'

    def document(self):
        at = self.world.iso(self.last or None)
        return {'sessionId': self.sid, 'created': at, 'modified': at}

    def prompt(self, at, text):
        root = {'repository_root': self.cwd, 'folder_root': self.cwd}
        return [{'exchange': {'request_message': text, 'response_text': '', 'request_id': self.next_id()[0], 'request_nodes': [
            {'id': 1, 'type': 0, 'text_node': {'content': text}},
            {'id': 2, 'type': 4, 'ide_state_node': {'workspace_folders': [root], 'workspace_folders_unchanged': False, 'current_terminal': {
                'terminal_id': 0, 'current_working_directory': self.cwd}}}], 'response_nodes': []}, 'completed': True, 'sequenceId': len(self.rows) + 1,
            'finishedAt': self.world.iso(at), 'changedFiles': [], 'source': 'local'}]

    def answer(self, at, text):
        row = self.rows.pop()
        row['exchange'] |= {'response_text': text, 'response_nodes': [{'id': 1, 'type': 0, 'content': text, 'timestamp_ms': at}]}
        return [{**row, 'finishedAt': self.world.iso(at)}]


class Cline(Document):
    """A document about the session is beside that of its messages."""
    name, rows_member = 'cline', 'messages'

    def new_id(self):
        return f'{self.world.now}_{self.world.uuid()[:5].translate(str.maketrans("0123456789", "ghijklmnop"))}'

    def where(self):
        return f'{self.world.home}/.cline/data/sessions/{self.sid}/{self.sid}.messages.json'

    def message(self, at, role, text):
        return [{'id': self.next_id()[0], 'role': role, 'content': [{'type': 'text', 'text': text}], 'ts': at}]

    def prompt(self, at, text):
        return self.message(at, 'user', f'<user_input mode="act">{text}</user_input>')

    def answer(self, at, text):
        return self.message(at, 'assistant', text)

    def beside(self):
        self.world.put(f'{os.path.dirname(self.path)}/{self.sid}.json', json.dumps({
            'version': 1, 'session_id': self.sid, 'source': 'cli', 'started_at': self.world.iso(self.last or None), 'status': 'idle', 'interactive': True,
            'provider': 'mock', 'model': 'coder', 'cwd': self.cwd, 'workspace_root': self.cwd, 'prompt': self.prompts[0][1] if self.prompts else '',
            'metadata': {}, 'messages_path': self.path}).encode())


class Antigravity(Log):
    """Steps; the directory is in the history of all prompts."""
    name = 'antigravity'

    def where(self):
        return f'{self.world.home}/.gemini/antigravity-cli/brain/{self.sid}/.system_generated/logs/transcript.jsonl'

    def steps(self, at, source, kind, text):
        return [{'step_index': len(self.rows), 'source': source, 'type': kind, 'status': 'DONE', 'created_at': self.world.iso(at), 'content': text}]

    def pad(self, at, size):
        return self.steps(at, 'SYSTEM', 'CONVERSATION_HISTORY', 'x' * size) if size else []

    def prompt(self, at, text):
        return self.steps(at, 'USER_EXPLICIT', 'USER_INPUT', f'<USER_REQUEST>\n{text}\n</USER_REQUEST>\n<ADDITIONAL_METADATA>x</ADDITIONAL_METADATA>')

    def answer(self, at, text):
        return self.steps(at, 'MODEL', 'PLANNER_RESPONSE', text)

    def beside(self):
        with open(f'{self.world.home}/.gemini/antigravity-cli/history.jsonl', 'ab') as f:
            f.write(encode({'conversationId': self.sid, 'display': self.prompts[-1][1], 'workspace': self.cwd, 'timestamp': self.last}))

    def step_double(self, step):
        """Its folders have no project in their names."""


AGENTS = {a.name: a for a in (Qwen, Pi, Copilot, Gemini, Kimi, Droid, Qoder, Grok, Continue, Auggie, Cline, Antigravity)}
