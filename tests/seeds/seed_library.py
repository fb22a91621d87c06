"""The host library (seeds 000, 001, 002 and 004 describe libraries that an agent uses while it runs)."""
import ctypes
import glob
import json
import os
import re
import signal
import subprocess
import sys

from installed import ffi
from support.seed_rows import Missing, seed

row, _ = seed('library')
SOURCES = f'{os.path.dirname(__file__)}/../installed'
EXAMPLE = f'{os.path.dirname(__file__)}/../../docs/example_store.c'
WARNINGS = ('-Wall', '-Wextra', '-Wpedantic', '-Werror')


def libdir(place):
    found = glob.glob(f'{place.prefix}/lib*/**/libreprise.so', recursive=True)
    if not found:
        raise Missing('no libreprise.so')
    return os.path.dirname(found[0])


def declared(place):
    with open(f'{place.prefix}/include/reprise.h', encoding='utf-8') as header:
        return set(re.findall(r'\b(reprise_[a-z_]+)\(', header.read()))


def run(*command, **more):
    return subprocess.run(command, capture_output=True, text=True, timeout=600, check=False, **more)


def flags(place, *options):
    env = {**place.env, 'PKG_CONFIG_PATH': f'{libdir(place)}/pkgconfig'}
    return run('pkg-config', '--cflags', '--libs', *options, 'reprise', env=env).stdout.split()


def compiles(place, name, compiler, source, *options):
    """The installed tree and a program of tests/installed: nothing else of the source tree is in the way."""
    made = run(compiler, *WARNINGS, '-o', f'{place.top}/{name}', f'{SOURCES}/{source}', *(options or flags(place)))
    return made.returncode == 0


def host(place, name):
    """A run of a host, with its answer."""
    os.makedirs(f'{place.top}/host', exist_ok=True)
    if not os.path.exists(f'{place.top}/host/file'):
        with open(f'{place.top}/host/file', 'w', encoding='utf-8') as file:
            file.write('what the person wrote\n')
    return run(f'{place.top}/{name}', *(f'{place.top}/host/{part}' for part in ('sessions', 'state', 'file')),
               env={**place.env, 'LD_LIBRARY_PATH': libdir(place)})


def plugin_store(place):
    """The documentation's plug-in, compiled against the installed header alone and configured as the store "team"; returns the
    folder in which it keeps its sessions."""
    folder, stores = f'{place.home}/team', f'{place.home}/.local/share/reprise/stores'
    for path in (folder, stores):
        os.makedirs(path, mode=0o700)
    place.holds('a plug-in needs the installed header alone', run(
        'cc', '-shared', '-fPIC', '-std=c99', *WARNINGS, f'-I{place.prefix}/include', '-o', f'{stores}/folder.so', EXAMPLE).returncode == 0)
    for path in (stores, f'{stores}/folder.so'):
        os.chmod(path, 0o700)
    place.write(f'{place.home}/.config/reprise/config', f'[store.team]\nplugin = folder\npath = {folder}\n')
    return folder


class Store:
    """A store opened through ctypes."""

    def __init__(self, place, system, path='', plugin=None, **options):
        self.lib = ffi.Library(f'{libdir(place)}/libreprise.so')
        environment = (ctypes.c_char_p * 2)(f'HOME={place.home}'.encode(), None)
        path = None if system == 'memory' else (path or f'{place.top}/{system}').encode()
        asked = ffi.Options(system=system.encode(), path=path, directory=place.dir.encode(), environment=environment,
                            flags=0 if plugin else ffi.REPRISE_OPEN_CREATE, plugin=plugin and plugin.encode(), **options)
        self.r = self.lib.make('reprise_open', ctypes.byref(asked))
        self.path = path and path.decode()

    def create(self, **request):
        return self.lib.make('reprise_create', self.r, ctypes.byref(ffi.CreateRequest(**request)))

    def open(self, name):
        return self.lib.make('reprise_session_open', self.r, name.encode())

    def info(self, session):
        return json.loads(self.lib.texts(self.lib.make('reprise_session_info', session))[0])

    def messages(self, session):
        return [json.loads(text) for text in self.lib.texts(self.lib.make('reprise_messages', session, None))]


def writes_to(place, team):
    """An agent whose sessions are in the store of a plug-in while it runs. Returns the session."""
    store = Store(place, 'team', path=team, plugin=f'{place.home}/.local/share/reprise/stores/folder.so')
    session = store.create()
    for text in ('a', 'b'):
        ffi.append(store.lib, session, {'type': 'user', 'message': {'role': 'user', 'content': text}})
    options = ffi.WriterOptions(flags=ffi.REPRISE_WRITER_BACKGROUND)
    writer = store.lib.make('reprise_writer_open', session, ctypes.byref(options))
    for text in ('c', 'd'):
        ffi.append(store.lib, writer, {'type': 'user', 'message': {'role': 'user', 'content': text}}, call='reprise_writer_append')
    store.lib.call('reprise_writer_close', writer)
    place.holds('a host creates a session there, appends, and keeps it open',
                [m['message']['content'] for m in store.messages(session)] == ['a', 'b', 'c', 'd'])
    place.holds('it is nowhere else', glob.glob(f'{place.home}/**/*.jsonl', recursive=True) == glob.glob(f'{team}/*/*.jsonl'))
    return store.lib.c.reprise_session_id(session).decode()


@row(1, 'a shared library with a soname, and a static one')
def kinds(place):
    dynamic = run('readelf', '-d', f'{libdir(place)}/libreprise.so').stdout
    place.holds('soname', re.search(r'SONAME.*\[libreprise\.so\.\d+\]', dynamic))
    place.holds('libreprise.a', os.path.getsize(f'{libdir(place)}/libreprise.a') > 0)


@row(2, 'one header, C99 and C++17')
def header(place):
    found = glob.glob(f'{place.prefix}/include/**/*.h*', recursive=True)
    place.holds('no private header', found and all(os.path.basename(name).startswith('reprise') for name in found))
    for compiler, standard, language in (('cc', 'c99', 'c'), ('cc', 'c11', 'c'), ('c++', 'c++17', 'c++')):
        made = run(compiler, f'-std={standard}', *WARNINGS, '-fsyntax-only', '-x', language, f'{place.prefix}/include/reprise.h')
        place.holds(standard, made.returncode == 0)


@row(3, 'every exported symbol begins with reprise_')
def symbols(place):
    for option, name in (('-D', 'libreprise.so'), ('-g', 'libreprise.a')):
        lines = run('nm', option, '--defined-only', f'{libdir(place)}/{name}').stdout.split('\n')
        names = {line.split()[2].split('@')[0] for line in lines if len(line.split()) == 3 and ' A ' not in line}
        place.holds(f'{name}: {len(names)} symbols, all of the header', names == names & declared(place) and len(names) > 20)


@row(4, 'pkg-config and CMake packages')
def packages(place):
    place.holds('pkg-config', compiles(place, 'shared', 'cc', 'host.c', '-std=c99', *flags(place)))
    static = [flag.replace('-lreprise', '-l:libreprise.a') for flag in flags(place, '--static')]
    place.holds('pkg-config --static', compiles(place, 'static', 'cc', 'host.c', '-std=c99', *static))
    place.holds('the static program needs no shared library',
                'libreprise' not in run('readelf', '-d', f'{place.top}/static').stdout)
    made = run('cmake', '-G', 'Ninja', '-S', SOURCES, '-B', f'{place.top}/cmake', f'-DCMAKE_PREFIX_PATH={place.prefix}')
    place.holds('find_package(reprise)', made.returncode == 0)


@row(5, 'man(3)')
def manual(place):
    pages = f'{place.prefix}/share/man/man3'
    functions = {name for name in declared(place) if not name.endswith('_fn')}
    place.holds('a page for each function', all(os.path.exists(f'{pages}/{name}.3') for name in functions))
    for name in ('open', 'list', 'messages', 'append', 'checkpoint', 'rewind'):
        place.holds(name, run('mandoc', '-Tlint', '-Wwarning', f'{pages}/reprise_{name}.3').stdout == '')
    with open(f'{place.prefix}/include/reprise.h', encoding='utf-8') as header:
        parts = re.findall(r'^/\* ==== (reprise_[a-z]+) ', header.read(), re.M)
    for part in parts:
        with open(f'{pages}/{part}.3', encoding='utf-8') as page:
            place.holds(f'an example of {part}', '.SH EXAMPLES\n' in page.read())
    documents = f'{place.prefix}/share/doc/reprise'
    place.holds('the documents', {'library.md', 'plugins.md', 'json.md', 'examples.c', 'example_store.c'} <= set(os.listdir(documents)))
    os.makedirs(f'{place.top}/examples')
    made = run('cc', '-std=c99', *WARNINGS, '-o', f'{place.top}/all', f'{SOURCES}/../../docs/examples.c', *flags(place))
    ran = run(f'{place.top}/all', f'{place.top}/examples/f', f'{place.top}/examples/text',
              env={**place.env, 'HOME': f'{place.top}/examples', 'LD_LIBRARY_PATH': libdir(place)})
    place.holds('the examples compile and work', made.returncode == 0 and ran.returncode == 0 and os.path.exists(f'{place.top}/examples/text'))


@row(6, 'the example compiles as the README says, and works; so does C++')
def example(place):
    place.holds('host.c', compiles(place, 'c', 'cc', 'host.c') and host(place, 'c').returncode == 0)
    place.holds('host.cpp', compiles(place, 'cpp', 'c++', 'host.cpp') and host(place, 'cpp').returncode == 0)


@row(7, 'Python and Lua through plain FFI')
def languages(place):
    lib = f'{libdir(place)}/libreprise.so'
    os.makedirs(f'{place.top}/lua')
    with open(f'{place.prefix}/include/reprise.h', encoding='utf-8') as file:
        text = ''.join(line for line in file if not line.startswith('#include'))
    with open(f'{place.top}/declarations', 'w', encoding='utf-8') as file:
        file.write(run('cc', '-E', '-P', '-x', 'c', '-', input=text).stdout)
    place.holds('ctypes', run(sys.executable, f'{SOURCES}/ffi.py', lib, place.top).returncode == 0)
    place.holds('LuaJIT', run('luajit', f'{SOURCES}/ffi.lua', lib, f'{place.top}/declarations', f'{place.top}/lua').returncode == 0)


@row(8, 'errors: code, path and text')
def errors(place):
    store = Store(place, 'goat')
    store.create(id=b'a-1')
    for what, code, call in (('same id', ffi.REPRISE_STALE, lambda: store.create(id=b'a-1')),
                             ('bad id', ffi.REPRISE_USAGE, lambda: store.create(id=b'../x')),
                             ('relative directory', ffi.REPRISE_USAGE, lambda: store.create(directory=b'x'))):
        try:
            call()
            place.holds(what, False)
        except ffi.Failed as why:
            place.holds(f'{what}: {why.args[1]}', why.args[0] == code and why.args[1])


@row(9, 'no signal of its own work ends a host')
def signals(place):
    made = compiles(place, 'signals', 'cc', 'signals.c', '-std=c99', '-D_GNU_SOURCE', *flags(place))
    os.makedirs(f'{place.top}/signalled')
    ended = run(f'{place.top}/signals', f'{place.top}/signalled', env={**place.env, 'LD_LIBRARY_PATH': libdir(place)}).returncode
    place.holds('SIGIO, SIGXFSZ, SIGPIPE at their defaults' if ended >= 0 else signal.Signals(-ended).name, made and ended == 0)


@row(10, 'rows have the time of their append')
def times(place):
    store = Store(place, 'goat')
    session = store.create(id=b'a-1')
    for text in ('one', 'two'):
        ffi.append(store.lib, session, {'role': 'user', 'content': text})
        subprocess.run(['sleep', '0.05'], check=True)
    stamps = [m['timestamp'] for m in store.messages(session)]
    place.holds(f'{stamps}', len(set(stamps)) == 2)


def background(place, system, spoken):
    """Rows wait in a queue until flush or close; `spoken` makes the i-th one."""
    store = Store(place, system)
    session = store.create()
    options = ffi.WriterOptions(flags=ffi.REPRISE_WRITER_BACKGROUND, interval_ms=600_000)
    w = store.lib.make('reprise_writer_open', session, ctypes.byref(options))
    for i in range(3):
        ffi.append(store.lib, w, spoken(i), call='reprise_writer_append')
    place.holds('rows wait', store.messages(session) == [])
    store.lib.call('reprise_writer_flush', w)
    place.holds('flush writes them', len(store.messages(session)) == 3)
    ffi.append(store.lib, w, spoken(3), call='reprise_writer_append')
    store.lib.call('reprise_writer_close', w)
    place.holds('close drains', len(store.messages(session)) == 4)


@row(11, 'a background writer: append, flush, close')
def writer(place):
    background(place, 'goat', lambda i: {'uuid': f'r-{i}', 'role': 'user', 'content': 'x'})


@row(12, 'restore: what the agent needs to go on, as the command has it')
def restore(place):
    store = Store(place, 'goat')
    session = store.create(id=b'a-1')
    ffi.append(store.lib, session, {'uuid': 'r-1', 'role': 'user', 'content': 'x'})
    bundle, = store.lib.texts(store.lib.make('reprise_restore', session, None))
    said = place.json('restore', 'a-1', '--store', f'goat:{store.path}')
    place.holds('the members of the command', all(said[key] == value for key, value in json.loads(bundle).items()
                                                  if key != 'messages') and len(said['messages']) == 1)


@row(13, 'fork with an id of the caller, up to a message')
def fork(place):
    store = Store(place, 'goat')
    session = store.create(id=b'a-1')
    ffi.append(store.lib, session, *({'uuid': f'r-{i}', 'role': 'user', 'content': 'x'} for i in range(3)))
    copy = ctypes.c_void_p()
    store.lib.call('reprise_fork', session, ctypes.byref(ffi.ForkRequest(id=b'a-2', at=b'r-1')), None, ctypes.byref(copy))
    place.holds('two of three messages', [m['uuid'] for m in store.messages(copy)] == ['r-0', 'r-1'])


@row(14, 'rename, trash, restore from the trash, undo')
def changes(place):
    store = Store(place, 'goat')
    session = store.create(id=b'a-1')
    ffi.append(store.lib, session, {'uuid': 'r-1', 'role': 'user', 'content': 'x'})
    change = ffi.Change()
    store.lib.call('reprise_rename', session, b'Payments', ctypes.byref(change))
    store.lib.call('reprise_delete', session, ctypes.c_uint32(0), None)
    place.holds('in the trash', not os.path.exists(f'{store.path}/a-1'))
    store.lib.call('reprise_trash_restore', store.r, b'a-1', ctypes.c_uint32(0))
    place.holds('back', len(store.messages(session)) == 1)
    store.lib.call('reprise_undo', store.r, change.id, None)
    place.holds('renamed back', b'Payments' not in place.read(f'{store.path}/a-1/metadata.json'))
