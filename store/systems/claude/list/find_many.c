#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "store/log/idset.h"
#include "store/systems/claude/claude.h"
#include "store/systems/claude/list/discover.h"
#include "store/systems/claude/list/find.h"

/* Many sessions by their ids, as claude_find would find each: the names of the folders are read once, in the order in
 * which it looks into them. */

enum { NAME = CLAUDE_ID + sizeof CLAUDE_SUFFIX - 1 };

struct many {
    const struct claude *c;
    const struct slice *id;
    size_t n;
    struct session_ref *ref;
    struct idset wanted; /* an id's number is its first place in `first` */
    size_t *first;       /* in id and ref; in the arena */
    size_t missing;      /* of the wanted */
    struct arena *a;
    bool ok;
};

/* Ids that are named twice are looked for once. */
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
    if (!m->ref[i].store && claude_folder_has(m->c, folder, m->id[i], m->a, &m->ref[i], &m->ok))
        m->missing--;
}

static void take_name(struct many *m, struct slice folder, const char *name)
{
    struct slice id = { name, CLAUDE_ID };

    if (strlen(name) != NAME || strcmp(name + CLAUDE_ID, CLAUDE_SUFFIX) != 0 || !claude_is_uuid(id))
        return;
    uint32_t number = idset_find(&m->wanted, id128_of(id));

    if (number != IDSET_NONE)
        look_for(m, folder, m->first[number]);
}

/* One whose names cannot be read may still open its files to those who know them. */
static void search_folder(struct many *m, struct slice folder)
{
    char path[PATH_MAX];
    int n = snprintf(path, sizeof path, "%s/%s", m->c->projects, folder.p);
    DIR *dir = n > 0 && (size_t)n < sizeof path ? opendir(path) : NULL;
    const struct dirent *entry;
    bool whole = false;

    if (dir) {
        while (errno = 0, m->ok && m->missing && (entry = readdir(dir)))
            take_name(m, folder, entry->d_name);
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
