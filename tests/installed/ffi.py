"""Calls the installed library through ctypes: declares what it needs of reprise.h and nothing else.

usage: ffi.py LIBRARY DIRECTORY
"""
import ctypes
import json
import os
import sys
import threading
from ctypes import POINTER, Structure, byref, c_char, c_char_p, c_int, c_int32, c_int64, c_size_t, c_uint32, c_uint64, c_void_p


class Error(Structure):
    _fields_ = [('code', c_int32), ('system', c_int32), ('path', c_char * 256), ('text', c_char * 256),
                ('message', c_char * 504)]


class Sized(Structure):
    """A struct that a caller fills: its first member is its size."""

    def __init__(self, **values):
        super().__init__(size=ctypes.sizeof(self), **values)


class Options(Sized):
    _fields_ = [('size', c_size_t), ('system', c_char_p), ('path', c_char_p), ('directory', c_char_p),
                ('environment', POINTER(c_char_p)), ('flags', c_uint32), ('reserved', c_uint32), ('plugin', c_char_p)]


class CreateRequest(Sized):
    _fields_ = [('size', c_size_t), ('id', c_char_p), ('directory', c_char_p), ('model', c_char_p), ('title', c_char_p),
                ('parent', c_char_p), ('dialect', c_char_p)]


class ForkRequest(Sized):
    _fields_ = [('size', c_size_t), ('id', c_char_p), ('at', c_char_p), ('title', c_char_p), ('flags', c_uint32),
                ('reserved', c_uint32)]


class Change(Sized):
    _fields_ = [('size', c_size_t), ('id', c_char * 40), ('text', c_char * 256)]


class SearchQuery(Sized):
    _fields_ = [('size', c_size_t), ('patterns', POINTER(c_char_p)), ('patterns_count', c_size_t), ('sessions', c_void_p),
                ('limit', c_uint64), ('places', c_uint32), ('flags', c_uint32)]


class Hit(Structure):
    _fields_ = [('size', c_size_t), ('system', c_char_p), ('session', c_char_p), ('path', c_char_p), ('title', c_char_p),
                ('agent', c_char_p), ('message', c_char_p), ('line', c_char_p)]


class WriterOptions(Sized):
    _fields_ = [('size', c_size_t), ('flags', c_uint32), ('durable', c_int32), ('interval_ms', c_uint32),
                ('reserved', c_uint32), ('batch_rows', c_uint64), ('batch_bytes', c_uint64), ('queue_rows', c_uint64),
                ('queue_bytes', c_uint64), ('failed', c_void_p), ('arg', c_void_p)]


class Row(Structure):
    _fields_ = [('size', c_size_t), ('system', c_char_p), ('id', c_char_p), ('path', c_char_p), ('title', c_char_p)]


REPRISE_OPEN_CREATE = 1
REPRISE_WRITER_BACKGROUND = 1
REPRISE_STALE, REPRISE_USAGE = 6, 9
MESSAGE_FN = ctypes.CFUNCTYPE(c_int, c_void_p, c_size_t, c_void_p)
HIT_FN = ctypes.CFUNCTYPE(c_int, POINTER(Hit), c_void_p)


class Failed(Exception):
    pass


class Library:
    def __init__(self, path):
        self.c = ctypes.CDLL(path)
        self.c.reprise_version.restype = c_char_p
        self.c.reprise_session_id.restype = c_char_p
        self.c.reprise_session_id.argtypes = [c_void_p]
        self.c.reprise_session_warning.restype = c_char_p
        self.c.reprise_session_warning.argtypes = [c_void_p]
        self.c.reprise_rows_at.restype = POINTER(Row)
        self.c.reprise_rows_at.argtypes = [c_void_p, c_size_t]
        self.c.reprise_texts_at.restype = c_void_p
        self.c.reprise_texts_at.argtypes = [c_void_p, c_size_t, POINTER(c_size_t)]
        for name in ('reprise_rows_count', 'reprise_texts_count'):
            getattr(self.c, name).restype = c_size_t
            getattr(self.c, name).argtypes = [c_void_p]
        for name in ('reprise_close', 'reprise_session_close', 'reprise_rows_free', 'reprise_texts_free'):
            getattr(self.c, name).argtypes = [c_void_p]
            getattr(self.c, name).restype = None

    def call(self, name, *args):
        error = Error()
        code = getattr(self.c, name)(*args, byref(error))
        if code:
            raise Failed(code, error.message.decode())

    def make(self, name, *args):
        """A call that hands out a handle before the error."""
        handle = c_void_p()
        self.call(name, *args, byref(handle))
        return handle

    def texts(self, handle):
        size = c_size_t()
        out = []
        for i in range(self.c.reprise_texts_count(handle)):
            at = self.c.reprise_texts_at(handle, i, byref(size))
            out.append(ctypes.string_at(at, size.value).decode())
        self.c.reprise_texts_free(handle)
        return out


def append(lib, session, *rows, call='reprise_append'):
    text = ''.join(json.dumps(row) + '\n' for row in rows).encode()
    return lib.texts(lib.make(call, session, text, c_size_t(len(text)), c_uint32(0)))


def refused(code, call):
    try:
        call()
    except Failed as why:
        assert why.args[0] == code, why
        return
    raise AssertionError('nothing was refused')


def go_on(lib, stores, session):
    """In a copy, from the first message on; the copy is found, named and deleted."""
    copy = c_void_p()
    lib.call('reprise_fork', session, byref(ForkRequest(id=b'py-2', at=b'm-1')), None, byref(copy))
    bundle, = lib.texts(lib.make('reprise_restore', copy, None))
    assert [m['message']['content'] for m in json.loads(bundle)['messages']] == ['from Python'], bundle
    hits = []
    patterns = (c_char_p * 1)(b'Python')
    query = SearchQuery(patterns=patterns, patterns_count=1)
    lib.call('reprise_search', stores, byref(query), HIT_FN(lambda hit, arg: hits.append(hit.contents.session) or 0), None)
    assert sorted(hits) == [b'py-1', b'py-2'], hits
    change = Change()
    lib.call('reprise_rename', copy, 'Straße'.encode(), byref(change))
    assert change.text.decode() == 'renamed to Straße', change.text
    lib.call('reprise_delete', copy, c_uint32(0), None)
    lib.call('reprise_trash_restore', stores, b'py-2', c_uint32(0))
    lib.call('reprise_undo', stores, change.id, None)
    lib.c.reprise_session_close(copy)


def main():
    lib = Library(sys.argv[1])
    top = os.path.abspath(sys.argv[2])
    environment = (c_char_p * 3)(f'HOME={top}/home'.encode(), b'', None)
    stores = lib.make('reprise_open', byref(Options(system=b'goat', path=f'{top}/python'.encode(), flags=REPRISE_OPEN_CREATE,
                                                    environment=environment)))
    session = lib.make('reprise_create', stores, byref(CreateRequest(id=b'py-1', title='Größe'.encode())))
    ids = append(lib, session, {'uuid': 'm-1', 'role': 'user', 'content': 'from Python'})
    assert ids == ['m-1'], ids
    assert lib.c.reprise_session_id(session) == b'py-1'
    refused(REPRISE_STALE, lambda: lib.make('reprise_create', stores, byref(CreateRequest(id=b'py-1'))))
    refused(REPRISE_USAGE, lambda: append(lib, session, 'no object'))

    # ctypes gives up the interpreter's lock during a call, so these run at the same time.
    threads = [threading.Thread(target=append, args=(lib, session, {'uuid': f't-{i}', 'role': 'user', 'content': 'hi'}))
               for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    messages = [json.loads(text) for text in lib.texts(lib.make('reprise_messages', session, None))]
    assert [m['message']['content'] for m in messages] == ['from Python'] + ['hi'] * 4, messages
    seen = []
    lib.call('reprise_messages_each', session, None, MESSAGE_FN(lambda p, n, arg: seen.append(ctypes.string_at(p, n)) or 0), None)
    assert [json.loads(text) for text in seen] == messages, seen

    rows = lib.make('reprise_list', stores, None)
    assert lib.c.reprise_rows_count(rows) == 1
    row = lib.c.reprise_rows_at(rows, 0).contents
    assert (row.system, row.id, row.title.decode()) == (b'goat', b'py-1', 'Größe'), row.title
    assert not lib.c.reprise_rows_at(rows, 1)
    lib.c.reprise_rows_free(rows)
    go_on(lib, stores, session)
    lib.c.reprise_session_close(session)
    lib.c.reprise_close(stores)
    print('python', lib.c.reprise_version().decode())


if __name__ == '__main__':
    main()
