#include <dirent.h>
#include <string.h>
#include <sys/stat.h>

#include "store/api/finding.h"
#include "store/api/leftover.h"
#include "store/fs/disk_usage.h"
#include "store/systems/claude/claude.h"
#include "store/systems/claude/list/discover.h"

/* What lies in a store and belongs to no session (leftovers.c), and files in which none ever began. */

struct store_look {
    const struct claude *c;
    finding_fn *fn;
    void *arg;
    struct arena arena; /* for one entry */
};

static enum err_code report_orphan(struct store_look *l, enum finding_kind kind, struct slice id,
                                   const char *path, const char *why, struct err *e)
{
    struct finding f = { .kind = kind, .session = id, .path = path, .why = why };

    return why ? l->fn(&f, l->arg, e) : err_nomem(e);
}

/* ---- what sessions left behind ---- */

static bool is_saved_copies(const struct store_look *l, const char *path)
{
    static const char dir[] = "/file-history/";
    size_t n = strlen(l->c->base.path);

    return strncmp(path, l->c->base.path, n) == 0 && strncmp(path + n, dir, sizeof dir - 1) == 0;
}

static enum err_code report_orphan_parts(const struct leftover *left, void *arg, struct err *e)
{
    struct store_look *l = arg;
    enum err_code rc = ERR_OK;

    for (size_t i = 0; i < left->parts && !rc; i++) {
        const char *path = left->part[i];
        struct disk_usage w = { 0 };

        arena_reset(&l->arena);
        rc = disk_usage_add(path, &w, e);
        if (!rc)
            rc = report_orphan(
                l, is_saved_copies(l, path) ? FINDING_ORPHAN_BACKUPS : FINDING_ORPHAN_FOLDER,
                left->id, path,
                arena_format(&l->arena,
                             "the session's transcript is gone; %lld file%s, %lld bytes are "
                             "left (see: sweep --orphans)",
                             (long long)w.files, w.files == 1 ? "" : "s", (long long)w.bytes),
                e);
    }
    return rc;
}

/* That something cannot be told is a finding too, and no reason to stop. */
static enum err_code look_for_leftovers(struct store_look *l, const struct scope *scope, struct err *e)
{
    struct err why = { 0 };
    enum err_code rc = claude_leftovers(&l->c->base, scope, report_orphan_parts, l, &why);
    char line[400];

    if (rc == ERR_IO) {
        const char *path = why.path;
        struct err text = why;

        text.path[0] = '\0';
        err_format(&text, line, sizeof line);
        return report_orphan(l, FINDING_UNREADABLE, SLICE(""), path, line, e);
    }
    if (rc && e)
        *e = why;
    return rc;
}

/* ---- empty files ---- */

/* A transcript without a byte is in no list; the agent made it and never wrote to it. */
static enum err_code check_file(struct store_look *l, const char *dir, const char *name, struct err *e)
{
    struct slice id = { name, CLAUDE_ID };
    struct stat st;

    arena_reset(&l->arena);
    if (strlen(name) < CLAUDE_ID || strcmp(name + CLAUDE_ID, CLAUDE_SUFFIX) != 0 ||
        !claude_is_uuid(id))
        return ERR_OK;
    const char *path = arena_format(&l->arena, "%s/%s", dir, name);

    if (!path)
        return err_nomem(e);
    if (lstat(path, &st) != 0 || !S_ISREG(st.st_mode) || st.st_size > 0)
        return ERR_OK;
    return report_orphan(l, FINDING_HIDDEN, id, path, "no list shows it: the file is empty", e);
}

/* A folder that is not there or cannot be read has none to tell of. */
static enum err_code check_folder(struct store_look *l, const char *path, struct err *e)
{
    DIR *dir = opendir(path);
    struct dirent *entry;
    enum err_code rc = ERR_OK;

    while (!rc && dir && (entry = readdir(dir)))
        rc = check_file(l, path, entry->d_name, e);
    if (dir)
        closedir(dir);
    return rc;
}

enum err_code claude_check_store(const struct store *st, const struct scope *scope, finding_fn *fn,
                                 void *arg, struct err *e)
{
    struct store_look l = { .c = claude_of(st), .fn = fn, .arg = arg };
    struct project_folders list;
    struct arena a = { 0 };
    enum err_code rc = claude_folders(l.c, scope, DISCOVER_LIST, &a, &list, e);

    for (size_t i = 0; !rc && i < list.n; i++) {
        const char *path = arena_format(&a, "%s/%s", l.c->projects, list.folder[i].name.p);

        rc = path ? check_folder(&l, path, e) : err_nomem(e);
    }
    if (!rc)
        rc = look_for_leftovers(&l, scope, e);
    arena_fini(&l.arena);
    arena_fini(&a);
    return rc;
}
