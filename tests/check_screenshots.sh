#!/bin/sh
# Checks that the screenshots can be taken, and that the committed ones show the current text of the program.
#   usage: check_screenshots.sh PROGRAM DEMO_STORE DIRECTORY
set -eu
fresh=$(mktemp -d) seen=0 svg=$3/svg.py
trap 'rm -rf "$fresh"' EXIT
sh "$3/make.sh" "$1" "$2" "$fresh"
# Sessions contain the path of their directory, so that sizes differ elsewhere; their ages are fixed, so that dates
# differ.
text() {
    python3 "$svg" --text "$1" |
        sed -E 's/[0-9.]+ [KM]?B/#/g; s/(─)+/─/g; s/[0-9]{4}-[0-9]{2}-[0-9]{2}/@/g; s/[0-9]{2}:[0-9]{2}/@/g'
}

for picture in "$fresh"/*.svg; do
    seen=$((seen + 1))
    # Browsers collapse blanks unless the text preserves them.
    ! grep -o '<text [^>]*textLength[^>]*>' "$picture" | grep -v 'xml:space="preserve"' || {
        echo "$(basename "$picture"): a text whose blanks collapse"
        exit 1
    }
    name=$(basename "$picture")
    # What is on the screen between two letters is a matter of moments, so the film is not compared.
    if [ "$name" = film.svg ]; then
        python3 -c 'import sys, xml.etree.ElementTree as x; x.parse(sys.argv[1]); x.parse(sys.argv[2])' "$picture" "$3/$name"
        continue
    fi
    text "$picture" >"$fresh/now"
    text "$3/$name" >"$fresh/then"
    cmp -s "$fresh/now" "$fresh/then" || {
        echo "$name differs from the present screen; take it again with screenshots/make.sh:"
        diff "$fresh/then" "$fresh/now"
        exit 1
    }
done
[ $seen -ge 3 ] || { echo "only $seen pictures"; exit 1; }
