// Random session stores, listed by the vendor's SDK and by reprise: the answers have to be equal.
// usage: node rows.mjs REPRISE SDK_FOLDER [SEED] [STORES]
// The SDK is not part of this repository; without it this prints a line and ends well.
import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { pathToFileURL } from 'node:url';

const [reprise, sdkFolder, seedText = '1', storesText = '20'] = process.argv.slice(2);
const sdkFile = path.join(sdkFolder ?? '', 'node_modules/@anthropic-ai/claude-agent-sdk/sdk.mjs');
if (!fs.existsSync(sdkFile)) {
  console.log(`skipped: no SDK at ${sdkFile}`);
  process.exit(0);
}

let state = Number(seedText) >>> 0;
const random = () => {
  state = (state + 0x6d2b79f5) >>> 0;
  let t = Math.imul(state ^ (state >>> 15), 1 | state);
  t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
  return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
};
const below = (n) => Math.floor(random() * n);
const chance = (p) => random() < p;
const pick = (list) => list[below(list.length)];

const top = fs.mkdtempSync(path.join(os.tmpdir(), 'rows-'));
const config = path.join(top, 'config');
const projects = path.join(config, 'projects');
process.env.CLAUDE_CONFIG_DIR = config;
delete process.env.CLAUDE_CODE_PROJECT_DIR_NAME;
const sdk = await import(pathToFileURL(sdkFile));

const words = ['apple', 'zebra', 'fix the build', '  spaced  ', 'línea ñandú', '日本語', '🚀 launch', 'a"quote', 'back\\slash',
  'tab\there', '\u00a0nbsp\ufeff', 'x\u2028y', '\ud800lone', 'nul\u0000byte', '', ' '];
const text = () => {
  let t = '';
  for (let i = below(4); i >= 0; i--) t += pick(words) + pick([' ', '\n', '']);
  return chance(0.15) ? t.padEnd(190 + below(20), pick(['é', 'x', '😀', ' y'])) : t;
};
const prompt = () => pick([
  text, text, text,
  () => `<command-name>/${pick(['clear', 'init', ''])}</command-name>${text()}`,
  () => `<command-message>go</command-message>\n<command-name>/go</command-name>`,
  () => `<bash-input> ls ${text()}</bash-input>`,
  () => `<local-command-stdout>${text()}</local-command-stdout>`,
  () => `<a-b c>${text()}`, () => `<Abc>${text()}`, () => `< a>`,
  () => '[Request interrupted by user]', () => '[Request interrupted by user for tool use] x', () => '[Request interrupted by userx',
  () => `${text()}\n\n<pasted_content id="ab12">\n${text()}\n</pasted_content id="ab12">\n\n${text()}`,
  () => `<pasted_content id="ab12">\n${text()}\n</pasted_content id="ab13">`,
  () => `<pasted_content id="00ff">\n\n</pasted_content id="00ff">tail`,
])();
const time = () => new Date(1772400000000 + below(90000000)).toISOString();
const uuid = () => '########-####-4###-8###-############'.replace(/#/g, () => below(16).toString(16));
const cwds = ['/work/demo', '/work/a.b', '/work/a-b', '/nowhere/x', text];
const cwd = () => { const c = pick(cwds); return typeof c === 'string' ? c : c(); };
const maybe = (p, object) => (chance(p) ? object : {});
const content = () => pick([
  prompt, prompt,
  () => [{ type: 'text', text: prompt() }, ...(chance(0.4) ? [{ type: 'text', text: prompt() }] : [])],
  () => [{ type: 'image', source: {} }], () => [{ type: 'document' }, { type: 'text', text: '' }],
  () => [{ type: 'tool_result', content: text() }, { type: 'text', text: prompt() }], () => 7, () => null, () => ['x', null],
])();

function row(ids) {
  const chain = { parentUuid: null, isSidechain: false, uuid: uuid(), timestamp: time(), cwd: cwd(), gitBranch: pick(['main', '', 'f/x', text()]) };
  const kind = below(24);
  if (kind < 7) return { ...chain, ...maybe(0.2, { isMeta: pick([true, false, 1]) }), ...maybe(0.1, { isCompactSummary: true }), ...maybe(0.1, { isSidechain: true }),
    ...maybe(0.2, { origin: pick([{ kind: 'human' }, { kind: 'task-notification' }, null]) }), ...maybe(0.1, { turnOrigin: pick(['human', 'sdk', 'hook']) }),
    ...maybe(0.1, { toolUseResult: pick([null, 'x']) }), ...maybe(0.05, { persist: true }), ...maybe(0.05, { promptSource: pick(['typed', 7]) }),
    ...maybe(0.1, { entrypoint: pick(['cli', 'sdk-ts', 'sdk-cli']) }), ...maybe(0.05, { sessionKind: pick(['daemon', 'bg']) }),
    type: 'user', message: pick([{ role: 'user', content: content() }, { role: 'user', content: content() }, { role: 'user', content: content() }, null, 'x']) };
  if (kind < 11) return { ...chain, type: 'assistant', ...maybe(0.1, { isApiErrorMessage: true }), message: { role: 'assistant', model: 'm', content: [{ type: 'text', text: text() }], stop_reason: pick(['end_turn', null]) } };
  if (kind < 13) return { type: 'custom-title', customTitle: pick([text(), text(), '', 7]), sessionId: uuid() };
  if (kind === 13) return { type: 'ai-title', aiTitle: pick([text(), '']), sessionId: uuid() };
  if (kind === 14) return { type: 'tag', tag: pick([text(), '', null]), sessionId: uuid() };
  if (kind === 15) return { type: 'last-prompt', lastPrompt: pick([text(), text(), '']), sessionId: uuid() };
  if (kind === 16) return { type: 'summary', summary: pick([text(), '']), leafUuid: uuid() };
  if (kind === 17) return { type: 'relocated', relocatedCwd: cwd() };
  if (kind === 18) return { type: 'x', nested: { type: 'custom-title', customTitle: 'nested', gitBranch: 'nested', cwd: '/nested', timestamp: time() } };
  if (kind === 19) return { type: 'attachment', timestamp: time(), attachment: { type: 'queued_command', prompt: content(), ...maybe(0.3, { commandMode: pick(['prompt', 'bash', 'other']) }) } };
  if (kind === 20) return { type: 'continued-in', continuedInSessionId: pick([...ids, uuid(), 'x']) };
  if (kind === 21) return { type: 'file-history-snapshot', snapshot: { trackedFileBackups: {}, timestamp: time() } };
  if (kind === 22) return { type: 'filler', blob: 'x'.repeat(below(pick([10, 3000, 70000]))) };
  return [1, 'array', { customTitle: 'x', type: 'custom-title' }];
}

function line(ids) {
  const value = row(ids);
  let t = JSON.stringify(value);
  if (chance(0.06)) t = t.replace(/":/g, '": ');
  if (chance(0.02)) t = t.replace(/":/g, '" :');
  if (chance(0.02)) t = t.replace('"type":"', '"type":"other","type":"');
  if (chance(0.05)) t = t.slice(0, below(t.length)); // torn
  return t;
}

function transcript(ids) {
  const parts = [];
  for (let i = below(pick([3, 12, 40])); i >= 0; i--) {
    parts.push(Buffer.from(line(ids)));
    parts.push(Buffer.from(chance(0.04) ? '' : pick(['\n', '\n', '\n', '\n', '\n', '\r\n', '\n\n'])));
    if (chance(0.02)) parts.push(Buffer.from([0xff, 0xc3, 0x0a]));
  }
  if (chance(0.3)) { // rows that straddle the edges of the windows
    const rows = Buffer.concat(parts.splice(below(parts.length)));
    const size = Buffer.concat(parts).length;
    const want = 65536 + below(400) - 200 - size - rows.length;
    if (want > 30) parts.push(Buffer.from(JSON.stringify({ type: 'pad', p: 'y'.repeat(want) }) + '\n'));
    parts.push(rows);
    if (chance(0.5)) parts.push(Buffer.from(JSON.stringify({ type: 'pad', p: 'z'.repeat(65536 + below(600) - 500) }) + '\n'));
  }
  if (chance(0.02)) parts.unshift(Buffer.from('\ufeff'));
  return Buffer.concat(parts);
}

function sides(folder, id) {
  const side = path.join(folder, id);
  const put = (name, bytes) => { fs.mkdirSync(side, { recursive: true }); fs.writeFileSync(path.join(side, name), bytes); };
  if (chance(0.2)) put('custom-title.json', pick([() => JSON.stringify({ customTitle: text() + pick(['', '\u200b\u0007\n', 'w'.repeat(220)]) }), () => '{"customTitle":7}', () => '{', () => '[]'])());
  if (chance(0.3)) put('archived.json', pick([
    () => JSON.stringify({ archived: chance(0.8), at: time(), by: 'sdk' }), () => JSON.stringify({ archived: chance(0.8), at: time(), by: 'sdk' }),
    () => JSON.stringify({ archived: true, at: pick(['2026-03-01', '2026-02-29T00:00:00Z', '2026-03-01T10:00Z', '2026-03-01T10:00:00.5+02:00', '2026-03-01T24:00:00Z', 'x']) }),
    () => '{"archived":1,"at":"2026-03-01T10:00:00Z"}', () => ' '.repeat(4097)])());
}

function makeStore(work) {
  fs.rmSync(config, { recursive: true, force: true });
  const folders = ['-work-demo', '-work-a-b', work.replace(/[^A-Za-z0-9]/g, '-'), '-x y', '-é'];
  const ids = Array.from({ length: 8 + below(30) }, uuid);
  for (const f of folders) fs.mkdirSync(path.join(projects, f), { recursive: true });
  for (const id of ids) {
    for (let copies = chance(0.15) ? 2 : 1; copies > 0; copies--) {
      const folder = path.join(projects, pick(folders)), file = path.join(folder, `${chance(0.03) ? id.toUpperCase() : id}.jsonl`);
      fs.writeFileSync(file, transcript(ids));
      const ms = 1772400000000 + below(20) * 1000 + pick([0, 0, 0.4, 0.5, 0.6, 999.5]);
      fs.utimesSync(file, ms / 1000, ms / 1000);
      sides(folder, id);
    }
  }
  return ids;
}

const keys = ['sessionId', 'summary', 'lastModified', 'fileSize', 'customTitle', 'firstPrompt', 'gitBranch', 'cwd', 'tag', 'createdAt', 'archived'];
const shape = (r) => r && Object.fromEntries(keys.filter((k) => r[k] !== undefined).map((k) => [k, r[k]]));
function ask(...args) {
  try { return JSON.parse(execFileSync(reprise, [args[0], '--json', ...args.slice(1)], { cwd: top, maxBuffer: 1 << 28, stdio: ['ignore', 'pipe', 'ignore'] })); }
  catch (e) { if (e.status === 3) return undefined; throw e; }
}

let compared = 0, different = 0;
function compare(what, want, got) {
  compared++;
  if (JSON.stringify(want) === JSON.stringify(got)) return;
  if (different++ < 12) {
    console.log(`different: ${what}`);
    const fields = want && got ? keys.filter((k) => JSON.stringify(want[k]) !== JSON.stringify(got[k])) : [];
    if (fields.length) for (const k of fields) console.log(`  ${k}: vendor ${JSON.stringify(want[k])}, reprise ${JSON.stringify(got[k])}`);
    else console.log(`  vendor ${JSON.stringify(want)?.slice(0, 300)}\n  reprise ${JSON.stringify(got)?.slice(0, 300)}`);
  }
}
function compareLists(what, want, got) {
  compare(`${what}: which and in which order`, want.map((r) => r.sessionId), got.map((r) => r.sessionId));
  const ours = new Map(got.map((r) => [r.sessionId, r]));
  for (const r of want) if (ours.has(r.sessionId)) compare(`${what}: ${r.sessionId}`, shape(r), shape(ours.get(r.sessionId)));
}

const work = path.join(top, 'w.d');
fs.mkdirSync(work);
cwds.push(work, path.join(top, 'w-d'));
fs.mkdirSync(path.join(top, 'w-d'));
let sessions = 0;
for (let i = 0; i < Number(storesText); i++) {
  const ids = makeStore(work), before = different, name = `store ${i} of seed ${seedText}`;
  sessions += ids.length;
  compareLists(`${name}, all`, await sdk.listSessions({}), ask('list', '--sort', 'modified', '--all'));
  compareLists(`${name}, dir`, await sdk.listSessions({ dir: work }), ask('list', '--sort', 'modified', '--project', work));
  const limit = 1 + below(9), offset = below(9);
  compareLists(`${name}, page`, await sdk.listSessions({ limit, offset, includeProgrammatic: false }), ask('list', '--sort', 'modified', '--all', '--no-programmatic', '--limit', String(limit), '--offset', String(offset)));
  // Of several copies the SDK shows the one that the file system lists first, reprise the newest.
  const one = (id) => fs.readdirSync(projects).filter((f) => fs.existsSync(path.join(projects, f, `${id}.jsonl`))).length < 2;
  for (let n = 0; n < 4; n++) { const id = pick(ids); if (one(id)) compare(`${name}, info ${id}`, shape(await sdk.getSessionInfo(id)), shape(ask('info', '--', id))); }
  if (different > before) {
    const kept = `${top}-store-${i}`;
    fs.cpSync(config, kept, { recursive: true, preserveTimestamps: true });
    console.log(`  kept as ${kept}`);
  }
}
fs.rmSync(top, { recursive: true, force: true });
console.log(`${sessions} sessions, ${compared} answers compared, ${different} different`);
process.exit(different ? 1 : 0);
