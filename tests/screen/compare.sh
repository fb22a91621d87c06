#!/bin/sh
# Two marked sessions next to each other: a session and its fork have messages in common, and each changed a file.
. "$(dirname "$0")/lib.sh"

# The two sessions on refunds are marked and compared.
compare_refunds() {
    open 120 36
    see "Enter resume"
    press Down
    press Down
    press Tab
    press Tab
    menu C
    see "here they part"
}

# Back in the list, the last rewind is undone: the file is again as it was changed by hand.
undo_take() {
    acknowledge
    press Escape
    see "2 marked"
    menu u
    see "undone: the rewind of"
    until_true "the file as it was by hand" cmp -s "$file" "$top/by-hand"
    leave
}

leave() {
    press C-c
    ended 130
    close
}

demo
open 120 36
see "Enter resume"
press Down
press Down
press Tab
menu C
see "it takes two marked sessions"
acknowledge
press Tab
menu C
see "get that part of" # wrapped between words
see "A Refund flow" "B Refund flow, second try" "2 common messages" "here they part" "prompts: 2 and 3, 1 in common"
press Down
see "- A changed it" "export async function refund" "Space text down  b text up"
press Down
see "added by B" "+ B added it"
press Escape
see "2 marked"
leave

# A file is taken from either of them after a question, and what was changed by hand is held back with the reason.
project=$project-refunds
file=$project/src/refund.ts
cp "$file" "$top/before"
compare_refunds
press A
see "choose a file"
press Down
see "- A changed it"
press B
see "that session did not change the file"
press A
see "the file is already as A left it"
echo "by hand" >>"$file"
cp "$file" "$top/by-hand"
press A
see "Take the file as A left it?" "src/refund.ts" "+0 -1" "It is held back"
press Enter
gone "Take the file"
cmp -s "$file" "$top/by-hand" || fail "it was taken without consent"
press A
see "replace it anyway"
enter_text y
see "the file is as A left it" "^X u in the list"
cmp -s "$file" "$top/before" || fail "it is not as A left it"
undo_take

# Hunks of it: two places were changed by hand, and only one of them is taken.
cp "$top/before" "$file"
sed -i -e '1i first by hand' -e '$a last by hand' "$file"
cp "$file" "$top/by-hand"
compare_refunds
press Down
see "- A changed it"
press A
see "choose some of its hunks"
press Down
press Down
press Enter
see "[ ] hunk 1 of 2, from A" "hunk 2 of 2" "Space tick"
press a
see "no hunk is ticked"
acknowledge
press Escape
see "- A changed it"
press A
see "choose some of its hunks"
press 3
see "[ ] hunk 1 of 2"
press '}'
press Space
see "[x] hunk 2 of 2"
cmp -s "$file" "$top/by-hand" || fail "it was changed before it was asked for"
press a
see "the hunks are as A left them"
head -n 1 "$file" | grep -q "^first by hand" || fail "the other hunk was taken, too"
[ "$(tail -n +2 "$file")" = "$(cat "$top/before")" ] || fail "the hunk was not taken"
undo_take

# A file that programs run or trust is taken after a typed yes, its hunks after one of their own.
for log in "$config"/projects/*/*.jsonl; do # their times, too, are those of the story
    touch -r "$log" "$top/time"
    sed -i 's|src/refund\.ts|.envrc|g' "$log"
    touch -r "$top/time" "$log"
done
mv "$file" "$project/.envrc"
file=$project/.envrc
sed -i -e '1i first by hand' -e '$a last by hand' "$file"
cp "$file" "$top/by-hand"
compare_refunds
press Down
see "- A changed it"
press A
see "or type yes and press Enter" "choose some of its hunks"
press 2
see "[ ] hunk 1 of 2"
press Space
see "[x] hunk 1 of 2"
press Enter
see "Take 1 of the 2 hunks?" "or type yes and press Enter"
press Enter
gone "Take 1 of the 2 hunks?"
see "[x] hunk 1 of 2"
cmp -s "$file" "$top/by-hand" || fail "it was changed without a yes"
press Enter
see "Take 1 of the 2 hunks?"
enter_text yes
press Enter
see "the hunks are as A left them"
head -n 1 "$file" | grep -q "^first by hand" && fail "the hunk was not taken"
tail -n 1 "$file" | grep -q "^last by hand" || fail "the other hunk was taken, too"
press C-c
ended 130
