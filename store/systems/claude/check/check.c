#include "store/systems/claude/check/check.h"

#include "lite/io/window.h"
#include "store/systems/claude/write/metarow.h"

/* ---- telling ---- */

static bool can_fix(enum finding_kind kind)
{
    return kind == FINDING_TORN_TAIL || kind == FINDING_METADATA;
}

enum err_code check_report(struct check *k, enum finding_kind kind, size_t line, const char *why,
                           struct err *e)
{
    struct finding f = {
        .kind = kind, .session = k->ref->id, .path = k->path, .why = why, .fixable = can_fix(kind)
    };

    if (!why)
        return err_nomem(e);
    if (k->told[kind]++ >= CHECK_REPORT_MAX)
        return ERR_OK;
    if (line != CHECK_NO_LINE) {
        f.line = (int64_t)line + 1;
        f.offset = claude_line(&k->log, line)->offset;
    }
    return k->fn(&f, k->arg, e);
}

static enum err_code report_remaining_counts(struct check *k, struct err *e)
{
    enum err_code rc = ERR_OK;

    for (int kind = 0; kind < FINDING_KINDS && !rc; kind++) {
        if (k->told[kind] <= CHECK_REPORT_MAX)
            continue;
        struct finding f = { .kind = (enum finding_kind)kind,
                             .session = k->ref->id,
                             .path = k->path,
                             .why = arena_format(&k->arena, "and %zu more like this",
                                                 k->told[kind] - CHECK_REPORT_MAX) };

        rc = f.why ? k->fn(&f, k->arg, e) : err_nomem(e);
    }
    return rc;
}

/* ---- metadata ---- */

static size_t line_at_offset(const struct index *ix, int64_t offset)
{
    size_t lo = 0, hi = ix->n;

    while (lo < hi) {
        size_t mid = lo + (hi - lo) / 2;

        if (ix->line[mid].offset < offset)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo < ix->n ? lo : CHECK_NO_LINE;
}

static enum err_code check_metadata(struct check *k, const atomic_bool *cancel, struct err *e)
{
    struct arena a = { 0 };
    struct metarows m;
    enum err_code rc = metarows_anywhere(&k->log.file.file, cancel, &a, &m, e);

    for (int t = 0; t < METAROW_TYPES && !rc; t++) {
        int64_t before = m.size - m.row[t].offset;

        if (m.row[t].found && before > WINDOW_BYTES)
            rc = check_report(k, FINDING_METADATA,
                              line_at_offset(&k->log.file.index, m.row[t].offset),
                              arena_format(&k->arena,
                                           "the newest %s row lies %lld bytes before the end, and "
                                           "listings look at the last %d",
                                           metarow_names[t], (long long)before, WINDOW_BYTES),
                              e);
    }
    arena_fini(&a);
    return rc;
}

/* ---- sub-agents ---- */

static enum err_code check_agent(struct check *k, const char *path, const atomic_bool *cancel,
                                 struct err *e)
{
    struct claude_log_want want = { .kinds = CLAUDE_AGENT_KINDS, .stop = cancel };
    struct check agent = {
        .store = k->store, .ref = k->ref, .path = path, .fn = k->fn, .arg = k->arg
    };
    enum err_code rc = claude_log_open(&agent.log, path, &want, NULL);

    if (rc)
        return rc == ERR_NOMEM || rc == ERR_CANCELLED
                   ? rc
                   : check_report(&agent, FINDING_UNREADABLE, CHECK_NO_LINE,
                                  "the transcript of a sub-agent cannot be read", e);
    rc = check_lines(&agent, e);
    if (!rc)
        rc = report_remaining_counts(&agent, e);
    claude_log_close(&agent.log);
    arena_fini(&agent.arena);
    return rc;
}

static enum err_code check_agents(struct check *k, const atomic_bool *cancel, struct err *e)
{
    struct slice *ids;
    size_t n;
    enum err_code rc = claude_subagents(k->store, k->ref, &k->arena, &ids, &n, e);

    if (rc)
        return rc == ERR_NOT_FOUND ? ERR_OK : rc;
    for (size_t i = 0; i < n && !rc; i++) {
        struct session_ref agent;

        rc = claude_subagent(k->store, k->ref, ids[i], &k->arena, &agent, e);
        if (!rc)
            rc = check_agent(k, agent.path.p, cancel, e);
        else if (rc == ERR_NOT_FOUND)
            rc = ERR_OK; /* it went away meanwhile */
    }
    return rc;
}

/* ---- together ---- */

static enum err_code check_all(struct check *k, const atomic_bool *cancel, struct err *e)
{
    enum err_code rc = check_lines(k, e);

    if (!rc)
        rc = check_chain(k, e);
    if (!rc)
        rc = check_metadata(k, cancel, e);
    if (!rc)
        rc = check_backups(k, cancel, e);
    if (!rc)
        rc = report_remaining_counts(k, e);
    return rc ? rc : check_agents(k, cancel, e);
}

enum err_code claude_check(const struct store *st, const struct session_ref *ref,
                           const atomic_bool *cancel, finding_fn *fn, void *arg, struct err *e)
{
    struct claude_log_want want = { .kinds = CLAUDE_MAIN_KINDS, .stop = cancel };
    struct check k = { .store = st, .ref = ref, .path = ref->path.p, .fn = fn, .arg = arg };
    enum err_code rc = claude_log_open(&k.log, ref->path.p, &want, e);

    if (rc)
        return rc;
    rc = check_all(&k, cancel, e);
    claude_log_close(&k.log);
    arena_fini(&k.arena);
    return rc;
}
