#!/bin/sh
# Builds programs against the files that `cmake --install` installs and nothing else, in C99 and in C++17, through
# pkg-config and through CMake's package, with the shared library and with the static one; calls the shared library from
# Python and Lua; and checks its symbols and its manual.
#   usage: installed.sh SOURCE_DIR BUILD_DIR CC CXX
set -eu
src=$1 build=$2 cc=$3 cxx=$4
top=$(mktemp -d)
trap 'rm -rf "$top"' EXIT

die() {
    echo "installed: $*"
    exit 1
}

cmake --install "$build" --prefix "$top/prefix" >"$top/log" 2>&1 || { cat "$top/log"; die "cannot be installed"; }
for file in bin/reprise share/man/man1/reprise.1 share/man/man3/reprise_open.3 share/man/man3/reprise_writer.3 \
    share/bash-completion/completions/reprise share/zsh/vendor-completions/_reprise \
    share/fish/vendor_completions.d/reprise.fish include/reprise.h share/reprise/skill/past-sessions/SKILL.md; do
    [ -s "$top/prefix/$file" ] || die "no $file"
done
headers=$(find "$top/prefix/include" -type f ! -name 'reprise*.h')
[ -z "$headers" ] || die "private headers are installed: $headers"
pc=$(find "$top/prefix" -name reprise.pc)
[ -n "$pc" ] || die "no reprise.pc"
PKG_CONFIG_PATH=$(dirname "$pc")
lib=$(dirname "$PKG_CONFIG_PATH")
export PKG_CONFIG_PATH
# Away from the source, so that none of its headers is found by accident.
cp -r "$src/tests/installed" "$top/other"
cd "$top"

# ---- symbols ----

readelf -d "$lib/libreprise.so" | grep -q 'SONAME.*libreprise\.so\.[0-9]*\]' || die "the library has no soname"
exported() { # NM_OPTION FILE
    nm "$1" --defined-only "$2" | awk 'NF == 3 && $2 ~ /[A-TV-Z]/ { print $3 }' | sed 's/@.*//' | grep -v '^REPRISE_[0-9]*$' | sort
}
exported -D "$lib/libreprise.so" >of-shared
exported -g "$lib/libreprise.a" >of-static
grep -oE '\breprise_[a-z_]+\(' "$src/store/library/reprise.h" | tr -d '(' | grep -v '_fn$' | sort -u >declared
cmp -s of-shared declared || { diff declared of-shared; die "the shared library does not export what reprise.h declares"; }
cmp -s of-static declared || { diff declared of-static; die "the static library does not export what reprise.h declares"; }

# ---- programs ----

cat >want <<'END'
rewind: 1 file, action 0
copy: {"sessionId":"pay-2","sy...
trash: 2 files
goat: Payments
  {"type":"user","uuid":"m-1","session_id":"pay-1","timestamp":"2026-02-09T02:48:28Z","message":{"role":"user","content":"pay"},"parent_tool_use_id":null,"parent_agent_id":null}
END
sed 1,3d want >want.cpp

run() { # NAME PROGRAM WANT CONTENTS
    LD_LIBRARY_PATH=$lib "$2" "$top/$1/sessions" "$top/$1/state" "$top/$1/file" >"$1/got" 2>&1 ||
        { cat "$1/got"; die "$1: $2 failed"; }
    cmp -s "$1/got" "$3" || { diff "$3" "$1/got"; die "$1: the output of $2 differs"; }
    [ "$(cat "$1/file")" = "$4" ] || die "$1: $2 left the file as $(cat "$1/file")"
}

try() { # NAME C_PROGRAM CPP_PROGRAM
    mkdir "$1"
    echo "what the person wrote" >"$1/file"
    run "$1" "$2" want "what the person wrote"
    run "$1" "$3" want.cpp "what the agent wrote"
}

warnings='-Wall -Wextra -Wpedantic -Werror'
compile() { # NAME FLAG...
    name=$1
    shift
    # shellcheck disable=SC2086
    "$cc" -std=c99 $warnings -o "c-$name" other/host.c "$@" || die "$name: does not compile as C99"
    # shellcheck disable=SC2086
    "$cxx" -std=c++17 $warnings -o "cpp-$name" other/host.cpp "$@" || die "$name: does not compile as C++17"
    try "$name" "./c-$name" "./cpp-$name"
}
# shellcheck disable=SC2046
compile shared $(pkg-config --cflags --libs reprise)
# shellcheck disable=SC2046
compile static $(pkg-config --cflags --libs --static reprise | sed 's/-lreprise/-l:libreprise.a/')
for program in c-static cpp-static; do
    ! readelf -d $program | grep -q 'NEEDED.*libreprise' || die "$program needs the shared library"
done

{
    cmake -G Ninja -S other -B by-cmake -DCMAKE_PREFIX_PATH="$top/prefix" -DCMAKE_C_COMPILER="$cc" \
        -DCMAKE_CXX_COMPILER="$cxx" && cmake --build by-cmake
} >log 2>&1 || { cat log; die "does not compile by CMake"; }
try cmake ./by-cmake/c-reprise ./by-cmake/cpp-reprise
try cmake-static ./by-cmake/c-static ./by-cmake/cpp-static

# The first program of the documentation.
sed -n '/^```c$/,/^```$/p' "$src/docs/library.md" | grep -v '^```' >first.c
# shellcheck disable=SC2046,SC2086
"$cc" -std=c99 $warnings -o first first.c $(pkg-config --cflags --libs reprise) || die "docs/library.md: does not compile"
mkdir nobody
env -i HOME="$top/nobody" LD_LIBRARY_PATH="$lib" ./first || die "docs/library.md: the program fails"

# ---- signals ----

# shellcheck disable=SC2046,SC2086
"$cc" -std=c99 $warnings -D_GNU_SOURCE -o signals other/signals.c $(pkg-config --cflags --libs reprise)
mkdir signalled
LD_LIBRARY_PATH=$lib ./signals "$top/signalled" || die "a signal ended the host, or a call did not fail as it should: $?"

# ---- other languages ----

mkdir python lua
python3 other/ffi.py "$lib/libreprise.so" "$top/python" >log 2>&1 || { cat log; die "Python's ctypes"; }
grep -v '^#include' "$top/prefix/include/reprise.h" | "$cc" -E -P -x c - >declarations
luajit other/ffi.lua "$lib/libreprise.so" declarations "$top/lua" >log 2>&1 || { cat log; die "Lua's ffi"; }

# ---- the manual ----

for name in $(cat declared); do
    page=$top/prefix/share/man/man3/$name.3
    [ -s "$page" ] || die "no manual page of $name"
done
for page in "$top"/prefix/share/man/man3/*.3; do
    grep -q '^\.so ' "$page" || mandoc -Tlint -Wwarning "$page" || die "$page has errors"
done
