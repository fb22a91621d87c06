#!/bin/sh
# Layering, checked by what the compiler saw and what the linker would need.
#   usage: check_layers.sh SOURCE_DIR BUILD_DIR
src=$1 build=$2 bad=0
for lib in lite/liblite store/libstore tui/libtui_core; do
    # A missing library must fail here: nm on nothing finds nothing, and would pass every check below.
    [ -s "$build/$lib.a" ] || { echo "layer: no $build/$lib.a"; exit 1; }
done
say() { echo "layer: $*"; bad=1; }

# 1. Include direction: tui -> store -> lite, never back.
grep -rnE '^[[:space:]]*#[[:space:]]*include[[:space:]]*"(store|tui|tests)/' "$src"/lite && say "lite includes upward"
grep -rnE '^[[:space:]]*#[[:space:]]*include[[:space:]]*"(tui|tests)/' "$src"/store && say "store includes upward"
# 2. curses is named in tui/term/ only.
grep -rlE '#[[:space:]]*include.*curses' "$src"/lite "$src"/store "$src"/tui |
    grep -v '/tui/term/' && say "curses outside tui/term/"
# 3. lite cannot change a file: it has no such symbol to call.
nm -u "$build"/lite/liblite.a | grep -E ' U (write|pwrite|writev|fwrite|rename|renameat|renameat2|unlink|unlinkat|ftruncate|truncate|mkdir|mkdirat|link|linkat|symlink|chmod|fchmod|fsync|fdatasync)(64)?(_chk)?(@|$)' &&
    say "lite can write"
# 4. The libraries never end the process, print, or read the environment; the screen's core neither.
for lib in lite/liblite store/libstore tui/libtui_core; do
    nm -u "$build/$lib.a" | grep -E ' U (exit|_exit|abort|getenv|secure_getenv|getcwd|printf|puts|perror)(@|$)' &&
        say "$lib calls what only main may"
done
exit $bad
