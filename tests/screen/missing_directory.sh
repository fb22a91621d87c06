#!/bin/sh
# A session whose directory no longer exists is no dead end: the possible actions are offered.
. "$(dirname "$0")/lib.sh"
demo
rm -r "$top/home/code/shop-refunds"
open 100 30 --all
see "Refund flow, second try"
enter_text 'second try'
gone "Payment page copy"
press Enter
see "directory no longer exists" "If it was moved: reprise move OLD NEW" "cancel" "in its repository"
press 2
match 'agent: --resume 1d82c5f4.* in .*/code/shop$'
ended 0
close

# A command of a script asks nothing: it resumes in the repository, else here, and says so in one line.
note=$(cd "$project" && env PATH="$top/bin:$PATH" HOME="$top/home" CLAUDE_CONFIG_DIR="$config" "$program" --resume 1d82c5f4 2>&1 || true)
case $note in
"reprise: the session's directory $top/home/code/shop-refunds no longer exists; resuming in $top/home/code/shop"*"agent: --resume 1d82c5f4"*) ;;
*) fail "no note: $note" ;;
esac

# On a terminal the command asks, and Enter means no.
open 100 30 --resume 1d82c5f4
see "Resume in $top/home/code/shop? [y/N]"
press Enter
ended 130
hides "agent:" || fail "it was resumed"
close
open 100 30 --resume 1d82c5f4
see "Resume in $top/home/code/shop? [y/N]"
enter_text y
press Enter
match 'agent: --resume 1d82c5f4.* in .*/code/shop$'
close
