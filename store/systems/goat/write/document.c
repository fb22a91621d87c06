#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#include "lite/base/utf8.h"
#include "lite/io/file.h"
#include "store/fs/file_at.h"
#include "store/journal/change.h"
#include "store/log/lease.h"
#include "store/systems/common/go_json.h"
#include "store/systems/goat/write/document.h"
#include "store/systems/goat/write/metaedit.h"

/* Changes of a session's metadata: read, changed and put back in its place under the lock that hosts take for the log
 * (metadata.json is the one file here that is replaced by name, goat.md H23). A document that another program changed
 * between the plan and its doing is left alone (step.h, PUT). */

enum err_code goat_document_open(const struct session_ref *ref, struct goat_document *d,
                                 struct err *e)
{
    *d = (struct goat_document){ 0 };
    d->path = goat_path(ref, GOAT_METADATA, &d->arena);

    enum err_code rc = d->path
                           ? file_read_all(AT_FDCWD, d->path, 0, GOAT_METADATA_MAX, &d->bytes, e)
                           : err_nomem(e);

    if (!rc && goat_metadata_parse(buf_slice(&d->bytes), &d->arena, &d->m))
        rc = err_nomem(e);
    if (!rc && d->m.why)
        rc = err_set(e, ERR_FORMAT, d->path, "read metadata: %s", d->m.why);
    if (rc)
        goat_document_close(d);
    return rc;
}

void goat_document_close(struct goat_document *d)
{
    buf_fini(&d->bytes);
    arena_fini(&d->arena);
    *d = (struct goat_document){ 0 };
}

const char *goat_lock_path(const struct session_ref *ref, struct arena *a)
{
    return goat_path(ref, GOAT_MESSAGES_LOG GOAT_LOCK_SUFFIX, a);
}

enum err_code goat_document_step(const struct session_ref *ref, struct goat_document *d,
                                 const struct goat_edit edit[], size_t n, struct step *step,
                                 struct err *e)
{
    struct buf now = { 0 };
    enum err_code rc = goat_metadata_edit(&d->m, edit, n, &d->arena, &now);
    struct slice bytes = rc ? (struct slice){ NULL, 0 } : arena_copy(&d->arena, buf_slice(&now));

    buf_fini(&now);
    *step = (struct step){ .kind = STEP_PUT,
                           .path = d->path,
                           .lock = goat_lock_path(ref, &d->arena),
                           .bytes = bytes,
                           .old = buf_slice(&d->bytes),
                           .mtime_ns = MTIME_NOW };
    return bytes.p && step->lock ? ERR_OK : err_nomem(e);
}

enum err_code goat_rename(const struct store *st, const struct session_ref *ref, struct slice title,
                          struct change *c, struct err *e)
{
    struct goat_document d;
    struct buf value = { 0 };
    struct step step;
    struct slice text = utf8_js_trim(title);

    (void)st;
    if (text.n == 0)
        return err_set(e, ERR_USAGE, ref->path.p, "rename: title must be non-empty");
    enum err_code rc = goat_document_open(ref, &d, e);

    if (rc)
        return rc;
    if (go_json_text(&value, text))
        rc = err_nomem(e);
    const struct goat_edit edit = { GOAT_TITLE, buf_slice(&value), "leaf_title" };

    if (!rc)
        rc = goat_document_step(ref, &d, &edit, 1, &step, e);
    if (!rc)
        rc = change_add(c, &step, e);
    buf_fini(&value);
    goat_document_close(&d);
    return rc;
}

enum err_code goat_parts(const struct store *st, const struct session_ref *ref, bool all,
                         struct arena *a, const char ***part, size_t *n, struct err *e)
{
    const char **list = arena_alloc(a, sizeof *list);

    (void)st;
    (void)all;
    if (!list || !(list[0] = goat_path(ref, "", a)))
        return err_nomem(e);
    *part = list;
    *n = 1;
    return ERR_OK;
}

/* A host holds the lock for the moment of a write only, but its logs stay open for as long as it lives. */
enum err_code goat_live(const struct store *st, const struct session_ref *ref, struct live *out,
                        struct err *e)
{
    static const char *const logs[] = { GOAT_MESSAGES_LOG, GOAT_TRANSCRIPT_LOG };
    struct arena a = { 0 };
    enum err_code rc = ERR_OK;

    (void)st;
    *out = (struct live){ .state = LIVE_QUIET, .why = "no program has the session open" };
    for (size_t i = 0; i < 2 && !rc && out->state == LIVE_QUIET; i++) {
        const char *log = goat_path(ref, logs[i], &a);
        const char *lock = log ? arena_format(&a, "%s" GOAT_LOCK_SUFFIX, log) : NULL;

        if (!lock)
            rc = err_nomem(e);
        else if (log_lock_is_held(lock))
            *out =
                (struct live){ .state = LIVE_RUNNING, .why = "a program holds the session's lock" };
        else if (lease_file_in_use(log))
            *out = (struct live){ .state = LIVE_RUNNING, .why = "a program has the session open" };
    }
    arena_fini(&a);
    return rc;
}
