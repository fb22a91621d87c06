"""What must hold in every world, whoever wrote the stores and whatever happened to them."""
import errno
import json
import os
import random
import re
import resource
import shutil
import signal
import subprocess
import tempfile
import time

from world import MARK, tree

HANG = 300  # seconds, so that a slow machine is no finding
MEMORY = 1 << 20  # KiB
WAYS = (('kill', 0, 0), ('kill-after', 0, 0), ('torn', 0, 0), ('short', 0, 0), ('power-cut', 0, 0), ('power-cut-zeros', 0, 0),
        ('error', errno.ENOSPC, 0), ('error', errno.ENOSPC, 1), ('error', errno.EIO, 0), ('error', errno.EROFS, 1), ('error-after', errno.EIO, 0))
BREAKS = 4  # of one change
SANITIZED = any(k.endswith('SAN_OPTIONS') for k in os.environ)


class Finding(Exception):
    """key: the kind of the mistake, the same for the same mistake in another world."""

    def __init__(self, key, text):
        super().__init__(f'{key}: {text}')
        self.key = key


class Run:
    def __init__(self, code, out, err):
        self.code, self.out, self.err = code, out, err


class Checks:
    def __init__(self, world, program, injector=None):
        self.program, self.world, self.injector = os.path.abspath(program), world, injector
        self.state = f'{world.top}/state'
        self.env = {'PATH': os.environ['PATH'], 'HOME': world.home, 'LC_ALL': 'C.UTF-8', 'TZ': 'UTC', 'TERM': 'xterm-256color',
                    'LINES': '40', 'COLUMNS': '200', 'XDG_STATE_HOME': self.state, 'GIT_CONFIG_NOSYSTEM': '1',
                    'REPRISE_PROC_DIR': f'{world.top}/proc', 'REPRISE_ETC_DIR': f'{world.top}/etc',
                    **{k: v for k, v in os.environ.items() if k.endswith('SAN_OPTIONS')}, **world.environment}
        os.makedirs(f'{world.top}/proc', exist_ok=True)
        self.runs = 0

    def fail(self, key, text):
        raise Finding(key, text)

    # ---- running ----

    def run(self, *args, codes=None, cwd=None, fault=None):
        """Runs the program: no signal, no report of a sanitizer, no hang, no memory without bounds."""
        self.runs += 1
        out, err = tempfile.TemporaryFile(), tempfile.TemporaryFile()
        child = subprocess.Popen([self.program, *args], env={**self.env, **(fault or {})}, cwd=cwd or self.world.home, stdin=subprocess.DEVNULL, stdout=out,
                                 stderr=err, preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CORE, (0, 0)))
        signal.signal(signal.SIGALRM, lambda *_: child.kill())
        signal.alarm(HANG)
        began = time.monotonic()
        _, status, usage = os.wait4(child.pid, 0)
        signal.alarm(0)
        if time.monotonic() - began >= HANG:
            self.fail(f'hang:{args[0]}', f'{args}')
        child.returncode = os.waitstatus_to_exitcode(status)
        out.seek(0)
        err.seek(0)
        run = Run(child.returncode, out.read(), err.read())
        if run.code < 0 and not (fault and run.code == -signal.SIGKILL) or b'Sanitizer' in run.err or b'runtime error' in run.err:
            name = signal.Signals(-run.code).name if run.code < 0 else 'sanitizer'
            self.fail(f'crash:{name}:{args[0]}', f'{args} {run.err[-1500:].decode(errors="replace")}')
        if usage.ru_maxrss > MEMORY and not SANITIZED:
            self.fail(f'memory:{args[0]}', f'{args}: {usage.ru_maxrss} KiB')
        if codes is not None and run.code not in codes:
            self.fail(f'exit:{args[0]}', f'{args}: exit {run.code}: {run.err[:600]!r}')
        return run

    def json(self, *args, codes=(0,)):
        run = self.run(*args, '--json', codes=codes)
        if run.code:
            return None
        try:
            return json.loads(run.out)
        except ValueError as e:
            return self.fail(f'json:{args[0]}', f'{args}: {e}')

    # ---- reading ----

    def all(self, only=None):
        """Makes all checks, or those of one kind; returns the findings. A check that fails ends its kind for one session."""
        self.found, self.only = [], only
        before = self.bytes_of()
        rows = self.attempt('list', self.json, 'list', '--all', always=True) or []
        self.attempt('plain', self.check_plain, rows)
        self.attempt('picker', self.check_picker)
        self.attempt('order', self.check_order, rows)
        for s in self.world.sessions.values():
            self.attempt('row', self.check_listed, s, rows)
        for row in rows[:6]:
            self.attempt('session', self.session, row)
        for args in self.world.recipe.get('also', ()):
            self.attempt('also', self.run, *(a.format(project=self.world.project(0)) for a in args), cwd=self.world.project(0))
        if self.bytes_of() != before:
            self.attempt('reading', self.fail, 'reading-writes', f'{different(before, self.bytes_of())[:5]}')
        for step in self.world.recipe['steps']:
            if step['op'].startswith('do_'):
                self.attempt(step['op'], getattr(self, step['op']), step)
        return self.found

    def attempt(self, kind, check, *args, always=False, **more):
        if self.only and kind != self.only and not always:
            return None
        try:
            return check(*args, **more)
        except Finding as found:
            found.kind = kind
            self.found.append(found)
            return None

    def check_order(self, rows):
        times = [(r.get('lastActivity', r['lastModified']), r['sessionId']) for r in rows]
        if times != sorted(times, key=lambda t: -t[0]):
            bad = next(rows[i]['system'] for i in range(1, len(times)) if times[i][0] > times[i - 1][0])
            self.fail(f'order:{bad}', f'the list is not in the order of its last messages: {times}')

    def check_listed(self, s, rows):
        own = [r for r in rows if (r['system'], r['sessionId']) == (s.agent, s.sid)]
        if len(own) > 1:
            self.fail(f'list-twice:{s.agent}', s.sid)
        if s.listed and s.prompts and not own:
            self.fail(f'not-listed:{s.agent}', f'{s.path}')
        if s.listed and own:
            self.check_row(s, own[0])

    def check_row(self, s, row):
        if s.prompts and s.exact and not s.title and not MARK.search(row['summary']):
            self.fail(f'title:{s.agent}', f'{row["summary"][:90]!r} of {s.path}')
        if s.title and s.exact and row['summary'] != s.title:
            self.fail(f'title:{s.agent}', f'{row["summary"][:90]!r}, given {s.title!r}')
        if s.exact and s.last and abs(row.get('lastActivity', row['lastModified']) - s.last) > 1500:
            self.fail(f'time:{s.agent}', f'last message at {row.get("lastActivity")}, written at {s.last}: {s.path}')

    def check_plain(self, rows):
        """The list for people has the same sessions in the same order as that for programs."""
        run = self.run('--plain', '--all', codes=(0, 2, 3, 130))
        lines = [line for line in (run.out + run.err).decode(errors='replace').split('\n') if line[:4].strip().rstrip('.').isdigit()]
        got = [(line.split()[0], m.group() if (m := MARK.search(line)) else None) for line in lines]
        want = [m.group() if (m := MARK.search(r['summary'][:60])) else None for r in rows]
        if len(got) < len(want) and len(got) < 20 or any(g[1] != w for g, w in zip(got, want) if g[1] and w):
            text = [f'{r["system"]} {r["summary"][:20]}' for r in rows]
            bad = next((r['system'] for g, w, r in zip(got, want, rows) if g[1] != w), 'all')
            self.fail(f'screen:{bad}', f'the screen shows {[g[1] for g in got]}, the list {text}')

    def check_picker(self):
        """The first frame of the picker, with the preview of the row under the cursor, on a terminal."""
        self.runs += 1
        pid, fd = os.forkpty()
        if not pid:
            try:
                os.chdir(self.world.project(0))
                os.execve(self.program, [self.program, '--all'], self.env)
            finally:
                os._exit(99)
        seen, end, asked, status = b'', time.monotonic() + HANG, False, None
        os.set_blocking(fd, False)
        quiet = time.monotonic()
        while status is None:
            try:
                data = os.read(fd, 65536)
                seen, quiet = seen + data, time.monotonic()
            except BlockingIOError:
                time.sleep(0.002)
            except OSError:
                pass
            done, how = os.waitpid(pid, os.WNOHANG)
            if done:
                status = os.waitstatus_to_exitcode(how)
            elif time.monotonic() > end:
                os.kill(pid, signal.SIGKILL)
                os.waitpid(pid, 0)
                os.close(fd)
                self.fail('hang:picker', 'the picker does not end')
            elif time.monotonic() - quiet > (0.15 if not asked else 2) and len(seen) > 400:
                try:
                    os.write(fd, b'\x03')
                except OSError:
                    pass
                asked, quiet = True, time.monotonic()
        os.close(fd)
        if status < 0 or b'Sanitizer' in seen:
            self.fail(f'crash:{signal.Signals(-status).name if status < 0 else "sanitizer"}:picker', f'the picker: {seen[-900:]!r}')

    def copies_of(self, row):
        s = self.known(row)
        return s.copies if s else []

    def known(self, row):
        return next((s for s in self.world.sessions.values() if (s.agent, s.sid) == (row['system'], row['sessionId'])), None)

    def ambiguous(self, row, run):
        """A session of which there are copies may be refused, if the answer names them."""
        return bool(self.copies_of(row)) and run.code in (2, 4) and run.err.count(row['sessionId'].encode()) >= 2

    def session(self, row):
        agent, sid = row['system'], f'{row["system"]}:{row["sessionId"]}'
        run = self.run('info', sid, '--json')
        if self.ambiguous(row, run):
            return
        if run.code:
            self.fail(f'info:{agent}', f'exit {run.code}: {run.err[:400]!r}')
        info = json.loads(run.out)
        info = info[0] if isinstance(info, list) else info
        for key in 'path', 'summary', 'lastActivity', 'fileSize':
            if info.get(key) != row.get(key):
                self.fail(f'info-{key}:{agent}', f'list {str(row.get(key))[-120:]!r}, info {str(info.get(key))[-120:]!r}')
        messages = self.run('messages', sid, '--json', codes=(0, 3, 5))
        restored = self.run('restore', sid, '--json')
        s = self.known(row)
        for args in self.world.recipe.get('each', ()):
            self.run(args[0], sid, *args[1:])
        if messages.code == 0 and restored.code == 0:
            said = marks_of(json.loads(messages.out))
            sent = marks_of(json.loads(restored.out)['messages'])
            if agent == 'claude' and set(said) - set(sent) - ((s.optional) if s else set()) and (not s or s.exact):
                self.fail(f'restore:{agent}', f'messages has {sorted(set(said) - set(sent))[:5]}, restore has not: {row["path"]}')
            if s and s.exact:
                self.check_talk(s, said, 'messages')
                self.check_talk(s, sent, 'restore')

    def check_talk(self, s, got, what):
        """What a resume sends is what the agent would send."""
        need = [m for m in s.talk if m not in s.optional]
        missing = [m for m in need if m not in got]
        if missing and (s.agent == 'claude' or what == 'messages'):
            self.fail(f'lost:{what}:{s.agent}', f'{missing[:5]} of {len(need)} are missing: {s.path}')
        more = [m for m in got if m not in s.talk and m not in s.optional]
        if more and s.agent == 'claude':
            self.fail(f'more:{what}:{s.agent}', f'{more[:5]} belong to no resume: {s.path}')
        order = [m for m in got if m in need and m in {p[1] for p in s.prompts}]
        if order != [m for m in need if m in set(order)]:
            self.fail(f'order:{what}:{s.agent}', f'{order}: {s.path}')

    # ---- changes ----

    def bytes_of(self, projects=True):
        """Everything that may be changed: the stores, and the projects."""
        seen = tree(self.world.home, (f'{self.world.home}/.cache',))
        for top in self.world.projects() if projects else ():
            seen.update(tree(top, (f'{top}/.git',)))
        for name in sorted(os.listdir(self.world.top)):
            if name.startswith(('elsewhere-', 'moved-')):
                seen.update(tree(f'{self.world.top}/{name}'))
        return {k: v for k, v in seen.items() if not k.endswith(('-wal', '-shm')) and '/share/reprise/' not in k}

    def row_of(self, step):
        s = self.world.sessions.get(step['s'])
        rows = self.json('list', '--all') or []
        return s, next((r for r in rows if s and (r['system'], r['sessionId']) == (s.agent, s.sid)), None)

    def change(self, step, verb, *args):
        """A change of a session: it is that of the list that changes, no copy of it; and an undo is exact."""
        s, row = self.row_of(step)
        if not row or verb not in row.get('can', ()):
            return
        sid, before = f'{row["system"]}:{row["sessionId"]}', self.bytes_of()
        run = self.run(verb, sid, *args)
        after = self.bytes_of()
        if run.code:
            if after != before:
                self.fail(f'refused-changes:{verb}:{s.agent}', f'exit {run.code}: {run.err[:300]!r} {different(before, after)[:4]}')
            if not self.ambiguous(row, run) and run.code != 4 and b'is not on your PATH' not in run.err:
                self.fail(f'{verb}:{s.agent}', f'exit {run.code}: {run.err[:300]!r}')
            return
        changed = different(before, after)
        real = os.path.realpath(row['path']) if os.path.exists(row['path']) else row['path']
        others = [p for p in [s.path, *s.copies] if os.path.realpath(p) != real and p in changed]
        if others and verb in ('rename', 'tag', 'delete', 'archive'):
            self.fail(f'changes-other-copy:{verb}:{s.agent}', f'listed {row["path"]}, changed {others}')
        if verb == 'delete' and os.path.lexists(row['path']):
            self.fail(f'not-deleted:{s.agent}', row['path'])
        if verb == 'rename':
            _, now = self.row_of(step)
            if not now or now['summary'] != args[0] or now['path'] != row['path']:
                self.fail(f'rename-not-listed:{s.agent}', f'{row["path"]} became {now and (now["summary"][:40], now["path"])}')
        undo = self.run('undo', '--all', cwd=self.world.home)
        if undo.code:
            self.fail(f'undo-fails:{verb}:{s.agent}', f'{undo.err[:300]!r}')
        if 'REPRISE_PORTABLE' not in os.environ and self.bytes_of() != before:
            self.fail(f'undo-inexact:{verb}:{s.agent}', f'{different(before, self.bytes_of())[:5]}')
        self.breaks(s, (verb, sid, *args), before, changed)
        self.at_once(s, ((verb, sid, *args), (verb, sid, *args), ('tag', sid, 'red')), before)

    def breaks(self, s, args, before, changed):
        """The same change on a machine that fails at one of its calls. After the next command everything is as it was before,
        or as the change makes it, and then its undo is exact, too."""
        if not self.injector:
            return
        rng = random.Random(f'{self.world.recipe["seed"]} {args}')
        for way in ('nothing', 0, 0), *rng.choices(WAYS, k=BREAKS):
            counter = f'{self.world.top}/counter'
            with open(counter, 'wb') as f:
                f.write(bytes(8))
            nth = 0 if way[0] == 'nothing' else rng.randrange(1, calls + 1)
            fault = dict(zip(('INJECT_MODE', 'INJECT_ERRNO', 'INJECT_STAYS'), map(str, way)), LD_PRELOAD=self.injector,
                         INJECT_NTH=str(nth), INJECT_COUNTER=counter)
            run = self.run(*args, cwd=self.world.home, fault=fault)
            with open(counter, 'rb') as f:
                calls = max(1, int.from_bytes(f.read(8), 'little')) if way[0] == 'nothing' else calls
            where = f'{args}, {way} at {nth} of {calls}: exit {run.code}, {run.err[:300]!r}'
            self.run('log', '--all', codes=(0,))
            now = self.bytes_of()
            if now == before:
                if not run.code:
                    self.fail(f'break-untrue:{args[0]}:{s.agent}', where)
                continue
            if different(before, now) != changed:
                self.fail(f'break-torn:{args[0]}:{s.agent}', f'{where}: {different(before, now)[:5]} of {changed[:5]}')
            # A machine that keeps failing cannot print the reason, either.
            if run.code > 0 and run.err and b'unfinished' not in run.err and b'it is in place' not in run.err:
                self.fail(f'break-untrue:{args[0]}:{s.agent}', where)
            undo = self.run('undo', '--all', cwd=self.world.home)
            if undo.code or self.bytes_of() != before:
                self.fail(f'break-undo:{args[0]}:{s.agent}', f'{where}: {undo.err[:300]!r} {different(before, self.bytes_of())[:5]}')

    def at_once(self, s, commands, before):
        """Changes at the same time: whatever was done is in the log, and undone from the newest to the oldest it leaves no trace."""
        if not self.injector:
            return
        old = self.log_ids()
        running = [subprocess.Popen([self.program, *c], env=self.env, cwd=self.world.home, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                    stderr=subprocess.PIPE) for c in commands]
        ended = [(*(text[-300:] for text in c.communicate()), c.returncode) for c in running]
        where = f'{commands}: {ended}'
        if any(code < 0 or b'Sanitizer' in err for _, err, code in ended):
            self.fail(f'at-once-crash:{commands[0][0]}:{s.agent}', where)
        made = [i for i in self.log_ids() if i not in old]
        told = [i.decode() for out, _, _ in ended for i in re.findall(rb'reprise undo ([0-9a-f-]+)', out)]
        if set(told) - set(made):
            self.fail(f'at-once-unlogged:{commands[0][0]}:{s.agent}', f'{where} {made}')
        for i in made:
            undo = self.run('undo', i, '--all', cwd=self.world.home)
            if undo.code:
                self.fail(f'at-once-undo-fails:{commands[0][0]}:{s.agent}', f'{where}: {undo.err[:300]!r}')
        if self.bytes_of() != before:
            self.fail(f'at-once-inexact:{commands[0][0]}:{s.agent}', f'{where}: {different(before, self.bytes_of())[:5]}')

    def do_rename(self, step):
        self.change(step, 'rename', step['title'])

    def do_tag(self, step):
        self.change(step, 'tag', 'blue')

    def do_delete(self, step):
        self.change(step, 'delete')

    def do_archive(self, step):
        self.change(step, 'archive')

    def do_series(self, step):
        """After any series of changes, undone from the newest to the oldest, everything is as it was before each of them."""
        trail = []
        for verb, name, n in step['verbs']:
            _, row = self.row_of({'s': name})
            args = row and self.arguments(verb, f'{row["system"]}:{row["sessionId"]}', n)
            if not args:
                continue
            before, ids = self.bytes_of(), self.log_ids()
            run = self.run(*args, cwd=self.world.home)
            made, changed = [i for i in self.log_ids() if i not in ids], different(before, self.bytes_of())
            if changed and not made and verb != 'keep':
                self.fail(f'unlogged:{verb}:{row["system"]}', f'{args}: exit {run.code}: {run.err[:300]!r} {changed[:4]}')
            if b'/kept/' in run.err or run.code in (1, 3) and verb not in ('continue', 'move', 'sweep') and b'is not on your PATH' not in run.err:
                self.fail(f'series:{verb}:{row["system"]}', f'{args} of {step["verbs"]}: exit {run.code}: {run.err[:300]!r}')
            trail += [(i, args, before) for i in made[:1]]
        while trail:
            change, args, before = trail.pop()
            undo = self.run('undo', change, '--all', cwd=self.world.home)
            if undo.code:
                self.fail(f'series-undo-fails:{args[0]}', f'{args} of {step["verbs"]}: {undo.err[:300]!r}')
            if 'REPRISE_PORTABLE' not in os.environ and self.bytes_of() != before:
                self.fail(f'series-undo-inexact:{args[0]}', f'{args} of {step["verbs"]}: {different(before, self.bytes_of())[:5]}')

    def log_ids(self):
        return [x['id'] for x in self.json('log', '--all', codes=(0, 3)) or []]

    def arguments(self, verb, sid, n):
        """A command that may be refused; None if the session has nothing for it."""
        if verb in ('fork-at', 'resume-at', 'tombstone'):
            run = self.run('messages', sid, '--plain', '--json')
            ids = [m['id'] for m in json.loads(run.out)] if run.code == 0 else []
            return ids and [verb.replace('-at', '') if verb == 'fork-at' else verb, sid, *(['--at'] if verb == 'fork-at' else []), ids[n % len(ids)],
                            *(['--yes'] if verb == 'tombstone' else [])]
        if verb == 'rewind':
            points = [p for p in self.json('checkpoints', sid, codes=(0, 2, 3, 4, 5)) or [] if p['restorable']]
            return points and ['rewind', sid, '--to', points[n % len(points)]['id'], '--mode', ('code', 'both', 'conversation')[n % 3], '--apply', '--skip-refused']
        if verb == 'move':
            return ['move', self.world.project(n % 4), self.world.project(n // 4 % 4), '--apply']
        if verb == 'continue':
            return ['continue', sid, '--in', ('claude', 'codex', 'gemini', 'qwen', 'pi')[n % 5], '--apply']
        return {'rename': ['rename', sid, f'Title {n}'], 'tag': ['tag', sid, f'tag{n % 3}'], 'untag': ['untag', sid, f'tag{n % 3}'], 'doctor': ['doctor', sid, '--fix'],
                'delete': ['delete', sid], 'archive': ['archive', sid], 'unarchive': ['unarchive', sid], 'fork': ['fork', sid], 'keep': ['keep', sid],
                'reappend': ['reappend', sid], 'sweep': ['sweep', '--all', '--older-than', '1h', '--include-named', '--apply']}[verb]

    def do_rewind(self, step):
        """Files become what they were, or stay as they are with a word; what the plan did not name stays; an undo is exact."""
        s, row = self.row_of(step)
        if not row or not s.prompts or s.agent not in ('claude', 'codex', 'pi', 'opencode', 'kilo') or s.copies:
            return
        point, mark, want = s.prompts[step['turn'] % len(s.prompts)]
        sid = f'{row["system"]}:{row["sessionId"]}'
        if s.agent == 'codex':
            points = self.json('checkpoints', sid, codes=(0, 3, 4, 5)) or []
            own = [p for p in points if mark in str(p.get('prompt', ''))]
            if len(own) != 1:
                return
            to = own[0]['id']
        else:
            to = point
        before = self.bytes_of()
        dry = self.run('rewind', sid, '--to', to, '--mode', 'code', '--json')
        if self.bytes_of() != before:
            self.fail(f'dry-run-writes:{s.agent}', f'{different(before, self.bytes_of())[:5]}')
        if dry.code or not dry.out:
            return
        plan = json.loads(dry.out)
        apply = ('rewind', sid, '--to', to, '--mode', 'code', '--apply', '--json', *(['--skip-refused'] if step.get('skip') else []))
        run = self.run(*apply)
        after = self.bytes_of()
        changed = different(before, after)
        if run.code:
            if changed:
                self.fail(f'refused-rewind-changes:{s.agent}', f'exit {run.code}: {changed[:5]}')
            if self.world.mounted and run.code == 1:
                self.fail(f'rewind-fails:{s.agent}', f'{run.err[:300]!r}')
            return
        named = set(plan.get('filesChanged', ()))
        extra = [p for p in changed if p not in named and os.path.realpath(p) not in {os.path.realpath(n) for n in named}]
        if extra:
            self.fail(f'rewind-touches-more:{s.agent}', f'{extra[:5]} are not in the plan')
        for path in changed:
            self.check_file(s, point, path, os.path.relpath(path, s.cwd), after.get(path, (0, None))[1], want)
        self.check_kept(s, point, plan, before, changed, want)
        if not changed:
            return
        undo = self.run('undo', '--all', cwd=self.world.home)
        if undo.code:
            self.fail(f'undo-fails:rewind:{s.agent}', f'{undo.err[:300]!r}')
        if self.bytes_of() != before:
            self.fail(f'undo-inexact:rewind:{s.agent}', f'{different(before, self.bytes_of())[:5]}')
        self.breaks(s, apply, before, changed)
        self.at_once(s, (apply, ('rename', sid, 'At once'), apply), before)

    def check_file(self, s, point, path, name, now, want):
        known, data = s.state_at(point, name)
        if s.world.moved.get(s.project) is not None or now == want.get(name) or (known and now == data):
            return
        kind = 'deletes' if now is None else 'wrong-bytes'
        self.fail(f'rewind-{kind}:{s.agent}', f'{name} at {point}: {short(now)}, was {short(want.get(name))}, saved {short(data) if known else "never"}')

    def check_kept(self, s, point, plan, before, changed, want):
        """Nothing that the session changed stays without a word."""
        told = {f['path'] for f in plan.get('files', ()) if f.get('action') != 'unchanged'}
        for name in s.saved if s.files_exact and s.project not in s.world.moved else ():
            path = f'{s.cwd}/{name}'
            known, data = s.state_at(point, name)
            if known and path not in changed and path not in told and before.get(path, (0, None))[1] != data and data == want.get(name):
                self.fail(f'rewind-silently-keeps:{s.agent}', f'{name} at {point}: {short(before.get(path, (0, None))[1])}, saved {short(data)}')


def short(data):
    return None if data is None else data[:60]


def different(one, two):
    return sorted(p for p in {*one, *two} if one.get(p) != two.get(p))


def marks_of(messages):
    """The markers of a conversation, each once, in order."""
    seen = {}
    for m in messages:
        for mark in MARK.findall(json.dumps(m.get('message', m), ensure_ascii=False)):
            seen.setdefault(mark)
    return list(seen)
