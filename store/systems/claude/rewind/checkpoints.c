#include <string.h>
#include <sys/stat.h>

#include "lite/base/cleanup.h"
#include "store/api/checkpoint.h"
#include "store/rewind/diff/linediff.h"
#include "store/rewind/plan/source.h"
#include "store/systems/claude/claude.h"
#include "store/systems/claude/rewind/planner.h"

/* The checkpoints of a session, and the files that each turn changed. */

enum err_code planner_shell(struct planner *p, size_t from, size_t to, size_t *n, struct err *e)
{
    AUTO_BUF row = { 0 };

    *n = 0;
    for (size_t i = from; i < to; i++) {
        CLEANUP(transcript_blocks_fini) struct block_list blocks = { .n = 0 };
        bool shell = false;

        if (p->transcript->message[i].kind != MESSAGE_ASSISTANT)
            continue;
        TRY(transcript_read(p->transcript, i, &row, e));
        TRY(claude_blocks(&p->claude->base, buf_slice(&row), &blocks, e));
        for (size_t k = 0; k < blocks.n && !shell; k++)
            shell = blocks.block[k].kind == BLOCK_TOOL_CALL &&
                    slice_eq(blocks.block[k].name, SLICE("Bash"));
        *n += shell;
    }
    return ERR_OK;
}

/* A copy that cannot be read is no other's; ERR_NOMEM only. */
static enum err_code compare_copies(struct planner *p, const char *a, const char *b, bool *same,
                                    struct err *e)
{
    struct rewind_source s = { .file = planner_backup(p, a) };
    struct rewind_source t = { .file = planner_backup(p, b) };
    struct source_content x = { 0 }, y = { 0 };
    struct err ignored;
    enum err_code rc = s.file && t.file ? ERR_OK : ERR_NOMEM;

    if (!rc)
        rc = source_read(&s, NULL, &x, &ignored);
    if (!rc)
        rc = source_read(&t, NULL, &y, &ignored);
    *same = !rc && source_content_same(&x, &y);
    source_content_fini(&x);
    source_content_fini(&y);
    return rc == ERR_NOMEM ? err_nomem(e) : ERR_OK;
}

/* An entry that is stale only at the second turn was edited in the first. The content at a stale one is not known; a
 * turn that changed it further would have saved it.
 *
 * A client that was started again after a compaction does not know what it saved before, and so saves a file that it is
 * about to edit once more: only the bytes show whether the first turn changed it. */
static enum err_code compare_entries(struct planner *p, const struct file_history_entry *a,
                                     const struct file_history_entry *b, bool *same, struct err *e)
{
    if (!a || a->stale || !b || !a->backup || !b->backup || b->stale) {
        *same = a && (a->stale || (b && !b->stale && !a->backup == !b->backup));
        return ERR_OK;
    }
    *same = strcmp(a->backup, b->backup) == 0;
    if (*same || !b->touched || !a->valid || !b->valid)
        return ERR_OK;
    return compare_copies(p, a->backup, b->backup, same, e);
}

/* Counts the files that the turn changed: entries that differ at the next checkpoint; in the newest
 * turn, files written since. */
static enum err_code count_changed(struct planner *p, size_t turn, size_t *n, struct err *e)
{
    const struct file_history *h = &p->history;

    *n = 0;
    if (turn + 1 == h->n) {
        for (size_t i = 0; i < p->writes; i++)
            *n += p->write[i].message >= h->turn[turn].message;
        return ERR_OK;
    }
    for (size_t i = 0; i < h->paths; i++) {
        bool same;

        TRY(compare_entries(p, file_history_at(h, turn, h->path[i]),
                            file_history_at(h, turn + 1, h->path[i]), &same, e));
        *n += !same;
    }
    return ERR_OK;
}

static const char *claude_why_not(struct planner *p, size_t turn)
{
    const struct file_history *h = &p->history;
    struct stat st;

    if (h->turn[turn].lost)
        return planner_lost_turn;
    for (size_t i = 0; i < h->turn[turn].n; i++) {
        const struct file_history_entry *entry = &h->turn[turn].entry[i];
        const char *path = entry->backup && entry->valid ? planner_backup(p, entry->backup) : NULL;

        if (path && lstat(path, &st))
            return "the saved copies of this point are gone (clients keep the last 100)";
    }
    return NULL;
}

static enum err_code read_prompt_text(struct planner *p, size_t message, struct arena *a,
                                      struct slice *out, struct err *e)
{
    AUTO_BUF row = { 0 };
    CLEANUP(transcript_blocks_fini) struct block_list blocks = { .n = 0 };

    TRY(transcript_read(p->transcript, message, &row, e));
    TRY(claude_blocks(&p->claude->base, buf_slice(&row), &blocks, e));
    for (size_t i = 0; i < blocks.n && !out->p; i++)
        if (blocks.block[i].kind == BLOCK_PROMPT || blocks.block[i].kind == BLOCK_COMMAND)
            NEED((*out = arena_copy(a, blocks.block[i].text)).p);
    return ERR_OK;
}

static enum err_code claude_add_checkpoint(struct planner *p, size_t turn,
                                           struct checkpoint_list *list, struct err *e)
{
    const struct file_history *h = &p->history;
    const struct file_history_turn *t = &h->turn[turn];
    size_t next = turn + 1 < h->n ? h->turn[turn + 1].message : p->transcript->n, shell;
    struct checkpoint *c = &list->checkpoint[list->n++];

    *c = (struct checkpoint){ .id = arena_copy(&list->arena, t->id),
                              .time_ms = t->time_ms,
                              .kind = CHECKPOINT_TURN,
                              .why = claude_why_not(p, turn) };
    c->message = c->id;
    NEED(c->id.p);
    TRY(read_prompt_text(p, t->message, &list->arena, &c->prompt, e));
    TRY(count_changed(p, turn, &c->files, e));
    TRY(planner_shell(p, t->message, next, &shell, e));
    c->shell = shell > 0;
    return ERR_OK;
}

enum err_code claude_checkpoints(const struct store *st, const struct session_ref *ref,
                                 struct checkpoint_list *out, struct err *e)
{
    CLEANUP(planner_close) struct planner p = { .ref = NULL };
    CLEANUP(checkpoint_list_fini) struct checkpoint_list list = { 0 };

    TRY(planner_open(&p, st, ref, e));
    NEED(list.checkpoint = arena_zalloc(&list.arena, sizeof *list.checkpoint * (p.history.n + 1)));
    for (size_t i = 0; i < p.history.n; i++)
        TRY(claude_add_checkpoint(&p, i, &list, e));
    HAND_OVER(out, list);
    return ERR_OK;
}

/* ---- lines ---- */

/* The copies of one file at a turn's checkpoint and at the next. */
struct counting {
    struct planner *planner;
    struct source_content before, after;
};

static void counting_fini(struct counting *k)
{
    source_content_fini(&k->before);
    source_content_fini(&k->after);
}

/* A copy that cannot be read counts as empty: these numbers are only shown. */
static enum err_code claude_read_backup(struct counting *k, const struct file_history_entry *entry,
                                        struct source_content *out, struct err *e)
{
    struct rewind_source s = { 0 };
    struct err ignored;

    out->bytes.n = 0;
    if (!entry || !entry->backup || !entry->valid)
        return ERR_OK;
    s.file = planner_backup(k->planner, entry->backup);
    enum err_code rc = s.file ? source_read(&s, NULL, out, &ignored) : ERR_NOMEM;

    if (rc || !out->held)
        out->bytes.n = 0;
    return rc == ERR_NOMEM ? err_nomem(e) : ERR_OK;
}

static enum err_code count_texts(struct counting *k, struct slice after, struct checkpoint *c,
                                 struct err *e)
{
    unsigned insertions = 0, deletions = 0;
    bool binary;

    TRY(linediff_count(buf_slice(&k->before.bytes), after, &insertions, &deletions, &binary, e));
    if (!binary) {
        c->insertions += insertions;
        c->deletions += deletions;
    }
    return ERR_OK;
}

static enum err_code count_entry(struct counting *k, const struct file_history_entry *from,
                                 const struct file_history_entry *to, struct checkpoint *c,
                                 struct err *e)
{
    bool same;

    TRY(compare_entries(k->planner, from, to, &same, e));
    if (same)
        return ERR_OK;
    TRY(claude_read_backup(k, from, &k->before, e));
    if (to && to->stale)
        return ERR_OK;
    c->removed += from && from->backup && to && !to->backup;
    TRY(claude_read_backup(k, to, &k->after, e));
    return count_texts(k, buf_slice(&k->after.bytes), c, e);
}

/* Counts the newest turn: the writes of the session's own tools since, as far as they are known. */
static enum err_code count_newest(struct counting *k, size_t turn, struct checkpoint *c,
                                  struct err *e)
{
    const struct file_history *h = &k->planner->history;

    for (size_t i = 0; i < h->paths; i++) {
        const char *path = planner_path(k->planner, h->path[i]);
        const struct planner_write *w = path ? planner_last_write(k->planner, path) : NULL;

        if (!w || !w->known || w->message < h->turn[turn].message)
            continue;
        TRY(claude_read_backup(k, file_history_at(h, turn, h->path[i]), &k->before, e));
        TRY(count_texts(k, w->bytes, c, e));
    }
    return ERR_OK;
}

static enum err_code count_history_turn(struct counting *k, size_t turn, struct checkpoint *c,
                                        struct err *e)
{
    const struct file_history *h = &k->planner->history;

    if (turn + 1 == h->n)
        return count_newest(k, turn, c, e);
    for (size_t i = 0; i < h->paths; i++)
        TRY(count_entry(k, file_history_at(h, turn, h->path[i]),
                        file_history_at(h, turn + 1, h->path[i]), c, e));
    return ERR_OK;
}

/* The turns are those of the list, unless the session was continued meanwhile; nothing is then filled in. */
static bool is_turn(const struct planner *p, size_t turn, const struct checkpoint_list *list)
{
    return turn < list->n && slice_eq(p->history.turn[turn].id, list->checkpoint[turn].id);
}

enum err_code claude_count_lines(const struct store *st, const struct session_ref *ref,
                                 const atomic_bool *cancel, struct checkpoint_list *list,
                                 struct err *e)
{
    CLEANUP(planner_close) struct planner p = { .ref = NULL };
    CLEANUP(counting_fini) struct counting k = { .planner = &p };

    TRY(planner_open(&p, st, ref, e));
    for (size_t i = 0; i < p.history.n && is_turn(&p, i, list); i++) {
        struct checkpoint *c = &list->checkpoint[i];

        if (cancel && atomic_load(cancel))
            return err_set(e, ERR_CANCELLED, ref->path.p, "count lines");
        if (c->why)
            continue;
        c->insertions = c->deletions = c->removed = 0;
        c->counted = false;
        TRY(count_history_turn(&k, i, c, e));
        c->counted = true;
    }
    return ERR_OK;
}
