#include "store/journal/change.h"
#include "store/journal/change_internal.h"

#include <cjson/cJSON.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lite/base/buf.h"
#include "lite/io/file.h"
#include "lite/json/jsonout.h"
#include "store/fs/disk.h"
#include "store/journal/record.h"

enum { RECORD_VERSION = 1, INLINE_MAX = 8192, RECORD_MAX = 64 << 20 };

/* clang-format off */
static const char *const step_names[STEP_KINDS] = {
    [STEP_APPEND] = "append", [STEP_TAIL] = "tail", [STEP_EDIT] = "edit",
    [STEP_PUT] = "put",       [STEP_MOVE] = "move", [STEP_REF] = "ref",
};
/* clang-format on */

/* ---- writing ---- */

struct writer {
    const char *dir;
    bool no_sync;
    struct buf out; /* the document */
    struct jsonout j;
    struct buf text; /* scratch of encode */
    enum err_code rc;
    struct err *e;
};

static void no_memory(struct writer *w)
{
    if (!w->rc)
        w->rc = err_nomem(w->e);
}

static void change_record_put_bytes(struct writer *w, const char *key, struct slice bytes)
{
    if (w->rc || !bytes.p)
        return;
    if (record_percent_encode(bytes, &w->text)) {
        no_memory(w);
        return;
    }
    jsonout_key(&w->j, key);
    jsonout_text(&w->j, buf_slice(&w->text));
}

static void write_text_member(struct writer *w, const char *key, const char *text)
{
    if (text)
        change_record_put_bytes(w, key, slice_of(text));
}

/* A text, because cJSON keeps numbers as doubles, which cannot represent times in ns and offsets in large files. */
static void put_int(struct writer *w, const char *key, int64_t n)
{
    char text[24];
    int digits = snprintf(text, sizeof text, "%lld", (long long)n);

    jsonout_key(&w->j, key);
    jsonout_text(&w->j, (struct slice){ text, (size_t)digits });
}

static enum err_code change_record_write_file(const struct writer *w, const char *name,
                                              struct slice bytes)
{
    return (w->no_sync ? disk_put_file : disk_replace_file)(w->dir, name, bytes, 0600, w->e);
}

/* Long bytes are in a separate file, which the key with ".file" names. */
static void change_record_put_content(struct writer *w, const char *key, size_t step,
                                      struct slice bytes)
{
    char name[48], file_key[32];

    if (bytes.n <= INLINE_MAX) {
        change_record_put_bytes(w, key, bytes);
        return;
    }
    snprintf(name, sizeof name, "%zu.%s", step, key);
    snprintf(file_key, sizeof file_key, "%s.file", key);
    if (!w->rc)
        w->rc = change_record_write_file(w, name, bytes);
    write_text_member(w, file_key, name);
}

static void put_change(struct writer *w, const struct change *c)
{
    jsonout_open(&w->j, '{');
    put_int(w, "version", RECORD_VERSION);
    write_text_member(w, "kind", c->kind);
    write_text_member(w, "text", c->text);
    write_text_member(w, "undoes", c->undoes);
    write_text_member(w, "command", c->command);
    put_int(w, "at", c->at_ms);
    jsonout_key(&w->j, "sessions");
    jsonout_open(&w->j, '[');
    for (size_t i = 0; i < c->sessions_n && !w->rc; i++) {
        jsonout_open(&w->j, '{');
        write_text_member(w, "id", c->sessions[i]);
        write_text_member(w, "store", c->origin[i].store);
        write_text_member(w, "dir", c->origin[i].dir);
        write_text_member(w, "title", c->origin[i].title);
        jsonout_close(&w->j, '}');
    }
    jsonout_close(&w->j, ']');
    jsonout_key(&w->j, "steps");
    jsonout_open(&w->j, '[');
    for (size_t i = 0; i < c->n && !w->rc; i++) {
        const struct step *s = &c->step[i];

        jsonout_open(&w->j, '{');
        write_text_member(w, "do", step_names[s->kind]);
        write_text_member(w, "path", s->path);
        write_text_member(w, "to", s->to);
        write_text_member(w, "lock", s->lock);
        change_record_put_content(w, "bytes", i, s->bytes);
        change_record_put_content(w, "old", i, s->old);
        change_record_put_content(w, "opposite", i, s->opposite);
        put_int(w, "offset", s->offset);
        put_int(w, "mtime", s->mtime_ns);
        put_int(w, "oldMtime", s->old_mtime_ns);
        put_int(w, "mode", s->mode);
        put_int(w, "oldMode", s->old_mode);
        put_int(w, "flags",
                s->absent | s->old_absent << 1 | s->follow << 2 | s->with_dir << 3 | s->made << 4);
        jsonout_close(&w->j, '}');
    }
    jsonout_close(&w->j, ']');
    jsonout_close(&w->j, '}');
}

enum err_code change_record_write(const char *dir, const struct change *c, struct err *e)
{
    struct writer w = { .dir = dir, .no_sync = c->no_sync, .e = e };

    jsonout_init(&w.j, &w.out);
    put_change(&w, c);
    if (w.j.rc)
        no_memory(&w);
    if (!w.rc)
        w.rc = change_record_write_file(&w, "record", buf_slice(&w.out));
    buf_fini(&w.out);
    buf_fini(&w.text);
    return w.rc ? err_wrap(e, w.rc, "record a change") : ERR_OK;
}

/* ---- reading ---- */

struct reader {
    const char *dir;
    struct arena *a;
    enum err_code rc;
    struct err *e;
};

static void damaged(struct reader *r)
{
    if (!r->rc)
        r->rc = err_set(r->e, ERR_FORMAT, r->dir,
                        "the record of a change is damaged, or was made by a newer reprise");
}

static struct slice get_bytes(struct reader *r, const cJSON *o, const char *key)
{
    const cJSON *v = cJSON_GetObjectItemCaseSensitive(o, key);
    struct slice out = { NULL, 0 };

    if (v && (!cJSON_IsString(v) || !record_percent_decode(v->valuestring, r->a, &out)))
        damaged(r);
    return out;
}

static const char *change_record_get_text(struct reader *r, const cJSON *o, const char *key)
{
    return get_bytes(r, o, key).p;
}

static int64_t get_int(struct reader *r, const cJSON *o, const char *key)
{
    const char *text = change_record_get_text(r, o, key);
    char *end;

    if (!text || !*text) {
        damaged(r);
        return 0;
    }
    long long n = strtoll(text, &end, 10);

    if (*end)
        damaged(r);
    return n;
}

static struct slice get_content(struct reader *r, const cJSON *o, const char *key)
{
    char file_key[32];
    struct buf path = { 0 }, bytes = { 0 };
    struct slice out = { NULL, 0 };

    snprintf(file_key, sizeof file_key, "%s.file", key);
    const char *name = change_record_get_text(r, o, file_key);

    if (!name)
        return get_bytes(r, o, key);
    if (strchr(name, '/')) {
        damaged(r);
        return out;
    }
    if (!r->rc && (buf_addf(&path, "%s/%s", r->dir, name) || !buf_cstr(&path)))
        r->rc = err_nomem(r->e);
    if (!r->rc)
        r->rc = disk_check_own(path.p, r->e);
    if (!r->rc)
        r->rc = file_read_all(AT_FDCWD, path.p, 0, SIZE_MAX / 2, &bytes, r->e);
    if (!r->rc) {
        out = arena_copy(r->a, buf_slice(&bytes));
        if (!out.p)
            r->rc = err_nomem(r->e);
    }
    buf_fini(&path);
    buf_fini(&bytes);
    return out;
}

static enum step_kind get_kind(struct reader *r, const cJSON *o)
{
    const char *name = change_record_get_text(r, o, "do");

    for (int k = 0; name && k < STEP_KINDS; k++)
        if (strcmp(name, step_names[k]) == 0)
            return (enum step_kind)k;
    damaged(r);
    return STEP_KINDS;
}

static void get_step(struct reader *r, const cJSON *o, struct step *s)
{
    int64_t flags = get_int(r, o, "flags");

    *s = (struct step){ .kind = get_kind(r, o),
                        .path = change_record_get_text(r, o, "path"),
                        .to = change_record_get_text(r, o, "to"),
                        .lock = change_record_get_text(r, o, "lock"),
                        .bytes = get_content(r, o, "bytes"),
                        .old = get_content(r, o, "old"),
                        .opposite = get_content(r, o, "opposite"),
                        .offset = get_int(r, o, "offset"),
                        .mtime_ns = get_int(r, o, "mtime"),
                        .old_mtime_ns = get_int(r, o, "oldMtime"),
                        .mode = (uint32_t)get_int(r, o, "mode"),
                        .old_mode = (uint32_t)get_int(r, o, "oldMode"),
                        .absent = flags & 1,
                        .old_absent = flags >> 1 & 1,
                        .follow = flags >> 2 & 1,
                        .with_dir = flags >> 3 & 1,
                        .made = flags >> 4 & 1 };
    if (!s->path || ((s->kind == STEP_MOVE || s->kind == STEP_REF) && !s->to))
        damaged(r);
}

static void get_session(struct reader *r, const cJSON *o, struct change *c)
{
    c->origin[c->sessions_n] =
        (struct change_origin){ .store = change_record_get_text(r, o, "store"),
                                .dir = change_record_get_text(r, o, "dir"),
                                .title = change_record_get_text(r, o, "title") };
    c->sessions[c->sessions_n++] = change_record_get_text(r, o, "id");
}

static void get_change(struct reader *r, const cJSON *root, struct change *c)
{
    const cJSON *o, *sessions = cJSON_GetObjectItemCaseSensitive(root, "sessions");
    const cJSON *steps = cJSON_GetObjectItemCaseSensitive(root, "steps");

    if (get_int(r, root, "version") != RECORD_VERSION)
        damaged(r);
    c->kind = change_record_get_text(r, root, "kind");
    c->text = change_record_get_text(r, root, "text");
    c->undoes = change_record_get_text(r, root, "undoes");
    c->command = change_record_get_text(r, root, "command");
    c->at_ms = get_int(r, root, "at");
    if (!c->kind || !c->text || !cJSON_IsArray(sessions) || !cJSON_IsArray(steps))
        damaged(r);
    if (r->rc)
        return;
    c->sessions =
        arena_zalloc(r->a, sizeof *c->sessions * (size_t)(cJSON_GetArraySize(sessions) + 1));
    c->origin = arena_zalloc(r->a, sizeof *c->origin * (size_t)(cJSON_GetArraySize(sessions) + 1));
    c->step = arena_zalloc(r->a, sizeof *c->step * (size_t)(cJSON_GetArraySize(steps) + 1));
    if (!c->sessions || !c->origin || !c->step) {
        r->rc = err_nomem(r->e);
        return;
    }
    cJSON_ArrayForEach(o, sessions) get_session(r, o, c);
    cJSON_ArrayForEach(o, steps) get_step(r, o, &c->step[c->n++]);
}

static enum err_code record_text(const char *dir, struct buf *out, struct err *e)
{
    struct buf path = { 0 };
    enum err_code rc = buf_addf(&path, "%s/record", dir);

    rc = rc || !buf_cstr(&path) ? err_nomem(e) : disk_check_own(dir, e);
    if (!rc)
        rc = disk_check_own(path.p, e);
    if (!rc)
        rc = file_read_all(AT_FDCWD, path.p, 0, RECORD_MAX, out, e);
    buf_fini(&path);
    return rc;
}

enum err_code change_record_read(const char *dir, struct change **out, struct err *e)
{
    struct buf text = { 0 };
    enum err_code rc = record_text(dir, &text, e);
    struct change *c = rc ? NULL : change_new("");
    cJSON *root = rc ? NULL : cJSON_ParseWithLength(text.p, text.n);

    if (!rc && !c)
        rc = err_nomem(e);
    if (!rc) {
        struct reader r = { .dir = dir, .a = &c->arena, .e = e };

        if (!cJSON_IsObject(root))
            damaged(&r);
        else
            get_change(&r, root, c);
        rc = r.rc;
    }
    cJSON_Delete(root);
    buf_fini(&text);
    if (rc) {
        change_free(c);
        return rc;
    }
    *out = c;
    return ERR_OK;
}
