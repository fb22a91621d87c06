"""Sessions of Claude Code, written as the client writes them, and what a resume and a rewind of them must give."""
import hashlib
import os
import re
import shutil

from world import Session, encode, past, read, tree

ANSWER = {'type': 'message', 'role': 'assistant', 'model': 'claude-opus-5-5', 'stop_reason': None, 'stop_sequence': None,
          'usage': {'input_tokens': 10, 'output_tokens': 20, 'cache_creation_input_tokens': 0, 'cache_read_input_tokens': 0}}


def folder_of(path):
    return re.sub('[^A-Za-z0-9]', '-', path)


class Claude(Session):
    def __init__(self, world, step, sid=None):
        super().__init__(world, step, 'claude')
        self.sid = sid or world.uuid()
        self.config = f'{world.home}/.claude'
        self.path = f'{self.config}/projects/{folder_of(self.cwd)}/{self.sid}.jsonl'
        self.rows, self.leaf, self.lp = [], None, None
        self.names_leaf = step.get('names_leaf', True)  # clients did not always
        self.tracked = {}  # the newest entry of each file in the running client
        self.versions = {}
        self.order = 0  # counts snapshots and edits
        self.compacted = False  # since the client was started
        self.compactions = 0

    # ---- rows ----

    def add(self, row):
        self.rows.append(row)
        os.makedirs(os.path.dirname(self.path), exist_ok=True)
        with open(self.path, 'ab') as f:
            f.write(encode(row))
        self.times()

    def times(self):
        if not self.world.live:
            os.utime(self.path, ns=(self.world.now * 1_000_000,) * 2)

    def message(self, kind, content, parent='leaf', **more):
        at = self.world.clock()
        row = {'parentUuid': self.leaf if parent == 'leaf' else parent, 'isSidechain': False, 'userType': 'external', 'entrypoint': 'cli',
               'cwd': self.cwd, 'sessionId': self.sid, 'version': '2.1.332', 'gitBranch': 'main', 'type': kind,
               'message': {**(ANSWER if kind == 'assistant' else {}), 'role': kind, 'content': content},
               'uuid': self.world.uuid(), 'timestamp': self.world.iso(at), **more}
        if kind == 'assistant':
            row['message']['id'] = row.pop('msg')
        self.add(row)
        self.last, self.said, self.leaf = at, at, row['uuid']
        return row

    def last_prompt(self):
        if self.names_leaf:
            self.write_last_prompt()

    def write_last_prompt(self):
        self.add({'type': 'last-prompt', 'lastPrompt': self.lp or '', 'leafUuid': self.leaf, 'sessionId': self.sid})

    # ---- saved copies ----

    def backup(self, name):
        """Saves a file as it is now; returns its entry."""
        path = f'{self.cwd}/{name}'
        version = self.versions[name] = self.versions.get(name, 0) + 1
        data, own = read(path), None
        if data is not None:
            own = f'{hashlib.sha256(path.encode()).hexdigest()[:16]}@v{version}'
            self.world.put(f'{self.config}/file-history/{self.sid}/{own}', data)
        entry = {'backupFileName': own, 'version': version, 'backupTime': self.world.iso(self.world.now),
                 'realParentDir': os.path.realpath(os.path.dirname(path))}
        self.saved.setdefault(name, []).append((self.order, version, data))
        self.tracked[name] = (entry, data)
        return entry

    def snapshot(self, point):
        self.order += 1
        for name, (_, data) in list(self.tracked.items()):
            if read(f'{self.cwd}/{name}') != data:
                self.backup(name)
        entries = {name: entry for name, (entry, _) in self.tracked.items()}
        self.add({'type': 'file-history-snapshot', 'messageId': point, 'isSnapshotUpdate': False,
                  'snapshot': {'messageId': point, 'trackedFileBackups': entries, 'timestamp': self.world.iso()}})
        self.at[point] = self.order

    at = None

    def state_at(self, point, name):
        """(known, bytes): the newest state that was saved until the point, else that of version 1."""
        seen = self.saved.get(name, [])
        until = [s for s in seen if s[0] <= self.at[point]]
        if until:
            return True, until[-1][2]
        return (True, seen[0][2]) if seen and seen[0][1] == 1 else (False, None)

    # ---- steps ----

    def step_turn(self, step):
        if self.at is None:
            self.at = {}
        before = self.world.state(self.cwd)
        mark, text = self.say('fix it ' + 'pasted text ' * (step.get('size', 0) // 12))
        content = text
        if step.get('image'):
            content = [{'type': 'text', 'text': text}, {'type': 'image', 'source': {
                'type': 'base64', 'media_type': 'image/png', 'data': 'iVBORw0K' + 'A' * (step['image'] // 4 * 4)}}]
        self.lp = text[:200]
        row = self.message('user', content, promptId=self.world.uuid(), permissionMode='default')
        point = row['uuid']
        self.talk.append(mark)
        self.snapshot(point)
        self.prompts.append((point, mark, before))
        for calls in step.get('calls', ()):
            self.calls(point, calls, step)
        if step.get('answer', True) and not (step.get('killed') and step.get('calls')):
            mark, text = self.say('done')
            self.message('assistant', [{'type': 'text', 'text': text}], msg=f'msg_{mark}')
            self.talk.append(mark)
        if step.get('exit', True):
            self.last_prompt()
        # A client writes the title again when 32 KiB were written behind it.
        with open(self.path, 'rb') as f:
            if self.title and b'"custom-title"' not in f.read()[-32768:]:
                self.step_rename_row({'title': self.title})
        # As the SDK, a list reads 64 KiB of both ends, and leaves out what has no title there.
        if max(step.get('size', 0), step.get('image', 0)) > 50_000:
            self.listed = None

    def calls(self, point, calls, step):
        """Calls of one response, made at once; their results come in any order."""
        message, made = f'msg_{self.world.uuid()}', []
        for call in calls:
            mark = self.world.mark()
            tool = {'type': 'tool_use', 'id': f'toolu_{mark}', **self.tool(call)}
            row = self.message('assistant', [tool], msg=message)
            made.append((row['uuid'], mark, call, tool))
            if call.get('lp') == 'call':
                self.last_prompt()
        if step.get('killed') and calls is step['calls'][-1]:  # before any of them ran
            self.talk += [m for _, m, _, _ in made]
            self.optional |= {m for _, m, _, _ in made}
            return
        results = []
        for i, (uuid, mark, call, tool) in sorted(enumerate(made), key=lambda x: calls[x[0]].get('rank', x[0])):
            result = self.run(point, uuid, call, tool)
            said, text = self.say('result')
            row = self.message('user', [{'type': 'tool_result', 'tool_use_id': f'toolu_{mark}', 'content': text}], parent=uuid,
                               toolUseResult=result, sourceToolAssistantUUID=uuid)
            results.append((i, row['uuid'], said))
            if call.get('lp') == 'result':
                self.last_prompt()
        self.leaf = max(results)[1] if step.get('in_order', True) else results[-1][1]
        self.talk += [m for _, m, _, _ in made] + [said for _, _, said in sorted(results)]

    def tool(self, call):
        path = f'{self.cwd}/{call["file"]}'
        old = read(path)
        if call['how'] in ('remove', 'append'):
            text = f'rm -f {call["file"]}' if call['how'] == 'remove' else f'echo appended {call["n"]} >>"{call["file"]}"'
            return {'name': 'Bash', 'input': {'command': text, 'description': 'change'}}
        if call['how'] == 'edit' and old and old.count(b'\n') > 1:
            lines = old.decode().split('\n')[:-1]
            return {'name': 'Edit', 'input': {'file_path': path, 'old_string': lines[call['n'] % len(lines)],
                                              'new_string': f'changed {call["n"]}', 'replace_all': False}}
        return {'name': 'Write', 'input': {'file_path': path, 'content': ''}}

    def run(self, point, uuid, call, tool):
        """Changes the file; the client saves it before its own first edit in a session."""
        name, path = call['file'], f'{self.cwd}/{call["file"]}'
        self.world.clock()
        if tool['name'] != 'Bash' and name not in self.tracked:
            self.add({'type': 'file-history-delta', 'messageId': uuid, 'snapshotMessageId': point, 'trackingPath': name,
                      'backup': self.backup(name), 'timestamp': self.world.iso()})
        if tool['name'] == 'Edit':
            now = (read(path) or b'').decode()
            old, new = tool['input']['old_string'], tool['input']['new_string']
            after = now.replace(old, new, 1) if old in now else now
            self.world.put(path, after.encode())
            return {'filePath': path, 'oldString': old, 'newString': new, 'originalFile': now, 'structuredPatch': [],
                    'userModified': False, 'replaceAll': False}
        before, after = self.world.change(self.cwd, name, call['how'], call['n'])
        if tool['name'] == 'Bash':
            self.files_exact = self.files_exact and name in self.tracked
            return {'stdout': '', 'stderr': '', 'interrupted': False, 'isImage': False}
        text = (after or b'').decode()
        tool['input']['content'] = text
        self.rewrite(tool)
        return {'type': 'update' if before is not None else 'create', 'filePath': path, 'content': text, 'structuredPatch': [],
                'originalFile': None if before is None else before.decode(), 'userModified': False}

    def rewrite(self, tool):
        """The text of a Write is known only when it runs, but its row comes first."""
        self.save()

    def save(self):
        os.makedirs(os.path.dirname(self.path), exist_ok=True)
        with open(self.path, 'wb') as f:
            f.write(b''.join(r if isinstance(r, bytes) else encode(r) for r in self.rows))
        self.times()

    def step_compact(self, step):
        """What was said before is no longer sent."""
        mark, text = self.say('This session is being continued from a previous conversation. Summary: ')
        at, more = self.world.clock(), {}
        if not self.leaf:
            return
        anchor = self.world.uuid()
        if step.get('keep') and self.talk:
            more = {'preservedSegment': {'headUuid': self.leaf, 'anchorUuid': anchor, 'tailUuid': self.leaf},
                    'preservedMessages': {'anchorUuid': anchor, 'uuids': [self.leaf]}}
            self.optional |= set(self.talk)
        row = {'parentUuid': None, 'logicalParentUuid': self.leaf, 'isSidechain': False, 'type': 'system', 'subtype': 'compact_boundary',
               'content': 'Conversation compacted', 'isMeta': False, 'timestamp': self.world.iso(at), 'uuid': self.world.uuid(),
               'level': 'info', 'compactMetadata': {'trigger': step.get('trigger', 'manual'), 'preTokens': 1322, **more},
               'cwd': self.cwd, 'sessionId': self.sid, 'version': '2.1.332', 'gitBranch': 'main', 'userType': 'external', 'entrypoint': 'cli'}
        self.add(row)
        own = self.message('user', text, parent=row['uuid'], isCompactSummary=True, isVisibleInTranscriptOnly=True)
        if more:
            own['uuid'] = self.leaf = anchor
            self.save()
        self.talk, self.compacted = [mark], True
        self.compactions += 1
        self.last_prompt()

    def step_restart(self, _):
        """The client is started again. It does not load what stands before a compaction, so it tracks no file of then."""
        if self.compacted:
            self.tracked = {}
        self.compacted = False

    def step_rename_row(self, step):
        self.title = step['title']
        self.add({'type': 'custom-title', 'customTitle': self.title, 'sessionId': self.sid})

    def step_metadata(self, step):
        """What a person queues is activity of the session, too; the other rows have no time."""
        for kind in step['kinds']:
            self.last = self.world.clock() if kind == 'queue' and self.last else self.last
            self.add({'tag': {'type': 'tag', 'tag': 'red', 'sessionId': self.sid}, 'mode': {'type': 'mode', 'mode': 'normal', 'sessionId': self.sid},
                      'queue': {'type': 'queue-operation', 'operation': 'enqueue', 'timestamp': self.world.iso(self.last or None), 'sessionId': self.sid,
                                'content': 'x'}}[kind])

    def step_boundary(self, step):
        """A last row of which no client is known: what it says was kept may be anything."""
        if not self.rows or isinstance(self.rows[0], bytes):
            return
        ids = [r['uuid'] for r in self.rows if isinstance(r, dict) and r.get('uuid')]
        pick = [ids[i % len(ids)] for i in step['kept']] if ids else []
        sides, parent = [], self.leaf
        for kind in step['sides']:
            parent = self.message(kind, 'beside', parent=parent, isSidechain=kind == 'user')['uuid']
            sides.append(parent)
        self.add({'parentUuid': None, 'isSidechain': False, **step['more'], 'type': 'system', 'subtype': 'compact_boundary',
                  'logicalParentUuid': self.leaf, 'uuid': self.world.uuid(), 'timestamp': self.world.iso(), 'sessionId': self.sid,
                  'content': 'Conversation compacted', 'cwd': self.cwd,
                  'compactMetadata': {'trigger': 'auto', 'preTokens': 1, 'durationMs': 0, 'preservedMessages': {
                      'anchorUuid': (pick + [None])[0] if step['anchor'] else self.world.uuid(), 'uuids': [*sides, *pick],
                      **({'allUuids': [*sides, *pick]} if step['all'] else {})}}})
        self.exact = False
        self.files_exact = False

    def step_double(self, step):
        """The same id in another project's folder: a part of it, or all, older or with one more turn."""
        if not self.rows:
            return
        other = Claude(self.world, {'s': step['s'], 'project': step['project']}, self.sid)
        if os.path.exists(other.path) or not self.exact:
            return
        rows = self.rows[:max(1, int(len(self.rows) * step['part']))]
        other.rows = [r if isinstance(r, bytes) else {**r, **({'cwd': other.cwd} if 'cwd' in r else {})} for r in rows]
        other.leaf, other.at = self.leaf, {}
        other.save()
        st = os.stat(self.path)
        os.utime(other.path, ns=(past(st.st_mtime_ns + (-3600 if step['older'] else 60) * 1_000_000_000),) * 2)
        self.copies.append(other.path)
        self.exact = False

    def step_touch(self, step):
        """Copied, synchronised or restored: the file is younger than its last message."""
        if self.rows:
            os.utime(self.path, ns=(past(int(self.last + step['days'] * 86_400_000) * 1_000_000),) * 2)

    def step_bom(self, _):
        if self.rows and not isinstance(self.rows[0], bytes):
            self.exact = False  # the client and the SDK lose the first row, and with it a session of one prompt
            self.listed = self.listed if len(self.prompts) > 1 else None
            self.rows[0] = b'\xef\xbb\xbf' + encode(self.rows[0])
            self.save()

    def step_torn(self, step):
        if self.rows:
            data = read(self.path)
            with open(self.path, 'ab') as f:
                f.write(encode({'type': 'user', 'uuid': 'x', 'message': {'role': 'user', 'content': 'torn' * 9}})[:step['bytes']])
            self.torn = len(data)

    def step_mutate(self, step):
        """Damage: rows that are missing, doubled, exchanged, cut or of another id."""
        if len(self.rows) < 2:
            return
        self.rows = mutate(self.rows, step)
        self.exact = self.files_exact = False
        self.listed = None
        self.save()

    def step_folder_link(self, step):
        """The project's folder in the store is a link."""
        folder = os.path.dirname(self.path)
        if os.path.isdir(folder) and not os.path.islink(folder):
            to = f'{self.world.top}/elsewhere-{step["s"]}'
            os.rename(folder, to)
            os.symlink(to, folder)

    def fork(self, step):
        """As the client forks: the same rows under a new id, merged snapshots before them, saved copies as hard links."""
        if not self.rows or not self.exact or any(isinstance(r, bytes) for r in self.rows):
            return None
        new = Claude(self.world, {'s': step['s'], 'project': self.project})
        if os.path.isdir(f'{self.config}/file-history/{self.sid}'):
            shutil.copytree(f'{self.config}/file-history/{self.sid}', f'{self.config}/file-history/{new.sid}', copy_function=os.link)
        merged = {}
        for row in self.rows:
            if row['type'] == 'file-history-snapshot':
                merged[row['messageId']] = dict(row['snapshot']['trackedFileBackups'])
            elif row['type'] == 'file-history-delta':
                merged.setdefault(row['snapshotMessageId'], {})[row['trackingPath']] = row['backup']
        for point, entries in merged.items():
            new.add({'type': 'file-history-snapshot', 'messageId': point, 'isSnapshotUpdate': False,
                     'snapshot': {'messageId': point, 'trackedFileBackups': entries, 'timestamp': self.world.iso()}})
        for row in self.rows:
            if row['type'] in ('user', 'assistant', 'system'):
                new.add({**row, 'sessionId': new.sid})
        for name in ('leaf', 'lp', 'order', 'compacted', 'said', 'compactions'):
            setattr(new, name, getattr(self, name))
        new.last = new.said  # what was queued is not copied
        for name in ('tracked', 'versions', 'at'):
            setattr(new, name, dict(getattr(self, name) or {}))
        new.saved = {k: list(v) for k, v in self.saved.items()}
        new.talk, new.prompts, new.optional = list(self.talk), list(self.prompts), set(self.optional)
        new.last_prompt()
        self.files_exact = new.files_exact = False
        return new


def mutate(rows, step):
    """Rows after one kind of damage; encoded ones are bytes."""
    rows = list(rows)
    i, j = step['row'] % len(rows), step['other'] % len(rows)
    kind = step['kind']
    if kind == 'drop':
        del rows[i]
    elif kind == 'double':
        rows.insert(j, rows[i])
    elif kind == 'swap':
        rows[i], rows[j] = rows[j], rows[i]
    elif kind == 'cut':
        data = rows[i] if isinstance(rows[i], bytes) else encode(rows[i])
        rows[i] = data[:max(1, step['other'] % len(data))] + (b'\n' if step['line'] else b'')
    elif kind == 'nul':
        rows[i] = b'\0' * (step['other'] % 5000 + 1) + b'\n'
    elif kind == 'ids':
        if isinstance(rows[i], dict) and isinstance(rows[j], dict):
            rows[i] = dict(rows[i])
            for key in step['keys']:
                for own in ('uuid', 'id', 'parentUuid', 'parentId', 'leafUuid', 'messageId', 'logicalParentUuid'):
                    if own in rows[i] and key in rows[j]:
                        rows[i][own] = rows[j][key]
                        break
    elif kind == 'value':
        if isinstance(rows[i], dict) and rows[i]:
            key = sorted(rows[i])[step['other'] % len(rows[i])]
            rows[i] = {**rows[i], key: step['value']}
    return rows
