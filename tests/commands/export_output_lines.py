#!/usr/bin/env python3
"""The output of a person's own command keeps its lines in every document. usage: export_output_lines.py PROGRAM"""
import json
import os
import sys
import tempfile

from support.program import Program

OUTPUT = 'total 0\n  indented  line\n'


def main():
    with tempfile.TemporaryDirectory() as top:
        folder = f'{top}/claude/projects/-p'
        os.makedirs(folder)
        texts = ['<bash-input>ls -la</bash-input>', f'<bash-stdout>{OUTPUT}</bash-stdout><bash-stderr></bash-stderr>',
                 '<command-name>/context</command-name>\n<command-args></command-args>',
                 f'<local-command-stdout>\x1b[1m{OUTPUT}\x1b[22m</local-command-stdout>', 'Thanks']
        with open(f'{folder}/11111111-1111-4111-8111-111111111111.jsonl', 'w', encoding='utf-8') as f:
            for i, text in enumerate(texts):
                f.write(json.dumps({'type': 'user', 'uuid': f'00000000-0000-4000-8000-{i:012}', 'cwd': '/p',
                                    'parentUuid': f'00000000-0000-4000-8000-{i - 1:012}' if i else None,
                                    'sessionId': '11111111-1111-4111-8111-111111111111',
                                    'timestamp': f'2026-01-01T00:00:0{i}.000Z',
                                    'message': {'role': 'user', 'content': text}}) + '\n')
        p = Program(sys.argv[1], top, {'CLAUDE_CONFIG_DIR': f'{top}/claude'})
        for form in 'md', 'html', 'txt':
            for tools in [], ['--tools', 'full']:
                document = p.run('--all', 'export', '1111', '--format', form, *tools).stdout.decode()
                lines = [line.split('>')[-1] if form == 'html' else line for line in document.split('\n')]
                found = sum(a.strip() == 'total 0' and b.strip().startswith('indented  line') and b.startswith(a[:-7] + '  ')
                            for a, b in zip(lines, [x.split('<')[0] for x in document.split('\n')][1:]))
                p.need(found == 2, f'{form} {tools}: {document[-1500:]}')
        p.finish(6)


main()
