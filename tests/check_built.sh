#!/bin/sh
# Checks that every source is built and every test is run, so that a line lost from a CMakeLists.txt is noticed.
#   usage: check_built.sh SOURCE_DIR
cd "$1" || exit 1
bad=0 seen=0
for file in $(find lite store tui -name '*.c' | sort); do
    seen=$((seen + 1))
    folder=$(dirname "$file") # the nearest one that has a list
    while [ ! -f "$folder/CMakeLists.txt" ]; do folder=$(dirname "$folder"); done
    grep -qE "^ +${file#"$folder"/}\$" "$folder/CMakeLists.txt" || { echo "$file: not in $folder/CMakeLists.txt"; bad=1; }
done
for file in $(find tests -name 'test_*.c'); do
    name=$(basename "$file" .c)
    grep -qE "^ *unit[a-z_]*\(${name#test_}[ )]" tests/CMakeLists.txt || { echo "$file: not in tests/CMakeLists.txt"; bad=1; }
done
[ $seen -gt 40 ] || { echo "only $seen sources"; bad=1; }
exit $bad
