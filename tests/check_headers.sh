#!/bin/sh
# Checks that each header compiles alone, can be included twice, and has a guard named for its path. A header that a source
# includes before all others is compiled alone by every build, so only the rest is compiled here.
#   usage: check_headers.sh SOURCE_DIR CC
src=$1 cc=$2 bad=0 seen=0
include="$(pkg-config --cflags cmocka libcjson ncursesw 2>/dev/null) $(pkg-config --cflags libpq hiredis libcurl expat 2>/dev/null)"
# The first include of each source. check_built.sh proves that the sources are built.
first=$(cd "$src" && find lite store tui tests -name '*.c' -exec awk -F'"' '/^#/ { if (/^#include "/) print $2; nextfile }' {} +)
for header in $(cd "$src" && find lite store tui tests -name '*.h' | sort); do
    seen=$((seen + 1))
    case "
$first
" in
    *"
$header
"*) continue ;;
    esac
    # shellcheck disable=SC2086
    printf '#include "%s"\n#include "%s"\n' "$header" "$header" |
        "$cc" -std=c11 -Wall -Wextra -Wpedantic -Werror -D_GNU_SOURCE -D_FILE_OFFSET_BITS=64 \
            -Wno-unused-function -Wno-unused-const-variable -Wno-unused-variable $include -I"$src" -I"$src/tests" \
            -fsyntax-only -x c - || { echo "$header: does not compile alone"; bad=1; }
done
(cd "$src" && find lite store tui tests -name '*.h' -exec awk '
    BEGIN { for (i = 1; i < ARGC; i++) { guard = toupper(ARGV[i]); gsub(/[\/.-]/, "_", guard); names[ARGV[i]] = guard } }
    $0 == "#ifndef " names[FILENAME] { delete names[FILENAME]; nextfile }
    END { for (name in names) { print name ": the guard is not " names[name]; bad = 1 } exit bad }' {} +) || bad=1
[ $seen -gt 20 ] || { echo "only $seen headers in $src"; bad=1; }
exit $bad
