#!/bin/sh
# What is handed to users: the source tarball builds without this checkout, and gives the same bytes in another directory;
# the program is hardened; the Debian packages contain what they should, and work when they are unpacked.
#   usage: packages.sh BUILD_DIR
# Remarks of lintian that are accepted: CPack itself writes the two scripts that call ldconfig.
set -eu
build=$1
top=$(mktemp -d)
trap 'rm -rf "$top"' EXIT

die() {
    echo "packages: $*"
    exit 1
}

quietly() {
    "$@" >"$top/log" 2>&1 || { cat "$top/log"; die "failed: $*"; }
}

# ---- the program is hardened ----

program=$build/reprise
readelf -h "$program" | grep -q 'Type:.*DYN' || die "not position independent"
readelf -lW "$program" | grep -q GNU_RELRO || die "no RELRO"
readelf -dW "$program" | grep -Eq 'BIND_NOW|FLAGS_1.*NOW' || die "not bound at the start: RELRO is partial"
readelf -lW "$program" | grep GNU_STACK | grep -q RWE && die "the stack can be executed"
symbols=$(readelf -W --dyn-syms "$program")
for symbol in __stack_chk_fail __memcpy_chk; do
    echo "$symbols" | grep -q "$symbol" || die "no $symbol: not hardened"
done
! echo "$symbols" | grep -Eq ' (socket|connect|getaddrinfo|sendto)(@|$)' || die "the program itself can use the network"
strings -a "$program" | grep -F "$(dirname "$build")/" && die "the path of the build is in the program"

# ---- the source tarball, built elsewhere ----

cd "$top"
quietly cpack --config "$build/CPackSourceConfig.cmake" -B "$top"
tarball=$(echo reprise-*.tar.xz)
sha256sum -c --status "$tarball.sha256" || die "the checksum of the tarball is wrong"
tar -xf "$tarball"
src=$top/${tarball%.tar.xz}
[ -z "$(find "$src" -name '.git' -o -name 'build*' -type d)" ] || die "the tarball contains more than the source"
set -- -DCMAKE_BUILD_TYPE=Release -DBUILD_TESTING=OFF
for name in CMAKE_C_COMPILER CMAKE_C_COMPILER_LAUNCHER CMAKE_C_FLAGS CMAKE_EXE_LINKER_FLAGS CMAKE_SHARED_LINKER_FLAGS REPRISE_PORTABLE; do
    value=$(sed -n "s/^$name:[A-Z]*=//p" "$build/CMakeCache.txt")
    [ -z "$value" ] || set -- "$@" "-D$name=$value"
done
quietly cmake -S "$src" -B "$top/out" -G Ninja "$@"
quietly ninja -C "$top/out" reprise
cmp "$program" "$top/out/reprise" || die "a build in another directory gives other bytes"

# ---- the packages ----

quietly cmake -S "$src" -B "$top/out" -DCMAKE_INSTALL_PREFIX=/usr
quietly ninja -C "$top/out"
cd "$top/out"
quietly cpack -G DEB
rm -rf "$src" # what follows needs no source
sha256sum -c --status ./*.deb.sha256 || die "the checksum of a package is wrong"
mkdir "$top/root"
for package in reprise libreprise0 libreprise-dev; do
    quietly dpkg-deb -x "${package}"_*.deb "$top/root"
    zcat "$top/root/usr/share/doc/$package/changelog.gz" | grep -q '^reprise (' || die "$package has no changelog"
    grep -q 'Permission is hereby granted' "$top/root/usr/share/doc/$package/copyright" || die "$package has no copyright"
done
dpkg-deb -f reprise_*.deb Depends | grep -q libgit2 || die "the package names no libraries that it needs"
outside=$(find "$top/root" -mindepth 1 -maxdepth 1 ! -name usr)
[ -z "$outside" ] || die "files outside /usr: $outside"
for file in bin/reprise share/man/man1/reprise.1.gz share/man/man3/reprise_open.3.gz include/reprise.h \
    share/bash-completion/completions/reprise share/zsh/vendor-completions/_reprise share/fish/vendor_completions.d/reprise.fish; do
    [ -s "$top/root/usr/$file" ] || die "no $file"
done
mkdir "$top/home"
run() {
    env -i HOME="$top/home" PATH="$PATH" TERM=dumb LC_ALL=C.UTF-8 "$top/root/usr/bin/reprise" "$@"
}
run --version | grep -q '^reprise [0-9]' || die "the installed program does not run"
echo | run demo --plain 2>&1 | grep -q 'Payments: idempotency keys' || die "the demo does not run"
[ -z "$(ls -A "$top/home")" ] || die "the demo wrote into the home directory"
if command -v lintian >/dev/null; then
    lintian --tag-display-limit 0 ./*.deb >"$top/log" 2>/dev/null || true
    ! grep -v 'maintscript-calls-ldconfig' "$top/log" || die "lintian has remarks"
fi
rm -rf "$build/packages"
mkdir "$build/packages"
cp ./*.deb "$build/packages" # bare_root.sh installs them
echo "the packages are complete; $(command -v lintian >/dev/null || echo 'lintian is not installed and was not asked')"
