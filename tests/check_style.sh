#!/bin/sh
# Checks the limits of the house style that a machine can count: lines of a file and of a function, leftovers.
#   usage: check_style.sh SOURCE_DIR
src=$1
cd "$src" || exit 1
files=$(find lite store tui tests -name '*.[ch]' | sort)
[ "$(echo "$files" | wc -l)" -gt 40 ] || { echo "style: no sources in $src"; exit 1; }
# shellcheck disable=SC2086
awk '
    function say(text) { printf "%s:%d: %s\n", FILENAME, FNR, text; bad = 1 }
    FNR == 1 { begin = 0 }
    # The header for hosts is one file, whatever it has to describe.
    FNR == 601 && FILENAME !~ /\/reprise\.h$/ { say("a file of more than 600 lines") }
    /^\{$/ { begin = FNR }
    # Tests may be longer.
    /^\}$/ && begin { if (FNR - begin > 61 && FILENAME !~ /^tests/) say("a function of more than 60 lines"); begin = 0 }
    /\t/ { say("a tab") }
    /[ \r]$/ { say("blank at the end of a line") }
    /(^|[^A-Za-z])(TODO|FIXME|XXX|HACK)([^A-Za-z]|$)/ { say("something left undone") }
    /\/\/ / && !/:\/\// && !/"/ { say("a // comment") }
    # A return before its first assignment would release what happens to be on the stack.
    /^ +(CLEANUP\([a-z_]+\)|AUTO_[A-Z]+) [^=;]*;/ { say("a variable that is released at its end, and has no value at first") }
    # clang-format breaks a field whose comment is too long for its line.
    apart && /^ +[^ ].*[;,] *\/\*/ { say("a field pushed off its line by its comment: put that above it") }
    { apart = /^ +(const |unsigned |enum |struct )*[a-z0-9_]+( [a-z0-9_]+)?$/ && !/(else|return|do)$/ ||
              /^ +[A-Z0-9_]+ =$/ }
    END { exit bad }
' $files
