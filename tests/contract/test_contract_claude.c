#include "tests/contract/contract.h"

#include "store/systems/claude/claude.h"
#include "tests/test.h"

#define PROJECT "cfg/projects/-srv-app/"
#define FIRST "5e550000-0000-4000-8000-000000000001"
#define SECOND "5e550000-0000-4000-8000-000000000002"
#define THIRD "5e550000-0000-4000-8000-000000000003"
#define ROW(n) "aaaa0000-0000-4000-8000-00000000000" n

#define IDS(session, n, parent)                                                                    \
    "{\"parentUuid\":" parent ",\"isSidechain\":false,\"cwd\":\"/srv/app\",\"sessionId\":"         \
    "\"" session "\",\"version\":\"2.1.330\",\"gitBranch\":\"main\",\"uuid\":\"" ROW(              \
        n) "\",\"timestamp\":\"2026-03-01T10:00:0" n ".000Z\","
#define USER(session, n, parent, text)                                                             \
    IDS(session, n, parent)                                                                        \
    "\"type\":\"user\",\"message\":{\"role\":\"user\",\"content\":\"" text "\"}}\n"
#define ASSISTANT(session, n, parent, text)                                                        \
    IDS(session, n, parent)                                                                        \
    "\"type\":\"assistant\",\"message\":{\"id\":\"m" n "\",\"role\":\"assistant\",\"content\":"    \
    "[{\"type\":\"text\",\"text\":\"" text "\"}]}}\n"
#define AFTER(n) "\"" ROW(n) "\""

static void make(const struct folder *f)
{
    folder_put(
        f, PROJECT FIRST ".jsonl",
        SLICE(USER(FIRST, "1", "null", "Mend the gate")                       /**/
              ASSISTANT(FIRST, "2", AFTER("1"), "It creaks.")                 /**/
              USER(FIRST, "3", AFTER("2"), "Oil it")                          /**/
              ASSISTANT(FIRST, "4", AFTER("3"), "Done.")                      /**/
              "{\"type\":\"file-history-snapshot\",\"messageId\":" AFTER("3") /**/
              ",\"snapshot\":{\"messageId\":" AFTER(
                  "3") ",\"trackedFileBackups\":" /**/
                       "{\"gate.txt\":{\"backupFileName\":\"0123456789abcdef@v1\",\"version\":1,"
                       "\"backupTime\":\"2026-03-01T10:00:03.000Z\"}},\"timestamp\":"
                       "\"2026-03-01T10:00:03.000Z\"},\"isSnapshotUpdate\":false}\n"));
    folder_put(f, "cfg/file-history/" FIRST "/0123456789abcdef@v1", SLICE("a gate\n"));
    folder_put(f, PROJECT FIRST "/subagents/agent-a1.jsonl",
               SLICE(USER(FIRST, "1", "null", "Look for oil")));
    folder_put(f, PROJECT SECOND ".jsonl",
               SLICE(USER(SECOND, "5", "null", "Paint the fence")
                         ASSISTANT(SECOND, "6", AFTER("5"), "In green.")));
    /* A title given by a person, and a tail torn by an interrupted write. */
    folder_put(
        f, PROJECT THIRD ".jsonl",
        SLICE(USER(THIRD, "7", "null", "Sweep the yard") ASSISTANT(
            THIRD, "8", AFTER("7"),
            "Swept.") "{\"type\":\"custom-title\",\"customTitle\":\"Yard\",\"sessionId\":\"" THIRD
                      "\"}\n{\"type\":\"ta"));
    folder_mtime(f, PROJECT FIRST ".jsonl", 1700000000123456789);
    folder_mtime(f, PROJECT SECOND ".jsonl", 1700000100000000000);
    folder_mtime(f, PROJECT THIRD ".jsonl", 1700000200000000001);
}

static const struct contract_session sessions[] = {
    { .id = FIRST,
      .title = "Mend the gate",
      .rows = 4,
      .messages = 4,
      .at = ROW("2"),
      .rows_to_at = 2 },
    { .id = SECOND, .title = "Paint the fence", .rows = 2, .messages = 2 },
    { .id = THIRD, .title = "Yard", .rows = 2, .messages = 2 },
};

TEST_MAIN
{
    const struct contract_system claude = {
        .ops = &claude_ops,
        .store = "cfg",
        .make = make,
        .session = sessions,
        .n = sizeof sessions / sizeof *sessions,
        .unknown = "99990000-0000-4000-8000-000000000009",
    };

    return contract_run(&claude);
}
