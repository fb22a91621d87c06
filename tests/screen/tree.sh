#!/bin/sh
# The tree of a turn: directories are opened, a file is read as it was, and the files of any two turns are compared.
. "$(dirname "$0")/lib.sh"
demo
(cd "$project" && find . -type f -print0 | sort -z | xargs -0 sha256sum) >"$top/files"
for size in "80 24" "120 36"; do
    # shellcheck disable=SC2086
    open $size
    see "Payments: idemp"
    enter_text idempot
    gone "Payment page copy"
    menu w
    see "[x] M src/keys.ts"
    press Up
    press Up
    see "▌ Captures must be" "[x] D src/keys.ts"
    enter_text T
    see "all files as in A" "A before Captures must be idempotent" "B now" "▌ .exathena/"
    # A name that is too long for what stands beside or below is cut with a sign, a state is at the end of its line.
    match 'file-history/nightly-report/[0-9a-f]+….*/path'
    for row in docs gift locales migrations ops src; do
        press Down
        see "▌ $row/"
    done
    screen | grep -q "▌ src/.* 3 differ" || fail "src/ does not say how many of its files differ"
    match 'pay.ts .* changed ?$' # what is below it
    see "webhook.ts"
    press Enter
    see "pay.ts" "changed"
    hides "keys.ts" || fail "a file that the turn made is in the tree before it"

    press Enter
    see "the text of a file is shown already"

    # What differs now, and to another turn.
    press Tab
    see "files that differ: - as in A, + as in B" "src/keys.ts" "made later"
    press '['
    see "B before Yes"
    press '['
    see "B before What if an order"
    press '['
    press ']'
    press ']'
    see "B now"
    press Escape
    see "dry run: nothing has been changed"
    press C-c
    ended 130
    close
done
(cd "$project" && find . -type f -print0 | sort -z | xargs -0 sha256sum) | cmp -s - "$top/files" || fail "the project was changed"
