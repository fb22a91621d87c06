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
    AUTO_ARENA a = { 0 };
    AUTO_BUF now = { 0 };
    AUTO_BUF before = { 0 };
    struct metarows m;
    size_t more;

    TRY(metarows_of(ref->path.p, &a, &m, e));
    struct slice present = metarow_value(&m.row[type], key, &a);

    if (m.row[type].found && slice_eq(present, text))
        return ERR_OK;
    NEED(!metarow_write(type, key, text, ref->id, &now));
    NEED(!metarow_write(type, key, m.row[type].found ? present : else_before, ref->id, &before));

    /* The client looks for these rows only near the end, so those that would be too far from it are written again. */
    TRY(metarows_set_leaf(&m, ref->path.p, now.n, NULL, &a, e));
    NEED(!metarows_reappend(&m, now.n, type, &now, &more));
    return plan_append(ref, buf_slice(&now), buf_slice(&before), c, e);
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
    AUTO_ARENA a = { 0 };
    struct slice text = { NULL, 0 };

    (void)st; /* the log records what is written, which may differ from what was typed */
    if (!clear && !metarow_tag_text(tag, &a, &text))
        return err_set(e, ERR_USAGE, ref->path.p, "tag: invalid tag");
    if (!clear && text.n == 0)
        return err_set(e, ERR_USAGE, ref->path.p,
                       "tag: tag must be non-empty (use --none to clear it)");
    TRY(plan_text(ref, METAROW_TAG, "tag", text, SLICE(""), c, e));
    if (!clear)
        NEED(c->text = arena_format(&c->arena, "tagged %.*s", SLICE_ARG(text)));
    return ERR_OK;
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
    CLEANUP(claude_log_close) struct claude_log log = { .file.file.fd = -1 };
    uint32_t node;
    bool cleared;

    TRY(claude_log_open(&log, ref->path.p, &want, e));
    TRY(claude_relink(&log, e));
    if (message.n) {
        /* The client continues only from what it loads. Rows of sub-agents are not part of its conversation. */
        TRY(claude_find_message(&log, message, &node, e));
        if (claude_line_has(claude_node_line(&log, node), MARK_SIDECHAIN))
            return err_set(e, ERR_UNSUPPORTED, log.file.path,
                           "resume at: that is a message of a sub-agent");
        if (claude_is_compacted(&log, node))
            return err_set(
                e, ERR_UNSUPPORTED, log.file.path,
                "resume at: that message is before the last compaction, and the agent does not "
                "load it; fork there instead");
        TRY(claude_node_uuid(&log, node, a, leaf, e));
    }
    TRY(claude_resume_leaf(&log, &node, &cleared, e));
    return node == CHAIN_NONE ? ERR_OK : claude_node_uuid(&log, node, a, before, e);
}

enum err_code claude_resume_at(const struct store *st, const struct session_ref *ref,
                               struct slice message, struct change *c, struct err *e)
{
    AUTO_ARENA a = { 0 };
    AUTO_BUF row = { 0 };
    AUTO_BUF opposite = { 0 };
    struct metarows m;
    struct slice leaf = { NULL, 0 }, before = { NULL, 0 };
    size_t more;

    (void)st;
    TRY(find_leaves(ref, message, &a, &leaf, &before, e));
    TRY(metarows_of(ref->path.p, &a, &m, e));
    NEED(!write_last_prompt_row(ref, leaf, &row));
    NEED(!write_last_prompt_row(ref, before, &opposite));
    NEED(!metarows_reappend(&m, row.n, METAROW_LAST_PROMPT, &row, &more));
    return plan_append(ref, buf_slice(&row), buf_slice(&opposite), c, e);
}

enum err_code claude_reappend(const struct store *st, const struct session_ref *ref,
                              struct change *c, size_t *appended, struct err *e)
{
    AUTO_ARENA a = { 0 };
    AUTO_BUF rows = { 0 };
    AUTO_BUF opposite = { 0 };
    struct metarows m;
    struct file f;
    size_t n = 0;

    (void)st;
    TRY(file_open(AT_FDCWD, ref->path.p, FILE_FOLLOW, &f, e));
    enum err_code rc = metarows_anywhere(&f, METAROW_ALL, NULL, &a, &m, e);

    file_close(&f);
    TRY(rc);
    TRY(metarows_set_leaf(&m, ref->path.p, 0, NULL, &a, e));

    /* Copied rows need no opposite. For a worktree that was left, it is the former row. */
    const struct slice worktree = m.row[METAROW_WORKTREE_STATE].text;

    TRY(metarows_leave_worktree(&m, &a, e));
    NEED(!metarows_reappend(&m, 0, METAROW_TYPES, &rows, &n));
    if (worktree.p != m.row[METAROW_WORKTREE_STATE].text.p)
        NEED(!buf_add(&opposite, worktree) && !buf_add_byte(&opposite, '\n'));
    if (n)
        TRY(plan_append(ref, buf_slice(&rows), buf_slice(&opposite), c, e));
    *appended = n;
    return ERR_OK;
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
    char *dir = arena_format(a, "%.*s", (int)stem, transcript);
    const char *path = dir ? arena_format(a, "%s/archived.json", dir) : NULL;
    AUTO_BUF old = { 0 };
    struct stat st;

    NEED(path);
    struct step s = { .kind = STEP_PUT, .path = path, .bytes = mark, .mtime_ns = MTIME_NOW };
    enum err_code rc = file_read_all(AT_FDCWD, path, 0, MARK_MAX, &old, e);

    if (rc == ERR_NOT_FOUND) {
        s.old_absent = true;
        s.with_dir = lstat(dir, &st) != 0;
    } else {
        TRY(rc);
    }
    s.old = buf_slice(&old);
    return change_add(c, &s, e);
}

enum err_code claude_archive(const struct store *st, const struct scope *scope,
                             const struct session_ref *ref, bool archived, struct change *c,
                             struct err *e)
{
    const struct claude *claude = claude_of(st);
    struct project_folders list = { 0 };
    AUTO_ARENA a = { 0 };
    AUTO_BUF mark = { 0 };
    struct stat sb;
    char at[TIME_TEXT];
    struct jsonout j;

    TRY(claude_folders(claude, scope, DISCOVER_ONE, &a, &list, e));
    time_format(c->at_ms ? c->at_ms : st->env->now_ms, at);
    jsonout_init(&j, &mark);
    jsonout_open(&j, '{');
    jsonout_bool_member(&j, "archived", archived);
    jsonout_member(&j, "at", slice_of(at));
    jsonout_member(&j, "by", SLICE("reprise"));
    jsonout_close(&j, '}');
    NEED(!j.rc);
    for (size_t i = 0; i < list.n; i++) {
        const char *path = arena_format(&a, "%s/%s/%.*s" CLAUDE_SUFFIX, claude->projects,
                                        list.folder[i].name.p, SLICE_ARG(ref->id));

        NEED(path);
        if (stat(path, &sb) == 0 && S_ISREG(sb.st_mode) && sb.st_size > 0)
            TRY(plan_mark(path, buf_slice(&mark), &a, c, e));
    }
    return ERR_OK;
}
