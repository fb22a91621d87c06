#!/usr/bin/env python3
"""Why a rewind holds a file back: another session changed it, a command of the session did, a person did, or the project
moved. usage: rewind_edited_by.py PROGRAM DEMO_STORE
"""
import json
import os
import subprocess
import sys
import tempfile
import time

from support.program import Program

MINE = 'Payments: idempotency keys'


def append_command(path, command):
    """The agent's own command, in the newest turn of a session of Claude Code."""
    with open(path, encoding='utf-8') as f:
        rows = [json.loads(line) for line in f]
    parent = [row for row in rows if row.get('uuid')][-1]
    at = time.strftime('%Y-%m-%dT%H:%M:%S.000Z', time.gmtime())
    common = {k: parent[k] for k in ('cwd', 'sessionId', 'version', 'userType', 'isSidechain') if k in parent}
    call = {**common, 'type': 'assistant', 'uuid': '11111111-0000-4000-8000-000000000001', 'parentUuid': parent['uuid'],
            'timestamp': at, 'message': {'role': 'assistant', 'content': [
                {'type': 'tool_use', 'id': 'toolu_own', 'name': 'Bash', 'input': {'command': command}}]}}
    result = {**common, 'type': 'user', 'uuid': '11111111-0000-4000-8000-000000000002', 'parentUuid': call['uuid'],
              'timestamp': at, 'message': {'role': 'user', 'content': [
                  {'type': 'tool_result', 'tool_use_id': 'toolu_own', 'content': ''}]}}
    with open(path, 'a', encoding='utf-8') as f:
        f.writelines(json.dumps(row) + '\n' for row in (call, result))


def main():
    path, demo_store = sys.argv[1:]
    with tempfile.TemporaryDirectory() as top:
        top = os.path.realpath(top)
        subprocess.run([demo_store, f'{top}/home'], check=True, stdout=subprocess.DEVNULL)
        shop = f'{top}/home/code/shop'
        p = Program(path, f'{top}/home', {'CLAUDE_CONFIG_DIR': f'{top}/home/claude', 'XDG_STATE_HOME': f'{top}/state'})
        session = next(row for row in p.json('list', '--all') if row['summary'] == MINE)
        point = p.json('checkpoints', session['sessionId'])[0]['id']

        def held(name):
            files = p.json('rewind', session['sessionId'], '--to', point)['files']
            return next(f for f in files if f['path'].endswith('/' + name))

        def text():
            return p.run('rewind', session['sessionId'], '--to', point).stdout.decode()

        pay = held('pay.ts')
        p.same('a later session', (pay['action'], pay.get('editedSince'), pay.get('laterSession')),
               ('refused', True, pay['alsoChangedBy']['sessionId']))
        p.need('(changed later by "Fix the payment retry loop", ' in text(), text())

        with open(f'{shop}/src/pay.ts', encoding='utf-8') as f:
            as_left = f.read()
        for present in f'{as_left}// a person\n', as_left[:-20], 'nothing of it\n':
            with open(f'{shop}/src/pay.ts', 'w', encoding='utf-8') as f:
                f.write(present)
            pay = held('pay.ts')
            p.same('a person after a later session', (pay['why'], pay.get('laterSession')),
                   ('edited by hand since "Fix the payment retry loop" changed it', None))
        with open(f'{shop}/src/pay.ts', 'w', encoding='utf-8', newline='') as f:
            f.write(as_left.replace('\n', '\r\n'))
        p.same('only other line ends', held('pay.ts').get('laterSession'), pay['alsoChangedBy']['sessionId'])
        with open(f'{shop}/src/pay.ts', 'w', encoding='utf-8') as f:
            f.write(as_left)
        p.same('as the later session left it', held('pay.ts').get('laterSession'), pay['alsoChangedBy']['sessionId'])

        with open(f'{shop}/src/gateway.ts', 'a', encoding='utf-8') as f:
            f.write('// a person\n')
        gateway = held('gateway.ts')
        p.same('a person', (gateway['why'], gateway.get('laterSession'), gateway.get('changedByCommand')),
               ('changed later, not by this session', None, None))
        with open(session['path'], 'rb') as f:
            before = f.read()
        append_command(session['path'], 'npm test -- gateway.tsx')
        p.same('a command that does not name it', held('gateway.ts').get('changedByCommand'), None)
        append_command(session['path'], 'sed -i s/a/b/ src/gateway.ts')
        gateway = held('gateway.ts')
        p.same('a command of the session', (gateway['why'], gateway.get('changedByCommand')),
               ('changed since by a command of the session: sed -i s/a/b/ src/gateway.ts', True))
        os.unlink(f'{shop}/src/gateway.ts')
        p.same('removed', (held('gateway.ts')['why'], held('gateway.ts').get('deletedSince')),
               ('deleted since by a command of the session: sed -i s/a/b/ src/gateway.ts', True))
        for command, by in (('ls src', False), ('rm -rf srcs other', False), ('rm -rf ../shop/docs', False), ('rm *.js', False), ('rm -r ./src/', True),
                            (f'mv "{shop}/src" old', True), ('rm src/*.ts', True), ('cd src && rm *', True), (f'rm -rf {os.path.dirname(shop)}', False),
                            ('sed -i s/x/y/ {src/gateway.ts,b}', True)):
            with open(session['path'], 'wb') as f:
                f.write(before)
            append_command(session['path'], command)
            p.same(f'removed by {command}', held('gateway.ts')['why'].endswith(f'by a command of the session: {command}'), by)
        for command, by in (('find src -name "*.js" -delete', ''), ('find src -name "*.ts" -delete', 'by'), ('find . -type f | xargs rm', 'by'),
                            ('find . -name "*.js" -exec rm {} +', ''), ('find src -mtime +3 -delete', 'perhaps by'), ('git ls-files -o | xargs rm -f', 'perhaps by'),
                            ('make clean', 'perhaps by'), ('npm run clean:all', 'perhaps by'), ('python3 scripts/drop.py', 'perhaps by'),
                            ('python3 -m pytest', ''), ('git pull --rebase', 'perhaps by'), ('cargo fmt', 'perhaps by'), ('npm test', ''), ('make', '')):
            with open(session['path'], 'wb') as f:
                f.write(before)
            append_command(session['path'], command)
            gateway = held('gateway.ts')
            p.same(f'perhaps removed by {command}', (gateway['why'], gateway.get('changedByCommand')),
                   (f'deleted since{", perhaps" if by[:1] == "p" else ""} by a command of the session: {command}' if by
                    else 'deleted later, not by this session', True if by == 'by' else None))
        os.unlink(f'{shop}/src/pay.ts')
        p.same('removed after another session changed it', (held('pay.ts')['why'], held('pay.ts').get('laterSession')),
               ('deleted later, not by this session', None))

        os.rename(shop, f'{top}/home/code/moved')
        p.same('a project that moved', held('pay.ts')['why'], f'the project moved or was deleted: {shop} is gone (see reprise move)')
        p.finish(27)


main()
