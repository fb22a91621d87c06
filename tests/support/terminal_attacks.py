"""Twenty ways in which text tries to act on a terminal, and a session that has one of them in every text."""

# name: (the bytes, the part that must not reach the output)
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
    """Returns a JSON string with these bytes, escaped where JSON requires it and raw elsewhere."""
    return b'"' + b''.join(b'\\u%04x' % b if b < 32 else b'\\\\' if b == 0x5c else b'\\"' if b == 0x22 else bytes([b])
                           for b in data) + b'"'


def transcript(sid, evil):
    """Returns a session that has the text everywhere."""
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
