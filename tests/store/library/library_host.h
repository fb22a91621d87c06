#ifndef TESTS_STORE_LIBRARY_LIBRARY_HOST_H
#define TESTS_STORE_LIBRARY_LIBRARY_HOST_H

#include "tests/test.h"

#include <stdio.h>
#include <string.h>

#include "store/library/reprise.h"
#include "support/scratch.h"

/* What a host does with the library, in a temporary folder. */

static inline struct reprise *open_store(void **state, const char *system, const char *name)
{
    char path[4096], home[4200];
    const char *environment[] = { home, "CLAUDE_CONFIG_DIR=/nonexistent", NULL };
    struct reprise_options o = { .size = sizeof o,
                                 .system = system,
                                 .path = folder_path(*state, name, path),
                                 .directory = "/srv/app",
                                 .environment = environment,
                                 .flags = REPRISE_OPEN_CREATE };
    struct reprise_error e = { 0 };
    struct reprise *r = NULL;

    snprintf(home, sizeof home, "HOME=%s", scratch_path(state, "home"));
    if (reprise_open(&o, &r, &e))
        fail_msg("%s", e.message);
    return r;
}

static inline struct reprise_session *create(struct reprise *r, const char *id)
{
    const struct reprise_create_request request = { .size = sizeof request, .id = id };
    struct reprise_error e;
    struct reprise_session *s = NULL;

    if (reprise_create(r, &request, &s, &e))
        fail_msg("%s", e.message);
    return s;
}

static inline int append_prompt(const struct reprise_session *s, const char *id,
                                struct reprise_error *e)
{
    char row[200];
    int n =
        snprintf(row, sizeof row, "{\"uuid\":\"%s\",\"role\":\"user\",\"content\":\"pay\"}\n", id);

    return reprise_append(s, row, (size_t)n, 0, NULL, e);
}

static inline size_t count_messages(const struct reprise_session *s)
{
    struct reprise_texts *texts = NULL;
    size_t n;

    assert_int_equal(reprise_messages(s, NULL, &texts, NULL), REPRISE_OK);
    n = reprise_texts_count(texts);
    reprise_texts_free(texts);
    return n;
}

static inline void check_title(const struct reprise_session *s, const char *title)
{
    struct reprise_rows *rows;

    assert_int_equal(reprise_session_row(s, &rows, NULL), REPRISE_OK);
    assert_string_equal(reprise_rows_at(rows, 0)->title, title);
    reprise_rows_free(rows);
}

/* Rows of Claude Code. */
#define MAIN_ROW(type, uuid, parent, text)                                                         \
    "{\"type\":\"" type "\",\"uuid\":\"" uuid "\",\"parentUuid\":" parent ",\"sessionId\":\"" SID  \
    "\",\"cwd\":\"/srv/"                                                                           \
    "app\",\"timestamp\":\"2026-02-09T02:48:28.000Z\",\"message\":{\"role\":\"" type               \
    "\",\"content\":\"" text "\"}}\n"
#define SID "8a3c1f4e-0000-4000-8000-00000000000a"
#define ID(n) "8a3c1f4e-0000-4000-8000-00000000000" #n

#endif
