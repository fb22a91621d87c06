"""Sessions that the vendor's SDK writes into a store are read by reprise, and the reverse, for each server and both schemas of PostgreSQL.
   usage: session_stores.py REPRISE PLUGINS CONFORMANCE [FOLDER [PLACE_OF_ANOTHER_S3]]

FOLDER (default: SESSION_STORES of the environment) is not part of this repository; without it this prints a line and ends well. It has

- what npm install @anthropic-ai/claude-agent-sdk tsx @aws-sdk/client-s3 ioredis pg s3rver puts there,
- session-stores: the folder examples/session-stores of the SDK's repository for TypeScript,
- session_stores: the folder examples/session_stores of the SDK's repository for Python; without it that part is left out,
- python/run: a Python that has the packages claude-agent-sdk and asyncpg.

PLACE_OF_ANOTHER_S3: http://HOST:PORT with a bucket "team", whose keys are in AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY."""
import json
import os
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from support import postgresql_server, redis_server, s3_server  # noqa: E402
from support.program import Program  # noqa: E402
from support.team_store import ONE, Team, put  # noqa: E402

HERE = os.path.dirname(os.path.abspath(__file__))


def row(number, role, content, **more):
    return json.dumps({'parentUuid': f'00000000-0000-4000-8000-{number - 1:012d}' if number else None, 'isSidechain': False, 'cwd': '/w', 'gitBranch': 'main',
                       'sessionId': ONE, 'version': '2.0.0', 'type': role, 'uuid': f'00000000-0000-4000-8000-{number:012d}',
                       'timestamp': f'2026-03-01T10:00:{number:02d}.000Z', 'message': {'role': role, 'content': content}, **more}, ensure_ascii=False)


def make_session(folder):
    rows = [row(n, 'user' if n % 2 == 0 else 'assistant', f'Text {n} ü\u2028 "quoted" \\ 1e400' if n % 2 == 0 else [{'type': 'text', 'text': f'Answer {n}'}],
                big=12345678901234567 + n) for n in range(20)]
    agent = [row(n, 'user' if n % 2 == 0 else 'assistant', f'Agent {n}', isSidechain=True, agentId='a1') for n in range(7)]
    put(f'{folder}/{ONE}.jsonl', '\n'.join(rows + [json.dumps({'type': 'custom-title', 'customTitle': 'A title', 'sessionId': ONE})]) + '\n')
    put(f'{folder}/{ONE}/subagents/agent-a1.jsonl', '\n'.join(agent) + '\n')


class Sdk:
    """For TypeScript, or for Python."""
    def __init__(self, folder, env, python=False):
        self.folder, self.env = folder, env
        self.program = [f'{folder}/python/run', f'{HERE}/session_store_call.py'] if python else ['node', '--import', 'tsx', f'{HERE}/session_stores.mjs']

    def call(self, kind, place, action):
        run = subprocess.run([*self.program, self.folder, kind, place, action, ONE, '/w'], env=self.env, cwd=self.folder, capture_output=True,
                             check=False)
        if run.returncode:
            sys.exit(f'{kind} {action}: {run.stderr.decode()[-1500:]}')
        return json.loads(run.stdout) if run.stdout else None


def compare(p, team, sdk, kind, place, url, *lines):
    """Both directions."""
    folder = f'{p.home}/.claude/projects/-w'
    team.configure(url, *lines)
    make_session(folder)
    local, ours = sdk.call('none', '', 'read'), p.json('messages', ONE)
    p.need(len(local['messages']) == 20 and len(local['ofAgents'][0]) == 7, f'{kind}: the SDK reads the local session: {local}')
    p.same(f'{kind}: pushed', p.json('push', 'team', ONE)[0]['rows'], 28)
    p.same(f'{kind}: the SDK reads what was pushed', sdk.call(kind, place, 'read'), local)
    sdk.call(kind, place, 'delete')
    p.same(f'{kind}: deleted by the SDK', p.json('list', '--all', '--store', 'team'), [])
    sdk.call(kind, place, 'import')
    p.same(f'{kind}: listed', [(r['sessionId'], r['summary']) for r in p.json('list', '--all', '--store', 'team')], [(ONE, 'A title')])
    p.same(f'{kind}: the messages', len(p.json('messages', f'team:{ONE}')), len(ours))
    p.same(f'{kind}: sub-agents', p.json('subagents', f'team:{ONE}'), ['a1'])
    p.same(f'{kind}: nothing is left to push', p.json('push', 'team', ONE)[0]['rows'], 0)
    shutil.rmtree(folder)
    p.json('retrieve', f'team:{ONE}')
    p.same(f'{kind}: the SDK reads what was retrieved', sdk.call('none', '', 'read'), local)
    p.run('delete', '--permanently', f'team:{ONE}')
    gone = sdk.call(kind, place, 'read')
    p.same(f'{kind}: deleted by reprise', (gone['messages'], gone['agents'], gone['sessions']), ([], [], []))
    shutil.rmtree(folder)


S3RVER = """
const S3rver = require('s3rver')
new S3rver({ port: 0, address: '127.0.0.1', silent: true, directory: process.argv[1], configureBuckets: [{ name: 'team' }] }).run()
    .then((at) => console.log(at.port))"""


def compare_s3(p, team, sdk, place, **keys):
    """A server that is not ours, which nothing is known of but its address."""
    for env in (p.env, sdk.env):
        env.update(keys)
    url = f's3://team/team?endpoint={place}'
    team.keeps_rules(p, url.replace('/team?', '/rules?'))
    compare(p, team, sdk, 's3', place, url)


def compare_all_s3(p, team, sdk, folder, top):
    server = s3_server.Server()
    compare_s3(p, team, sdk, f'http://127.0.0.1:{server.port}', AWS_REGION=s3_server.REGION, **server.env())
    with subprocess.Popen(['node', '-e', S3RVER, top], cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as other:
        port = other.stdout.readline().decode().strip()
        compare_s3(p, team, sdk, f'http://127.0.0.1:{port}', AWS_REGION='us-east-1', AWS_ACCESS_KEY_ID='S3RVER',
                   AWS_SECRET_ACCESS_KEY='S3RVER')
        other.kill()
    if len(sys.argv) > 4:
        compare_s3(p, team, sdk, sys.argv[4], AWS_REGION='us-east-1', **{k: v for k, v in os.environ.items() if k.startswith('AWS_')})


def compare_all_postgres(p, team, sdk, folder, top):
    server = postgresql_server.Server(top)
    compare(p, team, sdk, 'postgres', server.top, server.url(), 'create = typescript')
    if os.path.exists(f'{folder}/session_stores'):
        compare(p, team, Sdk(folder, sdk.env, python=True), 'postgres', server.top, server.url(), 'table = claude_session_store', 'create = python')
    else:
        print('without the SDK for Python')
    server.stop()


def main():
    reprise, plugins = sys.argv[1:3]
    folder = sys.argv[3] if len(sys.argv) > 3 else os.environ.get('SESSION_STORES', '')
    if not os.path.exists(f'{folder}/session-stores') or not os.path.exists(f'{folder}/node_modules'):
        print(f'skipped: no SDK and adapters at {folder or "SESSION_STORES"}')
        return
    with tempfile.TemporaryDirectory() as top:
        os.chmod(top, 0o755)
        checks = []
        for kind, plugin in (('redis', 'redis'), ('postgres', 'postgresql'), ('s3', 's3')):
            team = Team(f'{top}/{kind}', f'{plugins}/{plugin}.so')
            p = Program(reprise, team.home, team.env)
            sdk = Sdk(folder, {**os.environ, 'HOME': team.home, 'CLAUDE_CONFIG_DIR': f'{team.home}/.claude'})
            os.mkdir(f'{top}/{kind}-server')
            if kind == 'redis':
                server = redis_server.Server(f'{top}/{kind}-server')
                compare(p, team, sdk, kind, server.socket, server.url('?prefix=team'))
                server.kill()
            elif kind == 'postgres':
                compare_all_postgres(p, team, sdk, folder, f'{top}/{kind}-server')
            else:
                compare_all_s3(p, team, sdk, folder, f'{top}/{kind}-server')
            checks.append(p)
        print(f'{sum(p.passed for p in checks)} passed, {sum(p.failed for p in checks)} failed')
        sys.exit(any(p.failed for p in checks))


main()
