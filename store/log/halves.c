#include "store/log/halves.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

/* Smaller files are done before a thread pays for itself; a line longer than the second number ends all
 * hope of a cut. */
enum { WORTH_IT = 512 * 1024, LOOK_FIRST = 16 * 1024, LOOK_FOR_END = 1024 * 1024 };

struct half {
    struct index index;
    struct file file; /* a view: shares the descriptor, may end earlier */
    const struct index_keys *keys;
    const atomic_bool *stop;
    unsigned flags;
    enum err_code rc;
    struct err e;
};

static void *work(void *arg)
{
    struct half *h = arg;

    h->rc = index_build(&h->index, &h->file, h->keys, h->flags, h->stop, &h->e);
    return NULL;
}

/* A place near the middle where a line begins; 0: none was found. */
static int64_t middle(const struct file *f)
{
    int64_t from = f->id.size / 2, cut = 0;
    char *p = malloc(LOOK_FOR_END);
    size_t seen = 0, got = 0;

    for (size_t want = LOOK_FIRST; p && !cut && want <= LOOK_FOR_END; want *= 8) {
        if (file_read(f, from + (int64_t)seen, p, want - seen, &got, NULL))
            break;
        const char *nl = memchr(p, '\n', got);

        seen += got;
        cut = nl ? from + (int64_t)(seen - got) + (nl - p) + 1 : 0;
    }
    free(p);
    return cut < f->id.size ? cut : 0;
}

static enum err_code join(struct index *ix, struct half *a, struct half *b, struct err *e)
{
    size_t n = a->index.n + b->index.n;
    struct index_line *line =
        n > SIZE_MAX / sizeof *line ? NULL : realloc(a->index.line, (n ? n : 1) * sizeof *line);

    if (!line)
        return err_set(e, ERR_NOMEM, "", "index lines");
    if (b->index.n)
        memcpy(line + a->index.n, b->index.line, b->index.n * sizeof *line);
    *ix = (struct index){ .line = line,
                          .n = n,
                          .cap = n ? n : 1,
                          .end = b->index.end,
                          .torn_tail = b->index.torn_tail,
                          .broken = a->index.broken + b->index.broken };
    a->index.line = NULL;
    return ERR_OK;
}

enum err_code halves_index(struct index *ix, const struct file *f, const struct index_keys *keys,
                           unsigned flags, const atomic_bool *stop, struct err *e)
{
    int64_t cut = f->id.size >= WORTH_IT ? middle(f) : 0;
    struct half a = { .file = *f, .keys = keys, .flags = flags, .stop = stop }, b = a;
    pthread_t thread;

    a.file.id.size = b.index.end = cut;
    if (cut == 0 || pthread_create(&thread, NULL, work, &b) != 0)
        return index_build(ix, f, keys, flags, stop, e);
    work(&a);
    pthread_join(thread, NULL);
    const struct half *failed = a.rc ? &a : &b;
    enum err_code rc = failed->rc;

    if (rc && e)
        *e = failed->e;
    /* A file that was cut while it was read: the first half does not end where the second begins. */
    if (!rc && a.index.end != cut)
        rc = err_set(e, ERR_STALE, "", "index lines: the file became shorter");
    if (!rc)
        rc = join(ix, &a, &b, e);
    index_fini(&a.index);
    index_fini(&b.index);
    return rc;
}
