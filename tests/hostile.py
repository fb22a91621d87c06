#!/usr/bin/env python3
"""Twenty ways in which text tries to act on a terminal, in every place where text comes from a file or a person.

usage: hostile.py PROGRAM

Each pattern is put into a title, a tag, a branch, a directory, prompts, answers, tool calls and their output, and into
arguments and names. Nothing of it may reach stdout or stderr raw where they are for people, and with JSON only inside of
escapes.
"""
import json
import os
import sys
import tempfile

from support.program import Program

# name: (the bytes, the part that must not come out)
PATTERNS = {
    'OSC 52 clipboard': (b'\x1b]52;c;UEFZTE9BRA==\x07', b'\x1b]52'),
    'OSC 8 link': (b'\x1b]8;;http://evil.test/\x1b\\see\x1b]8;;\x1b\\', b'\x1b]8'),
    'OSC 0 title': (b'\x1b]0;PWNTITLE\x07', b'\x1b]0'),
    'CSI erase': (b'\x1b[31337J', b'\x1b[31337'),
    'CSI report': (b'\x1b[21t', b'\x1b[21t'),
    'DCS': (b'\x1bPPWNDCS\x1b\\', b'\x1bP'),
    'APC': (b'\x1b_PWNAPC\x1b\\', b'\x1b_'),
    'C1 CSI in UTF-8': ('\u009b31338J'.encode(), '\u009b'.encode()),
    'C1 OSC in UTF-8': ('\u009d52;c;QQ==\u009c'.encode(), '\u009d'.encode()),
    'C1 as a raw byte': (b'\x9b31339J', b'\x9b31339'),
    'bell': (b'bel\x07bel', b'\x07'),
    'backspaces': (b'hide\x08\x08\x08\x08show', b'\x08'),
    'carriage return': (b'real\rfake', b'\r'),
    'delete': (b'de\x7fl', b'\x7f'),
    'shift out': (b'so\x0eso', b'\x0e'),
    'right-to-left override': ('a\u202egpj.exe'.encode(), '\u202e'.encode()),
    'right-to-left isolate': ('a\u2066x\u2069'.encode(), '\u2066'.encode()),
    'zero-width space': ('z\u200bz'.encode(), '\u200b'.encode()),
    'tag character': ('t\U000e0041t'.encode(), '\U000e0041'.encode()),
    'overlong escape': (b'\xc0\x9b[31340J', b'\xc0\x9b'),
}
SID = '%08x-0000-4000-8000-000000000000'


def quoted(data):
    """A JSON string with these bytes: escaped where JSON demands it, raw where it lets them through."""
    return b'"' + b''.join(b'\\u%04x' % b if b < 32 else b'\\\\' if b == 0x5c else b'\\"' if b == 0x22 else bytes([b])
                           for b in data) + b'"'


def transcript(sid, evil):
    """A session that says it everywhere."""
    text = quoted(b'before ' + evil + b' after')
    env = b'"cwd":%s,"gitBranch":%s,"sessionId":"%s","version":"2.1.330"' % (quoted(b'/w/' + evil), text, sid.encode())
    call = b'[{"type":"text","text":%s},{"type":"thinking","thinking":%s},{"type":"tool_use","id":"t1","name":%s,' \
           b'"input":{"command":%s,"file_path":%s,"old_string":%s,"new_string":"x"}}]' % ((text,) * 6)
    answer = b'[{"type":"tool_result","tool_use_id":"t1","content":%s,"is_error":true}]' % text
    patch = b'{"filePath":%s,"structuredPatch":[{"oldStart":1,"oldLines":1,"newStart":1,"newLines":1,"lines":[%s]}]}' % (text, text)
    at = b'"timestamp":"2026-01-01T00:00:0%dZ"'
    rows = [
        b'{"parentUuid":null,"type":"user","message":{"role":"user","content":%s},"uuid":"u1",' % text + at % 1 + b',' + env + b'}',
        b'{"parentUuid":"u1","type":"assistant","message":{"role":"assistant","model":%s,"content":%s},"uuid":"a1",' % (text, call)
        + at % 2 + b',' + env + b'}',
        b'{"parentUuid":"a1","type":"user","message":{"role":"user","content":%s},"uuid":"u2","toolUseResult":%s,' % (answer, patch)
        + at % 3 + b',' + env + b'}',
        b'{"parentUuid":"u2","type":"system","subtype":%s,"content":%s,"uuid":"s1",' % (text, text) + at % 4 + b',' + env + b'}',
        b'{"parentUuid":"s1","type":"assistant","message":{"role":"assistant","content":[{"type":"text","text":%s}]},"uuid":"a2",'
        % text + at % 5 + b',' + env + b'}',
        b'{"type":"custom-title","customTitle":%s,"sessionId":"%s"}' % (text, sid.encode()),
        b'{"type":"tag","tag":%s,"sessionId":"%s"}' % (text, sid.encode()),
        b'{"type":"agent-name","agentName":%s,"sessionId":"%s"}' % (text, sid.encode()),
        b'not JSON at all ' + evil.replace(b'\n', b''),
    ]
    return b'\n'.join(rows) + b'\n'


def silent(program, name, what, run, raw):
    for channel, said in (('stdout', run.stdout), ('stderr', run.stderr)):
        program.need(raw not in said, f'{name}: {what}: raw on {channel}: {said[:300]!r}')
        program.need(b'\x1b' not in said, f'{name}: {what}: an escape on {channel}: {said[:300]!r}')


def check_reading(program, name, sid, raw):
    for command in ('list --all', 'info ' + sid, 'messages ' + sid, 'restore ' + sid, 'subagents ' + sid,
                    'doctor ' + sid, 'sweep --all --older-than 1m'):
        run = program.run(*command.split())
        program.need(run.returncode in (0, 3), f'{name}: {command}: exit {run.returncode}: {run.stderr!r}')
        silent(program, name, command, run, raw)


def check_json(program, name, sid):
    """JSON is data: it holds what the file holds, but control bytes only escaped."""
    for command in ('info', 'messages', 'restore', 'doctor'):
        run = program.run(command, '--json', sid)
        program.need(not [b for b in run.stdout if b < 32 and b != 10], f'{name}: {command} --json: raw control bytes')
        json.loads(run.stdout)


def check_arguments(program, name, evil, raw):
    """What a person typed comes back in error messages."""
    for args in (['info', evil], ['messages', b'claude:' + evil], [b'--' + evil], [evil], ['list', '--since', evil],
                 ['list', '--store', b'claude:/nowhere/' + evil], ['list', '-C', b'/nowhere/' + evil],
                 ['list', '--config', b'/nowhere/' + evil], ['list', '--system', evil], ['sweep', '--older-than', evil],
                 ['sweep', '--older-than', '1d', '--larger-than', evil], ['doctor', evil]):
        run = program.run(*args)
        silent(program, name, args, run, raw)


def check_names(program, top, name, evil, raw):
    """File names are bytes too."""
    folder = os.fsencode(top) + b'/projects/-' + evil.replace(b'/', b'_')
    os.makedirs(folder, exist_ok=True)
    with open(folder + b'/' + evil.replace(b'/', b'_') + b'.jsonl', 'wb') as f:
        f.write(b'{}\n')
    os.makedirs(folder + b'/' + (SID % 7).encode() + b'.jsonl', exist_ok=True)
    silent(program, name, 'names', program.run('list', '--all'), raw)


def main():
    with tempfile.TemporaryDirectory() as top:
        os.makedirs(top + '/projects/-w')
        program = Program(sys.argv[1], top, {'CLAUDE_CONFIG_DIR': top})
        for i, (name, (evil, raw)) in enumerate(PATTERNS.items()):
            sid = SID % (0xabc000 + i)
            with open(f'{top}/projects/-w/{sid}.jsonl', 'wb') as f:
                f.write(transcript(sid, evil))
            check_reading(program, name, sid, raw)
            check_json(program, name, sid)
            check_arguments(program, name, evil, raw)
            check_names(program, top, name, evil, raw)
        program.same('all listed', len(program.json('list', '--all')), len(PATTERNS))
        program.finish(len(PATTERNS) * 40)


main()
