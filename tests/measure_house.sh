#!/bin/sh
# Measures of the code base: how large it is, how it is cut, and what is written more than once.
#   usage: measure_house.sh [SOURCE_DIR [BUILD_DIR]]
# Public functions are measured if BUILD_DIR holds the libraries; functions if ctags (universal) is installed.
src=$(cd "${1:-$(dirname "$0")/..}" && pwd) && cd "$src" || exit 1
build=${2:-build}
product() { find lite store tui -name '*.[ch]'; }
row() { printf '%-58s %s\n' "$1" "$2"; }
matches() { product | xargs grep -hoE "$1" | wc -l; }

row 'most files in one folder' "$(git ls-files lite store tui tests | grep -v "^tests/fixtures/" |
    sed 's,/[^/]*$,,' | sort | uniq -c | sort -rn | awk 'NR <= 4 { printf "%s%s %s", sep, $1, $2; sep = ", " }')"
row 'files in store/, tui/, tests/ themselves' \
    "$(for room in store tui tests; do find $room -maxdepth 1 -type f | wc -l; done | paste -sd ' ')"
row 'product lines (lite, store, tui)' "$(product | xargs cat | wc -l)"
row 'product files' "$(product | wc -l)"
row 'headers under 30 lines' "$(find lite store tui -name '*.h' -exec wc -l {} \; | awk '$1 < 30' | wc -l)"
python3 - <<'EOF'
# X.c and X.h are one node: circles are sets of nodes that reach each other by their includes.
import os, re, sys
sys.setrecursionlimit(10000)
files = [os.path.join(d, f) for top in ('lite', 'store', 'tui') for d, _, names in os.walk(top)
         for f in names if f.endswith(('.c', '.h'))]
nodes = {f[:-2] for f in files}
edges = {n: set() for n in nodes}
for f in files:
    for header in re.findall(r'^\s*#\s*include\s*"([^"]+)"', open(f, encoding='utf-8').read(), re.M):
        if header[:-2] in nodes and header[:-2] != f[:-2]:
            edges[f[:-2]].add(header[:-2])
number, low, stack, circles = {}, {}, [], []
def visit(n):
    number[n] = low[n] = len(number)
    stack.append(n)
    for m in edges[n]:
        if m not in number:
            visit(m)
        if m in stack:
            low[n] = min(low[n], low[m])
    if low[n] == number[n]:
        members = stack[stack.index(n):]
        del stack[stack.index(n):]
        if len(members) > 1:
            circles.append(sorted(members))
for n in sorted(nodes):
    if n not in number:
        visit(n)
print(f'{"include circles":<58} {len(circles)}')
for c in sorted(circles):
    print('   ', ' '.join(c))
EOF
for lib in lite/liblite store/libstore tui/libtui_core tui/libtui_commands; do
    [ -f "$build/$lib.a" ] && nm -A --defined-only "$build/$lib.a" 2>/dev/null
done | awk '$2 == "T" || $3 == "T" { split($1, part, ":"); sub(/\.c\.o$/, "", part[2]); print part[2], $NF }' |
    sort -u >"${TMPDIR:-/tmp}/house.$$"
if [ -s "${TMPDIR:-/tmp}/house.$$" ]; then
    product | grep '\.c$' | awk -F/ '{ n = split($0, part, "/"); stem = part[n]; sub(/\.c$/, "", stem)
        words = ""; for (i = 1; i < n; i++) words = words " " part[i]; print stem words }' |
        awk 'NR == FNR { folders[$1] = folders[$1] " " $0; next }
            { all++; n = split(folders[$1], word, " "); good = 0
              for (i = 1; i <= n && !good; i++) { w = word[i]; good = index($2, w) == 1; if (!good) { sub(/_.*/, "", w); good = index($2, w) == 1 } }
              well += good; if (!good) bad = bad "\n    " $1 ".c: " $2 }
            END { printf "%-58s %.1f %% of %d\n", "public functions that begin with their file or folder", 100 * well / all, all; print substr(bad, 2) > "/dev/stderr" }' \
            - "${TMPDIR:-/tmp}/house.$$" 2>"${TMPDIR:-/tmp}/house.bad.$$"
    [ -z "$VERBOSE" ] || cat "${TMPDIR:-/tmp}/house.bad.$$"
fi
rm -f "${TMPDIR:-/tmp}/house.$$" "${TMPDIR:-/tmp}/house.bad.$$"
row 'functions named grow' "$(matches '^static .*\bgrow(_[a-z]+)?\(')"
row '"out of memory" texts' "$(matches '"[^"]*out of memory')"
row '{ x, strlen(x) }' "$(matches '\{ *[a-z_>.-]+, *strlen\(')"
row 'functions named is_dir, is_directory' "$(matches '^static bool is_dir(ectory)?\(')"
row 'lines and files of the system ExAthena' \
    "$(cat $(find store/systems/exathena -name '*.[ch]') | wc -l), $(ls $(find store/systems/exathena -name '*.[ch]') | wc -l)"
row 'files elsewhere that name ExAthena (lite, store, tui)' \
    "$(product | grep -v '^store/systems/exathena/' | xargs grep -liE 'exathena|athena' | wc -l)"
if ctags --version 2>/dev/null | grep -q Universal; then
    product | grep '\.c$' | ctags -L - --c-kinds=f --fields=+ne -f - 2>/dev/null |
        sed -nE 's/.*\tline:([0-9]+).*\tend:([0-9]+).*/\1 \2/p' | awk '{ print $2 - $1 + 1 }' | sort -n |
        awk '{ n[NR] = $1 } END { printf "%-58s %d, %d, %d (of %d)\n", "lines of a function: median, 90th percentile, most", n[int((NR + 1) / 2)], n[int(NR * 0.9)], n[NR], NR }'
fi
