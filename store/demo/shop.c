#include "store/demo/script.h"

/* clang-format off */
static const struct demo_step size_table[] = {
    ASK("Die Größentabelle für Schuhe zeigt »EU 42 ½« als »EU 42 ?«. Woran liegt das?"),
    RUN("grep -rn '½' data/ | head -3", "data/sizes.csv:14:42\xc2\xbd,8.5,27.0\n"),
    RUN("file data/sizes.csv && grep -n readFile src/sizes.ts",
        "data/sizes.csv: CSV text, Unicode text, UTF-8 text\n"
        "7:  const csv = readFileSync(\"data/sizes.csv\", \"latin1\");\n"),
    SAY("Die Datei ist UTF-8, gelesen wird sie als `latin1` (`src/sizes.ts`, Zeile 7). Aus den zwei Bytes "
        "von »½« werden so zwei Zeichen, und das zweite hat die Schrift nicht.\n\n"
        "Mit `\"utf8\"` an dieser Stelle stimmt die Tabelle. Soll ich das ändern?"),
    ASK("Nein danke, mache ich selbst. 👟"),
    SAY("Gern. Ein Test mit `½` und `⅓` lohnt sich, damit es so bleibt."),
};
const struct demo_script demo_size_table = SCRIPT(size_table);

static const struct demo_step providers[] = {
    ASK("Compare three ways to take card payments for a shop with 4,000 orders a month, average 38 EUR."),
    THINK("4,000 x 38 = 152,000 EUR a month. The fixed part per order matters at 38 EUR: 0.25 EUR is 0.66 %."),
    SAY("At 4,000 orders of 38 EUR the **fixed fee per order** decides more than the percentage:\n\n"
        "| way | per order | monthly | together | work for us |\n"
        "|---|---:|---:|---:|---|\n"
        "| hosted page | 1.4 % + 0.25 | 0 | 3,128 EUR | a day |\n"
        "| own form, provider's fields | 1.2 % + 0.20 | 49 | 2,673 EUR | a week |\n"
        "| acquirer contract + gateway | 0.6 % + 0.12 | 290 | 1,682 EUR | a month, audit each year |\n\n"
        "I'd start with the **provider's fields**: we keep our checkout, cards never touch our servers, and "
        "moving to a contract later changes one file, `src/gateway.ts`."),
    ASK("And refunds?"),
    SAY("All three refund over the same API. Only the contract gives the fee back."),
};
const struct demo_script demo_providers = SCRIPT(providers);

static const struct demo_step node_upgrade[] = {
    ASK("Upgrade to Node 22 and fix what breaks"),
    RUN("node --version && cat .nvmrc", "v22.11.0\n18\n"),
    WRITE(".nvmrc", "22\n"),
    FAIL("npm test", "FAIL test/upload.test.ts\n  TypeError: url.parse is deprecated, use the WHATWG URL API\n"
         "    at Object.<anonymous> (src/upload.ts:31:17)\n\nTests: 1 failed, 141 passed"),
    SAY("One real break: `src/upload.ts` still calls `url.parse`. I'll look for other places before I touch it."),
    RUN("grep -rn 'url.parse' src | wc -l", "6\n"),
};
const struct demo_script demo_node_upgrade = SCRIPT(node_upgrade);

static const struct demo_step cart_postgres[] = {
    ASK("Move the cart from Redis to Postgres. People lose their cart after a day and complain."),
    READ("src/cart.ts"),
    THINK("TTL of 86400 s explains the complaints. A table cart(user_id, sku, count) with a primary key over both "
          "gives us upserts. Anonymous carts need the session id as user."),
    SAY("The cause is in plain sight: `EX: 86400`, a day. Plan:\n\n"
        "1. a table `cart_item (owner, sku, count)`\n"
        "2. `cart.ts` on top of it, same interface\n"
        "3. copy what is in Redis once, read from both for a week"),
    WRITE("migrations/014_cart.sql",
        "create table cart_item (\n"
        "  owner text not null,\n"
        "  sku text not null,\n"
        "  count int not null check (count > 0),\n"
        "  changed timestamptz not null default now(),\n"
        "  primary key (owner, sku)\n"
        ");\n"),
    RUN("npm run migrate", "014_cart.sql applied (12 ms)\n"),
    ASK("Anonymous visitors too, please. They have a session cookie but no user."),
    SAY("`owner` is text for that reason: `user:<id>` or `session:<id>`. On login I move the session's rows to the "
        "user and add up the counts."),
    COMPACT("This session is being continued from a previous conversation that ran out of context.\n\n"
        "1. Primary request: move the cart from Redis to Postgres because carts expire after a day.\n"
        "2. Done: migrations/014_cart.sql (table cart_item, primary key owner + sku), applied.\n"
        "3. Agreed: owner is user:<id> or session:<id>; on login the session's rows move to the user, counts add up.\n"
        "4. Next: rewrite src/cart.ts on the table with the same interface; read from Redis as well for a week."),
    EDIT("src/cart.ts",
        "import { redis } from \"./redis\";\n",
        "import { sql } from \"./db\";\n"),
    EDIT("src/cart.ts",
        "    return JSON.parse((await redis.get(`cart:${user}`)) ?? \"[]\");\n",
        "    return sql<Item[]>`select sku, count from cart_item where owner = ${user} order by sku`;\n"),
    EDIT("src/cart.ts",
        "    await redis.set(`cart:${user}`, JSON.stringify(items), { EX: 86400 });\n",
        "    await sql.begin(async (tx) => {\n"
        "      await tx`delete from cart_item where owner = ${user}`;\n"
        "      for (const { sku, count } of items)\n"
        "        await tx`insert into cart_item (owner, sku, count) values (${user}, ${sku}, ${count})`;\n"
        "    });\n"),
    RUN("npm test -- cart", "PASS test/cart.test.ts\n  ✓ keeps items for a signed-in user\n  ✓ keeps items for a visitor\n"
        "  ✓ adds up counts on login\n\nTests: 3 passed"),
    SAY("The cart lives in Postgres now. Same interface, so nothing else changed; the Redis fallback is one `if` in "
        "`cart.items` and can go next week."),
};
const struct demo_script demo_cart_postgres = SCRIPT(cart_postgres);

static const struct demo_step checkout_copy[] = {
    ASK("The payment page reads like a machine wrote it. Make it human, keep it short."),
    READ("locales/en.json"),
    EDIT("locales/en.json",
        "  \"pay.button\": \"Submit\",\n"
        "  \"pay.failed\": \"Error: transaction could not be processed (code 402)\",\n",
        "  \"pay.button\": \"Pay now\",\n"
        "  \"pay.failed\": \"Your bank said no. Nothing was charged: try again or use another card.\",\n"),
    SAY("Two lines changed:\n\n- **Submit** → **Pay now**\n- the error now says who refused, that *nothing was "
        "charged*, and what to do next"),
};
const struct demo_script demo_checkout_copy = SCRIPT(checkout_copy);

static const struct demo_step receipt_japanese[] = {
    ASK("領収書メールの件名が英語のままです。日本語にしてください。"),
    READ("locales/ja.json"),
    EDIT("locales/ja.json",
        "  \"receipt.subject\": \"Your receipt\"\n",
        "  \"receipt.subject\": \"領収書をお送りします\"\n"),
    SAY("`receipt.subject` を「領収書をお送りします」に変更しました。ほかに英語のまま残っている項目はありません。"),
};
const struct demo_script demo_receipt_japanese = SCRIPT(receipt_japanese);

#define REFUND_START \
    ASK("Customers should be able to take back part of an order and get that part of the money."), \
    READ("src/refund.ts"), \
    THINK("A partial refund needs: which lines, what was paid for them, what was refunded before. Shipping is the question."), \
    SAY("One thing to settle first: if somebody returns one of three items, do we refund a part of the **shipping**?")

static const struct demo_step refund_first[] = {
    REFUND_START,
    ASK("No, shipping stays with us unless everything comes back."),
    EDIT("src/refund.ts",
        "export async function refund(paymentId: string, amount: number) {\n"
        "  return gateway.refund(paymentId, amount);\n",
        "export async function refund(order: Order, lines: Line[]) {\n"
        "  const all = lines.length === order.lines.length;\n"
        "  const amount = sum(lines) + (all ? order.shipping : 0);\n"
        "  return gateway.refund(order.paymentId, amount);\n"),
    SAY("Done for one refund. Two partial refunds that together return everything still keep the shipping, though: "
        "the second call cannot see the first."),
    STOP("npm run test:e2e -- refunds"),
};
const struct demo_script demo_refund_first = SCRIPT(refund_first);

static const struct demo_step refund_second[] = {
    REFUND_START,
    ASK("Model it as its own table of returned lines, and compute what is due from that. Shipping comes back with the last line."),
    SAY("Better: then *what is due* is a function of the order and all its returns, and the order of calls no longer matters."),
    WRITE("src/due.ts",
        "import { Order, Return } from \"./orders\";\n"
        "\n"
        "/** What we owe for everything returned so far, shipping with the last line. */\n"
        "export function due(order: Order, returns: Return[]): number {\n"
        "  const back = new Set(returns.flatMap((r) => r.lines));\n"
        "  const lines = order.lines.filter((line) => back.has(line.id));\n"
        "  const goods = lines.reduce((total, line) => total + line.paid, 0);\n"
        "  return goods + (lines.length === order.lines.length ? order.shipping : 0);\n"
        "}\n"),
    RUN("npm test -- due", "PASS test/due.test.ts\n  ✓ one of three lines\n  ✓ all lines, in two returns\n  ✓ the same line twice counts once\n\nTests: 3 passed"),
    SAY("`due()` is pure and has three tests. A refund is now `due(order, returns) - alreadyRefunded`, whatever came before."),
    ASK("Lovely. Wire it into the endpoint tomorrow."),
    SAY("Noted: `POST /orders/:id/returns` calls `due()`, refunds the difference, stores the return in the same transaction."),
};
const struct demo_script demo_refund_second = SCRIPT(refund_second);

static const struct demo_step idempotency[] = {
    ASK("Captures must be idempotent: send an idempotency key with every call to the gateway"),
    READ("src/gateway.ts"),
    READ("src/pay.ts"),
    SAY("The key has to be **the same for every try of one capture** and different for the next one. So it belongs into "
        "`pay.capture`, outside the loop, and the gateway just passes it on."),
    WRITE("src/keys.ts",
        "import { createHash } from \"node:crypto\";\n"
        "\n"
        "/** One key per order and amount: a retry repeats it, a second capture does not. */\n"
        "export function captureKey(orderId: string, amount: number): string {\n"
        "  return createHash(\"sha256\").update(`${orderId}:${amount}`).digest(\"base64url\");\n"
        "}\n"),
    EDIT("src/gateway.ts",
        "  async capture(paymentId: string, amount: number) {\n",
        "  async capture(paymentId: string, amount: number, key: string) {\n"),
    EDIT("src/gateway.ts",
        "      method: \"POST\",\n",
        "      method: \"POST\",\n      headers: { \"idempotency-key\": key },\n"),
    EDIT("src/pay.ts",
        "    for (let i = 0; i < TRIES; i++) {\n      const answer = await gateway.capture(order.paymentId, amount);\n",
        "    const key = captureKey(order.id, amount);\n    for (let i = 0; i < TRIES; i++) {\n"
        "      const answer = await gateway.capture(order.paymentId, amount, key);\n"),
    FAIL("npm test -- pay", "FAIL test/pay.test.ts\n  ReferenceError: captureKey is not defined\n    at src/pay.ts:8:17\n\nTests: 1 failed, 6 passed"),
    EDIT("src/pay.ts",
        "import { Order } from \"./orders\";\n",
        "import { captureKey } from \"./keys\";\nimport { Order } from \"./orders\";\n"),
    RUN("npm test -- pay", "PASS test/pay.test.ts\n  ✓ captures once\n  ✓ repeats the key on a retry\n  ✓ a second capture has its own key\n\nTests: 7 passed"),
    SAY("Every capture now carries a key:\n\n```ts\nconst key = captureKey(order.id, amount);\n```\n\n"
        "It is made of order and amount, so it survives a restart of the worker: nothing has to be stored."),
    ASK("What if an order is captured twice with the same amount on purpose?"),
    THINK("Two deliveries of an order, same amount. The hash would be equal, so the second capture would be swallowed. Real problem."),
    SAY("Then the second capture would be **swallowed**: same order, same amount, same key. Split deliveries do that.\n\n"
        "If captures belong to deliveries, the delivery's id should be in the key. Shall I?"),
    ASK("Yes"),
    EDIT("src/keys.ts",
        "/** One key per order and amount: a retry repeats it, a second capture does not. */\n"
        "export function captureKey(orderId: string, amount: number): string {\n"
        "  return createHash(\"sha256\").update(`${orderId}:${amount}`).digest(\"base64url\");\n",
        "/** One key per delivery: a retry repeats it, the next delivery has its own. */\n"
        "export function captureKey(orderId: string, deliveryId: string): string {\n"
        "  return createHash(\"sha256\").update(`${orderId}:${deliveryId}`).digest(\"base64url\");\n"),
    EDIT("src/pay.ts",
        "  async capture(order: Order, amount: number) {\n    const key = captureKey(order.id, amount);\n",
        "  async capture(order: Order, deliveryId: string, amount: number) {\n    const key = captureKey(order.id, deliveryId);\n"),
    RUN("npm test", "Tests: 149 passed"),
    SAY("The key is per delivery now, and all 149 tests pass. Callers of `pay.capture` pass the delivery they are for."),
};
const struct demo_script demo_idempotency = SCRIPT(idempotency);

static const struct demo_step retry_loop[] = {
    ASK("The webhook sometimes fires twice and customers are charged twice. Find out why and fix it."),
    SAY("I'll look at the handler first, then at what it calls."),
    READ("src/webhook.ts"),
    READ("src/pay.ts"),
    THINK("The handler awaits pay.capture before it answers. The gateway re-sends a webhook when it gets no answer within "
          "10 s. pay.capture may loop three times with no pause; a slow gateway makes that longer than 10 s. So: the "
          "handler is too slow, the gateway re-sends, and nothing remembers that the event was handled."),
    SAY("Found it. It is two things that meet:\n\n"
        "1. `handleWebhook` answers only **after** the capture, and the capture may try three times. When the gateway is "
        "slow that takes longer than the 10 s after which it sends the webhook *again*.\n"
        "2. Nothing remembers which events were handled, so the second delivery captures again.\n\n"
        "The fix is the same for both: remember the event first, answer at once, capture after that."),
    EDIT("src/webhook.ts",
        "  const event = JSON.parse(body);\n"
        "  const order = await orders.find(event.orderId);\n"
        "  await pay.capture(order, event.amount);\n"
        "  return new Response(\"ok\");\n",
        "  const event = JSON.parse(body);\n"
        "  if (!(await events.remember(event.id))) {\n"
        "    return new Response(\"seen before\");\n"
        "  }\n"
        "  queue.add(\"capture\", { orderId: event.orderId, deliveryId: event.deliveryId, amount: event.amount });\n"
        "  return new Response(\"ok\");\n"),
    EDIT("src/webhook.ts",
        "import { orders } from \"./orders\";\nimport { pay } from \"./pay\";\n",
        "import { events } from \"./events\";\nimport { queue } from \"./queue\";\n"),
    WRITE("src/events.ts",
        "import { sql } from \"./db\";\n"
        "\n"
        "export const events = {\n"
        "  /** True the first time an event is seen. */\n"
        "  async remember(id: string): Promise<boolean> {\n"
        "    const rows = await sql`insert into event (id) values (${id}) on conflict do nothing returning id`;\n"
        "    return rows.length === 1;\n"
        "  },\n"
        "};\n"),
    RUN("npm test -- webhook", "PASS test/webhook.test.ts\n  ✓ refuses a bad signature\n  ✓ answers within 50 ms\n"
        "  ✓ the same event twice captures once\n\nTests: 3 passed"),
    SAY("The same event twice now captures **once**, and the answer goes out before anything slow happens."),
    ASK("Great. The retry loop itself hammers the gateway though. Back off between tries."),
    EDIT("src/pay.ts",
        "      if (answer.ok) return answer;\n",
        "      if (answer.ok) return answer;\n"
        "      await sleep(2 ** i * 500 + Math.random() * 250);\n"),
    EDIT("src/pay.ts",
        "const TRIES = 3;\n",
        "const TRIES = 5;\nconst sleep = (ms: number) => new Promise((done) => setTimeout(done, ms));\n"),
    RUN("npm test", "Tests: 152 passed"),
    SAY("Half a second, one, two, four, with a little randomness so that workers do not march in step; five tries "
        "instead of three because they now cost the gateway less.\n\nAll 152 tests pass."),
};
const struct demo_script demo_retry_loop = SCRIPT(retry_loop);
/* clang-format on */
