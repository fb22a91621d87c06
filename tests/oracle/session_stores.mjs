// One call of the vendor's SDK with one of its reference stores, as JSON.
//   usage: node --import tsx session_stores.mjs FOLDER KIND PLACE ACTION SESSION DIR
// KIND: redis, postgres, s3, or none for the local files. ACTION: import, read, delete.
import { createRequire } from 'node:module';
import path from 'node:path';
import { pathToFileURL } from 'node:url';

const [folder, kind, place, action, session, dir] = process.argv.slice(2);
const require = createRequire(path.join(folder, 'x.js'));
const load = (file) => import(pathToFileURL(path.join(folder, file)).href);
const sdk = await load('node_modules/@anthropic-ai/claude-agent-sdk/sdk.mjs');
let close = () => {};

async function open() {
    if (kind === 'redis') {
        const { RedisSessionStore } = await load('session-stores/redis/src/RedisSessionStore.ts');
        const client = new (require('ioredis'))({ path: place });
        close = () => client.quit();
        return new RedisSessionStore({ client, prefix: 'team' });
    }
    if (kind === 'postgres') {
        const { PostgresSessionStore } = await load('session-stores/postgres/src/PostgresSessionStore.ts');
        const pool = new (require('pg').Pool)({ host: place, user: 'me', database: 'postgres' });
        close = () => pool.end();
        const store = new PostgresSessionStore({ pool });
        await store.ensureSchema();
        return store;
    }
    const { S3SessionStore } = await load('session-stores/s3/src/S3SessionStore.ts');
    const { S3Client } = require('@aws-sdk/client-s3');
    return new S3SessionStore({ bucket: 'team', prefix: 'team', client: new S3Client({ endpoint: place, forcePathStyle: true }) });
}

const sessionStore = kind === 'none' ? undefined : await open();
const at = { dir, sessionStore };
if (action === 'import') {
    await sdk.importSessionToStore(session, sessionStore, { dir, batchSize: 3 });
} else if (action === 'delete') {
    await sdk.deleteSession(session, at);
} else {
    const agents = (await sdk.listSubagents(session, at)).sort();
    const sessions = (await sdk.listSessions(at)).map((s) => [s.sessionId, s.summary, s.customTitle, s.firstPrompt, s.cwd, s.gitBranch]);
    const messages = await sdk.getSessionMessages(session, at);
    const ofAgents = [];
    for (const agent of agents)
        ofAgents.push(await sdk.getSubagentMessages(session, agent, at));
    console.log(JSON.stringify({ sessions, agents, messages, ofAgents }));
}
await close();
