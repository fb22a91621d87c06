#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "lite/base/id.h"
#include "store/systems/claude/claude.h"
#include "store/systems/claude/list/discover.h"

/* Finds the session with an id where the agent itself would find it (claude.md 1.3): in the first
 * folder that has a file with its name that is not empty, even if it is a link, and even if no list
 * would show it. */

/* Returns true if the folder contains a session with this id; *ref is then that session, in the
 * arena. *ok is false if out of memory. */
static bool folder_has(const struct claude *c, struct slice folder, struct slice id,
                       struct arena *a, struct session_ref *ref, bool *ok)
{
    char *path = arena_format(a, "%s/%s/%.*s" CLAUDE_SUFFIX, c->projects, folder.p, SLICE_ARG(id));
    struct stat sb;

    *ok = path != NULL;
    if (!path)
        return false;
    if (stat(path, &sb) != 0 || S_ISDIR(sb.st_mode) || sb.st_size == 0)
        return false;
    *ref = (struct session_ref){
        .store = &c->base,
        .id = arena_copy(a, id),
        .path = slice_of(path),
        .folder = arena_copy(a, folder),
        .file = file_id_of(&sb),
    };
    *ok = ref->id.p && ref->folder.p;
    return *ok;
}

enum err_code claude_find(const struct store *st, const struct scope *scope, struct slice id,
                          struct arena *a, struct session_ref *ref, struct err *e)
{
    const struct claude *c = claude_of(st);
    struct project_folders list = { 0 };
    struct arena names = { 0 };
    bool ok = true, found = false;

    if (!claude_is_uuid(id))
        return err_set(e, ERR_USAGE, "", "find session: not a Claude Code session id");
    enum err_code rc = claude_folders(c, scope, DISCOVER_ONE, &names, &list, e);

    for (size_t i = 0; !rc && ok && !found && i < list.n; i++)
        found = folder_has(c, list.folder[i].name, id, a, ref, &ok);
    arena_fini(&names);
    if (!rc && !ok)
        return err_nomem(e);
    if (!rc && !found)
        return err_set(e, ERR_NOT_FOUND, "", "find session %.*s: no such session", SLICE_ARG(id));
    return rc;
}

/* The transcript of a session directory is beside it. */
static struct slice transcript_at(struct slice path, struct arena *a)
{
    struct stat sb;

    if (stat(path.p, &sb) == 0 && !S_ISDIR(sb.st_mode))
        return arena_copy(a, path);
    const char *p = arena_format(a, "%.*s" CLAUDE_SUFFIX, SLICE_ARG(path));

    return p ? slice_of(p) : (struct slice){ NULL, 0 };
}

enum err_code claude_at_path(const struct store *st, struct slice path, struct arena *a,
                             struct session_ref *ref, struct err *e)
{
    size_t suffix = sizeof CLAUDE_SUFFIX - 1;
    struct slice file = transcript_at(path, a), folder = { "", 0 };
    struct stat sb;

    if (!file.p)
        return err_nomem(e);
    const char *name = strrchr(file.p, '/') + 1;
    size_t n = (size_t)(file.p + file.n - name);

    if (n <= suffix || strcmp(name + n - suffix, CLAUDE_SUFFIX) != 0 || stat(file.p, &sb) != 0 ||
        !S_ISREG(sb.st_mode) || sb.st_size == 0)
        return err_set(e, ERR_NOT_FOUND, path.p, "open session: no such session");
    const char *parent = memrchr(file.p, '/', (size_t)(name - 1 - file.p));

    if (parent)
        folder = arena_copy(a, (struct slice){ parent + 1, (size_t)(name - 2 - parent) });
    struct slice id = arena_copy(a, (struct slice){ name, n - suffix });

    if (!folder.p || !id.p)
        return err_nomem(e);
    *ref = (struct session_ref){
        .store = st, .id = id, .path = file, .folder = folder, .file = file_id_of(&sb)
    };
    return ERR_OK;
}

/* Finds many sessions by their ids, each as claude_find would find it: the names in the folders are read once, in the
 * order in which claude_find searches them. */

struct many {
    const struct claude *c;
    const struct slice *id;
    size_t n;
    struct session_ref *ref;
    struct idset wanted; /* the number of an id is its index into `first` */
    size_t *first;       /* its first place in id and ref; in the arena */
    size_t missing;      /* wanted ids that were not found yet */
    struct arena *a;
    bool ok;
};

/* Ids that are named twice are looked up once. */
static bool want(struct many *m)
{
    m->first = arena_alloc(m->a, (m->n + 1) * sizeof *m->first);
    m->ok = m->first != NULL;
    for (size_t i = 0; i < m->n && m->ok; i++) {
        uint32_t number;
        size_t before = m->wanted.n;

        if (!claude_is_uuid(m->id[i]))
            continue;
        m->ok = idset_add(&m->wanted, id128_of(m->id[i]), &number) == ERR_OK;
        if (m->ok && m->wanted.n > before)
            m->first[number] = i;
    }
    m->missing = m->wanted.n;
    return m->ok;
}

static void look_for(struct many *m, struct slice folder, size_t i)
{
    if (!m->ref[i].store && folder_has(m->c, folder, m->id[i], m->a, &m->ref[i], &m->ok))
        m->missing--;
}

static void check_name(struct many *m, struct slice folder, const char *name)
{
    struct slice id = { name, CLAUDE_ID };

    if (!claude_is_transcript_name(name))
        return;
    uint32_t number = idset_find(&m->wanted, id128_of(id));

    if (number != IDSET_NONE)
        look_for(m, folder, m->first[number]);
}

/* A folder whose names cannot be read may still let its files be opened by name. */
static void search_folder(struct many *m, struct slice folder)
{
    char path[PATH_MAX];
    int n = snprintf(path, sizeof path, "%s/%s", m->c->projects, folder.p);
    DIR *dir = n > 0 && (size_t)n < sizeof path ? opendir(path) : NULL;
    const struct dirent *entry;
    bool whole = false;

    if (dir) {
        while (errno = 0, m->ok && m->missing && (entry = readdir(dir)))
            check_name(m, folder, entry->d_name);
        whole = errno == 0;
        closedir(dir);
    } else {
        whole = errno == ENOENT || errno == ENOTDIR;
    }
    for (size_t i = 0; !whole && i < m->wanted.n && m->ok; i++)
        look_for(m, folder, m->first[i]);
}

static void share_with_twins(struct many *m)
{
    for (size_t i = 0; i < m->n; i++) {
        if (m->ref[i].store || !claude_is_uuid(m->id[i]))
            continue;
        m->ref[i] = m->ref[m->first[idset_find(&m->wanted, id128_of(m->id[i]))]];
    }
}

enum err_code claude_find_many(const struct store *st, const struct scope *scope,
                               const struct slice *id, size_t n, struct arena *a,
                               struct session_ref *ref, struct err *e)
{
    struct many m = { .c = claude_of(st), .id = id, .n = n, .ref = ref, .a = a };
    struct project_folders list = { 0 };
    struct arena names = { 0 };
    enum err_code rc = claude_folders(m.c, scope, DISCOVER_ONE, &names, &list, e);

    if (!rc && want(&m))
        for (size_t i = 0; i < list.n && m.ok && m.missing; i++)
            search_folder(&m, list.folder[i].name);
    if (!rc && m.ok)
        share_with_twins(&m);
    if (!rc && !m.ok)
        rc = err_nomem(e);
    idset_fini(&m.wanted);
    arena_fini(&names);
    return rc;
}
