#!/bin/sh
# Builds, as archives, the libraries of the static program that Debian has no archive of, or only one that contains more
# than the program needs: cJSON, md4c, libgit2 without ssh and https, libcrypto with little more than its digests, and
# ncurses with descriptions of the usual terminals in it.
# Their sources are the distribution's source packages, whose signatures and checksums apt verifies.
#   usage: static_libraries.sh PREFIX        CMake calls it for -DREPRISE_STATIC=ON
set -eu
prefix=$1
[ -e "$prefix/complete" ] && exit
mkdir -p "$prefix"
prefix=$(cd "$prefix" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
# Paths of this directory must not reach the binary; functions that are not used, and tables for exceptions, are left out.
CFLAGS="-O2 -ffunction-sections -fdata-sections -fno-asynchronous-unwind-tables -fPIE -ffile-prefix-map=$work=. -fstack-protector-strong"
export CFLAGS

. /etc/os-release
mkdir -p "$work/parts" "$work/lists/partial"
case $ID in
ubuntu) sites="http://archive.ubuntu.com/ubuntu" keys=/usr/share/keyrings/ubuntu-archive-keyring.gpg parts="main universe" ;;
*) sites="http://deb.debian.org/debian" keys=/usr/share/keyrings/debian-archive-keyring.gpg parts=main ;;
esac
printf 'Types: deb-src\nURIs: %s\nSuites: %s %s-updates\nComponents: %s\nSigned-By: %s\n' \
    "$sites" "$VERSION_CODENAME" "$VERSION_CODENAME" "$parts" "$keys" >"$work/parts/source.sources"

source_apt() { # ARG... : with a list of sources of its own
    apt-get -qq -o Dir::Etc::sourcelist=/dev/null -o Dir::Etc::sourceparts="$work/parts" \
        -o Dir::State::lists="$work/lists" -o Dir::Cache::srcpkgcache= -o Dir::Cache::pkgcache= \
        -o APT::Sandbox::User="$(id -un)" "$@"
}

unpack() { # PACKAGE: into a directory of that name; some packages have no patches, and only the archive
    (cd "$work" && { source_apt source "$1" || source_apt source --tar-only "$1"; } >"$work/log" 2>&1) ||
        { cat "$work/log" >&2; exit 1; }
    tree=$(find "$work" -mindepth 1 -maxdepth 1 -type d -name "$1-*")
    if [ -n "$tree" ]; then
        mv "$tree" "$work/$1"
    else
        mkdir "$work/$1"
        tar -xf "$work/$1"_*.orig.tar.* -C "$work/$1" --strip-components 1
    fi
}

quietly() {
    "$@" >"$work/log" 2>&1 || { cat "$work/log" >&2; exit 1; }
}

with_cmake() { # PACKAGE OPTION...
    name=$1
    shift
    unpack "$name"
    quietly cmake -S "$work/$name" -B "$work/$name/build-static" -G Ninja -DCMAKE_BUILD_TYPE=None -DBUILD_SHARED_LIBS=OFF \
        -DCMAKE_INSTALL_PREFIX="$prefix" -DCMAKE_INSTALL_LIBDIR=lib "$@"
    quietly ninja -C "$work/$name/build-static" install
}

source_apt update
with_cmake cjson -DENABLE_CJSON_TEST=OFF
with_cmake md4c -DBUILD_MD2HTML_EXECUTABLE=OFF
with_cmake libgit2 -DUSE_SSH=OFF -DUSE_HTTPS=OFF -DUSE_GSSAPI=OFF -DBUILD_TESTS=OFF -DBUILD_CLI=OFF \
    -DREGEX_BACKEND=pcre2 -DUSE_HTTP_PARSER=system
unpack openssl
cd "$work/openssl"
# shellcheck disable=SC2086
quietly ./config no-shared no-tests no-dso no-engine no-sock no-legacy no-module no-async no-autoload-config no-ui-console \
    no-err no-filenames no-comp no-ssl no-tls no-dtls no-ct no-cms no-cmp no-ocsp no-ts no-srp no-psk no-rfc3779 no-ec no-dh \
    no-dsa no-aria no-bf no-blake2 no-camellia no-cast no-chacha no-cmac no-des no-gost no-idea no-md4 no-mdc2 no-ocb \
    no-poly1305 no-rc2 no-rc4 no-rmd160 no-scrypt no-seed no-siphash no-siv no-sm2 no-sm3 no-sm4 no-whirlpool \
    --prefix=/usr --openssldir=/usr/lib/ssl --libdir=lib $CFLAGS
quietly make -j"$(nproc)" build_generated libcrypto.a
quietly make install_dev INSTALLTOP="$prefix" # its own prefix would be in the binary
unpack ncurses
cd "$work/ncurses"
terminals= # of those below, the ones that this machine knows
for name in xterm-256color xterm xterm-kitty alacritty screen-256color screen tmux-256color tmux linux vt100 vt220; do
    infocmp "$name" >/dev/null 2>&1 && terminals=$terminals${terminals:+,}$name
done
quietly ./configure --prefix="$prefix" --libdir="$prefix/lib" --with-pkg-config-libdir="$prefix/lib/pkgconfig" \
    --enable-pc-files --enable-widec --with-termlib --with-normal --without-shared --without-debug --without-ada \
    --without-cxx --without-cxx-binding --without-progs --without-tests --without-manpages --disable-db-install \
    --with-default-terminfo-dir=/usr/share/terminfo --with-terminfo-dirs=/etc/terminfo:/lib/terminfo:/usr/share/terminfo \
    --with-fallbacks="$terminals"
quietly make -j"$(nproc)" libs
quietly make install.libs install.includes
touch "$prefix/complete"
