// Random sessions of Claude Code, made to meet every rule of its readers. All from one seed.

export function randomizer(seed) {
    let s = seed >>> 0;
    const next = () => {
        s = (s + 0x6d2b79f5) >>> 0;
        let t = Math.imul(s ^ (s >>> 15), 1 | s);
        t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
        return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
    };
    const r = {
        below: (n) => Math.floor(next() * n),
        chance: (p) => next() < p,
        pick: (a) => a[Math.floor(next() * a.length)],
        uuid: () => {
            const h = (n) => Array.from({ length: n }, () => '0123456789abcdef'[r.below(16)]).join('');
            return `${h(8)}-${h(4)}-4${h(3)}-8${h(3)}-${h(12)}`;
        },
    };
    return r;
}

const NOTES = [
    '[Request interrupted by user]',
    '[Request interrupted by user for tool use]',
    '[This turn ended before it finished.]',
    "The user doesn't want to take this action right now. STOP what you are doing and wait for the user to tell you how to proceed.",
    '[Tool call skipped: the turn ended to deliver the message that follows before this call ran. Nothing refused it; re-run it if still needed.]',
    '[Request interrupted by nobody]',
];
const KINDS = ['channel', 'observer', 'observer-activity', 'slack-ping', 'voice-call', 'peer', 'human', 'task-notification', 7];
const FALSY = [false, null, 0, '', undefined];

export function randomSession(r, sessionId) {
    const rows = []; // texts
    const ids = []; // uuids of chain rows, so far and to come
    const tools = []; // tool_use ids
    const messages = []; // message ids
    const sources = []; // ids of queued commands
    let last = null; // what the next row most likely follows
    let clock = Date.UTC(2026, 2, 1, 10);
    const weird = r.chance(0.2); // odd ids and values in this one
    const host = r.chance(0.15);

    const stamp = () => {
        clock += r.chance(0.1) ? -r.below(5000) : r.below(3000);
        const iso = new Date(clock).toISOString();
        if (!weird || r.chance(0.7)) return iso;
        return r.pick([iso.replace('.000Z', 'Z'), iso.replace('Z', '+00:00'), iso.toLowerCase(), '', undefined, iso.slice(0, 10), 'soon']);
    };
    const newId = () => {
        let id = r.uuid();
        if (weird && r.chance(0.2)) id = r.pick(['x', 'Y', 'z', '00000000-0000-0000-0000-000000000000', 'é', 'a\\u0062'.slice(0, 1), id.toUpperCase()]);
        else if (r.chance(0.04) && ids.length) id = r.pick(ids); // written again
        ids.push(id);
        return id;
    };
    const parent = () => {
        if (last === null && r.chance(0.9)) return null;
        if (r.chance(0.8)) return last;
        if (r.chance(0.7) && ids.length) return r.pick(ids);
        return r.pick([null, r.uuid(), last, undefined, weird ? 5 : last, weird ? '' : null]);
    };
    const maybe = (p, key, values) => (r.chance(p) ? { [key]: r.pick(values) } : {});
    const toolId = () => {
        const t = r.chance(0.06) && tools.length ? r.pick(tools) : `toolu_${r.below(100000)}`;
        tools.push(t);
        return t;
    };
    const marks = () => ({
        ...maybe(0.06, 'isSidechain', [true, ...FALSY]),
        ...maybe(0.04, 'teamName', ['red', '', null]),
        ...maybe(0.12, 'isMeta', [true, true, false, null, 1]),
        ...maybe(0.03, 'isCompactSummary', [true, false]),
        ...maybe(0.03, 'isVisibleInTranscriptOnly', [true, 'yes']),
        ...maybe(0.08, 'origin', [...KINDS.map((kind) => ({ kind, x: 1 })), null, 'text', 0, { kind: 'task-notification', subkind: 's', fireReason: null, runId: 'run.1:a', taskKind: 'mcp-task', more: 1 }, { kind: 'task-notification', runId: 'bad id', taskKind: 'x', producer: { a: 1 } }]),
        ...maybe(0.05, 'agentId', ['a1', 'b2', null]),
        ...maybe(0.02, 'interruptedByShutdown', [true, 1]),
        ...maybe(0.02, 'toolDenialUnanswered', ['stream-closed', 'other']),
        ...maybe(0.05, 'toolDenialKind', ['user-rejected', 'cancelled', 'nonsense', 3]),
        ...maybe(0.01, 'isQueuedCommand', [true, 'x']),
        ...maybe(0.01, 'isCompletedLocalCommand', [true]),
        ...maybe(0.02, 'promptSource', ['typed', null]),
        ...maybe(0.02, 'isVirtual', [true, false]),
    });
    const write = (row) => {
        let text = JSON.stringify(row);
        if (r.chance(0.01)) text = ' \t' + text + ' \r';
        if (r.chance(0.005)) text = '\0\x01' + text;
        if (r.chance(0.01)) text = text.slice(0, r.below(text.length)); // torn
        if (r.chance(0.005)) text += r.pick(['x', '}', ' {"type":"user"}']);
        if (r.chance(0.005)) text = '{"type":"user",' + text.slice(1); // key twice: the last counts
        rows.push(text);
    };
    const chainRow = (type, rest, follow = true) => {
        const uuid = r.chance(0.015) ? r.pick([undefined, null, 4]) : newId();
        const p = parent();
        write({ parentUuid: p, ...marks(), type, ...rest, uuid, timestamp: stamp(), sessionId: r.chance(0.97) ? sessionId : r.pick([undefined, null, 'other']), ...(weird && r.chance(0.05) ? { type: r.pick(['user', 'assistant', 'system']) } : {}) });
        if (follow && typeof uuid === 'string') last = uuid;
        return uuid;
    };
    const text = () => r.pick(['hello', 'fix the door', '', 'é😀', 'x'.repeat(r.below(300)), ...NOTES, '<command-name>/clear</command-name>', '<local-command-stdout>out</local-command-stdout>', '<local-command-caveat>careful']);
    const textBlock = () => ({ type: 'text', text: text() });

    const user = () => {
        const content = r.chance(0.6) ? text() : r.pick([[textBlock()], [textBlock(), textBlock()], [], [{ type: 'image', source: {} }], null, undefined, [null, 'x', textBlock()], { type: 'tool_result' }]);
        chainRow('user', r.chance(0.97) ? { message: r.chance(0.98) ? { role: 'user', content } : r.pick([null, 'text', []]) } : {});
    };
    const answer = (id, rest = {}) => {
        const err = r.chance(0.3) ? { is_error: r.pick([true, false]) } : {};
        const block = { type: 'tool_result', tool_use_id: id, content: r.pick(['ok', ...NOTES, [textBlock()]]), ...err };
        const content = [block];
        if (r.chance(0.1)) content.push(textBlock());
        if (r.chance(0.08) && tools.length) content.push({ type: 'tool_result', tool_use_id: r.pick([...tools, null, 5]), content: 'more' });
        return chainRow('user', { message: { role: 'user', content }, ...maybe(0.4, 'sourceToolAssistantUUID', ids.length ? ids : ['q']), ...rest });
    };
    const assistant = () => {
        const id = r.chance(0.3) && messages.length ? r.pick(messages.slice(-3)) : `msg_${r.below(10000)}`;
        messages.push(id);
        const content = [];
        if (r.chance(0.7)) content.push(r.chance(0.1) ? { type: 'text', text: r.pick(['', 'No response requested.']) } : textBlock());
        if (r.chance(0.3)) content.push({ type: 'tool_use', id: toolId(), name: 'Read', input: {} });
        const message = { id: r.chance(0.95) ? id : r.pick(['', null, 7, undefined]), role: 'assistant', content: r.chance(0.95) ? content : r.pick(['plain', null]) };
        const hostMarks = host && r.chance(0.4) ? hosted() : {};
        chainRow('assistant', { message, ...maybe(0.08, 'closesQuietTurn', [true, false, 'x']), ...hostMarks });
        if (r.chance(0.5)) for (const b of content) if (b.type === 'tool_use' && r.chance(0.7)) answer(b.id);
    };
    // Calls that ran side by side: rows of one message, each with its result, which may all hang elsewhere.
    const parallel = () => {
        const id = `msg_${r.below(10000)}`, n = 2 + r.below(3), base = last, calls = [];
        messages.push(id);
        for (let i = 0; i < n; i++) {
            const t = toolId();
            const at = chainRow('assistant', { message: { id, role: 'assistant', content: [{ type: 'tool_use', id: t, name: 'Bash', input: { i } }] } });
            calls.push([t, at]);
            if (r.chance(0.3)) last = base;
            if (r.chance(0.4)) { const keep = last; answer(t); if (r.chance(0.6)) last = keep; }
        }
        for (const [t, at] of calls) {
            if (r.chance(0.3)) continue;
            if (typeof at === 'string' && r.chance(0.7)) last = at;
            answer(t, r.chance(0.3) && typeof at === 'string' ? { sourceToolAssistantUUID: at } : {});
        }
    };
    const hosted = () => ({
        ...maybe(0.7, 'hostHiddenToolUseIds', [tools.slice(-2), tools.slice(-1), [], 'x', [5, ...tools.slice(-3)]]),
        ...maybe(0.4, 'ranByToolUseId', tools.length ? tools.slice(-3) : ['t']),
        ...maybe(0.5, 'isVirtual', [true, false]),
        ...maybe(0.5, 'hostContent', tools.length ? [[{ type: 'tool_use', id: r.pick(tools.slice(-2)), name: 'Read', input: { shown: 1 } }], [{ type: 'tool_result', tool_use_id: r.pick(tools.slice(-2)), content: 'shown' }], [], 'x'] : [[]]),
    });
    // A call that a host ran in the course of another one.
    const hostCall = () => {
        const hidden = toolId(), ran = toolId(), shown = { type: 'tool_use', id: ran, name: 'Read', input: { h: 1 } };
        chainRow('assistant', { message: { id: `msg_${r.below(10000)}`, role: 'assistant', content: [...(r.chance(0.4) ? [textBlock()] : []), { type: 'tool_use', id: hidden, name: 'Read', input: {} }] }, hostHiddenToolUseIds: r.chance(0.9) ? [hidden] : [], ...maybe(0.5, 'hostContent', [[{ type: 'tool_use', id: hidden, name: 'Read', input: { shown: 2 } }]]) });
        const keep = last;
        if (r.chance(0.7)) {
            chainRow('assistant', { message: { id: 'msg_h', role: 'assistant', content: [shown] }, ranByToolUseId: hidden, isVirtual: r.chance(0.9), ...maybe(0.5, 'hostContent', [[{ ...shown, input: { k: 1 } }]]) });
            if (r.chance(0.8)) chainRow('user', { isVirtual: r.chance(0.9), message: { role: 'user', content: [{ type: 'tool_result', tool_use_id: ran, content: 'by host' }] }, ...maybe(0.5, 'hostContent', [[{ type: 'tool_result', tool_use_id: ran, content: 'kept' }]]) });
        }
        if (r.chance(0.6)) last = keep;
        if (r.chance(0.9)) answer(hidden, maybe(0.5, 'hostContent', [[{ type: 'tool_result', tool_use_id: hidden, content: 'told' }]]));
        for (let i = r.below(3); i > 0; i--) {
            const t = toolId();
            write({ type: 'host-row', ranByToolUseId: r.chance(0.9) ? hidden : 9, rowUuid: r.chance(0.9) ? r.uuid() : r.pick([...ids, 5]), timestamp: r.pick([stamp(), 5]), ...maybe(0.05, 'withheld', [true]), block: { type: 'tool_use', id: t, name: 'Bash', input: {} } });
            if (r.chance(0.7)) write({ type: 'host-row', ranByToolUseId: hidden, rowUuid: r.uuid(), block: { type: 'tool_result', tool_use_id: t, content: 'r' } });
        }
    };
    const attachment = () => {
        const type = r.pick(['todo', 'fork_briefing', 'edited_text_file', 'deferred_tools_record', undefined]);
        chainRow('attachment', { attachment: r.chance(0.96) ? { type, content: 'c' } : r.pick([null, 'x']) }, r.chance(0.8));
    };
    const queued = () => {
        const source = r.chance(0.3) && sources.length ? r.pick(sources) : r.pick([r.uuid(), `q${r.below(100)}`, '', undefined, ...(r.chance(0.2) ? ids : [])]);
        const delivery = r.chance(0.25) ? r.pick(['d1', 'd2', 'd3', '']) : undefined;
        if (typeof source === 'string') sources.push(source);
        const a = {
            type: 'queued_command',
            prompt: r.chance(0.9) ? text() : r.pick([[textBlock()], null, 5, [{ type: 'image' }]]),
            source_uuid: source,
            delivery_id: delivery,
            ...maybe(0.1, 'isMeta', [true, false, 1]),
            ...maybe(0.2, 'origin', [...KINDS.map((kind) => ({ kind })), 'x', null]),
            ...maybe(0.2, 'commandMode', ['prompt', 'bash', 'task-notification']),
            ...maybe(0.1, 'runId', ['run1', 'bad run']),
            ...maybe(0.06, 'forwardedIntent', [{ lineage: 'a' }, { lineage: '' }, {}, 'x', null, { lineage: 'b', source: 'odd' }]),
        };
        const copies = r.chance(0.2) ? 2 : 1;
        for (let i = 0; i < copies; i++) chainRow('attachment', { attachment: r.chance(0.9) ? a : { ...a, prompt: 'changed' } }, r.chance(0.7));
        if (r.chance(0.35)) absorb(source, delivery);
    };
    const absorb = (source = r.pick([...sources, 'q1']), delivery = r.pick(['d1', 'd2', undefined])) =>
        write({ type: 'queue-operation', operation: r.chance(0.9) ? 'remove' : 'enqueue', reason: r.chance(0.9) ? 'absorbed_mid_turn' : 'other', timestamp: stamp(), sessionId, ...(delivery !== undefined && r.chance(0.8) ? { deliveryId: delivery } : {}), ...(source !== undefined && r.chance(0.9) ? { commandUuid: source } : {}) });
    const localCommand = () => {
        const say = (t, rest = {}) => chainRow('user', { message: { role: 'user', content: r.chance(0.8) ? t : [{ type: 'text', text: 'before' }, { type: 'text', text: t }] }, ...rest });
        say('<local-command-caveat>Caveat', r.chance(0.9) ? { isMeta: true } : {});
        if (r.chance(0.2)) attachment();
        if (r.chance(0.9)) say('<command-name>/model</command-name>');
        for (let i = r.below(3); i > 0; i--) say(r.pick(['<local-command-stdout>o</local-command-stdout>', '<local-command-stderr>e</local-command-stderr>', 'hm']));
    };
    const boundary = () => {
        const known = () => (ids.length ? r.pick(ids) : 'none');
        const uuids = ids.slice(-(1 + r.below(5)));
        const at = ids.length;
        const own = r.uuid(), anchor = r.pick([own, r.uuid(), known()]);
        const kept = r.pick([
            {},
            { preservedMessages: { anchorUuid: anchor, uuids: r.chance(0.85) ? uuids : [...uuids, r.uuid()], allUuids: uuids } },
            { preservedMessages: { anchorUuid: anchor, uuids: r.chance(0.8) ? uuids : [] } },
            { preservedSegment: { headUuid: uuids[0] ?? 'h', anchorUuid: anchor, tailUuid: uuids.at(-1) ?? 't' } },
            { preservedSegment: { headUuid: r.chance(0.5) ? known() : r.uuid(), anchorUuid: anchor, tailUuid: r.chance(0.8) ? known() : r.uuid() } },
        ]);
        ids.push(own);
        write({ parentUuid: r.chance(0.93) ? null : known(), ...(r.chance(0.7) && last ? { logicalParentUuid: last } : {}), isSidechain: false, type: 'system', subtype: r.chance(0.95) ? 'compact_boundary' : 'other', content: 'c', uuid: own, timestamp: stamp(), sessionId, ...(r.chance(0.95) ? { compactMetadata: { trigger: 'auto', preTokens: 1, ...kept } } : {}) });
        last = own;
        if (r.chance(0.8)) {
            const id = r.chance(0.7) ? anchor : r.uuid();
            if (!ids.slice(0, at).includes(id) && id !== own) {
                ids.push(id);
                write({ parentUuid: own, isSidechain: false, type: 'user', isCompactSummary: true, message: { role: 'user', content: 'summary' }, uuid: id, timestamp: stamp(), sessionId });
                last = id;
            }
        }
    };
    const voice = () =>
        chainRow('system', {
            subtype: 'voice_call_talk',
            level: 'info',
            msgV: 1,
            content: r.chance(0.9) ? 'spoken' : 5,
            origin: r.pick([{ kind: 'voice-call' }, { kind: 'voice-call', extra: 1 }, { kind: 'voice-call' }, { kind: 'other' }, null]),
            ...maybe(0.4, 'blocks', [[textBlock()], 'x', []]),
            ...maybe(0.4, 'fold', [{ command: { source_uuid: r.pick([...sources, 'v1']), commandMode: 'prompt' } }, { command: { delivery_id: 'd1' }, isSidechain: true, uuid: 'folded' }, { command: 5 }, null, {}]),
            ...maybe(0.2, 'isMeta', [true]),
        });
    const system = () => chainRow('system', { subtype: r.pick(['turn_duration', 'local_command', 'api_error', undefined]), content: 'note' });
    const other = () => rows.push(r.pick(['', '   ', 'not json', '[]', 'null', '5', '{"type":"last-prompt","leafUuid":"x","lastPrompt":"p"}', '{"type":"custom-title","customTitle":"t"}', '{"type":"attribution-snapshot","x":1}', '{"type":"file-history-snapshot","messageId":"m","snapshot":{}}', '\ufeff{"type":"user","uuid":"bom"}', '{"type":"summary","uuid":"' + (ids[0] ?? 's') + '"}']));

    const n = 2 + r.below(r.chance(0.2) ? 60 : 18);
    const steps = [
        [26, user], [26, assistant], [6, parallel], [8, attachment], [12, queued], [3, absorb], [5, localCommand],
        [5, boundary], [3, voice], [6, system], [3, other], [host ? 12 : 0, hostCall],
        [4, () => chainRow('progress', { data: {} }, r.chance(0.8))],
        [5, () => { if (ids.length) last = r.pick(ids); }], // a rewind: a branch begins
        [1, () => { last = null; }],
    ];
    const total = steps.reduce((sum, [w]) => sum + w, 0);
    for (let i = 0; i < n; i++) {
        let at = r.below(total);
        for (const [w, step] of steps) {
            at -= w;
            if (at < 0) { step(); break; }
        }
    }
    if (r.chance(0.1)) for (let i = 0; i < 3 && rows.length > 1; i++) { // child before parent
        const a = r.below(rows.length), b = r.below(rows.length);
        [rows[a], rows[b]] = [rows[b], rows[a]];
    }
    return rows;
}
