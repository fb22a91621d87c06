#include <dirent.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#include "store/finding.h"
#include "store/systems/claude/claude.h"
#include "store/systems/claude/discover.h"
#include "store/tidy/weight.h"

/* What lies in a store and belongs to no session any more: the agent's own cleanup and its delete leave side folders
 * and saved copies behind (claude.md 5.2). */

struct look {
    const struct claude *c;
    finding_fn *fn;
    void *arg;
    struct arena arena; /* for one entry */
};

static enum err_code no_memory(struct look *l, struct err *e)
{
    return err_set(e, ERR_NOMEM, l->c->projects, "look for orphans: out of memory");
}

/* Side folders may lie in another project's folder than the transcript: a session that moved took its work there. */
static enum err_code has_transcript(struct look *l, struct slice id, bool *has, struct err *e)
{
    const struct scope everywhere = { .all = true };
    struct session_ref ref;
    enum err_code rc = claude_find(&l->c->base, &everywhere, id, &l->arena, &ref, NULL);

    *has = rc != ERR_NOT_FOUND;
    return rc == ERR_NOMEM ? no_memory(l, e) : ERR_OK;
}

static enum err_code tell(struct look *l, enum finding_kind kind, struct slice id, const char *path,
                          const char *why, struct err *e)
{
    struct finding f = { .kind = kind, .session = id, .path = path, .why = why };

    return why ? l->fn(&f, l->arg, e) : no_memory(l, e);
}

static enum err_code look_at_folder(struct look *l, const char *dir, const char *name,
                                    enum finding_kind kind, struct err *e)
{
    struct slice id = { name, strlen(name) };
    const char *path = arena_format(&l->arena, "%s/%s", dir, name);
    struct weight w = { 0 };
    struct stat st;
    bool has;

    if (!path)
        return no_memory(l, e);
    if (lstat(path, &st) != 0 || !S_ISDIR(st.st_mode))
        return ERR_OK;
    enum err_code rc = has_transcript(l, id, &has, e);

    if (rc || has)
        return rc;
    rc = weight_add(path, &w, e);
    return rc ? rc
              : tell(l, kind, id, path,
                     arena_format(&l->arena,
                                  "the session's transcript is gone; %lld files, %lld "
                                  "bytes are left",
                                  (long long)w.files, (long long)w.bytes),
                     e);
}

/* A transcript without a byte is in no list; the agent made it and never wrote to it. */
static enum err_code look_at_empty(struct look *l, const char *dir, const char *name, struct err *e)
{
    struct slice id = { name, CLAUDE_ID };
    const char *path = arena_format(&l->arena, "%s/%s", dir, name);
    struct stat st;

    if (!path)
        return no_memory(l, e);
    if (lstat(path, &st) != 0 || !S_ISREG(st.st_mode) || st.st_size > 0)
        return ERR_OK;
    return tell(l, FINDING_HIDDEN, id, path, "no list shows it: the file is empty", e);
}

static enum err_code look_at(struct look *l, const char *dir, const char *name,
                             enum finding_kind kind, struct err *e)
{
    size_t n = strlen(name);

    arena_reset(&l->arena);
    if (n < CLAUDE_ID || !claude_is_uuid((struct slice){ name, CLAUDE_ID }))
        return ERR_OK;
    if (n == CLAUDE_ID)
        return look_at_folder(l, dir, name, kind, e);
    return strcmp(name + CLAUDE_ID, CLAUDE_SUFFIX) == 0 ? look_at_empty(l, dir, name, e) : ERR_OK;
}

/* A folder that is not there or cannot be read has no orphans to tell of. */
static enum err_code look_into(struct look *l, const char *path, enum finding_kind kind,
                               struct err *e)
{
    DIR *dir = opendir(path);
    struct dirent *entry;
    enum err_code rc = ERR_OK;

    while (!rc && dir && (entry = readdir(dir)))
        rc = look_at(l, path, entry->d_name, kind, e);
    if (dir)
        closedir(dir);
    return rc;
}

enum err_code claude_check_store(const struct store *st, const struct scope *scope, finding_fn *fn,
                                 void *arg, struct err *e)
{
    struct look l = { .c = claude_of(st), .fn = fn, .arg = arg };
    struct project_folders list;
    struct arena a = { 0 };
    const char *path = NULL;
    enum err_code rc = claude_folders(l.c, scope, DISCOVER_LIST, &a, &list, e);

    for (size_t i = 0; !rc && i < list.n; i++) {
        path = arena_format(&a, "%s/%s", l.c->projects, list.folder[i].name.p);
        rc = path ? look_into(&l, path, FINDING_ORPHAN_FOLDER, e) : no_memory(&l, e);
    }
    /* Saved copies are kept by id alone: whose they were, only a look at every project can tell. */
    if (!rc && scope->all) {
        path = arena_format(&a, "%s/file-history", st->path);
        rc = path ? look_into(&l, path, FINDING_ORPHAN_BACKUPS, e) : no_memory(&l, e);
    }
    arena_fini(&l.arena);
    arena_fini(&a);
    return rc;
}
