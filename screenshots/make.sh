#!/bin/sh
# Takes the pictures: runs the real program on the demo's store in a terminal and draws what is on the screen.
#   usage: make.sh PROGRAM DEMO_STORE [DIRECTORY]     (screenshots/ by default)
pictures=$(cd "${3:-$(dirname "$0")}" && pwd)
svg=$(cd "$(dirname "$0")" && pwd)/svg.py
screens=$(cd "$(dirname "$0")/../tests/screen" && pwd)
. "$screens/lib.sh"

picture() { # NAME COLUMNS
    tm capture-pane -e -p | python3 "$svg" "$2" "reprise" >"$pictures/$1.svg"
}

demo
open 120 32
see "Fix the payment" "All 152 tests pass" "on disk"
picture list 120
enter_text idempot
gone "Payment page copy"
see "149 tests" "on disk"
picture filter 120
press C-x
see "preview what"
press w
see "dry run" "[x] M src/keys.ts"
press Tab
see "Space file" "createHash"
picture rewind 120
press Escape
press Escape
see "149 tests"
press Right
gone "Enter resume"
see "149 tests"
press z
see "deliveryId: string"
picture transcript 120
