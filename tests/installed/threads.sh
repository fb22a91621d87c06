#!/bin/sh
# Runs the tests of what has threads under ThreadSanitizer, in a build of its own: threads that open, list, read and
# append through the library, sessions that are written in the background, and repositories that are opened while libgit2
# is loaded.
#   usage: threads.sh SOURCE_DIR BUILD_DIR CC
set -eu
src=$1 build=$2 cc=$3
log=$build.log
tests="gitlib library library_team plugin plugin_newest plugin_query host_session host_writer"
mkdir -p "$build"
echo 'int main(void) { return 0; }' >"$build/empty.c"
if ! "$cc" -fsanitize=thread -o "$build/empty" "$build/empty.c" 2>"$log" || ! "$build/empty"; then
    echo "threads: skipped: $cc has no ThreadSanitizer here"
    exit 77
fi
# shellcheck disable=SC2086
{
    cmake -G Ninja -S "$src" -B "$build" -DCMAKE_BUILD_TYPE=Debug -DCMAKE_C_COMPILER="$cc" \
        -DCMAKE_C_COMPILER_LAUNCHER="${CMAKE_C_COMPILER_LAUNCHER:-}" -DCMAKE_C_FLAGS_DEBUG="-O0 -g1" \
        -DREPRISE_TSAN=ON -DREPRISE_UNIT_ONLY=ON &&
        cmake --build "$build" -j2 --target complete_store $(printf 'test_%s ' $tests)
} >"$log" 2>&1 || { tail -30 "$log"; exit 1; }
# Some fork beside running threads, which ThreadSanitizer refuses unless it is told not to.
TSAN_OPTIONS="halt_on_error=1 die_after_fork=0" ctest --test-dir "$build" --output-on-failure -R "^($(echo $tests | tr ' ' '|'))"
