#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#include "lite/base/buf.h"
#include "lite/base/cleanup.h"
#include "lite/base/time.h"
#include "lite/base/utf8.h"
#include "lite/io/file.h"
#include "lite/json/jsonout.h"
#include "store/fs/file_at.h"
#include "store/journal/change.h"
#include "store/systems/claude/chain/conversation_path.h"
#include "store/systems/claude/chain/row_facts.h"
#include "store/systems/claude/claude.h"
#include "store/systems/claude/list/discover.h"
#include "store/systems/claude/write/metarow.h"

/* Rename, tag and resume-at append one row each, as the SDK and the client do (claude.md 5.1, C3),
 * followed by those metadata rows that it would push out of the tail window. */

/* Plans to append rows; opposite (may be empty) restores what the session had before. */
static enum err_code plan_append(const struct session_ref *ref, struct slice rows,
                                 struct slice opposite, struct change *c, struct err *e)
{
    struct step s = { .kind = STEP_APPEND,
                      .path = ref->path.p,
                      .bytes = rows,
                      .opposite = opposite,
                      .follow = true, /* as the SDK does (claude.md 2.1) */
                      .mtime_ns = MTIME_NOW };

    return change_add(c, &s, e);
}

/* Plans a row {type, key: text, sessionId}, or nothing if that is the present text. Its opposite is the same row with
 * the previous text, or with `else_before` if no row has one. */
static enum err_code plan_text(const struct session_ref *ref, enum metarow_type type,
                               const char *key, struct slice text, struct slice else_before,
                               struct change *c, struct err *e)
{
    struct arena a = { 0 };
    struct metarows m;
    struct buf now = { 0 }, before = { 0 };
    size_t more;
    enum err_code rc = metarows_of(ref->path.p, &a, &m, e);

    if (rc)
        return rc;
    struct slice present = metarow_value(&m.row[type], key, &a);

    if (m.row[type].found && slice_eq(present, text)) {
        arena_fini(&a);
        return ERR_OK;
    }
    if (metarow_write(type, key, text, ref->id, &now) ||
        metarow_write(type, key, m.row[type].found ? present : else_before, ref->id, &before))
        rc = err_nomem(e);

    /* The client looks for these rows only near the end, so those that would be too far from it are written again. */
    if (!rc)
        rc = metarows_set_leaf(&m, ref->path.p, now.n, NULL, &a, e);
    if (!rc && metarows_reappend(&m, now.n, type, &now, &more))
        rc = err_nomem(e);
    if (!rc)
        rc = plan_append(ref, buf_slice(&now), buf_slice(&before), c, e);
    buf_fini(&now);
    buf_fini(&before);
    arena_fini(&a);
    return rc;
}

enum err_code claude_rename(const struct store *st, const struct session_ref *ref,
                            struct slice title, struct change *c, struct err *e)
{
    struct slice text = utf8_js_trim(title);

    (void)st;
    if (text.n == 0)
        return err_set(e, ERR_USAGE, ref->path.p, "rename: title must be non-empty");
    return plan_text(ref, METAROW_CUSTOM_TITLE, "customTitle", text, SLICE(""), c, e);
}

enum err_code claude_tag(const struct store *st, const struct session_ref *ref, struct slice tag,
                         bool clear, struct change *c, struct err *e)
{
    struct arena a = { 0 };
    struct slice text = { NULL, 0 };
    enum err_code rc = ERR_OK;

    (void)st; /* the log records what is written, which may differ from what was typed */
    if (!clear && !metarow_tag_text(tag, &a, &text))
        rc = err_set(e, ERR_USAGE, ref->path.p, "tag: invalid tag");
    else if (!clear && text.n == 0)
        rc = err_set(e, ERR_USAGE, ref->path.p,
                     "tag: tag must be non-empty (use --none to clear it)");
    if (!rc)
        rc = plan_text(ref, METAROW_TAG, "tag", text, SLICE(""), c, e);
    if (!rc && !clear && !(c->text = arena_format(&c->arena, "tagged %.*s", SLICE_ARG(text))))
        rc = err_nomem(e);
    arena_fini(&a);
    return rc;
}

/* ---- a directory that moved ---- */

/* The row that the client writes itself when a session moves to another directory. The session is not newer for it, so
 * the time of the file stays. */
enum err_code claude_set_directory(const struct store *st, const struct session_ref *ref,
                                   struct slice from, struct slice to, struct change *c,
                                   struct err *e)
{
    const size_t before = c->n;

    (void)st;
    TRY(plan_text(ref, METAROW_RELOCATED, "relocatedCwd", to, from, c, e));
    if (c->n > before)
        c->step[before].mtime_ns = ref->file.mtime_ns;
    return ERR_OK;
}

/* ---- resume at ---- */

/* Resume at a message, in place: an explicit last-prompt row that names it. Clients of both generations continue from
 * there, abandoned branches included, until another such row or a later answer overrides it (claude.md C3). */

/* Writes an explicit last-prompt row; leaf empty: the conversation starts over. */
static enum err_code write_last_prompt_row(const struct session_ref *ref, struct slice leaf,
                                           struct buf *out)
{
    struct jsonout j;

    jsonout_init(&j, out);
    jsonout_open(&j, '{');
    jsonout_member(&j, "type", SLICE("last-prompt"));
    jsonout_text_or_null(&j, "leafUuid", leaf);
    jsonout_bool_member(&j, "explicit", true);
    jsonout_member(&j, "sessionId", ref->id);
    claude_end_row(&j);
    return j.rc;
}

/* Where a resume will continue, and where it would have continued. */
static enum err_code find_leaves(const struct session_ref *ref, struct slice message,
                                 struct arena *a, struct slice *leaf, struct slice *before,
                                 struct err *e)
{
    const struct claude_log_want want = { .kinds = CLAUDE_MAIN_KINDS };
    struct claude_log log;
    uint32_t node;
    bool cleared;

    TRY(claude_log_open(&log, ref->path.p, &want, e));
    enum err_code rc = claude_relink(&log, e);

    if (!rc && message.n) {
        rc = claude_find_message(&log, message, &node, e);
        if (!rc) {
            /* The client continues only from what it loads. Rows of sub-agents are not part of its
             * conversation. */
            if (claude_line_has(claude_node_line(&log, node), MARK_SIDECHAIN))
                rc = err_set(e, ERR_UNSUPPORTED, log.file.path,
                             "resume at: that is a message of a sub-agent");
            else if (claude_is_compacted(&log, node)) {
                rc = err_set(
                    e, ERR_UNSUPPORTED, log.file.path,
                    "resume at: that message is before the last compaction, and the agent does not "
                    "load it; fork there instead");
            }
        }
        if (!rc)
            rc = claude_node_uuid(&log, node, a, leaf, e);
    }
    if (!rc)
        rc = claude_resume_leaf(&log, &node, &cleared, e);
    if (!rc && node != CHAIN_NONE)
        rc = claude_node_uuid(&log, node, a, before, e);
    claude_log_close(&log);
    return rc;
}

enum err_code claude_resume_at(const struct store *st, const struct session_ref *ref,
                               struct slice message, struct change *c, struct err *e)
{
    struct arena a = { 0 };
    struct metarows m;
    struct buf row = { 0 }, opposite = { 0 };
    struct slice leaf = { NULL, 0 }, before = { NULL, 0 };
    size_t more;
    enum err_code rc = find_leaves(ref, message, &a, &leaf, &before, e);

    (void)st;
    if (!rc)
        rc = metarows_of(ref->path.p, &a, &m, e);
    if (!rc &&
        (write_last_prompt_row(ref, leaf, &row) || write_last_prompt_row(ref, before, &opposite) ||
         metarows_reappend(&m, row.n, METAROW_LAST_PROMPT, &row, &more)))
        rc = err_nomem(e);
    if (!rc)
        rc = plan_append(ref, buf_slice(&row), buf_slice(&opposite), c, e);
    buf_fini(&row);
    buf_fini(&opposite);
    arena_fini(&a);
    return rc;
}

enum err_code claude_reappend(const struct store *st, const struct session_ref *ref,
                              struct change *c, size_t *appended, struct err *e)
{
    struct arena a = { 0 };
    struct metarows m;
    struct file f;
    size_t n = 0;
    enum err_code rc = file_open(AT_FDCWD, ref->path.p, FILE_FOLLOW, &f, e);

    (void)st;
    if (rc)
        return rc;
    rc = metarows_anywhere(&f, METAROW_ALL, NULL, &a, &m, e);
    file_close(&f);
    if (!rc)
        rc = metarows_set_leaf(&m, ref->path.p, 0, NULL, &a, e);
    if (!rc) {
        /* Copied rows need no opposite. For a worktree that was left, it is the former row. */
        const struct slice worktree = m.row[METAROW_WORKTREE_STATE].text;
        struct buf rows = { 0 }, opposite = { 0 };
        rc = metarows_leave_worktree(&m, &a, e);

        if (!rc && metarows_reappend(&m, 0, METAROW_TYPES, &rows, &n))
            rc = err_nomem(e);
        if (!rc && worktree.p != m.row[METAROW_WORKTREE_STATE].text.p &&
            (buf_add(&opposite, worktree) || buf_add_byte(&opposite, '\n')))
            rc = err_nomem(e);
        if (!rc && n)
            rc = plan_append(ref, buf_slice(&rows), buf_slice(&opposite), c, e);
        buf_fini(&rows);
        buf_fini(&opposite);
    }
    if (!rc)
        *appended = n;
    arena_fini(&a);
    return rc;
}

/* ---- archive ---- */

/* The archive mark is a small document in the session's side folder, in every project folder that contains the id
 * (claude.md 5.3); the transcript is unchanged. */

enum { MARK_MAX = 64 * 1024 };

/* Plans to replace the old document with the new one, in one folder. */
static enum err_code plan_mark(const char *transcript, struct slice mark, struct arena *a,
                               struct change *c, struct err *e)
{
    size_t stem = strlen(transcript) - (sizeof CLAUDE_SUFFIX - 1);
    char *dir = arena_format(a, "%.*s", (int)stem, transcript), *path = NULL;
    struct buf old = { 0 };
    struct stat st;

    if (dir)
        path = arena_format(a, "%s/archived.json", dir);
    if (!path)
        return err_nomem(e);
    struct step s = { .kind = STEP_PUT, .path = path, .bytes = mark, .mtime_ns = MTIME_NOW };
    enum err_code rc = file_read_all(AT_FDCWD, path, 0, MARK_MAX, &old, e);

    if (rc == ERR_NOT_FOUND) {
        s.old_absent = true;
        s.with_dir = lstat(dir, &st) != 0;
        rc = ERR_OK;
    }
    s.old = buf_slice(&old);
    if (!rc)
        rc = change_add(c, &s, e);
    buf_fini(&old);
    return rc;
}

enum err_code claude_archive(const struct store *st, const struct scope *scope,
                             const struct session_ref *ref, bool archived, struct change *c,
                             struct err *e)
{
    const struct claude *claude = claude_of(st);
    struct project_folders list = { 0 };
    struct arena a = { 0 };
    struct buf mark = { 0 };
    struct stat sb;
    char at[TIME_TEXT];
    struct jsonout j;
    enum err_code rc = claude_folders(claude, scope, DISCOVER_ONE, &a, &list, e);

    time_format(c->at_ms ? c->at_ms : st->env->now_ms, at);
    jsonout_init(&j, &mark);
    jsonout_open(&j, '{');
    jsonout_bool_member(&j, "archived", archived);
    jsonout_member(&j, "at", slice_of(at));
    jsonout_member(&j, "by", SLICE("reprise"));
    jsonout_close(&j, '}');
    if (!rc && j.rc)
        rc = err_nomem(e);
    for (size_t i = 0; !rc && i < list.n; i++) {
        char *path = arena_format(&a, "%s/%s/%.*s" CLAUDE_SUFFIX, claude->projects,
                                  list.folder[i].name.p, SLICE_ARG(ref->id));

        if (!path)
            rc = err_nomem(e);
        else if (stat(path, &sb) == 0 && S_ISREG(sb.st_mode) && sb.st_size > 0)
            rc = plan_mark(path, buf_slice(&mark), &a, c, e);
    }
    buf_fini(&mark);
    arena_fini(&a);
    return rc;
}
