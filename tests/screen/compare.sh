#!/bin/sh
# Two marked sessions next to each other: a session and its fork have messages in common, and each changed a file.
. "$(dirname "$0")/lib.sh"
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
see "A Refund flow" "B Refund flow, second try" "2 common messages" "here they part" "prompts: 2 and 3, 1 in common"
press Down
see "only A changed it" "export async function refund"
press Down
see "only B changed it"
press Escape
see "Enter resume"
press C-c
ended 130
