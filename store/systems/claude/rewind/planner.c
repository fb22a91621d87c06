#include "store/systems/claude/rewind/planner.h"

#include <string.h>
#include <sys/stat.h>

#include "store/fs/path_normalize.h"
#include "store/rewind/plan/pathrule.h"
#include "store/systems/claude/claude.h"
#include "store/systems/claude/list/discover.h"
#include "store/systems/common/project_folder.h"

void planner_close(struct planner *p)
{
    lastwrites_fini(&p->writes);
    file_history_fini(&p->history);
    transcript_free(p->transcript);
    session_row_free(p->row);
    arena_fini(&p->arena);
}

/* The name of the folder that holds the transcript. */
static struct slice folder_name_of(struct slice path)
{
    const char *end = memrchr(path.p, '/', path.n);
    size_t n = end ? (size_t)(end - path.p) : 0;
    const char *slash = n ? memrchr(path.p, '/', n) : NULL;

    return slash ? (struct slice){ slash + 1, (size_t)(end - slash - 1) } : SLICE("");
}

/* Rows name any directory that their writer liked. The folder stands for one: that in which the program was started, or
 * one above it; else the one that the rows name, or one above it. */
static enum err_code find_root(struct planner *p, struct err *e)
{
    const struct store_env *env = p->claude->base.env;
    struct slice start = slice_of(env && env->cwd ? env->cwd : ""),
                 folder = folder_name_of(p->ref->path);
    struct slice now = claude_folder_now(p->claude, start, &p->arena);

    if (p->claude->forced_folder && slice_eq(now, folder))
        p->root = arena_copy(&p->arena, start).p;
    if (!p->root)
        p->root = project_folder_ancestor(folder, start, &p->arena);
    if (!p->root && p->cwd)
        p->root = project_folder_ancestor(folder, slice_of(p->cwd), &p->arena);
    return p->arena.failed ? err_nomem(e) : ERR_OK;
}

enum err_code planner_open(struct planner *p, const struct store *st, const struct session_ref *ref,
                           struct err *e)
{
    const struct scope everywhere = { .all = true };

    *p = (struct planner){ .claude = claude_of(st), .ref = ref, .row = session_row_new() };
    enum err_code rc = p->row ? claude_describe(st, &everywhere, ref, p->row, e) : err_nomem(e);

    if (!rc)
        rc = claude_load(st, ref, NULL, &p->transcript, e);
    if (!rc)
        rc = file_history_read(ref, p->transcript, &p->history, e);
    if (!rc && p->history.n)
        rc = lastwrites_read(p->transcript, p->history.turn[p->history.n - 1].message, &p->writes,
                             e);
    struct slice said = p->row && p->row->cwd.n ? arena_copy(&p->arena, p->row->cwd) : SLICE("");

    if (!rc && said.n && said.p[0] == '/')
        p->cwd = path_normalize("", said.p, &p->arena);
    if (!rc)
        rc = find_root(p, e);
    if (rc)
        planner_close(p);
    return rc;
}

/* ---- paths ---- */

const char *planner_path(struct planner *p, const char *tracked)
{
    bool strays = p->root && p->cwd && !pathrule_under(slice_of(p->cwd), slice_of(p->root));
    const char *dir = strays ? p->root : p->cwd;

    return path_normalize(dir ? dir : "", tracked, &p->arena);
}

static const char *backup_in(struct planner *p, struct slice session, const char *name)
{
    return arena_format(&p->arena, "%s/file-history/%.*s/%s", p->claude->base.path,
                        SLICE_ARG(session), name);
}

/* The copies of a fork may lie with the session it came from, until the client has carried them over. */
const char *planner_backup(struct planner *p, const char *name)
{
    const char *own = backup_in(p, p->ref->id, name);
    struct stat st;

    if (!own || lstat(own, &st) == 0 || !claude_is_uuid(p->row->parent_id))
        return own;
    const char *parents = backup_in(p, p->row->parent_id, name);

    return parents && lstat(parents, &st) == 0 ? parents : own;
}

/* ---- what else happened ---- */

static bool ran_shell(const struct block_list *blocks)
{
    for (size_t i = 0; i < blocks->n; i++)
        if (blocks->block[i].kind == BLOCK_TOOL_CALL &&
            slice_eq(blocks->block[i].name, SLICE("Bash")))
            return true;
    return false;
}

enum err_code planner_shell(struct planner *p, size_t from, size_t to, size_t *n, struct err *e)
{
    struct buf row = { 0 };
    enum err_code rc = ERR_OK;

    *n = 0;
    for (size_t i = from; i < to && !rc; i++) {
        struct block_list blocks = { 0 };

        if (p->transcript->message[i].kind != MESSAGE_ASSISTANT)
            continue;
        rc = transcript_read(p->transcript, i, &row, e);
        if (!rc)
            rc = claude_blocks(&p->claude->base, buf_slice(&row), &blocks, e);
        *n += !rc && ran_shell(&blocks);
        transcript_blocks_fini(&blocks);
    }
    buf_fini(&row);
    return rc;
}

const char planner_lost_turn[] = "the snapshot row of this point is missing from the session";
