"""Threads of Codex, in the newer form of its rollouts, and what a rewind of them must give."""
import difflib
import os

from claude import mutate
from world import Session, encode, past, read


class Codex(Session):
    def __init__(self, world, step, sid=None):
        super().__init__(world, step, 'codex')
        self.sid = sid or world.uuid(7)
        at = world.clock()
        day = world.iso(at)
        self.path = f'{world.home}/.codex/sessions/{day[:10].replace("-", "/")}/rollout-{day[:19].replace(":", "-")}-{self.sid}.jsonl'
        self.rows, self.turn, self.old = [], 0, step.get('old', False)
        self.add('session_meta', {'id': self.sid, 'session_id': self.sid, 'timestamp': day, 'cwd': self.cwd, 'originator': 'codex-tui',
                                  'cli_version': '0.98.0' if self.old else '0.171.0', 'source': 'cli', 'model_provider': 'mock',
                                  **({} if self.old else {'history_mode': 'paginated'}),
                                  'base_instructions': {'text': 'You are Codex. ' * (step.get('instructions', 0) // 15)}})

    def add(self, kind, payload):
        row = {'timestamp': self.world.iso(self.world.clock(10)), **({} if self.old else {'ordinal': len(self.rows)}), 'type': kind, 'payload': payload}
        self.rows.append(row)
        os.makedirs(os.path.dirname(self.path), exist_ok=True)
        with open(self.path, 'ab') as f:
            f.write(encode(row))
        self.times()

    def times(self):
        if not self.world.live:
            os.utime(self.path, ns=(self.world.now * 1_000_000,) * 2)

    def item(self, kind, more, began=None):
        now = self.world.now
        self.add('event_msg', {'type': 'item_completed', 'thread_id': self.sid, 'turn_id': f't{self.turn}',
                               'item': {'type': kind, 'id': f'item-{len(self.rows)}', **more},
                               'started_at_ms': began or now, 'completed_at_ms': now})

    def model_message(self, role, kind, text, *images):
        self.add('response_item', {'type': 'message', 'role': role, 'content': [{'type': kind, 'text': text}] + [
            {'type': 'input_image', 'image_url': 'data:image/png;base64,' + 'A' * n} for n in images]})

    def step_turn(self, step):
        self.turn += 1
        before = self.world.state(self.cwd)
        self.world.clock()
        if not self.old:
            self.add('event_msg', {'type': 'task_started', 'turn_id': f't{self.turn}', 'started_at': self.world.now // 1000})
        if self.turn == 1:
            self.model_message('user', 'input_text', '<environment_context>\n  <cwd>' + self.cwd + '</cwd>\n' + 'x' * step.get('context', 0) +
                               '</environment_context>')
        if step.get('turn_context', True):
            self.add('turn_context', {'turn_id': f't{self.turn}', 'cwd': self.cwd, 'approval_policy': 'never', 'model': 'gpt-6-codex',
                                      'summary': 'auto'})
        mark, text = self.say('mend it ' + 'a pasted line\n' * (step.get('size', 0) // 14))
        images = [step['image']] if step.get('image') else []
        self.model_message('user', 'input_text', text, *images)
        if self.old:
            self.add('event_msg', {'type': 'user_message', 'message': text, 'kind': 'plain', **(
                {'images': ['data:image/png;base64,' + 'A' * images[0]]} if images and step.get('in_event') else {'local_images': ['/x.png']} if images else {})})
        else:
            self.item('UserMessage', {'content': [{'type': 'text', 'text': text, 'text_elements': []}] + [
                {'type': 'image', 'image_url': 'data:image/png;base64,' + 'A' * n} for n in images if step.get('in_event')]})
        self.prompts.append((f't{self.turn}', mark, before))
        self.talk.append(mark)
        self.last = self.world.now
        for calls in step.get('calls', ()):
            if not self.old:
                self.patch(calls)
                self.last = self.world.now
        if step.get('answer', True):
            mark, text = self.say('done')
            if self.old:
                self.add('event_msg', {'type': 'agent_message', 'message': text})
            else:
                self.item('AgentMessage', {'content': [{'type': 'Text', 'text': text}], 'phase': 'final_answer'})
            self.model_message('assistant', 'output_text', text)
            self.add('event_msg', {'type': 'task_complete', 'turn_id': f't{self.turn}', 'last_agent_message': text})
            self.talk.append(mark)
            self.last = self.world.now

    def patch(self, calls):
        """One patch of several files, or a command."""
        changes, commands = {}, []
        self.world.clock()
        began = self.world.now
        for call in calls:
            path = f'{self.cwd}/{call["file"]}'
            if path in changes:
                continue
            if call['how'] == 'append':
                commands.append(call)
                continue
            how = call['how'] if call['how'] != 'remove' or os.path.exists(path) else 'write'
            before, after = self.world.change(self.cwd, call['file'], how, call['n'])
            if after is None:
                changes[path] = {'type': 'delete', 'content': before.decode()}
            elif how == 'edit' and before is not None:
                changes[path] = {'type': 'update', 'unified_diff': diff(before, after), 'move_path': None}
            else:
                changes[path] = {'type': 'add', 'content': after.decode()}
        self.world.clock()
        if changes:
            self.item('FileChange', {'changes': changes, 'status': 'completed', 'stdout': 'Success.', 'stderr': ''}, began)
        for call in commands:
            self.world.change(self.cwd, call['file'], 'append', call['n'])
            text = f'echo appended {call["n"]} >> "{call["file"]}"'
            self.item('CommandExecution', {'command': ['bash', '-lc', text], 'cwd': self.cwd, 'status': 'completed', 'exit_code': 0,
                                           'parsed_cmd': [{'type': 'unknown', 'cmd': text}], 'aggregated_output': ''})
            self.files_exact = False

    def step_compact(self, step):
        mark, text = self.say('summary')
        self.add('compacted', {'message': text, 'replacement_history': []} if step.get('keep') else {'message': text})
        self.exact = False

    def step_rename_row(self, step):
        self.title = step['title']
        path = f'{self.world.home}/.codex/session_index.jsonl'
        with open(path, 'ab') as f:
            f.write(encode({'id': self.sid, 'thread_name': self.title, 'updated_at': self.world.iso()}))

    def save(self):
        with open(self.path, 'wb') as f:
            f.write(b''.join(r if isinstance(r, bytes) else encode(r) for r in self.rows))
        self.times()

    def step_touch(self, step):
        os.utime(self.path, ns=(past(int(self.last + step['days'] * 86_400_000) * 1_000_000),) * 2)

    def step_bom(self, _):
        self.rows[0] = b'\xef\xbb\xbf' + encode(self.rows[0]) if not isinstance(self.rows[0], bytes) else self.rows[0]
        self.save()

    def step_torn(self, step):
        with open(self.path, 'ab') as f:
            f.write(encode({'timestamp': self.world.iso(), 'type': 'event_msg', 'payload': {'type': 'agent_message', 'message': 'torn'}})[:step['bytes']])

    def step_mutate(self, step):
        if len(self.rows) > 1:
            self.rows = mutate(self.rows, step)
            self.exact = self.files_exact = False
            self.listed = None
            self.save()


def diff(before, after, context=3):
    """A unified diff without names, as the programs record it."""
    lines = list(difflib.unified_diff(before.decode().split('\n')[:-1], after.decode().split('\n')[:-1], lineterm='', n=context))[2:]
    return ''.join(line + '\n' for line in lines)
