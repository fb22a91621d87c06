"""Random stores of Claude Code whose transcripts record tokens in every way that real ones do, and the sums that are right.

The rules are written down once more here, so that the program is compared with something other than itself: an answer is
known by message.id and requestId; of its rows the one with most tokens counts; a copy in a side question, which has a
request of its own, does not count beside the answer; a fork's copy counts for the session that it was copied from.
"""
import json
import os
import random
import uuid

MODELS = ['claude-opus-5-5', 'claude-sonnet-5', 'claude-haiku-4-5-20251001', '<synthetic>', 'modèle "x"']
KINDS = ['input', 'output', 'cacheWrite', 'cacheRead']
NAMES = dict(zip(KINDS, ['input_tokens', 'output_tokens', 'cache_creation_input_tokens', 'cache_read_input_tokens']))


class Store:
    """One configuration directory; `rows` has what each row with tokens says."""

    def __init__(self, config, seed, sessions=12, plain=False):
        self.plain = plain  # no side question repeats an answer, and all answers have both ids or neither
        self.config, self.rng, self.rows, self.clock = config, random.Random(seed), [], 1_767_200_000
        self.ids = []
        for number in range(sessions):
            self.session(number)

    def hex(self, n):
        return f'{self.rng.getrandbits(4 * n):0{n}x}'

    def now(self):
        self.clock += self.rng.choice([1, 5, 60, 9000, 40000])
        seconds = self.clock
        days, rest = divmod(seconds, 86400)
        year, days = 2025, days - 20089
        while days >= 365:
            year, days = year + 1, days - 365
        month = 0
        for month, length in enumerate([31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31], 1):
            if days < length:
                break
            days -= length
        return f'{year}-{month:02}-{days + 1:02}T{rest // 3600:02}:{rest % 3600 // 60:02}:{rest % 60:02}.{self.rng.randrange(1000):03}Z'

    def usage(self, model):
        if model == '<synthetic>':
            return dict.fromkeys(KINDS, 0)
        return {k: self.rng.choice([0, 1, 7, 300, 12345, 2_000_000]) + self.rng.randrange(50) for k in KINDS}

    def row(self, usage, model, ids, **more):
        message = {'role': 'assistant', 'type': 'message', 'content': [{'type': 'text', 'text': 'the "usage" of {"usage":{"input_tokens":9}}'}],
                   'usage': {NAMES[k]: n for k, n in usage.items()}}
        if model is not None:
            message['model'] = model
        if ids[0]:
            message['id'] = ids[0]
        row = {'type': 'assistant', 'uuid': str(uuid.UUID(int=self.rng.getrandbits(128))), 'timestamp': self.now(),
               'cwd': self.cwd, 'sessionId': self.id, 'version': '2.1.330', 'message': message, **more}
        if ids[1]:
            row['requestId'] = ids[1]
        return row

    def note(self, row, copied=False):
        """Remembers a row as it counts."""
        inner = row.get('data', {}).get('message', row)
        usage = inner['message']['usage']
        self.rows.append({'id': inner['message'].get('id'), 'request': inner.get('requestId'), 'day': inner['timestamp'][:10],
                          'model': inner['message'].get('model'), 'session': self.id, 'project': self.cwd,
                          'aside': inner.get('isSidechain') is True, 'copied': copied,
                          **{k: usage[NAMES[k]] for k in KINDS}})
        return json.dumps(row, ensure_ascii=self.rng.random() < 0.5, separators=(',', ':'))

    def answer(self, **more):
        """The rows of one answer: each block has one, the counts of the first ones may be those of a beginning."""
        rng, model = self.rng, self.rng.choice(MODELS)
        usage = self.usage(model)
        ids = (f'msg_{self.hex(24)}' if rng.random() < 0.95 else None, f'req_{self.hex(24)}' if rng.random() < 0.9 or self.plain else None)
        rows = []
        for left in range(rng.choice([1, 1, 2, 3]) if ids[0] else 1, 0, -1):
            part = dict(usage)
            if left > 1 and rng.random() < 0.5:
                part['output'] = min(part['output'], left - 1)
            rows.append(self.row(part, model, ids, **more))
        if len({r['timestamp'][:10] for r in rows}) > 1:  # over midnight the row that counts would be a matter of ties
            for r in rows:
                r['timestamp'] = rows[-1]['timestamp']
        return rows

    def session(self, number):
        rng = self.rng
        self.id = str(uuid.UUID(int=rng.getrandbits(128), version=4))
        self.cwd = f'{self.config}/no/{rng.choice(["alpha", "beta", "gämma dir"])}'
        folder = f'{self.config}/projects/{"".join(c if c.isascii() and c.isalnum() else "-" for c in self.cwd)}'
        os.makedirs(f'{folder}/{self.id}/subagents', exist_ok=True)
        prompt = {'type': 'user', 'uuid': str(uuid.UUID(int=rng.getrandbits(128))), 'timestamp': self.now(), 'cwd': self.cwd,
                  'sessionId': self.id, 'message': {'role': 'user', 'content': f'session {number}'}}
        lines, kept = [json.dumps(prompt)], []
        for _ in range(rng.randrange(1, 9)):
            rows = self.answer()
            kept.append(rows)
            lines += [self.note(r) for r in rows]
            lines.append(rng.choice(['', '{"type":"user","message":{"content":"\\"usage\\": none"}}', '{"usage":{"input_tokens":5}}',
                                     '{"type":"assistant","message":{"id":"x","usage":{"input_tokens":1,"output_tokens":2}', 'null']))
        self.agents(folder, kept, lines)
        if number and rng.random() < 0.6:
            lines += self.fork()
        self.ids.append((folder, self.id, kept))
        with open(f'{folder}/{self.id}.jsonl', 'w', encoding='utf-8') as f:
            f.write('\n'.join(lines) + rng.choice(['', '\n']))

    def agents(self, folder, kept, lines):
        """Sub-agents; in one of two their rows are in the session as well, as older versions wrote them."""
        rng = self.rng
        for a in range(rng.randrange(3)):
            inside = []
            for _ in range(rng.randrange(1, 4)):
                for r in self.answer(isSidechain=True, agentId=f'a{a}'):
                    inside.append(self.note(r))
                    if rng.random() < 0.5 and r['message'].get('id'):
                        lines.append(self.note({'type': 'progress', 'uuid': str(uuid.UUID(int=rng.getrandbits(128))),
                                                'timestamp': r['timestamp'], 'data': {'type': 'agent_progress', 'message': r}}))
            again = rng.choice(kept)[-1]
            if again['message'].get('id') and rng.random() < 0.5 and not self.plain:  # a side question repeats the conversation
                copy = json.loads(json.dumps(again))
                copy.update(isSidechain=True, requestId=f'req_{self.hex(24)}')
                copy['message']['usage']['cache_read_input_tokens'] += 10
                inside.append(self.note(copy))
            with open(f'{folder}/{self.id}/subagents/agent-a{a}.jsonl', 'w', encoding='utf-8') as f:
                f.write('\n'.join(inside) + '\n')

    def fork(self):
        """The beginning of another session, copied with its ids."""
        _, source, kept = self.rng.choice(self.ids)
        out = []
        for rows in kept[:self.rng.randrange(1, len(kept) + 1)]:
            for r in rows:
                if not r['message'].get('id'):
                    continue  # it would be counted twice, by everybody
                copy = dict(r, sessionId=self.id, uuid=str(uuid.UUID(int=self.rng.getrandbits(128))),
                            forkedFrom={'sessionId': source, 'messageUuid': r['uuid']})
                out.append(self.note(copy, copied=True))
        return out

    def counted(self):
        """One row for each answer."""
        def total(r):
            return sum(r[k] for k in KINDS)

        out, exact, by_id = [], {}, {}
        for r in self.rows:
            at = None
            if r['id']:
                at = exact.get((r['id'], r['request']))
                if at is None:
                    at = next((i for i in by_id.get(r['id'], []) if r['aside'] or out[i]['aside']), None)
            if at is None:
                out.append(r)
                if r['id']:
                    exact[r['id'], r['request']] = len(out) - 1
                    by_id.setdefault(r['id'], []).append(len(out) - 1)
                continue
            old = out[at]
            if (old['aside'], total(r), old['copied'] and not r['copied']) > (r['aside'], total(old), False) \
                    if old['aside'] == r['aside'] else old['aside']:
                out[at] = r
        return out

    def sums(self, key, rows=None):
        """{value of the key: [input, output, cache write, cache read]}, without empty ones."""
        out = {}
        for r in self.counted() if rows is None else rows:
            sums = out.setdefault(r[key] or '', [0, 0, 0, 0])
            for i, k in enumerate(KINDS):
                sums[i] += r[k]
        return {k: v for k, v in out.items() if any(v)}
