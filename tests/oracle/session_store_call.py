"""One call of the vendor's SDK for Python with its reference store for PostgreSQL, as JSON.
   usage: session_store_call.py FOLDER postgres|none PLACE ACTION SESSION DIR    ACTION: import, read, delete"""
import asyncio
import dataclasses
import json
import sys

folder, kind, place, action, session, directory = sys.argv[1:]
sys.path.insert(0, f'{folder}/session_stores')
import claude_agent_sdk as sdk  # noqa: E402


def plain(messages):
    return [dataclasses.asdict(m) for m in messages]


def read_local():
    agents = sorted(sdk.list_subagents(session, directory=directory))
    return {'sessions': [dataclasses.asdict(s) for s in sdk.list_sessions(directory=directory)], 'agents': agents,
            'messages': plain(sdk.get_session_messages(session, directory=directory)),
            'ofAgents': [plain(sdk.get_subagent_messages(session, a, directory=directory)) for a in agents]}


async def read(store):
    agents = sorted(await sdk.list_subagents_from_store(store, session, directory=directory))
    return {'sessions': [dataclasses.asdict(s) for s in await sdk.list_sessions_from_store(store, directory=directory)], 'agents': agents,
            'messages': plain(await sdk.get_session_messages_from_store(store, session, directory=directory)),
            'ofAgents': [plain(await sdk.get_subagent_messages_from_store(store, session, a, directory=directory)) for a in agents]}


async def main():
    import asyncpg
    from postgres_session_store import PostgresSessionStore
    pool = await asyncpg.create_pool(host=place, user='me', database='postgres', min_size=1, max_size=2)
    store = PostgresSessionStore(pool=pool)
    await store.create_schema()
    if action == 'import':
        await sdk.import_session_to_store(session, store, directory=directory, batch_size=3)
    elif action == 'delete':
        await sdk.delete_session_via_store(store, session, directory=directory)
    else:
        show(await read(store))
    await pool.close()


def show(found):
    """Without what a store keeps otherwise than a file: the size, and the time of the newest change."""
    for s in found['sessions']:
        s.pop('file_size'), s.pop('last_modified')
    print(json.dumps(found))


if kind == 'none':
    show(read_local())
else:
    asyncio.run(main())
