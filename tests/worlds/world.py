"""A world: a home with the stores of several agents, project directories, and what is known of both.

A recipe is a list of steps; each says completely what it does, so that the same steps make the same world, and a world
without some of them is a world, too: a step that names a session or a file that does not exist does nothing.
"""
import json
import os
import re
import shutil
import subprocess
import time

MARK = re.compile(r'mk\d{4}x')
FILES = 'a.txt', 'b.txt', 'src/c.txt', 'src/ü d.txt', 'e.sh'


def past(ns):
    """A file from the future stays the newest one, whatever is done to the others now."""
    return min(ns, time.time_ns())


def encode(row):
    """As the agents write JSON: without blanks."""
    return json.dumps(row, ensure_ascii=False, separators=(',', ':')).encode('utf-8', 'surrogatepass') + b'\n'


def read(path):
    """The bytes of a file, or None."""
    try:
        with open(path, 'rb') as f:
            return f.read()
    except (FileNotFoundError, NotADirectoryError, IsADirectoryError):
        return None


def tree(top, skip=()):
    """Mode and bytes, or target, of everything below top that is no directory."""
    seen = {}
    for folder, names, files in os.walk(top):
        names[:] = [n for n in names if os.path.join(folder, n) not in skip]
        for name in files + [n for n in names if os.path.islink(os.path.join(folder, n))]:
            path = os.path.join(folder, name)
            st = os.lstat(path)
            seen[path] = (st.st_mode & 0o7777, os.readlink(path) if os.path.islink(path) else read(path))
    return seen


class Session:
    """What is known of one session. An agent's module fills it in."""

    def __init__(self, world, step, agent):
        self.world, self.agent, self.name = world, agent, step['s']
        self.project = step['project']
        self.cwd = world.project(self.project)
        self.prompts = []  # (point, marker of the prompt, the project before the turn)
        self.talk = []  # markers of what a resume sends, in order
        self.optional = set()  # of these it may be either
        self.last = 0  # time of the last activity
        self.said = 0  # and of the last message
        self.title = None  # if it was given one
        self.copies = []  # other transcripts with its id
        self.exact = True  # whether talk is true: not after damage
        self.files_exact = True
        self.listed = True
        self.saved = {}  # of each file, the states that were saved

    def state_at(self, point, name):
        """What a rewind may make of a file: nothing is saved, so only what was there."""
        for own, _, before in self.prompts:
            if own == point:
                return True, (before or {}).get(name)
        return False, None

    def say(self, text=''):
        """A text that is in no other message."""
        mark = self.world.mark()
        return mark, f'{mark} {text}'.strip()


class World:
    def __init__(self, top, recipe):
        self.top, self.recipe = top, recipe
        self.home, self.live = f'{top}/home', bool(recipe.get('live'))
        os.makedirs(self.home)
        self.now = int(time.time() * 1000) - 20 * 86_400_000
        self.marks, self.ids = 0, 0
        self.sessions = {}
        self.moved = {}
        self.mounted = []
        self.agents = {}
        self.edited = set()  # files that a person changed
        self.environment = {}
        self.stores = []  # stores whose files are not to change
        if recipe.get('overlay'):
            self.mount()

    # ---- what the agents' modules need ----

    def clock(self, ms=1000):
        """The present, in milliseconds. In a live world that of the machine, so that times of files agree with it."""
        if self.live:
            time.sleep(0.002)
            self.now = int(time.time() * 1000)
        else:
            self.now += ms
        return self.now

    def iso(self, ms=None):
        ms = self.clock() if ms is None else ms
        return time.strftime('%Y-%m-%dT%H:%M:%S', time.gmtime(ms // 1000)) + f'.{ms % 1000:03}Z'

    def mark(self):
        self.marks += 1
        return f'mk{self.marks:04}x'

    def uuid(self, version=4):
        self.ids += 1
        return f'{0x5a000000 + self.ids:08x}-{self.ids % 65536:04x}-{version}000-8000-{self.ids:012x}'

    def project(self, n):
        path = f'{self.top}/p{n}' if n != 3 else f'{self.top}/my ünï-p.{n}'
        os.makedirs(path, exist_ok=True)
        return path

    def projects(self):
        return [self.project(n) for n in range(4)]

    def put(self, path, data, ms=None):
        """A file of a project or a store, with the time of the world."""
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, 'wb') as f:
            f.write(data)
        if not self.live:
            os.utime(path, ns=((ms or self.now) * 1_000_000,) * 2)

    def state(self, cwd):
        """The files of a project: relative path to bytes."""
        return {os.path.relpath(p, cwd): what[1] for p, what in tree(cwd, (f'{cwd}/.git',)).items()}

    def change(self, cwd, name, how, n):
        """Changes a file as a program or a person would; returns its bytes before and after."""
        path = f'{cwd}/{name}'
        before = read(path)
        lines = (before or b'').decode().split('\n')[:-1]
        if how == 'remove':
            after = None
        elif how == 'append':
            after = (before or b'') + f'appended {n}\n'.encode()
        elif how == 'edit' and before and len(lines) > 1:
            lines[n % len(lines)] = f'changed {n}'
            after = ('\n'.join(lines) + '\n').encode()
        elif how == 'same':  # as long as before
            after = bytes((b + 1 if 97 <= b < 122 else b) for b in before or b'')
        else:
            after = ''.join(f'line {i} of {n}\n' for i in range(n % 7 + 1)).encode()
        if after is None:
            if before is not None:
                os.unlink(path)
        else:
            self.put(path, after)
        return before, after

    # ---- steps that are no agent's ----

    def mount(self):
        """The projects are on the upper layer of an overlay, as in a container."""
        parts = [f'{self.top}/layers/{n}' for n in ('lower', 'upper', 'work')]
        for n in range(4):
            os.makedirs(f'{parts[0]}/p{n}')
            for name in FILES[:3]:
                self.put(f'{parts[0]}/p{n}/{name}', f'an image\'s {name}\n'.encode() * 3)
        os.makedirs(parts[1])
        os.makedirs(parts[2])
        for n in range(3):
            place = self.project(n)
            os.makedirs(f'{parts[1]}/p{n}')
            os.makedirs(f'{parts[2]}/p{n}')
            how = f'lowerdir={parts[0]}/p{n},upperdir={parts[1]}/p{n},workdir={parts[2]}/p{n}'
            if subprocess.run(['mount', '-t', 'overlay', 'overlay', '-o', how, place], capture_output=True, check=False).returncode:
                break  # this machine has none, so the world is an ordinary one
            self.mounted.append(place)

    def remove(self):
        for place in self.mounted:
            subprocess.run(['umount', '-l', place], check=False)
        shutil.rmtree(self.top, ignore_errors=True)

    def step_hand(self, step):
        """A person changes a file."""
        cwd = self.project(step['project'])
        self.clock()
        self.change(cwd, step['file'], step['how'], step['n'])
        self.edited.add((step['project'], step['file']))

    def step_git(self, step):
        cwd = self.project(step['project'])
        if os.path.exists(f'{cwd}/.git'):
            return
        who = ['-c', 'user.name=x', '-c', 'user.email=x@y']
        for args in ['init', '-q', '-b', 'main', '.'], ['add', '-A'], [*who, 'commit', '-q', '--allow-empty', '-m', 'first']:
            subprocess.run(['git', *args], cwd=cwd, check=True, capture_output=True,
                           env={'PATH': os.environ['PATH'], 'HOME': self.home, 'GIT_CONFIG_NOSYSTEM': '1'})

    def step_move(self, step):
        """A project gets another name, and may leave a link."""
        cwd, to = self.project(step['project']), f'{self.top}/moved-{step["project"]}'
        if os.path.lexists(to) or self.mounted or os.path.islink(cwd):
            return
        os.rename(cwd, to)
        if step['link']:
            os.symlink(to, cwd)
        self.moved[step['project']] = bool(step['link'])
        for s in self.sessions.values():
            if s.project == step['project']:
                s.files_exact = False

    def build(self):
        for step in self.recipe['steps']:
            if step['op'] in ('session', 'fork'):
                agent = self.agents.get(step.get('agent'))
                if step['op'] == 'fork':
                    of = self.sessions.get(step['of'])
                    made = of and hasattr(of, 'fork') and of.fork(step)
                else:
                    made = agent and agent(self, step)
                if made:
                    self.sessions[step['s']] = made
            elif hasattr(self, 'step_' + step['op']):
                getattr(self, 'step_' + step['op'])(step)
            elif step.get('s') in self.sessions:
                act = getattr(self.sessions[step['s']], 'step_' + step['op'], None)
                if act:
                    act(step)
        return self
