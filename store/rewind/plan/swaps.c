#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lite/base/cleanup.h"
#include "store/rewind/plan/plan.h"
#include "store/rewind/plan/source.h"

/* Directories that go, and directories that take the place of a file or a link. Their contents are entries of their own:
 * a directory goes only if the same rewind deletes all that is in it, and a file is put into a directory that is not there
 * yet only if the same rewind makes it. */

enum { DEPTH_MAX = 128 }; /* as in a snapshot */

struct swaps {
    struct rewind_preview *preview;
    struct slice_set paths; /* The paths of the entries. */
    size_t *entry;          /* by the number of the path: the first entry that has it */
};

/* What the entry does, or will do if a person allows it. */
static enum rewind_action action_if_allowed(const struct rewind_entry *x)
{
    return rewind_may_consent(x) ? x->would : x->action;
}

static const struct rewind_entry *find_entry(const struct swaps *s, struct slice path)
{
    uint32_t number = slice_set_find(&s->paths, path);

    return number == SLICE_SET_NONE ? NULL : &s->preview->entry[s->entry[number]];
}

/* Sets *all to false if something in the directory stays. An empty directory in it has to be an entry, too. Closes the
 * descriptor. The path has n bytes, and those after it change. */
static enum err_code check_contents(const struct swaps *s, int fd, char path[PATH_MAX], size_t n,
                                    unsigned depth, bool *all, struct err *e)
{
    AUTO_DIR *dir = fdopendir(fd);
    bool any = false;

    if (!dir) {
        close_at(&fd);
        return err_sys(e, path, "read a directory");
    }
    for (const struct dirent *d; *all && (errno = 0, d = readdir(dir)) != NULL;) {
        if (strcmp(d->d_name, ".") == 0 || strcmp(d->d_name, "..") == 0)
            continue;
        size_t name_n = strlen(d->d_name);

        any = true;
        *all = n + name_n + 2 < PATH_MAX && depth < DEPTH_MAX;
        if (!*all)
            break;
        path[n] = '/';
        memcpy(path + n + 1, d->d_name, name_n + 1);
        const struct rewind_entry *x = find_entry(s, (struct slice){ path, n + 1 + name_n });
        int next =
            x ? -1 : openat(dirfd(dir), d->d_name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

        /* A directory that is an entry has a check of its own, so only others are looked into. */
        *all = x ? x->action == REWIND_DELETE : next >= 0;
        if (next >= 0)
            TRY(check_contents(s, next, path, n + 1 + name_n, depth + 1, all, e));
    }
    if (*all && errno)
        return err_sys(e, path, "read a directory");
    *all = *all && (any || find_entry(s, (struct slice){ path, n }));
    return ERR_OK;
}

static void refuse(struct rewind_entry *x, enum rewind_rule rule, const char *why)
{
    x->action = REWIND_REFUSED;
    x->rule = rule;
    x->why = why;
}

/* *again: another directory may contain this one, which now stays. */
static enum err_code check_dir_goes(const struct swaps *s, struct rewind_entry *x, bool *again,
                                    struct err *e)
{
    CLEANUP(rewind_inspected_fini) struct rewind_inspected look = { 0 };
    char path[PATH_MAX];
    size_t n = strlen(x->target->path);
    bool all = true;

    TRY(rewind_inspect(s->preview->plan, x->target, &look, e));
    int fd = look.is_open && S_ISDIR(look.seen.mode) ? fcntl(look.file.fd, F_DUPFD_CLOEXEC, 0) : -1;

    memcpy(path, x->target->path, n + 1); /* a path that was looked at is shorter than PATH_MAX */
    if (fd >= 0)
        TRY(check_contents(s, fd, path, n, 0, &all, e));
    if (fd >= 0 && all)
        return ERR_OK;
    refuse(x, REWIND_RULE_TYPE, "a directory that contains other files is there now");
    *again = true;
    return ERR_OK;
}

enum err_code rewind_check_swaps(struct rewind_preview *p, struct err *e)
{
    struct swaps s = { .preview = p };
    bool again = false;
    uint32_t number;
    enum err_code rc = ERR_OK;

    for (size_t i = 0; i < p->n && !again; i++)
        again = p->entry[i].behind || S_ISDIR(p->entry[i].seen.mode);
    if (!again)
        return ERR_OK;
    NEED(s.entry = arena_alloc(&p->arena, p->n * sizeof *s.entry));
    for (size_t i = 0, known = 0; i < p->n && !rc; i++, known = s.paths.n)
        if (slice_set_add(&s.paths, slice_of(p->entry[i].target->path), &number))
            rc = err_nomem(e);
        else if (s.paths.n > known)
            s.entry[number] = i;

    /* A directory that stays keeps those above it, so this is repeated until nothing changes. */
    while (again && !rc) {
        again = false;
        for (size_t i = 0; i < p->n && !rc; i++) {
            const enum rewind_action would = action_if_allowed(&p->entry[i]);

            if (S_ISDIR(p->entry[i].seen.mode) &&
                (would == REWIND_CREATE || would == REWIND_DELETE))
                rc = check_dir_goes(&s, &p->entry[i], &again, e);
        }
    }

    /* This is last, because a directory that was refused above is not made. */
    for (size_t i = 0; i < p->n && !rc; i++) {
        struct rewind_entry *x = &p->entry[i];
        const char *path = x->target->path;
        bool made = false;

        if (!x->behind || action_if_allowed(x) != REWIND_CREATE)
            continue;
        for (const char *slash = strrchr(path, '/'); slash > path && !made;) {
            const struct slice dir = { path, (size_t)(slash - path) };
            const struct rewind_entry *above = find_entry(&s, dir);

            made = above && above->action == REWIND_RESTORE && !above->mode_only &&
                   S_ISDIR(above->target->source.kind);
            for (slash--; slash > path && *slash != '/';)
                slash--;
        }
        if (!made)
            refuse(x, REWIND_RULE_LINK, "a link or file took the place of a parent directory");
    }
    slice_set_fini(&s.paths);
    return rc;
}
