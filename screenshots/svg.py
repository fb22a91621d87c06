#!/usr/bin/env python3
"""Draws a captured terminal screen as SVG.

usage: tmux capture-pane -N -e -p | svg.py COLUMNS TITLE >picture.svg
       svg.py --film COLUMNS TITLE SECONDS=FRAME... >film.svg        captured screens, one after the other, over and over
       svg.py --text picture.svg      the words of a picture, line by line, to compare pictures
"""
import html
import re
import sys
import unicodedata

CELL_WIDTH, CELL_HEIGHT, FONT_SIZE = 8.4, 18, 14
MARGIN, BAR = 14, 30
PALETTE = ['#1d2030', '#f07a8c', '#9ece8a', '#e5c07b', '#7aa2f7', '#bb9af7', '#73c9d8', '#a9b1d6',
           '#5b6285', '#ff94a4', '#b6e3a1', '#f5d697', '#9cbcff', '#d0b6ff', '#96e4f0', '#e6e9f5']
INK, PAPER, EDGE = '#c8d0ee', '#161824', '#2a2e42'
SGR = re.compile(r'\x1b\[([\d;:]*)m|\x1b\].*?(?:\x07|\x1b\\)|\x1b\([A-Z0]|[\x0e\x0f]')


class Style:
    """What SGR has set so far."""

    def __init__(self):
        self.reset()

    def reset(self):
        self.ink = self.paper = None
        self.bold = self.dim = self.italic = self.underline = self.reverse = self.struck = False

    def apply(self, numbers):
        numbers = list(numbers)
        while numbers:
            n = numbers.pop(0)
            if n == 0:
                self.reset()
            elif n in ON:
                setattr(self, ON[n], True)
            elif n in OFF:
                for name in OFF[n]:
                    setattr(self, name, False)
            elif 30 <= n <= 37 or 90 <= n <= 97:
                self.ink = PALETTE[n - 30 if n < 40 else n - 82]
            elif 40 <= n <= 47 or 100 <= n <= 107:
                self.paper = PALETTE[n - 40 if n < 50 else n - 92]
            elif n in (38, 48):
                colour = extended(numbers)
                if n == 38:
                    self.ink = colour
                else:
                    self.paper = colour
            elif n == 39:
                self.ink = None
            elif n == 49:
                self.paper = None

    def key(self):
        ink, paper = self.ink or INK, self.paper
        if self.reverse:
            ink, paper = paper or PAPER, ink
        return (ink, paper, self.bold, self.dim, self.italic, self.underline, self.struck)


ON = {1: 'bold', 2: 'dim', 3: 'italic', 4: 'underline', 7: 'reverse', 9: 'struck'}
OFF = {22: ('bold', 'dim'), 23: ('italic',), 24: ('underline',), 27: ('reverse',), 29: ('struck',)}


def extended(numbers):
    """The rest of 38;5;N or 38;2;R;G;B."""
    if numbers and numbers.pop(0) == 5 and numbers:
        n = numbers.pop(0)
        if n < 16:
            return PALETTE[n]
        if n >= 232:
            return '#%02x%02x%02x' % ((8 + 10 * (n - 232),) * 3)
        steps = (0, 95, 135, 175, 215, 255)
        n -= 16
        return '#%02x%02x%02x' % (steps[n // 36], steps[n // 6 % 6], steps[n % 6])
    rgb = [numbers.pop(0) for _ in range(min(3, len(numbers)))]
    return '#%02x%02x%02x' % tuple(rgb + [0] * (3 - len(rgb)))


def width(char):
    if unicodedata.combining(char) or unicodedata.category(char) in ('Cf', 'Mn', 'Me'):
        return 0
    return 2 if unicodedata.east_asian_width(char) in 'WF' else 1


def runs(line, style):
    """(style, column, columns, text) for each run of one look. A wide character is a run of its own, and signs that are the
    same, so that each character stands in its column whatever font a browser takes it from."""
    column, out = 0, []
    at = 0
    for found in list(SGR.finditer(line)) + [None]:
        for char in line[at:found.start() if found else len(line)]:
            w = width(char)
            last = out[-1] if out else None
            if last and w == 0:
                last[3] += char
            elif (last and w == 1 and last[0] == style.key() and last[2] == len(last[3]) and last[1] + last[2] == column and
                  (char == last[3][-1] or (char.isascii() and last[3].isascii()))):
                last[2] += 1
                last[3] += char
            else:
                out.append([style.key(), column, w, char])
            column += w
        if found:
            at = found.end()
            if found.group(1) is not None:
                style.apply(int(n or 0) for n in re.split('[;:]', found.group(1)))
    return out


def draw_run(run, row):
    (ink, paper, bold, dim, italic, underline, struck), column, columns, text = run
    x, y = MARGIN + column * CELL_WIDTH, BAR + MARGIN + row * CELL_HEIGHT
    parts = []
    if paper:
        parts.append(f'<rect x="{x:.1f}" y="{y}" width="{columns * CELL_WIDTH + 0.3:.1f}" height="{CELL_HEIGHT}" fill="{paper}"/>')
    if text.strip():
        look = ''.join([' font-weight="600"' if bold else '', ' opacity="0.6"' if dim else '',
                        ' font-style="italic"' if italic else '',
                        ' text-decoration="underline"' if underline else '',
                        ' text-decoration="line-through"' if struck else ''])
        fill = f' fill="{ink}"' if ink != INK else ''
        # Blanks at the ends are columns and no text; those within are kept by each browser only where the text itself
        # says so: neither attribute is inherited in all of them.
        front, columns = len(text) - len(text.lstrip(' ')), columns - (len(text) - len(text.strip(' ')))
        parts.append(f'<text x="{x + front * CELL_WIDTH:.1f}" y="{y + FONT_SIZE - 1}" textLength="{columns * CELL_WIDTH:.1f}" '
                     f'lengthAdjust="spacingAndGlyphs" xml:space="preserve"{fill}{look}>'
                     f'{html.escape(text.strip(" "), quote=False)}</text>')
    return ''.join(parts)


def draw_frame(lines):
    style = Style()
    return '\n'.join(filter(None, (''.join(draw_run(run, row) for run in runs(line, style)) for row, line in enumerate(lines))))


def draw(frames, columns, title, css=''):
    """frames: the attributes of a group, and the lines of a screen."""
    w = columns * CELL_WIDTH + 2 * MARGIN
    h = len(frames[0][1]) * CELL_HEIGHT + 2 * MARGIN + BAR
    print(f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {w:.0f} {h:.0f}" width="{w:.0f}" height="{h:.0f}">{css}')
    print(f'<rect x="0.5" y="0.5" width="{w - 1:.0f}" height="{h - 1:.0f}" rx="9" fill="{PAPER}" stroke="{EDGE}"/>')
    for i, colour in enumerate(('#f07a8c', '#e5c07b', '#9ece8a')):
        print(f'<circle cx="{20 + 18 * i}" cy="{BAR / 2 + 3:.0f}" r="5.5" fill="{colour}"/>')
    print(f'<g font-family="ui-monospace, \'DejaVu Sans Mono\', Menlo, Consolas, monospace" font-size="{FONT_SIZE}" '
          f'fill="{INK}">')
    print(f'<text x="{w / 2:.0f}" y="{BAR / 2 + 8:.0f}" text-anchor="middle" opacity="0.55">{html.escape(title)}</text>')
    for attributes, lines in frames:
        print(f'<g{attributes}>\n{draw_frame(lines)}\n</g>' if attributes else draw_frame(lines))
    print('</g>\n</svg>')


def film(columns, title, named):
    """Each frame is visible for its seconds. Who wants no motion sees the first one."""
    seconds = [float(n.split('=')[0]) for n in named]
    whole, at, rules, frames = sum(seconds), 0.0, [], []
    for i, (name, length) in enumerate(zip(named, seconds)):
        begin, end = 100 * at / whole, 100 * (at + length) / whole
        hidden = f'0%{{visibility:hidden}}{begin:.3f}%{{visibility:visible}}' if i else '0%{visibility:visible}'
        rules.append(f'@keyframes f{i}{{{hidden}{end:.3f}%,100%{{visibility:{"hidden" if i + 1 < len(named) else "visible"}}}}}'
                     f'.f{i}{{animation:f{i} {whole:g}s step-end infinite}}')
        with open(name.split('=', 1)[1], encoding='utf-8') as f:
            frames.append((f' class="f{i}"', f.read().rstrip('\n').split('\n')))
        at += length
    still = '@media(prefers-reduced-motion){g[class]{animation:none;visibility:hidden}.f0{visibility:visible}}'
    rows = max(len(lines) for _, lines in frames)
    draw([(a, lines + [''] * (rows - len(lines))) for a, lines in frames], columns, title,
         f'<style>{"".join(rules)}{still}</style>')


def words(path):
    """Texts of a picture in the order in which they stand, runs of blanks as one."""
    with open(path, encoding='utf-8') as f:
        texts = re.findall(r'<text [^>]*>(.*?)</text>', f.read(), re.S)
    for text in texts[1:]:
        text = ' '.join(html.unescape(text).split())
        if text:
            print(text)


def main():
    if sys.argv[1] == '--text':
        words(sys.argv[2])
    elif sys.argv[1] == '--film':
        film(int(sys.argv[2]), sys.argv[3], sys.argv[4:])
    else:
        draw([('', sys.stdin.read().rstrip('\n').split('\n'))], int(sys.argv[1]), sys.argv[2])


main()
