#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#include "lite/base/time.h"
#include "lite/io/file.h"
#include "lite/json/jsonout.h"
#include "store/fs/file_at.h"
#include "store/journal/change.h"
#include "store/systems/claude/claude.h"
#include "store/systems/claude/list/discover.h"

/* The archive mark is a small document in the session's side folder, in every folder that holds the id (claude.md
 * 5.3); the transcript is not touched. */

enum { MARK_MAX = 64 * 1024 };

static enum err_code print_mark(bool archived, int64_t at_ms, struct buf *out)
{
    char at[TIME_TEXT];
    struct jsonout j;

    time_format(at_ms, at);
    jsonout_init(&j, out);
    jsonout_open(&j, '{');
    jsonout_key(&j, "archived");
    jsonout_bool(&j, archived);
    jsonout_member(&j, "at", slice_of(at));
    jsonout_member(&j, "by", SLICE("reprise"));
    jsonout_close(&j, '}');
    return j.rc;
}

/* One folder: the new document in place of what lies there now. */
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
    enum err_code rc = claude_folders(claude, scope, DISCOVER_ONE, &a, &list, e);

    if (!rc && print_mark(archived, c->at_ms ? c->at_ms : st->env->now_ms, &mark))
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
