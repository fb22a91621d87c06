#!/bin/sh
# Checks that each header compiles alone, can be included twice, and has a guard named for its path.
#   usage: check_headers.sh SOURCE_DIR CC
src=$1 cc=$2 bad=0 seen=0
include="$(pkg-config --cflags cmocka libcjson ncursesw 2>/dev/null) $(pkg-config --cflags libpq hiredis libcurl expat 2>/dev/null)"
for header in $(cd "$src" && find lite store tui tests -name '*.h' | sort); do
    seen=$((seen + 1))
    guard=$(echo "$header" | tr 'a-z/.-' 'A-Z___')
    grep -q "^#ifndef $guard\$" "$src/$header" ||
        { echo "$header: the guard is not $guard"; bad=1; }
    # shellcheck disable=SC2086
    printf '#include "%s"\n#include "%s"\n' "$header" "$header" |
        "$cc" -std=c11 -Wall -Wextra -Wpedantic -Werror -D_GNU_SOURCE -D_FILE_OFFSET_BITS=64 \
            -Wno-unused-function -Wno-unused-const-variable -Wno-unused-variable $include -I"$src" -I"$src/tests" \
            -fsyntax-only -x c - || { echo "$header: does not compile alone"; bad=1; }
done
[ $seen -gt 20 ] || { echo "only $seen headers in $src"; bad=1; }
exit $bad
