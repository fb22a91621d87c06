"""The built program for tests of the whole: it runs in a clean environment, its answers are compared, failures counted."""
import json
import os
import subprocess
import sys

os.umask(0o022)  # a configuration that a group can write to is not read


def snapshot(top):
    """Everything below top: mode, mtime, and bytes or the target of a link."""
    seen = {}
    for folder, names, files in os.walk(top):
        for name in names + files + ['.']:
            path = os.path.join(folder, name)
            st = os.lstat(path)
            if os.path.islink(path):
                body = os.readlink(path)
            elif os.path.isfile(path) and os.access(path, os.R_OK):
                with open(path, 'rb') as f:
                    body = f.read()
            else:
                body = None
            seen[path] = (st.st_mode, st.st_mtime_ns, body)
    return seen


def whole_lines(text):
    """What a command answered with --json, in which no object is split over lines (docs/json.md)."""
    for line in text.splitlines():
        if line[-1:] not in b'}],' or line[:1] not in b'[{]':
            sys.exit(f'not an object per line: {text!r}')
    return json.loads(text)


# Without leases (docs/architecture.md, "Portability") nothing is cut off: an undo contradicts what was appended.
CUTS = 'REPRISE_PORTABLE' not in os.environ


def undone(now, before):
    """Files after an undo, to be compared with those before the change: where nothing is cut off, a log that only grew counts
    as the old one."""
    def grew(path, what):
        old = before.get(path)
        return not CUTS and old and path.endswith('.jsonl') and what[0] == old[0] and what[-1].startswith(old[-1])
    return {path: before[path] if grew(path, what) else what for path, what in now.items()}


def compact(value):
    """JSON as agents write it, without blanks."""
    return json.dumps(value, separators=(',', ':'))


class Program:
    """home is a directory without any files of the user."""

    def __init__(self, path, home, env):
        self.path = os.path.abspath(path)
        self.home = home
        self.env = {'PATH': os.environ['PATH'], 'HOME': home, 'LC_ALL': 'C.UTF-8', 'TZ': 'UTC', 'TERM': 'xterm-256color',
                    # What else runs on the machine, and what its administrator set, is nothing to these tests.
                    'REPRISE_PROC_DIR': home, 'REPRISE_ETC_DIR': home,
                    **{k: v for k, v in os.environ.items() if k.endswith('SAN_OPTIONS')}, **env}
        self.failed = 0
        self.passed = 0
        self.runs = 0

    def need(self, holds, otherwise):
        if holds:
            self.passed += 1
        else:
            self.failed += 1
            print(otherwise[:2000])

    def same(self, what, got, want):
        self.need(got == want, f'{what}:\n  want {want!r}\n  got  {got!r}')

    def run(self, *args, timeout=300, **more):
        # Looking for leaks takes as long as most commands do under the sanitizers: the first run and every tenth after it, and
        # in the long form all.
        env, self.runs = self.env, self.runs + 1
        if self.runs % 10 != 1 and 'REPRISE_LONG' not in os.environ:
            env = {**env, 'ASAN_OPTIONS': env.get('ASAN_OPTIONS', '') + ':detect_leaks=0'}
        return subprocess.run([self.path, *args], env=env, cwd=self.home, stdin=subprocess.DEVNULL,
                              capture_output=True, timeout=timeout, check=False, **more)

    def json(self, command, *args, missing=None):
        """Returns the answer of a command with --json; with missing, that value for exit 3 (not found)."""
        run = self.run(command, '--json', *args)
        if run.returncode == 3 and missing is not None:
            return missing
        if run.returncode != 0:
            sys.exit(f'{command} {args}: exit {run.returncode}: {run.stderr!r}')
        return whole_lines(run.stdout)

    def text(self, command, *args):
        """Returns the text for a person on both channels; it may have no control byte except the newline."""
        run = self.run(command, *args)
        self.need(run.returncode == 0, f'{command} {args}: exit {run.returncode}: {run.stderr!r}')
        said = run.stdout + run.stderr
        raw = sorted({b for b in said if b < 32 and b != 10 or b == 127})
        self.need(not raw, f'{command} {args}: raw control bytes {raw}')
        return said.decode('utf-8')

    def finish(self, least):
        """Ends the test. It also fails with fewer checks than `least`, since some were not made."""
        print(f'{self.passed} passed, {self.failed} failed')
        sys.exit(1 if self.failed or self.passed < least else 0)
