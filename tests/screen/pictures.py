#!/usr/bin/env python3
"""The pictures as a browser draws them: each character of each text stands in its column, and blanks are kept. Without Chromium
the test is skipped (77).

usage: pictures.py SCREENSHOTS
"""
import glob
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unicodedata
import xml.etree.ElementTree as tree

CELL, TOLERANCE = 8.4, 1.5
SVG = '{http://www.w3.org/2000/svg}'
SPACE = '{http://www.w3.org/XML/1998/namespace}space'
# What a browser says of a text: the place of each UTF-16 unit, and where the last one ends.
SCRIPT = '''<script><![CDATA[
addEventListener("load", () => {
    const seen = [...document.querySelectorAll("text[textLength]")].map(t => {
        const n = t.getNumberOfChars(), at = [];
        for (let i = 0; i < n; i++) at.push(Math.round(t.getStartPositionOfChar(i).x * 10) / 10);
        return [at, n ? Math.round(t.getEndPositionOfChar(n - 1).x * 10) / 10 : 0];
    });
    const out = document.createElementNS("http://www.w3.org/2000/svg", "desc");
    out.id = "seen";
    out.textContent = JSON.stringify(seen);
    document.documentElement.appendChild(out);
});
]]></script>'''
# Runs of blanks within a text and at its ends, wide and combined characters, signs that a font may not have, all looks.
SCREEN = ('a  b   c    d\x1b[1m  bold    text  \x1b[0m.\n'
          '\x1b[7m   reversed   \x1b[0m\x1b[4m  under  lined  \x1b[0m|\n'
          '領収書メール  🧾  x   Größe   e\u0301  e\u0302  y\n'
          '▌ ◆ ⑂ ⚠ ▸ ✓ ● … ┌──┐  │  ╭─╮  “q”  →  ↑\n'
          '\x1b[38;2;1;2;3m<&>"  \'  \x1b[48;5;200m   \x1b[0m  end\n')

passed = failed = 0


def need(holds, otherwise):
    global passed, failed
    passed, failed = passed + bool(holds), failed + (not holds)
    if not holds:
        print(otherwise[:600])


def width(char):
    if unicodedata.combining(char) or unicodedata.category(char) in ('Cf', 'Mn', 'Me'):
        return 0
    return 2 if unicodedata.east_asian_width(char) in 'WF' else 1


def browser_of(program, top):
    """Returns a function: the path of an SVG to what the browser says of its texts."""
    def look(path):
        with open(path, encoding='utf-8') as f:
            picture = f.read()
        copy = os.path.join(top, 'picture.svg')
        with open(copy, 'w', encoding='utf-8') as f:
            f.write(picture.replace('</svg>', SCRIPT + '</svg>'))
        run = subprocess.run([program, '--headless', '--no-sandbox', '--disable-gpu', f'--user-data-dir={top}/chromium', '--dump-dom',
                              f'file://{copy}'], capture_output=True, timeout=120, check=False, env={**os.environ, 'HOME': top})
        found = re.search(r'<desc id="seen">(.*?)</desc>', run.stdout.decode('utf-8', 'replace'), re.S)
        if not found:
            print(f'Chromium does not run here: {run.stderr[-300:]!r}')
            sys.exit(77)
        return json.loads(found[1])
    return look


def check(name, path, seen):
    texts = [t for t in tree.parse(path).iter(SVG + 'text') if 'textLength' in t.attrib]
    need(len(texts) == len(seen) and len(texts) > 4, f'{name}: {len(texts)} texts, {len(seen)} drawn')
    worst, where = 0.0, ''
    for text, (places, end) in zip(texts, seen):
        words, begin = text.text, float(text.get('x'))
        need(text.get(SPACE) == 'preserve', f'{name}: blanks of {words!r} may collapse')
        need(len(places) == len(words.encode('utf-16-le')) // 2, f'{name}: {words!r}: {len(places)} characters are drawn')
        drawn = ''.join(c for c in words if width(c))
        need(drawn.isascii() or len(set(drawn)) == 1, f'{name}: {words!r} is of several fonts')
        column, unit = 0, 0
        for char in words:
            if width(char) and unit < len(places):
                off = abs(places[unit] - (begin + column * CELL))
                worst, where = max((worst, where), (off, f'{char!r} of {words!r}'))
            column += width(char)
            unit += len(char.encode('utf-16-le')) // 2
        off = abs(end - (begin + column * CELL))
        worst, where = max((worst, where), (off, f'the end of {words!r}'))
    need(worst <= TOLERANCE, f'{name}: {where} is {worst:.1f} away from its column')
    print(f'{name}: {len(texts)} texts, at most {worst:.2f} from their columns')


def main():
    folder = sys.argv[1]
    program = shutil.which('chromium') or shutil.which('chromium-browser') or shutil.which('google-chrome')
    if not program:
        print('no Chromium')
        sys.exit(77)
    with tempfile.TemporaryDirectory() as top:
        look = browser_of(program, top)
        made = os.path.join(top, 'made.svg')
        with open(made, 'wb') as f:
            subprocess.run([sys.executable, os.path.join(folder, 'svg.py'), '60', 'made'], input=SCREEN.encode(), stdout=f, check=True)
        for path in [made, *sorted(glob.glob(os.path.join(folder, '*.svg')))]:
            check(os.path.basename(path), path, look(path))
        # The same without what keeps the blanks: the test would notice.
        with open(made, encoding='utf-8') as f:
            plain = f.read().replace(' xml:space="preserve"', '')
        with open(made, 'w', encoding='utf-8') as f:
            f.write(plain)
        texts = [t.text for t in tree.parse(made).iter(SVG + 'text') if 'textLength' in t.attrib]
        need(any(len(places) < len(text) for text, (places, _) in zip(texts, look(made))), 'collapsed blanks are not noticed')
    print(f'{passed} passed, {failed} failed')
    sys.exit(failed != 0 or passed < 500)


main()
