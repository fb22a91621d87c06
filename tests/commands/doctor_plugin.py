"""`reprise doctor --plugin FILE`: the rules of stores, with plug-ins that keep them and one that breaks them one by one.
   usage: doctor_plugin.py REPRISE EXAMPLE COMPLETE BROKEN NOT-A-PLUGIN"""
import os
import shutil
import signal
import subprocess
import sys
import tempfile

from support.program import Program, whole_lines

HANGS, LEFT = 'a session comes in batches', 'what was written is removed'
# What is broken: which rules fail, and what is said of one of them.
BROKEN = {
    'append reverses': (['rows are read in the order of one append', 'several appends keep their order'], '{"n":3}'),
    'read invents': (['an unknown session or subpath has no rows'], '1'),
    'read from the start': (['several appends keep their order', HANGS], ''),
    'append adds to nothing': (['an empty append changes nothing'], '2'),
    'sub-agents join': (["a sub-agent's rows are apart", 'a sub-agent is removed alone', "subkeys names the sub-agents of that session"], '2'),
    'projects join': (['projects are apart'], '2'),
    'list forgets': (['the sessions of a project are listed'], '1'),
    'list in seconds': (['the sessions of a project are listed', 'projects are apart'], '17'),
    'list names sub-agents': (['sub-agents are not listed as sessions'], '2'),
    'remove does nothing': (['what is removed is gone', 'a removed session takes its sub-agents along, and nothing else', LEFT], '1'),
    'remove wants a key': (['what is removed is gone'], 'FAILED: no such session'),
    'remove keeps sub-agents': (['a removed session takes its sub-agents along, and nothing else'], '1'),
    'remove takes the session': (['a sub-agent is removed alone'], '0'),
    'subkeys of others': (['subkeys names the sub-agents of that session'], '3'),
    'subkeys name the session': (['subkeys does not name the session itself'], '1'),
    'list goes back': (['a list shows what is new'], 'after'),
    'append blind': (['append requires the newest row that was named', 'of two programs, one appends after the same row'], 'OK'),
    'page from the end': (['pages go back from the end'], '4'),
    'find invents': (['a row is found by its uuid'], '1'),
    'ids without rows': (['ids compare as the rows do'], '1'),
    'append drops': ([HANGS, 'an append that is stopped adds all or nothing'], '200'),
    'append in part': (['an append that is stopped adds all or nothing'], '125 of 250'),
    'read goes on': (['a read stops if its callback asks for it'], 'OK'),
    'threads collide': (['threads append at the same time'], '32'),
    'read cuts large rows': (['rows of every kind come back'], 'xxx'),
    'append names no row': (['a row that the store cannot hold is named'], '0'),
    'positions repeat': (['rows are read in the order of one append'], 'after'),
    'append crashes': (['rows are read in the order of one append', 'threads append at the same time'], 'it crashed: '),
    'list ends the process': (['the store is opened and listed'], 'it ended the process with exit code 3'),
    'read hangs': (['several appends keep their order'], 'it did not, although stopped() asked for it after 3000 ms'),
    'refuses': (['the store is opened and listed'], 'broken'),
}


class Store:
    def __init__(self, reprise, top, plugin):
        self.path = f'{top}/store'
        os.makedirs(self.path, exist_ok=True)
        self.plugin = shutil.copy(plugin, top)
        os.chmod(self.plugin, 0o700)
        self.p = Program(reprise, top, {})

    def check(self, *args, **env):
        self.p.env.update(env)
        return self.p.run('doctor', '--plugin', self.plugin, self.path, *args)

    def rules(self, *args, **env):
        run = self.check('--json', *args, **env)
        return {r['name']: r for r in whole_lines(run.stdout)}, run

    def files(self):
        return [f'{folder}/{name}' for folder, _, names in os.walk(self.path) for name in names]


def of(rules, result):
    return [name for name, r in rules.items() if r['result'] == result]


def kept(p, example, complete):
    """Plug-ins that keep the rules."""
    rules, run = complete.rules('--apply')
    p.same('complete', (run.returncode, len(rules), of(rules, 'failed'), of(rules, 'skipped'), complete.files()), (0, 27, [], [], []))
    p.same('the 14', [r['number'] for r in rules.values() if 'number' in r], list(range(1, 15)))
    rules, run = complete.rules()
    p.same('without --apply', (run.returncode, of(rules, 'passed'), len(of(rules, 'skipped'))), (0, ['the store is opened and listed'], 25))
    p.need(all('--apply' in r['why'] for r in rules.values() if r['result'] == 'skipped'), f'the reason: {rules}')
    p.same('nothing was written', os.listdir(complete.path), [name for name in os.listdir(complete.path) if not os.path.isfile(name)])
    rules, run = example.rules('--apply')
    p.same('what cannot be removed is not written', (run.returncode, len(of(rules, 'passed')), example.files()), (0, 1, []))
    rules, run = example.rules('--apply', '--force')
    p.same('example', (run.returncode, of(rules, 'failed'), len(of(rules, 'passed'))), (0, [], 20))
    p.same('and its sessions stay', all('/-reprise-doctor-' in name for name in example.files()), True)
    p.same('which is said', rules[LEFT], {'name': LEFT, 'result': 'skipped', 'why': 'the plug-in has no remove'})
    text = complete.check('--apply').stdout.decode()
    p.need(text.startswith('the rules write sessions of projects that begin with -reprise-doctor-') and
           text.endswith('27 rules: 27 passed, 0 failed, 0 skipped\n') and 'passed  14 a list shows what is new\n' in text, f'text: {text}')
    # beside sessions of others, which stay as they are
    own = f'{complete.path}/-w/11111111-1111-4111-8111-111111111111.jsonl'
    os.makedirs(os.path.dirname(own))
    with open(own, 'w', encoding='utf-8') as f:
        f.write('{"type":"user"}\n')
    rules, run = complete.rules('--apply')
    p.same('beside others', (run.returncode, of(rules, 'failed'), complete.files()), (0, [], [own]))
    os.unlink(own)


def refused(p, example, complete, not_a_plugin):
    """What is no plug-in, and words that are wrong."""
    for words, code, said in (
            (['doctor', '--plugin', complete.plugin], 2, b'needs the path of a store'),
            (['doctor', '--plugin', complete.plugin, complete.path, 'word'], 2, b'NAME=VALUE'),
            (['doctor', '--apply'], 2, b'need --plugin'), (['doctor', 'a', 'b'], 2, b'"b"'),
            (['doctor', '--plugin', complete.plugin, complete.path, 'timeout=0'], 1, b'timeout needs seconds'),
            (['doctor', '--plugin', complete.plugin, f'{complete.path}/none'], 1, b'not a directory'),
            (['doctor', '--plugin', 'no-such', complete.path], 1, b'which is not installed'),
            (['doctor', '--plugin', not_a_plugin, complete.path], 1, b'exports no table'),
            (['doctor', '--plugin', complete.plugin, 'x://a:secret@b'], 1, b'contains a password')):
        run = p.run(*words)
        p.need(run.returncode == code and said in run.stderr + run.stdout and b'secret' not in run.stdout + run.stderr, f'{words}: {run}')
    here = p.run('-C', os.path.dirname(complete.plugin), 'doctor', '--plugin', './' + os.path.basename(complete.plugin), complete.path)
    p.need(here.returncode == 0 and b'\n26 rules: 1 passed' in here.stdout, f'a relative path: {here}')
    os.chmod(example.plugin, 0o722)
    run = example.check('--apply')
    p.need(run.returncode == 1 and b'can be written by others' in run.stdout, f'a file that others can change: {run}')
    os.chmod(example.plugin, 0o700)


def broken_one(p, store, what, complete):
    names, came = BROKEN[what]
    rules, run = store.rules('--apply', 'timeout=1', BROKEN=what, BROKEN_STORE_OF=complete)
    failed = of(rules, 'failed')
    p.same(f'{what}: exit code', run.returncode, 1)
    p.need(set(names) <= set(failed), f'{what}: {names} should fail: {failed}')
    p.need(any(came in rules[name].get('got', '') for name in names), f'{what}: {[rules[n].get("got") for n in names]}')
    p.need(all(r['expected'] and r['got'] for r in rules.values() if r['result'] == 'failed'), f'{what}: both sides: {rules}')
    p.need(b'\x1b' not in run.stdout + run.stderr, f'{what}: raw bytes')
    if what in ('refuses', 'list ends the process'):
        p.same(f'{what}: the others', {rules[n].get('why') for n in of(rules, 'skipped')}, {'the store was not opened'})
    elif what == 'read hangs':
        p.same(f'{what}: the others', rules[HANGS].get('why'), 'the plug-in did not return from an earlier call')
    elif what == 'remove does nothing':
        p.need(rules[LEFT]['got'].startswith('-reprise-doctor-'), f'what is left: {rules[LEFT]}')
        shutil.rmtree(store.path)
        os.mkdir(store.path)
    p.same(f'{what}: nothing is left', store.files(), [])


def interrupted(p, store, complete):
    """A signal ends the check, and what was written is removed all the same."""
    store.p.env.update(BROKEN='read hangs', BROKEN_STORE_OF=complete)
    with subprocess.Popen([p.path, 'doctor', '--plugin', store.plugin, store.path, '--apply', 'timeout=3600'], env=store.p.env,
                          cwd=store.p.home, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as run:
        while b' 2 ' not in run.stdout.readline():
            pass
        run.send_signal(signal.SIGINT)
        out, err = run.communicate()
        p.need(run.returncode == 130 and b'what was written is removed' in out, f'interrupted: {run.returncode} {out} {err}')
        p.same('nothing is left', store.files(), [])


def main():
    reprise, *plugins, not_a_plugin = (os.path.abspath(path) for path in sys.argv[1:])
    with tempfile.TemporaryDirectory() as top:
        stores = []
        for plugin in plugins:
            os.mkdir(f'{top}/{len(stores)}')
            stores.append(Store(reprise, f'{top}/{len(stores)}', plugin))
        example, complete, broken = stores
        p = complete.p
        kept(p, example, complete)
        refused(p, example, complete, not_a_plugin)
        for what in BROKEN:
            broken_one(p, broken, what, complete.plugin)
        interrupted(p, broken, complete.plugin)
        p.finish(180)


main()
