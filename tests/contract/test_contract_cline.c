#include "tests/contract/contract.h"

#include "store/systems/cline/cline.h"
#include "tests/test.h"

/* Cline keeps a directory for each session, with a document about it and one with its messages. */

#define HOME ".cline/data/sessions/"
#define FIRST "1795464391094_aaaaa"
#define SECOND "1795464391095_bbbbb"
#define THIRD "1795464391096_ccccc"

#define SESSION(id, title)                                                                         \
    "{\n  \"version\": 1,\n  \"session_id\": \"" id "\",\n  \"cwd\": \"/app\",\n  \"metadata\": "  \
    "{\n    \"title\": \"" title "\"\n  }\n}\n"
#define BEGIN "{\n  \"version\": 1,\n  \"messages\": ["
#define MESSAGE(id, role, text)                                                                    \
    "\n    {\n      \"id\": \"" id "\",\n      \"role\": \"" role                                  \
    "\",\n      \"content\": [\n        {\n          \"type\": \"text\",\n          \"text\": "    \
    "\"" text "\"\n        }\n      ],\n      \"ts\": 1795464391629\n    }"
#define END "\n  ]\n}\n"

static void make(const struct folder *f)
{
    folder_put(f, HOME FIRST "/" FIRST ".json", SLICE(SESSION(FIRST, "The gate")));
    folder_put(
        f, HOME FIRST "/" FIRST ".messages.json",
        SLICE(
            BEGIN
                MESSAGE("1", "user", "<user_input mode=\\\"act\\\">Mend</user_input>") "," MESSAGE(
                    "2", "assistant",
                    "It creaks.") "," MESSAGE("3", "user", "Oil it") "," MESSAGE("4", "assistant",
                                                                                 "Done.") END));
    /* A document that was torn by an interrupted write. */
    folder_put(f, HOME SECOND "/" SECOND ".json", SLICE(SESSION(SECOND, "The fence")));
    folder_put(f, HOME SECOND "/" SECOND ".messages.json",
               SLICE(BEGIN MESSAGE("5", "user", "Paint the fence") ",\n    {\n      \"id"));
    folder_put(f, HOME THIRD "/" THIRD ".json", SLICE(SESSION(THIRD, "The house")));
    folder_put(f, HOME THIRD "/" THIRD ".messages.json",
               SLICE(BEGIN MESSAGE("6", "user", "Sell the house") "," MESSAGE("7", "assistant",
                                                                              "To whom?") END));
    folder_put(f, HOME "no-session.json", SLICE("{}\n"));
    folder_mtime(f, HOME FIRST "/" FIRST ".messages.json", 1700000000123456789);
    folder_mtime(f, HOME SECOND "/" SECOND ".messages.json", 1700000100000000000);
    folder_mtime(f, HOME THIRD "/" THIRD ".messages.json", 1700000200000000001);
}

TEST_MAIN
{
    static const struct contract_session sessions[] = {
        { .id = FIRST, .title = "The gate", .rows = 4, .messages = 4 },
        { .id = SECOND, .title = "The fence", .rows = 1, .messages = 1 },
        { .id = THIRD, .title = "The house", .rows = 2, .messages = 2 },
    };
    const struct contract_system cline = { .ops = &cline_ops,
                                           .store = ".cline/data",
                                           .make = make,
                                           .session = sessions,
                                           .n = sizeof sessions / sizeof *sessions,
                                           .unknown = "1795464391099_zzzzz" };

    return contract_run_reading(&cline);
}
