#!/bin/sh
# Help shows the keys of this place and goes away with Esc.
. "$(dirname "$0")/lib.sh"
demo
open 80 24
see "Fix the payment retry loop"
press '?'
see "resume"
press Escape
see "Fix the payment retry loop"
press F1
see "resume"
press Escape
see "Fix the payment retry loop"
press C-c
ended 130
