#!/bin/sh
# Checks that every source is built and every test is run, so that a line lost from a CMakeLists.txt is noticed.
#   usage: check_built.sh SOURCE_DIR
cd "$1" || exit 1
export LC_ALL=C
bad=0 lists=$(mktemp -d) || exit 1
trap 'rm -rf "$lists"' EXIT
find lite store tui -name '*.c' | sort >"$lists/sources"
find lite store tui -name CMakeLists.txt | while read -r list; do
    sed -nE "s|^ +([^ ]+\.c)\$|${list%/*}/\1|p" "$list"
done | sort -u >"$lists/built"
comm -23 "$lists/sources" "$lists/built" | sed 's/$/: not in a CMakeLists.txt/' >"$lists/lost"
find tests -name 'test_*.c' | sed 's|.*/test_||; s|\.c$||' | sort >"$lists/tests"
sed -nE 's/^ *unit[a-z_]*\(([^ )]+)[ )].*/\1/p' tests/CMakeLists.txt | sort -u >"$lists/run"
comm -23 "$lists/tests" "$lists/run" | sed 's/.*/test_&.c: not in tests\/CMakeLists.txt/' >>"$lists/lost"
if [ -s "$lists/lost" ]; then
    cat "$lists/lost"
    bad=1
fi
seen=$(wc -l <"$lists/sources")
[ "$seen" -gt 40 ] || { echo "only $seen sources"; bad=1; }
exit $bad
