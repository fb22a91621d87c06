#include <string.h>
#include <sys/stat.h>

#include "lite/base/id.h"
#include "lite/io/window.h"
#include "lite/json/json.h"
#include "store/api/finding.h"
#include "store/log/log_damage.h"
#include "store/systems/claude/chain/log.h"
#include "store/systems/claude/claude.h"
#include "store/systems/claude/rewind/file_history.h"
#include "store/systems/claude/write/metarow.h"

/* One session that is checked for damage (store_ops.check). */
struct check {
    const struct store *store;
    const struct session_ref *ref;
    const char *
        path; /* the path of the transcript that is being checked: the session's or a sub-agent's */
    struct claude_log log;
    struct arena arena; /* owns the texts of findings */
    finding_fn *fn;
    void *arg;
    size_t reported[FINDING_KINDS];
};

/* A damaged file of a million lines must not produce a million findings. This many of each kind are reported
 * individually, and the rest as a number at the end. */
enum { CHECK_REPORT_MAX = 200 };

#define CHECK_NO_LINE SIZE_MAX

/* ---- reporting ---- */

/* Reports a finding about a line (from 0), or about the file (CHECK_NO_LINE). why may be NULL: out of memory. */
static enum err_code check_report(struct check *k, enum finding_kind kind, size_t line,
                                  const char *why, struct err *e)
{
    struct finding f = { .kind = kind,
                         .session = k->ref->id,
                         .path = k->path,
                         .why = why,
                         .fixable = kind == FINDING_METADATA };

    if (!why)
        return err_nomem(e);
    if (k->reported[kind]++ >= CHECK_REPORT_MAX)
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
        if (k->reported[kind] <= CHECK_REPORT_MAX)
            continue;
        struct finding f = { .kind = (enum finding_kind)kind,
                             .session = k->ref->id,
                             .path = k->path,
                             .why = arena_format(&k->arena, "and %zu more like this",
                                                 k->reported[kind] - CHECK_REPORT_MAX) };

        rc = f.why ? k->fn(&f, k->arg, e) : err_nomem(e);
    }
    return rc;
}

/* ---- lines ---- */

/* How a client begins a row. Inside a text these quotes would be escaped. */
static const char *const claude_row_begins[] = { "{\"parentUuid\":", "{\"logicalParentUuid\":",
                                                 "{\"isSidechain\":", "{\"type\":\"", NULL };
/* Clients skip lines that do not parse, and so would lose the second of two rows on a line. */
const struct log_rules claude_log_rules = { .begins = claude_row_begins,
                                            .skips_broken = true,
                                            .searched = "cwd",
                                            .refused = claude_refused_row,
                                            .survey = claude_survey };

static enum err_code claude_check_lines(struct check *k, struct err *e)
{
    return log_damage_report(&k->log.file, &claude_log_rules, k->ref->id, k->fn, k->arg, e);
}

/* ---- the chain ---- */

enum { ON_PATH = 1, SEEN = 2 }; /* marks of nodes */

static enum err_code check_parent(struct check *k, uint32_t node, struct err *e)
{
    const struct chain *c = &k->log.chain;
    uint32_t parent = c->node[node].parent;

    if (parent != CHAIN_NONE ? chain_has_row(c, parent) : !claude_has_parent(&k->log, node))
        return ERR_OK;
    return check_report(k, FINDING_DANGLING_PARENT, c->node[node].line,
                        parent == CHAIN_NONE ? "its parentUuid is not an id"
                                             : "the row it follows is not in the file",
                        e);
}

/* Each cycle is reported once, at its first line. */
static enum err_code report_cycle(struct check *k, uint32_t start, struct err *e)
{
    const struct chain *c = &k->log.chain;
    size_t rows = 0, first = SIZE_MAX;
    uint32_t at = start;

    do {
        if (c->node[at].line < first)
            first = c->node[at].line;
        rows++;
        at = chain_parent(c, at);
    } while (at != start);
    return check_report(
        k, FINDING_CYCLE, first,
        rows == 1 ? "the row follows itself"
                  : arena_format(&k->arena, "%zu rows follow each other in a circle", rows),
        e);
}

static enum err_code check_duplicates(struct check *k, struct err *e)
{
    const struct chain *c = &k->log.chain;
    enum err_code rc = ERR_OK;

    for (size_t i = 0; i < k->log.file.index.n && c->again && !rc; i++) {
        const struct index_line *line = claude_line(&k->log, i);
        uint32_t node = line->state == LINE_OK && (CLAUDE_MAIN_KINDS >> line->kind & 1)
                            ? claude_line_node(&k->log, i)
                            : CHAIN_NONE;

        if (node != CHAIN_NONE && chain_has_row(c, node) && c->node[node].first != i)
            rc = check_report(k, FINDING_DUPLICATE_ID, i,
                              arena_format(&k->arena, "line %lu has the same uuid",
                                           (unsigned long)c->node[node].first + 1),
                              e);
    }
    return rc;
}

/* ---- saved copies ---- */

/* The client forgets snapshots beyond the newest hundred, and removes copies that only they named. */
enum { SNAPSHOTS_KEPT = 100 };

static const char *claude_path_in(struct check *k, struct slice session, const char *name)
{
    return arena_format(&k->arena, "%s/file-history/%.*s/%s", k->store->path, SLICE_ARG(session),
                        name);
}

static enum err_code report_file(struct check *k, enum finding_kind kind, const char *path,
                                 const char *why, struct err *e)
{
    const char *transcript = k->path;

    k->path = path;
    enum err_code rc = check_report(k, kind, CHECK_NO_LINE, why, e);

    k->path = transcript;
    return rc;
}

static enum err_code check_entry(struct check *k, const struct file_history_entry *entry,
                                 struct slice parent, struct idset *seen, struct err *e)
{
    uint32_t number;
    size_t before = seen->n;

    if (!entry->valid)
        return check_report(k, FINDING_WRONG_BACKUP, CHECK_NO_LINE,
                            arena_format(&k->arena,
                                         "the saved copy of %s has a name that no client writes",
                                         entry->path),
                            e);
    if (!entry->backup)
        return ERR_OK;
    struct slice name = slice_of(entry->backup);

    if (idset_add(seen, id128_of(name), &number))
        return err_nomem(e);
    if (seen->n == before)
        return ERR_OK;

    struct stat st;
    const char *path = claude_path_in(k, k->ref->id, entry->backup);

    if (!path)
        return err_nomem(e);
    if (lstat(path, &st) == 0)
        return S_ISREG(st.st_mode)
                   ? ERR_OK
                   : report_file(k, FINDING_WRONG_BACKUP, path,
                                 arena_format(&k->arena,
                                              "the saved copy of %s is not a regular file",
                                              entry->path),
                                 e);
    /* The copies of a fork may still be in the directory of the session from which it was made. */
    const char *former = claude_is_uuid(parent) ? claude_path_in(k, parent, entry->backup) : NULL;

    if (former && lstat(former, &st) == 0 && S_ISREG(st.st_mode))
        return ERR_OK;
    return report_file(k, FINDING_MISSING_BACKUP, path,
                       arena_format(&k->arena,
                                    "the saved copy of %s is missing: it cannot be restored",
                                    entry->path),
                       e);
}

static bool has_snapshots(const struct index *ix)
{
    for (size_t i = 0; i < ix->n; i++)
        if (claude_line_is(&ix->line[i], CLAUDE_SNAPSHOT) ||
            claude_line_is(&ix->line[i], CLAUDE_SNAPSHOT_DELTA))
            return true;
    return false;
}

static enum err_code check_backups(struct check *k, const atomic_bool *cancel, struct err *e)
{
    const struct scope everywhere = { .all = true };
    struct file_history h = { 0 };
    struct transcript *t = NULL;
    struct session_row *row;

    if (!has_snapshots(&k->log.file.index))
        return ERR_OK;
    row = session_row_new();
    enum err_code rc = row ? claude_describe(k->store, &everywhere, k->ref, row, e) : err_nomem(e);

    if (!rc)
        rc = claude_load(k->store, k->ref, cancel, &t, e);
    if (!rc)
        rc = file_history_read(k->ref, t, &h, e);
    if (!rc) {
        struct idset seen = { 0 };

        for (size_t n = h.n > SNAPSHOTS_KEPT ? h.n - SNAPSHOTS_KEPT : 0; n < h.n && !rc; n++)
            for (size_t i = 0; i < h.turn[n].n && !rc; i++)
                rc = check_entry(k, &h.turn[n].entry[i], row->parent_id, &seen, e);
        idset_fini(&seen);
    }
    file_history_fini(&h);
    transcript_free(t);
    session_row_free(row);
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

static enum err_code claude_check_metadata(struct check *k, const atomic_bool *cancel,
                                           struct err *e)
{
    struct arena a = { 0 };
    struct metarows m;
    enum err_code rc = metarows_anywhere(&k->log.file.file, METAROW_ALL, cancel, &a, &m, e);

    for (int t = 0; t < METAROW_TYPES && !rc; t++) {
        int64_t before = m.size - m.row[t].offset;

        if (m.row[t].found && before > WINDOW_BYTES)
            rc = check_report(k, FINDING_METADATA,
                              line_at_offset(&k->log.file.index, m.row[t].offset),
                              arena_format(&k->arena,
                                           "the newest %s row is %lld bytes before the end, but "
                                           "listings read only the last %d",
                                           metarow_names[t], (long long)before, WINDOW_BYTES),
                              e);
    }
    arena_fini(&a);
    return rc;
}

/* ---- sub-agents ---- */

static enum err_code claude_check_agent(struct check *k, const char *path,
                                        const atomic_bool *cancel, struct err *e)
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
    rc = claude_check_lines(&agent, e);
    if (!rc)
        rc = report_remaining_counts(&agent, e);
    claude_log_close(&agent.log);
    arena_fini(&agent.arena);
    return rc;
}

/* ---- the session ---- */

static bool has_boundary(const struct index *ix)
{
    for (size_t i = 0; i < ix->n; i++)
        if (claude_line_is(&ix->line[i], CLAUDE_SYSTEM) &&
            claude_line_has(&ix->line[i], MARK_COMPACT))
            return true;
    return false;
}

static enum err_code check_all(struct check *k, const atomic_bool *cancel, struct err *e)
{
    TRY(claude_check_lines(k, e));

    struct chain *c = &k->log.chain;
    enum err_code rc = ERR_OK;

    for (uint32_t node = 0; node < c->n && !rc; node++)
        if (chain_has_row(c, node))
            rc = check_parent(k, node, e);
    for (uint32_t node = 0; node < c->n && !rc; node++)
        if (chain_has_row(c, node)) {
            /* Climbs to a root or to a node that was visited before. Reaching a node on the same path means a cycle. */
            uint32_t at = node;

            for (; at != CHAIN_NONE && !c->mark[at]; at = chain_parent(c, at))
                c->mark[at] = ON_PATH;
            if (at != CHAIN_NONE && c->mark[at] == ON_PATH)
                rc = report_cycle(k, at, e);
            for (at = node; at != CHAIN_NONE && c->mark[at] == ON_PATH; at = chain_parent(c, at))
                c->mark[at] = SEEN;
        }
    TRY(rc ? rc : check_duplicates(k, e));

    if (k->reported[FINDING_DANGLING_PARENT] || has_boundary(&k->log.file.index))
        TRY(claude_report_lost_parts(k->ref, cancel, k->fn, k->arg, e));
    TRY(claude_check_metadata(k, cancel, e));
    TRY(check_backups(k, cancel, e));
    TRY(report_remaining_counts(k, e));

    /* The transcripts of the sub-agents are checked too. */
    struct slice *ids;
    size_t n;
    rc = claude_subagents(k->store, k->ref, &k->arena, &ids, &n, e);

    if (rc)
        return rc == ERR_NOT_FOUND ? ERR_OK : rc;
    for (size_t i = 0; i < n && !rc; i++) {
        struct session_ref agent;

        rc = claude_subagent(k->store, k->ref, ids[i], &k->arena, &agent, e);
        if (!rc)
            rc = claude_check_agent(k, agent.path.p, cancel, e);
        else if (rc == ERR_NOT_FOUND)
            rc = ERR_OK; /* it was removed meanwhile */
    }
    return rc;
}

enum err_code claude_check(const struct store *st, const struct session_ref *ref,
                           const atomic_bool *cancel, finding_fn *fn, void *arg, struct err *e)
{
    struct claude_log_want want = { .kinds = CLAUDE_MAIN_KINDS, .stop = cancel };
    struct check k = { .store = st, .ref = ref, .path = ref->path.p, .fn = fn, .arg = arg };

    TRY(claude_log_open(&k.log, ref->path.p, &want, e));
    enum err_code rc = check_all(&k, cancel, e);

    claude_log_close(&k.log);
    arena_fini(&k.arena);
    return rc;
}
