#!/usr/bin/env python3
"""Threads so old that their logs have only what the model saw: messages, calls of apply_patch and of commands; and turns that were
taken back in the same log. The rows are MADE HERE, in the forms of 2025: a patch in a tool of its own, as the argument of a command,
and as a document.

usage: codex_old.py PROGRAM
"""
import json
import os
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, '..', '..', '..')]

from support.program import Program

SID = '01980a10-4e0a-7153-911c-f3fe4c56d001'
GATE = '*** Begin Patch\n*** Add File: gate.txt\n+shut\n+tight\n*** Add File: old.txt\n+a hinge\n*** End Patch'
OIL = "apply_patch <<'EOF'\n*** Begin Patch\n*** Update File: gate.txt\n@@\n shut\n-tight\n+oiled\n*** End Patch\nEOF\n"
LATCH = '*** Begin Patch\n*** Add File: latch.txt\n+a latch\n*** End Patch'
NEVER = '*** Begin Patch\n*** Update File: gate.txt\n@@\n-none\n+never\n*** End Patch'


class Log:
    def __init__(self, cwd):
        self.rows = [('session_meta', {'id': SID, 'timestamp': '2025-09-23T20:00:00.000Z', 'cwd': cwd, 'originator': 'codex_cli_rs',
                                       'cli_version': '0.42.0', 'instructions': None})]
        self.calls = 0

    def prompt(self, text):
        self.rows.append(('event_msg', {'type': 'user_message', 'message': text, 'kind': 'plain'}))

    def said(self, role, text):
        kind = 'output_text' if role == 'assistant' else 'input_text'
        self.rows.append(('response_item', {'type': 'message', 'role': role, 'content': [{'type': kind, 'text': text}]}))

    def patch(self, text, output, code):
        self.calls += 1
        id = f'call_{self.calls}'
        self.rows.append(('response_item', {'type': 'custom_tool_call', 'status': 'completed', 'call_id': id, 'name': 'apply_patch', 'input': text}))
        self.rows.append(('response_item', {'type': 'custom_tool_call_output', 'call_id': id, 'output': json.dumps(
            {'output': output, 'metadata': {'exit_code': code, 'duration_seconds': 0.1}})}))

    def command(self, command, output, **more):
        self.calls += 1
        id = f'call_{self.calls}'
        self.rows.append(('response_item', {'type': 'function_call', 'name': 'shell', 'arguments': json.dumps({'command': command, **more}), 'call_id': id}))
        self.rows.append(('response_item', {'type': 'function_call_output', 'call_id': id, 'output': output}))

    def answer(self, text, total, last):
        self.rows.append(('event_msg', {'type': 'agent_message', 'message': text}))
        self.rows.append(('event_msg', {'type': 'token_count', 'info': {
            'total_token_usage': {'input_tokens': total, 'output_tokens': 0, 'total_tokens': total},
            'last_token_usage': {'input_tokens': last, 'output_tokens': 0, 'total_tokens': last}}}))

    def text(self, hour=20, copied=0):
        """The copied rows, and the header above them, have the time of the fork."""
        return ''.join(json.dumps({'timestamp': f'2025-09-23T{hour}:00:{n if n > copied else 0:02}.{0 if n > copied else n:03}Z', 'type': kind,
                                   'payload': payload}) + '\n' for n, (kind, payload) in enumerate(self.rows))


def write(path, text):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, 'w', encoding='utf-8') as f:
        f.write(text)


def check(p, home):
    cwd = f'{home}/app'
    log = Log(cwd)
    log.prompt('Mend the gate')
    log.patch(GATE, 'Success. Updated the following files:\nA gate.txt\nA old.txt\n', 0)
    log.patch(NEVER, 'apply_patch verification failed', 1)
    log.prompt('Oil it')
    log.command(['bash', '-lc', OIL], 'Exit code: 0\nWall time: 0.1 seconds\nOutput:\nSuccess. Updated the following files:\nM gate.txt\n')
    log.command(['apply_patch', LATCH], 'Exit code: 0\nOutput:\n', workdir=f'{cwd}/new')
    log.command(['bash', '-lc', 'mv old.txt kept.txt'], 'Exit code: 0\nOutput:\n')
    log.command(['bash', '-lc', 'rm gate.txt'], 'Exit code: 1\nOutput:\n')
    write(f'{home}/.codex/sessions/2025/09/23/rollout-2025-09-23T20-00-00-{SID}.jsonl', log.text())
    for name, text in {'gate.txt': 'shut\noiled\n', 'kept.txt': 'a hinge\n', 'new/latch.txt': 'a latch\n'}.items():
        write(f'{cwd}/{name}', text)

    def blame(name):
        return [(line['text'].strip(), line.get('prompt')) for line in p.json('blame', '-C', cwd, name)]
    p.same('a patch and a document', blame('gate.txt'), [('shut', 'Mend the gate'), ('oiled', 'Oil it')])
    p.same('what was renamed', blame('kept.txt'), [('a hinge', 'Mend the gate')])
    p.same('in another directory', blame('new/latch.txt'), [('a latch', 'Oil it')])
    p.same('files', sorted(os.path.relpath(f['path'], cwd) for f in p.json('files', '--all', f'codex:{SID}')),
           ['gate.txt', 'new/latch.txt', 'old.txt'])  # which was renamed
    write(f'{home}/.codex/sessions/2025/09/23/rollout-2025-09-23T20-00-00-{SID}.jsonl',
          log.text() + json.dumps({'timestamp': '2025-09-23T20:01:00.000Z', 'type': 'event_msg', 'payload': {
              'type': 'patch_apply_end', 'call_id': 'x', 'success': True, 'changes': {f'{cwd}/kept.txt': {'type': 'add', 'content': 'a hinge\n'}}}}) + '\n')
    p.same('a log that records what was done', [os.path.relpath(f['path'], cwd) for f in p.json('files', '--all', f'codex:{SID}')], ['kept.txt'])


def check_model_view(p, home):
    """Without events, the messages of the model's view are the conversation; with events, they repeat it."""
    cwd = f'{home}/app'
    path = f'{home}/.codex/sessions/2025/09/23/rollout-2025-09-23T20-00-00-{SID}.jsonl'
    log = Log(cwd)
    log.said('developer', 'be brief')
    for text in '<environment_context>\n<cwd>/</cwd></environment_context>', '# AGENTS.md instructions for /x', '<user_instructions>\nno', \
            '<user_shell_command>\n<command>\nls\n</command>', '<turn_aborted>\nno':
        log.said('user', text)
    for prompt, answer in ('Mend the gate', 'Mended.'), ('Oil it', 'Oiled.'):
        log.said('user', prompt)
        log.said('assistant', answer)

    def shown():
        row = p.json('list', '--all')[0]
        return [row['summary'], row['firstPrompt'], row['lastPrompt']], p.text('messages', f'codex:{SID}')
    write(path, log.text())
    row, text = shown()
    p.same('the row of a log without events', row, ['Mend the gate', 'Mend the gate', 'Oil it'])
    p.same('its conversation', [l for l in text.splitlines() if l], ['> Mend the gate', 'Mended.', '> Oil it', 'Oiled.'])
    for prompt in 'One', 'Two', 'Three':
        log.said('user', prompt)
        log.prompt(prompt)
        log.said('assistant', f'answer {prompt}')
        log.rows.append(('event_msg', {'type': 'agent_message', 'message': f'answer {prompt}'}))
    log.rows.append(('event_msg', {'type': 'thread_rolled_back', 'num_turns': 2}))
    write(path, log.text())
    row, text = shown()
    p.same('the row after a rollback', row, ['One', 'One', 'One'])
    p.same('its conversation', [l for l in text.splitlines() if l], ['> One', 'answer One'])


def check_fork(p, home):
    """The program copied the rows of a thread to its fork, with the time of the fork (as 0.98 does). A turn with an answer has ended."""
    parent, fork = Log(f'{home}/app'), Log(f'{home}/app')
    ids = f'{SID[:-1]}2', f'{SID[:-1]}3'
    parent.rows[0][1]['id'] = ids[0]
    parent.prompt('Mend the gate')
    parent.patch(GATE, 'Success. Updated the following files:\nA gate.txt\nA old.txt\n', 0)
    parent.answer('Mended.', 100, 100)
    fork.rows[0][1].update(id=ids[1], forked_from_id=ids[0])
    fork.rows += parent.rows
    copied = len(parent.rows)
    parent.prompt('Oil it')
    parent.answer('Oiled.', 150, 50)
    fork.prompt('Paint it')
    fork.patch(LATCH, 'Success. Updated the following files:\nA latch.txt\n', 0)
    fork.answer('Painted.', 170, 70)
    for id, text, hour in (ids[0], parent.text(20), 20), (ids[1], fork.text(21, copied), 21):
        write(f'{home}/.codex/sessions/2025/09/23/rollout-2025-09-23T{hour}-00-00-{id}.jsonl', text)
    used = {r['session']: r['input'] for r in p.json('usage', '--all', '--by', 'session')}
    p.same('each answer counts once', [used.get(i) for i in ids], [150, 70])
    def touched(name):
        return [t['session'] for t in p.json('touched', '-C', f'{home}/app', name)]

    p.same('a copied edit is that of the thread', touched('old.txt'), [ids[0]])
    p.same('an edit of the fork is its own', touched('latch.txt'), [ids[1]])
    write(f'{home}/.codex/sessions/2025/09/23/rollout-2025-09-23T20-00-00-{ids[0]}.jsonl', '')
    fork.rows[0][1]['id'], again = f'{SID[:-1]}4', f'{home}/.codex/sessions/2025/09/23/rollout-2025-09-23T22-00-00-{SID[:-1]}4.jsonl'
    fork.rows.insert(1, ('session_meta', {**fork.rows[0][1], 'id': ids[1]}))
    write(again, fork.text(22, len(fork.rows) - 1))
    p.same('without the thread, of its oldest fork', touched('old.txt'), [ids[1]])
    p.same('an edit of a fork that another one copied', touched('latch.txt'), [ids[1]])
    old, later = f'{home}/.codex/sessions/2025/09/23/rollout-2025-09-23T21-00-00-{ids[1]}.jsonl', fork.rows
    fork.rows = [(kind, {**p, 'id': ids[1]} if i == 0 else p) for i, (kind, p) in enumerate(later) if i != 1]
    write(old, fork.text(23, copied))
    p.same('and which went on', touched('latch.txt'), [ids[1]])
    fork.rows = later
    os.remove(again)
    del fork.rows[1]
    fork.rows[0][1]['id'] = ids[1]
    write(f'{home}/.codex/sessions/2025/09/23/rollout-2025-09-23T20-00-00-{ids[0]}.jsonl', parent.text(20))
    p.need('interrupted' not in p.text('list', '--all'), 'the turns have ended')
    fork.prompt('And again')
    write(f'{home}/.codex/sessions/2025/09/23/rollout-2025-09-23T21-00-00-{ids[1]}.jsonl', fork.text(21, copied))
    p.same('a turn without an answer has not', [line.split()[2][:8] for line in p.text('list', '--all').splitlines() if 'interrupted' in line], [ids[1][:8]])


def main():
    with tempfile.TemporaryDirectory(prefix='codex-old-') as home:
        p = Program(sys.argv[1], home, {'XDG_STATE_HOME': f'{home}/state'})
        check(p, home)
        check_model_view(p, home)
        check_fork(p, home)
    p.finish(25)


main()
