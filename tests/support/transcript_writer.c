#include "support/transcript_writer.h"

#include "tests/test.h"

#define NAME "projects/-p/5e550000-0000-4000-8000-000000000001.jsonl"

void transcript_writer_begin(struct transcript_writer *t)
{
    *t = (struct transcript_writer){ 0 };
    folder_make(&t->folder);
}

void transcript_writer_end(struct transcript_writer *t)
{
    folder_remove(&t->folder);
    buf_fini(&t->text);
}

void transcript_writer_raw(struct transcript_writer *t, const char *bytes)
{
    assert_int_equal(buf_add(&t->text, slice_of(bytes)), ERR_OK);
}

void transcript_writer_row(struct transcript_writer *t, const char *type, const char *id,
                           const char *parent, const char *rest)
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

void transcript_writer_user(struct transcript_writer *t, const char *id, const char *parent)
{
    char rest[256];

    snprintf(rest, sizeof rest, "\"message\":{\"role\":\"user\",\"content\":\"%s\"}", id);
    transcript_writer_row(t, "user", id, parent, rest);
}

void transcript_writer_assistant(struct transcript_writer *t, const char *id, const char *parent)
{
    char rest[256];

    snprintf(rest, sizeof rest,
             "\"message\":{\"id\":\"m-%s\",\"role\":\"assistant\",\"content\":[{\"type\":"
             "\"text\",\"text\":\"%s\"}]}",
             id, id);
    transcript_writer_row(t, "assistant", id, parent, rest);
}

struct transcript_writer transcript_writer_two_turns(void)
{
    struct transcript_writer t;

    transcript_writer_begin(&t);
    transcript_writer_user(&t, "u1", "");
    transcript_writer_assistant(&t, "a1", "u1");
    transcript_writer_user(&t, "u2", "a1");
    transcript_writer_assistant(&t, "a2", "u2");
    return t;
}

struct session_ref transcript_writer_ref(struct transcript_writer *t)
{
    struct slice text = buf_slice(&t->text);

    folder_put(&t->folder, NAME, text.n ? text : SLICE(""));
    folder_path(&t->folder, NAME, t->path);
    return (struct session_ref){ .id = SLICE("5e550000-0000-4000-8000-000000000001"),
                                 .path = { t->path, strlen(t->path) },
                                 .folder = SLICE("-p") };
}
