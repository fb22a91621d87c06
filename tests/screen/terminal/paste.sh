#!/bin/sh
# A paste is text where text is entered, up to the end of its line, and nothing anywhere else.
. "$(dirname "$0")/../lib.sh"
demo
paste() { # FORMAT
    # shellcheck disable=SC2059
    printf "$1" >"$top/pasted"
    tm load-buffer "$top/pasted"
    tm paste-buffer -p # line breaks become \r, as in most terminals
}
image >"$top/before"
open 100 30
see "Enter resume"
press Right
match "entry 2[67] of 27"
paste 'q\ny\n'
press /
see "F1 help"
paste 'retry\nloop\n'
see "1 of 1"
match '^/retry +'
press Enter
acknowledge
press q
press q
see "Enter resume"
press Down
press DC
see "Move 1 session"
paste 'y\n2\nyes\n'
press F1
see "type to search"
paste 'rewind\n'
see "preview what a rewind would change"
press Escape
press Escape
see "Move 1 session"
press Escape
press C-r
see "title ›"
paste ' a\tb\033c\n'
see "title › Payments: idempotency keys a b c"
press Escape
gone "title ›"
image | cmp -s - "$top/before" || fail "something was changed"
press C-c
ended 130
