#!/bin/sh
# Takes the pictures: runs the real program on the demo's store in a terminal and draws what is on the screen.
#   usage: make.sh PROGRAM DEMO_STORE [DIRECTORY]     (screenshots/ by default)
pictures=$(cd "${3:-$(dirname "$0")}" && pwd)
svg=$(cd "$(dirname "$0")" && pwd)/svg.py
. "$(dirname "$0")/../tests/screen/lib.sh"

picture() { # NAME COLUMNS
    tm capture-pane -e -p | python3 "$svg" "$2" "reprise" >"$pictures/$1.svg"
}

demo
open 120 32
see "Fix the payment retry loop" "All 152 tests pass"
picture list 120
enter_text idempot
gone "Payment page copy"
see "all 149 tests pass"
picture filter 120
press Right
gone "Enter resume"
see "all 149 tests pass"
picture transcript 120
press Escape
press C-u
see "Payment page copy"
press F1
gone "Payment page copy"
picture help 120
