#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "lite/json/json.h"
#include "lite/json/jsonout.h"
#include "store/api/host.h"
#include "store/fs/disk.h"
#include "store/log/log_find.h"
#include "store/systems/claude/chain/row_facts.h"
#include "store/systems/claude/claude.h"
#include "store/systems/claude/fork/fork.h"
#include "store/systems/claude/list/discover.h"
#include "store/systems/claude/write/hostwrite.h"
#include "store/systems/common/configdir.h"

/* A session as a host begins it. The client itself makes the file with the first message; a host whose commands are
 * processes of their own needs it to be there before, so it begins with the row that the client writes first
 * (`mode`), and is not listed until something is said in it, as the client's own lists have it. The row also keeps what
 * the first message will need: the directory, which the folder's name does not tell, and the title, which in a row of its
 * own would put the empty session on the lists. */

enum { FILE_MODE = 0600, FOLDER_MODE = 0700 };

enum err_code claude_make(const struct store_env *env, const char *path, struct err *e)
{
    char *config = NULL;
    enum err_code rc = configdir_named(env, path, &config, e);

    if (!rc)
        rc = disk_make_dir(config, FOLDER_MODE, e);
    free(config);
    return rc;
}

/* Where the sessions of a directory lie, made if need be. */
static enum err_code make_folder(const struct claude *c, struct slice cwd, struct arena *a,
                                 const char **folder, struct err *e)
{
    const char *dir = arena_copy(a, cwd).p;
    char *real = dir ? realpath(dir, NULL) : NULL;
    const char *project = real ? real : dir;
    struct slice name = { 0 };

    if (project)
        name = claude_folder_now(c, slice_of(project), a);
    free(real);
    *folder = name.p ? arena_format(a, "%s/%s", c->projects, name.p) : NULL;
    if (!*folder)
        return err_nomem(e);
    return disk_make_dir(*folder, FOLDER_MODE, e);
}

static enum err_code first_row(struct slice id, struct slice cwd, struct slice title,
                               struct buf *out)
{
    struct jsonout j;

    jsonout_init(&j, out);
    jsonout_open(&j, '{');
    jsonout_member(&j, "type", SLICE("mode"));
    jsonout_member(&j, "mode", SLICE("normal"));
    jsonout_member(&j, "sessionId", id);
    jsonout_member(&j, "cwd", cwd);
    if (title.n)
        jsonout_member(&j, CLAUDE_CREATED_TITLE, title);
    jsonout_close(&j, '}');
    return j.rc ? j.rc : buf_add_byte(out, '\n');
}

/* A member of the row that the session was made with; empty: it has none. */
enum err_code claude_created_with(const char *path, const char *key, struct arena *a,
                                  struct slice *text, struct err *e)
{
    struct buf row = { 0 };
    struct slice value = { NULL, 0 };
    struct file f;
    int64_t begin;
    enum err_code rc = file_open(AT_FDCWD, path, FILE_FOLLOW, &f, e);

    *text = value;
    if (rc)
        return rc;
    rc = log_find_line(&f, 0, &row, &begin, e);
    file_close(&f);
    if (!rc && claude_row_says(buf_slice(&row), "type", "mode") &&
        json_get_text(buf_slice(&row), key, a, &value) && !(*text = arena_copy(a, value)).p)
        rc = err_nomem(e);
    buf_fini(&row);
    return err_at(e, rc, path);
}

static enum err_code write_new(const char *folder, const char *name, struct slice bytes,
                               struct err *e)
{
    struct disk_new to;
    enum err_code rc = disk_new_open(folder, FILE_MODE, &to, e);

    if (rc)
        return rc;
    rc = disk_write(to.fd, bytes, NULL, to.path, e);
    if (!rc)
        return disk_new_publish(&to, name, e);
    disk_new_discard(&to);
    return rc;
}

/* The id names a session wherever it lies, so it must be new in every project. */
static enum err_code check_new(const struct store *st, struct slice id, struct arena *a,
                               struct err *e)
{
    const struct scope everywhere = { .all = true };
    struct session_ref ref;
    enum err_code rc = claude_find(st, &everywhere, id, a, &ref, e);

    if (rc == ERR_NOT_FOUND)
        return ERR_OK;
    return rc ? rc : err_set(e, ERR_STALE, ref.path.p, "create: a session with this id exists");
}

enum err_code claude_create(const struct store *st, const struct host_create *req, struct arena *a,
                            struct host_created *out, struct err *e)
{
    const struct claude *c = claude_of(st);
    char drawn[UUID_STR_LEN];
    struct buf rows = { 0 };
    const char *folder;
    struct host_created made = { .id = req->id };

    fork_generate_id(drawn);
    if (!made.id.n)
        made.id = (struct slice){ drawn, CLAUDE_ID };
    made.id = arena_copy(a, made.id);
    enum err_code rc = made.id.p ? check_new(st, made.id, a, e) : err_nomem(e);

    if (!rc)
        rc = make_folder(c, req->cwd, a, &folder, e);
    const char *name = arena_format(a, "%s" CLAUDE_SUFFIX, made.id.p);

    if (!rc && (!name || first_row(made.id, req->cwd, req->title, &rows)))
        rc = err_nomem(e);
    if (!rc)
        rc = write_new(folder, name, buf_slice(&rows), e);
    if (!rc && !(made.path.p = arena_format(a, "%s/%s", folder, name)))
        rc = err_nomem(e);
    buf_fini(&rows);
    if (rc)
        return rc;
    made.path.n = strlen(made.path.p);
    made.unsaved = (req->model.n ? HOST_MODEL : 0U) | (req->parent.n ? HOST_PARENT : 0U);
    *out = made;
    return ERR_OK;
}
