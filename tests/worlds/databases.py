"""Sessions of the agents that keep all of them as rows of one database: OpenCode, and Kilo, which is a fork of it."""
import hashlib
import json
import os
import shutil
import sqlite3
import subprocess

from others import Log

# As these agents make them, without the columns that may be empty and that nobody reads.
TABLES = '''
CREATE TABLE IF NOT EXISTS project (id text PRIMARY KEY, worktree text NOT NULL, vcs text, name text, time_created integer NOT NULL,
    time_updated integer NOT NULL, time_initialized integer, sandboxes text NOT NULL, commands text);
CREATE TABLE IF NOT EXISTS session (id text PRIMARY KEY, project_id text NOT NULL REFERENCES project(id) ON DELETE CASCADE, workspace_id text,
    parent_id text, slug text NOT NULL, directory text NOT NULL, path text, title text NOT NULL, version text NOT NULL, share_url text,
    summary_additions integer, summary_deletions integer, summary_files integer, summary_diffs text, metadata text, cost real DEFAULT 0 NOT NULL,
    tokens_input integer DEFAULT 0 NOT NULL, tokens_output integer DEFAULT 0 NOT NULL, tokens_reasoning integer DEFAULT 0 NOT NULL,
    tokens_cache_read integer DEFAULT 0 NOT NULL, tokens_cache_write integer DEFAULT 0 NOT NULL, revert text, permission text, agent text, model text,
    time_created integer NOT NULL, time_updated integer NOT NULL, time_compacting integer, time_archived integer);
CREATE TABLE IF NOT EXISTS message (id text PRIMARY KEY, session_id text NOT NULL REFERENCES session(id) ON DELETE CASCADE,
    time_created integer NOT NULL, time_updated integer NOT NULL, data text NOT NULL);
CREATE TABLE IF NOT EXISTS part (id text PRIMARY KEY, message_id text NOT NULL REFERENCES message(id) ON DELETE CASCADE, session_id text NOT NULL,
    time_created integer NOT NULL, time_updated integer NOT NULL, data text NOT NULL);
CREATE INDEX IF NOT EXISTS message_session_time_created_id_idx ON message (session_id, time_created, id);
CREATE INDEX IF NOT EXISTS part_message_id_id_idx ON part (message_id, id);
CREATE INDEX IF NOT EXISTS part_session_idx ON part (session_id);
'''


class OpenCode(Log):
    name = 'opencode'

    def __init__(self, world, step, sid=None):
        self.reverted = None  # the first message that no longer counts
        self.steps = []  # those of the model that changed files: message, {name: bytes before it}
        super().__init__(world, step, sid)

    def new_id(self):
        return f'ses_{self.world.uuid().replace("-", "")[:26]}'

    def where(self):
        return f'{self.world.home}/.local/share/{self.agent}/{self.agent}.db'

    def ordered(self, kind):
        """Ids of messages and parts are in the order in which they were made."""
        self.world.ids += 1
        return f'{kind}_{self.world.ids:012x}001AbCdEfGhIjKlMn'

    def open(self):
        os.makedirs(os.path.dirname(self.path), exist_ok=True)
        db = sqlite3.connect(self.path, isolation_level=None)
        db.execute('PRAGMA journal_mode=WAL')
        return db

    def run_sql(self, *statements):
        """In one transaction."""
        db = self.open()
        db.execute('BEGIN')
        for sql, values in statements:
            db.execute(sql, values)
        db.execute('COMMIT')
        db.close()
        self.times()

    def add(self, *rows):
        self.rows += rows
        statements = [(f'INSERT INTO {table} ({", ".join(row)}) VALUES ({", ".join("?" * len(row))})', list(row.values())) for table, row in rows]
        last = max((row['time_updated'] for _, row in rows), default=0)
        self.run_sql(*statements, ('UPDATE session SET time_updated = max(time_updated, ?) WHERE id = ?', (last, self.sid)))

    # ---- the project ----

    def git(self, *args, folder=None):
        env = {'PATH': os.environ['PATH'], 'HOME': self.world.home, 'GIT_CONFIG_NOSYSTEM': '1', **({'GIT_DIR': folder, 'GIT_WORK_TREE': self.cwd} if folder else {})}
        run = subprocess.run(['git', '-c', 'core.autocrlf=false', '-c', 'core.quotepath=false', *args], cwd=self.cwd, capture_output=True, env=env, check=True)
        return run.stdout.decode().strip()

    def head(self, at):
        db = self.open()
        db.executescript(TABLES)
        self.is_git = os.path.isdir(f'{self.cwd}/.git')
        self.project_id = self.git('rev-list', '--max-parents=0', 'HEAD').split()[0] if self.is_git else 'global'
        self.root = self.cwd if self.is_git else '/'
        self.files_exact = self.is_git
        db.execute('INSERT OR IGNORE INTO project (id, worktree, vcs, time_created, time_updated, sandboxes) VALUES (?, ?, ?, ?, ?, ?)',
                   (self.project_id, self.root, 'git' if self.is_git else None, at, at, '[]'))
        db.close()
        self.title = f'New session - {self.world.iso(at)}'
        return [('session', {'id': self.sid, 'project_id': self.project_id, 'slug': 'kind-rocket', 'directory': self.cwd, 'path': '', 'title': self.title,
                             'version': '1.18.33', 'agent': 'build', 'model': json.dumps({'id': 'mock-model', 'providerID': 'mock'}),
                             'time_created': at, 'time_updated': at})]

    def snapshot(self):
        """The tree of the project in a repository of the agent's own, which borrows objects from the project's; None outside of git."""
        if not self.is_git:
            return None
        folder = f'{os.path.dirname(self.path)}/snapshot/{self.project_id}/{hashlib.sha1(self.root.encode()).hexdigest()}'
        if not os.path.isdir(folder):
            os.makedirs(folder)
            self.git('init', '-q', folder=folder)
            with open(f'{folder}/objects/info/alternates', 'w', encoding='utf-8') as f:
                f.write(f'{self.cwd}/.git/objects\n')
        self.git('add', '--all', '.', folder=folder)
        return self.git('write-tree', folder=folder)

    # ---- messages ----

    def message(self, at, **data):
        id = self.ordered('msg')
        self.last_id = id
        return 'message', {'id': id, 'session_id': self.sid, 'time_created': at, 'time_updated': at, 'data': json.dumps(data, ensure_ascii=False)}

    def part(self, at, **data):
        return 'part', {'id': self.ordered('prt'), 'message_id': self.last_id, 'session_id': self.sid, 'time_created': at, 'time_updated': at,
                        'data': json.dumps(data, ensure_ascii=False, separators=(',', ':'))}

    def reply(self, at, finish):
        return self.message(at, parentID=self.prompts[-1][0], role='assistant', mode='build', agent='build', path={'cwd': self.cwd, 'root': self.root}, cost=0,
                            tokens={'input': 10, 'output': 5, 'reasoning': 0, 'cache': {'read': 0, 'write': 0}}, modelID='mock-model', providerID='mock',
                            time={'created': at, 'completed': at}, finish=finish)

    def step_turn(self, step):
        self.image = step.get('image', 0)
        if self.reverted: # a new prompt deletes what no longer counts
            number = next(i for i, p in enumerate(self.prompts) if p[0] == self.reverted)
            del self.talk[self.talk.index(self.prompts[number][1]):]
            del self.prompts[number:]
            self.run_sql(('DELETE FROM part WHERE session_id = ? AND message_id >= ?', (self.sid, self.reverted)),
                         ('DELETE FROM message WHERE session_id = ? AND id >= ?', (self.sid, self.reverted)),
                         ('UPDATE session SET revert = NULL WHERE id = ?', (self.sid,)))
            self.steps = [s for s in self.steps if s[0] < self.reverted]
            self.saved = {name: [] for _, files in self.steps for name in files}
            self.reverted, self.optional = None, set()
        super().step_turn(step)

    def prompt(self, at, text):
        first, _, rest = text.partition('\n')
        rows = [('message', {**self.message(at)[1], 'data': json.dumps({'role': 'user', 'time': {'created': at}, 'agent': 'build'}, separators=(',', ':'))}),
                self.part(at, type='text', text=first)]
        if rest:
            rows += [self.part(at, type='text', text='Called the Read tool', synthetic=True), self.part(at, type='text', text=rest)]
        if self.image:
            rows.append(self.part(at, type='file', mime='image/png', filename='a.png', url='data:image/png;base64,' + 'A' * self.image))
        return rows

    def point(self):
        return self.last_id

    def ended(self, tree, **more):
        return {'type': 'step-finish', **({'snapshot': tree} if tree else {}), 'cost': 0, 'tokens': {'input': 10, 'output': 5, 'reasoning': 0,
                                                                                                      'cache': {'read': 0, 'write': 0}}, **more}

    def began(self, tree):
        return {'type': 'step-start', **({'snapshot': tree} if tree else {})}

    def work(self, step):
        """A message for each step of the model: the trees before and after it, and its calls."""
        last = None
        for group in step.get('calls', ()):
            at, before = self.world.clock(), self.snapshot()
            rows, files = [self.reply(at, 'tool-calls'), self.part(at, **self.began(before))], {}
            for call in {c['file']: c for c in group}.values():
                old, new = self.world.change(self.cwd, call['file'], call['how'], call['n'])
                path, tool = f'{self.cwd}/{call["file"]}', 'write'
                arguments = {'filePath': path, 'content': (new or b'').decode()}
                if call['how'] in ('append', 'remove'):
                    tool = 'bash'
                    arguments = {'command': f'echo appended {call["n"]} >> "{call["file"]}"' if call['how'] == 'append' else f'rm "{call["file"]}"', 'description': 'x'}
                elif call['how'] == 'edit' and old:
                    tool, arguments = 'edit', {'filePath': path, 'oldString': old.decode(), 'newString': (new or b'').decode()}
                rows.append(self.part(at, type='tool', tool=tool, callID=f'call_{self.world.ids}', state={
                    'status': 'completed', 'input': arguments, 'output': 'done', 'title': call['file'], 'metadata': {}, 'time': {'start': at, 'end': at}}))
                if old != new:
                    files[call['file']] = old
            last, after = self.world.clock(10), self.snapshot()
            rows.append(self.part(last, **self.ended(after, reason='tool-calls')))
            if before and before != after:
                rows.append(self.part(last, type='patch', hash=before, files=[f'{self.cwd}/{name}' for name in files]))
                self.steps.append((self.last_id, files))
                self.saved |= {name: [] for name in files}
            self.add(*rows)
        return last

    def state_at(self, point, name):
        """What the tree before the first step from the point on has that changed the file; changes between steps stay."""
        return next(((True, files[name]) for own, files in self.steps if own >= point and name in files), (False, None))

    def answer(self, at, text):
        tree = self.snapshot()
        rows = [self.reply(at, 'stop'), self.part(at, **self.began(tree)), self.part(at, type='text', text=text, time={'start': at, 'end': at}),
                self.part(at, **self.ended(tree, reason='stop'))]
        if self.title.startswith('New session'):
            self.title = f'{self.prompts[0][1]} in short'
            self.run_sql(('UPDATE session SET title = ? WHERE id = ?', (self.title, self.sid)))
        return rows

    # ---- what happens to it ----

    def step_bom(self, _):
        """A database has none."""

    def step_double(self, step):
        """All projects share one database."""

    def step_torn(self, step):
        """The agent was killed: what it wrote last is in the write-ahead log alone, of which a part may be missing."""
        db = self.open()
        db.execute('UPDATE session SET time_compacting = ? WHERE id = ?', (self.world.now, self.sid))
        for suffix in '', '-wal':
            shutil.copyfile(self.path + suffix, f'{self.path}{suffix}.killed')
        db.close()
        for suffix in '', '-wal':
            os.rename(f'{self.path}{suffix}.killed', self.path + suffix)
        size = os.path.getsize(f'{self.path}-wal')
        os.truncate(f'{self.path}-wal', max(0, size - step['bytes'] % 2 * step['bytes']))
        self.times()

    def step_mutate(self, step):
        """A row is missing, or what is in it is not what it should be."""
        rows = [(table, row) for table, row in self.rows if table != 'session']
        if not rows:
            return
        table, row = rows[step['row'] % len(rows)]
        data = row['data']
        if step['kind'] == 'drop':
            self.run_sql((f'DELETE FROM {table} WHERE id = ?', (row['id'],)))
        elif step['kind'] == 'cut':
            self.run_sql((f'UPDATE {table} SET data = ? WHERE id = ?', (data[:step['other'] % len(data)], row['id'])))
        elif step['kind'] == 'nul':
            self.run_sql((f'UPDATE {table} SET data = ? WHERE id = ?', (b'\0' * (step['other'] % 5000), row['id'])))
        elif step['kind'] in ('value', 'double', 'swap'):
            made = json.loads(data)
            keys = sorted(made)
            made[keys[step['other'] % len(keys)]] = step['value']
            self.run_sql((f'UPDATE {table} SET data = ? WHERE id = ?', (json.dumps(made).encode('utf-8', 'surrogatepass'), row['id'])))
        else:
            self.run_sql((f'UPDATE {table} SET time_created = ? WHERE id = ?', (f'{step["value"]!r}', row['id'])))
        self.exact, self.files_exact, self.listed = False, False, None

    def step_revert(self, step):
        """Its own revert: files are what they were before the first step that changed them, and the messages stay, but no longer
        count."""
        if self.prompts:
            point, mark, _ = self.prompts[step['turn'] % len(self.prompts)]
            self.reverted = point
            self.run_sql(('UPDATE session SET revert = ? WHERE id = ?', (json.dumps({'messageID': point}), self.sid)))
            self.optional |= set(self.talk[self.talk.index(mark):])
            before = {}
            for own, files in self.steps:
                before = {**files, **before} if own >= point else before
            for name, data in before.items():
                path = f'{self.cwd}/{name}'
                if data is not None:
                    self.world.put(path, data)
                elif os.path.exists(path):
                    os.unlink(path)


class Kilo(OpenCode):
    name = 'kilo'


AGENTS = {a.name: a for a in (OpenCode, Kilo)}
