#!/bin/sh
# Checks that the screenshots can be taken, and that the committed ones show the current text of the program.
#   usage: check_screenshots.sh PROGRAM DEMO_STORE DIRECTORY
set -eu
fresh=$(mktemp -d) committed=$3 svg=$3/svg.py
trap 'rm -rf "$fresh"' EXIT

# Sessions contain the path of their directory, so that sizes differ elsewhere; their ages are fixed, so that dates
# differ.
text() {
    "${PYTHON:-python3}" "$svg" --text "$1" |
        sed -E 's/[0-9.]+ [KM]?B/#/g; s/(─)+/─/g; s/[0-9]{4}-[0-9]{2}-[0-9]{2}/@/g; s/[0-9]{2}:[0-9]{2}/@/g'
}

# Takes all pictures and compares them; what is wrong is left in $fresh/wrong.
compare() { # PROGRAM DEMO_STORE
    sh "$committed/make.sh" "$1" "$2" "$fresh"
    : >"$fresh/wrong"
    seen=0
    for picture in "$fresh"/*.svg; do
        seen=$((seen + 1)) name=$(basename "$picture")
        # Browsers collapse blanks unless the text preserves them.
        ! grep -o '<text [^>]*textLength[^>]*>' "$picture" | grep -qv 'xml:space="preserve"' ||
            echo "$name: a text whose blanks collapse" >>"$fresh/wrong"
        # What is on the screen between two letters is a matter of moments, so the film is not compared.
        if [ "$name" = film.svg ]; then
            "${PYTHON:-python3}" -c 'import sys, xml.etree.ElementTree as x; x.parse(sys.argv[1]); x.parse(sys.argv[2])' \
                "$picture" "$committed/$name"
            continue
        fi
        text "$picture" >"$fresh/now"
        text "$committed/$name" >"$fresh/then"
        diff "$fresh/then" "$fresh/now" >"$fresh/diff" || {
            echo "$name differs from the present screen; take it again with screenshots/make.sh:"
            cat "$fresh/diff"
        } >>"$fresh/wrong"
    done
    [ $seen -ge 3 ] || echo "only $seen pictures" >>"$fresh/wrong"
    [ ! -s "$fresh/wrong" ]
}

# A picture that is out of date differs each time; one that was taken between two frames of a busy machine does not.
compare "$1" "$2" || compare "$1" "$2" || { cat "$fresh/wrong"; exit 1; }
