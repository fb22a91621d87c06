#!/bin/sh
# The pictures can be taken, and the committed ones say what the program says now.
#   usage: check_screenshots.sh PROGRAM DEMO_STORE DIRECTORY
set -eu
fresh=$(mktemp -d) seen=0 svg=$3/svg.py
trap 'rm -rf "$fresh"' EXIT
sh "$3/make.sh" "$1" "$2" "$fresh"
# Sessions name the directory they lie in: how much that makes of them is another number elsewhere; and they are as
# old as they were, so that their dates are others.
text() {
    python3 "$svg" --text "$1" |
        sed -E 's/[0-9.]+ [KM]?B/#/g; s/(─)+/─/g; s/[0-9]{4}-[0-9]{2}-[0-9]{2}/@/g; s/[0-9]{2}:[0-9]{2}/@/g'
}

for picture in "$fresh"/*.svg; do
    seen=$((seen + 1))
    # Browsers collapse the blanks of a text that does not keep them itself.
    ! grep -o '<text [^>]*textLength[^>]*>' "$picture" | grep -v 'xml:space="preserve"' || {
        echo "$(basename "$picture"): a text whose blanks collapse"
        exit 1
    }
    name=$(basename "$picture")
    text "$picture" >"$fresh/now"
    text "$3/$name" >"$fresh/then"
    cmp -s "$fresh/now" "$fresh/then" || {
        echo "$name is not what is on the screen now; take it again with screenshots/make.sh:"
        diff "$fresh/then" "$fresh/now"
        exit 1
    }
done
[ $seen -ge 3 ] || { echo "only $seen pictures"; exit 1; }
