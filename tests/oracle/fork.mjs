// Compares `fork` with the vendor's SDK over random sessions: whole ones, and up to a message.
//   usage: node fork.mjs [--malformed] REPRISE [SESSIONS [SEED]]
// The SDK is looked for in $CLAUDE_AGENT_SDK (a directory with node_modules); without it the comparison is
// skipped, which is no success.
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { isDeepStrictEqual } from 'node:util';
import { randomSession, randomizer } from './random.mjs';

const malformed = process.argv.includes('--malformed');
const [program, sessions = '200', seed = '1'] = process.argv.slice(2).filter((a) => a !== '--malformed');
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
        () => ({ type: 'atis-latch', sessionId: own(), atis: r.pick(['a', 'b', 'a b', 'é', '\u007f', '!~', '', 4]) }),
        () => ({ type: 'tools-used', sessionId: own(), tools: r.pick([['Read', 'Edit'], ['', 5, 'Bash'], [], 'x']) }),
        () => ({ type: 'relocated', sessionId: own(), relocatedCwd: r.pick(['/a', '/b', '', 7]) }),
        () => ({ type: 'hybrid-organization', sessionId: own(), organizationUuid: r.pick([r.uuid(), 'x']) }),
        () => ({ type: 'history-suppression', sessionId: own(), cause: 'x' }),
        () => ({ type: 'custom-title', sessionId: own(), customTitle: r.pick(['T', 'é', '', ' ']) }),
        () => ({ type: 'ai-title', sessionId: own(), aiTitle: r.pick(['A', '']) }),
        () => ({ type: 'derived-from', v: 1, sessionId: own(), sessions: [{ type: 'claude_code_session', id: r.pick([r.uuid(), r.uuid(), id, '', 5]), via: r.pick(['fork', 'resume', 'resume', 'x']), ...(r.chance(0.3) ? { started: r.pick(['2026', '', 7]) } : {}) }] }),
    ])();
}

// What no client writes: circles of progress rows, ids written again, rows in any order, ids that are no UTF-8.
function disturb(r, id, rows) {
    const ids = [...new Set(rows.join('\n').match(UUID) ?? [])].filter((x) => x !== id);
    const some = () => (ids.length && r.chance(0.8) ? r.pick(ids) : r.uuid());
    const row = (type, uuid, parentUuid) => JSON.stringify({ parentUuid, isSidechain: false, type, uuid, timestamp: '2026-03-01T10:00:00.000Z', sessionId: id, ...(type === 'progress' ? { data: {} } : { message: { role: type, content: [{ type: 'text', text: 'again' }] } }) });
    const put = (text) => rows.splice(r.below(rows.length + 1), 0, text);
    for (let n = r.below(3); n > 0; n--) { // a circle, and a row below it
        const ring = Array.from({ length: 1 + r.below(4) }, () => (r.chance(0.2) ? some() : r.uuid()));
        ring.forEach((x, i) => put(row('progress', x, ring[(i + 1) % ring.length])));
        put(row(r.pick(['user', 'assistant']), r.chance(0.3) ? some() : r.uuid(), r.pick(ring)));
        if (r.chance(0.5)) put(row(r.pick(['user', 'assistant', 'progress', 'system']), r.pick(ring), r.chance(0.5) ? r.pick(ring) : some()));
        ids.push(...ring);
    }
    for (let n = r.below(3); n > 0; n--) put(row(r.pick(['user', 'assistant', 'progress']), some(), some()));
    for (let n = r.below(4); n > 0; n--) {
        const a = r.below(rows.length), b = r.below(rows.length);
        [rows[a], rows[b]] = [rows[b], rows[a]];
    }
    if (r.chance(0.2)) rows.reverse();
    if (!r.chance(0.3) || !ids.length) return;
    const broken = r.pick(ids), bytes = r.pick(['\xff', '\xc3', '\xe2\x82', '\xed\xa0\x80']);
    rows.forEach((x, i) => { if (r.chance(0.8)) rows[i] = x.replaceAll(broken, broken.slice(0, 9) + BROKEN[bytes]); });
}
// Bytes that are no UTF-8, held by private characters until the file is written.
const BROKEN = { '\xff': '\ue0ff', '\xc3': '\ue0c3', '\xe2\x82': '\ue0e2\ue082', '\xed\xa0\x80': '\ue0ed\ue0a0\ue080' };
const toBytes = (text) => Buffer.concat(text.split(/([\ue080-\ue0ff])/).map((part, i) => (i % 2 ? Buffer.from([part.charCodeAt(0) & 0xff]) : Buffer.from(part))));

async function one(k) {
    const r = randomizer(Number(seed) * 1000003 + k);
    const id = r.uuid();
    const file = path.join(folder, `${id}.jsonl`);
    // The SDK knows no last-prompt rows; a fork goes by them, as the client's own does.
    const rows = randomSession(r, id).filter((row) => !row.includes('"last-prompt"'));
    for (let n = r.below(4); n > 0; n--) rows.splice(r.below(rows.length + 1), 0, JSON.stringify(carried(r, id)));
    // Rows that were forked before.
    if (r.chance(0.3)) rows.forEach((row, i) => { if (row.startsWith('{"parentUuid"') && r.chance(0.2)) rows[i] = row.replace('{', `{"forkedFrom":${JSON.stringify(r.pick([{ sessionId: id }, { sessionId: r.uuid() }, { sessionId: '' }, { sessionId: 5 }, null]))},`); });
    if (malformed) disturb(r, id, rows);
    const text = rows.join('\n') + (r.chance(0.9) ? '\n' : '');
    fs.writeFileSync(file, toBytes(text));
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
