#include "store/api/transcript.h"

#include <fcntl.h>
#include <stdlib.h>

#include "lite/io/file.h"
#include "lite/scan/index.h"

void transcript_free(struct transcript *t)
{
    if (!t)
        return;
    free(t->message);
    free(t->path);
    buf_fini(&t->bytes);
    free(t);
}

void transcript_set_end(struct transcript *t, const struct index *ix)
{
    const struct index_line *last = ix->n ? &ix->line[ix->n - 1] : NULL;

    t->torn_tail = ix->torn_tail;
    t->unfinished = ix->torn_tail && last && last->state == LINE_BROKEN;
    t->unfinished_at = t->unfinished ? last->offset : 0;
}

/* A line begins at the start of the file or after a newline, and ends at the end of the file or at
 * a newline. The bytes between are not compared: a row that was blanked in place is still that
 * row. */
static enum err_code read_line_at(const struct transcript *t, const struct message *m,
                                  const struct file *f, struct buf *out, struct err *e)
{
    size_t before = m->offset > 0, n = before + m->length + 1, got;

    if (f->id.dev != t->id.dev || f->id.ino != t->id.ino ||
        f->id.size < m->offset + (int64_t)m->length)
        return err_set(e, ERR_STALE, t->path, "read a row: the file was replaced or truncated");
    out->n = 0;
    enum err_code rc = buf_reserve(out, n);

    if (rc)
        return err_set(e, rc, t->path, "read a row of %zu bytes", n);
    rc = file_read(f, m->offset - (int64_t)before, out->p, n, &got, e);
    if (rc)
        return rc;
    bool whole = got == n ? out->p[n - 1] == '\n' : got == n - 1;

    if (!whole || (before && out->p[0] != '\n'))
        return err_set(e, ERR_STALE, t->path, "read a row: the line is no longer there");
    memmove(out->p, out->p + before, m->length);
    out->n = m->length;
    return ERR_OK;
}

enum err_code transcript_read(const struct transcript *t, size_t i, struct buf *out, struct err *e)
{
    struct file f;

    if (t->bytes.p) {
        const struct message *m = &t->message[i];

        out->n = 0;
        if ((uint64_t)m->offset + m->length > t->bytes.n)
            return err_set(e, ERR_STALE, t->path, "read a row: no such row");
        return buf_add(out, (struct slice){ t->bytes.p + m->offset, m->length }) ? err_nomem(e)
                                                                                 : ERR_OK;
    }
    enum err_code rc = file_open(AT_FDCWD, t->path, FILE_FOLLOW, &f, e);

    if (rc)
        return rc;
    rc = read_line_at(t, &t->message[i], &f, out, e);
    file_close(&f);
    return rc;
}

void transcript_page(const struct message_query *q, size_t n, size_t *from, size_t *to)
{
    bool limited = q->has_limit && q->limit > 0;
    int64_t count = (int64_t)n, first = q->offset, end = count;

    if (limited) {
        end = first > INT64_MAX - q->limit ? INT64_MAX : first + q->limit;
        if (first < 0)
            first = first + count < 0 ? 0 : first + count;
        if (end < 0)
            end = end + count < 0 ? 0 : end + count;
    } else if (first < 0) {
        first = 0;
    }
    *to = (size_t)(end < count ? end : count);
    *from = first < (int64_t)*to ? (size_t)first : *to;
}

enum err_code transcript_block_add(struct block_list *list, const struct block *b)
{
    if (list->n == list->cap) {
        size_t cap = list->cap ? 2 * list->cap : 8;
        struct block *more =
            cap > SIZE_MAX / sizeof *more ? NULL : arena_alloc(&list->arena, cap * sizeof *more);

        if (!more)
            return ERR_NOMEM;
        if (list->n)
            memcpy(more, list->block, list->n * sizeof *more);
        list->block = more;
        list->cap = cap;
    }
    list->block[list->n++] = *b;
    return ERR_OK;
}

void transcript_block_put(struct block_list *list, struct block b)
{
    if (transcript_block_add(list, &b))
        list->arena.failed = true;
}

void transcript_block_put_compaction(struct block_list *list, struct slice summary)
{
    transcript_block_put(list, (struct block){ .kind = BLOCK_SEAM,
                                               .text = SLICE("the conversation was compacted") });
    if (summary.n)
        transcript_block_put(
            list, (struct block){ .kind = BLOCK_NOTE, .name = SLICE("summary"), .text = summary });
}

void transcript_block_put_text(struct block_list *list, enum block_kind kind, struct slice text)
{
    if (text.n)
        transcript_block_put(list, (struct block){ .kind = kind, .text = text });
}

void transcript_blocks_fini(struct block_list *list)
{
    arena_fini(&list->arena);
    *list = (struct block_list){ 0 };
}
