"""Recipes of worlds, each from one number."""
import random

from world import FILES

OTHERS = 'qwen', 'pi', 'copilot', 'gemini', 'kimi', 'droid', 'qoder', 'grok', 'continue', 'auggie', 'cline', 'antigravity', 'opencode', 'kilo'
DATABASES = 'opencode', 'kilo'
HOWS = 'write', 'edit', 'edit', 'write', 'remove', 'append', 'same'
ALSO = (['doctor', '--all'], ['search', 'mk0001x', '--all'], ['usage', '--all'], ['list', '--all-kinds', '--all'], ['touched', '{project}/a.txt', '--all'],
        ['blame', '{project}/b.txt', '--all'], ['sweep', '--all', '--older-than', '1d', '--include-tagged'])
EACH = ['checkpoints', '--json'], ['files'], ['export', '--format', 'jsonl', '-o', '-'], ['export', '--format', 'md', '-o', '-'], ['doctor'], ['usage'], ['subagents']
VERBS = ['rename', 'tag', 'untag', 'doctor', 'delete', 'archive', 'unarchive', 'fork', 'fork-at', 'resume-at', 'tombstone', 'keep', 'reappend', 'sweep', 'rewind', 'move', 'continue',
         'keep', 'delete', 'rename']
VALUES = None, '', 0, -1, True, [], {}, 'x' * 300, 1e300, '2026-13-45T99:99:99Z', [[[]]], '\ud800'


def size(rng):
    """Mostly small, sometimes a long paste."""
    return 0 if rng.random() < 0.6 else int(10 ** rng.uniform(2, 6.3))


def calls(rng):
    groups = []
    for _ in range(rng.choice([0, 0, 1, 1, 2])):
        group = [{'file': rng.choice(FILES), 'how': rng.choice(HOWS), 'n': rng.randrange(100)} for _ in range(rng.choice([1, 1, 2, 3]))]
        for call in group:
            call['rank'] = rng.random() if rng.random() < 0.3 else group.index(call)
            if rng.random() < 0.15:
                call['lp'] = rng.choice(['call', 'result'])
        groups.append(group)
    return groups


def turn(rng, name, agent):
    step = {'op': 'turn', 's': name, 'size': size(rng), 'calls': calls(rng) if agent in ('claude', 'codex', 'pi', *DATABASES) else []}
    if rng.random() < 0.2:
        step['image'] = int(10 ** rng.uniform(3, 6.3))
        step['in_event'] = rng.random() < 0.5
    if agent != 'claude' and rng.random() < 0.4:
        step['context'] = int(10 ** rng.uniform(3, 5.7))
    if agent == 'codex':
        step['turn_context'] = rng.random() < 0.8
    if agent == 'claude' and rng.random() < 0.35:
        step['exit'] = False
    if rng.random() < 0.07:
        step['answer'] = False
    if agent == 'claude' and rng.random() < 0.08:
        step['killed'] = True
    return step


def later(rng, name, agent):
    """What happens to a session beside its turns."""
    kind = rng.random()
    if agent == 'claude':
        if kind < 0.3:
            yield {'op': 'compact', 's': name, 'keep': rng.random() < 0.4, 'trigger': rng.choice(['manual', 'auto'])}
            if rng.random() < 0.7:
                yield {'op': 'restart', 's': name}
            return
        if kind < 0.4:
            yield {'op': 'restart', 's': name}
            return
        if kind < 0.5:
            yield {'op': 'metadata', 's': name, 'kinds': [rng.choice(['tag', 'mode', 'queue']) for _ in range(rng.randrange(1, 4))]}
            return
    if kind < 0.3 and agent in DATABASES:
        yield {'op': 'revert', 's': name, 'turn': rng.randrange(20)}
    elif kind < 0.62 and agent in ('claude', 'codex'):
        yield {'op': 'rename_row', 's': name, 'title': f'Title {rng.randrange(1000)}'}
    elif kind < 0.8:
        yield {'op': 'hand', 'project': rng.randrange(3), 'file': rng.choice(FILES), 'how': rng.choice(['write', 'append', 'remove']), 'n': rng.randrange(100)}


def ending(rng, name, agent):
    """What happens to the files of a session in the end."""
    if rng.random() < 0.25:
        yield {'op': 'touch', 's': name, 'days': rng.choice([0.01, 1, 9])}
    if rng.random() < 0.06:
        yield {'op': 'bom', 's': name}
    if rng.random() < 0.1:
        yield {'op': 'torn', 's': name, 'bytes': rng.randrange(1, 60)}
    if rng.random() < 0.22:
        yield {'op': 'double', 's': name, 'project': rng.randrange(4), 'part': rng.choice([0.3, 0.6, 1]), 'older': rng.random() < 0.6}
    if agent == 'claude' and rng.random() < 0.12:
        yield {'op': 'boundary', 's': name, 'kept': [rng.randrange(50) for _ in range(rng.randrange(0, 4))], 'anchor': rng.random() < 0.5,
               'all': rng.random() < 0.3, 'more': rng.choice([{}, {'teamName': 'red'}, {'isSidechain': True}]), 'sides': rng.choices(['progress', 'user', 'attachment'], k=rng.randrange(3))}
    if agent == 'claude' and rng.random() < 0.05:
        yield {'op': 'folder_link', 's': name}
    while rng.random() < 0.12:
        yield {'op': 'mutate', 's': name, 'kind': rng.choice(['drop', 'double', 'swap', 'cut', 'nul', 'ids', 'ids', 'value']), 'row': rng.randrange(10 ** 6),
               'other': rng.randrange(10 ** 6), 'line': rng.random() < 0.5, 'value': rng.choice(VALUES),
               'keys': rng.sample(['uuid', 'id', 'parentUuid', 'parentId', 'leafUuid', 'timestamp'], 2)}


def doing(rng, names):
    name = rng.choice(sorted(names))
    kind = rng.random()
    if kind < 0.1:
        verbs = [[rng.choice(VERBS), rng.choice(sorted(names)), rng.randrange(100)] for _ in range(rng.randrange(3, 12))]
        return {'op': 'do_series', 'verbs': verbs}
    if kind < 0.5:
        return {'op': 'do_rewind', 's': name, 'turn': rng.randrange(20), 'skip': rng.random() < 0.5}
    if kind < 0.75:
        return {'op': 'do_rename', 's': name, 'title': f'New name {rng.randrange(1000)}'}
    return {'op': rng.choice(['do_delete', 'do_tag', 'do_archive']), 's': name}


def recipe(seed):
    rng = random.Random(seed)
    names, steps = {}, []
    for project in range(3):
        for _ in range(rng.randrange(0, 3)):
            steps.append({'op': 'hand', 'project': project, 'file': rng.choice(FILES), 'how': 'write', 'n': rng.randrange(100)})
    if rng.random() < 0.3:
        steps.append({'op': 'git', 'project': rng.randrange(3)})
    for i in range(rng.choice([1, 2, 2, 3, 4])):
        names[f's{i}'] = rng.choices(['claude', 'codex', rng.choice(OTHERS)], [6, 3, 3])[0]
        steps.append({'op': 'session', 's': f's{i}', 'agent': names[f's{i}'], 'project': rng.choice([0, 0, 1, 2, 3]),
                      **({'old': True} if names[f's{i}'] == 'codex' and rng.random() < 0.3 else {}),
                      **({'names_leaf': False} if rng.random() < 0.2 else {}),
                      **({'instructions': int(10 ** rng.uniform(2, 5.3))} if rng.random() < 0.4 else {})})
    for _ in range(rng.randrange(2, 14)):
        name = rng.choice(sorted(names))
        steps.append(turn(rng, name, names[name]))
        if rng.random() < 0.5:
            steps += later(rng, name, names[name])
        if names[name] == 'claude' and rng.random() < 0.05:
            fork = f'f{len(steps)}'
            steps.append({'op': 'fork', 's': fork, 'of': name})
            names[fork] = 'claude'
    for name, agent in sorted(names.items()):
        steps += ending(rng, name, agent)
    if rng.random() < 0.1:
        steps.append({'op': 'move', 'project': rng.randrange(3), 'link': rng.random() < 0.6})
    steps += [doing(rng, names) for _ in range(rng.randrange(1, 5))]
    live = rng.random() < 0.3
    return {'seed': seed, 'live': live, 'overlay': live and rng.random() < 0.4, 'steps': steps, 'also': rng.sample(ALSO, 2), 'each': rng.sample(EACH, 1)}
