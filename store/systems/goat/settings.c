#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "lite/base/decimal.h"
#include "lite/json/json.h"
#include "store/api/host.h"
#include "store/fs/disk.h"
#include "store/log/lease.h"
#include "store/systems/common/go_json.h"
#include "store/systems/goat/metadata.h"

/* A host's update of the metadata: read, changed and replaced under the lock, at once. */

/* The names of `reprise set`, and the keys of the formats. */
static const struct setting_name {
    const char *name;
    enum goat_field field;
    const char *anyway; /* the key if the dialect has no name for it; NULL: refused there */
} settings[] = {
    { "title", GOAT_TITLE, "leaf_title" },
    { "leaf_title", GOAT_TITLE, "leaf_title" },
    { "model", GOAT_MODEL, NULL },
    { "cwd", GOAT_CWD, NULL },
    { "parent", GOAT_PARENT, "parent_session_id" },
    { "parent_id", GOAT_PARENT, NULL },
    { "parent_session_id", GOAT_PARENT, NULL },
    { "exitReason", GOAT_EXIT, NULL },
    { "exit_reason", GOAT_EXIT, NULL },
    { "agentName", GOAT_AGENT, NULL },
    { "agent_name", GOAT_AGENT, NULL },
    { "project_hash", GOAT_HASH, NULL },
    { "messageCount", GOAT_MESSAGES, NULL },
    { "message_count", GOAT_MESSAGES, NULL },
    { "turnCount", GOAT_TURNS, NULL },
    { "turn_count", GOAT_TURNS, NULL },
    { "totalTokens", GOAT_TOKENS, NULL },
    { "total_tokens", GOAT_TOKENS, NULL },
    { "totalCostUsd", GOAT_COST, NULL },
    { "total_cost_usd", GOAT_COST, NULL },
};

/* Reads a number as Go reads it into a float64, because a larger one would hide the whole session. */
static bool read_float(struct slice value, struct arena *a, double *out)
{
    struct slice text = arena_copy(a, value);

    if (!text.p || json_type(value) != JSON_NUMBER || !json_valid(value))
        return false;
    *out = decimal_read(text.p, NULL);
    return isfinite(*out);
}

static enum err_code write_number(struct slice value, bool whole, struct arena *a, struct buf *out)
{
    double size;
    int64_t n;

    if (!whole && read_float(value, a, &size))
        return go_json_float(out, size);
    if (whole && json_type(value) == JSON_NUMBER && json_valid(value) && json_int(value, &n))
        return buf_addf(out, "%" PRId64, n);
    return ERR_USAGE;
}

static enum err_code edit_of_setting(const struct goat_document *d, const struct host_setting *s,
                                     struct arena *a, struct goat_edit *edit, struct err *e)
{
    for (size_t i = 0; i < sizeof settings / sizeof *settings; i++) {
        enum goat_field field = settings[i].field;
        enum goat_form form = goat_form(field);

        if (!slice_eq(s->key, slice_of(settings[i].name)))
            continue;
        *edit = (struct goat_edit){ .field = field };

        /* Some settings have a key even in dialects that lack the member. */
        if (!goat_key(d->m.dialect, field))
            edit->key = settings[i].anyway;
        if (!goat_key(d->m.dialect, field) && !edit->key)
            break;

        if (form == GOAT_TEXT) {
            struct buf value = { 0 };
            enum err_code rc = s->value.n ? go_json_text(&value, s->value) : ERR_OK;

            if (!rc && value.n) {
                edit->value = arena_copy(a, buf_slice(&value));
                rc = edit->value.p ? ERR_OK : ERR_NOMEM;
            }
            buf_fini(&value);
            return rc ? err_nomem(e) : ERR_OK;
        }

        /* An empty text may remove the member, but a number without a value is written as 0. */
        bool whole = form == GOAT_INT;
        struct buf text = { 0 };
        enum err_code rc = write_number(s->value.n ? s->value : SLICE("0"), whole, a, &text);

        if (rc == ERR_USAGE)
            return err_set(e, ERR_USAGE, "", "set: %.*s is a %s", SLICE_ARG(s->key),
                           whole ? "whole number" : "number");
        if (!rc && !(edit->value = arena_copy(a, buf_slice(&text))).p)
            rc = ERR_NOMEM;
        buf_fini(&text);
        return rc ? err_nomem(e) : ERR_OK;
    }
    return err_set(e, ERR_USAGE, "", "set: sessions of the %s dialect have no setting %.*s",
                   goat_dialects[d->m.dialect].name, SLICE_ARG(s->key));
}

enum err_code goat_document_write(const char *dir, const struct goat_document *d,
                                  const struct goat_edit edit[], size_t n, struct arena *a,
                                  struct err *e)
{
    struct buf now = { 0 };
    struct stat st;

    if (stat(d->path, &st))
        return err_sys(e, d->path, "set");
    disk_new_sweep(dir); /* temporary files that a crash left */
    enum err_code rc = goat_metadata_edit(&d->m, edit, n, a, &now);

    rc = rc ? err_nomem(e)
            : disk_replace_file(dir, GOAT_METADATA, buf_slice(&now), st.st_mode & 07777, e);
    buf_fini(&now);
    return rc;
}

static enum err_code set_all(const struct store *st, const struct session_ref *ref,
                             const struct host_setting *setting, size_t n, struct arena *a,
                             struct err *e)
{
    struct goat_document d;
    struct goat_edit *edit = arena_zalloc(a, (n + 1) * sizeof *edit);
    struct buf now = { 0 };
    const char *dir = goat_path(ref, "", a);
    enum err_code rc = goat_document_open(ref, &d, e);

    if (rc)
        return rc;
    if (!edit || !dir || go_json_time(&now, env_now_ms(st->env) * 1000000))
        rc = err_nomem(e);
    for (size_t i = 0; i < n && !rc; i++)
        rc = edit_of_setting(&d, &setting[i], a, &edit[i], e);
    if (!rc) { /* skipped if the dialect has no such time */
        edit[n] = (struct goat_edit){ GOAT_UPDATED, buf_slice(&now), NULL };
        rc = goat_document_write(dir, &d, edit, n + 1, a, e);
    }
    buf_fini(&now);
    goat_document_close(&d);
    return rc;
}

enum err_code goat_set(const struct store *st, const struct session_ref *ref,
                       const struct host_setting *setting, size_t n, struct err *e)
{
    struct arena a = { 0 };
    int held = -1;
    const char *lock = goat_lock_path(ref, &a);
    enum err_code rc = lock ? log_lock_acquire(lock, &held, e) : err_nomem(e);

    if (!rc)
        rc = set_all(st, ref, setting, n, &a, e);
    log_lock_release(held);
    arena_fini(&a);
    return rc;
}
