#!/bin/sh
# Compiles for aarch64 with gcc-aarch64-linux-gnu, against a root with that architecture's libraries, and runs the unit tests
# in qemu-user-static.
#   usage: aarch64.sh SOURCE_DIR BUILD_DIR        77: no root can be made here, or a tool is missing
set -eu
src=$1 build=$2
for tool in aarch64-linux-gnu-gcc qemu-aarch64-static; do
    command -v $tool >/dev/null || { echo "skipped: no $tool"; exit 77; }
done
. "$src/tests/installed/root.sh"
. /etc/os-release
packages=$(sed -n 's/"$//; /^build_packages="/,/^test_packages/p' "$src/run" | grep -oE '\<(lib|uuid|zlib)[a-z0-9+-]*-dev\>' | paste -sd,)
# Nothing runs in this root. It must hold nothing that qemu could take for a path of this machine.
make_root "$VERSION_CODENAME" aarch64 "$packages" --architectures=arm64 --variant=extract
rm -rf --one-file-system "$root/tmp" "$root/dev" "$root/etc" "$root/var" "$root/usr/bin" "$root/usr/sbin"
REPRISE_SYSROOT=$root cmake --preset release -S "$src" -B "$build" --toolchain "$src/packaging/aarch64.cmake" \
    -DREPRISE_UNIT_ONLY=ON -DREPRISE_WERROR=ON
ninja -C "$build"
# These fail in qemu 7.2, some because it has no openat2, leases, errors of posix_spawn or start times in /proc/self; no real machine has tried them.
fail_in_qemu='beneath|host_state|jobs_rows|lease|paint|preview|prune|rewind_(allowed|conversation|draw|edges|resumed|syscalls)|spawn|portable_(rewind_syscalls|spawn)'
ctest --test-dir "$build" --output-on-failure -L unit -E "^($fail_in_qemu)$" -j "$(nproc)"
