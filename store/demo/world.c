#include "store/demo/world.h"

#include <string.h>

#include "store/demo/script.h"

enum err_code world_init(struct world *w, struct err *e)
{
    memset(w, 0, sizeof *w);
    for (size_t i = 0; i < demo_source_count; i++) {
        const struct demo_source *s = &demo_sources[i];
        struct world_file *f = world_file(w, s->project, s->path);

        if (!f || world_write(f, slice_of(s->text))) {
            world_fini(w);
            return err_nomem(e);
        }
    }
    return ERR_OK;
}

void world_fini(struct world *w)
{
    for (size_t i = 0; i < w->n; i++)
        buf_fini(&w->file[i].text);
    w->n = 0;
}

struct world_file *world_file(struct world *w, const char *project, const char *path)
{
    for (size_t i = 0; i < w->n; i++)
        if (strcmp(w->file[i].project, project) == 0 && strcmp(w->file[i].path, path) == 0)
            return &w->file[i];
    if (w->n == WORLD_MAX)
        return NULL;
    w->file[w->n] = (struct world_file){ .project = project, .path = path };
    return &w->file[w->n++];
}

enum err_code world_edit(struct world_file *f, struct slice old, struct slice new, struct err *e)
{
    const char *at = f->text.n ? memmem(f->text.p, f->text.n, old.p, old.n) : NULL;

    if (!at)
        return err_set(e, ERR_FORMAT, f->path, "the demo edits text that is not there");
    struct buf after = { 0 };
    size_t before = (size_t)(at - f->text.p);

    if (buf_add(&after, (struct slice){ f->text.p, before }) || buf_add(&after, new) ||
        buf_add(&after, (struct slice){ at + old.n, f->text.n - before - old.n })) {
        buf_fini(&after);
        return err_nomem(e);
    }
    buf_fini(&f->text);
    f->text = after;
    return ERR_OK;
}

enum err_code world_write(struct world_file *f, struct slice text)
{
    struct buf fresh = { 0 };
    enum err_code rc = buf_add(&fresh, text);

    if (rc)
        return rc;
    buf_fini(&f->text);
    f->text = fresh;
    f->exists = true;
    return ERR_OK;
}
