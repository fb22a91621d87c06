#include "lite/base/time.h"
#include "lite/json/json.h"
#include "store/systems/codex/codex.h"
#include "store/systems/codex/rollout.h"
#include "store/systems/common/usage_rows.h"

/* The tokens of each answer are in a separate row, token_usage_record. Older threads have only
 * running totals, token_count, which are repeated when something else in their row changes. Rows of
 * both kinds describe the same answers, so the totals are used only until the first record. */

struct walk {
    usage_fn *fn;
    void *arg;
    struct slice thread, agent;
    struct arena arena, scratch; /* own the texts of the thread; those of one row */
    struct slice model, message; /* those that the rows above name */
    struct slice prompt, root;   /* the last prompt; the oldest thread whose rows this one copied */
    int64_t total;               /* the total of the newest row with totals */
    bool records;
    struct codex_copies copies;
};

/* output_tokens includes the tokens of the thinking. */
static const struct usage_members codex_tokens = { "input_tokens", "output_tokens",
                                                   "cached_input_tokens",
                                                   "cache_write_input_tokens",
                                                   .includes_caches = true };

static bool read_totals(struct walk *w, const struct codex_row *row, struct usage_record *u)
{
    struct slice info, usage, sum;
    int64_t before = w->total;

    if (w->records || !json_get(row->payload, "info", &info) ||
        !json_get(info, "last_token_usage", &usage) || !json_get(info, "total_token_usage", &sum))
        return false;
    w->total = usage_count(sum, "total_tokens");
    if (w->total == before)
        return false;
    usage_read_counts(&codex_tokens, usage, u);
    u->answer = info;

    /* Old versions copied the rows of a thread to its forks, with new times. So an answer is
     * known by its totals, its prompt and the thread that all the copies come from. */
    const struct slice part[] = { w->root, SLICE("\n"), w->prompt };
    const char *both = arena_concat(&w->scratch, part, 3);
    u->request = both ? (struct slice){ both, w->root.n + 1 + w->prompt.n } : w->root;

    return true;
}

static enum err_code codex_hand_over(struct walk *w, const struct codex_row *row, struct err *e)
{
    struct usage_record u = usage_record_empty();

    struct slice usage;

    if (row->kind == CODEX_TOKENS) {
        w->records = true;
        if (!json_get(row->payload, "usage", &usage))
            return ERR_OK;
        usage_read_counts(&codex_tokens, usage, &u);
        u.answer = u.request = json_text_at(row->payload, "response_id", &w->scratch);
    } else if (!read_totals(w, row, &u)) {
        return ERR_OK;
    }
    if (w->scratch.failed)
        return ERR_OK;
    if (!time_parse(row->time, &u.time_ms))
        u.time_ms = TIME_NONE;
    u.model = w->model;
    u.agent = w->agent;
    u.message = w->agent.n ? SLICE("") : w->message;
    u.aside = w->agent.n > 0;
    u.copied = w->copies.copied;
    return w->fn(&u, w->arg, e);
}

static void codex_keep(struct walk *w, struct slice text, struct slice *out)
{
    if (text.n && !slice_eq(text, *out))
        *out = arena_copy(&w->arena, text);
}

static enum err_code codex_usage_read_line(struct walk *w, struct slice line, struct err *e)
{
    struct arena *a = &w->scratch;
    struct codex_row row;

    arena_reset(a);
    if (!codex_row_read(line, a, &row))
        return ERR_OK;
    codex_row_is_copied(&w->copies, &row, w->thread, a);
    switch (row.kind) {
    case CODEX_META:
        /* Old forks have copies of all headers, of which the last is that of the oldest thread. */
        codex_keep(w, json_text_at(row.payload, "id", a), &w->root);
        break;
    case CODEX_BEGIN:
    case CODEX_CONTEXT:
        codex_keep(w, json_text_at(row.payload, "turn_id", a), &w->message);
        codex_keep(w, json_text_at(row.payload, "model", a), &w->model);
        break;
    case CODEX_PROMPT:
        codex_keep(w, codex_row_id(&row, a), &w->message);
        codex_keep(w, codex_row_prompt(&row, a), &w->prompt);
        break;
    case CODEX_TOKENS:
    case CODEX_TOTALS: return codex_hand_over(w, &row, e);
    default: break;
    }
    return ERR_OK;
}

static enum err_code walk_thread(struct walk *w, const struct store *st,
                                 const struct session_ref *ref, const atomic_bool *cancel,
                                 struct err *e)
{
    struct buf text = { 0 };
    struct slice rest, line;
    bool torn;
    enum err_code rc = rollout_compose_done(st->path, ref->path.p, &text, e);

    w->thread = ref->id;
    w->model = w->message = w->prompt = SLICE("");
    w->root = ref->id;
    w->records = false;
    w->copies = (struct codex_copies){ 0 };
    w->total = 0;
    rest = buf_slice(&text);
    while (!rc && slice_line(&rest, &line, &torn)) {
        if (cancel && atomic_load_explicit(cancel, memory_order_relaxed))
            rc = err_set(e, ERR_CANCELLED, ref->path.p, "read token usage");
        else
            rc = codex_usage_read_line(w, line, e);
    }
    if (!rc && (w->arena.failed || w->scratch.failed))
        rc = err_nomem(e);
    buf_fini(&text);
    arena_reset(&w->arena);
    return rc;
}

enum err_code codex_usage(const struct store *st, const struct session_ref *ref,
                          const atomic_bool *cancel, usage_fn *fn, void *arg, struct err *e)
{
    struct walk w = { .fn = fn, .arg = arg };
    struct arena a = { 0 };
    struct slice *ids = NULL;
    size_t n = 0;
    enum err_code rc = walk_thread(&w, st, ref, cancel, e);

    if (!rc)
        rc = codex_subagents(st, ref, &a, &ids, &n, e);
    for (size_t i = 0; i < n && !rc; i++) {
        struct session_ref agent;

        w.agent = ids[i];
        if (codex_subagent(st, ref, ids[i], &a, &agent, NULL))
            continue;
        rc = walk_thread(&w, st, &agent, cancel, e);
        if (rc == ERR_NOT_FOUND || rc == ERR_IO || rc == ERR_FORMAT)
            rc = ERR_OK;
    }
    arena_fini(&w.arena);
    arena_fini(&w.scratch);
    arena_fini(&a);
    return rc;
}
