#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "lite/base/cleanup.h"
#include "lite/base/id.h"
#include "store/api/finding.h"
#include "store/fs/disk.h"
#include "store/fs/path.h"
#include "store/systems/claude/claude.h"
#include "store/systems/claude/list/discover.h"

/* Finds files in a store that no longer belong to a session: the agent's own cleanup and its delete
 * leave side folders and saved copies behind (claude.md 5.2).
 *
 * A missing transcript is proof only if the whole store was searched: every folder must be
 * readable, and at least one transcript must exist (an unmounted disk looks like a store that lost
 * all of them). */

struct found {
    struct leftover left;
    bool copies; /* some of the parts are saved copies of files */
};

struct look {
    const struct claude *c;
    struct arena arena;
    struct idset there; /* ids that have a transcript, whatever it contains */
    struct idset ids;   /* the ids of the leftovers, numbered as in `found` */
    struct found *found;
    struct idset parents; /* sessions from which others were forked */
    bool unsure;          /* the parent of some session is not known */
};

/* ---- transcripts ---- */

/* The name is enough: an empty file is a session that is about to begin. */
static enum err_code note_transcripts(struct idset *ids, const char *path, struct err *e)
{
    DIR *dir = opendir(path);
    struct dirent *entry;
    uint32_t number;
    enum err_code rc = ERR_OK;

    if (!dir)
        return errno == ENOTDIR || errno == ENOENT
                   ? ERR_OK
                   : err_sys(e, path, "look for transcripts (every folder has to be readable)");
    while (!rc && (errno = 0, entry = readdir(dir)))
        if (claude_is_transcript_name(entry->d_name) &&
            idset_add(ids, id128_of((struct slice){ entry->d_name, CLAUDE_ID }), &number))
            rc = err_nomem(e);
    if (!rc && errno)
        rc = err_sys(e, path, "look for transcripts (every folder has to be readable)");
    closedir(dir);
    return rc;
}

/* Searches every folder that may contain a transcript, including links to folders. */
enum err_code claude_transcript_ids(const struct claude *c, struct idset *ids, struct err *e)
{
    DIR *dir = opendir(c->projects);
    struct arena a = { 0 };
    struct dirent *entry;
    enum err_code rc = ERR_OK;

    if (!dir)
        return errno == ENOENT ? ERR_OK : err_sys(e, c->projects, "look for transcripts");
    while (!rc && (errno = 0, entry = readdir(dir))) {
        const char *path = arena_format(&a, "%s/%s", c->projects, entry->d_name);

        if (entry->d_name[0] != '.')
            rc = path ? note_transcripts(ids, path, e) : err_nomem(e);
        arena_reset(&a);
    }
    if (!rc && errno)
        rc = err_sys(e, c->projects, "look for transcripts");
    closedir(dir);
    arena_fini(&a);
    return rc;
}

/* Transcripts that are too deep for every list: the parts of such a session are still needed (store_ops.place). */
static enum err_code note_deep_transcript(const char *path, void *arg, struct err *e)
{
    const char *name = strrchr(path, '/') + 1;
    struct idset *ids = arg;
    uint32_t number;

    NEED(!claude_is_transcript_name(name) ||
         !idset_add(ids, id128_of((struct slice){ name, CLAUDE_ID }), &number));
    return ERR_OK;
}

/* ---- parts without a transcript ---- */

/* The places of parts, and the suffixes of their names. */
struct leftover_dir {
    const char *dir; /* below the configuration directory; NULL: a project's folder */
    /* the end of the names of files, after the id and possibly more; empty: directories named after the id */
    const char *suffix;
};

/* clang-format off */
static const struct leftover_dir beside[] = {
    { NULL, "" }, { NULL, ".ccr-tip.json" }, { NULL, ".precompact.json" }, { NULL, ".dir-sync.json" },
};
static const struct leftover_dir elsewhere[] = {
    { "file-history", "" }, { "tasks", "" }, { "session-env", "" }, { "todos", ".json" }, { "debug", ".txt" },
};
/* clang-format on */
enum { BESIDE = sizeof beside / sizeof *beside, ELSEWHERE = sizeof elsewhere / sizeof *elsewhere };

static bool ends_with(const char *name, const char *suffix)
{
    size_t n = strlen(name), k = strlen(suffix);

    return n >= CLAUDE_ID + k && strcmp(name + n - k, suffix) == 0;
}

static bool claude_is_part(const struct leftover_dir *spot, const char *name, const char *path)
{
    struct stat sb;

    if (!*spot->suffix)
        return name[CLAUDE_ID] == '\0' && path_is_real_dir(path);
    return (spot->dir ? ends_with(name, spot->suffix)
                      : strcmp(name + CLAUDE_ID, spot->suffix) == 0) &&
           lstat(path, &sb) == 0 && S_ISREG(sb.st_mode);
}

static enum err_code claude_add_part(struct look *l, struct slice id, struct slice folder,
                                     const char *path, bool copies, struct err *e)
{
    size_t n = l->ids.n;
    uint32_t number;

    /* The leftover of this id, added if it is new. */
    NEED(!idset_add(&l->ids, id128_of(id), &number));
    if (number == n) {
        struct found added = { .left = { .id = arena_copy(&l->arena, id),
                                         .folder = arena_copy(&l->arena, folder) } };
        struct found *list = arena_grow(&l->arena, l->found, n, sizeof *list);

        NEED(list && added.left.id.p && added.left.folder.p);
        l->found = list;
        l->found[n] = added;
    }
    struct found *f = &l->found[number];
    const char **more = arena_grow(&l->arena, (void *)f->left.part, f->left.parts, sizeof *more);

    NEED(more);
    f->left.part = more;
    f->left.part[f->left.parts++] = path;
    f->copies |= copies;
    return ERR_OK;
}

/* The search of one directory for the parts of one row of the tables; known: only for ids that already have a
 * leftover. */
struct round {
    const struct leftover_dir *spot;
    const char *path;
    struct slice folder;
    bool known;
};

static enum err_code claude_search_dir(struct look *l, const struct round *r, struct err *e)
{
    DIR *dir = opendir(r->path);
    struct dirent *entry;
    enum err_code rc = ERR_OK;

    while (!rc && dir && (errno = 0, entry = readdir(dir))) {
        struct slice id = { entry->d_name, CLAUDE_ID };

        if (strlen(entry->d_name) < CLAUDE_ID || !claude_is_uuid(id) ||
            idset_has(&l->there, id128_of(id)) || (r->known && !idset_has(&l->ids, id128_of(id))))
            continue;
        const char *path = arena_format(&l->arena, "%s/%s", r->path, entry->d_name);
        bool copies = r->spot == &elsewhere[0];

        if (!path)
            rc = err_nomem(e);
        else if (claude_is_part(r->spot, entry->d_name, path))
            rc = claude_add_part(l, id, r->folder, path, copies, e);
    }
    if (!rc && dir && errno)
        rc = err_sys(e, r->path, "look for what is left");
    if (dir)
        closedir(dir);
    return rc;
}

/* ---- what still needs them ---- */

/* The saved copies of a fork may still be in the directory of the session from which it was made. */
static bool note_parent(const struct session_ref *ref, void *arg)
{
    const struct scope everywhere = { .all = true };
    struct look *l = arg;
    struct session_row *row = session_row_new();
    uint32_t number;
    bool ok = row != NULL;

    if (ok && (claude_describe(&l->c->base, &everywhere, ref, row, NULL) ||
               row->hidden == HIDDEN_UNREADABLE))
        l->unsure = true;
    else if (ok && row->parent_id.n)
        ok = idset_add(&l->parents, id128_of(row->parent_id), &number) == ERR_OK;
    session_row_free(row);
    l->unsure |= !ok;
    return ok;
}

static const char *why_it_stays(const struct look *l, const struct found *f,
                                const struct live_table *live)
{
    struct live now = live_of(live, f->left.id);

    if (now.state != LIVE_QUIET)
        return now.why;
    if (f->copies && idset_has(&l->parents, id128_of(f->left.id)))
        return "a fork of that session may need its saved copies of files";
    if (f->copies && l->unsure)
        return "a session that cannot be read may be a fork that needs it";
    return NULL;
}

static enum err_code report_leftovers(struct look *l, leftover_fn *fn, void *arg, struct err *e)
{
    struct live_table live;
    enum err_code rc = live_read(l->c->base.path, &live, e);

    if (rc)
        return rc;
    for (size_t i = 0; i < l->ids.n && !rc; i++) {
        l->found[i].left.stays = why_it_stays(l, &l->found[i], &live);
        rc = fn(&l->found[i].left, arg, e);
    }
    live_fini(&live);
    return rc;
}

enum err_code claude_leftovers(const struct store *st, const struct scope *scope, leftover_fn *fn,
                               void *arg, struct err *e)
{
    struct look l = { .c = claude_of(st) };
    enum err_code rc = claude_transcript_ids(l.c, &l.there, e);

    if (!rc)
        rc = path_each_file(l.c->projects, MISPLACED_DEPTH, note_deep_transcript, &l.there, e);
    if (!rc && l.there.n > 0) {
        struct project_folders list;

        rc = claude_folders(l.c, scope, DISCOVER_LIST, &l.arena, &list, e);
        for (size_t i = 0; !rc && i < list.n; i++) {
            const char *path =
                arena_format(&l.arena, "%s/%s", l.c->projects, list.folder[i].name.p);

            if (!path)
                rc = err_nomem(e);
            for (size_t k = 0; !rc && k < BESIDE; k++)
                rc = claude_search_dir(
                    &l, &(struct round){ &beside[k], path, list.folder[i].name, false }, e);
        }

        if (!rc) {
            /* These parts are named after the id alone: only the parts beside its transcript show which project a
             * session belonged to. */
            for (size_t k = 0; !rc && k < ELSEWHERE; k++) {
                const char *path =
                    arena_format(&l.arena, "%s/%s", l.c->base.path, elsewhere[k].dir);

                rc = path ? claude_search_dir(
                                &l, &(struct round){ &elsewhere[k], path, SLICE(""), !scope->all },
                                e)
                          : err_nomem(e);
            }
        }
        if (!rc) {
            const struct scope everywhere = { .all = true };
            bool copies = false;

            for (size_t i = 0; i < l.ids.n; i++)
                copies |= l.found[i].copies;
            rc = copies ? claude_enumerate(&l.c->base, &everywhere, note_parent, &l, e) : ERR_OK;
        }
        if (!rc)
            rc = report_leftovers(&l, fn, arg, e);
    }
    idset_fini(&l.there);
    idset_fini(&l.ids);
    idset_fini(&l.parents);
    arena_fini(&l.arena);
    return rc;
}

/* ---- the parts of a session ---- */

/* Everything that is named after the session's id. The SDK's own delete removes only the first two, the transcript and
 * its side folder; file history, tasks and the rest remain forever (claude.md 5.2, 8). They also belong to copies of the
 * session in other folders, and stay as long as there is one. */

static bool stop_at_other_copy(const struct session_ref *ref, void *arg)
{
    const struct session_ref **copy = arg;
    AUTO_FREE char *path = realpath(ref->path.p, NULL), *own = realpath((*copy)->path.p, NULL);

    if (slice_eq(ref->path, (*copy)->path) || (path && own && strcmp(path, own) == 0))
        return true;
    *copy = NULL;
    return false;
}

enum err_code claude_parts(const struct store *st, const struct session_ref *ref, bool all,
                           struct arena *a, const char ***part, size_t *n, struct err *e)
{
    const struct slice path = ref->path, id = ref->id;
    const struct slice stem = { path.p, path.n - (sizeof CLAUDE_SUFFIX - 1) };
    const char **list = arena_alloc(a, (BESIDE + ELSEWHERE + 2) * sizeof *list);
    const struct scope everywhere = { .all = true };
    const struct session_ref *only = ref;
    size_t parts = 0;

    if (!list)
        return err_nomem(e);
    /* The id becomes part of file names. */
    if (!claude_is_uuid(ref->id))
        return err_set(e, ERR_UNSAFE, ref->path.p,
                       "list the parts of a session: its id is not a plain name");
    if (all && claude_find_each(st, &everywhere, id, stop_at_other_copy, &only, e))
        return err_nomem(e);
    list[parts++] = arena_copy(a, path).p;
    for (size_t i = 0; i < (all ? BESIDE : 1); i++)
        list[parts++] = arena_format(a, "%.*s%s", SLICE_ARG(stem), beside[i].suffix);
    for (size_t i = 0; all && only && i < ELSEWHERE; i++)
        list[parts++] = arena_format(a, "%s/%s/%.*s%s", st->path, elsewhere[i].dir, SLICE_ARG(id),
                                     elsewhere[i].suffix);
    if (all && only)
        list[parts++] = arena_format(a, "%s/todos/%.*s-agent-%.*s.json", st->path, SLICE_ARG(id),
                                     SLICE_ARG(id));
    for (size_t i = 0; i < parts; i++)
        if (!list[i])
            return err_nomem(e);
    *part = list;
    *n = parts;
    return ERR_OK;
}

/* Findings about the whole store: leftovers, and files in which no session ever began. */

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

/* ---- findings ---- */

static enum err_code report_orphan_parts(const struct leftover *left, void *arg, struct err *e)
{
    struct store_look *l = arg;
    enum err_code rc = ERR_OK;

    for (size_t i = 0; i < left->parts && !rc; i++) {
        const char *path = left->part[i];
        struct disk_usage w = { 0 };

        arena_reset(&l->arena);
        rc = disk_usage_add(path, &w, e);
        if (!rc) {
            static const char dir[] = "/file-history/";
            size_t n = strlen(l->c->base.path);

            rc = report_orphan(
                l,
                (strncmp(path, l->c->base.path, n) == 0 &&
                 strncmp(path + n, dir, sizeof dir - 1) == 0)
                    ? FINDING_ORPHAN_BACKUPS
                    : FINDING_ORPHAN_FOLDER,
                left->id, path,
                arena_format(&l->arena,
                             "the session's transcript is gone; %lld file%s, %lld bytes are "
                             "left (see: sweep --orphans)",
                             (long long)w.files, w.files == 1 ? "" : "s", (long long)w.bytes),
                e);
        }
    }
    return rc;
}

/* If leftovers cannot be determined, that is also reported as a finding, and the search continues. */
static enum err_code look_for_leftovers(struct store_look *l, const struct scope *scope,
                                        struct err *e)
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

/* A folder that is missing or cannot be read has no findings. */
static enum err_code claude_check_folder(struct store_look *l, const char *path, struct err *e)
{
    AUTO_DIR *dir = opendir(path);
    const struct dirent *entry;
    const char *file;
    struct stat st;

    while (dir && (entry = readdir(dir))) {
        arena_reset(&l->arena);
        if (!claude_is_transcript_name(entry->d_name))
            continue;
        NEED(file = arena_format(&l->arena, "%s/%s", path, entry->d_name));

        /* An empty transcript is never listed; the agent created it and never wrote to it. */
        if (lstat(file, &st) == 0 && S_ISREG(st.st_mode) && st.st_size == 0)
            TRY(report_orphan(l, FINDING_HIDDEN, (struct slice){ entry->d_name, CLAUDE_ID }, file,
                              "no list shows it: the file is empty", e));
    }
    return ERR_OK;
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

        rc = path ? claude_check_folder(&l, path, e) : err_nomem(e);
    }

    if (!rc)
        rc = look_for_leftovers(&l, scope, e);
    arena_fini(&l.arena);
    arena_fini(&a);
    return rc;
}
