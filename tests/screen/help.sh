#!/bin/sh
# Help shows the keys of this context and is closed by Esc.
. "$(dirname "$0")/lib.sh"
demo
open 80 24
see "Fix the payment"
press '?'
see "resume the session"
press Escape
see "Fix the payment"
press F1
see "resume the session"
press Escape
see "Fix the payment"
press C-c
ended 130
