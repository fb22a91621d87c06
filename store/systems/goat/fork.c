#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "lite/base/cleanup.h"
#include "lite/json/json.h"
#include "store/api/host.h"
#include "store/api/session.h"
#include "store/fs/copy.h"
#include "store/fs/disk.h"
#include "store/fs/file_at.h"
#include "store/fs/path.h"
#include "store/journal/change.h"
#include "store/rewind/plan/rewind.h"
#include "store/systems/common/go_json.h"
#include "store/systems/goat/log.h"
#include "store/systems/goat/manifest.h"
#include "store/systems/goat/metadata.h"

/* A fork is a new directory with the lines up to a message, byte for byte (including unreadable
 * ones), and the metadata with another id, the parent and the time (goat.md B5). The stream of SDK
 * messages and the locks are not copied. */

struct forking {
    const struct store *st;
    const struct session_ref *ref;
    struct goat_log log;
    struct goat_document document;
    char id[NAME_MAX + 1];
    struct jsonl_fork copied; /* the lines that are copied */
    struct slice at;          /* the last message; empty: the whole conversation */
};

static void forking_close(struct forking *f)
{
    goat_log_close(&f->log);
    goat_document_close(&f->document);
}

/* The caller closes the fork, also after a failure. */
static enum err_code forking_open(struct forking *f, const struct store *st,
                                  const struct session_ref *ref, struct err *e)
{
    *f = (struct forking){ .st = st, .ref = ref, .log.none = true };
    host_generate_id(f->id);
    TRY(goat_log_open(&f->log, ref, NULL, e));
    return goat_document_open(ref, &f->document, e);
}

static enum err_code goat_find_fork_end(struct forking *f, struct slice at, struct err *e)
{
    const struct index *ix = &f->log.file.index;
    size_t line = ix->n;
    struct goat_entry entry;

    if (at.n) {
        TRY(jsonl_find_row(&f->log.file, &goat_format, at, &line, e));
        f->copied = jsonl_fork_to(&f->log.file, line);

        /* Read the message's whole uuid, because the request may contain only its beginning. */
        TRY(goat_log_entry(&f->log, line, &entry, e));
        NEED(json_text(entry.uuid, &f->document.arena, &f->at));
        NEED((f->at = arena_copy(&f->document.arena, f->at)).p);
        return ERR_OK;
    }
    if (line && goat_log_is_torn_end(&f->log, line - 1) && ix->line[line - 1].state != LINE_OK)
        line--;
    if (line == 0)
        return err_set(e, ERR_NOT_FOUND, f->ref->id.p, "fork: the session has no messages");
    f->copied = jsonl_fork_to(&f->log.file, line - 1);
    return ERR_OK;
}

/* ---- the metadata ---- */

enum { EDITS = 6 };

struct edits {
    struct goat_edit edit[EDITS];
    struct buf text[EDITS];
    size_t n;
    enum err_code rc;
};

static void goat_set_text(struct edits *s, enum goat_field field, const char *key,
                          struct slice text)
{
    struct buf *value = &s->text[s->n];

    if (!s->rc)
        s->rc = go_json_text(value, text);
    s->edit[s->n++] = (struct goat_edit){ field, buf_slice(value), key };
}

static void set_time(struct edits *s, enum goat_field field, int64_t ns)
{
    struct buf *value = &s->text[s->n];

    if (!s->rc)
        s->rc = go_json_time(value, ns);
    s->edit[s->n++] = (struct goat_edit){ field, buf_slice(value), NULL };
}

static enum err_code make_metadata(struct forking *f, struct slice title, struct buf *out,
                                   struct err *e)
{
    enum goat_dialect d = f->document.m.dialect;
    int64_t now = env_now_ms(f->st->env) * 1000000;
    struct edits s = { 0 };

    goat_set_text(&s, GOAT_ID, NULL, slice_of(f->id));
    goat_set_text(&s, GOAT_PARENT, goat_key(d, GOAT_PARENT) ? NULL : "parent_session_id",
                  f->ref->id);
    set_time(&s, GOAT_CREATED, now);
    if (d == GOAT_SHIPPED)
        set_time(&s, GOAT_UPDATED, now);
    if (d == GOAT_SHIPPED && f->at.n)
        goat_set_text(&s, GOAT_FORK_POINT, NULL, f->at);
    /* The title of the request, else that of the source and " (fork)"; without either, the copy has
     * no title. */
    const struct slice own = f->document.m.text[GOAT_TITLE];

    if (title.n == 0 && own.n) {
        const char *made = arena_format(&f->document.arena, "%.*s (fork)", SLICE_ARG(own));

        if (made)
            title = slice_of(made);
        else
            s.rc = ERR_NOMEM;
    }
    if (title.n)
        goat_set_text(&s, GOAT_TITLE, "leaf_title", title);
    if (!s.rc)
        s.rc = goat_metadata_edit(&f->document.m, s.edit, s.n, &f->document.arena, out);
    for (size_t i = 0; i < EDITS; i++)
        buf_fini(&s.text[i]);
    return s.rc ? err_nomem(e) : ERR_OK;
}

/* ---- the copy ---- */

/* Writes the whole copy durably in a staging directory, before anything of it is visible among the
 * sessions. */
static enum err_code goat_stage(struct forking *f, const struct fork_request *req, const char *dir,
                                struct err *e)
{
    AUTO_BUF metadata = { 0 };

    TRY(make_metadata(f, req->title, &metadata, e));
    TRY(disk_private_dir(dir, e));
    if (chmod(dir, 0755))
        return err_sys(e, dir, "set the mode");
    TRY(jsonl_fork_write(&f->copied, dir, GOAT_MESSAGES_LOG, e));
    if (req->with_files) {
        struct arena *a = &f->document.arena;
        const char *from = goat_path(f->ref, GOAT_POINTS, a);
        const char *to = arena_format(a, "%s/" GOAT_POINTS, dir);

        if (!from || !to)
            return err_nomem(e);
        if (path_is_real_dir(from))
            TRY(copy_tree(from, to, e));
    }
    return disk_replace_file(dir, GOAT_METADATA, buf_slice(&metadata), 0644, e);
}

/* The path of the copy, in the directory of all sessions of the source's project. */
static const char *goat_place_of(const struct forking *f, const char *rest, struct arena *a)
{
    const char *own = goat_path(f->ref, "", a);
    const char *slash = own ? strrchr(own, '/') : NULL;

    return slash ? arena_format(a, "%.*s/%s%s", (int)(slash - own), own, f->id, rest) : NULL;
}

static enum err_code copy(struct forking *f, const struct fork_request *req, struct change *c,
                          struct fork_result *out, struct err *e)
{
    struct arena *a = &c->arena;
    char forks[PATH_MAX];
    enum err_code rc = env_data_path(f->st->env, "forks", forks, e);

    if (rc)
        return rc;
    struct fork_result made = {
        .id = arena_copy(a, slice_of(f->id)),
        .path = goat_place_of(f, "/" GOAT_MESSAGES_LOG, a),
        .staged = arena_format(a, "%s/%s", forks, f->id),
    };
    struct step move = {
        .kind = STEP_MOVE, .path = made.staged, .to = goat_place_of(f, "", a), .made = true
    };

    if (!made.id.p || !made.path || !made.staged || !move.to)
        return err_nomem(e);

    /* The fork is written elsewhere and moved into the store by the change, so that it appears as a whole. */
    rc = goat_stage(f, req, made.staged, e);

    if (!rc)
        rc = change_add(c, &move, e);
    if (rc)
        change_discard_fork(&made);
    else
        *out = made;
    return rc;
}

/* The id that the caller chose, if no session has it. */
static enum err_code name_fork(struct forking *f, struct slice id, struct err *e)
{
    if (!id.n)
        return ERR_OK;
    if (!goat_is_id(id) || id.n > NAME_MAX)
        return err_set(e, ERR_USAGE, "--id", "fork: not a Go session id");
    TRY(host_id_is_new(f->st, id, &f->document.arena, "fork", e));
    snprintf(f->id, sizeof f->id, "%.*s", SLICE_ARG(id));
    return ERR_OK;
}

enum err_code goat_fork(const struct store *st, const struct session_ref *ref,
                        const struct fork_request *req, struct change *c, struct fork_result *out,
                        struct err *e)
{
    CLEANUP(forking_close) struct forking f = { .log.none = true };

    TRY(forking_open(&f, st, ref, e));
    TRY(name_fork(&f, req->id, e));
    TRY(goat_find_fork_end(&f, req->at, e));
    return copy(&f, req, c, out, e);
}

/* ---- rewinding the conversation ---- */

static enum err_code goat_add_piece(struct slice piece, void *arg, struct err *e)
{
    return buf_add(arg, piece) ? err_nomem(e) : ERR_OK;
}

static enum err_code goat_put_new(struct forking *f, const char *name, struct slice bytes,
                                  struct change *c, struct err *e)
{
    struct step s = { .kind = STEP_PUT,
                      .path = goat_place_of(f, name, &c->arena),
                      .bytes = bytes,
                      .old_absent = true,
                      .with_dir = true,
                      .mode = 0644,
                      .mtime_ns = MTIME_NOW };

    return s.path ? change_add(c, &s, e) : err_nomem(e);
}

static enum err_code goat_fork_metadata_before(struct forking *f, struct slice prompt,
                                               struct rewind_conversation *conversation,
                                               struct err *e)
{
    const struct index *ix = &f->log.file.index;
    AUTO_BUF metadata = { 0 };
    AUTO_BUF log = { 0 };
    size_t line;

    /* Keep everything before the line of the prompt. */
    TRY(jsonl_find_row(&f->log.file, &goat_format, prompt, &line, e));
    f->copied = (struct jsonl_fork){ .log = &f->log.file, .end = ix->line[line].offset };
    for (size_t i = 0; i < ix->n; i++) {
        enum goat_line_kind kind;
        enum message_kind message;

        TRY(goat_log_kind(&f->log.file, i, &kind, &message, e));
        if (kind == GOAT_LINE_MESSAGE && message != MESSAGE_SYSTEM)
            ++*(i < line ? &conversation->kept : &conversation->dropped);
    }
    conversation->how = CONVERSATION_FORK;
    NEED(conversation->change = change_new("rewind"));
    struct change *c = conversation->change;

    TRY(make_metadata(f, (struct slice){ NULL, 0 }, &metadata, e));
    TRY(jsonl_fork_each(&f->copied, goat_add_piece, &log, e));
    TRY(goat_put_new(f, "/" GOAT_MESSAGES_LOG, log.p ? buf_slice(&log) : SLICE(""), c, e));
    return goat_put_new(f, "/" GOAT_METADATA, buf_slice(&metadata), c, e);
}

enum err_code goat_plan_conversation(const struct store *st, const struct session_ref *ref,
                                     struct slice point, struct rewind_plan *plan, struct err *e)
{
    CLEANUP(forking_close) struct forking f = { .log.none = true };
    struct slice prompt;
    int64_t time_ms;

    TRY(goat_prompt_of(ref, point, &plan->arena, &prompt, &time_ms, e));
    if (!plan->point) {
        plan->point = prompt.p;
        plan->point_ms = time_ms;
    }
    TRY(forking_open(&f, st, ref, e));
    return goat_fork_metadata_before(&f, prompt, &plan->conversation, e);
}
