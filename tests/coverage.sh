#!/bin/sh
# Lists branches of the rewind engine that no test takes: builds with counters, runs its tests, evaluates with gcov.
#   usage: coverage.sh BUILD_DIR [FILE...]
# FILEs of store are listed branch by branch only. Without any it lists the path rules, apply and recovery: it prints a
# line of figures for each file and the missing branches, and exits 1 if one of the path rules is missing.
set -eu
src=$(cd "$(dirname "$0")/.." && pwd)
mkdir -p "$1"
build=$(cd "$1" && pwd)
shift
check=
[ $# -gt 0 ] || check=yes
[ $# -gt 0 ] || set -- fs/copy.c fs/file_at.c journal/record.c rewind/plan/beneath.c rewind/plan/pathrule.c \
    rewind/apply/apply.c rewind/apply/apply_files.c rewind/apply/entry_files.c rewind/apply/entry_names.c \
    rewind/apply/stage.c rewind/record/backup.c rewind/record/record.c rewind/record/records.c
for file in "$@"; do
    [ -f "$src/store/$file" ] || { echo "$file: no such file"; exit 1; }
done
units="attrs copy dirs pathrule beneath planid preview prune known_state rewind rewind_allowed rewind_calls rewind_cases rewind_edges
    rewind_kernel rewind_syscalls rewind_open_files rewind_scaling move trash single_turn rewind_record rewind_resumed rewind_conversation free_space record_id"

cmake -S "$src" -B "$build" -DCMAKE_BUILD_TYPE=Debug -DCMAKE_C_FLAGS_DEBUG=-O0 -DREPRISE_COVERAGE=ON >/dev/null
targets=
for unit in $units; do targets="$targets test_$unit"; done
# shellcheck disable=SC2086
cmake --build "$build" -j2 --target $targets >/dev/null
find "$build" -name '*.gcda' -delete
# Tests that continue as another user count too: the counters exist already, and all users may write them.
find "$build" -name '*.gcno' | while read -r notes; do
    : >"${notes%.gcno}.gcda"
    chmod a+rw "${notes%.gcno}.gcda"
done
failed=0
for unit in $units; do
    ctest --test-dir "$build" -R "^$unit\$" >/dev/null 2>&1 || { echo "test_$unit failed"; failed=1; }
done

objects=$build/store/CMakeFiles/store.dir
told=$build/told.gcov
cd "$src" # the objects name their sources relative to it
for file in "$@"; do
    gcov -t -b -c -o "$(dirname "$objects/$file")" "$objects/$file.gcda" >"$told" 2>/dev/null || true
    [ -s "$told" ] || { echo "$file: not run"; failed=1; continue; }
    # A branch is printed under its line.
    awk -v file="$file" '
        /^ *[0-9#=-]+\*?: *[0-9]+:/ { line = $0 }
        /^branch / { n++; if (/taken 0|never/) { missing++; if (line != last) lines = lines "    " line "\n"; last = line } }
        END {
            if (!n) { print file ": not run"; exit 1 }
            printf "%-11s %3d of %3d branches, %.1f %%\n%s", file, n - missing, n, 100 * (n - missing) / n, lines
            exit missing > 0 && file ~ /pathrule/
        }' "$told" || failed=1
done
[ -z "$check" ] || exit "$failed"
