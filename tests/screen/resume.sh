#!/bin/sh
# Enter leaves the screen and becomes the agent, in the session's directory.
. "$(dirname "$0")/lib.sh"
demo
open 100 30
see "Payments: idemp"
enter_text idempot
gone "Payment page copy"
press Enter
see "agent: --resume f3a97c58-04d2-4b61-8c9e-d15e7b20a6bb in $project"
ended 0
