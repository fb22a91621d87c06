"""The agents whose recorded stores are checked. An agent joins with one line of AGENTS, and with a folder of
tests/fixtures/agents: store.tar.gz, trees.tar.gz, expected.json.

`read` turns an expected.json into an Expected. Two shapes are common: a list of sessions with a list of rewinds
(read_sessions), and sessions and trees by label (read_labels).
"""
import fnmatch
import json
import os
import re
from dataclasses import dataclass, field

from made_agents import make_antigravity, make_droid, make_grok, make_kiro, make_vibe


@dataclass
class Session:
    name: str
    id: str
    cwd: str
    prompts: list  # of the conversation that a resume continues
    title: str = ''  # given by a person or the agent; empty: the list shows the first prompt
    listed: bool = True
    lost: bool = False  # the agent's own list deletes it
    command: bool = False  # started by a command: the agent's own list has it only on demand
    parent: str = ''  # the session whose rows this one continues, if they are not copied: damage to them shows in both
    last: str = ''  # the last prompt of the agent's own list, if a rewind dropped it from the conversation
    store: str = ''  # SYSTEM:PATH below the home if it is not in the default place


@dataclass
class Turn:
    session: str  # its id
    number: int  # of the prompt in the conversation that a resume continues, from 0
    before: str  # the tree before the prompt was answered
    end: str  # the tree when the session ended


@dataclass
class Expected:
    home: str
    sessions: list
    turns: list = field(default_factory=list)
    orders: list = field(default_factory=list)  # (directory, ids as the agent's own list shows them, options of the list)
    edits: list = field(default_factory=list)  # turns that cannot be rewound to, whose edits are recorded
    given_back: int = 0  # at least this many turns must be given back whole; 0: as many as of the agent
    written: int = 0  # at least this many lines must be attributed to the turn that wrote them; 0: as many as of the agent


def read_sessions(recorded):
    """{home, sessions: [{name, id, cwd, prompts}], rewinds: [{id, tree_at_the_end, turns: [...]}]}.
    The prompts are a list, or {active, dropped} after a rewind."""
    sessions, active = [], {}
    for s in recorded['sessions']:
        prompts = s['prompts']['active'] if isinstance(s['prompts'], dict) else s['prompts']
        sessions.append(Session(s['name'], s['id'], s['cwd'], list(prompts), title=s.get('title') or ''))
        active[s['id']] = s['prompts']
    turns = []
    for r in recorded['rewinds']:
        prompts = active[r['id']]
        kept = len(prompts['active']) if isinstance(prompts, dict) else len(prompts)
        end = r['tree_at_the_end']
        if end.endswith('.before-rewind'):  # the store is as the agent's own rewind left it
            end = next(t for t in recorded['trees'] if t.startswith(f'{r["session"]}.after-rewind'))
        for t in r['turns']:
            dropped = isinstance(prompts, dict) and t['turn'] >= 1  # the turns after the first one were taken back
            if t['turn'] < kept and not dropped:
                turns.append(Turn(r['id'], t['turn'], t['true_tree_before'], end))
    return Expected(recorded['home'], sessions, turns)


def tree_turns(recorded, folder='trees/'):
    """The turns of {label: {before-turn1, ..., after}}."""
    turns = []
    for label, trees in recorded['trees'].items():
        end = [t for t in ('after', 'before-rewind', 'after-turn2', 'after-turn1') if t in trees]
        turns += [Turn(recorded['labels'][label], int(m.group(1)) - 1, f'{folder}{label}/{t}', f'{folder}{label}/{end[0]}')
                  for t in sorted(trees) if end and (m := re.fullmatch(r'before-turn(\d+)', t))]
    return turns


def read_labels(recorded, prompts_of, home='/home/dev', cwd='cwd', title='name'):
    """{labels: {label: id}, sessions: {label: {...}}, trees: {label: {before-turnK, after}}}; prompts_of(session) returns
    the prompts."""
    sessions = [Session(label, s['id'], s.get(cwd) or home, prompts_of(s), title=s.get(title) or '')
                for label, s in recorded['sessions'].items() if s.get('exists', True)]
    return Expected(home, sessions, tree_turns(recorded))


@dataclass
class Agent:
    name: str
    read: object
    transcripts: tuple  # patterns of the files that damage is done to, below the home
    given_back: int = 0  # at least this many turns must be given back whole
    damaged: object = None  # returns the id of the session that a transcript belongs to; None: the file's stem
    saved: tuple = ()  # patterns of saved copies, whose bytes are never rewritten
    env: object = None
    resume: str = ''  # the commands that resume and fork a session
    fork: str = ''
    answer: object = None  # (what makes it one answer, its output tokens) of a row, or None
    answers: object = None  # the same for all rows of a file, with (input, output, cache read, cache write)
    make: object = None  # writes the fixtures of an agent of which there is no recording (made_agents.py)
    forks: object = None  # the file beside a transcript that names the session of which it is a fork
    documents: tuple = ()  # for `answers`: the pattern of the sessions that are documents, and the member with the rows
    models: bool = True  # the records of some session name its model
    parents: bool = True  # the records tell which session a sub-agent works for
    written: int = 0  # at least this many lines must be attributed to the turn that wrote them

    def verbatim(self, path):
        return any(fnmatch.fnmatch(path, p) for p in self.saved)

    def environment(self, store):
        return self.env(store) if self.env else {}


def read_qwen(recorded):
    """Each *.jsonl of the lists is what `qwen sessions list --json` printed in a project."""
    out = read_sessions(recorded)
    by_id = {s.id: s for s in out.sessions}
    for name, rows in recorded['lists_as_the_agent_shows_them'].items():
        if name.endswith('.jsonl') and rows:
            out.orders.append((rows[0]['cwd'], [r['sessionId'] for r in rows], ()))
            for r in rows:
                by_id[r['sessionId']].title = r['customTitle'] or ''
    return out


def read_pi(recorded):
    """The order is that of pi's screens which show no forks; names are those of `/name` and `--name`."""
    out = read_sessions(recorded)
    names = {'named': 'Die Mühle – größer', 'namedopt': 'Named by option'}
    for s in out.sessions:
        s.title = names.get(s.name, '')
        if s.name == 'flat':
            s.store = 'pi:{home}/flat-session-dir'
    by_title = {(os.path.basename(s.cwd), s.title or s.prompts[0]): s for s in out.sessions if not s.store}
    for name, screen in recorded['lists_as_the_agent_shows_them'].items():
        project, kind = name.split('.', 1)
        titles = [m.group(1) for line in screen if (m := re.match(r'[\u203a ] (\S.*?) {4,}\d+ \d+m$', line))]
        if kind == 'picker.txt' and titles and all((project, t) in by_title for t in titles) and not any('├' in x for x in screen):
            rows = [by_title[project, t] for t in titles]
            out.orders.append((rows[0].cwd, [s.id for s in rows], ()))
    assert out.orders
    return out


def read_kimi(recorded):
    """`kimi session list --json` of each directory. The third prompt of `tui` was undone and typed again."""
    out = read_sessions(recorded)
    by_id = {s.id: s for s in out.sessions}
    for name, rows in recorded['lists_as_the_agent_shows_them'].items():
        if name.endswith('.json') and rows:
            out.orders.append((rows[0]['workDir'], [r['id'] for r in rows], ()))
            for r in rows:
                by_id[r['id']].title = r.get('title', '')
    tui = next(s for s in out.sessions if s.name == 'tui')
    del tui.prompts[2]
    out.turns += [Turn(tui.id, 1, 'tui.before-1', 'tui.after-undo'), Turn(tui.id, 2, 'tui.before-undo', 'tui.after-undo')]
    return out


def qwen_answer(row):
    usage = row.get('usageMetadata')
    return usage and (row['uuid'], usage['totalTokenCount'] - usage['promptTokenCount'])


def pi_answer(row):
    usage = row.get('message', row).get('usage')
    return usage and (row['id'] + row['timestamp'], usage['output'])


def cline_answer(row):
    return row.get('metrics') and (row['id'], row['metrics']['outputTokens'])


HELPERS = 'helper', '01a22a34-0146-7922-9dc4-dd4c99f0c946'  # turns of sub-agents, made and recorded


def grok_answer(row):
    """What a sub-agent used is in the turn of its session."""
    update = row.get('params', {}).get('update', {})
    counts = update.get('sessionUpdate') == 'turn_completed' and update['prompt_id'] not in HELPERS
    return counts and (update['prompt_id'], update['usage']['outputTokens'])


def kimi_answer(row):
    usage = row['usage'] if row.get('type') == 'usage.record' else None
    return usage and (str(row['time']) + str(usage), usage['output'])


def codex_answers(rows):
    """Older threads have running totals only, which are repeated."""
    exact = any(r['type'] == 'token_usage_record' for r in rows)
    for r in rows:
        p = r['payload']
        u = p.get('usage') if r['type'] == 'token_usage_record' else None
        if not exact and p.get('type') == 'token_count' and p.get('info'):
            u = p['info']['last_token_usage']
        if u:
            cached, written = u['cached_input_tokens'], u.get('cache_write_input_tokens', 0)
            yield (p.get('response_id') or json.dumps(p['info']['total_token_usage']) + rows[0]['payload']['id'],
                   (u['input_tokens'] - cached - written, u['output_tokens'], cached, written))


def copilot_answers(rows):
    for r in rows:
        if r['type'] == 'session.usage_record':
            u = r['data']['usage']
            cached, written = u['cacheReadTokens'], u['cacheWriteTokens']
            yield u['apiCallId'], (u['inputTokens'] - cached - written, u['outputTokens'], cached, written)


def gemini_answers(rows):
    for r in rows:
        if r.get('tokens'):
            t = r['tokens']
            yield r['id'], (t['input'] - t['cached'] + t['tool'], t['output'] + t['thoughts'], t['cached'], 0)


def auggie_answers(exchanges):
    for x in exchanges:
        for u in [n['token_usage'] for n in x['exchange']['response_nodes'] if n.get('token_usage')]:
            yield x['exchange']['request_id'], (u['input_tokens'], u['output_tokens'], u['cache_read_input_tokens'],
                                                u['cache_creation_input_tokens'])


def qoder_answers(rows):
    for r in rows:
        u = r.get('message', {}).get('usage')
        if u and u['output_tokens']:  # of its own models it records zeros
            yield r['message']['id'], (u['input_tokens'], u['output_tokens'], u['cache_read_input_tokens'], 0)


def read_opencode(recorded):
    """The messages are the server's answer; a revert of OpenCode's leaves them until the next prompt."""
    def prompts(s):
        since = (s.get('revert') or {}).get('messageID', '~')
        return ['\n'.join(m['text']) for m in s['messages'] if m['role'] == 'user' and m['text'] and m['id'] < since]

    expected = read_labels(recorded, prompts, cwd='directory', title='title')
    expected.given_back, expected.written = recorded.get('given_back', 0), recorded.get('written', 0)
    ends = 'after-vendor-unrevert', 'after-vendor-revert', 'after'
    known = {s.id: s for s in expected.sessions}
    turns = [(label, t) for label in recorded['trees'] for t in recorded['trees'][label] if t.startswith('before-turn')]
    expected.turns = []
    for label, t in turns:
        number = int(t[len('before-turn'):])
        end = next(e for e in ends if e in recorded['trees'][label])
        if number <= len(known[recorded['labels'][label]].prompts):
            # the trees of a fork begin with its own turn
            number = len(known[recorded['labels'][label]].prompts) if label == 'fork-at' else number
            expected.turns.append(Turn(recorded['labels'][label], number - 1, f'trees/{label}/{t}', f'trees/{label}/{end}'))
    for directory, rows in recorded['session_list'].items():
        here = f'/home/dev/{directory}'
        expected.orders.append((here, [r['id'] for r in rows if r['directory'] == here], ()))
    return expected


def read_codex(recorded):
    """Of the program's answers; a fork is told from its parent by its own first prompt."""
    def prompts_of(s):
        return [p for t in s.get('turns', []) for p in t['user']]
    sessions = []
    for label, s in recorded['sessions'].items():
        if 'id' not in s or 'turns' not in s:
            continue  # deleted
        prompts, parent = prompts_of(s), s.get('forkedFromId')
        inherited = sum(len(prompts_of(p)) for p in recorded['sessions'].values() if parent and p.get('id') == parent)
        if label == 'fork-tui':
            inherited -= 1  # the parent went on after the fork
        sessions.append(Session(label, s['id'], s['cwd'], prompts, title=s['name'] or (prompts[inherited] if parent else ''),
                                parent=parent or '', command=s['source'] == 'exec'))
    turns = tree_turns(recorded)
    for t in turns:
        s = next(s for s in recorded['sessions'].values() if s.get('id') == t.session)
        if s.get('forkedFromId'):
            t.number += len(prompts_of(s)) - 1  # the trees of a fork begin with its own prompt
    return Expected('/home/dev', sessions, turns, codex_orders(recorded, sessions))


def codex_orders(recorded, sessions):
    """As its picker sorts: by the last change, with or without what a command started. A thread that was reverted is twice
    in the program's answers, and once in its picker."""
    orders = []
    for answer in recorded['lists']:
        if answer['params'].get('sortKey') != 'updated_at':
            continue
        options = ('--all-kinds',) if 'sourceKinds' in answer['params'] else ()
        shown = list(dict.fromkeys(answer['order']))
        for cwd in sorted({s.cwd for s in sessions}):
            ids = [i for i in shown if any(s.id == i and s.cwd == cwd for s in sessions)]
            if ids:
                orders.append((cwd, ids, options))
    assert len(orders) > 4
    return orders


def read_copilot(recorded):
    """Of the files; what the program's own rewind cut off has no point any more, so only the first turn is left of it."""
    sessions = {}
    for label, s in recorded['sessions'].items():
        named = s['workspace'].get('user_named') == 'true'
        sessions[label] = {**s, 'cwd': s['workspace']['cwd'], 'name': s['workspace']['name'] if named else ''}
    read = read_labels({**recorded, 'sessions': sessions}, lambda s: s['prompts'])
    turns = [t for t in read.turns if 'rewound' not in t.before or t.number == 0]
    for t in turns:
        if 'rewound-files' in t.before:
            t.end = t.before.replace('before-turn1', 'before-turn2')  # a hand edit came before the program's rewind
    return Expected(read.home, read.sessions, turns, copilot_orders(recorded, read.sessions))


def copilot_orders(recorded, sessions):
    """Its picker shows names, those of the present directory first; of two with one name the newer one is above."""
    created = {s['id']: s['workspace']['created_at'] for s in recorded['sessions'].values()}
    orders = []
    for name in sorted({os.path.basename(s.cwd) for s in sessions}):
        here = [s for s in sessions if os.path.basename(s.cwd) == name]
        named = {}
        for s in sorted(here, key=lambda s: created[s.id]):
            named.setdefault(s.title or s.prompts[0], []).append(s.id)
        if 'fork' in recorded['labels'] and name == 'proj':  # named by the program, and begins like its parent
            fork = recorded['labels']['fork']
            title = recorded['sessions']['fork']['workspace']['name']
            named = {k: [i for i in v if i != fork] for k, v in named.items()} | {title: [fork]}
        ids = []
        for line in recorded['screens'].get(f'picker-{name}.txt', []):
            m = re.match(r' +(?:\u276f )?\u25cb (.*?)(?: \([^()]+\))? {2,}', line)
            if m and named.get(m.group(1)):
                ids.append(named[m.group(1)].pop())
        if ids:
            orders.append((here[0].cwd, ids, ()))
    assert orders
    return orders


def read_gemini(recorded):
    """`empty` left no file, and of `lost` only a stub is left. The last start of the program gave three sessions their
    titles after the store was recorded."""
    late = {'umlaut', 'worktree', 'checkpoint2'}
    titles = {m.group(2): m.group(1) for lines in recorded['lists_as_the_agent_shows_them'].values() for line in lines
              if (m := re.match(r' *[0-9]+[.] (.*) [(][^()]* ago[)] \[([0-9a-f-]+)\]', line))}
    sessions = [{**s, 'title': '' if s['name'] in late else titles.get(s['id'], '')}
                for s in recorded['sessions'] if s['prompts'] is not None]
    read = read_sessions({**recorded, 'sessions': sessions})
    for s in read.sessions:
        s.listed = s.name != 'lost'
        s.lost = s.name == 'evening'
    # two prompts of it were typed as one, so the trees are not those of its prompts
    read.turns = [t for t in read.turns if not t.before.startswith('rwcode.')]
    cwd_of = {s.id: s.cwd for s in read.sessions}
    for name, lines in recorded['lists_as_the_agent_shows_them'].items():
        ids = [m.group(1) for line in lines if (m := re.match(r' *[0-9]+[.] .* \[([0-9a-f-]+)\]$', line))]
        known = [i for i in ids if i in cwd_of]
        if known:  # it prints the newest last, and its screen shows it first
            read.orders.append((cwd_of[known[0]], known[::-1], ()))
    assert read.orders
    return read


def gemini_session(path):
    """A file's name has the first 8 digits of its session's id."""
    fixture = os.path.join(os.path.dirname(os.path.abspath(__file__)), '../../../fixtures/agents/gemini/expected.json')
    with open(fixture, encoding='utf-8') as f:
        ids = [s['id'] for s in json.load(f)['sessions']]
    return next(i for i in ids if i.startswith(os.path.basename(path).split('.')[0][-8:]))


def read_made(made):
    return Expected(made['home'], [Session(**s) for s in made['sessions']], [Turn(**t) for t in made['turns']],
                    edits=[Turn(**t) for t in made['edits']], orders=[tuple(o) for o in made['orders']],
                    given_back=made.get('given_back', 0), written=made.get('written', 0))


def read_expected(agent, recorded):
    """Later recordings, in fixtures/agents/more, are described as the stores that were made."""
    return (read_made if 'orders' in recorded else agent.read)(recorded)


AGENTS = {a.name: a for a in (
    Agent('cline', read_made, ('.cline/data/sessions/*/*.json',), written=3, given_back=3, saved=('*/objects/*', '*/index'), answer=cline_answer,
          damaged=lambda path: os.path.basename(os.path.dirname(path)), resume='cline --id {id}'),
    Agent('droid', read_made, ('.factory/sessions/*/*.jsonl', '.factory/sessions/*/*.settings.json'), make=make_droid, written=2, parents=False,
          damaged=lambda path: os.path.basename(path).split('.')[0], resume='droid --resume {id}', fork='droid --fork {id}'),
    Agent('grok', read_made, ('.grok/sessions/%*/*/updates.jsonl', '.grok/sessions/%*/*/rewind_points.jsonl'), make=make_grok, given_back=2, written=2,
          answer=grok_answer,
          damaged=lambda path: os.path.basename(os.path.dirname(path)), resume='grok --resume {id}',
          fork='grok --resume {id} --fork-session'),
    Agent('kiro', read_made, ('.kiro/sessions/cli/*.json*', '.kiro/sessions/*/sess_*/*.json*'), make=make_kiro, written=2, parents=False,
          damaged=lambda path: os.path.basename(path).split('.')[0] if '/cli/' in path else os.path.basename(os.path.dirname(path)),
          resume='kiro-cli chat --resume-id {id}'),
    Agent('vibe', read_made, ('.vibe/logs/session/*/messages.jsonl', '.vibe/logs/session/*/meta.json'), make=make_vibe, written=3,
          damaged=lambda path: os.path.basename(os.path.dirname(path))[-8:], resume='vibe --resume {id}'),
    Agent('gemini', read_gemini, ('.gemini/tmp/*/chats/session-*.jsonl',), given_back=15, damaged=gemini_session,
          answers=gemini_answers, written=24, resume='gemini --resume {id}'),
    Agent('copilot', read_copilot, ('.copilot/session-state/*/events.jsonl',), saved=('.copilot/session-state/*/rewind-file-snapshots/backups/*',),
          damaged=lambda path: os.path.basename(os.path.dirname(path)), given_back=6,
          answers=copilot_answers, written=10, resume='copilot --resume={id}'),
    Agent('codex', read_codex, ('.codex/sessions/*/*/*/*.jsonl',), damaged=lambda path: os.path.basename(path)[28:64], given_back=7,
          answers=codex_answers, written=17, resume='codex resume {id}', fork='codex fork {id}'),
    Agent('kimi', read_kimi, ('.kimi-code/sessions/*/*/agents/main/wire.jsonl', '.kimi-code/sessions/*/*/state.json'),
          given_back=3, written=4, damaged=lambda p: re.search('session_[^/]*', p).group(), saved=('*/file-history/*',), answer=kimi_answer,
          resume='kimi --session {id}', 
          fork='sh -c new=$(kimi fork -y "$1" | sed -n "s/^Forked to \\([^ ]*\\).*/\\1/p") && [ "$new" ] && shift && '
               'exec kimi --session "$new" "$@" kimi {id}',
          forks=lambda path: f'{path.split("/agents/main/")[0]}/state.json'),
    Agent('pi', read_pi, ('.pi/agent/sessions/*/*.jsonl',), damaged=lambda p: re.search('_([^/_]*)[.]jsonl', p).group(1), answer=pi_answer, given_back=1,
          resume='pi --session {path}'),
    Agent('qwen', read_qwen, ('.qwen/projects/*/chats/*.jsonl',), given_back=16, written=26, saved=('*/file-history/*',), answer=qwen_answer,
          resume='qwen --resume {id}', fork='qwen --resume {id} --fork-session', forks=lambda path: path),
    Agent('antigravity', read_made, ('.gemini/antigravity-cli/brain/*/.system_generated/logs/*.jsonl',), make=make_antigravity, models=False,
          damaged=lambda path: path.split('/brain/')[1].split('/')[0], resume='agy --conversation {id}'),
    Agent('auggie', read_made, ('.augment/sessions/????????-*.json',), written=1, models=False, documents=('.augment/sessions/*.json', 'chatHistory'),
          answers=auggie_answers, resume='auggie --resume {id}'),
    Agent('qoder', read_made, ('.qoder/projects/*/*.jsonl',), given_back=1, written=1, saved=('*/file-history/*',), answers=qoder_answers,
          resume='qodercli --resume {id}', fork='qodercli --resume {id} --fork-session', forks=lambda path: path),
    Agent('opencode', read_opencode, (), given_back=7, written=12, saved=('*/objects/??/*', '*/objects/pack/*', '*/index'),
          resume='opencode --session {id}', fork='opencode --session {id} --fork'),
    Agent('kilo', read_opencode, (), given_back=7, written=12, saved=('*/objects/??/*', '*/objects/pack/*', '*/index'),
          resume='kilo --session {id}', fork='kilo --session {id} --fork'),
    Agent('continue', read_made, ('.continue/sessions/????????-*.json',), written=2, resume='cn --fork {id}', fork='cn --fork {id}'),
)}
