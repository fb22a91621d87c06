#!/bin/sh
# Builds what is committed here in a minimal root of another distribution, with the packages that ./run installs there, and
# runs the tests. Takes as long as `./run test release`: about half an hour on two processors.
#   usage: distributions.sh bookworm|trixie|noble        77: no root can be made here
set -eu
src=$(cd "$(dirname "$0")/../.." && pwd)
. "$src/tests/installed/root.sh"
make_root "$1" "$1" git,ca-certificates
# What an earlier run built is used again.
clone=$root/root/reprise
if [ -d "$clone" ]; then
    git -C "$clone" fetch -q "$src" HEAD
    git -C "$clone" reset -q --hard FETCH_HEAD
else
    git clone -q --no-hardlinks "$src" "$clone"
fi
inside /root/reprise/run test release
