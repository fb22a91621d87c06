"""Writes calls of every function of reprise.h with NULL, for test_library_nulls.c.
   usage: library_nulls.py REPRISE_H OUT"""
import re
import sys

FINE = {'reprise_can', 'reprise_version', 'reprise_version_number', 'reprise_writer_close'}  # without a handle, or NULL is fine
OPTIONAL = {('reprise_fork', 'out')}
NEEDED = {'out', 'fn', 'name', 'file', 'path', 'patch', 'point', 'listener', 'to', 'title'}


def functions(text):
    text = re.sub(r'/\*.*?\*/', '', text, flags=re.S)
    for declared in re.findall(r'^REPRISE_API\s+([^;]+);', text, flags=re.M):
        result, name, parameters = re.fullmatch(r'(.*?)(reprise_\w+)\((.*)\)', ' '.join(declared.split())).groups()
        yield result.strip(), name, [p.strip() for p in parameters.split(',')]


def argument(parameter, first=None):
    name = re.search(r'(\w+)$', parameter).group(1)
    if name == 'error':
        return 'error'
    if 'char *rows' in parameter or 'fn *' in parameter or '*' in parameter:
        return first or 'NULL'
    return '1' if name in ('length', 'n') else '0'


def calls(result, name, parameters):
    if name in FINE:
        return
    plain = ', '.join(argument(p) for p in parameters)
    if result == 'int':
        yield f'REFUSED({name}({plain}))'
        handle = {'struct reprise *r': 'R', 'struct reprise_session *s': 'S'}.get(parameters[0].replace('const ', ''))
        names = {re.search(r'(\w+)$', p).group(1) for p in parameters}
        if handle:
            rest = ', '.join([handle] + [argument(p) for p in parameters[1:]])
            refused = any((name, n) not in OPTIONAL for n in names & NEEDED) or name == 'reprise_append'
            yield f'{"REFUSED" if refused else "ANY"}({name}({rest}))'
    elif result == 'void':
        yield f'{name}({plain});'
    else:
        yield f'assert_true(!{name}({plain}));'


def main():
    with open(sys.argv[1], encoding='utf-8') as f:
        found = list(functions(f.read()))
    if len(found) < 100:
        sys.exit(f'only {len(found)} functions in {sys.argv[1]}')
    with open(sys.argv[2], 'w', encoding='utf-8') as out:
        for function in found:
            for call in calls(*function):
                out.write(f'    {call}\n')


main()
