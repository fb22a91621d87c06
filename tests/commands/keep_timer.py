#!/usr/bin/env python3
"""`reprise keep --install-timer`: shown, installed after consent, undone, removed; and the line for cron where no systemd answers.

usage: keep_timer.py PROGRAM
"""
import configparser
import json
import os
import shlex
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, '..')]

from support.program import Program, snapshot

SYSTEMCTL = '#!/bin/sh\necho "$*" >>"$HOME/../asked"\ncase "$*" in *"$(cat "$HOME/../fails")"*) exit 1;; esac\n'


def put(path, text, mode=0o644):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, 'w', encoding='utf-8') as f:
        f.write(text)
    os.chmod(path, mode)


class World:
    def __init__(self, p, top, systemctl=True, **env):
        self.p, self.top, self.home = p, top, f'{top}/home'
        os.makedirs(self.home)
        os.makedirs(f'{top}/bin')
        if systemctl:
            put(f'{top}/bin/systemctl', SYSTEMCTL, 0o755)
            put(f'{top}/fails', 'nothing fails')
        for name in 'sh', 'cat':  # no systemd of this machine
            os.symlink(f'/bin/{name}', f'{top}/bin/{name}')
        self.units = env.get('XDG_CONFIG_HOME', f'{self.home}/.config') + '/systemd/user'
        p.home = self.home
        p.env = {**p.env, 'HOME': self.home, 'PATH': f'{top}/bin', 'XDG_CONFIG_HOME': '', 'CODEX_HOME': '', **env}

    def asked(self):
        """What systemctl was asked since the last look."""
        if not os.path.exists(f'{self.top}/asked'):
            return []
        with open(f'{self.top}/asked', encoding='utf-8') as f:
            asked = f.read().split('\n')[:-1]
        os.unlink(f'{self.top}/asked')
        return asked

    def unit(self, kind):
        try:
            with open(f'{self.units}/reprise-keep.{kind}', encoding='utf-8') as f:
                return f.read()
        except FileNotFoundError:
            return None


def check_systemd(p, top):
    w = World(p, f'{top}/a', CODEX_HOME=f'{top}/co "dex" 5%\\')
    before = snapshot(w.home)
    run = p.run('keep', '--install-timer', '--dry-run')
    p.need(run.returncode == 0 and b'+++ ' in run.stdout and b'OnCalendar=daily' in run.stdout, f'shown: {run}')
    p.same('only shown', (snapshot(w.home), w.asked()), (before, ['--user show-environment']))
    run = p.run('keep', '--install-timer')
    p.need(run.returncode and b'add --yes' in run.stderr and w.unit('timer') is None, f'without consent: {run}')
    w.asked()
    run = p.run('keep', '--install-timer', '--yes')
    p.same('installed', (run.returncode, w.asked()),
           (0, ['--user show-environment', '--user daemon-reload', '--user enable --now reprise-keep.timer']))
    service = configparser.RawConfigParser(strict=False)
    service.optionxform = str
    service.read_string(w.unit('service'))
    command = service['Service']['ExecStart']
    p.same('what it runs', (command.split('"')[1], command.rsplit('"', 1)[1]), (p.path, ' keep --all --due'))
    p.need(f'Environment="CODEX_HOME={top}/co \\"dex\\" 5%%\\\\"\n' in w.unit('service'), w.unit('service'))
    p.need('WantedBy=timers.target' in w.unit('timer') and 'Persistent=true' in w.unit('timer'), w.unit('timer'))
    run = p.run('keep', '--install-timer', '--yes')
    p.same('twice', (run.returncode, run.stdout), (0, b'Nothing to change.\n'))
    p.need(b'the timer of keep' in p.run('log', '--all').stdout, 'it is in the log')

    # The units follow the setting, and what they run works.
    put(f'{w.home}/.config/reprise/config', '[keep]\nsessions = all\n')
    p.run('keep', '--install-timer', '--yes')
    lines = [line for line in w.unit('service').split('\n') if line.startswith('ExecStart=')]
    p.same('with a setting', [line.rsplit('"', 1)[1] for line in lines], [' keep --all', ' keep --all --due'])
    for line in lines:
        p.same(f'{line} runs', subprocess.run(shlex.split(line[10:]), env=p.env, stdin=subprocess.DEVNULL, capture_output=True, check=False).returncode, 0)
    w.asked()
    put(f'{w.top}/fails', 'daemon-reload')
    run = p.run('keep', '--remove-timer', '--yes')
    p.need(b'daemon-reload' in run.stderr and b'enable' not in run.stderr, f'what helps: {run}')
    put(f'{w.top}/fails', 'nothing fails')
    p.same('removed', (run.returncode, w.unit('service'), w.unit('timer'), w.asked()),
           (0, None, None, ['--user disable --now reprise-keep.timer', '--user daemon-reload']))
    change = max(x['id'] for x in p.json('log', '--all'))
    p.same('undone', (p.run('undo', change).returncode, w.unit('timer') is not None), (0, True))

    # Files that others wrote, and links, stay.
    for make in (lambda path: put(path, '[Unit]\n'), lambda path: os.symlink(f'{top}/nowhere', path)):
        path = f'{w.units}/reprise-keep.timer'
        os.unlink(path)
        make(path)
        now = snapshot(w.home)
        for option in '--install-timer', '--remove-timer':
            run = p.run('keep', option, '--yes')
            p.need(run.returncode == 4 and path.encode() in run.stderr, f'{option}: {run}')
            p.same(f'{option}: nothing changed', snapshot(w.home), now)
    os.unlink(path)

    # The files are there, but systemd refuses.
    put(f'{w.top}/fails', 'enable --now')
    run = p.run('keep', '--install-timer', '--yes')
    p.need(b'systemctl --user enable --now' in run.stderr and w.unit('timer'), f'refused by systemd: {run}')
    for args in (('--install-timer', '--remove-timer'), ('--install-timer', 'abcd'), ('--install-timer', '--query', 'x')):
        p.same(f'{args}', p.run('keep', *args).returncode, 2)


def check_elsewhere(p, top):
    w = World(p, f'{top}/b', XDG_CONFIG_HOME=f'{top}/b/config')
    p.same('another place', (p.run('keep', '--install-timer', '--yes').returncode, bool(w.unit('timer'))), (0, True))
    for systemctl in False, True:  # there is none, or it does not answer
        w = World(p, f'{top}/c{systemctl}', systemctl, CODEX_HOME='')
        put(f'{w.top}/fails', 'show-environment')
        before = snapshot(w.home)
        run = p.run('keep', '--install-timer', '--yes')
        minute, hour, *_, rest = run.stdout.decode().split(' ', 5)
        p.same('the line for cron', (run.returncode, minute, hour, shlex.split(rest)[:4]), (4, '17', '9', [p.path, 'keep', '--all', '--due']))
        p.need(b'crontab -e' in run.stderr, f'why: {run.stderr}')
        p.same('as JSON', json.loads(p.run('keep', '--install-timer', '--yes', '--json').stdout)['cron'] + '\n', run.stdout.decode())
        p.same('nothing was written', snapshot(w.home), before)
        p.need(b'crontab -e' in p.run('keep', '--remove-timer', '--yes').stdout, 'what removes the line for cron')
        put(f'{w.home}/.config/reprise/config', '[keep]\nsessions = all\n')
        line = json.loads(p.run('keep', '--install-timer', '--yes', '--json').stdout)['cron']
        p.same('the line for cron with a setting', [shlex.split(x)[-3:] for x in line.split('; ')], [['keep', '--all', '>/dev/null'], ['--all', '--due', '>/dev/null']])


def main():
    with tempfile.TemporaryDirectory() as home:
        top = os.path.realpath(home)
        p = Program(sys.argv[1], '/', {})
        check_systemd(p, top)
        check_elsewhere(p, top)
    p.finish(30)


if __name__ == '__main__':
    main()
