#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "lite/buf.h"
#include "store/systems/claude/claude.h"
#include "store/systems/claude/discover.h"

/* Names, sizes and mtimes of the transcripts in a scope (claude.md 1.3): no transcript is opened. */

struct walk {
    const struct store *store;
    session_ref_fn *fn;
    void *arg;
    struct buf path; /* of the folder, then of the transcript */
    bool stopped;
};

/* The session id in a transcript's name; false for every other name. */
static bool id_of(const char *name, struct slice *id)
{
    size_t n = strlen(name);

    if (n != CLAUDE_ID + sizeof CLAUDE_SUFFIX - 1 || strcmp(name + CLAUDE_ID, CLAUDE_SUFFIX) != 0)
        return false;
    *id = (struct slice){ name, CLAUDE_ID };
    return claude_is_uuid(*id);
}

/* Links and other things that are no files go through: describe says that they cannot be read. A
 * directory is nothing, and neither is an empty file. */
static bool worth_a_row(const struct stat *sb)
{
    return S_ISREG(sb->st_mode) ? sb->st_size > 0 : !S_ISDIR(sb->st_mode);
}

struct file_id claude_file_id(const struct stat *sb)
{
    return (struct file_id){
        .dev = sb->st_dev,
        .ino = sb->st_ino,
        .size = sb->st_size,
        .mtime_ns = (int64_t)sb->st_mtim.tv_sec * 1000000000 + sb->st_mtim.tv_nsec,
        .ctime_ns = (int64_t)sb->st_ctim.tv_sec * 1000000000 + sb->st_ctim.tv_nsec,
    };
}

static enum err_code visit_file(struct walk *w, int dirfd, const char *name, struct slice folder)
{
    struct session_ref ref = { .store = w->store, .folder = folder };
    struct stat sb;
    size_t before = w->path.n;

    if (!id_of(name, &ref.id) || fstatat(dirfd, name, &sb, AT_SYMLINK_NOFOLLOW) != 0 ||
        !worth_a_row(&sb))
        return ERR_OK;
    enum err_code rc = buf_add(&w->path, (struct slice){ name, strlen(name) });

    if (!rc && !(ref.path.p = buf_cstr(&w->path)))
        rc = ERR_NOMEM;
    if (!rc) {
        ref.path.n = w->path.n;
        ref.file = claude_file_id(&sb);
        w->stopped = !w->fn(&ref, w->arg);
    }
    w->path.n = before;
    return rc;
}

static enum err_code visit_folder(struct walk *w, const char *projects, struct slice folder)
{
    struct dirent *entry;
    enum err_code rc = ERR_OK;
    DIR *dir = NULL;

    w->path.n = 0;
    rc = buf_addf(&w->path, "%s/%s", projects, folder.p);
    if (rc || !buf_cstr(&w->path))
        return ERR_NOMEM;
    dir = opendir(w->path.p);
    if (!dir)
        return ERR_OK;
    rc = buf_add_byte(&w->path, '/');
    while (!rc && !w->stopped && (entry = readdir(dir)))
        rc = visit_file(w, dirfd(dir), entry->d_name, folder);
    closedir(dir);
    return rc;
}

enum err_code claude_enumerate(const struct store *st, const struct scope *scope,
                               session_ref_fn *fn, void *arg, struct err *e)
{
    const struct claude *c = claude_of(st);
    struct walk w = { .store = st, .fn = fn, .arg = arg };
    struct project_folders list;
    struct arena a = { 0 };
    enum err_code rc = claude_folders(c, scope, DISCOVER_LIST, &a, &list, e);

    for (size_t i = 0; !rc && !w.stopped && i < list.n; i++)
        if (visit_folder(&w, c->projects, list.folder[i].name))
            rc = err_set(e, ERR_NOMEM, c->projects, "list sessions");
    buf_fini(&w.path);
    arena_fini(&a);
    return rc;
}
