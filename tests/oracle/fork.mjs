// Compares `fork` with the vendor's SDK over random sessions: whole ones, and up to a message.
//   usage: node fork.mjs REPRISE [SESSIONS [SEED]]
// The SDK is looked for in $CLAUDE_AGENT_SDK (a directory with node_modules); without it the comparison is
// skipped, which is no success.
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { isDeepStrictEqual } from 'node:util';
import { randomSession, randomizer } from './random.mjs';

const [program, sessions = '200', seed = '1'] = process.argv.slice(2);
const sdkFile = path.join(process.env.CLAUDE_AGENT_SDK ?? '/nonexistent', 'node_modules/@anthropic-ai/claude-agent-sdk/sdk.mjs');
if (!fs.existsSync(sdkFile)) {
    console.log('skipped: CLAUDE_AGENT_SDK names no directory with the SDK');
    process.exit(77);
}

const top = fs.mkdtempSync(path.join(os.tmpdir(), 'reprise-oracle-'));
process.env.CLAUDE_CONFIG_DIR = path.join(top, 'config');
const sdk = await import(pathToFileURL(sdkFile).href);
const folder = path.join(top, 'config', 'projects', '-p');
fs.mkdirSync(folder, { recursive: true });
const env = { ...process.env, HOME: top, XDG_STATE_HOME: path.join(top, 'state'), XDG_DATA_HOME: path.join(top, 'data'), XDG_CONFIG_HOME: path.join(top, 'c') };

const UUID = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g;
const count = { sessions: 0, answers: 0, rows: 0, refused: 0, differ: 0 };

// A new file as values: ids that the source does not have are numbered in the order in which they come.
function values(file, known, since) {
    const ids = new Map();
    const number = (id) => {
        if (known.has(id)) return id;
        if (!ids.has(id)) ids.set(id, `$${ids.size + 1}`);
        return ids.get(id);
    };
    const deep = (v, key) => {
        if (typeof v === 'string') {
            if ((key === 'timestamp' || key === 'ts') && Date.parse(v) >= since - 5) return '$NOW';
            return v.replace(UUID, number);
        }
        if (Array.isArray(v)) return v.map((x) => deep(x));
        if (v && typeof v === 'object') return Object.fromEntries(Object.keys(v).sort().map((k) => [k, deep(v[k], k)]));
        return v;
    };
    const text = fs.readFileSync(file, 'utf8');
    if (!text.endsWith('\n')) return 'no newline at the end';
    const rows = text.slice(0, -1).split('\n').map((line) => JSON.parse(line));
    return rows.map((row) => deep({ 0: path.basename(file), 1: row }));
}

async function byVendor(id, options, known) {
    const since = Date.now();
    let made;
    try { made = await sdk.forkSession(id, options); } catch (e) { return { error: e.message }; }
    const file = path.join(folder, `${made.sessionId}.jsonl`);
    const rows = values(file, known, since);
    fs.rmSync(file);
    return { rows };
}

function byUs(id, options, known) {
    const since = Date.now();
    const args = ['fork', '--json', ...(options.upToMessageId ? ['--at', options.upToMessageId] : []), ...(options.title ? ['--title', options.title] : []), '--', id];
    const run = spawnSync(program, args, { env, encoding: 'utf8' });
    if (run.status !== 0) return { error: run.stderr };
    const file = JSON.parse(run.stdout).path;
    const rows = values(file, known, since);
    fs.rmSync(file);
    return { rows };
}

async function compare(what, id, options, known) {
    const want = await byVendor(id, options, known);
    const got = byUs(id, options, known);
    count.answers++;
    count.rows += want.rows?.length ?? 0;
    count.refused += want.error !== undefined;
    if (want.error !== undefined ? got.error !== undefined : isDeepStrictEqual(got.rows, want.rows)) return;
    count.differ++;
    if (count.differ > 12) return;
    const keep = path.join(os.tmpdir(), `reprise-fork-${count.differ}.jsonl`);
    fs.copyFileSync(path.join(folder, `${id}.jsonl`), keep);
    console.log(`DIFFER ${what} ${JSON.stringify(options)} ${keep}`);
    if (want.error ?? got.error) return console.log(`  want ${want.error ?? 'rows'}\n  got  ${got.error ?? 'rows'}`);
    const name = (r) => r[1].forkedFrom?.messageUuid?.slice(0, 8) ?? r[1].type;
    console.log(`  want ${want.rows.map(name).join(' ')}\n  got  ${got.rows.map(name).join(' ')}`);
    const i = want.rows.findIndex((r, k) => !isDeepStrictEqual(r, got.rows[k]));
    if (i >= 0) console.log(`  at ${i}: want ${JSON.stringify(want.rows[i]).slice(0, 1200)}\n        got  ${JSON.stringify(got.rows[i])?.slice(0, 1200)}`);
}

// Rows that a fork takes along in a form of their own.
function carried(r, id) {
    const own = () => r.pick([id, id, id, r.uuid(), undefined]);
    return r.pick([
        () => ({ type: 'content-replacement', sessionId: own(), replacements: r.pick([[{ kind: 'a' }], [5, { k: r.below(9) }, [1]], [], 'x']) }),
        () => ({ type: 'atis-latch', sessionId: own(), atis: r.pick(['a', 'b', '', 4]) }),
        () => ({ type: 'tools-used', sessionId: own(), tools: r.pick([['Read', 'Edit'], ['', 5, 'Bash'], [], 'x']) }),
        () => ({ type: 'relocated', sessionId: own(), relocatedCwd: r.pick(['/a', '/b', '', 7]) }),
        () => ({ type: 'hybrid-organization', sessionId: own(), organizationUuid: r.pick([r.uuid(), 'x']) }),
        () => ({ type: 'history-suppression', sessionId: own(), cause: 'x' }),
        () => ({ type: 'custom-title', sessionId: own(), customTitle: r.pick(['T', 'é', '', ' ']) }),
        () => ({ type: 'ai-title', sessionId: own(), aiTitle: r.pick(['A', '']) }),
        () => ({ type: 'derived-from', v: 1, sessionId: own(), sessions: [{ type: 'claude_code_session', id: r.pick([r.uuid(), r.uuid(), id, '', 5]), via: r.pick(['fork', 'resume', 'resume', 'x']), ...(r.chance(0.3) ? { started: r.pick(['2026', '', 7]) } : {}) }] }),
    ])();
}

async function one(k) {
    const r = randomizer(Number(seed) * 1000003 + k);
    const id = r.uuid();
    const file = path.join(folder, `${id}.jsonl`);
    const rows = randomSession(r, id);
    for (let n = r.below(4); n > 0; n--) rows.splice(r.below(rows.length + 1), 0, JSON.stringify(carried(r, id)));
    // Rows that were forked before.
    if (r.chance(0.3)) rows.forEach((row, i) => { if (row.startsWith('{"parentUuid"') && r.chance(0.2)) rows[i] = row.replace('{', `{"forkedFrom":${JSON.stringify(r.pick([{ sessionId: id }, { sessionId: r.uuid() }, { sessionId: '' }, { sessionId: 5 }, null]))},`); });
    const text = rows.join('\n') + (r.chance(0.9) ? '\n' : '');
    fs.writeFileSync(file, text);
    const known = new Set(text.match(UUID) ?? []);
    if (text.length) {
        await compare(`${k} whole`, id, r.chance(0.2) ? { title: ' A title\u00a0' } : {}, known);
        const ids = [...known].filter((x) => x !== id);
        for (let n = 0; n < 3 && ids.length; n++) await compare(`${k} up to`, id, { upToMessageId: r.pick(ids) }, known);
    }
    fs.rmSync(file);
    count.sessions++;
}

for (let k = 0; k < Number(sessions); k++) await one(k);
fs.rmSync(top, { recursive: true });
console.log(`${count.sessions} sessions, ${count.answers} forks with ${count.rows} rows (${count.refused} refused by the SDK), ${count.differ} differ`);
process.exit(count.differ || !count.answers ? 1 : 0);
