#include <string.h>

#include "support/screen/screen.h"

const struct fake shop[SHOP] = {
    { .id = "11111111-0000-4000-8000-000000000001",
      .title = "Fix the payment retry loop",
      .prompt = "The webhook sometimes fires twice. Find out why and fix it.",
      .branch = "fix/retry",
      .cwd = "/home/u/src/shop",
      .ago_ms = 10 * 1000,
      .size = 48000,
      .flags = SESSION_LIVE },
    { .id = "22222222-0000-4000-8000-000000000002",
      .title = "Payments: idempotency keys",
      .prompt = "Add idempotency keys to the charge call",
      .branch = "main",
      .tag = "infra",
      .cwd = "/home/u/src/shop",
      .ago_ms = 2 * HOUR,
      .size = 1200000,
      .restorable = 3,
      .named = true },
    { .id = "33333333-0000-4000-8000-000000000003",
      .title = "Refund flow, second try",
      .prompt = "Try the refund flow again",
      .branch = "refunds",
      .cwd = "/home/u/src/shop-wt",
      .folder = "shop-wt",
      .ago_ms = 1 * DAY,
      .size = 300000,
      .flags = SESSION_FORK },
    { .id = "44444444-0000-4000-8000-000000000004",
      .title = "Payment page copy",
      .prompt = "Reword the payment page",
      .cwd = "/home/u/src/shop",
      .ago_ms = 3 * DAY,
      .size = 20000,
      .flags = SESSION_INTERRUPTED },
    { .id = "55555555-0000-4000-8000-000000000005",
      .title = "Größere Änderungen am 設定 📦 Paket",
      .prompt = "設定を変更してください",
      .branch = "ümlaut",
      .cwd = "/home/u/src/shop",
      .ago_ms = 20 * DAY,
      .size = 900,
      .flags = SESSION_TORN },
};

void shop_begin(struct shop *x)
{
    *x = (struct shop){ .s.worktrees = 2 };
    memcpy(x->fake, shop, sizeof x->fake);
}

void shop_ready(struct shop *x, int rows, int cols)
{
    shop_begin(x);
    screen_ready(&x->s, x->fake, SHOP, rows, cols);
}
