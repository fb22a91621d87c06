#include "store/journal/change.h"
#include "store/journal/change_internal.h"

#include <cjson/cJSON.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "lite/base/buf.h"
#include "lite/io/file.h"
#include "store/fs/disk.h"
#include "store/journal/contents.h"
#include "store/journal/record.h"

/* Version 2 has parts of `contents`. Older programs leave it alone. */
enum { RECORD_VERSION = 1, RECORD_WITH_PARTS = 2, INLINE_MAX = 8192, RECORD_MAX = 64 << 20 };

/* clang-format off */
static const char *const step_names[STEP_KINDS] = {
    [STEP_APPEND] = "append", [STEP_TAIL] = "tail", [STEP_EDIT] = "edit",
    [STEP_PUT] = "put",       [STEP_MOVE] = "move", [STEP_REF] = "ref",
    [STEP_ROWS] = "rows",
};
/* clang-format on */

/* clang-format off */
#define STEP(key, kind, member) RECORD_FIELD(key, kind, struct step, member)
static const struct record_field step_fields[] = {
    RECORD_ENUM("do", struct step, kind, step_names),
    STEP("path", RECORD_TEXT, path),        STEP("to", RECORD_OPTIONAL, to),
    STEP("lock", RECORD_OPTIONAL, lock),    STEP("offset", RECORD_INT, offset),
    STEP("mtime", RECORD_INT, mtime_ns),    STEP("oldMtime", RECORD_INT, old_mtime_ns),
    STEP("mode", RECORD_INT, mode),         STEP("oldMode", RECORD_INT, old_mode),
};
#define PART(key, kind, member) RECORD_FIELD(key, kind, struct step_part, member)
static const struct record_field part_fields[] = {
    PART("at", RECORD_INT, at), PART("size", RECORD_INT, n), PART("sha256", RECORD_HASH, sha256),
};
#define ORIGIN(key, member) RECORD_FIELD(key, RECORD_OPTIONAL, struct change_origin, member)
static const struct record_field origin_fields[] = {
    ORIGIN("store", store), ORIGIN("dir", dir), ORIGIN("title", title),
};
#define CHANGE(key, kind, member) RECORD_FIELD(key, kind, struct change, member)
static const struct record_field change_fields[] = {
    CHANGE("kind", RECORD_TEXT, kind),          CHANGE("text", RECORD_TEXT, text),
    CHANGE("undoes", RECORD_OPTIONAL, undoes),  CHANGE("command", RECORD_OPTIONAL, command),
    CHANGE("at", RECORD_INT, at_ms),
};
/* clang-format on */
static const struct record_table step_table = RECORD_TABLE(struct step, step_fields);
static const struct record_table part_table = RECORD_TABLE(struct step_part, part_fields);
static const struct record_table origin_table = RECORD_TABLE(struct change_origin, origin_fields);
static const struct record_table change_table = RECORD_TABLE(struct change, change_fields);

/* ---- writing ---- */

struct writer {
    const char *dir;
    bool no_sync;
    struct buf scratch;
};

static enum err_code change_record_write_file(const struct writer *w, const char *name,
                                              struct slice bytes, struct err *e)
{
    return (w->no_sync ? disk_put_file : disk_replace_file)(w->dir, name, bytes, 0600, e);
}

/* Long bytes are in a separate file, which the key with ".file" names. */
static enum err_code put_content(struct writer *w, cJSON *o, const char *key, size_t step,
                                 struct slice bytes, struct err *e)
{
    char name[48], file_key[32];

    if (bytes.n <= INLINE_MAX)
        return !bytes.p || record_put_bytes(o, key, bytes, &w->scratch) ? ERR_OK : err_nomem(e);
    snprintf(name, sizeof name, "%zu.%s", step, key);
    snprintf(file_key, sizeof file_key, "%s.file", key);
    NEED(cJSON_AddStringToObject(o, file_key, name));
    return change_record_write_file(w, name, bytes, e);
}

static enum err_code put_part(struct writer *w, cJSON *o, const char *key,
                              const struct step_part *part, struct err *e)
{
    if (!part->path)
        return ERR_OK;
    cJSON *x = cJSON_AddObjectToObject(o, key);

    NEED(x && record_put(x, &part_table, part, &w->scratch));
    return ERR_OK;
}

static bool has_parts(const struct change *c)
{
    size_t i = 0;

    while (i < c->n && !c->step[i].bytes_part.path && !c->step[i].old_part.path)
        i++;
    return i < c->n;
}

static enum err_code put_change(struct writer *w, cJSON *root, const struct change *c,
                                struct err *e)
{
    NEED(record_put_int(root, "version", has_parts(c) ? RECORD_WITH_PARTS : RECORD_VERSION) &&
         record_put(root, &change_table, c, &w->scratch));
    cJSON *sessions = cJSON_AddArrayToObject(root, "sessions");
    cJSON *steps = cJSON_AddArrayToObject(root, "steps");

    for (size_t i = 0; i < c->sessions_n; i++) {
        cJSON *o = cJSON_CreateObject();

        NEED(cJSON_AddItemToArray(sessions, o) &&
             record_put_bytes(o, "id", slice_of(c->sessions[i]), &w->scratch) &&
             record_put(o, &origin_table, &c->origin[i], &w->scratch));
    }
    for (size_t i = 0; i < c->n; i++) {
        const struct step *s = &c->step[i];
        cJSON *o = cJSON_CreateObject();

        NEED(cJSON_AddItemToArray(steps, o) && record_put(o, &step_table, s, &w->scratch) &&
             record_put_int(o, "flags",
                            s->absent | s->old_absent << 1 | s->follow << 2 | s->with_dir << 3 |
                                s->made << 4));
        TRY(put_content(w, o, "bytes", i, s->bytes, e));
        TRY(put_content(w, o, "old", i, s->old, e));
        TRY(put_content(w, o, "opposite", i, s->opposite, e));
        TRY(put_part(w, o, "bytesPart", &s->bytes_part, e));
        TRY(put_part(w, o, "oldPart", &s->old_part, e));
    }
    return ERR_OK;
}

enum err_code change_record_write(const char *dir, const struct change *c, struct err *e)
{
    struct writer w = { .dir = dir, .no_sync = c->no_sync };
    cJSON *root = cJSON_CreateObject();
    enum err_code rc = put_change(&w, root, c, e);
    char *text = rc ? NULL : cJSON_PrintUnformatted(root);

    if (!rc && !text)
        rc = err_nomem(e);
    /* A record that could not be read again would be no record. */
    if (!rc && strlen(text) > RECORD_MAX)
        rc = err_set(e, ERR_UNSUPPORTED, dir, "it is too much for one change: do it in parts");
    if (!rc)
        rc = change_record_write_file(&w, "record", slice_of(text), e);
    cJSON_free(text);
    cJSON_Delete(root);
    buf_fini(&w.scratch);
    return rc ? err_wrap(e, rc, "record a change") : ERR_OK;
}

/* ---- reading ---- */

static enum err_code damaged(const char *dir, const struct arena *a, struct err *e)
{
    return a->failed ? err_nomem(e)
                     : err_set(e, ERR_FORMAT, dir,
                               "the record of a change is damaged, or was made by a newer reprise");
}

static enum err_code get_content(const char *dir, const cJSON *o, const char *key, struct arena *a,
                                 struct slice *out, struct err *e)
{
    AUTO_BUF bytes = { 0 };
    char file_key[32];
    struct slice name;

    snprintf(file_key, sizeof file_key, "%s.file", key);
    if (!record_get_bytes(o, file_key, a, &name) || (name.p && strchr(name.p, '/')) ||
        (!name.p && !record_get_bytes(o, key, a, out)))
        return damaged(dir, a, e);
    if (!name.p)
        return ERR_OK;
    const char *path = arena_format(a, "%s/%s", dir, name.p);

    NEED(path);
    enum err_code rc = disk_check_own(path, e);

    if (!rc)
        rc = file_read_all(AT_FDCWD, path, 0, SIZE_MAX / 2, &bytes, e);
    /* The record was written last, so it is damaged, and is not one of a change that was never begun. */
    if (rc)
        return rc == ERR_NOT_FOUND ? damaged(dir, a, e) : rc;
    *out = arena_copy(a, buf_slice(&bytes));
    NEED(out->p);
    return ERR_OK;
}

static enum err_code get_part(const char *dir, const cJSON *o, const char *key, struct arena *a,
                              struct step_part *part, struct err *e)
{
    const cJSON *x = cJSON_GetObjectItemCaseSensitive(o, key);

    if (!x)
        return ERR_OK;
    if (!record_get(x, &part_table, part, a) || part->at < 0 || part->n < 0)
        return damaged(dir, a, e);
    part->fd = -1;
    part->path = arena_format(a, "%s/" CONTENTS_NAME, dir);
    NEED(part->path);
    struct stat st;

    return disk_check_own(part->path, NULL) || stat(part->path, &st) || part->n > st.st_size ||
                   part->at > st.st_size - part->n
               ? damaged(dir, a, e)
               : ERR_OK;
}

static enum err_code get_step(const char *dir, const cJSON *o, struct arena *a, struct step *s,
                              struct err *e)
{
    int64_t flags;

    if (!record_get(o, &step_table, s, a) || !record_get_int(o, "flags", &flags) ||
        ((s->kind == STEP_MOVE || s->kind == STEP_REF) && !s->to))
        return damaged(dir, a, e);
    s->absent = flags & 1;
    s->old_absent = flags >> 1 & 1;
    s->follow = flags >> 2 & 1;
    s->with_dir = flags >> 3 & 1;
    s->made = flags >> 4 & 1;
    TRY(get_content(dir, o, "bytes", a, &s->bytes, e));
    TRY(get_content(dir, o, "old", a, &s->old, e));
    TRY(get_content(dir, o, "opposite", a, &s->opposite, e));
    TRY(get_part(dir, o, "bytesPart", a, &s->bytes_part, e));
    return get_part(dir, o, "oldPart", a, &s->old_part, e);
}

static enum err_code get_change(const char *dir, const cJSON *root, struct change *c, struct err *e)
{
    const cJSON *o, *sessions = cJSON_GetObjectItemCaseSensitive(root, "sessions");
    const cJSON *steps = cJSON_GetObjectItemCaseSensitive(root, "steps");
    struct arena *a = &c->arena;
    int64_t version;

    if (!record_get_int(root, "version", &version) ||
        (version != RECORD_VERSION && version != RECORD_WITH_PARTS) ||
        !record_get(root, &change_table, c, a) || !cJSON_IsArray(sessions) || !cJSON_IsArray(steps))
        return damaged(dir, a, e);
    c->sessions = arena_zalloc(a, sizeof *c->sessions * (size_t)(cJSON_GetArraySize(sessions) + 1));
    c->origin = arena_zalloc(a, sizeof *c->origin * (size_t)(cJSON_GetArraySize(sessions) + 1));
    c->step = arena_zalloc(a, sizeof *c->step * (size_t)(cJSON_GetArraySize(steps) + 1));
    NEED(c->sessions && c->origin && c->step);
    cJSON_ArrayForEach(o, sessions)
    {
        struct slice id;

        if (!record_get_bytes(o, "id", a, &id) ||
            !record_get(o, &origin_table, &c->origin[c->sessions_n], a))
            return damaged(dir, a, e);
        c->sessions[c->sessions_n++] = id.p;
    }
    cJSON_ArrayForEach(o, steps) TRY(get_step(dir, o, a, &c->step[c->n++], e));
    return ERR_OK;
}

enum err_code change_record_read(const char *dir, struct change **out, struct err *e)
{
    AUTO_BUF path = { 0 }, text = { 0 };

    NEED(!buf_addf(&path, "%s/record", dir) && buf_cstr(&path));
    TRY(disk_check_own(dir, e));
    TRY(disk_check_own(path.p, e));
    TRY(file_read_all(AT_FDCWD, path.p, 0, RECORD_MAX, &text, e));
    struct change *c = change_new("");

    NEED(c);
    cJSON *root = cJSON_ParseWithLength(text.p, text.n);
    enum err_code rc = get_change(dir, root, c, e);

    cJSON_Delete(root);
    if (rc)
        change_free(c);
    else
        *out = c;
    return rc;
}
