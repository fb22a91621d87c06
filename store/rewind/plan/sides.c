#include "store/rewind/plan/sides.h"

#include <string.h>
#include <unistd.h>

#include "store/rewind/plan/beneath.h"
#include "store/rewind/plan/look.h"

/* The root below which the file is reached: the session's directory, or / for what lies outside of it. */
static enum err_code open_root(const struct rewind_plan *plan, const char *path, int *fd,
                               const char **root, struct err *e)
{
    *root = rewind_is_inside(plan, path) ? plan->root : "/";
    enum err_code rc = beneath_root(*root, fd, e);

    if (rc != ERR_NOT_FOUND)
        return rc;
    *root = "/"; /* the session's directory is gone */
    return beneath_root(*root, fd, e);
}

static enum err_code too_large(const char *path, struct err *e)
{
    return err_set(e, ERR_UNSUPPORTED, path, "too large to be compared line by line");
}

enum err_code rewind_look(const struct rewind_plan *plan, const struct rewind_target *t,
                          struct look *out, struct err *e)
{
    const char *root;
    int fd;
    enum err_code rc = open_root(plan, t->path, &fd, &root, e);

    if (rc)
        return rc;
    rc = look_at(fd, root, t->path, t->real_parent, out, e);
    close(fd);
    return rc;
}

static enum err_code read_present_side(const struct rewind_plan *plan,
                                       const struct rewind_entry *entry, struct buf *out,
                                       struct err *e)
{
    const struct rewind_target *t = entry->target;
    struct look look = { 0 };
    enum err_code rc = rewind_look(plan, t, &look, e);

    if (!rc && look.rule)
        rc = err_set(e, ERR_FORMAT, t->path, "%s", look.why);
    if (!rc && (look.seen.exists != entry->seen.exists ||
                memcmp(look.seen.sha256, entry->seen.sha256, SHA256_BYTES) != 0))
        rc = err_set(e, ERR_STALE, t->path, "it changed since it was looked at");
    if (!rc && look.seen.exists && !look.present.held)
        rc = too_large(t->path, e);
    if (!rc && look.seen.exists) {
        *out = look.present.bytes;
        look.present.bytes = (struct buf){ 0 };
    }
    look_fini(&look);
    return rc;
}

static enum err_code read_wanted(const struct rewind_target *t, struct buf *out, struct err *e)
{
    struct source_content wanted = { 0 };
    enum err_code rc = t->want == REWIND_BYTES ? source_read(&t->source, NULL, &wanted, e) : ERR_OK;

    if (!rc && t->want == REWIND_BYTES && !wanted.held)
        rc = too_large(t->path, e);
    if (!rc) {
        *out = wanted.bytes;
        wanted.bytes = (struct buf){ 0 };
    }
    source_content_fini(&wanted);
    return rc;
}

enum err_code rewind_sides_read(const struct rewind_plan *plan, const struct rewind_entry *entry,
                                struct rewind_sides *out, struct err *e)
{
    struct rewind_sides s = { 0 };
    enum err_code rc = read_present_side(plan, entry, &s.present, e);

    if (!rc)
        rc = read_wanted(entry->target, &s.wanted, e);
    if (rc)
        rewind_sides_fini(&s);
    else
        *out = s;
    return rc;
}

void rewind_sides_fini(struct rewind_sides *s)
{
    buf_fini(&s->present);
    buf_fini(&s->wanted);
}
