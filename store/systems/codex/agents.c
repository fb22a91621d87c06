#include <stddef.h>
#include <string.h>

#include "lite/base/cleanup.h"
#include "lite/json/json.h"
#include "store/systems/codex/codex.h"
#include "store/systems/codex/rollout.h"
#include "store/systems/common/patches/patch_log.h"

/* A sub-agent writes a separate log while the log of its thread waits. The times of the lines show
 * the order of their work: each line gets the number that it would have if all lines were in one
 * log. */

enum { AGENTS_MAX = 64 };

struct logs {
    struct patch_log log[AGENTS_MAX + 1]; /* the thread's own is first */
    size_t n;
};

static size_t codex_number(const struct logs *l, size_t of, size_t line)
{
    size_t sum = line;
    int64_t ms = l->log[of].line_ms[line];

    for (size_t i = 0; i < l->n; i++)
        if (i != of) {
            /* Count the lines of this log that come before the line. For equal times the thread's
             * line is first, because the thread starts the agents. */
            const struct patch_log *c = &l->log[i];
            bool own = i < of;
            size_t low = 0, high = c->lines;

            while (low < high) {
                size_t mid = low + (high - low) / 2;

                if (c->line_ms[mid] < ms || (own && c->line_ms[mid] == ms))
                    low = mid + 1;
                else
                    high = mid;
            }
            sum += low;
        }
    return sum;
}

static void count_anew(struct logs *l, size_t of)
{
    struct patch_log *c = &l->log[of];

    for (size_t i = 0; i < c->changes; i++)
        c->change[i].at = codex_number(l, of, c->change[i].at);
    for (size_t i = 0; i < c->points; i++)
        c->point[i].at = codex_number(l, of, c->point[i].at);
    for (size_t i = 0; i < c->prompts; i++)
        c->prompt[i] = codex_number(l, of, c->prompt[i]);
    for (size_t i = 0; i < c->commands; i++)
        c->command[i].at = codex_number(l, of, c->command[i].at);
    for (size_t i = 0; i < c->seen_n; i++)
        c->seen[i].at = codex_number(l, of, c->seen[i].at);
    for (size_t i = 0; i < c->listings; i++)
        c->listing[i].at = codex_number(l, of, c->listing[i].at);
}

/* Merges two lists in the order of their lines; at: where an item has the number of its line. */
static void *codex_join(struct arena *a, const void *x, size_t n, const void *y, size_t m,
                        size_t size, size_t at)
{
    char *list = arena_alloc(a, (n + m) * size + 1), *to = list;
    const char *p = x, *q = y;

    for (size_t x_at = 0, y_at = 0; list && n + m; to += size) {
        if (n)
            memcpy(&x_at, p + at, sizeof x_at);
        if (m)
            memcpy(&y_at, q + at, sizeof y_at);
        if (n && (!m || x_at <= y_at)) {
            memcpy(to, p, size);
            p += size;
            n--;
        } else {
            memcpy(to, q, size);
            q += size;
            m--;
        }
    }
    return list;
}

/* Merges the changes of an agent, each after those with a smaller number. */
static void add_changes(struct patch_log *c, struct patch_log *agent)
{
    struct arena *a = &c->arena;

    /* The texts are copied, because the arena of the agent owns them. */
    for (size_t i = 0; i < agent->changes; i++) {
        struct patch_change *x = &agent->change[i];

        x->path = arena_copy(a, slice_of(x->path)).p;
        x->other = arena_copy_text(a, x->other);
        x->text = arena_copy(a, x->text);
        x->call = arena_copy(a, x->call);
    }
    for (size_t i = 0; i < agent->commands; i++) {
        agent->command[i].text = arena_copy(a, agent->command[i].text);
        agent->command[i].dir = arena_copy_text(a, agent->command[i].dir);
    }
    for (size_t i = 0; i < agent->seen_n; i++) {
        agent->seen[i].path = arena_copy(a, slice_of(agent->seen[i].path)).p;
        agent->seen[i].text = arena_copy(a, agent->seen[i].text);
    }
    for (size_t i = 0; i < agent->listings; i++) {
        struct patch_listing *x = &agent->listing[i];

        x->command = arena_copy(a, x->command);
        x->output = arena_copy(a, x->output);
        x->dir = arena_copy_text(a, x->dir);
    }

    c->change = codex_join(a, c->change, c->changes, agent->change, agent->changes,
                           sizeof *c->change, offsetof(struct patch_change, at));
    c->command = codex_join(a, c->command, c->commands, agent->command, agent->commands,
                            sizeof *c->command, offsetof(struct patch_command, at));
    c->seen = codex_join(a, c->seen, c->seen_n, agent->seen, agent->seen_n, sizeof *c->seen,
                         offsetof(struct patch_seen, at));
    c->listing = codex_join(a, c->listing, c->listings, agent->listing, agent->listings,
                            sizeof *c->listing, offsetof(struct patch_listing, at));
    if (a->failed)
        return;
    c->changes += agent->changes;
    c->commands += agent->commands;
    c->seen_n += agent->seen_n;
    c->listings += agent->listings;
}

static bool codex_is_read(const struct slice *id, size_t n, struct slice which)
{
    for (size_t i = 0; i < n; i++)
        if (slice_eq(id[i], which))
            return true;
    return false;
}

enum err_code codex_add_agents(const struct store *st, const struct session_ref *ref,
                               struct patch_log *c, struct err *e)
{
    struct arena a = { 0 };

    if (!c->agents)
        return ERR_OK;
    struct logs *l = arena_zalloc(&a, sizeof *l);

    if (l) {
        l->log[l->n++] = *c;

        /* Agents may also start agents. If the log of one cannot be read, its changes are
         * unknown and left out. */
        struct slice id[AGENTS_MAX + 1] = { ref->id };

        for (size_t of = 0; of < l->n; of++)
            for (size_t i = 0; i < l->log[of].agents && l->n <= AGENTS_MAX; i++) {
                struct slice which = l->log[of].agent[i];
                struct session_ref agent;

                if (!codex_is_read(id, l->n, which) &&
                    !codex_subagent(st, ref, which, &a, &agent, NULL) &&
                    !codex_read_patches(st, &agent, true, &l->log[l->n], NULL))
                    id[l->n++] = which;
            }

        for (size_t i = 0; i < l->n; i++)
            count_anew(l, i);
        for (size_t i = 1; i < l->n; i++) {
            add_changes(c, &l->log[i]);
            patch_log_fini(&l->log[i]);
        }
    }
    bool failed = a.failed || c->arena.failed;

    arena_fini(&a);
    return failed ? err_nomem(e) : ERR_OK;
}

/* ---- sub-agents ---- */

static bool is_child(const struct rollout *x, struct slice parent)
{
    enum { FRONT = 16 << 10 };
    struct arena a = { 0 };
    struct buf text = { 0 };
    bool whole, is = false;

    if (!rollout_text(x->path.p, FRONT, &text, &whole, NULL)) {
        const char *at = slice_find(text.p, text.n, "\"payload\":", 10);
        struct slice payload = { at, at ? (size_t)(text.p + text.n - at) : 0 };

        if (at) {
            payload = (struct slice){ at + 10, payload.n - 10 };
            is =
                slice_eq(json_text_at(payload, "parent_thread_id", &a), parent) ||
                slice_eq(json_text_at(payload, "source.subagent.thread_spawn.parent_thread_id", &a),
                         parent);
        }
    }
    buf_fini(&text);
    arena_fini(&a);
    return is;
}

/* A sub-agent is created while its parent is being written, and ids begin with the time of
 * creation. */
static bool may_be_child(const struct rollout *x, const struct session_ref *ref)
{
    enum { SLACK_MS = 60000 };

    return memcmp(x->thread.p, ref->id.p, ref->id.n) > 0 &&
           rollout_born_ms(x->thread) <= session_modified_ms(&ref->file) + SLACK_MS;
}

enum err_code codex_subagents(const struct store *st, const struct session_ref *ref,
                              struct arena *a, struct slice **ids, size_t *n, struct err *e)
{
    struct rollouts all;
    struct slice *found = NULL;
    size_t count = 0;
    enum err_code rc = rollouts_read(st->path, &all, e);

    if (rc)
        return rc;
    for (size_t i = 0; i < all.n && !a->failed; i++) {
        const struct rollout *x = &all.rollout[i];
        bool again = i && slice_eq(x->thread, all.rollout[i - 1].thread);

        if (!again && may_be_child(x, ref) && is_child(x, ref->id) &&
            !arena_add_copy(a, &found, &count, x->thread))
            rc = err_nomem(e);
    }
    rollouts_fini(&all);
    if (rc || a->failed)
        return err_nomem(e);
    *ids = found;
    *n = count;
    return ERR_OK;
}

enum err_code codex_subagent(const struct store *st, const struct session_ref *ref,
                             struct slice agent, struct arena *a, struct session_ref *out,
                             struct err *e)
{
    enum err_code rc = codex_is_id(agent) ? codex_find(st, NULL, agent, a, out, e) : ERR_NOT_FOUND;

    return rc == ERR_NOT_FOUND
               ? err_set(e, rc, ref->path.p,
                         "read sub-agent %.*s: no such sub-agent; see reprise subagents",
                         SLICE_ARG(agent))
               : rc;
}

/* ---- what Codex deletes: the rollouts of a thread and of its sub-agents ---- */

/* Adds the sub-agents of a thread after it, and theirs. */
static enum err_code add_family(const struct store *st, struct slice thread, struct arena *a,
                                struct slice **family, size_t *n, struct err *e)
{
    enum err_code rc = arena_add_copy(a, family, n, thread) ? ERR_OK : err_nomem(e);

    for (size_t at = *n - 1; at < *n && !rc; at++) {
        struct session_ref ref = { 0 };
        struct slice *ids = NULL;
        size_t found = 0;

        rc = codex_find(st, NULL, (*family)[at], a, &ref, e);
        if (!rc)
            rc = codex_subagents(st, &ref, a, &ids, &found, e);
        else if (rc == ERR_NOT_FOUND) /* its rollout is in none of Codex's folders */
            rc = ERR_OK;
        for (size_t i = 0; i < found && !rc; i++)
            if (!arena_add_copy(a, family, n, ids[i]))
                rc = err_nomem(e);
    }
    return rc;
}

static bool codex_is_of(const struct rollout *x, const struct slice *family, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (slice_eq(x->thread, family[i]))
            return true;
    return false;
}

enum err_code codex_deleted_parts(const struct store *st, const struct session_ref *ref, bool all,
                                  struct arena *a, const char ***part, size_t *n, struct err *e)
{
    struct slice *family = NULL;
    struct rollouts every;
    size_t members = 0;
    enum err_code rc = rollouts_read(st->path, &every, e);

    (void)all;
    *part = NULL;
    *n = 0;
    if (rc)
        return rc;
    rc = add_family(st, ref->id, a, &family, &members, e);
    if (!rc && !arena_add_text(a, part, n, ref->path.p)) /* the transcript first */
        rc = err_nomem(e);
    for (size_t i = 0; i < every.n && !rc; i++)
        if (codex_is_of(&every.rollout[i], family, members) &&
            !slice_eq(every.rollout[i].path, ref->path) &&
            !arena_add_text(a, part, n, every.rollout[i].path.p))
            rc = err_nomem(e);
    rollouts_fini(&every);
    return rc;
}

/* The names of sessions. */
enum err_code codex_shared(const struct store *st, const struct session_ref *ref, bool all,
                           struct arena *a, const char ***part, size_t *n, struct err *e)
{
    (void)ref, (void)all;
    *part = NULL;
    *n = 0;
    NEED(arena_add_text(a, part, n, arena_format(a, "%s/session_index.jsonl", st->path)));
    return ERR_OK;
}
