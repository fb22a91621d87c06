#!/bin/sh
# Builds the library for hosts with ThreadSanitizer and runs its tests, in which threads open, list, read and append.
#   usage: threads.sh SOURCE_DIR BUILD_DIR CC
set -eu
src=$1 build=$2 cc=$3
log=$build.log
mkdir -p "$build"
{
    cmake -G Ninja -S "$src" -B "$build" -DCMAKE_BUILD_TYPE=Debug -DCMAKE_C_COMPILER="$cc" \
        -DCMAKE_C_COMPILER_LAUNCHER="${CMAKE_C_COMPILER_LAUNCHER:-}" -DCMAKE_C_FLAGS_DEBUG="-O1 -g -fsanitize=thread" &&
        cmake --build "$build" -j2 --target test_library
} >"$log" 2>&1 || { tail -30 "$log"; exit 1; }
TSAN_OPTIONS=halt_on_error=1 "$build/tests/test_library"
