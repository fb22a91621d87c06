#include "support/talk.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#define NAME "projects/-p/5e550000-0000-4000-8000-000000000001.jsonl"

void talk_begin(struct talk *t)
{
    *t = (struct talk){ 0 };
    folder_make(&t->folder);
}

void talk_end(struct talk *t)
{
    folder_remove(&t->folder);
    buf_fini(&t->text);
}

void talk_raw(struct talk *t, const char *bytes)
{
    assert_int_equal(buf_add(&t->text, (struct slice){ bytes, strlen(bytes) }), ERR_OK);
}

void talk_row(struct talk *t, const char *type, const char *id, const char *parent,
              const char *rest)
{
    const char *quote = *parent ? "\"" : "";

    t->rows++;
    assert_int_equal(buf_addf(&t->text,
                              "{\"type\":\"%s\",\"uuid\":\"%s\",\"parentUuid\":%s%s%s,"
                              "\"timestamp\":\"2026-03-01T%02u:%02u:%02u.000Z\","
                              "\"sessionId\":\"s\"%s%s}\n",
                              type, id, quote, *parent ? parent : "null", quote,
                              t->rows / 3600 % 24, t->rows / 60 % 60, t->rows % 60,
                              *rest ? "," : "", rest),
                     ERR_OK);
}

void talk_user(struct talk *t, const char *id, const char *parent)
{
    char rest[256];

    snprintf(rest, sizeof rest, "\"message\":{\"role\":\"user\",\"content\":\"%s\"}", id);
    talk_row(t, "user", id, parent, rest);
}

void talk_assistant(struct talk *t, const char *id, const char *parent)
{
    char rest[256];

    snprintf(rest, sizeof rest,
             "\"message\":{\"id\":\"m-%s\",\"role\":\"assistant\",\"content\":[{\"type\":"
             "\"text\",\"text\":\"%s\"}]}",
             id, id);
    talk_row(t, "assistant", id, parent, rest);
}

struct talk talk_two_turns(void)
{
    struct talk t;

    talk_begin(&t);
    talk_user(&t, "u1", "");
    talk_assistant(&t, "a1", "u1");
    talk_user(&t, "u2", "a1");
    talk_assistant(&t, "a2", "u2");
    return t;
}

struct session_ref talk_ref(struct talk *t)
{
    struct slice text = buf_slice(&t->text);

    folder_put(&t->folder, NAME, text.n ? text : SLICE(""));
    folder_path(&t->folder, NAME, t->path);
    return (struct session_ref){ .id = SLICE("5e550000-0000-4000-8000-000000000001"),
                                 .path = { t->path, strlen(t->path) },
                                 .folder = SLICE("-p") };
}
