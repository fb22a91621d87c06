#include <stdatomic.h>

#include "lite/base/time.h"
#include "lite/json/json.h"
#include "store/systems/cline/cline.h"
#include "store/systems/common/memory_rows.h"
#include "store/systems/common/usage_rows.h"

/* A row of a conversation is a message of the document on one line. */

static const char *const kinds[] = { "user", "assistant", NULL };
const struct index_keys cline_keys = { .type = "role", .id = "id", .kinds = kinds };

static enum err_code cline_judge_row(struct logfile *log, size_t line, struct message *m,
                                     bool *keep, struct err *e)
{
    const struct index_line *ix = &log->index.line[line];
    struct arena a = { 0 };
    struct slice row;

    (void)keep;
    m->kind = MESSAGE_OTHER;
    m->flags = MESSAGE_BROKEN;
    if (ix->state == LINE_BROKEN)
        return ERR_OK;
    enum err_code rc = logfile_row(log, line, &row, e);

    if (rc)
        return rc;
    m->flags = 0;
    m->time_ms = cline_time(row);
    m->kind = ix->kind == 2             ? MESSAGE_ASSISTANT
              : ix->kind != 1           ? MESSAGE_SYSTEM
              : cline_is_result(row)    ? MESSAGE_TOOL
              : cline_prompt(row, &a).n ? MESSAGE_USER
                                        : MESSAGE_SYSTEM;
    rc = a.failed ? err_nomem(e) : ERR_OK;
    arena_fini(&a);
    return rc;
}

static const struct jsonl_format rows = { .keys = &cline_keys, .judge = cline_judge_row };

enum err_code cline_load(const struct store *st, const struct session_ref *ref,
                         const atomic_bool *cancel, struct transcript **out, struct err *e)
{
    struct document_rows c;
    enum err_code rc = cline_chat_read(ref, DOCUMENT_MOST, &c, e);

    (void)st;
    if (rc)
        return err_wrap(e, rc, "load the conversation");
    rc = jsonl_load_bytes(&rows, ref, &c.lines, cancel, out, e);
    document_rows_fini(&c);
    return rc;
}

enum err_code cline_tail(const struct store *st, const struct session_ref *ref, size_t bytes,
                         const atomic_bool *cancel, struct transcript **out, struct err *e)
{
    (void)bytes;
    return cline_load(st, ref, cancel, out, e);
}

static void put_typed(struct block_list *b, struct slice text)
{
    struct slice typed = cline_typed(text, &b->arena);

    if (typed.n)
        transcript_block_put(b, (struct block){ .kind = BLOCK_PROMPT, .text = typed });
}

static void cline_put_note(struct block_list *b, struct slice text)
{
    transcript_block_put(b, (struct block){ .kind = BLOCK_NOTE, .text = text });
}

enum err_code cline_blocks(const struct store *st, struct slice row, struct block_list *out,
                           struct err *e)
{
    struct slice content;

    (void)st;
    if (!json_valid(row) || json_type(row) != JSON_OBJECT)
        transcript_block_put(out, (struct block){ .kind = BLOCK_RAW, .text = row });
    else if (json_get(row, "content", &content))
        content_blocks_put(out, content,
                           !cline_role_is(row, "user")        ? content_put_text
                           : cline_prompt(row, &out->arena).n ? put_typed
                                                              : cline_put_note);
    return out->arena.failed ? err_nomem(e) : ERR_OK;
}

/* ---- tokens: `metrics` of an answer, whose input contains what came from caches ---- */

struct spending {
    struct slice agent;
    struct arena arena; /* owns the texts of one row */
    usage_fn *fn;
    void *arg;
};

static const struct usage_members cline_tokens = { "inputTokens", "outputTokens", "cacheReadTokens",
                                                   "cacheWriteTokens", .includes_caches = true };

static enum err_code cline_add_row(struct slice row, void *arg, struct err *e)
{
    struct usage_record u = usage_record_empty();
    struct spending *s = arg;
    struct slice metrics, model;
    enum err_code rc = ERR_OK;

    if (json_valid(row) && json_get(row, "metrics", &metrics) &&
        json_type(metrics) == JSON_OBJECT && json_get_text(row, "id", &s->arena, &u.answer)) {

        u.request = u.answer;
        u.message = s->agent.n ? SLICE("") : u.answer;
        u.agent = s->agent;
        u.aside = s->agent.n > 0;
        usage_read_counts(&cline_tokens, metrics, &u);
        u.cost = usage_cost(metrics, "cost");
        u.time_ms = cline_time(row);
        if (json_at(row, "modelInfo.id", &model))
            json_text(model, &s->arena, &u.model);
        rc = s->arena.failed ? err_nomem(e) : s->fn(&u, s->arg, e);
    }
    arena_reset(&s->arena);
    return rc;
}

static enum err_code cline_walk(const struct session_ref *ref, struct spending *s, struct err *e)
{
    struct document_rows c;

    TRY(cline_chat_read(ref, DOCUMENT_MOST, &c, e));
    enum err_code rc = usage_rows_of_bytes(buf_slice(&c.lines), "\"metrics\"", cline_add_row, s, e);

    document_rows_fini(&c);
    return rc;
}

enum err_code cline_usage(const struct store *st, const struct session_ref *ref,
                          const atomic_bool *cancel, usage_fn *fn, void *arg, struct err *e)
{
    struct spending s = { .agent = SLICE(""), .fn = fn, .arg = arg };
    struct arena a = { 0 };
    struct session_ref agent;
    struct slice *ids = NULL;
    size_t n = 0;
    enum err_code rc = cline_walk(ref, &s, e);

    if (!rc)
        rc = cline_subagents(st, ref, &a, &ids, &n, e);
    for (size_t i = 0; i < n && !rc; i++) {
        s.agent = ids[i];
        if (cancel && atomic_load_explicit(cancel, memory_order_relaxed))
            rc = err_set(e, ERR_CANCELLED, ref->path.p, "read token usage");
        else if (!cline_subagent(st, ref, ids[i], &a, &agent, NULL))
            rc = cline_walk(&agent, &s, e);
        if (rc == ERR_NOT_FOUND || rc == ERR_IO || rc == ERR_UNSAFE)
            rc = ERR_OK; /* if one is gone, the others are still read */
    }
    arena_fini(&s.arena);
    arena_fini(&a);
    return rc;
}
