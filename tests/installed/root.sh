# Roots of other distributions for the scripts beside this one, which source it. They need root, mmdebstrap and a mirror.
# shellcheck shell=sh
roots=${REPRISE_ROOTS:-/var/tmp/reprise-roots}

# Makes a minimal system, and sets `root` to its directory; one that is there already is used again.
make_root() { # SUITE NAME PACKAGE,... OPTION...
    suite=$1 root=$roots/$2 packages=$3
    shift 3
    [ ! -e "$root/made" ] || return 0
    [ "$(id -u)" = 0 ] && command -v mmdebstrap >/dev/null || { echo "skipped: needs root and mmdebstrap"; exit 77; }
    mkdir -p "$roots"
    site=http://deb.debian.org/debian
    if [ "$suite" = noble ]; then
        site=http://archive.ubuntu.com/ubuntu
        keys=/usr/share/keyrings/ubuntu-archive-keyring.gpg
        if [ ! -e $keys ]; then # Debian 13 has a package of it
            keys=$roots/keys$keys
            [ -e "$keys" ] || mmdebstrap -q --variant=extract --include=ubuntu-keyring trixie "$roots/keys" || exit 77
        fi
        set -- --components=main,universe --keyring="$keys" "$@"
    fi
    rm -rf --one-file-system "$root"
    mmdebstrap -q --variant=apt --include="$packages" "$@" "$suite" "$root" "$site" ||
        { echo "skipped: no root of $suite could be made"; exit 77; }
    touch "$root/made"
}

# Runs a command in the root. What it mounts and starts ends with it, so that nothing is left that a removal could follow.
inside() { # COMMAND...
    cp /etc/resolv.conf "$root/etc/resolv.conf"
    # shellcheck disable=SC2016
    unshare --mount --pid --fork --kill-child sh -ec '
        root=$1
        shift
        mount -t proc proc "$root/proc"
        mount -t devpts -o newinstance,ptmxmode=666,mode=620,gid=5 devpts "$root/dev/pts"
        mount -t tmpfs -o mode=1777 tmpfs "$root/dev/shm"
        ln -sf pts/ptmx "$root/dev/ptmx"
        exec chroot "$root" env -i HOME=/root PATH=/usr/sbin:/usr/bin:/sbin:/bin LC_ALL=C.UTF-8 TERM=xterm-256color "$@"
    ' sh "$root" "$@"
}
