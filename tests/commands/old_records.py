#!/usr/bin/env python3
"""Reads the records that an earlier version left, and takes every change of it back.

usage: old_records.py PROGRAM VERSION

fixtures/records/VERSION.tar.gz was made by fixtures/records/make_records.py with the program of that commit: a rename, a
rewind of files and conversation, a delete, a tag (rows appended) and a tombstone (bytes overwritten). Records hold
absolute paths and offsets into transcripts that hold paths too, so the tree is moved to a directory whose name is as
long as the recorded one, and the one name is written in place of the other. What is demanded:

  1. log, rewinds and the trash list what the earlier version listed of its own records, and show it to a person;
  2. each change is undone by its id, and then every file has the bytes, the mode and the time that it had before;
  3. each undo can be undone: then the files are again what the earlier version left.
"""
import json
import os
import re
import sys
import tarfile
import tempfile

from fixtures.records.make_records import TOP, at_length, folder_of
from support.program import Program, snapshot, undone

FIXTURES = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), 'fixtures')


def moved(data, top):
    """The person who recorded is replaced too: a deleted file comes back to whom it belonged."""
    owner = f'"uid":"{os.getuid()}","gid":"{os.getgid()}"'.encode()
    data = re.sub(rb'"uid":"\d+","gid":"\d+"', owner, data)
    return data.replace(TOP.encode(), top.encode()).replace(folder_of(TOP).encode(), folder_of(top).encode())


def tree_of(archive, tree, top):
    """Mode, time and bytes of each file of one tree of the archive, as they are at top."""
    seen = {}
    for entry in archive:
        if entry.name.startswith(f'{tree}/'):
            path = f'{top}/{entry.name[len(tree) + 1:].replace(folder_of(TOP), folder_of(top))}'
            second, _, rest = entry.pax_headers['mtime'].partition('.')
            ns = int(second) * 10**9 + int(rest.ljust(9, '0'))
            seen[path] = (entry.mode, ns, moved(archive.extractfile(entry).read(), top))
    return seen


def write_tree(files):
    for path, (mode, ns, body) in files.items():
        os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)
        with open(path, 'wb') as f:
            f.write(body)
        os.chmod(path, mode)
        os.utime(path, ns=(ns, ns))


def files_of(top):
    return {path: (mode & 0o7777, ns, body) for tree in ('cfg', 'ws')
            for path, (mode, ns, body) in snapshot(f'{top}/{tree}').items() if body is not None}


def without_times(files):
    return {path: (mode, body) for path, (mode, _, body) in files.items()}


def recorded(archive, name, top):
    return json.loads(moved(archive.extractfile(f'{name}.json').read(), top))


def check_list(program, what, now, then):
    """Every member that the earlier version wrote is still written, and as it was. What a rewind did is said in today's
    words, and its size on disk depends on who owns the files."""
    program.same(f'{what}: how many', len(now), len(then))
    for new, old in zip(now, then):
        if old.get('kind') == 'rewind':
            new['text'] = old['text']
        if 'restored' in old:
            new['bytes'] = old['bytes']
        program.same(what, {key: new.get(key) for key in old}, old)


def main():
    program_path, version = sys.argv[1:]
    with tempfile.TemporaryDirectory() as tmp, \
            tarfile.open(f'{FIXTURES}/records/{version}.tar.gz') as archive:
        top = at_length(tmp)
        before, after = (tree_of(archive, tree, top) for tree in ('before', 'after'))
        left = {path: what for path, what in after.items() if path.startswith((f'{top}/cfg/', f'{top}/ws/'))}
        write_tree(after)
        program = Program(program_path, top, {'CLAUDE_CONFIG_DIR': f'{top}/cfg', 'XDG_STATE_HOME': f'{top}/state',
                                              'XDG_DATA_HOME': f'{top}/data', 'XDG_CONFIG_HOME': f'{top}/conf'})
        log = recorded(archive, 'log', top)
        check_list(program, 'log', program.json('log'), log)
        check_list(program, 'rewinds', program.json('rewinds'), recorded(archive, 'rewinds', top))
        check_list(program, 'trash', program.json('trash', 'list'), recorded(archive, 'trash', top))
        program.same('changes', sorted(c['kind'] for c in log), ['delete', 'rename', 'rewind', 'tag', 'tombstone'])
        shown = program.text('log')
        for change in log:
            if change['kind'] == 'rewind':
                change['text'] = '1 restored, 1 deleted'
            program.need(change['text'] in shown, f'{change} is not shown:\n{shown}')
        for change in log:
            program.json('undo', change['id'])
        program.same('undone', undone(files_of(top), before), before)
        undos = [change['id'] for change in program.json('log')[:len(log)]]
        program.need(not set(undos) & {change['id'] for change in log}, f'{undos}: not all are new')
        for change in undos:
            program.json('undo', change)
        left = without_times(left)
        program.same('done again', undone(without_times(files_of(top)), left), left)
        program.finish(18)


if __name__ == '__main__':
    main()
