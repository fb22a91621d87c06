// Compares `messages` with the vendor's SDK over random sessions.
//   usage: node messages.mjs ORACLE_ANSWER [SESSIONS [SEED [SHARE_OF_LARGE_ONES]]]
// The SDK is looked for in $CLAUDE_AGENT_SDK (a directory with node_modules); without it the comparison is
// skipped, which is no success.
import { spawn } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import readline from 'node:readline';
import { pathToFileURL } from 'node:url';
import { isDeepStrictEqual } from 'node:util';
import { randomSession, randomizer } from './random.mjs';

const [program, sessions = '1000', seed = '1', share = '0.01'] = process.argv.slice(2);
const sdkFile = path.join(process.env.CLAUDE_AGENT_SDK ?? '/nonexistent', 'node_modules/@anthropic-ai/claude-agent-sdk/sdk.mjs');
if (!fs.existsSync(sdkFile)) {
    console.log('skipped: CLAUDE_AGENT_SDK names no directory with the SDK');
    process.exit(77);
}

const config = fs.mkdtempSync(path.join(os.tmpdir(), 'reprise-oracle-'));
process.env.CLAUDE_CONFIG_DIR = config;
const sdk = await import(pathToFileURL(sdkFile).href);
const folder = path.join(config, 'projects', '-p');
fs.mkdirSync(folder, { recursive: true });

const child = spawn(program, [config], { stdio: ['pipe', 'pipe', 'inherit'] });
const lines = readline.createInterface({ input: child.stdout })[Symbol.asyncIterator]();
const ask = async (request) => {
    child.stdin.write(request + '\n');
    const { value } = await lines.next();
    try { return JSON.parse(value); } catch { return value; }
};

const plain = (v) => JSON.parse(JSON.stringify(v));
let shown = -1; // the session whose difference was told last
const count = { sessions: 0, answers: 0, differ: 0, refused: 0, elements: 0 };

async function compare(what, file, request, want) {
    let expected;
    try { expected = plain(await want()); } catch { count.refused++; return; }
    const got = await ask(request);
    count.answers++;
    count.elements += expected.length;
    if (isDeepStrictEqual(got, expected)) return;
    count.differ++;
    if (shown === count.sessions || count.differ > 40) return;
    shown = count.sessions;
    const keep = path.join(os.tmpdir(), `reprise-differ-${count.differ}.jsonl`);
    fs.copyFileSync(file, keep);
    console.log(`DIFFER ${what} ${keep}\n  want ${expected.map((m) => m.uuid).join(' ')}\n  got  ${Array.isArray(got) ? got.map((m) => m.uuid).join(' ') : got}`);
    if (Array.isArray(got)) {
        const i = expected.findIndex((m, k) => !isDeepStrictEqual(m, got[k]));
        if (i >= 0) console.log(`  at ${i}: want ${JSON.stringify(expected[i])}\n        got  ${JSON.stringify(got[i])}`);
    }
}

// Rows that push a file over the size above which the vendor looks for a place to start from.
function pad(r, rows) {
    const out = [];
    let bytes = 0;
    const filler = () => {
        const line = `{"type":"custom-title","pad":"${'p'.repeat(r.pick([10, 1000, 60000, 300000, 1100000]) + r.below(50))}"}`;
        bytes += line.length + 1;
        out.push(line);
    };
    for (const row of rows) {
        if (r.chance(0.6)) filler();
        let text = row;
        if (text.includes('compact_boundary') && r.chance(0.7)) text = reorder(r, text);
        out.push(text);
        bytes += Buffer.byteLength(text) + 1;
    }
    while (bytes < 5242880 + r.below(3) - 1) filler();
    // Puts a boundary across the end of a block.
    const at = out.findIndex((t) => t.includes('"compact_boundary"'));
    if (at > 0 && r.chance(0.5)) {
        const before = out.slice(0, at).reduce((n, t) => n + Buffer.byteLength(t) + 1, 0);
        const left = 1048576 - (before % 1048576);
        const inside = r.pick([1, 20, 29, 30, 31, 60, 100, out[at].length - 1, out[at].length]);
        const need = (left - inside + 1048576) % 1048576;
        if (need > 40) out.splice(at, 0, `{"type":"custom-title","q":"${'q'.repeat(need - 30 - 1)}"}`.slice(0, need - 1));
    }
    return out;
}

// The same row with its keys in another order: some hide a boundary from the vendor.
function reorder(r, text) {
    let row;
    try { row = JSON.parse(text); } catch { return text; }
    const { type, subtype, ...rest } = row;
    return r.pick([
        () => JSON.stringify({ type, subtype, ...rest }),
        () => JSON.stringify({ ...rest, type, subtype }),
        () => JSON.stringify({ type, ...rest, subtype }),
        () => JSON.stringify({ note: 'n'.repeat(200 + r.below(60)), type, subtype, ...rest }),
        () => JSON.stringify({ type, subtype, ...rest }).replace('{"type"', '{ "type"'),
        () => '\x01' + text,
    ])();
}

const queries = (r, n) => {
    const offset = r.pick([0, 0, 1, r.below(n + 2), r.below(4) - 8, n]);
    return { limit: r.pick([undefined, 0, 1, 2, 20, n, -3]), offset };
};

async function one(k) {
    const r = randomizer(Number(seed) * 1000003 + k);
    const id = r.uuid();
    const file = path.join(folder, `${id}.jsonl`);
    let rows = randomSession(r, id);
    const large = r.chance(Number(share));
    if (large) rows = pad(r, rows);
    fs.writeFileSync(file, rows.join('\n') + (r.chance(0.9) ? '\n' : ''));
    if (fs.statSync(file).size === 0) return fs.rmSync(file);
    const all = { includeSystemMessages: false };
    await compare(`${k} messages`, file, `${id} - 0 - 0`, () => sdk.getSessionMessages(id, all));
    await compare(`${k} with system`, file, `${id} - 1 - 0`, () => sdk.getSessionMessages(id, { includeSystemMessages: true }));
    const q = queries(r, rows.length);
    await compare(`${k} page ${JSON.stringify(q)}`, file, `${id} - 0 ${q.limit ?? '-'} ${q.offset}`, () => sdk.getSessionMessages(id, q));
    if (!large) await agent(k, r, id, file);
    fs.rmSync(file);
    fs.rmSync(path.join(folder, id), { recursive: true, force: true });
    count.sessions++;
}

async function agent(k, r, id, file) {
    const dir = path.join(folder, id, 'subagents', ...r.pick([[], ['deep'], ['a', 'b']]));
    fs.mkdirSync(dir, { recursive: true });
    fs.copyFileSync(file, path.join(dir, 'agent-x1.jsonl'));
    if (r.chance(0.7)) fs.writeFileSync(path.join(dir, 'agent-x1.meta.json'), r.pick(['{"toolUseId":"toolu_1","parentAgentId":"p-1"}', '{"toolUseId":"bad id","parentAgentId":"bad.id"}', '{"toolUseId":5}', 'broken']));
    const q = queries(r, 20);
    await compare(`${k} agent`, file, `${id} x1 0 - 0`, () => sdk.getSubagentMessages(id, 'x1', {}));
    await compare(`${k} agent page`, file, `${id} x1 0 ${q.limit ?? '-'} ${q.offset}`, () => sdk.getSubagentMessages(id, 'x1', q));
}

for (let k = 0; k < Number(sessions); k++) await one(k);
child.stdin.end();
fs.rmSync(config, { recursive: true });
console.log(`${count.sessions} sessions, ${count.answers} answers with ${count.elements} messages, ${count.differ} differ, ${count.refused} refused by the SDK`);
process.exit(count.differ || !count.answers ? 1 : 0);
