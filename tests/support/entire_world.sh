#!/bin/sh
# Prints the folder of repositories that Entire wrote to. A script of hundreds of git commands makes them, once for each
# build: tests copy the folder and change the copy.
#   usage: entire_world.sh CACHE NAME     NAME is one that ../fixtures/entire/make_fixture.sh takes, or `all`
# FOLDER.shared is the same, but its objects are those of the first one. The name of the folder covers the script, so that a
# changed script makes a new one.
set -eu
script=$(dirname "$0")/../fixtures/entire/make_fixture.sh names=$2
made=$1/$(sha256sum "$script" | cut -c1-12)-$2
[ "$names" != all ] || names=
mkdir -p "$1"
exec 9>"$1/lock"
flock 9
if [ ! -d "$made.made" ]; then
    rm -rf "$made" "$made.shared"
    # shellcheck disable=SC2086
    bash "$script" "$made" $names >/dev/null
    cp -a "$made" "$made.shared"
    for git in "$made.shared"/*/.git; do
        rm -rf "$git/hooks" "$git/objects"
        mkdir -p "$git/objects/info"
        echo "$made/${git#"$made.shared/"}/objects" >"$git/objects/info/alternates"
    done
    mkdir "$made.made"
fi
echo "$made"
