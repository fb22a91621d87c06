#include "store/demo/demo_internal.h"

/* clang-format off */
#define ASK(text) { ACT_ASK, { text } }
#define SHELL(command, output) { ACT_SHELL, { command, output } }
#define THINK(text) { ACT_THINK, { text } }
#define SAY(text) { ACT_SAY, { text } }
#define READ(path) { ACT_READ, { path } }
#define EDIT(path, old, new) { ACT_EDIT, { path, old, new } }
#define WRITE(path, text) { ACT_WRITE, { path, text } }
#define RUN(command, output) { ACT_RUN, { command, output } }
#define REMOVE(command, output, path) { ACT_RUN, { command, output, path } }
#define FAIL(command, output) { ACT_FAIL, { command, output } }
#define AGENT(what, prompt, command, output, report) \
    { ACT_AGENT, { what, prompt, command, output, report } }
#define COMPACT(summary) { ACT_COMPACT, { summary } }
#define STOP(command) { ACT_STOP, { command } }
#define SCRIPT(steps) { steps, sizeof steps / sizeof steps[0] }

/* ---- files ---- */

const struct demo_source demo_sources[] = {
    { "code/shop", "README.md",
      "# shop\n\nThe web shop: cart, checkout, payments, mails.\n\n"
      "    npm install\n    npm test\n    npm run dev\n" },
    { "code/shop", "src/webhook.ts",
      "import { createHmac, timingSafeEqual } from \"node:crypto\";\n"
      "import { orders } from \"./orders\";\n"
      "import { pay } from \"./pay\";\n"
      "\n"
      "export async function handleWebhook(req: Request): Promise<Response> {\n"
      "  const body = await req.text();\n"
      "  if (!signatureMatches(req.headers.get(\"x-signature\"), body)) {\n"
      "    return new Response(\"bad signature\", { status: 400 });\n"
      "  }\n"
      "  const event = JSON.parse(body);\n"
      "  const order = await orders.find(event.orderId);\n"
      "  await pay.capture(order, event.amount);\n"
      "  return new Response(\"ok\");\n"
      "}\n"
      "\n"
      "function signatureMatches(given: string | null, body: string): boolean {\n"
      "  const want = createHmac(\"sha256\", process.env.WEBHOOK_SECRET!).update(body).digest(\"hex\");\n"
      "  return given !== null && timingSafeEqual(Buffer.from(given), Buffer.from(want));\n"
      "}\n" },
    { "code/shop", "src/pay.ts",
      "import { gateway } from \"./gateway\";\n"
      "import { Order } from \"./orders\";\n"
      "\n"
      "const TRIES = 3;\n"
      "\n"
      "export const pay = {\n"
      "  async capture(order: Order, amount: number) {\n"
      "    for (let i = 0; i < TRIES; i++) {\n"
      "      const answer = await gateway.capture(order.paymentId, amount);\n"
      "      if (answer.ok) return answer;\n"
      "    }\n"
      "    throw new Error(`capture failed: ${order.id}`);\n"
      "  },\n"
      "};\n" },
    { "code/shop", "src/gateway.ts",
      "const BASE = \"https://gateway.example/v2\";\n"
      "\n"
      "export const gateway = {\n"
      "  async capture(paymentId: string, amount: number) {\n"
      "    const res = await fetch(`${BASE}/payments/${paymentId}/capture`, {\n"
      "      method: \"POST\",\n"
      "      body: JSON.stringify({ amount }),\n"
      "    });\n"
      "    return { ok: res.ok, status: res.status };\n"
      "  },\n"
      "};\n" },
    { "code/shop", "src/cart.ts",
      "import { redis } from \"./redis\";\n"
      "\n"
      "export const cart = {\n"
      "  async items(user: string) {\n"
      "    return JSON.parse((await redis.get(`cart:${user}`)) ?? \"[]\");\n"
      "  },\n"
      "  async save(user: string, items: Item[]) {\n"
      "    await redis.set(`cart:${user}`, JSON.stringify(items), { EX: 86400 });\n"
      "  },\n"
      "};\n"
      "\n"
      "export type Item = { sku: string; count: number };\n" },
    { "code/shop", "locales/en.json",
      "{\n"
      "  \"pay.title\": \"Payment\",\n"
      "  \"pay.button\": \"Submit\",\n"
      "  \"pay.failed\": \"Error: transaction could not be processed (code 402)\",\n"
      "  \"receipt.subject\": \"Your receipt\"\n"
      "}\n" },
    { "code/shop", "locales/ja.json",
      "{\n"
      "  \"pay.title\": \"お支払い\",\n"
      "  \"receipt.subject\": \"Your receipt\"\n"
      "}\n" },
    { "code/shop-refunds", "src/refund.ts",
      "import { gateway } from \"./gateway\";\n"
      "\n"
      "export async function refund(paymentId: string, amount: number) {\n"
      "  return gateway.refund(paymentId, amount);\n"
      "}\n" },
    { "code/ledger", "ledger/vat.py",
      "from decimal import Decimal\n"
      "\n"
      "\n"
      "def vat(lines, rate):\n"
      "    \"\"\"VAT of an invoice.\"\"\"\n"
      "    return sum((line.net * rate).quantize(Decimal(\"0.01\")) for line in lines)\n" },
    { "code/ledger", "ledger/rounding.py",
      "\"\"\"How invoices before 2024 were rounded, as agreed with the tax office.\"\"\"\n"
      "from decimal import ROUND_HALF_UP, Decimal\n"
      "\n"
      "\n"
      "def per_piece(price, count, rate):\n"
      "    return (price * rate).quantize(Decimal(\"0.01\"), rounding=ROUND_HALF_UP) * count\n" },
    { "code/ledger", "ledger/export.py",
      "import csv\n"
      "import sys\n"
      "\n"
      "\n"
      "def export(db, out=sys.stdout):\n"
      "    rows = db.execute(\"select * from booking order by day\").fetchall()\n"
      "    csv.writer(out).writerows(rows)\n" },
};
const size_t demo_source_count = sizeof demo_sources / sizeof demo_sources[0];

/* ---- the shop ---- */

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

static const struct demo_step node_upgrade[] = {
    ASK("Upgrade to Node 22 and fix what breaks"),
    RUN("node --version && cat .nvmrc", "v22.11.0\n18\n"),
    WRITE(".nvmrc", "22\n"),
    FAIL("npm test", "FAIL test/upload.test.ts\n  TypeError: url.parse is deprecated, use the WHATWG URL API\n"
         "    at Object.<anonymous> (src/upload.ts:31:17)\n\nTests: 1 failed, 141 passed"),
    SAY("One real break: `src/upload.ts` still calls `url.parse`. I'll look for other places before I touch it."),
    RUN("grep -rn 'url.parse' src | wc -l", "6\n"),
};

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

static const struct demo_step receipt_japanese[] = {
    ASK("領収書メールの件名が英語のままです。日本語にしてください。"),
    READ("locales/ja.json"),
    EDIT("locales/ja.json",
        "  \"receipt.subject\": \"Your receipt\"\n",
        "  \"receipt.subject\": \"領収書をお送りします\"\n"),
    SAY("`receipt.subject` を「領収書をお送りします」に変更しました。ほかに英語のまま残っている項目はありません。"),
};

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

/* ---- the ledger ---- */

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
    ASK("Then clean up: remove what is left of the rounding per piece."),
    REMOVE("grep -l per_piece -r ledger | xargs rm -v", "removed 'ledger/rounding.py'\n", "ledger/rounding.py"),
    SAY("`ledger/rounding.py` was the last of it, and nothing imports it. It is not in git yet, so only the snapshot from "
        "before this prompt still has it."),
};

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

static const struct demo_step outdated[] = {
    SHELL("pip list --outdated", "Package   Version  Latest\n--------- -------- -------\npsycopg   3.1.18   3.2.3\n"),
    ASK("Is psycopg 3.2 safe for us?"),
    SAY("Yes. 3.2 drops Python 3.7, which we left long ago, and nothing we call has changed."),
};

/* ---- sessions ---- */

enum { HOUR = 60, DAY = 24 * HOUR };

const struct demo_session demo_sessions[] = {
    { .id = "2f6d1c02-8f6b-4d50-8a3a-1c6a3f2b9e01", .project = "code/ledger", .branch = "main",
      .ended_min_ago = 26 * DAY, .script = SCRIPT(outdated) },
    { .id = "b7a0e7d4-61c5-4c0e-9d57-70c1f0aa4c11", .project = "code/shop", .branch = "main",
      .ai_title = "Größentabelle: Halbe Größen", .ended_min_ago = 20 * DAY + 3 * HOUR, .script = SCRIPT(size_table) },
    { .id = "5c1f9d1a-0a43-4f6e-b9a8-2b7d5be31d20", .project = "code/shop", .branch = "main",
      .title = "Card payments: three ways compared", .tag = "spike", .ended_min_ago = 15 * DAY, .script = SCRIPT(providers), .archived = true },
    { .id = "e01a5c9f-7c5b-4a0b-8d8a-4df0a9c6b733", .project = "code/ledger", .branch = "export",
      .ai_title = "Nightly export runs out of memory", .ended_min_ago = 9 * DAY + 5 * HOUR, .script = SCRIPT(export_memory), .end = END_TORN },
    { .id = "d4c8b2aa-1be3-4d0f-a3d0-93d6b6f7a944", .project = "code/shop", .branch = "node-22",
      .ended_min_ago = 8 * DAY, .script = SCRIPT(node_upgrade), .end = END_CUT },
    { .id = "71e3f0c8-2a9d-4b7c-9c41-08f5d2e6ab55", .project = "code/shop", .branch = "cart-postgres",
      .title = "Move the cart to Postgres", .tag = "infra", .ended_min_ago = 6 * DAY + 2 * HOUR, .script = SCRIPT(cart_postgres) },
    { .id = "0c9e4d7b-83f1-4e26-b5d2-6fa17c3b8e66", .project = "code/ledger", .branch = "main",
      .title = "Audit: who may call what", .tag = "security", .ended_min_ago = 4 * DAY, .script = SCRIPT(auth_audit) },
    { .id = "a85d3b60-f9c2-4c17-8e0b-51b2d7f4c977", .project = "code/shop", .branch = "main",
      .title = "Payment page copy", .ended_min_ago = 3 * DAY, .script = SCRIPT(checkout_copy) },
    { .id = "c3f7a912-6d40-4b8e-8f35-e2a90d1b7a88", .project = "code/shop", .branch = "main",
      .ai_title = "領収書メールの日本語訳 🧾", .ended_min_ago = 2 * DAY + 4 * HOUR, .script = SCRIPT(receipt_japanese) },
    { .id = "9b0c7b1e-53a0-4a35-9a5e-d9b3f1c84d02", .project = "code/shop-refunds", .branch = "refunds",
      .title = "Refund flow", .ended_min_ago = DAY + 6 * HOUR, .script = SCRIPT(refund_first) },
    { .id = "1d82c5f4-90ab-4e63-a7c8-b3f60e5d2499", .project = "code/shop-refunds", .branch = "refunds",
      .title = "Refund flow, second try", .ended_min_ago = DAY + 1 * HOUR, .script = SCRIPT(refund_second), .fork_of = "9b0c7b1e-53a0-4a35-9a5e-d9b3f1c84d02", .shared = 4 },
    { .id = "8e46b0d3-c715-4f9a-92ed-7a05c8e1f3aa", .project = "code/ledger", .branch = "main",
      .title = "One cent of VAT", .ended_min_ago = 5 * HOUR, .script = SCRIPT(vat_cent), .snapshots = true },
    { .id = "f3a97c58-04d2-4b61-8c9e-d15e7b20a6bb", .project = "code/shop", .branch = "main",
      .title = "Payments: idempotency keys", .tag = "infra", .ended_min_ago = 2 * HOUR, .script = SCRIPT(idempotency) },
    { .id = "4b7e0f91-d836-4a5c-b0f2-29c4e8a163cc", .project = "code/shop", .branch = "fix/webhook-retry",
      .title = "Fix the payment retry loop", .ended_min_ago = 3, .script = SCRIPT(retry_loop) },
};

const size_t demo_session_count = sizeof demo_sessions / sizeof demo_sessions[0];
/* clang-format on */
