#!/usr/bin/env python3
"""The newest messages of a long session, and those before one of them, are the same whether only the end of its file is read or
all of it: random sessions with branches, compactions, rows of sub-agents, calls made at once, results without their calls,
queued prompts, and last-prompt rows that name a row near or far, or start over.

usage: messages_end.py REPRISE [SEED]
"""
import json
import os
import random
import sys
import tempfile
import uuid

from support.program import Program

SEEDS = 8 if 'REPRISE_LONG' in os.environ else 4
FILLER = 2400  # bytes of a large result, so that few rows make a file of which only the end is read
ROWS = 1500


class Session:
    def __init__(self, rng):
        self.rng, self.rows, self.at, self.last, self.calls = rng, [], 0, None, []
        self.calm = rng.choice((0.85, 0.98, 0.995))
        self.id = self.uuid()

    def uuid(self):
        return str(uuid.UUID(int=self.rng.getrandbits(128), version=4))

    def row(self, kind, parent, **more):
        self.at += self.rng.choice((0, 1, 40, 9000))
        id = self.uuid()
        self.rows.append({'parentUuid': parent, 'isSidechain': False, 'type': kind, **more, 'uuid': id, 'cwd': '/home/dev/shop',
                          'sessionId': self.id, 'version': '2.1.330',
                          'timestamp': f'2026-03-01T{self.at // 3600000 % 24:02}:{self.at // 60000 % 60:02}:{self.at // 1000 % 60:02}'
                                       f'.{self.at % 1000:03}Z'})
        return id

    def prompt(self):
        self.last = self.row('user', self.last, message={'role': 'user', 'content': f'prompt {len(self.rows)}'})

    def answer(self, calls):
        message = f'msg_{len(self.rows)}'
        kinds = [{'type': 'thinking', 'thinking': 'x'}] * self.rng.randint(0, 1) + [{'type': 'text', 'text': f'answer {len(self.rows)}'}]
        for block in kinds + [{'type': 'tool_use', 'id': f'toolu_{len(self.rows)}_{i}', 'name': 'Bash', 'input': {}} for i in range(calls)]:
            parent = self.last
            self.last = self.row('assistant', parent, message={'role': 'assistant', 'id': message, 'content': [block]})
            if block['type'] == 'tool_use' and self.rng.random() < 0.95:
                self.calls.append((block['id'], self.last))
        for id, parent in self.calls:
            self.last = self.row('user', parent, message={'role': 'user', 'content': [
                {'type': 'tool_result', 'tool_use_id': id, 'content': 'word ' * (FILLER // 5)}]})
        self.calls = []

    def other(self):
        what = self.rng.randrange(9)
        if what == 0:
            self.row('user', self.last, message={'role': 'user', 'content': 'of a sub-agent'}, isSidechain=True)
        elif what == 1:
            self.row('progress', self.last, data={})
        elif what == 2:
            self.last = self.row('user', self.last, message={'role': 'user', 'content': [
                {'type': 'tool_result', 'tool_use_id': self.rng.choice((f'toolu_{len(self.rows) // 9}_0', 'gone')), 'content': 'lone'}]})
        elif what == 3:
            self.rows.append({'type': 'last-prompt', 'lastPrompt': 'p', 'leafUuid': self.last, 'sessionId': self.id})
        elif what == 4 and self.rows and self.rng.random() < 0.5:
            back = self.rng.choice((5, 20, 150))
            named = next((r['uuid'] for r in reversed(self.rows[:-back]) if 'uuid' in r), None)
            if self.rng.random() < 0.5:
                self.rows.append({'type': 'last-prompt', 'lastPrompt': 'p', 'leafUuid': named, 'explicit': True, 'sessionId': self.id})
            if named and self.rng.random() < 0.8:
                self.last = named
        elif what == 5:
            self.row('attachment', self.last, attachment={'type': 'queued_command', 'prompt': 'queued', 'commandMode': 'prompt',
                                                          'source_uuid': self.uuid()})
        elif what == 6 and self.rng.random() < 0.2:
            self.last = self.row('system', None, subtype='compact_boundary', content='c', logicalParentUuid=self.last,
                                 compactMetadata={'trigger': 'auto', 'preTokens': 9})
            self.last = self.row('user', self.last, message={'role': 'user', 'content': 'summary'}, isCompactSummary=True)
        elif what == 7 and self.rng.random() < 0.05:
            self.rows.append({'type': 'last-prompt', 'lastPrompt': 'p', 'leafUuid': None, 'explicit': True, 'sessionId': self.id})
            self.last = None
        elif what == 8 and self.rng.random() < 0.2:
            self.last = self.uuid()  # a row that is lost

    def write(self, folder):
        while len(self.rows) < ROWS:
            what = self.rng.random()
            if what < 0.3:
                self.prompt()
            elif what < self.calm:
                self.answer(self.rng.choice((0, 1, 1, 1, 3)))
            else:
                self.other()
        with open(os.path.join(folder, self.id + '.jsonl'), 'w', encoding='utf-8') as out:
            for row in self.rows:
                out.write(json.dumps(row, separators=(',', ':')) + '\n')


def main(program, seed='1'):
    with tempfile.TemporaryDirectory() as home:
        p = Program(program, home, {})
        folder = os.path.join(home, '.claude', 'projects', '-home-dev-shop')
        os.makedirs(folder)
        for number in range(int(seed), int(seed) + SEEDS):
            session = Session(random.Random(number))
            session.write(folder)
            for form in ((), ('--spoken',), ('--system-messages',), ('--plain',)):
                name = f'seed {number} {" ".join(form)}'
                all = p.json('messages', session.id, *form)
                for n in (1, 20, 90):
                    p.same(f'{name}: the newest {n}', p.json('messages', session.id, '--tail', str(n), *form), all[-n:])
                member = 'id' if '--plain' in form else 'uuid'
                for back in (1, 30, 100):
                    if len(all) > back:
                        at = len(all) - back
                        p.same(f'{name}: before the last but {back}',
                               p.json('messages', session.id, '--before', all[at][member], '--limit', '15', *form), all[max(at - 15, 0):at])
        p.finish(SEEDS * 16)


main(*sys.argv[1:])
