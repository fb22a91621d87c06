#include "tests/contract/contract.h"

#include <zstd.h>

#include "store/systems/codex/codex.h"
#include "tests/test.h"

/* A thread in today's form, one in the form of 2025, and one that is packed. */

#define DAY ".codex/sessions/2026/11/22/"
#define FIRST "01a203d5-3d33-73f3-8acc-99da0d0081ef"
#define SECOND "01a203d5-6174-7bf0-b8d1-6822e313e335"
#define THIRD "01a203d5-8d7d-7800-922e-148bdf44abc7"
#define AT(n) "{\"timestamp\":\"2026-11-22T15:17:0" n ".000Z\","

#define META(n, id)                                                                                \
    AT(n)                                                                                          \
    "\"type\":\"session_meta\",\"payload\":{\"session_id\":\"" id "\",\"id\":\"" id                \
    "\",\"timestamp\":\"2026-11-22T15:17:00.000Z\",\"cwd\":\"/home/ada/gate\",\"source\":\"cli\"," \
    "\"git\":{\"branch\":\"main\"}}}\n"
#define ITEM(n, id, item)                                                                          \
    AT(n)                                                                                          \
    "\"type\":\"event_msg\",\"payload\":{\"type\":\"item_completed\",\"turn_id\":\"turn\","        \
    "\"item\":{\"id\":\"" id "\"," item "}}}\n"
#define PROMPT(n, id, text)                                                                        \
    ITEM(n, id, "\"type\":\"UserMessage\",\"content\":[{\"type\":\"text\",\"text\":\"" text "\"}]")
#define ANSWER(n, id, text)                                                                        \
    ITEM(n, id, "\"type\":\"AgentMessage\",\"content\":[{\"type\":\"Text\",\"text\":\"" text "\"}]")
#define EVENT(n, type, rest)                                                                       \
    AT(n) "\"type\":\"event_msg\",\"payload\":{\"type\":\"" type "\"," rest "}}\n"
#define SAID(n, by, text) EVENT(n, by, "\"message\":\"" text "\"")

static void put_packed(const struct folder *f, const char *name, struct slice text)
{
    char packed[4096];
    size_t n = ZSTD_compress(packed, sizeof packed, text.p, text.n, 3);

    assert_false(ZSTD_isError(n));
    folder_put(f, name, (struct slice){ packed, n });
}

static void make(const struct folder *f)
{
    static const char first[] = DAY "rollout-2026-11-22T16-17-16-" FIRST ".jsonl",
                      second[] = DAY "rollout-2026-11-22T16-17-25-" SECOND ".jsonl",
                      third[] = DAY "rollout-2026-11-22T16-17-36-" THIRD ".jsonl.zst";

    folder_put(f, first,
               SLICE(META("0", FIRST) PROMPT("1", "p1", "Mend the gate")
                         ANSWER("2", "a1", "It creaks.") PROMPT("3", "p2", "Oil it")
                             ANSWER("4", "a2", "Done.")));
    folder_put(f, second,
               SLICE(META("0", SECOND) EVENT("1", "task_started", "\"turn_id\":\"t1\"")
                         SAID("2", "user_message", "Paint the fence")
                             SAID("3", "agent_message", "In green.") "{\"timestamp\":\"2026"));
    put_packed(
        f, third,
        SLICE(META("0", THIRD) PROMPT("1", "p3", "Count the planks") ANSWER("2", "a3", "Seven.")));
    folder_put(f, ".codex/session_index.jsonl",
               SLICE("{\"id\":\"" SECOND "\",\"thread_name\":\"Old name\"}\n{\"id\":\"" SECOND
                     "\",\"thread_name\":\"The fence\"}\n"));
    folder_mtime(f, first, 1700000000000000000);
    folder_mtime(f, second, 1700000100000000000);
    folder_mtime(f, third, 1700000200000000000);
}

TEST_MAIN
{
    static const struct contract_session sessions[] = {
        { .id = FIRST, .title = "Mend the gate", .rows = 4, .messages = 4 },
        { .id = SECOND, .title = "The fence", .rows = 2, .messages = 2 },
        { .id = THIRD, .title = "Count the planks", .rows = 2, .messages = 2 },
    };
    const struct contract_system codex = { .ops = &codex_ops,
                                           .store = ".codex",
                                           .make = make,
                                           .session = sessions,
                                           .n = sizeof sessions / sizeof *sessions,
                                           .unknown = "01a203d5-0000-7800-922e-148bdf44abc7",
                                           .bare = true };

    return contract_run_reading(&codex);
}
