#!/bin/sh
# Alt+Enter changes the agent's flags for once; flags behind -- are handed on; --print shows both.
. "$(dirname "$0")/lib.sh"
demo
id=f3a97c58-04d2-4b61-8c9e-d15e7b20a6bb
choose() {
    see "Payments: idemp"
    enter_text idempot
    gone "Payment page copy"
}
open 80 24 -- --verbose
choose
press C-x
see "R  resume with"
enter_text R
see "Resume once with other flags" "Permission mode   as configured" "Model             as configured" "Other flags       none" "claude --resume $id"
press Down Right Right Right
see "Permission mode   plan" "adds --permission-mode plan"
press Left
see "Permission mode   acceptEdits"
press Down Enter
see "value ›"
enter_text "claude-next"
press Enter
see "Model             claude-next"
press Down Enter
see "flags ›"
enter_text "--add-dir '/tmp/a b"
press Enter
see "a quote is not closed"
enter_text "'"
press Enter
see "Other flags       --add-dir '/tmp/a b'" "adds --permission-mode acceptEdits --model claude-next --add-dir "
press Down Enter
see "agent: --resume $id --verbose --permission-mode" "acceptEdits --model claude-next --add-dir /tmp/a b in "
ended 0
# One that is configured is replaced: some agents take a flag only once.
: >"$top/piped"
printf '[claude]\nresume = claude --permission-mode plan --model=opus --resume {id}\n' >"$top/config"
open 120 32 --print --config "$top/config" -- --verbose
choose
press M-Enter
see "Print the command" "claude --permission-mode plan --model=opus --resume ${id%%-*}"
press Down Right
see "Permission mode   default"
press Down Right Right
see "Model             sonnet"
press Down Down Enter
ended 0
grep -qxF "cd $project && claude --permission-mode default --model=sonnet --resume $id --verbose" "$top/stdout" ||
    fail "stdout: $(cat "$top/stdout")"
# Without the dialog everything is as configured; Esc leaves it.
rm "$top/piped"
open 120 32 --config "$top/config"
choose
press M-Enter
see "Resume once with other flags"
press Down Right
see "Permission mode   default"
press Escape
gone "Resume once with other flags"
press Enter
see "agent: --permission-mode plan --model=opus --resume $id in "
ended 0
