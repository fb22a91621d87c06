#include "store/demo/script.h"

/* clang-format off */
static const struct demo_step vat_cent[] = {
    ASK("Invoice 2231 is off by one cent against the tax office's own calculation. Which of us is right?"),
    READ("ledger/vat.py"),
    RUN("python3 -m ledger.show 2231",
        "  net 19.99  x3   VAT 19 %  11.40\n  net  4.15  x1   VAT 19 %   0.79\n  sum  64.12        VAT      12.19\n"),
    THINK("Per line: 59.97*0.19=11.3943 -> 11.39; 4.15*.19=0.7885 -> 0.79. Sum 12.18. On the total: 64.12*.19=12.1828 -> 12.18. "
          "We print 12.19, so the first line is rounded per piece: 19.99*.19=3.7981 -> 3.80 x3 = 11.40."),
    SAY("They are. We round **per piece** and multiply, they round **once on the sum**:\n\n"
        "| | per piece | per line | on the sum |\n|---|---:|---:|---:|\n"
        "| 3 × 19.99 | 11.40 | 11.39 | |\n| 1 × 4.15 | 0.79 | 0.79 | |\n| **VAT** | **12.19** | 12.18 | **12.18** |\n\n"
        "Both ways are allowed, but an invoice must say which, and ours says *on the sum*."),
    EDIT("ledger/vat.py",
        "    \"\"\"VAT of an invoice.\"\"\"\n"
        "    return sum((line.net * rate).quantize(Decimal(\"0.01\")) for line in lines)\n",
        "    \"\"\"VAT of an invoice, rounded once, on the sum, as the invoice says.\"\"\"\n"
        "    net = sum(line.net for line in lines)\n"
        "    return (net * rate).quantize(Decimal(\"0.01\"), rounding=ROUND_HALF_UP)\n"),
    EDIT("ledger/vat.py", "from decimal import Decimal\n", "from decimal import ROUND_HALF_UP, Decimal\n"),
    RUN("python3 -m pytest -q", ".......................................                                  [100%]\n39 passed in 0.41s\n"),
    SAY("Fixed and tested with invoice 2231 as the example. `quantize` also used banker's rounding by default; that is "
        "stated now as well."),
};
const struct demo_script demo_vat_cent = SCRIPT(vat_cent);

static const struct demo_step auth_audit[] = {
    ASK("Audit every endpoint of shop and ledger for missing permission checks. Use sub-agents, one a project."),
    AGENT("Audit the shop's endpoints",
        "List every route of code/shop and say for each whether it checks who is asking. Report only.",
        "grep -rnE 'app\\.(get|post|put|delete)' src | wc -l", "23\n",
        "23 routes. 22 check the session. **Missing: `GET /orders/:id/receipt`**: anybody with an order number can "
        "read the receipt, and order numbers are consecutive."),
    AGENT("Audit the ledger's endpoints",
        "List every route of code/ledger and say for each whether it checks who is asking. Report only.",
        "grep -rn '@route' ledger | wc -l", "9\n",
        "9 routes, all behind the `accountant` role. `/health` is open on purpose and shows nothing."),
    SAY("32 routes, **one hole**:\n\n"
        "- `GET /orders/:id/receipt` in *shop* does not ask who you are. Order numbers are consecutive, so all receipts "
        "can be read by counting.\n\nThe ledger is fine. I'd fix the receipt today and look into the access log for "
        "anybody who counted."),
    ASK("Check the log for that, please."),
    RUN("zgrep -h 'GET /orders/[0-9]*/receipt' /var/log/nginx/access.log* | awk '{print $1}' | sort | uniq -c | sort -rn | head -3",
        "     14 198.51.100.7\n      3 203.0.113.20\n      2 203.0.113.91\n"),
    SAY("Nobody counted: the busiest address read 14 receipts over three months, and that is our own support desk."),
};
const struct demo_script demo_auth_audit = SCRIPT(auth_audit);

static const struct demo_step export_memory[] = {
    ASK("The nightly export dies with MemoryError since the third million bookings"),
    READ("ledger/export.py"),
    SAY("`fetchall()` builds all rows in memory before the first one is written. A cursor that streams does not."),
    EDIT("ledger/export.py",
        "    rows = db.execute(\"select * from booking order by day\").fetchall()\n"
        "    csv.writer(out).writerows(rows)\n",
        "    rows = db.cursor(name=\"export\")\n"
        "    rows.itersize = 10_000\n"
        "    rows.execute(\"select * from booking order by day\")\n"
        "    csv.writer(out).writerows(rows)\n"),
    RUN("/usr/bin/time -f '%M KB' python3 -m ledger.export > /tmp/all.csv && wc -l /tmp/all.csv", "41872 KB\n3104882 /tmp/all.csv\n"),
    SAY("3.1 million rows with 42 MB at the peak, before it was over 6 GB. The server-side cursor fetches 10,000 at a time."),
};
const struct demo_script demo_export_memory = SCRIPT(export_memory);

static const struct demo_step outdated[] = {
    SHELL("pip list --outdated", "Package   Version  Latest\n--------- -------- -------\npsycopg   3.1.18   3.2.3\n"),
    ASK("Is psycopg 3.2 safe for us?"),
    SAY("Yes. 3.2 drops Python 3.7, which we left long ago, and nothing we call has changed."),
};
const struct demo_script demo_outdated = SCRIPT(outdated);
/* clang-format on */
