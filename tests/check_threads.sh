#!/bin/sh
# Runs the tests of what has threads under ThreadSanitizer, in a build of its own: the rules in the headers are true.
#   usage: check_threads.sh SOURCE_DIR BUILD_DIR CC
set -eu
src=$1 build=$2/tsan cc=$3
tests="test_host_session test_host_writer"

mkdir -p "$build"
echo 'int main(void) { return 0; }' >"$build/empty.c"
"$cc" -fsanitize=thread -o "$build/empty" "$build/empty.c" 2>/dev/null && "$build/empty" || {
    echo "threads: skipped: $cc has no ThreadSanitizer here"
    exit 77
}
cmake -G Ninja -S "$src" -B "$build" -DCMAKE_C_COMPILER="$cc" -DCMAKE_BUILD_TYPE=Debug -DCMAKE_C_FLAGS_DEBUG="-O1 -g" \
    -DCMAKE_C_COMPILER_LAUNCHER="${CMAKE_C_COMPILER_LAUNCHER:-}" -DREPRISE_TSAN=ON -DREPRISE_UNIT_ONLY=ON >"$build/log" 2>&1 || {
    cat "$build/log"
    exit 1
}
# shellcheck disable=SC2086
cmake --build "$build" -j2 --target $tests >"$build/log" 2>&1 || { cat "$build/log"; exit 1; }
for test in $tests; do
    # The tests fork beside running threads, which ThreadSanitizer warns of unless it is told to accept it.
    TSAN_OPTIONS="halt_on_error=1 die_after_fork=0" "$build/tests/$test"
done
