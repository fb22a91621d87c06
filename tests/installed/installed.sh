#!/bin/sh
# Compiles a third-party program against the files that `cmake --install` installs and nothing else: through pkg-config
# and through CMake's package.
#   usage: installed.sh SOURCE_DIR BUILD_DIR CC
set -eu
src=$1 build=$2 cc=$3
top=$(mktemp -d)
trap 'rm -rf "$top"' EXIT

die() {
    echo "installed: $*"
    exit 1
}

cmake --install "$build" --prefix "$top/prefix" >"$top/log" 2>&1 || { cat "$top/log"; die "cannot be installed"; }
for file in bin/reprise share/man/man1/reprise.1 include/reprise/store/api/host.h; do
    [ -s "$top/prefix/$file" ] || die "no $file"
done
[ ! -e "$top/prefix/include/reprise/store/systems" ] || die "private headers of the systems are installed"
# Away from the source, so that none of its headers is found by accident.
mkdir "$top/other"
cp -r "$src/tests/installed" "$src/tests/support" "$top/other/"

cat >"$top/want" <<'END'
goat: Payments
  {"type":"user","uuid":"m-1","session_id":"pay-1","timestamp":"2026-02-09T02:48:28Z","message":{"role":"user","content":"pay"},"parent_tool_use_id":null,"parent_agent_id":null}
memory: Payments
  {"type":"user","uuid":"1","session_id":"","message":{"role":"user","content":"pay"}}
END
sed -i 's/"session_id":""/"session_id":"pay-1"/' "$top/want"

try() { # NAME PROGRAM
    mkdir -p "$top/$1"
    echo one >"$top/$1/file"
    "$2" "$top/$1/sessions" "$top/$1/file" >"$top/$1/got" 2>&1 || { cat "$top/$1/got"; die "$1: the program failed"; }
    cmp -s "$top/$1/got" "$top/want" || { diff "$top/want" "$top/$1/got"; die "$1: the output differs"; }
    [ -s "$top/$1/sessions/pay-1/checkpoints/m-1/manifest.json" ] || die "$1: no checkpoint"
}

pc=$(find "$top/prefix" -name reprise.pc)
[ -n "$pc" ] || die "no reprise.pc"
PKG_CONFIG_PATH=$(dirname "$pc")
export PKG_CONFIG_PATH
# shellcheck disable=SC2046
"$cc" -std=c11 -Wall -Wextra -Wpedantic -Werror -D_GNU_SOURCE -I"$top/other" -o "$top/by-pc" \
    "$top/other/installed/host.c" "$top/other/support/memory_store.c" $(pkg-config --cflags --libs reprise) ||
    die "does not compile by pkg-config"
try pkg-config "$top/by-pc"

{
    cmake -G Ninja -S "$top/other/installed" -B "$top/by-cmake" -DCMAKE_PREFIX_PATH="$top/prefix" -DCMAKE_C_COMPILER="$cc" \
        -DCMAKE_C_FLAGS=-D_GNU_SOURCE && cmake --build "$top/by-cmake"
} >"$top/log" 2>&1 || { cat "$top/log"; die "does not compile by CMake"; }
try cmake "$top/by-cmake/host"
