#!/bin/sh
# Every size works, the smallest and the largest, and the selection stays where it was.
. "$(dirname "$0")/../lib.sh"
demo
open 100 30
see "Payment page copy"
press Down
press Down
for size in 50x12 200x60 80x24; do
    tm resize-window -x "${size%x*}" -y "${size#*x}"
    see "Fix the payment"
    match 'Payments: idemp'
done
tm resize-window -x 20 -y 4
gone "Payments: idemp"
tm resize-window -x 100 -y 30
see "Payment page copy"
press C-c
ended 130
