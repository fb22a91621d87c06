#!/usr/bin/env python3
"""Working copies of the fixtures of every system, with the recorded paths changed to those of the copy.

usage: fixture_homes.py NAME TOP      builds one below TOP and prints its directory, for scripts

Everything is found as in a user's home, without --store: the home is TOP/home, with the agent's configuration in
.claude below it, and the program is started in the directory of the project.
"""
import json
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
HERE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


def put(path, data):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, 'wb') as f:
        f.write(data.encode() if isinstance(data, str) else data)


def replace(top, old, new, ends):
    """Replaces a path in the files with these names; their times stay."""
    for folder, _, files in os.walk(top):
        for name in files:
            path = os.path.join(folder, name)
            if name.endswith(ends):
                at = os.stat(path)
                with open(path, 'rb') as f:
                    data = f.read()
                put(path, data.replace(old.encode(), new.encode()))
                os.utime(path, ns=(at.st_atime_ns, at.st_mtime_ns))


def folder_of(path):
    return re.sub('[^A-Za-z0-9]', '-', path)


def claude(top, config):
    """The store that the rewinds were recorded in, and its work tree."""
    with tarfile.open(f'{HERE}/fixtures/rewind/base-330.tar.gz') as tar:
        tar.extractall(top)
    os.rename(f'{top}/cfg', config)
    replace(f'{config}/projects', '/home/dev/ws', f'{top}/ws', '.jsonl')
    os.rename(f'{config}/projects/-home-dev-ws-rw', f'{config}/projects/{folder_of(top + "/ws/rw")}')
    return f'{top}/ws/rw'


def corpus(top, config):
    """Sessions of the client with sub-agents, branches, compactions."""
    with tarfile.open(f'{HERE}/fixtures/corpus/corpus-330.tar.gz') as tar:
        tar.extractall(top)
    os.rename(f'{top}/cfg', config)
    replace(f'{config}/projects', '/home/dev/ws', f'{top}/ws', '.jsonl')
    for name in os.listdir(f'{config}/projects'):
        os.rename(f'{config}/projects/{name}', f'{config}/projects/{name.replace("-home-dev", folder_of(top))}')
    for name in 'alpha', 'beta':
        os.makedirs(f'{top}/ws/{name}')
    return f'{top}/ws/alpha'


def goat(top, config, fixture):
    shutil.copytree(f'{HERE}/fixtures/goat/{fixture}/projects', f'{config}/projects')
    shutil.copytree(f'{HERE}/fixtures/goat/{fixture}/ws.before-rewind', f'{top}/ws')
    replace(f'{config}/projects', '/home/dev/ws', f'{top}/ws', ('.json', '.jsonl'))
    return f'{top}/ws'


def document(top, config):
    """The doc dialect, of which no recording exists: the sessions of the specification in its names."""
    ws = f'{top}/ws'
    own = f'{config}/projects/doc/sessions/abc-123'
    blob = 'c3ab8ff13720e8ad9047dd39466b3c8974e592c2fa383d4a3960714caef0c4f2'  # of "foobar"
    put(f'{own}/metadata.json', json.dumps({'session_id': 'abc-123', 'created_at': '2026-02-09T02:48:28Z', 'model': 'm', 'cwd': ws,
                                            'turn_count': 5, 'exit_reason': 'end_turn', 'agent_name': ''}))
    put(f'{own}/messages.jsonl',
        '{"uuid":"m-01","timestamp":"2026-02-09T02:48:28Z","role":"user","content":"Hello there"}\n'
        '{"uuid":"m-02","timestamp":"2026-02-09T02:48:29Z","role":"assistant","content":"Hi!"}\n'
        '{"uuid":"m-03","timestamp":"2026-02-09T02:49:28Z","role":"user","content":"Change the file"}\n'
        '{"uuid":"m-04","timestamp":"2026-02-09T02:49:29Z","role":"assistant","content":"Done."}\n')
    put(f'{own}/checkpoints/m-03/manifest.json', json.dumps({'checkpoint_id': 'm-03', 'created_at': '2026-02-09T02:49:28Z',
                                                            'files': [{'path': 'a.txt', 'hash': blob}]}))
    put(f'{own}/checkpoints/blobs/{blob}', 'foobar')
    put(f'{config}/projects/doc/sessions/abc-124/metadata.json',
        json.dumps({'session_id': 'abc-124', 'created_at': '2026-02-09T02:48:28Z', 'cwd': ws}))
    put(f'{ws}/a.txt', 'now\n')
    return ws


def exathena(top, _):
    from exathena_conformance import stage
    return stage('before', f'{top}/ws')


MADE = {}  # where Entire's repositories are; tests use copies


def made_by_script(name):
    if name not in MADE:
        if 'ENTIRE_CACHE' not in os.environ:  # a test that is run by hand
            MADE[''] = tempfile.TemporaryDirectory(prefix='entire-')
            os.environ['ENTIRE_CACHE'] = MADE[''].name
        MADE[name] = subprocess.run(['sh', f'{HERE}/support/entire_world.sh', os.environ['ENTIRE_CACHE'], name], check=True,
                                    stdout=subprocess.PIPE, text=True).stdout.rstrip('\n')
    return MADE[name]


def entire(top, config, name):
    made = made_by_script(name)
    shutil.rmtree(os.path.dirname(config))
    for part in os.listdir(made):
        if part in ('home', 'wt', name):
            shutil.copytree(f'{made}/{part}', f'{top}/{part}', symlinks=True)
    replace(f'{top}/{name}/.git', made, top, ('.json', 'gitdir'))
    replace(f'{top}/wt', made, top, '.git') if os.path.isdir(f'{top}/wt') else None
    return f'{top}/{name}'


WORLDS = {
    'claude': claude, 'corpus': corpus,
    'shipped': lambda t, c: goat(t, c, 'shipped'), 'spec': lambda t, c: goat(t, c, 'spec'), 'doc': document,
    'exathena': exathena,
    **{n: (lambda t, c, n=n: entire(t, c, n)) for n in ('two-sessions', 'committed', 'migration', 'edge', 'refs-ulid')},
}
ENV = {'GIT_CONFIG_GLOBAL': '/dev/null', 'GIT_CONFIG_SYSTEM': '/dev/null'}


def world(name, top):
    """The directory of the project."""
    os.makedirs(f'{top}/home', exist_ok=True)
    return WORLDS[name](top, f'{top}/home/.claude')


if __name__ == '__main__':
    print(world(sys.argv[1], os.path.abspath(sys.argv[2])))
