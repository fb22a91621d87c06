#include "store/systems/claude/rewind/planner.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "lite/base/cleanup.h"
#include "lite/base/time.h"
#include "lite/json/json.h"
#include "lite/scan/index.h"
#include "store/api/edit.h"
#include "store/fs/path.h"
#include "store/rewind/plan/beneath.h"
#include "store/systems/claude/claude.h"
#include "store/systems/claude/list/discover.h"
#include "store/systems/claude/rewind/call_input.h"
#include "store/systems/common/config_dir.h"

/* ---- what the session wrote last ---- */

static struct planner_write *write_of(struct planner *p, struct slice path)
{
    uint32_t number = slice_set_find(&p->written, path);

    if (number != SLICE_SET_NONE)
        return &p->write[number];
    struct planner_write *list = arena_grow(&p->arena, p->write, p->writes, sizeof *list);
    const struct slice own = arena_copy(&p->arena, path);

    if (!list || !own.p || slice_set_add(&p->written, own, &number))
        return NULL;
    p->write = list;
    p->write[p->writes] = (struct planner_write){ .path = own.p, .fresh = true };
    return &p->write[p->writes++];
}

static void forget_bytes(struct planner_write *w)
{
    w->known = false;
    w->bytes = (struct slice){ NULL, 0 };
}

static enum err_code keep_bytes(struct planner *p, struct planner_write *w, struct slice bytes)
{
    w->bytes = arena_copy(&p->arena, bytes);
    w->known = w->bytes.p != NULL;
    return w->known ? ERR_OK : ERR_NOMEM;
}

/* The path that the result of a tool says it wrote; NULL: none. */
static const char *written_path(struct slice row, struct arena *a, struct slice *result,
                                bool *notebook)
{
    struct slice path, v;

    *notebook = false;
    if (!json_get(row, "toolUseResult", result) || json_type(*result) != JSON_OBJECT)
        return NULL;
    if (call_input_path(*result, a, &path))
        return arena_copy(a, path).p;
    *notebook = json_get_text(*result, "notebook_path", a, &path);
    /* A tool that reads has its path inside "file"; only tools that write record a patch or a new text. */
    if (!*notebook && (!json_get_text(*result, "filePath", a, &path) ||
                       !(json_get(*result, "structuredPatch", &v) ||
                         json_get(*result, "newString", &v) || json_get(*result, "edits", &v))))
        return NULL;
    return arena_copy(a, path).p;
}

/* The content after a call of Qoder's. Before it, the file had that of the write before, or of the newest snapshot. */
static enum err_code replay_call(struct planner *p, struct planner_write *w, size_t message,
                                 struct slice row, uint32_t tracked)
{
    const struct file_history_entry *newest =
        w->fresh && tracked != SLICE_SET_NONE
            ? file_history_newest(&p->history, p->history.path[tracked])
            : NULL;
    bool saved = newest && newest->valid && newest->backup;
    const char *backup = saved ? planner_backup(p, newest->backup) : NULL;
    AUTO_BUF text = { 0 };
    bool known;

    TRY(call_input_apply(p, message, row, w->known ? &w->bytes : NULL, backup, &text, &known,
                         NULL));
    w->fresh = false;
    forget_bytes(w);
    return known ? keep_bytes(p, w, buf_slice(&text)) : ERR_OK;
}

/* Writes before the file was last saved are in that copy. */
static enum err_code read_result_row(struct planner *p, size_t message, struct slice row,
                                     struct arena *a)
{
    struct slice result, content, v;
    bool notebook;
    const char *said = written_path(row, a, &result, &notebook);
    const char *path = said ? planner_present(p, said) : NULL;
    const char *whole = path ? path_normalize("", path, a) : NULL;
    uint32_t number = whole ? slice_set_find(&p->tracked, slice_of(whole)) : SLICE_SET_NONE;
    size_t saved = number == SLICE_SET_NONE ? p->history.n - 1 : p->history.newest_turn[number];

    if (!path || message < p->history.turn[saved].message)
        return ERR_OK;
    struct planner_write *w = write_of(p, slice_of(path));

    if (!w)
        return ERR_NOMEM;
    w->message = message;
    if (call_input_path(result, a, &v))
        return replay_call(p, w, message, row, number);
    if (json_get_text(result, notebook ? "updated_file" : "content", a, &content))
        return keep_bytes(p, w, content);

    /* The result of such a call does not record the whole text that it left. */
    if (notebook || json_get(result, "edits", &v)) {
        forget_bytes(w);
        return ERR_OK;
    }

    /* An edit records the replaced and the new text and, unless it follows a known write, the whole
     * text before it. */
    struct slice base, old, new;
    struct buf text = { 0 };
    bool done = false;
    enum err_code rc = ERR_OK;

    if (!json_get_text(result, "originalFile", a, &base))
        base = w->known ? w->bytes : (struct slice){ NULL, 0 };
    if (base.p && json_get_text(result, "oldString", a, &old) &&
        json_get_text(result, "newString", a, &new))
        rc = edit_replace_text(base, old, new, json_get_true(result, "replaceAll"), &p->replayed,
                               &text, &done);
    if (!rc && done)
        rc = keep_bytes(p, w, buf_slice(&text));
    else
        forget_bytes(w);
    buf_fini(&text);
    return rc;
}

/* Reads the results in rows from .. to - 1: marks the files of the history that they wrote, or, if edited is NULL,
 * keeps what they wrote. */
static enum err_code read_results(struct planner *p, size_t from, size_t to, bool edited[],
                                  struct err *e)
{
    const struct transcript *t = p->transcript;
    struct arena scratch = { 0 };
    struct buf row = { 0 };
    enum err_code rc = ERR_OK;

    for (size_t i = from; i < to && !rc; i++) {
        struct slice result;
        bool notebook;

        if (t->message[i].kind != MESSAGE_USER || t->message[i].flags & MESSAGE_BROKEN)
            continue;
        rc = transcript_read(t, i, &row, e);
        if (!rc && !edited && read_result_row(p, i, buf_slice(&row), &scratch))
            rc = err_nomem(e);
        const char *path =
            !rc && edited ? written_path(buf_slice(&row), &scratch, &result, &notebook) : NULL;

        path = path ? planner_present(p, path) : NULL;
        path = path ? path_normalize("", path, &scratch) : NULL;
        uint32_t number = path ? slice_set_find(&p->tracked, slice_of(path)) : SLICE_SET_NONE;

        if (number != SLICE_SET_NONE)
            edited[number] = true;
        arena_reset(&scratch);
    }
    buf_fini(&row);
    arena_fini(&scratch);
    return rc;
}

static enum err_code mark_edited(void *arg, size_t turn, bool edited[], struct err *e)
{
    struct planner *p = arg;

    return read_results(p, p->history.turn[turn].message, p->history.turn[turn + 1].message, edited,
                        e);
}

/* Completes the history with what the rows of the conversation tell about its files. */
static enum err_code follow_files(struct planner *p, struct err *e)
{
    struct file_history *h = &p->history;
    size_t from = p->transcript->n;
    uint32_t number;

    for (size_t i = 0; i < h->paths; i++) {
        const char *path = planner_path(p, h->path[i]);
        size_t before = p->tracked.n;

        /* If a file has two names, the second one is not found. */
        if (!path || slice_set_add(&p->tracked, slice_of(path), &number) ||
            (p->tracked.n == before &&
             slice_set_add(&p->tracked, (struct slice){ h->path[i], strlen(h->path[i]) + 1 },
                           &number)))
            return err_nomem(e);
        if (h->turn[h->newest_turn[i]].message < from)
            from = h->turn[h->newest_turn[i]].message;
    }
    if (h->n && h->turn[h->n - 1].message < from)
        from = h->turn[h->n - 1].message;
    if (h->n)
        TRY(read_results(p, from, p->transcript->n, NULL, e));
    return file_history_carry(h, mark_edited, p, e);
}

const struct planner_write *planner_last_write(const struct planner *p, const char *path)
{
    uint32_t number = slice_set_find(&p->written, slice_of(path));

    return number == SLICE_SET_NONE ? NULL : &p->write[number];
}

/* ---- the session ---- */

void planner_close(struct planner *p)
{
    slice_set_fini(&p->written);
    slice_set_fini(&p->tracked);
    file_history_fini(&p->history);
    transcript_free(p->transcript);
    session_row_free(p->row);
    arena_fini(&p->arena);
}

/* The name of the folder that contains the transcript. */
static struct slice folder_name_of(struct slice path)
{
    const char *end = memrchr(path.p, '/', path.n);
    size_t n = end ? (size_t)(end - path.p) : 0;
    const char *slash = n ? memrchr(path.p, '/', n) : NULL;

    return slash ? (struct slice){ slash + 1, (size_t)(end - slash - 1) } : SLICE("");
}

/* The client goes on in the directory that the last `relocated` row names. If the one that the first row names is gone,
 * the project moved with all of its files, unless the session left a worktree, whose files are others. */
static enum err_code find_former_place(struct planner *p, struct err *e)
{
    struct slice cwd;
    struct stat st;
    AUTO_BUF row = { 0 };

    if (!p->cwd || p->transcript->n == 0)
        return ERR_OK;
    TRY(transcript_read(p->transcript, 0, &row, e));
    if (!json_get_text(buf_slice(&row), "cwd", &p->arena, &cwd) || !cwd.n || cwd.p[0] != '/')
        return ERR_OK;
    const char *began = path_normalize("", arena_copy(&p->arena, cwd).p, &p->arena);

    NEED(began);
    const struct slice now = slice_of(p->cwd), then = slice_of(began);
    const bool other = path_under(now, then) || path_under(then, now) || p->row->worktree_path.n ||
                       slice_has(then, "/.claude/worktrees/");

    if (!other && lstat(began, &st) != 0 && errno == ENOENT)
        p->moved_from = began;
    return ERR_OK;
}

enum err_code planner_open(struct planner *p, const struct store *st, const struct session_ref *ref,
                           struct err *e)
{
    const struct scope everywhere = { .all = true };

    *p = (struct planner){ .claude = claude_of(st), .ref = ref, .row = session_row_new() };
    NEED(p->row);
    TRY(claude_describe(st, &everywhere, ref, p->row, e));
    TRY(claude_load(st, ref, NULL, &p->transcript, e));
    TRY(file_history_read(ref, p->transcript, &p->history, e));
    struct slice said = p->row->cwd.n ? arena_copy(&p->arena, p->row->cwd) : SLICE("");

    if (said.n && said.p[0] == '/')
        p->cwd = path_normalize("", said.p, &p->arena);

    /* Rows may name any directory that their writer chose, but the folder belongs to only one: the directory in which
     * the program was started, or one above it; else the one that the rows name, or one above it. */
    const struct store_env *env = p->claude->base.env;
    struct slice start = slice_of(env && env->cwd ? env->cwd : ""),
                 folder = folder_name_of(p->ref->path);
    struct slice now = claude_present_folder(p->claude, start, &p->arena);

    if (p->claude->forced_folder && slice_eq(now, folder))
        p->root = arena_copy(&p->arena, start).p;
    if (!p->root)
        p->root = config_dir_project_ancestor(folder, start, &p->arena);
    if (!p->root && p->cwd)
        p->root = config_dir_project_ancestor(folder, slice_of(p->cwd), &p->arena);
    NEED(!p->arena.failed);
    TRY(find_former_place(p, e));
    return follow_files(p, e);
}

/* ---- paths ---- */

const char *planner_present(struct planner *p, const char *path)
{
    return p->moved_from && path_under(slice_of(path), slice_of(p->moved_from))
               ? arena_format(&p->arena, "%s%s", p->cwd, path + strlen(p->moved_from))
               : path;
}

const char *planner_path(struct planner *p, const char *tracked)
{
    bool strays = p->root && p->cwd && !path_under(slice_of(p->cwd), slice_of(p->root));
    const char *dir = strays ? p->root : p->cwd;

    const char *path = path_normalize(dir ? dir : "", tracked, &p->arena);

    return path ? planner_present(p, path) : NULL;
}

static const char *backup_in(struct planner *p, struct slice session, const char *name)
{
    return arena_format(&p->arena, "%s/file-history/%.*s/%s", p->claude->base.path,
                        SLICE_ARG(session), name);
}

/* The copies of a fork may be in the directory of the session it came from until the client has copied them. */
const char *planner_backup(struct planner *p, const char *name)
{
    const char *own = backup_in(p, p->ref->id, name);
    struct stat st;

    if (!own || lstat(own, &st) == 0 || !claude_is_uuid(p->row->parent_id))
        return own;
    const char *parents = backup_in(p, p->row->parent_id, name);

    return parents && lstat(parents, &st) == 0 ? parents : own;
}

const char planner_lost_turn[] = "the snapshot row of this point is missing from the session";

/* ---- concurrent sessions ---- */

/* A backup is made before a session's first edit of a file in a turn, so its time is the time at which the session
 * worked on the file. */

enum { SESSIONS_MAX = 32, BYTES_MAX = 256 << 20, SNAPSHOT = 1 };

static const char *const kinds[] = { "file-history-snapshot", "file-history-delta", NULL };

struct young {
    char *path; /* owned */
    int64_t mtime_ms, size;
};

struct other_sessions {
    const struct store *store;
    struct rewind_plan *plan;
    struct arena scratch;    /* owns the texts of one session */
    struct session_row *row; /* the row of the session being read; NULL until it is needed */
    struct session_ref ref;
    struct buf text;
};

static int claude_newest_first(const void *a, const void *b)
{
    const struct young *x = a, *y = b;

    return x->mtime_ms < y->mtime_ms   ? 1
           : x->mtime_ms > y->mtime_ms ? -1
                                       : strcmp(x->path, y->path);
}

static bool claude_is_young(const char *dir, const char *name, int64_t since_ms, struct arena *a,
                            struct young *out)
{
    size_t n = strlen(name);
    struct stat st;

    if (n < 7 || strcmp(name + n - 6, ".jsonl") != 0)
        return false;
    out->path = arena_format(a, "%s/%s", dir, name);
    if (!out->path || lstat(out->path, &st) || !S_ISREG(st.st_mode))
        return false;
    out->mtime_ms = time_ms_of(st.st_mtim);
    out->size = st.st_size;
    return out->mtime_ms > since_ms;
}

/* ---- their changes ---- */

/* Reads the session's title and directory once they are needed. */
static bool describe_once(struct other_sessions *r, const char *path)
{
    const struct scope everywhere = { .all = true };
    const struct slice where = slice_of(path);

    if (r->row)
        return r->row->cwd.n > 0;
    r->row = session_row_new();
    return r->row &&
           r->store->ops->at_path(r->store, where, &r->scratch, &r->ref, NULL) == ERR_OK &&
           claude_describe(r->store, &everywhere, &r->ref, r->row, NULL) == ERR_OK &&
           r->row->cwd.n > 0;
}

static struct rewind_target *claude_find_target(struct rewind_plan *plan, const char *path)
{
    for (size_t i = 0; path && i < plan->n; i++)
        if (strcmp(plan->target[i].path, path) == 0)
            return &plan->target[i];
    return NULL;
}

static enum err_code claude_add_backup(struct other_sessions *r, const char *session,
                                       struct slice tracked, struct slice backup, struct err *e)
{
    struct slice path, stamp;
    int64_t at_ms;

    if (!json_get_text(backup, "backupTime", &r->scratch, &stamp) || !time_parse(stamp, &at_ms) ||
        at_ms <= r->plan->point_ms || !json_text(tracked, &r->scratch, &path) || path.n == 0 ||
        memchr(path.p, '\0', path.n) || !describe_once(r, session))
        return ERR_OK;
    struct slice plain = arena_copy(&r->scratch, path), cwd = arena_copy(&r->scratch, r->row->cwd);

    if (!plain.p || !cwd.p)
        return err_nomem(e);
    struct rewind_target *t =
        claude_find_target(r->plan, path_normalize(cwd.p, plain.p, &r->scratch));

    if (!t)
        return ERR_OK;

    /* The last other session that edited the file is named. */
    struct arena *a = &r->plan->arena;
    struct rewind_other *other = arena_alloc(a, sizeof *other);

    if (t->other && t->other->at_ms >= at_ms)
        return ERR_OK;
    if (other) {
        *other = (struct rewind_other){ .session = arena_copy(a, r->ref.id).p,
                                        .at_ms = at_ms,
                                        .ref = session_ref_keep(a, &r->ref) };
        if (r->row->summary.n)
            other->title = arena_copy(a, r->row->summary).p;
    }
    if (!other || !other->session || !other->ref || (r->row->summary.n && !other->title))
        return err_nomem(e);
    t->other = other;
    return ERR_OK;
}

static enum err_code claude_planner_read_history_row(struct other_sessions *r, const char *session,
                                                     struct slice row, bool is_snapshot,
                                                     struct err *e)
{
    struct slice snapshot, files, key, value;
    struct json_iter it;
    enum err_code rc = ERR_OK;

    if (!json_valid(row))
        return ERR_OK;
    if (!is_snapshot)
        return json_get(row, "trackingPath", &key) && json_get(row, "backup", &value)
                   ? claude_add_backup(r, session, key, value, e)
                   : ERR_OK;
    if (!json_get(row, "snapshot", &snapshot) ||
        !json_get(snapshot, "trackedFileBackups", &files) || !json_iter_open(&it, files))
        return ERR_OK;
    while (!rc && json_iter_next(&it, &key, &value))
        rc = claude_add_backup(r, session, key, value, e);
    return rc;
}

static enum err_code claude_read_session(struct other_sessions *r, const struct young *y,
                                         struct err *e)
{
    static const struct index_keys keys = { .type = "type", .kinds = kinds };
    struct index ix = { 0 };
    struct file f;
    enum err_code rc = ERR_OK;

    if (file_open(AT_FDCWD, y->path, 0, &f, NULL))
        return ERR_OK;
    if (index_build(&ix, &f, &keys, 0, NULL, NULL) == ERR_OK) {
        rc = ERR_OK;

        for (size_t i = 0; i < ix.n && !rc; i++) {
            const struct index_line *line = &ix.line[i];

            if (!line->kind || line->state != LINE_OK)
                continue;
            rc = file_read_part(&f, line->offset, line->length, &r->text, NULL);
            if (!rc)
                rc = claude_planner_read_history_row(r, y->path, buf_slice(&r->text),
                                                     line->kind == SNAPSHOT, e);
            else
                rc = rc == ERR_NOMEM ? err_nomem(e) : ERR_OK;
        }
    }
    index_fini(&ix);
    file_close(&f);
    session_row_free(r->row);
    r->row = NULL;
    arena_reset(&r->scratch);
    return rc;
}

enum err_code claude_concurrent_sessions(const struct store *st, const struct session_ref *ref,
                                         struct rewind_plan *plan, struct err *e)
{
    struct other_sessions r = { .store = st, .plan = plan };
    struct arena a = { 0 };
    enum err_code rc = ERR_OK;
    int64_t bytes = 0;
    size_t n = 0;

    if (plan->n == 0 || plan->point_ms == TIME_NONE)
        return ERR_OK;

    /* The transcripts in the folder of this session, except its own; in the arena. */
    const char *slash = strrchr(ref->path.p, '/');
    char *dir = arena_format(&a, "%.*s", (int)(slash - ref->path.p), ref->path.p);
    DIR *d = dir ? opendir(dir) : NULL;
    struct young *young = NULL, one;
    const struct dirent *entry;

    n = 0;
    while (d && (entry = readdir(d))) {
        if (strcmp(entry->d_name, slash + 1) == 0 ||
            !claude_is_young(dir, entry->d_name, plan->point_ms, &a, &one))
            continue;
        struct young *more = arena_grow(&a, young, n, sizeof *young);

        if (!more)
            break;
        young = more;
        young[(n)++] = one;
    }
    if (d)
        closedir(d);
    if (n)
        qsort(young, n, sizeof *young, claude_newest_first);

    for (size_t i = 0; i < n && i < SESSIONS_MAX && bytes <= BYTES_MAX && !rc; i++) {
        bytes += young[i].size;
        rc = bytes <= BYTES_MAX ? claude_read_session(&r, &young[i], e) : ERR_OK;
    }
    buf_fini(&r.text);
    arena_fini(&r.scratch);
    arena_fini(&a);
    return rc;
}
