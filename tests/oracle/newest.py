#!/usr/bin/env python3
"""Asks the newest agents whether what reprise reads, resumes and gives back is still true.

usage: newest.py PROGRAM FOLDER [--snapshots] [AGENT[@VERSION]...]

Installs each agent from npm below FOLDER, runs four prompts against a model that is scripted (mock_model.py), and prints a
row for each: whether the list, the prompts and the tokens are those of the session; whether a rewind to each prompt gives
back the tree that stood before it, byte for byte, and an undo the one after; and whether the command that reprise prints
opens that session in a terminal, so that a further prompt lands in it. With --snapshots the hooks of `snapshots on` are in
the agent's configuration, a further prompt runs a shell command that changes, makes, deletes and moves files, and the tree
that each snapshot holds has to be the one that stood there.

It needs the network (npm only), node, git and tmux, and is no part of the suite: the programs change from day to day.
Exit 1 if anything differs. Name versions: an old node installs an old version without a word.
"""
import hashlib
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from dataclasses import dataclass, field

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.dirname(HERE)]

from mock_model import MockModel

from support.program import Program

FIRST, SECOND, THIRD, FOURTH = 'Say what is here', 'Write the notes', 'Write them once more', 'And in the terminal'
SHELL = 'Tidy up with a command'
NOTES = ['one\n', 'two\n', 'three\n']
COMMAND = "printf 'four\\n' > notes.txt && mkdir new && echo made > new/made.txt && rm gone.txt && mv old.txt moved.txt"
TIDIED = {'notes.txt': b'four\n', 'new/made.txt': b'made\n', 'moved.txt': b'old\n'}


@dataclass
class Agent:
    package: str
    version: str
    program: str  # below node_modules
    ask: list     # arguments before the prompt
    again: list   # the same in a session; {id}
    writes: tuple  # the tool, and its arguments for a file and its text
    files: dict = field(default_factory=dict)  # below the home
    env: dict = field(default_factory=dict)
    node: str = ''  # a version, where that of the machine is too old
    reads: str = ''  # the tool that must have read a file before it is written
    sdk: str = ''  # package and version of an SDK that lists the same sessions
    types: bool = False  # it takes further prompts of a session only on its screen
    forks: bool = False  # what reprise resumes is a fork
    shell: tuple = ('bash', lambda command: {'command': command, 'description': 'tidy up'})


def same(prompt, said):
    """True if this is the prompt; `opencode run` puts one of several words into quotes."""
    return (said or '').strip('"') == prompt


def path_and_text(path, text):
    return {'file_path': path, 'content': text}


def pi_write(path, text):
    return {'path': path, 'content': text}


def now_in(path):
    with open(path, encoding='utf-8') as f:
        return f.read()


def edit(path, text):
    return {'path': path, 'old_str': now_in(path).strip(), 'new_str': text.strip()}


def cline_edit(path, text):
    return {'path': path, 'old_text': now_in(path).strip(), 'new_text': text.strip()}


def patch(path, text):
    change = f'@@\n-{now_in(path).strip()}\n+{text.strip()}\n'
    return f'*** Begin Patch\n*** Update File: {os.path.basename(path)}\n{change}*** End Patch\n'


OPENCODE = {'$schema': 'https://opencode.ai/config.json', 'autoupdate': False, 'share': 'disabled', 'permission': 'allow',
            'model': 'mock/mock-model', 'small_model': 'mock/mock-model',
            'provider': {'mock': {'npm': '@ai-sdk/openai-compatible', 'name': 'mock',
                                  'options': {'baseURL': 'http://127.0.0.1:{port}/v1', 'apiKey': 'mock'},
                                  'models': {'mock-model': {'name': 'mock-model', 'tool_call': True,
                                                            'limit': {'context': 100000, 'output': 8000}}}}}}
KILO = {**OPENCODE, '$schema': 'https://kilo.ai/config.json'}
CLINE = {'version': 1, 'lastUsedProvider': 'openai-compatible', 'modes': {},
         'providers': {'openai-compatible': {'updatedAt': '2026-11-30T00:00:00.000Z', 'tokenSource': 'manual', 'settings': {
             'provider': 'openai-compatible', 'apiKey': 'mock', 'model': 'mock-model', 'baseUrl': 'http://127.0.0.1:{port}/v1'}}}}
CONTINUE = '''name: local
version: 1.0.0
schema: v1
models:
  - name: mock-model
    provider: openai
    model: mock-model
    apiBase: http://127.0.0.1:{port}/v1
    apiKey: mock
    roles: [chat]
'''
CODEX = '''model = "gpt-6.1-sol" # one that is given the tool for patches
model_provider = "mock"
approval_policy = "never"
sandbox_mode = "danger-full-access"
check_for_update_on_startup = false
[model_providers.mock]
name = "mock"
base_url = "http://127.0.0.1:{port}/v1"
wire_api = "responses"
env_key = "MOCK_KEY"
[projects."{project}"]
trust_level = "trusted"
'''
KIMI = '''default_model = "mock"
telemetry = false
[providers.local]
type = "openai"
base_url = "http://127.0.0.1:{port}/v1"
api_key = "none"
[models.mock]
provider = "local"
model = "mock-model"
max_context_size = 128000
'''
GROK = '''[models]
default = "mock"
[model.mock]
model = "mock-model"
name = "Mock"
base_url = "http://127.0.0.1:{port}/v1"
api_key = "none"
'''
QUIET = {'privacy': {'usageStatisticsEnabled': False}, 'telemetry': {'enabled': False}}

AGENTS = {
    'claude': Agent('@anthropic-ai/claude-code', '2.1.332', '.bin/claude',
                    ['--permission-mode', 'bypassPermissions', '-p'], ['--resume', '{id}'], ('Write', path_and_text),
                    {'.claude.json': {'hasCompletedOnboarding': True, 'customApiKeyResponses': {'approved': ['mock']},
                                      'projects': {'{project}': {'hasTrustDialogAccepted': True}}}},
                    {'ANTHROPIC_BASE_URL': 'http://127.0.0.1:{port}', 'ANTHROPIC_API_KEY': 'mock',
                     'CLAUDE_CODE_ENABLE_SDK_FILE_CHECKPOINTING': '1', 'IS_SANDBOX': '1',
                     'CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC': '1'}, sdk='@anthropic-ai/claude-agent-sdk@0.3.332',
                    shell=('Bash', lambda command: {'command': command, 'description': 'tidy up'})),
    'codex': Agent('@openai/codex', '0.171.0', '.bin/codex', ['exec', '--skip-git-repo-check'],
                   ['resume', '{id}'], ('apply_patch', patch), {'.codex/config.toml': CODEX}, {'MOCK_KEY': 'mock'},
                   shell=('exec_command', lambda command: {'cmd': command})),
    'copilot': Agent('@github/copilot', '1.0.102', '.bin/copilot', ['--allow-all', '--no-auto-update', '-p'],
                     ['--resume={id}'], ('edit', edit), {},
                     {'COPILOT_OFFLINE': 'true', 'COPILOT_PROVIDER_BASE_URL': 'http://127.0.0.1:{port}/v1',
                      'COPILOT_PROVIDER_API_KEY': 'mock', 'COPILOT_MODEL': 'mock-model', 'COPILOT_ALLOW_ALL': 'true',
                      'COPILOT_PROVIDER_MAX_PROMPT_TOKENS': '100000', 'COPILOT_AUTO_UPDATE': 'false'}),
    'opencode': Agent('opencode-ai', '1.18.33', '.bin/opencode', ['run'], ['--session', '{id}'],
                      ('write', lambda path, text: {'filePath': path, 'content': text}),
                      {'.config/opencode/opencode.json': OPENCODE},
                      {'OPENCODE_DISABLE_AUTOUPDATE': '1', 'OPENCODE_DISABLE_MODELS_FETCH': '1',
                       'OPENCODE_DISABLE_LSP_DOWNLOAD': '1'}),
    'gemini': Agent('@google/gemini-cli', '0.61.0', '.bin/gemini', ['--yolo', '-p'], ['--resume', '{id}'],
                    ('write_file', path_and_text),
                    {'.gemini/settings.json': {'security': {'auth': {'selectedType': 'gemini-api-key'},
                                                            'folderTrust': {'enabled': False}},
                                               'general': {'enableAutoUpdate': False}, **QUIET}},
                    {'GEMINI_API_KEY': 'none', 'GOOGLE_GEMINI_BASE_URL': 'http://127.0.0.1:{port}',
                     'GEMINI_MODEL': 'gemini-2.5-pro'},
                    shell=('run_shell_command', lambda command: {'command': command})),
    'qwen': Agent('@qwen-code/qwen-code', '0.24.4', '.bin/qwen', ['--yolo', '-p'], ['--resume', '{id}'],
                  ('write_file', path_and_text),
                  {'.qwen/settings.json': {'security': {'auth': {'selectedType': 'openai'}},
                                           'general': {'enableAutoUpdate': False}, **QUIET}},
                  {'OPENAI_API_KEY': 'none', 'OPENAI_BASE_URL': 'http://127.0.0.1:{port}/v1',
                   'OPENAI_MODEL': 'mock-model'}, node='22.23.3', reads='read_file',
                  shell=('run_shell_command', lambda command: {'command': command, 'is_background': False})),
    'pi': Agent('@earendil-works/pi-coding-agent', '1.6.0', '.bin/pi', ['-p'], ['--session', '{id}'],
                ('write', pi_write),
                {'.pi/agent/models.json': {'providers': {'local': {
                    'baseUrl': 'http://127.0.0.1:{port}/v1', 'api': 'openai-completions', 'apiKey': 'none',
                    'models': [{'id': 'mock-model'}]}}},
                 '.pi/agent/settings.json': {'defaultProvider': 'local', 'defaultModel': 'mock-model'}},
                {'PI_OFFLINE': '1'}, node='22.23.3'),
    'grok': Agent('@xai-official/grok', '1.0.41', '.bin/grok', ['--always-approve', '-p'], ['--resume', '{id}'],
                  ('write', path_and_text), {'.grok/config.toml': GROK},
                  {'GROK_DISABLE_AUTOUPDATER': '1', 'GROK_TELEMETRY_ENABLED': '0'},
                  shell=('run_terminal_command', lambda command: {'command': command, 'description': 'tidy up'})),
    'kimi': Agent('@moonshot-ai/kimi-code', '2.1.0', '.bin/kimi', ['-p'], ['--session', '{id}'],
                  ('Write', pi_write), {'.kimi-code/config.toml': KIMI}, {'KIMI_CODE_NO_AUTO_UPDATE': '1'},
                  node='22.23.3', shell=('Bash', lambda command: {'command': command})),
    'cline': Agent('cline', '3.0.65', '.bin/cline', [], ['--id', '{id}'], ('editor', cline_edit),
                   {'.cline/data/settings/providers.json': CLINE, '.gitconfig': '[user]\nname = dev\nemail = dev@example.org\n'}, {},
                   types=True),
    'continue': Agent('@continuedev/cli', '1.5.47', '.bin/cn', ['--auto', '-p'], ['--resume'],
                      ('Write', lambda path, text: {'filepath': path, 'content': text}), {'.continue/config.yaml': CONTINUE, '.continue/.onboarding_complete': ''},
                      {'CONTINUE_TELEMETRY_ENABLED': '0'}, node='22.23.3', forks=True),
    # The package with its program; that of @kilocode/cli 7.8.1 has none.
    'kilo': Agent('@kilocode/cli-linux-x64', '7.7.9', '@kilocode/cli-linux-x64/bin/kilo', ['run'], ['--session', '{id}'],
                  ('write', lambda path, text: {'filePath': path, 'content': text}),
                  {'.config/kilo/kilo.json': KILO}, {'KILO_DISABLE_MODELS_FETCH': '1', 'KILO_DISABLE_SESSION_INGEST': '1'}),
}


def tree_of(project):
    """Every file of the project, except what git keeps."""
    found = {}
    for folder, names, files in os.walk(project):
        names[:] = [n for n in names if n != '.git']
        for name in files:
            with open(os.path.join(folder, name), 'rb') as f:
                found[os.path.relpath(os.path.join(folder, name), project)] = f.read()
    return found


class Trial:
    def __init__(self, program, folder, name, version, snapshots=False):
        self.snapshots = snapshots
        self.name, self.agent, self.folder = name, AGENTS[name], os.path.abspath(folder)
        self.version = version or self.agent.version
        self.top = os.path.join(self.folder, 'run', name)
        self.home, self.project = os.path.join(self.top, 'home'), os.path.join(self.top, 'project')
        self.notes = os.path.join(self.project, 'notes.txt')
        tool, arguments = self.agent.writes
        self.model = MockModel({FIRST: [{'text': 'A file of notes.'}], FOURTH: [{'text': 'Here, too.'}]})
        read = [{'tool': self.agent.reads, 'args': {'file_path': self.notes}}] if self.agent.reads else []
        self.change = lambda prompt, text: self.model.script.update(
            {prompt: [*read, {'tool': tool, 'args': arguments(self.notes, text)}, {'text': f'Written: {text.strip()}.'}]})
        self.reprise = Program(program, self.home, {})
        self.trees, self.result = [], {}

    # ---- the agent ----

    def install(self, package, version, folder):
        where = os.path.join(self.folder, folder)
        if not os.path.exists(os.path.join(where, 'node_modules')):
            os.makedirs(where, exist_ok=True)
            subprocess.run(['npm', 'install', '--no-audit', '--no-fund', '--prefix', where, f'{package}@{version}'],
                           check=True, capture_output=True, timeout=900)
        return os.path.join(where, 'node_modules')

    def filled(self, value):
        if isinstance(value, dict):
            return {self.filled(k): self.filled(v) for k, v in value.items()}
        if isinstance(value, list):
            return [self.filled(v) for v in value]
        if isinstance(value, str):
            return value.replace('{port}', str(self.model.port)).replace('{project}', self.project)
        return value

    def prepare(self):
        modules = self.install(self.agent.package, self.version, self.name)
        self.end_daemons()
        shutil.rmtree(self.top, ignore_errors=True)
        os.makedirs(self.home)
        os.makedirs(self.project)
        self.program = os.path.join(modules, self.agent.program)
        path = [os.path.dirname(self.program), os.environ['PATH']]
        if self.agent.node:
            path.insert(0, os.path.join(self.install('node', self.agent.node, f'node-{self.agent.node}'), '.bin'))
        self.env = {'HOME': self.home, 'PATH': ':'.join(path), 'TERM': 'xterm-256color', 'LANG': 'C.UTF-8', 'TZ': 'UTC',
                    'USER': 'dev', 'NO_PROXY': '*', **self.filled(self.agent.env)}
        for name, content in self.agent.files.items():
            file = os.path.join(self.home, name)
            os.makedirs(os.path.dirname(file), exist_ok=True)
            with open(file, 'w', encoding='utf-8') as f:
                f.write(self.filled(content) if isinstance(content, str) else json.dumps(self.filled(content)))
        for name, text in ('notes.txt', NOTES[0]), ('gone.txt', 'gone\n'), ('old.txt', 'old\n'):
            if name == 'notes.txt' or self.snapshots:
                with open(os.path.join(self.project, name), 'w', encoding='utf-8') as f:
                    f.write(text)
        if self.snapshots:
            for folder in '.claude', '.copilot': # which those agents make when they are started
                os.makedirs(os.path.join(self.home, folder), exist_ok=True)
            on = self.reprise.run('snapshots', 'on', self.name, '--yes')
            if on.returncode:
                raise RuntimeError(f'snapshots on: {on.stderr.decode()}')
            if self.name == 'codex':
                self.trust_hooks()
        git = ['git', '-C', self.project, '-c', 'user.name=dev', '-c', 'user.email=dev@example.org']
        for args in (['init', '-q', '-b', 'main'], ['add', '-A'], ['commit', '-q', '-m', 'first']):
            subprocess.run([*git, *args], check=True, env={**self.env, 'GIT_CONFIG_GLOBAL': '/dev/null'})

    def trust_hooks(self):
        """What Codex writes when a person trusts the hooks in /hooks."""
        with open(os.path.join(self.home, '.codex/hooks.json'), encoding='utf-8') as f:
            hooks = json.load(f)['hooks']
        with open(os.path.join(self.home, '.codex/config.toml'), 'a', encoding='utf-8') as f:
            for event, key in ('UserPromptSubmit', 'user_prompt_submit'), ('Stop', 'stop'), ('Interrupt', 'interrupt'):
                hook = {'async': False, **hooks[event][0]['hooks'][0]}
                hook['timeout'] = min(hook['timeout'], 3 if event == 'Interrupt' else hook['timeout'])
                identity = {'event_name': key, 'hooks': [hook]}
                trusted = hashlib.sha256(json.dumps(identity, separators=(',', ':'), sort_keys=True).encode()).hexdigest()
                f.write(f'[hooks.state."{self.home}/.codex/hooks.json:{key}:0:0"]\ntrusted_hash = "sha256:{trusted}"\n')

    def end_daemons(self):
        """What an agent leaves running, Codex its server: found by its home, which nobody else has."""
        for pid in filter(str.isdigit, os.listdir('/proc')):
            try:
                with open(f'/proc/{pid}/environ', 'rb') as f:
                    if f'HOME={self.home}'.encode() in f.read().split(b'\0'):
                        os.kill(int(pid), signal.SIGKILL)
            except OSError:
                pass

    def ask(self, prompt, id=None):
        again = [a.replace('{id}', id) for a in self.agent.again] if id else []
        ask = self.agent.ask
        if id and self.agent.types:
            screen = self.type_prompt([self.program, *again], self.project, prompt)
            if screen:
                raise RuntimeError(f'{prompt}: it did not arrive: {screen}')
            return
        # Options stand before the prompt's own option, and a subcommand after the command that it belongs to.
        args = [*ask[:-1], *again, ask[-1], prompt] if ask[-1:] == ['-p'] else [*ask, *again, prompt]
        run = subprocess.run([self.program, *args], cwd=self.project, env=self.env, stdin=subprocess.DEVNULL,
                             capture_output=True, timeout=180, check=False)
        if run.returncode:
            raise RuntimeError(f'{prompt}: exit {run.returncode}: {(run.stderr or run.stdout)[-600:].decode(errors="replace")}')

    def row(self):
        rows = self.reprise.json('list', '--all', '--all-kinds', '--system', self.name, missing=[])
        rows = [r for r in rows if same(FIRST, r.get('firstPrompt'))]
        if len(rows) != 1:
            raise RuntimeError(f'the list has {len(rows)} sessions with this prompt')
        return rows[0]

    def converse(self):
        """Three prompts, of which two change a file; the trees before each and after the last."""
        self.trees.append(tree_of(self.project))
        self.ask(FIRST)
        self.id = self.row()['sessionId']
        for prompt, text in (SECOND, NOTES[1]), (THIRD, NOTES[2]):
            self.trees.append(tree_of(self.project))
            self.change(prompt, text)
            self.ask(prompt, self.id)
        self.trees.append(tree_of(self.project))
        self.result['agent'] = 'ok' if self.trees[3]['notes.txt'] == NOTES[2].encode() else f'wrote {self.trees[3]}'
        if self.snapshots:
            tool, arguments = self.agent.shell
            self.model.script[SHELL] = [{'tool': tool, 'args': arguments(COMMAND)}, {'text': 'Tidied up.'}]
            self.ask(SHELL, self.id)
            self.trees.append(tree_of(self.project))
            if self.trees[4] != TIDIED:
                self.result['agent'] = f'the command left {self.trees[4]}'

    # ---- what reprise says ----

    def asked(self):
        return [FIRST, SECOND, THIRD, *([SHELL] if self.snapshots else [])]

    def judge_list(self):
        row = self.row()
        wrong = [f'{k} {row.get(k)!r}' for k, want in (('cwd', self.project), ('lastPrompt', self.asked()[-1])) if not same(want, row.get(k))]
        self.result['list'] = ', '.join(wrong) or 'ok'

    def messages(self, id=None):
        return self.reprise.run('messages', '--all', f'{self.name}:{id or self.id}').stdout.decode()

    def prompts(self, id=None):
        return [line[2:].strip('"') for line in self.messages(id).split('\n') if line.startswith('> ')]

    def judge_messages(self):
        got = self.prompts()
        self.result['prompts'] = 'ok' if got == self.asked() else f'{got}'

    def judge_sdk(self):
        """Every member that the vendor's SDK gives to a session has this value in the list."""
        if not self.agent.sdk:
            return
        package, _, version = self.agent.sdk.rpartition('@')
        module = os.path.join(self.install(package, version, f'{self.name}-sdk'), package, 'sdk.mjs')
        ask = f'import({json.dumps(module)}).then(async m => console.log(JSON.stringify(await m.listSessions())))'
        run = subprocess.run(['node', '-e', ask], env=self.env, capture_output=True, timeout=60, check=True)
        want = json.loads(run.stdout)
        got = self.reprise.json('list', '--all', '--system', self.name, '--sort=modified')
        wrong = [f'{k}: {r.get(k)!r}, the SDK {v!r}' for w, r in zip(want, got) for k, v in w.items() if r.get(k) != v]
        self.result['sdk'] = ', '.join(wrong) or ('ok' if len(want) == len(got) == 1 else f'{len(got)}, the SDK {len(want)}')

    def held(self, copies, tree):
        """The files of a snapshot. What did not change since the commit is only in the project's own repository."""
        git = ['git', '-c', 'core.quotePath=false', '--git-dir', copies]
        env = {**os.environ, 'GIT_ALTERNATE_OBJECT_DIRECTORIES': os.path.join(self.project, '.git/objects')}
        names = subprocess.run([*git, 'ls-tree', '-r', '-z', '--name-only', str(tree)], capture_output=True, check=False)
        return {name: subprocess.run([*git, 'cat-file', '-p', f'{tree}:{name}'], capture_output=True, check=False, env=env).stdout
                for name in names.stdout.decode().split('\0') if name}

    def judge_hooks(self):
        """One snapshot before each prompt and one after it, of this session, with the trees that stood there."""
        if not self.snapshots:
            return
        copies = os.path.join(self.home, '.local/state/reprise/copies')
        logs = [os.path.join(copies, x) for x in os.listdir(copies)] if os.path.exists(copies) else []
        if len(logs) != 1:
            self.result['hooks'] = f'{len(logs)} projects have snapshots'
            return
        with open(os.path.join(logs[0], 'log'), encoding='utf-8') as f:
            lines = [json.loads(line) for line in f]
        wrong, asked = [], 0
        for line in lines:
            if line['kind'] == 'prompt':
                asked += 1
            number = asked - 1 if line['kind'] == 'prompt' else asked
            held = self.held(logs[0], line.get('tree'))
            if number >= len(self.trees) or held != self.trees[number]:
                wrong.append(f'{line["kind"]} {asked}: {held}')
            if line['session'] != self.id and not self.id.endswith(line['session']):
                wrong.append(f'session {line["session"]}')
        kinds = ' '.join(line['kind'] for line in lines)
        if kinds != ' '.join(['prompt end'] * len(self.asked())):
            wrong.append(kinds)
        self.result['hooks'] = ', '.join(wrong) or 'ok'

    def judge_rewinds(self):
        said = []
        points = self.reprise.run('checkpoints', '--json', '--all', f'{self.name}:{self.id}')
        reason = points.stderr.decode().strip()
        points = [p for p in json.loads(points.stdout or b'[]') if not same(FIRST, p.get('prompt'))]
        if not points:
            said.append(f'held back ({reason})' if reason else 'no points, and no reason')
        for point in points:
            number = next(i for i, asked in enumerate(self.asked()) if same(asked, point['prompt']))
            to = ['--all', '-C', self.project, f'{self.name}:{self.id}', '--to', point['id']]
            plan = json.loads(self.reprise.run('rewind', '--json', *to, '--dry-run').stdout or b'{}')
            if not plan.get('canRewind') or not plan.get('filesChanged'):
                why = plan.get('error') or next((f.get('why') for f in plan.get('files', []) if f.get('why')), None)
                said.append(f'{number + 1}: held back ({why or point.get("why")})')
                continue
            done = json.loads(self.reprise.run('rewind', '--json', *to, '--apply', '--plan', plan['plan']).stdout or b'{}')
            if tree_of(self.project) != self.trees[number]:
                said.append(f'{number + 1}: WRONG TREE {tree_of(self.project)}')
            self.reprise.run('undo', *([done['undo']] if done.get('undo') else []))
            if tree_of(self.project) != self.trees[-1]:
                said.append(f'{number + 1}: UNDO DIFFERS {tree_of(self.project)}')
        self.result['rewind'] = '; '.join(said) or 'ok'

    def opened(self):
        """The session that the printed command opens."""
        rows = self.reprise.json('list', '--all', '--system', self.name, missing=[]) if self.agent.forks else []
        return next((r['sessionId'] for r in rows if r['sessionId'] != self.id), self.id)

    def type_prompt(self, command, cwd, prompt):
        """Types a prompt on the screen of the agent, and ends it when the session has the answer. Returns the last screen if the
        model was not asked."""
        socket = os.path.join(self.top, 'tmux')

        def tmux(*args):
            return subprocess.run(['tmux', '-S', socket, '-f', '/dev/null', *args], env=self.env, capture_output=True,
                                  check=False).stdout.decode(errors='replace')

        tmux('new-session', '-d', '-s', 'resume', '-x', '120', '-y', '40', '-c', cwd, *command)
        screen, since, until = None, time.time(), time.time() + 180
        while time.time() < until and not self.model.saw(FIRST, prompt):
            now = tmux('capture-pane', '-p', '-t', 'resume')
            if now != screen:
                screen, since = now, time.time()
            elif now.strip() and time.time() - since > 3: # nothing moves: it waits for somebody
                if prompt not in now and not re.search(r'(?i)do you trust|trust (this|the) |yes, (proceed|i trust)', now):
                    tmux('send-keys', '-t', 'resume', '-l', prompt)
                    time.sleep(1)
                tmux('send-keys', '-t', 'resume', 'Enter')
                since = time.time()
            time.sleep(0.25)
        landed = self.model.saw(FIRST, prompt)
        for _ in range(80):
            if not landed or self.model.script[prompt][-1]['text'] in self.messages(self.opened()):
                break
            time.sleep(0.25)
        tmux('kill-server')
        return '' if landed else ' | '.join(x.strip() for x in (screen or '').split('\n') if x.strip())[-300:] or 'no screen'

    def judge_resume(self):
        """The printed command in a terminal: a further prompt lands in this session."""
        answer = json.loads(self.reprise.run('--all', '--print', '--json', '--resume', f'{self.name}:{self.id}').stdout or b'{}')
        if not answer.get('command'):
            self.result['resume'] = f'no command: {answer}'
            return
        screen = self.type_prompt(answer['command'], answer['cwd'], FOURTH)
        if screen:
            self.result['resume'] = f'the prompt did not arrive: {screen}'
        else:
            got = self.prompts(self.opened())
            self.result['resume'] = 'ok' if got == [*self.asked(), FOURTH] else f'another session: {got}'

    def run(self):
        for step in (self.prepare, self.converse, self.judge_list, self.judge_messages, self.judge_sdk, self.judge_hooks, self.judge_rewinds,
                     self.judge_resume):
            try:
                step()
            except (RuntimeError, OSError, ValueError, subprocess.SubprocessError, SystemExit) as e:
                self.result[step.__name__.replace('judge_', '')] = f'{e}'[:700]
                if step in (self.prepare, self.converse):
                    break
        self.end_daemons()
        return self.result


def main():
    snapshots = '--snapshots' in sys.argv
    program, folder, *wanted = [a for a in sys.argv[1:] if a != '--snapshots']
    failed = 0
    for name in wanted or AGENTS:
        name, _, version = name.partition('@')
        result = Trial(program, folder, name, version, snapshots).run()
        failed += any(v != 'ok' and 'held back' not in v for v in result.values())
        print(f'{name} {version or AGENTS[name].version}:', *(f'\n  {k:8} {v}' for k, v in result.items()), flush=True)
    sys.exit(1 if failed else 0)


if __name__ == '__main__':
    main()
