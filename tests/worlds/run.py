#!/usr/bin/env python3
"""Random worlds of sessions, and what must hold in each of them.

usage: run.py --reprise PROGRAM [--seed S] [--worlds N | --seconds N] [--jobs J] [--keep DIR] [--all] [--faults INJECTOR]
       run.py --reprise PROGRAM [--faults INJECTOR] --again FIXTURE

Worlds are numbered from S. A world in which something does not hold is made smaller: steps and values are left out
as long as the same mistake remains. What remains is written to DIR (./worlds-found), a folder for each kind of
mistake, with the recipe, the store that it makes, and the command that makes it again. Without --all the first
mistake ends the run. checks.py says what must hold, claude.py and its neighbours what the agents would do. With an injector (tests/sweeps/inject.h) each change
is also made on a machine that fails at one of its calls, and several times at once.
"""
import argparse
import collections
import copy
import json
import multiprocessing
import os
import shutil
import sys
import tempfile
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import databases
import others
from checks import Checks, Finding
from claude import Claude
from codex import Codex
from generate import recipe as recipe_of
from world import World

AGENTS = {'claude': Claude, 'codex': Codex, **others.AGENTS, **databases.AGENTS}


def build(recipe, top):
    world = World(top, {'steps': recipe['steps'], 'live': recipe.get('live'), 'overlay': recipe.get('overlay')})
    world.agents = AGENTS
    return world.build()


def try_world(program, recipe, keep=None):
    """Returns the findings. program: its path, and that of an injector or None; keep: a folder to which the world is copied
    as it was made."""
    top = os.path.realpath(tempfile.mkdtemp(prefix='w'))
    world = None
    os.umask(0o022)
    try:
        world = World(f'{top}/w', {**recipe})
        world.agents = AGENTS
        world.build()
        if keep:
            shutil.copytree(f'{top}/w', keep, symlinks=True)
        return Checks(world, *program).all(recipe.get('only'))
    finally:
        if world:
            world.remove()
        shutil.rmtree(top, ignore_errors=True)


# ---- making it smaller ----

SIMPLER = {'size': 0, 'image': 0, 'context': 0, 'instructions': 0, 'calls': [], 'kinds': [], 'kept': [], 'older': False, 'keep': False, 'skip': False,
           'in_event': False, 'exit': True, 'names_leaf': True, 'killed': False, 'sides': [], 'n': 1, 'project': 0, 'bytes': 1, 'turn': 0}


def smaller(recipe):
    """Recipes that are a little simpler than this one."""
    for flag in 'overlay', 'live':
        if recipe.get(flag):
            yield {**recipe, flag: False}
    for i, step in enumerate(recipe['steps']):
        for key, simple in SIMPLER.items():
            if key in step and step[key] != simple:
                yield changed(recipe, i, key, simple)
                if isinstance(step[key], int) and step[key] > 20_000:
                    yield changed(recipe, i, key, step[key] // 2)
                if isinstance(step[key], list) and len(step[key]) > 1:
                    for j in range(len(step[key])):
                        yield changed(recipe, i, key, step[key][:j] + step[key][j + 1:])
        for j in range(len(step.get('verbs', ()))):
            yield changed(recipe, i, 'verbs', step['verbs'][:j] + step['verbs'][j + 1:])
        for j, group in enumerate(step.get('calls', ())):
            for k in range(len(group) if len(group) > 1 else 0):
                yield changed(recipe, i, 'calls', step['calls'][:j] + [group[:k] + group[k + 1:]] + step['calls'][j + 1:])


def changed(recipe, i, key, value):
    made = copy.deepcopy(recipe)
    made['steps'][i][key] = value
    return made


def shrink(program, recipe, key, tries=400):
    """The smallest recipe that we find which has the same finding."""
    left = [tries]

    def holds(candidate):
        left[0] -= 1
        try:
            found = try_world(program, candidate)
        except (OSError, ValueError, KeyError, IndexError):
            return False
        return any(f.key == key for f in found)

    chunk = len(recipe['steps']) // 2
    while chunk and left[0] > 0:
        at = 0
        while at < len(recipe['steps']) and left[0] > 0:
            candidate = {**recipe, 'steps': recipe['steps'][:at] + recipe['steps'][at + chunk:]}
            if holds(candidate):
                recipe = candidate
            else:
                at += chunk
        chunk //= 2
    again = True
    while again and left[0] > 0:
        again = False
        for candidate in smaller(recipe):
            if left[0] <= 0:
                break
            if holds(candidate):
                recipe, again = candidate, True
                break
    return recipe


def keep_finding(program, recipe, found, folder):
    """Writes a fixture; returns it."""
    place = f'{folder}/{found.key.replace(":", "-")}'
    shutil.rmtree(place, ignore_errors=True)
    os.makedirs(place)
    last = next((f for f in try_world(program, recipe, f'{place}/world') if f.key == found.key), found)
    with open(f'{place}/recipe.json', 'w', encoding='utf-8') as f:
        json.dump({**recipe, 'key': found.key}, f, indent=1)
    with open(f'{place}/README', 'w', encoding='utf-8', errors='replace') as f:
        f.write(f'{last}\n\npython3 tests/worlds/run.py --reprise build/reprise --again {os.path.abspath(place)}\n')
    return place


# ---- the run ----

def one(args):
    program, seed = args
    try:
        return seed, [(f.key, str(f)) for f in try_world(program, recipe_of(seed))], None
    except Exception as e:  # a mistake of the generator is shown, and is no finding
        return seed, [], f'{type(e).__name__}: {e}'


def again(program, place):
    with open(f'{place}/recipe.json', encoding='utf-8') as f:
        recipe = json.load(f)
    found = try_world(program, recipe)
    print('\n'.join(str(f) for f in found) or 'holds')
    return 1 if found else 0


def main():
    parser = argparse.ArgumentParser()
    for name, kind, default in (('--reprise', str, None), ('--again', str, None), ('--seed', int, 1), ('--worlds', int, 40), ('--seconds', int, 0),
                                ('--jobs', int, 2), ('--keep', str, 'worlds-found'), ('--tries', int, 400), ('--faults', str, None)):
        parser.add_argument(name, type=kind, default=default)
    parser.add_argument('--all', action='store_true')
    o = parser.parse_args()
    program = os.path.abspath(o.reprise), o.faults and os.path.abspath(o.faults)
    if o.again:
        return again(program, o.again)
    end = time.monotonic() + o.seconds if o.seconds else None
    kinds, tried, broken = collections.OrderedDict(), 0, []
    with multiprocessing.Pool(o.jobs) as pool:
        for seed, found, wrong in results(pool, program, o.seed, o.worlds, end):
            tried += 1
            if wrong:
                broken.append((seed, wrong))
                print(f'seed {seed}: the generator: {wrong}', flush=True)
            for key, text in found:
                kinds.setdefault(key, []).append(seed)
                if len(kinds[key]) == 1:
                    print(f'seed {seed}: {text[:600]}', flush=True)
            if found and not o.all:
                pool.terminate()
                break
    for key, own in kinds.items():
        recipe = recipe_of(own[0])
        found = next((f for f in try_world(program, recipe) if f.key == key), None)
        small = shrink(program, {**recipe, 'only': found.kind}, key, o.tries) if found else recipe
        place = keep_finding(program, small, Finding(key, ''), o.keep)
        print(f'{key}: {len(own)} of {tried} worlds, first {own[0]}; {len(recipe["steps"])} steps became {len(small["steps"])}: {place}', flush=True)
    print(f'{tried} worlds, {len(kinds)} kinds of mistakes')
    return 1 if kinds or broken else 0


def results(pool, program, seed, worlds, end):
    """Of this many worlds, or of as many as there is time for."""
    if not end:
        yield from pool.imap(one, [(program, s) for s in range(seed, seed + worlds)])
    while end and time.monotonic() < end:
        yield from pool.imap_unordered(one, [(program, s) for s in range(seed, seed + 16)])
        seed += 16


if __name__ == '__main__':
    sys.exit(main())
