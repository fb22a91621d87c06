#!/bin/sh
# Installs the Debian packages in a minimal root, as a person would, and uses them there: the demo, the manual, and, in bash,
# zsh and fish in a terminal, the completions and the key binding.
# The packages are those that the test `packages` leaves, or makes now.
#   usage: bare_root.sh SOURCE_DIR BUILD_DIR        77: no root can be made here
set -eu
src=$1 build=$2
. "$src/tests/installed/root.sh"
. /etc/os-release
make_root "$VERSION_CODENAME" bare-new ca-certificates

die() {
    echo "bare_root: $*"
    exit 1
}

# A copy of its own, so that every run installs into a root that has never seen the packages.
rm -rf --one-file-system "$roots/bare"
cp -a "$root" "$roots/bare"
root=$roots/bare log=$roots/bare.log

quietly() {
    "$@" >"$log" 2>&1 || { cat "$log"; die "failed: $*"; }
}

install() { # PACKAGE...
    quietly inside env DEBIAN_FRONTEND=noninteractive \
        sh -c "apt-get -o APT::Sandbox::User=root install -qy --no-install-recommends $*"
}

[ -d "$build/packages" ] || quietly sh "$src/tests/installed/packages.sh" "$build"
mkdir "$root/debs"
cp "$build"/packages/*.deb "$root/debs"
quietly inside apt-get -q update

# ---- the program's package alone ----

install '/debs/reprise_*.deb'
inside reprise --version | grep -q '^reprise [0-9]' || die "the program does not run"
echo | inside reprise demo --plain 2>&1 | grep -q 'Payments: idempotency keys' || die "the demo does not run"
inside reprise list --json >"$log" || die "no list without sessions"

# ---- with what else is on a person's machine ----

install '/debs/*.deb' man-db tmux git bash-completion zsh fish gcc libc6-dev pkg-config
for page in reprise reprise-config reprise_open; do
    inside man --warnings -P cat $page >"$log" 2>"$log.remarks" || die "no manual page of $page"
    grep -q '^NAME' "$log" || die "the manual page of $page is empty"
    [ ! -s "$log.remarks" ] || { cat "$log.remarks"; die "man has remarks on $page"; }
done
inside sh -c 'mandb -q && apropos reprise' | grep -q '^reprise (1)' || die "apropos does not find the manual"
cp -r "$src/tests" "$root/root/tests"
cp "$build/tests/demo_store" "$root/root/demo_store"
for shell in bash zsh fish; do
    inside sh /root/tests/tui/setup/key_binding.sh /usr/bin/reprise /root/demo_store $shell || die "the key binding of $shell"
    inside sh /root/tests/tui/setup/key_binding.sh /usr/bin/reprise /root/demo_store $shell packaged ||
        die "the completions of $shell"
done
inside sh /root/tests/screen/opens_and_lists.sh /usr/bin/reprise /root/demo_store || die "the screen"

# ---- removed again ----

quietly inside apt-get -qy purge reprise libreprise0 libreprise-dev
left=$(cd "$root" && find etc usr var -name '*reprise*' ! -path 'var/cache/*' ! -path 'var/lib/apt/*' ! -path 'var/log/*')
[ -z "$left" ] || die "files are left behind: $left"
echo "installed, used and removed in $PRETTY_NAME"
