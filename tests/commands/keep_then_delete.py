#!/usr/bin/env python3
"""Once something is kept, every session is deleted and given back as before, with its own kept copy, and no command says a word about the others.

usage: keep_then_delete.py PROGRAM DEMO_STORE
"""
import os
import subprocess
import sys
import tempfile

sys.path[:0] = [os.path.join(os.path.dirname(os.path.abspath(__file__)), '..')]

from support.program import Program, snapshot


def stores(p):
    """The stores and the kept copies; .git only changes by what Git itself notes."""
    seen = snapshot(p.home)
    return {k: (mode, body) for k, (mode, _, body) in seen.items() if not any(part in f'{k}/' for part in ('/.git/', '/.local/state/', '/reprise/trash/')) and not k.endswith('.lock')}


def main():
    path, demo_store = sys.argv[1:]
    with tempfile.TemporaryDirectory() as top:
        top = os.path.realpath(top)
        subprocess.run([demo_store, f'{top}/home'], check=True, stdout=subprocess.DEVNULL)
        p = Program(path, f'{top}/home', {'CLAUDE_CONFIG_DIR': f'{top}/home/claude'})
        shop = ['-C', f'{p.home}/code/shop']

        def listed():
            return [f"{r['system']}:{r['sessionId']}" for r in p.json('list', '--all', '-n0', *shop)]
        ids = listed()
        p.need(len(ids) >= 16 and {i.split(':')[0] for i in ids} >= {'claude', 'goat', 'exathena', 'entire'}, ids)

        # The conversation of an Entire session is in the repository, in which it is not lost with a transcript.
        for one in ids:
            run = p.run('keep', one, *shop)
            if one.startswith('entire:'):
                p.same(f'keep {one}', (run.returncode, b'its conversation is in its git repository' in run.stdout + run.stderr), (4, True))
                bundle = p.run('bundle', one, '-o', f'{top}/b', *shop)
                p.same(f'bundle {one}', (bundle.returncode, os.path.exists(f'{top}/b')), (4, False))
                continue
            p.same(f'keep {one}', (run.returncode, run.stderr), (0, b''))
            for other in (one, ids[0]):
                before = stores(p)
                gone = p.run('delete', other, *shop)
                p.same(f'delete {other} after keep {one}', (gone.returncode, gone.stderr), (0, b''))
                p.need(other not in listed(), f'{other} is still listed')
                back = p.run('undo', '--all', *shop)
                p.same(f'undo of delete {other}', (back.returncode, back.stderr), (0, b''))
                now = stores(p)
                p.same(f'{other} after the undo', sorted(k for k in {*now, *before} if now.get(k) != before.get(k)), [])
        p.finish(150)


if __name__ == '__main__':
    main()
