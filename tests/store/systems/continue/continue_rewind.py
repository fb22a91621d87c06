"""A rewind of sessions of Continue's CLI, from what its document proves: reads, and the diffs of edits and writes.
   usage: continue_rewind.py REPRISE"""
import os
import sys

from support.patch_world import LINES, ContinueWorld as World, counts


def turns(program):
    """Edits and writes of two turns, each after a read in its turn; no newline at the end, CRLF, an odd name, a relative path."""
    w = World(program)
    w.put('a.txt', LINES)
    w.put('odd é/b c.md', 'no newline')
    w.put('dos.txt', 'a\r\nb\r\nc\r\n')
    w.put('whole.txt', 'old\n')
    w.prompt('one')
    for name in ('a.txt', 'odd é/b c.md', 'dos.txt', 'whole.txt', 'new.txt'):
        w.read(name)
    w.edit('a.txt', 'line 3\n', 'line three\n')
    w.edit('odd é/b c.md', 'no newline', 'one\n')
    w.edit('dos.txt', 'b', 'B')
    w.write('whole.txt', 'other')
    w.write('new.txt', 'new\n')
    w.prompt('two')
    for name in ('a.txt', 'new.txt'):
        w.read(name)
    w.edit('a.txt', 'line 30\n', '')
    w.write('new.txt', 'newer\n')
    w.prompt('three')
    w.edit('a.txt', 'line 31', 'row 31')
    w.save()
    for at in (0, 1, 2):
        w.gives_back('turns', at)
    w.p.same('the points', [(p['id'], p['prompt'], p['files']) for p in w.p.json('checkpoints', '-C', w.root, f'continue:{w.id}')],
             [('prompt-1', 'one', 5), ('prompt-2', 'two', 2), ('prompt-3', 'three', 1)])
    w.p.need('rewind' in w.p.json('list', '-C', w.root)[0]['can'], 'the list offers it')
    return w


def unread(program):
    """Nothing has a time, so an edit without a read in its turn may be of what a person wrote, unless an earlier read says the same."""
    w = World(program)
    w.put('a.txt', LINES)
    w.put('b.txt', LINES)
    w.prompt('one')
    w.read('a.txt')
    w.prompt('two')
    w.edit('a.txt', 'line 3\n', 'line three\n')
    w.put('b.txt', w.get('b.txt').replace('line 9', 'mine'))
    w.edit('b.txt', 'line 3\n', 'line three\n')
    w.save()
    w.gives_back('unread', 1, but=['b.txt'])
    return w


def hands(program):
    """What a person changed is not the session's: between its reads and its edits, between its edits, and after them."""
    for change in ('before', 'between', 'after'):
        w = World(program)
        w.put('a.txt', LINES)
        w.prompt('one')
        w.read('a.txt')
        if change == 'before':
            w.put('a.txt', LINES.replace('line 3\n', 'my own\n'))
        w.edit('a.txt', 'line 4\n', 'line four\n')
        if change == 'between':
            w.put('a.txt', w.get('a.txt').replace('line 3\n', 'my own\n'))
        w.edit('a.txt', 'line 5\n', 'line five\n')
        if change == 'after':
            w.put('a.txt', w.get('a.txt').replace('line 9\n', 'my own\n'))
        w.save()
        w.gives_back(f'hands, {change}', 0, but=['a.txt'])
        w.remove()
    return None


def unsure(program):
    """Whatever may have changed the file in a way that is not recorded holds it back."""
    path = lambda w: w.path('a.txt')
    cases = {
        'no result': (lambda w: w.call('Edit', None, 'calling', file_path=path(w)), True),
        'failed half': (lambda w: w.call('Write', 'Error executing tool Write: Error writing to file: ENOSPC', 'errored', filepath=path(w), content='x'), True),
        'no diff': (lambda w: w.call('Edit', f'Successfully edited {path(w)}', file_path=path(w)), True),
        'another tool': (lambda w: w.call('mcp__deploy', 'ok', to='x'), True),
        'a sub-agent': (lambda w: w.call('Subagent', 'done', prompt='x'), True),
        'a command': (lambda w: w.bash('true; make 2>/dev/null; true'), True),
        'denied': (lambda w: w.call('Write', 'Permission denied by user', 'canceled', filepath=path(w), content='x'), False),
        'not found': (lambda w: w.call('Edit', 'Error executing tool Edit: String not found in file', 'errored', file_path=path(w)), False),
        'no tool': (lambda w: w.call('MultiEdit', 'Tool MultiEdit not found', 'errored', file_path=path(w), edits=[]), False),
        'a list': (lambda w: w.call('List', 'Files in .:', dirpath='.'), False),
        'a harmless command': (lambda w: w.bash('ls -la'), False),
    }
    for what, (add, held) in cases.items():
        w = World(program)
        w.put('a.txt', LINES)
        w.prompt('one')
        add(w)
        w.read('a.txt')
        w.edit('a.txt', 'line 3\n', 'line three\n')
        w.save()
        w.gives_back(what, 0, but=['a.txt'] if held else [])
        w.remove()

        # After the read and before the edit.
        w = World(program)
        w.put('a.txt', LINES)
        w.prompt('one')
        w.read('a.txt')
        add(w)
        w.put('a.txt', LINES.replace('line 3\n', 'line x\n') if held else LINES)
        w.edit('a.txt', 'line 5\n', 'line five\n')
        w.save()
        w.gives_back(f'{what}, after the read', 0, but=['a.txt'] if held else [])
        w.remove()
    return None


def at_once(program):
    """Calls of one answer may run in any order: a read or a command among them proves nothing about an edit."""
    for together in (False, True):
        w = World(program)
        w.put('a.txt', LINES)
        w.prompt('one')
        w.read('a.txt')
        w.edit('a.txt', 'line 3\n', 'line three\n', together=together)
        w.save()
        w.gives_back(f'a read, together {together}', 0, but=['a.txt'] if together else [])
        w.remove()

    # It may have printed the file as it was before the edit.
    w = World(program)
    w.put('a.txt', LINES)
    w.prompt('one')
    w.read('a.txt')
    w.read('a.txt')
    w.edit('a.txt', 'line 3\n', 'line three\n', together=True)
    w.prompt('two')
    w.edit('a.txt', 'line 5\n', 'line five\n')
    w.save()
    w.gives_back('a read of before the edit', 1)
    w.remove()
    w = World(program)
    w.put('a.txt', LINES)
    w.prompt('one')
    w.call('Bash', 'Command moved to background. Job ID: 1', command='sleep 1')
    w.read('a.txt')
    w.edit('a.txt', 'line 3\n', 'line three\n')
    w.save()
    w.gives_back('a job in the background', 0, but=['a.txt'])
    return w


def encodings(program):
    """What is not UTF-8 is U+FFFD for Continue, which writes that back, also where no diff shows it."""
    w = World(program)
    for name, data in (('far.txt', LINES.encode() + b'caf\xe9\n'), ('near.txt', b'caf\xe9\nx\n'), ('bom.txt', b'\xef\xbb\xbfa\nb\n')):
        with open(w.path(name), 'wb') as f:
            f.write(data)
    w.tree = lambda: {name: open(w.path(name), 'rb').read() for name in os.listdir(w.root)}
    w.prompt('one')
    for name, old in (('far.txt', 'line 3\n'), ('near.txt', 'x'), ('bom.txt', 'b')):
        w.read(name)
        w.edit(name, old, 'z')
    w.save()
    w.gives_back('encodings', 0, but=['far.txt', 'near.txt'])
    return w


def created(program):
    """A write that reports a new file may have found an empty one, which is not recorded."""
    w = World(program)
    w.put('empty.txt', '')
    w.prompt('one')
    w.write('empty.txt', 'x\n')
    w.write('new.txt', 'x\n')
    w.save()
    w.gives_back('created', 0, but=['empty.txt', 'new.txt'])
    return w


def links(program):
    """A file that is reached through a link stays one file, and the link stays."""
    w = World(program)
    w.put('real.txt', LINES)
    os.symlink('real.txt', w.path('link.txt'))
    w.prompt('one')
    w.read('link.txt')
    w.edit('link.txt', 'line 3\n', 'line three\n')
    w.save()
    w.gives_back('links', 0)
    w.p.need(os.path.islink(w.path('link.txt')), 'the link stays')
    return w


def main():
    for kind in (turns, unread, hands, unsure, at_once, encodings, created, links):
        w = kind(sys.argv[1])
        if w:
            w.remove()
    print(f'{counts["passed"]} passed, {counts["failed"]} failed')
    sys.exit(counts['failed'] > 0 or counts['passed'] < 60)


main()
