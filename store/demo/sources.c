#include "store/demo/script.h"

/* clang-format off */
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
    { "code/ledger", "ledger/export.py",
      "import csv\n"
      "import sys\n"
      "\n"
      "\n"
      "def export(db, out=sys.stdout):\n"
      "    rows = db.execute(\"select * from booking order by day\").fetchall()\n"
      "    csv.writer(out).writerows(rows)\n" },
};
/* clang-format on */

const size_t demo_source_count = sizeof demo_sources / sizeof demo_sources[0];
