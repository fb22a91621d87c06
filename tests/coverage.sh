#!/bin/sh
# Branches of the rewind engine that no test takes: builds with counters, runs what tests it, asks gcov.
#   usage: coverage.sh BUILD_DIR [FILE...]      FILEs of store/rewind; else those that apply and recover
set -eu
src=$(cd "$(dirname "$0")/.." && pwd)
mkdir -p "$1"
build=$(cd "$1" && pwd)
shift
[ $# -gt 0 ] || set -- pathrule.c apply.c carry.c stage.c kept.c reach.c records.c syncdirs.c tx.c
units="pathrule beneath preview rewind rewind_cases rewind_kernel rewind_large rewind_record span spandiff"
faults="sweep_rewind sweep_talk user_saves full_disk race_swap"

cmake -S "$src" -B "$build" -DCMAKE_BUILD_TYPE=Debug -DCMAKE_C_FLAGS_DEBUG=-O0 -DREPRISE_COVERAGE=ON >/dev/null
targets=$faults
for unit in $units; do targets="$targets test_$unit"; done
# shellcheck disable=SC2086
cmake --build "$build" -j2 --target $targets >/dev/null
find "$build" -name '*.gcda' -delete
for unit in $units; do "$build/tests/test_$unit" >/dev/null 2>&1 || echo "test_$unit failed"; done
for fault in $faults; do "$build/tests/fault/$fault" >/dev/null 2>&1 || echo "$fault failed"; done

cd "$build/store/CMakeFiles/store.dir/rewind"
for file in "$@"; do
    gcov -b "$file.gcda" 2>/dev/null | awk -v file="$file" '
        /^File / { ours = index($0, "store/rewind/" file) }
        ours && /^(Lines|Taken)/ { sub(/ *of .*/, ""); printf "%s%s", $0, /^Taken/ ? "\n" : ", " ; if (/^Taken/) ours = 0 }
        ' | sed "s/^/$file: /"
    # A branch of a line is told under it.
    awk '/^ *[0-9#=-]+\*?: *[0-9]+:/ { line = $0 } /^branch .*(taken 0|never)/ && line !~ /seen/ && line != last { print "    " line; last = line }' "$file.gcov"
done
