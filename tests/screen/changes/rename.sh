#!/bin/sh
# ^R sets a title that shows at once; undo from the menu restores the old one. The file contains both.
. "$(dirname "$0")/../lib.sh"
demo
open 80 24
see "Payments: idempotency"
press Down
press C-r
see "title › Payments: idempotency keys"
press C-u
enter_text "Keys for every charge"
press Enter
see "renamed to “Keys for every charge”" "Keys for every charge "
match "2h ago  Keys for every cha"
grep -rqF '"customTitle":"Keys for every charge"' "$config/projects" || fail "the title is not in the transcript"
press C-x
see "undo"
enter_text u
see "undone: the rename of"
match "2h ago  Payments: idempotency"
press C-c
ended 130
