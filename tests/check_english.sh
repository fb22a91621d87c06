#!/bin/sh
# Finds phrases that a native engineer would not write, in comments, string literals and documents.
#   usage: check_english.sh SOURCE_DIR [PATH...]    check these paths instead of the ones below
#          check_english.sh --test                  check this check
# The rules are warnings, not laws: a sentence that is right all the same is listed below with its file. The check
# fails if it finds anything else, and if a listed sentence is no longer found.
paths='lite store tui docs README.md'
exceptions='
tui/commands/command_table.c: data does not speak: Tool calls that were cut off\nby the end of the session get a result that says so
tui/screens/flows/delete_flow.c: data does not speak: Cannot tell whether an agent is still writing to %s
store/systems/claude/chain/row_facts.c: who: Nobody asked it to stop.]
store/demo/story.c: undo, archive: Customers should be able to take back part of an order and get that part of the money
store/demo/story.c: who: One thing to settle first: if somebody returns one of three items, do we refund a part of the **shipping**?
store/demo/story.c: data does not speak: We round **per piece** and multiply, they round **once on the sum**:\n\n| | per piece | per line | on the sum |\n|---|---:|---:|---:|\n| 3 × 19.99 | 11.40 | 11.39 | |\n| 1 × 4.15 | 0.79 | 0.79 | |\n| **VAT** | **12.19** | 12.18 | **12.18** |\n\nBoth ways are allowed, but an invoice must say which, and ours says *on the sum*
store/demo/story.c: who: Nobody counted: the busiest address read 14 receipts over three months, and that is our own support desk
'
find_phrases() { # SOURCE_DIR PATH...: prints "FILE:LINE: RULE: SENTENCE" for each
    "${PYTHON:-python3}" - "$@" <<'EOF'
import os, re, sys

ANYWHERE = [ # in comments, literals and documents
    ('out of memory', r'without memory|no memory (for|to)\b'),
    ('no X with this name', r'\bthere is none|\bthere are none|\bis there (a|an|no|any|one)\b|\b(is|are) none of|\bof this name'),
    ('who', r'\b(nobody|somebody|everybody)\b'),
    ('none is', r'\bnone (is|are|has|have|was|were)\b'),
    ('but for', r'\bbut for\b'),
    ('returns', r'\banswers? (whether|true|false|NULL|ERR_\w+|how many|where|which)\b|\b(is|are) answered (by|with|at once|there)\b'),
    ('resume', r'\b(take|takes|taken|took) \w+( \w+)? up again\b'),
    ('undo, archive', r'\b(take|takes|taken|took|taking) (it |them |that |\w+ )?back\b|\b(put|puts|putting) (\w+ )?aside\b'),
    ('data is', r'\b(lies|lie|lay|stands|stood|hangs|hung) (there|here|in|on|at|behind|before|above|below|beside|between|side by side)\b'),
    ('data does not speak', r'\b(is|are|was|were) (told|said) (by|of|as|in|on|to)\b|\btells? (of|which|what|whether|how|that)\b|\bsays? (nothing|so|which|whether|of)\b'),
    ('nothing', r'\bother than before\b|\bas it stands\b'),
    ('even if', r'\balso (if|when|where)\b'),
    ('after', r'\b(those|rows?|bytes|parts?|keys?|flags?|messages|lines?|each|thread|one|words?|text) behind (the|it|them|that|those|--)\b'),
    ('one per line', r'\b(one|a) \w+ (?-i:an?) (line|row|session|file|piece|record|entry|level|agent)\b'),
    ('mistaken for', r'\b(take|takes|taken) for (an?|part|NULL|another|that)\b'),
    ('made from', r'\b(makes?|made) (an? )?(store|stores|databases?|repositor(y|ies)|sessions?) by\b'),
    ('duplicate', r'\bof duplicate \w+ the (first|last)\b|\b(first|last) (one )?of (several )?equal\b'),
    ('cites what is not here', r'\b(CLI|SPEED|SCREENS)\.md|\b(SAFETY|ARCHITECTURE) [0-9]'),
]
PROSE = [ # in comments and documents, with these capitals
    ('begins with Of', r'(^|[.;:!?*] )Of (?!course)'),
]
COMMENT = [ # in comments of the code only, with these capitals
    ('begins with That', r'(^|[.;!?] )That (it|the|is|an?|no|they|this|one)\b'),
    ('What ... is', r'(^|[.;!?] )What [^.,;:]{1,60} (is|are|was|were|has|have)\b'),
    ('is a question', r'\?$|\? [A-Z]'),
]
PIECE = re.compile(r'/\*(?P<comment>.*?)\*/|"(?P<text>(?:\\.|[^"\\\n])*)"|\'(?:\\.|[^\'\\\n])+\'', re.S)

def flat(text): # one line, without the stars and the indent of a comment
    return re.sub(r'\s+', ' ', re.sub(r'\n\s*\*? ?', ' ', text)).strip()

def pieces(path, text): # (offset, words, the rules for them)
    if path.endswith('.md'):
        text = re.sub(r'^```.*?^```', lambda m: re.sub(r'[^\n]', ' ', m[0]), text, flags=re.S | re.M)
        at = 0
        for part in re.split(r'(\n\s*\n|\n(?=[-|#]))', text):
            yield at, flat(part), ANYWHERE + PROSE
            at += len(part)
    elif path.endswith(('.1', '.5')):
        yield from ((m.start(), m[0], ANYWHERE + PROSE) for m in re.finditer(r'^[^.\n].*$', text, re.M))
    else:
        last = None # literals that follow each other are one text
        for m in PIECE.finditer(text):
            if m['comment'] is not None:
                yield m.start(), flat(m['comment']), ANYWHERE + PROSE + COMMENT
            elif m['text'] is not None and not text[:m.start()].rstrip(' ').endswith('#include'):
                if last and not text[last[2]:m.start()].strip():
                    last = (last[0], last[1] + m['text'], m.end())
                    continue
                if last:
                    yield last[0], last[1], ANYWHERE
                last = (m.start(), m['text'], m.end())
        if last:
            yield last[0], last[1], ANYWHERE

def sentence(text, at): # the sentence of the text that holds this place
    begin = max((m.end() for m in re.finditer(r'[.;] ', text[:at])), default=0)
    end = re.search(r'[.;](\s|$)', text[at:])
    return text[begin:at + end.start() if end else len(text)].strip()

def files(top, path):
    full = os.path.join(top, path)
    if os.path.isfile(full):
        return [path]
    found = [os.path.relpath(os.path.join(d, f), top) for d, _, names in os.walk(full) for f in names]
    return sorted(f for f in found if f.endswith(('.c', '.h', '.md', '.1', '.5')))

top, seen = sys.argv[1], 0
for path in (f for p in sys.argv[2:] for f in files(top, p)):
    text = open(os.path.join(top, path), encoding='utf-8').read()
    seen += 1
    for at, words, rules in pieces(path, text):
        for rule, pattern in rules:
            for m in re.finditer(pattern, words, re.I if (rule, pattern) in ANYWHERE else 0):
                line = text.count('\n', 0, at) + 1
                print(f'{path}:{line}: {rule}: {sentence(words, m.start() + len(m[0]) // 2)}')
sys.exit(0 if seen else f'no sources in {top}')
EOF
}

check() { # SOURCE_DIR PATH...
    found=$(find_phrases "$@") || exit 1
    # Without the line, which changes with every edit.
    printf '%s\n' "$found" | sed -E '/^$/d; s/:[0-9]+:/:/' | sort -u >"$work/found"
    printf '%s\n' "$exceptions" | sed '/^$/d' | sort -u >"$work/accepted"
    printf '%s\n' "$found" | grep -v '^$' | while IFS= read -r line; do
        printf '%s\n' "$line" | sed -E 's/:[0-9]+:/:/' | grep -qxFf "$work/accepted" || printf 'english: %s\n' "$line"
    done
    comm -13 "$work/found" "$work/accepted" | sed 's/^/english: no longer found: /'
    cmp -s "$work/found" "$work/accepted"
}

caught() { # NAME SOURCE: the check must find something in it
    printf '%s\n' "$2" >"$work/src/x.c"
    if check "$work" src >/dev/null; then
        echo "not caught: $1"
        failed=1
    fi
}

check_itself() {
    exceptions='' failed=0
    mkdir -p "$work/src"
    printf '%s\n' '/* Returns the row with this id, or NULL if there is no such row. */' \
        'const char *why = "Permission denied";' >"$work/src/x.c"
    check "$work" src >/dev/null || { echo "a clean file is not passed"; failed=1; }
    caught "memory" '/* False without memory. */'
    caught "a phrase across two lines of a comment" '/* The list is empty where there
 * is none. */'
    caught "a name" 'err_set(e, ERR_NOT_FOUND, "no session of this name");'
    caught "a name across two literals" 'puts("no session of "
     "this name");'
    caught "somebody" '/* Somebody holds the lock. */'
    caught "a sentence that begins with Of" '/* Rows are read. Of a copy nothing is known. */'
    caught "a sentence that begins with That" '/* That it failed is no error. */'
    caught "a question" '/* Is it open? */'
    caught "also if" '/* Returns true, also if it failed. */'
    caught "behind" '/* The rows behind it are dropped. */'
    caught "a line" '/* The log: one event a line. */'
    caught "taken for" '/* A late time is taken for another. */'
    caught "a store by a schema" '/* Makes stores by the schema. */'
    caught "a duplicate" '/* Of duplicate keys the last counts. */'
    caught "undo" 'puts("the change was taken back");'
    caught "data that lies" '/* The file lies beside it. */'
    caught "a document that is not here" '/* See CLI.md. */'
    printf '%s\n' 'Text where nobody looks.' >"$work/src/x.c"
    check "$work" src >/dev/null || { echo "code is mistaken for prose"; failed=1; }
    printf '%s\n' 'A document that nobody reads.' >"$work/src/x.md"
    if check "$work" src >/dev/null; then echo "a document is not read"; failed=1; fi
    printf '%s\n' 'Of a copy the name is kept.' >"$work/src/x.md"
    if check "$work" src >/dev/null; then echo "a document that begins with Of is not caught"; failed=1; fi
    printf '%s\n' 'A document that nobody reads.' >"$work/src/x.md"
    exceptions='src/x.md: who: A document that nobody reads'
    check "$work" src >/dev/null || { echo "an exception is not accepted"; failed=1; }
    rm "$work/src/x.md"
    if check "$work" src >/dev/null; then echo "an exception that is not found is accepted"; failed=1; fi
    if (check "$work/nowhere" src) >/dev/null 2>&1; then echo "passes without sources"; failed=1; fi
    return $failed
}

work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
if [ "$1" = --test ]; then
    check_itself
    exit
fi
src=$1
shift
# shellcheck disable=SC2086
check "$src" ${*:-$paths}
