"""A scripted model on 127.0.0.1 for the agents: Anthropic messages, OpenAI responses, OpenAI chat completions and Gemini.

    model = MockModel(script)      script: {prompt: [step, ...]}, a step: {'text': str} or {'tool': name, 'args': dict}
    model.port; model.saw(text)    True if a request held this text

The last user's text that contains a prompt of the script chooses its steps; the rounds of the model since choose the one.
The model keeps no state, so an agent may repeat or resume whatever it likes.
"""
import http.server
import json
import threading


def text_of(content):
    if isinstance(content, str):
        return content
    return '\n'.join(c if isinstance(c, str) else c.get('text') or '' for c in content or [])


def turns_of(path, body):
    """The conversation of a request as (role, text): 'user', 'model', 'result' of a tool, or 'other'."""
    turns = []
    if 'enerateContent' in path:
        for c in body.get('contents', []):
            parts = c.get('parts') or []
            result = any('functionResponse' in p for p in parts)
            turns.append(('result' if result else 'user' if c.get('role') != 'model' else 'model', text_of(parts)))
    elif path.endswith('/responses'):
        items = body.get('input') or []
        for item in [{'role': 'user', 'content': items}] if isinstance(items, str) else items:
            kind = item.get('type', 'message')
            if kind.endswith('_call_output'):
                turns.append(('result', ''))
            elif kind.endswith('_call'):
                turns.append(('model', ''))
            elif kind == 'message':
                turns.append(({'user': 'user', 'assistant': 'model'}.get(item.get('role'), 'other'),
                              text_of(item.get('content'))))
    else:
        for m in body.get('messages', []):
            content = m.get('content')
            result = m['role'] == 'tool' or isinstance(content, list) and any(
                c.get('type') == 'tool_result' for c in content if isinstance(c, dict))
            turns.append(('result' if result else {'user': 'user', 'assistant': 'model'}.get(m['role'], 'other'),
                          text_of(content)))
    return turns


def chosen_step(script, turns):
    for i in reversed(range(len(turns))):
        steps = next((s for prompt, s in script.items() if turns[i][0] == 'user' and prompt in turns[i][1]), None)
        if steps:
            rounds = sum(1 for a, b in zip(turns[i:], turns[i + 1:]) if b[0] == 'result' and a[0] != 'result')
            return steps[min(rounds, len(steps) - 1)]
    return {'text': 'A title'}


class Answer:
    """One step in the form of one interface."""

    def __init__(self, handler, number, body, step):
        self.handler, self.body, self.step = handler, body, step
        self.id = f'{number:06d}'
        self.text, self.tool = step.get('text', ''), step.get('tool')

    def start(self, kind):
        self.handler.send_response(200)
        self.handler.send_header('content-type', kind)
        self.handler.end_headers()

    def whole(self, value):
        self.start('application/json')
        self.handler.wfile.write(json.dumps(value).encode())

    def event(self, value, name=None):
        self.handler.wfile.write(((f'event: {name}\n' if name else '') + f'data: {json.dumps(value)}\n\n').encode())

    def anthropic(self):
        message = {'id': f'msg_{self.id}', 'type': 'message', 'role': 'assistant', 'model': self.body.get('model'),
                   'stop_sequence': None, 'usage': {'input_tokens': 10, 'output_tokens': 5}}
        block = {'type': 'text', 'text': self.text}
        if self.tool:
            block = {'type': 'tool_use', 'id': f'toolu_{self.id}', 'name': self.tool, 'input': self.step['args']}
        reason = 'tool_use' if self.tool else 'end_turn'
        if not self.body.get('stream'):
            return self.whole({**message, 'content': [block], 'stop_reason': reason})
        self.start('text/event-stream')
        empty = {**block, 'input': {}} if self.tool else {'type': 'text', 'text': ''}
        delta = ({'type': 'input_json_delta', 'partial_json': json.dumps(self.step['args'])} if self.tool else
                 {'type': 'text_delta', 'text': self.text})
        for event in [{'type': 'message_start', 'message': {**message, 'content': [], 'stop_reason': None}},
                      {'type': 'content_block_start', 'index': 0, 'content_block': empty},
                      {'type': 'content_block_delta', 'index': 0, 'delta': delta},
                      {'type': 'content_block_stop', 'index': 0},
                      {'type': 'message_delta', 'delta': {'stop_reason': reason}, 'usage': {'output_tokens': 5}},
                      {'type': 'message_stop'}]:
            self.event(event, event['type'])

    def responses(self):
        item = {'type': 'message', 'id': f'msg_{self.id}', 'role': 'assistant', 'status': 'completed',
                'content': [{'type': 'output_text', 'text': self.text, 'annotations': []}]}
        if self.tool == 'apply_patch':
            item = {'type': 'custom_tool_call', 'id': f'ctc_{self.id}', 'call_id': f'call_{self.id}',
                    'name': self.tool, 'input': self.step['args'], 'status': 'completed'}
        elif self.tool:
            item = {'type': 'function_call', 'id': f'fc_{self.id}', 'call_id': f'call_{self.id}', 'name': self.tool,
                    'arguments': json.dumps(self.step['args']), 'status': 'completed'}
        response = {'id': f'resp_{self.id}', 'object': 'response', 'model': self.body.get('model'), 'output': []}
        usage = {'input_tokens': 10, 'input_tokens_details': {'cached_tokens': 0}, 'output_tokens': 5,
                 'output_tokens_details': {'reasoning_tokens': 0}, 'total_tokens': 15}
        self.start('text/event-stream')
        for event in [{'type': 'response.created', 'response': {**response, 'status': 'in_progress'}},
                      {'type': 'response.output_item.added', 'output_index': 0, 'item': item},
                      {'type': 'response.output_item.done', 'output_index': 0, 'item': item},
                      {'type': 'response.completed',
                       'response': {**response, 'status': 'completed', 'output': [item], 'usage': usage}}]:
            self.event(event, event['type'])

    def chat(self):
        chunk = {'id': f'chatcmpl-{self.id}', 'created': 1, 'model': self.body.get('model')}
        usage = {'prompt_tokens': 10, 'completion_tokens': 5, 'total_tokens': 15}
        call = {'id': f'call_{self.id}', 'type': 'function',
                'function': {'name': self.tool, 'arguments': json.dumps(self.step.get('args'))}}
        reason = 'tool_calls' if self.tool else 'stop'
        if not self.body.get('stream'):
            message = {'role': 'assistant', 'content': self.text or None, **({'tool_calls': [call]} if self.tool else {})}
            return self.whole({**chunk, 'object': 'chat.completion', 'usage': usage,
                               'choices': [{'index': 0, 'finish_reason': reason, 'message': message}]})
        self.start('text/event-stream')
        delta = {'tool_calls': [{'index': 0, **call}]} if self.tool else {'content': self.text}
        chunk['object'] = 'chat.completion.chunk'
        self.event({**chunk, 'choices': [{'index': 0, 'delta': {'role': 'assistant', **delta}, 'finish_reason': None}]})
        self.event({**chunk, 'choices': [{'index': 0, 'delta': {}, 'finish_reason': reason}]})
        self.event({**chunk, 'choices': [], 'usage': usage})
        self.handler.wfile.write(b'data: [DONE]\n\n')

    def gemini(self, stream):
        part = {'functionCall': {'name': self.tool, 'args': self.step['args']}} if self.tool else {'text': self.text}
        value = {'candidates': [{'content': {'role': 'model', 'parts': [part]}, 'index': 0, 'finishReason': 'STOP'}],
                 'usageMetadata': {'promptTokenCount': 10, 'candidatesTokenCount': 5, 'totalTokenCount': 15}}
        if not stream:
            return self.whole(value)
        self.start('text/event-stream')
        self.event(value)


class MockModel:
    def __init__(self, script):
        self.script, self.seen, self.count = script, [], 0
        model = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def log_message(self, *args):
                pass

            def do_GET(self):
                Answer(self, 0, {}, {}).whole({'object': 'list', 'data': [{'id': 'mock-model', 'object': 'model'}]})

            def do_POST(self):
                raw = self.rfile.read(int(self.headers.get('content-length') or 0))
                try:
                    model.answer(self, self.path.split('?')[0], json.loads(raw or b'{}'))
                except (BrokenPipeError, ConnectionResetError):
                    pass

        self.server = http.server.ThreadingHTTPServer(('127.0.0.1', 0), Handler)
        self.port = self.server.server_address[1]
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def answer(self, handler, path, body):
        turns = turns_of(path, body)
        self.count += 1
        self.seen.append([text for role, text in turns if role == 'user'])
        answer = Answer(handler, self.count, body, chosen_step(self.script, turns))
        if path.endswith('/messages'):
            answer.anthropic()
        elif path.endswith('/responses'):
            answer.responses()
        elif path.endswith('/chat/completions'):
            answer.chat()
        elif 'enerateContent' in path:
            answer.gemini('stream' in path)
        else:
            answer.whole({'totalTokens': 10, 'input_tokens': 10})

    def saw(self, *texts):
        """True if one request held each of these prompts."""
        return any(all(any(t in user for user in request) for t in texts) for request in self.seen)
