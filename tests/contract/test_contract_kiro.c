#include "tests/contract/contract.h"

#include "tests/test.h"

extern const struct store_ops kiro_ops;

/* Kiro keeps a log and a document about it for each session: as two files, or in a directory. */

#define FLAT ".kiro/sessions/cli/"
#define FIRST "01a203e0-7efc-41a2-810d-000000000001"
#define SECOND "01a203e0-7efc-41a2-810d-000000000002"
#define THIRD "sess_01a203e0-7efc-41a2-810d-000000000003"
#define DIRECTORY ".kiro/sessions/9f3c1d0b7a4e2856/" THIRD "/"

#define ABOUT(id, title) "{\"session_id\":\"" id "\",\"cwd\":\"/app\",\"title\":\"" title "\"}\n"
#define ROW(id, kind, text)                                                                        \
    "{\"version\":\"v1\",\"kind\":\"" kind "\",\"data\":{\"message_id\":\"" id                     \
    "\",\"content\":[{\"kind\":\"text\",\"data\":\"" text "\"}]}}\n"
#define EVENT(id, payload)                                                                         \
    "{\"id\":\"" id "\",\"timestamp\":\"2026-02-09T02:48:28.000Z\",\"payload\":{" payload "}}\n"

static void make(const struct folder *f)
{
    folder_put(f, FLAT FIRST ".json", SLICE(ABOUT(FIRST, "The gate")));
    folder_put(f, FLAT FIRST ".jsonl",
               SLICE(ROW("1", "Prompt", "Mend the gate") ROW("2", "AssistantMessage", "It creaks.")
                         ROW("3", "Prompt", "Oil it") ROW("4", "AssistantMessage", "Done.")));
    /* A tail that was torn by an interrupted write. */
    folder_put(f, FLAT SECOND ".json", SLICE(ABOUT(SECOND, "The fence")));
    folder_put(f, FLAT SECOND ".jsonl",
               SLICE(ROW("5", "Prompt", "Paint the fence") "{\"version\":\"v1"));
    folder_put(
        f, DIRECTORY "session.json",
        SLICE("{\"id\":\"" THIRD "\",\"title\":\"The house\",\"workspacePaths\":[\"/app\"]}"));
    folder_put(f, DIRECTORY "messages.jsonl",
               SLICE(EVENT("6", "\"type\":\"user\",\"content\":\"Sell the house\"")
                         EVENT("7", "\"type\":\"assistant\",\"operationType\":\"Say\",\"content\":"
                                    "\"To whom?\"")));
    folder_put(f, FLAT "x.jsonl", SLICE("{}\n"));
    folder_mtime(f, FLAT FIRST ".jsonl", 1700000000123456789);
    folder_mtime(f, FLAT SECOND ".jsonl", 1700000100000000000);
    folder_mtime(f, DIRECTORY "messages.jsonl", 1700000200000000001);
}

TEST_MAIN
{
    static const struct contract_session sessions[] = {
        { .id = FIRST, .title = "The gate", .rows = 4, .messages = 4 },
        { .id = SECOND, .title = "The fence", .rows = 1, .messages = 1 },
        { .id = THIRD, .title = "The house", .rows = 2, .messages = 2 },
    };
    const struct contract_system kiro = { .ops = &kiro_ops,
                                          .store = ".kiro",
                                          .make = make,
                                          .session = sessions,
                                          .n = sizeof sessions / sizeof *sessions,
                                          .unknown = "01a203e0-7efc-41a2-810d-000000000009" };

    return contract_run_reading(&kiro);
}
