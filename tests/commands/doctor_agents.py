#!/usr/bin/env python3
"""Damaged logs of many agents: list, info and doctor agree, the repair does what was shown, and undo brings every byte back.

usage: doctor_agents.py PROGRAM
"""
import json
import os
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, '..')]

from support.agent_sessions import AGENTS, write
from support.program import Program

AT = 1795770000
LONG = 'REPRISE_LONG' in os.environ
NAMED = [a for a in ('droid',) if a in AGENTS]
MENDED = [a for a in ('codex', 'copilot', 'gemini', 'grok', 'kimi', 'kimi-cli', 'pi', 'qwen', 'vibe') if a in AGENTS]


def cut(row):
    return row[:max(9, len(row) // 2)].rstrip(b'\n}') + b'\n'


def at(place, change):
    """The row at a place changed: 0 is the second one, 1 the last one."""
    def apply(rows):
        i = 1 + int(place * (len(rows) - 2))
        return rows[:i] + change(rows[i]) + rows[i + 1:]
    return apply


# What is done to the rows; the finding; what of the rows a repair leaves, with and without offsets that other files name.
DAMAGE = {
    'torn at the end': (lambda r: r + [b'{"type":"cu'], 'torn-tail', lambda r, blank: r),
    'NULs at the end': (lambda r: r + [b'\0' * 1728], 'torn-tail', lambda r, blank: r),
    'no newline': (lambda r: r[:-1] + [r[-1][:-1]], 'torn-tail', lambda r, blank: r),
    'a line of NULs': (at(0, lambda x: [b'\0' * 600 + b'\n', x]), 'nul-bytes',
                       lambda r, blank: at(0, lambda x: [b' ' * 600 + b'\n', x] if blank else [x])(r)),
    'NULs before a row': (at(.5, lambda x: [b'\0' * 9 + x]), 'nul-bytes',
                          lambda r, blank: at(.5, lambda x: [b' ' * 9 + x] if blank else [x])(r)),
    'a cut row': (at(1, lambda x: [cut(x), x]), 'broken-line',
                  lambda r, blank: at(1, lambda x: [b' ' * (len(cut(x)) - 1) + b'\n', x] if blank else [x])(r)),
    'a cut row before a row': (at(.5, lambda x: [cut(x)[:-1] + b'~' + x]), 'spliced-line',
                               lambda r, blank: at(.5, lambda x: [b' ' * len(cut(x)) + x] if blank else [x])(r)),
    'a byte order mark': (lambda r: [b'\xef\xbb\xbf' + r[0]] + r[1:], 'broken-line',
                          lambda r, blank: ([b'   '] if blank else []) + r),
}
LISTED = {'torn-tail': ['torn'], 'nul-bytes': ['damaged'], 'broken-line': ['damaged']}
ONE_DOCUMENT = [a for a in ('auggie', 'cline', 'continue') if a in AGENTS]
# What is in place of a whole file, and is no session.
FOREIGN = {'a text': b'this is no session\n', 'a picture': b'\x89PNG\r\n\x1a\n' + bytes(range(256)) * 4, 'a list': b'[1,2,3]\n', 'other rows': b'{"a":1}\n{"b":2}\n',
           'NULs': b'\0' * 4096, 'nothing': b'', 'blank lines': b'\n\n\n', 'UTF-16': '{"type":"x"}\n'.encode('utf-16')}


def judge_list(p, what, agent, kinds, small):
    """The list marks what the doctor finds in the parts that it reads, and nothing else. It does not parse the lines, except for
    those of Gemini, so that it does not see where two rows are on one."""
    marks = [w for w in ('torn', 'damaged') if w in p.text('list', '--all')]
    want = sorted({w for k in kinds for w in (['damaged'] if k == 'spliced-line' and agent == 'gemini' else LISTED.get(k, []))})
    if small:
        p.same(f'{what}: list', sorted(marks), want)
    else:
        p.need(set(marks) <= set(want), f'{what}: list says {marks}, doctor {want}')


def look_at_document(p, agent, name, sid, path, whole, small):
    """A session that is one document: the line from which on it is not valid, and nothing is written."""
    change = DAMAGE[name][0]
    damaged = b''.join(change(whole))
    with open(path, 'wb') as f:
        f.write(damaged)
    os.utime(path, (AT, AT))
    what, ref = f'{agent}: {name}', f'{agent}:{sid}'
    try:
        json.loads(damaged.decode('utf-8', 'strict'))
        want = []
    except ValueError:
        want = ['broken-line']
    lines = [f for f in p.json('doctor', ref) if f['path'] == path]
    p.same(f'{what}: found', [f['kind'] for f in lines], want)
    p.need(all(not f['fixable'] and 'there is no repair' in f['why'] and 0 < f['line'] <= damaged.count(b'\n') + 1 for f in lines), f'{what}: {lines}')
    p.same(f'{what}: info', [(d['line'], d['why']) for d in p.json('info', ref)['damaged']], [(f['line'], f['why']) for f in lines])
    judge_list(p, what, agent, want, small)
    p.run('doctor', '--fix', ref)
    p.same(f'{what}: it stays', contents(path), damaged)
    with open(path, 'wb') as f:
        f.write(b''.join(whole))
    os.utime(path, (AT, AT))
    p.same(f'{what}: healthy', p.json('doctor', ref), [])


def foreign(p, agent, path, whole):
    """A file that is no session is named, by the session's id or among the files that are in no list, and stays as it is."""
    for name, text in FOREIGN.items():
        with open(path, 'wb') as f:
            f.write(text)
        found = [f for f in p.json('doctor', '--all') if f['path'] == path]
        listed = path in [r['path'] for r in p.json('list', '--all', '--all-kinds')]
        p.need(found or listed, f'{agent}: {name}: not seen at all')
        if agent == 'gemini':
            p.same(f'{agent}: {name}', [f['kind'] for f in found], ['no-session'])
        elif name in ('a text', 'a picture', 'NULs'):
            p.need(any(f['kind'] in ('no-session', 'broken-line', 'torn-tail') for f in found), f'{agent}: {name}: {found}')
        p.need('no damage' not in p.text('doctor', '--all') or not any(f['kind'] != 'hidden' for f in found), f'{agent}: {name}: the text differs')
        p.same(f'{agent}: {name}: it stays', contents(path), text)
    with open(path, 'wb') as f:
        f.write(b''.join(whole))
    os.utime(path, (AT, AT))


# What is done to the first row, of which each of these agents needs the one that it begins with.
HEADLESS = {'gone': lambda r: r[1:], 'and the next one': lambda r: r[2:], 'cut': lambda r: [cut(r[0])] + r[1:], 'NULs': lambda r: [b'\0' * 99 + b'\n'] + r[1:],
            'run into the next': lambda r: [r[0][:9] + r[1]] + r[2:], 'a mark instead': lambda r: [b'\xef\xbb\xbf' + r[1]] + r[2:]}
HEADS = {'codex': 'session_meta', 'copilot': 'session.start', 'droid': 'session_start', 'pi': 'session'}
# These need no certain first row: what is left of the log is the session.
WITHOUT_HEAD = {'qwen', 'grok', 'kimi', 'kimi-cli', 'vibe'}


def lost_head(p, agent, sid, path, whole):
    """A log without the row that it begins with is marked in the list, and the doctor says what it means; also after the repair of
    the rest, and for no agent is such a file passed over in silence."""
    for name, change in HEADLESS.items():
        what, damaged = f'{agent}: first row {name}', b''.join(change(whole))
        with open(path, 'wb') as f:
            f.write(damaged)
        os.utime(path, (AT, AT))
        found = [f for f in p.json('doctor', '--all') if f['path'] == path]
        rows = [r for r in p.json('list', '--all') if r['path'] == path]
        if agent == 'gemini':  # its id is in its first row; one that is cut behind it is a damaged line
            p.same(f'{what}: found', [f['kind'] for f in found], ['broken-line' if rows else 'no-session'])
            continue
        p.same(f'{what}: listed', len(rows), 1)
        heads = [f for f in found if f['kind'] == 'no-session']
        p.same(f'{what}: no-session', len(heads), agent in HEADS)
        if agent in WITHOUT_HEAD:
            continue
        p.need('damaged' in p.text('list', '--all') or name == 'run into the next', f'{what}: the list does not mark it')  # as judge_list says
        p.need(all(HEADS[agent] in f['why'] and not f['fixable'] and 'reprise continue' in f['why'] for f in heads), f'{what}: {heads}')
        p.same(f'{what}: info', [d['why'] for d in p.json('info', f'{agent}:{sid}')['damaged']].count(heads[0]['why'] if heads else None), 1)
        p.run('doctor', '--fix', f'{agent}:{sid}')
        p.same(f'{what}: it stays lost', [f['kind'] for f in p.json('doctor', f'{agent}:{sid}') if f.get('line') and f['fixable']], [])
        p.run('undo', '--all')
        p.same(f'{what}: undone', contents(path), damaged)
    with open(path, 'wb') as f:
        f.write(b''.join(whole))
    os.utime(path, (AT, AT))
    p.same(f'{agent}: whole again', [f for f in p.json('doctor', f'{agent}:{sid}') if f.get('line')], [])


def contents(path):
    with open(path, 'rb') as f:
        return f.read()


def look_at(p, agent, name, sid, path, whole, small):
    change, kind, want = DAMAGE[name]
    what = f'{agent}: {name}'
    damaged = b''.join(change(whole))
    with open(path, 'wb') as f:
        f.write(damaged)
    os.utime(path, (AT, AT))
    ref = f'{agent}:{sid}'
    found = p.json('doctor', ref)
    lines = [f for f in found if f['path'] == path and f.get('line')]
    p.same(f'{what}: found', [f['kind'] for f in lines], [kind])
    p.need(all(f['fixable'] and f['repair'] for f in lines), f'{what}: {lines}')
    p.same(f'{what}: info', [(d['line'], d['offset'], d['why']) for d in p.json('info', ref)['damaged']],
           [(f['line'], f['offset'], f['why']) for f in lines])
    judge_list(p, what, agent, [kind], small)
    p.need(f'(--fix {lines[0]["repair"]})' in p.text('doctor', ref), f'{what}: the repair is not shown')
    p.same(f'{what}: nothing is written before', contents(path), damaged)
    p.same(f'{what}: --fix', p.run('doctor', '--fix', ref).returncode, 0)
    p.same(f'{what}: repaired', contents(path), b''.join(want(whole, agent == 'codex')))
    p.same(f'{what}: its time', int(os.stat(path).st_mtime), AT)
    p.need(p.text('doctor', ref).endswith('no damage found\n'), f'{what}: {p.text("doctor", ref)}')
    p.same(f'{what}: info after it', p.json('info', ref)['damaged'], [])
    p.same(f'{what}: undo', p.run('undo', '--all').returncode, 0)
    p.same(f'{what}: undone', contents(path), damaged)
    with open(path, 'wb') as f:
        f.write(b''.join(whole))


def only_look_at(p, agent, name, sid, path, whole, small):
    """What the agent does with such lines is not known: they are named, and nothing is written."""
    change, kind, _ = DAMAGE[name]
    what, ref = f'{agent}: {name}', f'{agent}:{sid}'
    damaged = b''.join(change(whole))
    with open(path, 'wb') as f:
        f.write(damaged)
    os.utime(path, (AT, AT))
    lines = [f for f in p.json('doctor', ref) if f['path'] == path and f.get('line')]
    p.same(f'{what}: found', [(f['kind'], f['fixable']) for f in lines], [(kind, False)])
    p.same(f'{what}: info', [(d['line'], d['why']) for d in p.json('info', ref)['damaged']], [(f['line'], f['why']) for f in lines])
    p.need(all('there is no repair, because it is not known what the agent makes of it' in f['why'] for f in lines), f'{what}: it says why: {lines}')
    judge_list(p, what, agent, [kind], small)
    p.need('--fix' not in p.text('doctor', ref), f'{what}: no repair is offered')
    p.run('doctor', '--fix', ref)
    p.same(f'{what}: it stays', contents(path), damaged)
    with open(path, 'wb') as f:
        f.write(b''.join(whole))
    os.utime(path, (AT, AT))
    p.same(f'{what}: healthy', p.json('doctor', ref), [])


# Rows with what the agent sends to the model again, and whether it sends halves of pairs of surrogates or loses the row.
SENT = {'codex': (('session_meta', 'response_item', 'compacted'), 'Codex leaves the row out'), 'gemini': (('user', 'gemini'), 'the API refuses it'),
        'copilot': (('user.message', 'assistant.message', 'tool.execution_complete'), None), 'pi': (('message',), None),
        'kimi': (('context.append_message', 'context.append_loop_event'), 'the API refuses it'),
        'qwen': (('user', 'assistant', 'tool_result'), 'the API refuses it')}


def poison(p, agent, sid, path, whole):
    """Half of a pair of surrogates, or a NUL, in every prompt: found where it is sent; the rest stays as it is."""
    kinds, half = SENT[agent]
    # Kimi Code sends what the agent said, and not the record of the prompt.
    word = b'done' if agent == 'kimi' else b'prompt '
    for bad, reason in ((rb'\ud83d', half), (rb'\uDE00', half), (rb'\u0000', 'a NUL in a text'), (rb'\ud83d\ude00', None), (rb'\\ud83d', None)):
        sick = [row.replace(word, word[:4] + bad + word[4:]) for row in whole]
        sent = [i for i, row in enumerate(sick) if row != whole[i] and json.loads(row).get('type') in kinds]
        p.need(sent, f'{agent}: no row has the text')
        with open(path, 'wb') as f:
            f.write(b''.join(sick))
        os.utime(path, (AT, AT))
        what, ref = f'{agent}: {bad.decode()}', f'{agent}:{sid}'
        found = [f for f in p.json('doctor', ref) if f['kind'] == 'poisoned-row']
        p.same(f'{what}: found', [f['line'] - 1 for f in found], sent if reason else [])
        p.need(all(reason in f['why'] and f['repair'] == 'replaces it with U+FFFD' for f in found), f'{what}: {found[:1]}')
        p.same(f'{what}: info', [d['why'] for d in p.json('info', ref)['damaged']], [f['why'] for f in found])
        if not reason:
            continue
        p.run('doctor', '--fix', ref)
        p.same(f'{what}: repaired', contents(path), b''.join(row.replace(bad, rb'\ufffd') if i in sent else row for i, row in enumerate(sick)))
        p.same(f'{what}: again', [f for f in p.json('doctor', ref) if f['kind'] == 'poisoned-row'], [])
        p.same(f'{what}: undo', p.run('undo', '--all').returncode, 0)
        p.same(f'{what}: undone', contents(path), b''.join(sick))
    with open(path, 'wb') as f:
        f.write(b''.join(whole))


def main():
    checked = passed = failed = 0
    with tempfile.TemporaryDirectory() as top:
        for agent in MENDED + NAMED + ONE_DOCUMENT:
            p = Program(sys.argv[1], f'{top}/{agent}', {})
            cwd = f'{p.home}/work'
            os.makedirs(cwd)
            for number, parts in enumerate(({'pad': [700] * 3}, {'pad': [30000, 90000, 5]})):
                write(agent, p.home, cwd, number + 1, AT, f'prompt {number}', parts)
            rows = sorted(p.json('list', '--all'), key=lambda r: r['summary'])
            p.same(f'{agent}: sessions', len(rows), 2)
            for row in rows:
                path = p.json('info', f"{agent}:{row['sessionId']}")['path']
                with open(path, 'rb') as f:
                    whole = f.readlines()
                # Long lines get every kind of damage in the long form only.
                step = 1 if row == rows[0] or LONG else 3
                for name in list(DAMAGE)[::step]:
                    look = look_at if agent in MENDED else only_look_at if agent in NAMED else look_at_document
                    look(p, agent, name, row['sessionId'], path, whole, row == rows[0])
                    checked += 1
                if row == rows[0]:
                    foreign(p, agent, path, whole)
                if agent not in ONE_DOCUMENT:
                    lost_head(p, agent, row['sessionId'], path, whole)
                if row == rows[0] and agent in SENT:
                    poison(p, agent, row['sessionId'], path, whole)
            passed, failed = passed + p.passed, failed + p.failed
    assert checked == len(MENDED + NAMED + ONE_DOCUMENT) * (len(DAMAGE) + len(list(DAMAGE)[::1 if LONG else 3]))
    p.passed, p.failed = passed, failed
    p.finish(1000)


main()
