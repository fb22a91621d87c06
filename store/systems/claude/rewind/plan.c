#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "lite/base/cleanup.h"
#include "lite/io/file.h"
#include "lite/json/json.h"
#include "store/api/edit.h"
#include "store/journal/change.h"
#include "store/rewind/plan/plan.h"
#include "store/systems/claude/chain/conversation_path.h"
#include "store/systems/claude/chain/row_facts.h"
#include "store/systems/claude/claude.h"
#include "store/systems/claude/rewind/call_input.h"
#include "store/systems/claude/rewind/planner.h"

/* Plans a rewind: the content of each file at a checkpoint. */

enum { CUT_LOOKED_AT = 16 << 20 }; /* a larger copy is not compared with what was recorded */

/* ---- targets ---- */

static enum err_code wanted_of(struct planner *p, const struct file_history_entry *entry,
                               struct rewind_target *t, struct err *e)
{
    struct stat st;

    t->real_parent = entry->real_parent ? planner_present(p, entry->real_parent) : NULL;
    if (!entry->valid) {
        t->want = REWIND_UNKNOWN;
        t->why = "its saved copy has a name that no client writes";
        t->copy_lost = true;
        return ERR_OK;
    }
    if (!entry->backup) {
        t->want = REWIND_ABSENT;
        return ERR_OK;
    }
    t->want = REWIND_BYTES;
    t->source.file = planner_backup(p, entry->backup);
    if (!t->source.file)
        return err_nomem(e);
    if (stat(t->source.file, &st) == 0) { /* the copy has the mode of the original */
        t->has_mode = true;
        t->mode = st.st_mode & 07777;
    }
    return ERR_OK;
}

/* The last content of the file that the session knows: its last edit after the newest snapshot,
 * else that snapshot. */
static enum err_code claude_last_of(struct planner *p, const char *tracked, struct rewind_target *t,
                                    struct err *e)
{
    const struct planner_write *w = planner_last_write(p, t->path);
    const struct file_history_entry *newest = file_history_newest(&p->history, tracked);

    if (w && w->known) {
        t->has_last = true;
        t->last.bytes = w->bytes.p ? w->bytes : SLICE("");
        return ERR_OK;
    }
    t->last_is_older = w != NULL;
    if (!newest || !newest->valid)
        return ERR_OK;
    t->has_last = true;
    t->last_absent = !newest->backup;
    if (newest->backup)
        t->last.file = planner_backup(p, newest->backup);
    return newest->backup && !t->last.file ? err_nomem(e) : ERR_OK;
}

/* A file that was edited through a linked directory: its real directory was recorded. If the link still leads there,
 * nothing took its place, and the file is restored in that directory, as by the client. A file that was edited under
 * both names keeps this one, which the engine refuses. */
static enum err_code follow_recorded_link(struct planner *p, const struct rewind_plan *plan,
                                          struct rewind_target *t, struct err *e)
{
    const char *slash = strrchr(t->path, '/'), *path;
    char real[PATH_MAX];

    if (!t->real_parent || t->real_parent[0] != '/' || !slash || slash == t->path)
        return ERR_OK;
    const char *dir = arena_format(&p->arena, "%.*s", (int)(slash - t->path), t->path);

    path = arena_format(&p->arena, "%s%s", t->real_parent, slash);
    if (!dir || !path)
        return err_nomem(e);
    if (strcmp(dir, t->real_parent) == 0 || !realpath(dir, real) ||
        strcmp(real, t->real_parent) != 0)
        return ERR_OK;
    for (size_t i = 0; i < plan->n; i++)
        if (strcmp(plan->target[i].path, path) == 0)
            return ERR_OK;
    t->path = path;
    return ERR_OK;
}

static enum err_code claude_add_target(struct planner *p, size_t turn, const char *tracked,
                                       struct rewind_plan *plan, struct err *e)
{
    const struct file_history_entry *entry = file_history_at(&p->history, turn, tracked);
    struct rewind_target t = { .path = planner_path(p, tracked) };

    if (!t.path)
        return err_nomem(e);
    if (!entry || entry->stale) {
        t.want = REWIND_UNKNOWN;
        t.why = "there is no copy of this point";
    } else if (entry->no_path) {
        t.want = REWIND_UNKNOWN;
        t.why = "its name in the session is not a path";
    } else if (tracked[0] != '/' && !p->cwd) {
        t.want = REWIND_UNKNOWN;
        t.why = "the session does not record its directory";
    } else {
        /* follow_recorded_link() comes last, because claude_last_of() finds a write by the path that it replaces. */
        enum err_code rc = wanted_of(p, entry, &t, e);

        if (!rc)
            rc = claude_last_of(p, tracked, &t, e);
        if (!rc)
            rc = follow_recorded_link(p, plan, &t, e);
        if (rc)
            return rc;
    }
    return rewind_plan_add(plan, &t, e);
}

static enum err_code note_shell(struct planner *p, size_t turn, struct rewind_plan *plan,
                                struct err *e)
{
    size_t n;
    char text[160];
    enum err_code rc = planner_shell(p, p->history.turn[turn].message, p->transcript->n, &n, e);

    if (rc || n == 0)
        return rc;
    snprintf(text, sizeof text,
             "%zu shell command%s ran since; %s changes to other files cannot be rewound", n,
             n == 1 ? "" : "s", n == 1 ? "its" : "their");
    return rewind_plan_note(plan, text, e);
}

/* ---- copies that were cut short ---- */

static bool claude_is_line_end(struct slice s, size_t at)
{
    return s.p[at] == '\r' && at + 1 < s.n && s.p[at + 1] == '\n';
}

/* Returns true if the copy ends in the middle of a line of the text, or in zeros that a power cut left, and is the same
 * until there. Line ends count as one, and a byte order mark is not text: the client records texts without them. A copy
 * that ends with a line may be older than what a command appended since. */
static bool is_cut_short(struct slice copy, struct slice text)
{
    const size_t whole = copy.n;
    const bool zeros_are_text = text.n && memchr(text.p, '\0', text.n);

    while (!zeros_are_text && copy.n && copy.p[copy.n - 1] == '\0')
        copy.n--;
    size_t i = slice_starts(copy, "\xef\xbb\xbf") ? 3 : 0, k = 0;

    for (; i < copy.n; i++) {
        if (claude_is_line_end(copy, i))
            continue;
        k += k < text.n && claude_is_line_end(text, k);
        if (k == text.n || copy.p[i] != text.p[k++])
            return false;
    }
    return copy.n < whole ||
           (k < text.n && text.p[k] != '\n' && text.p[k] != '\r' && (!k || text.p[k - 1] != '\n'));
}

/* A copy has no checksum, but an edit near it may have recorded the text that it should have. */
static enum err_code doubt_copy(struct rewind_target *t, struct slice text, const char *why,
                                struct err *e)
{
    struct buf copy = { 0 };
    enum err_code rc = file_read_all(AT_FDCWD, t->source.file, 0, CUT_LOOKED_AT, &copy, e);

    if (!rc && text.n && is_cut_short(buf_slice(&copy), text)) {
        t->copy_lost = true;
        t->doubt = why;
    }
    buf_fini(&copy);
    return rc == ERR_NOMEM ? rc : ERR_OK;
}

/* The last edit before the point left the text that the next copy has, unless a command changed it in between. */
static enum err_code doubt_by_former_edit(struct planner *p, size_t turn, size_t message,
                                          struct slice result, struct arena *a,
                                          struct rewind_target *t, struct err *e)
{
    struct slice text, old, new;
    struct buf left = { 0 };
    uint64_t replayed = 0;
    bool done = false;
    size_t commands;

    TRY(planner_shell(p, message, p->history.turn[turn].message, &commands, e));
    if (commands || json_get_true(result, "userModified"))
        return ERR_OK;
    if (!json_get_text(result, "content", a, &text)) {
        if (!json_get_text(result, "originalFile", a, &text) ||
            !json_get_text(result, "oldString", a, &old) ||
            !json_get_text(result, "newString", a, &new))
            return ERR_OK;
        TRY(edit_replace_text(text, old, new, json_get_true(result, "replaceAll"), &replayed, &left,
                              &done));
        text = done ? buf_slice(&left) : SLICE("");
    }
    enum err_code rc = doubt_copy(
        t, text, "its saved copy is cut short: the session's edit before it left more", e);

    buf_fini(&left);
    return rc;
}

/* Qoder records no texts. What its edit makes of the copy cannot be a part of the next copy alone. */
static enum err_code doubt_by_next_copy(struct planner *p, size_t turn, const char *tracked,
                                        size_t message, struct slice row, struct rewind_target *t,
                                        struct err *e)
{
    AUTO_BUF copy = { 0 };
    AUTO_BUF left = { 0 };
    AUTO_BUF next = { 0 };
    const char *file = NULL;
    bool known;

    for (size_t k = turn + 1; k < p->history.n && !file; k++) {
        const struct file_history_entry *x = file_history_at(&p->history, k, tracked);

        if (x && x->valid && x->backup && !(file = planner_backup(p, x->backup)))
            return err_nomem(e);
        if (file && strcmp(file, t->source.file) == 0)
            file = NULL;
    }
    if (!file || file_read_all(AT_FDCWD, file, 0, CUT_LOOKED_AT, &next, NULL) ||
        file_read_all(AT_FDCWD, t->source.file, 0, CUT_LOOKED_AT, &copy, NULL))
        return ERR_OK;
    const struct slice before = buf_slice(&copy);

    TRY(call_input_apply(p, message, row, &before, NULL, &left, &known, e));
    if (is_cut_short(known ? buf_slice(&left) : before, buf_slice(&next))) {
        t->copy_lost = true;
        t->doubt = "its saved copy is cut short: the session's next copy has the rest";
    }
    return ERR_OK;
}

struct doubts {
    struct planner *planner;
    size_t turn;
    struct rewind_plan *plan;
    struct slice_set paths, seen;
    size_t *first;  /* the target of each of the paths */
    struct arena a; /* owns the texts of one row */
};

/* Only the edits next to the point, on either side, say what the saved copy of their file should have. */
static enum err_code doubt_by_row(struct doubts *d, size_t message, struct slice row, struct err *e)
{
    struct planner *p = d->planner;
    const size_t before = d->seen.n;
    struct slice result, path, found;
    uint32_t number;

    if (!(slice_has(row, "\"originalFile\"") || slice_has(row, "\"additions\"")) ||
        !json_get(row, "toolUseResult", &result) || json_type(result) != JSON_OBJECT)
        return ERR_OK;
    const bool no_texts = call_input_path(result, &d->a, &path);

    if (!no_texts && !json_get_text(result, "filePath", &d->a, &path))
        return ERR_OK;
    const char *name = arena_copy(&d->a, path).p;

    if (name)
        name = planner_present(p, name);
    const uint32_t at = name ? slice_set_find(&d->paths, slice_of(name)) : SLICE_SET_NONE;

    if (at == SLICE_SET_NONE || d->plan->target[d->first[at]].want != REWIND_BYTES)
        return ERR_OK;
    struct rewind_target *target = &d->plan->target[d->first[at]];

    if (slice_set_add(&d->seen, slice_of(target->path), &number))
        return err_nomem(e);
    if (d->seen.n == before)
        return ERR_OK;
    if (message < p->history.turn[d->turn].message)
        return no_texts ? ERR_OK
                        : doubt_by_former_edit(p, d->turn, message, result, &d->a, target, e);
    if (no_texts)
        return doubt_by_next_copy(p, d->turn, p->history.path[d->first[at]], message, row, target,
                                  e);
    if (!json_get_text(result, "originalFile", &d->a, &found))
        return ERR_OK;
    return doubt_copy(
        target, found,
        "its saved copy is cut short: the session's next edit found the rest of its last line", e);
}

static enum err_code doubt_copies(struct planner *p, size_t turn, struct rewind_plan *plan,
                                  struct err *e)
{
    struct doubts d = { .planner = p, .turn = turn, .plan = plan };
    AUTO_FREE size_t *first = calloc(plan->n + 1, sizeof *first);
    const size_t point = p->history.turn[turn].message, n = p->transcript->n;
    enum err_code rc = first ? ERR_OK : err_nomem(e);
    size_t saved = 0;
    AUTO_BUF row = { 0 };
    uint32_t number;

    /* Two names of a file are two targets with one path. */
    d.first = first;
    for (size_t i = plan->n; i-- > 0 && !rc;) {
        saved += plan->target[i].want == REWIND_BYTES;
        if (slice_set_add(&d.paths, slice_of(plan->target[i].path), &number))
            rc = err_nomem(e);
        else
            first[number] = i;
    }

    /* From the point on, and then back to the beginning for the files that no edit since has shown. */
    for (size_t k = 0; k < n && d.seen.n < saved && !rc; k++) {
        const size_t i = k < n - point ? point + k : n - 1 - k;

        if (p->transcript->message[i].kind != MESSAGE_USER)
            continue;
        rc = transcript_read(p->transcript, i, &row, e);
        if (!rc)
            rc = doubt_by_row(&d, i, buf_slice(&row), e);
        arena_reset(&d.a);
    }
    slice_set_fini(&d.paths);
    slice_set_fini(&d.seen);
    arena_fini(&d.a);
    return rc;
}

/* ---- the checkpoint ---- */

enum { PREFIX_MIN = 4 };

static enum err_code claude_plan_find_turn(const struct planner *p, struct slice point,
                                           size_t *turn, struct err *e)
{
    size_t hits = 0;

    for (size_t i = 0; i < p->history.n; i++) {
        struct slice id = p->history.turn[i].id;

        if (slice_eq(id, point)) {
            *turn = i;
            return ERR_OK;
        }
        if (point.n >= PREFIX_MIN && id.n > point.n && memcmp(id.p, point.p, point.n) == 0) {
            *turn = i;
            hits++;
        }
    }
    if (hits == 1)
        return ERR_OK;
    return hits ? err_set(e, ERR_USAGE, p->ref->path.p, "rewind: several messages begin with %.*s",
                          SLICE_ARG(point))
                : err_set(
                      e, ERR_NOT_FOUND, p->ref->path.p,
                      "rewind: no checkpoint of its files is named %.*s; see reprise checkpoints",
                      (int)(point.n > 64 ? 64 : point.n), point.p);
}

static enum err_code claude_fill_plan(struct planner *p, size_t turn, struct rewind_plan *plan,
                                      struct err *e)
{
    struct arena *a = &plan->arena;

    plan->system = "claude";
    NEED(plan->session = arena_copy(a, p->ref->id).p);
    NEED(plan->point = arena_copy(a, p->history.turn[turn].id).p);
    plan->point_ms = p->history.turn[turn].time_ms;
    TRY(rewind_plan_root(p->claude->base.env, plan, p->root, e));
    if (p->moved_from) {
        const char *note = arena_format(&p->arena, "the project moved: files of %s are those of %s",
                                        p->moved_from, p->cwd);

        NEED(note);
        TRY(rewind_plan_note(plan, note, e));
    }
    for (size_t i = 0; i < p->history.paths; i++)
        TRY(claude_add_target(p, turn, p->history.path[i], plan, e));
    TRY(doubt_copies(p, turn, plan, e));
    TRY(note_shell(p, turn, plan, e));
    return claude_concurrent_sessions(&p->claude->base, p->ref, plan, e);
}

enum err_code claude_plan(const struct store *st, const struct session_ref *ref, struct slice point,
                          struct rewind_plan *out, struct err *e)
{
    CLEANUP(planner_close) struct planner p = { .ref = NULL };
    CLEANUP(rewind_plan_fini) struct rewind_plan plan = { 0 };
    size_t turn = 0;

    TRY(planner_open(&p, st, ref, e));
    TRY(claude_plan_find_turn(&p, point, &turn, e));
    if (p.history.turn[turn].lost)
        return err_set(e, ERR_NOT_FOUND, ref->path.p, "rewind: %s", planner_lost_turn);
    TRY(claude_fill_plan(&p, turn, &plan, e));
    HAND_OVER(out, plan);
    return ERR_OK;
}

/* The conversation's part of a rewind: the session will continue from the row before the prompt (claude_resume_at). No
 * rows are moved; clients of both generations restore the chain up to that row, and the next prompt follows it, which
 * has the same effect as the client's own rewind (claude.md C3). */

/* The prompt of the conversation with this id, or the only one whose id has this prefix. */
static enum err_code claude_find_prompt(const struct session_ref *ref, const struct transcript *t,
                                        struct slice point, struct arena *a, size_t *at,
                                        struct slice *id, struct err *e)
{
    struct id128 whole = id128_of(point);
    struct buf row = { 0 };
    struct slice text;
    size_t hits = 0;
    enum err_code rc = ERR_OK;

    for (size_t i = 0; i < t->n && !rc; i++) {
        if (t->message[i].kind != MESSAGE_USER || id128_none(t->message[i].id))
            continue;
        bool same = id128_eq(t->message[i].id, whole);

        if (!same && point.n < PREFIX_MIN)
            continue;

        /* The results of tools are in rows of the user, too. Such a row gets no id here, so it is never found. */
        rc = transcript_read(t, i, &row, e);
        text = (struct slice){ NULL, 0 };
        if (!rc && !claude_has_tool_result(buf_slice(&row)) &&
            json_get_text(buf_slice(&row), "uuid", a, &text))
            text = arena_copy(a, text);

        if (rc || !(same || (text.n > point.n && memcmp(text.p, point.p, point.n) == 0)))
            continue;

        /* The whole id decides, even if others begin with it. */
        *at = i;
        *id = text;
        hits = same ? 1 : hits + 1;
        if (same)
            break;
    }
    buf_fini(&row);
    if (rc || (hits == 1 && id->n))
        return rc;
    return hits > 1 ? err_set(e, ERR_USAGE, ref->path.p, "rewind: several messages begin with %.*s",
                              SLICE_ARG(point))
                    : err_set(e, ERR_NOT_FOUND, ref->path.p,
                              "rewind: no prompt %.*s in the conversation",
                              (int)(point.n > 64 ? 64 : point.n), point.p);
}

static size_t claude_count_messages(const struct transcript *t, size_t from, size_t to)
{
    size_t n = 0;

    for (size_t i = from; i < to; i++)
        n += t->message[i].kind == MESSAGE_USER || t->message[i].kind == MESSAGE_ASSISTANT;
    return n;
}

/* The row before the prompt, by its id as written; empty if the prompt is the first. */
static enum err_code find_before(const struct session_ref *ref, struct slice prompt,
                                 struct arena *a, struct slice *before, struct err *e)
{
    const struct claude_log_want want = { .kinds = CLAUDE_MAIN_KINDS };
    CLEANUP(claude_log_close) struct claude_log log = { .file.file.fd = -1 };
    struct claude_gaps gaps = { 0 };
    uint32_t node;

    *before = (struct slice){ NULL, 0 };
    TRY(claude_log_open(&log, ref->path.p, &want, e));
    TRY(claude_relink(&log, e));
    TRY(claude_find_message(&log, prompt, &node, e));

    /* The row before on a resume's path, or across a boundary. */
    log.chain.mark[node] |= NODE_LISTED;
    enum err_code rc = claude_has_parent(&log, node)
                           ? claude_resume_parent(&gaps, &log, node, &node)
                           : claude_logical_parent(&log, node, &node, e);

    claude_gaps_fini(&gaps);
    NEED(rc != ERR_NOMEM);
    TRY(rc);
    return node == CHAIN_NONE || !claude_leads_to_message(&log, node)
               ? ERR_OK
               : claude_node_uuid(&log, node, a, before, e);
}

enum err_code claude_plan_conversation(const struct store *st, const struct session_ref *ref,
                                       struct slice point, struct rewind_plan *plan, struct err *e)
{
    struct transcript *t;
    struct slice id = { NULL, 0 }, before;
    size_t at = 0;

    TRY(claude_load(st, ref, NULL, &t, e));
    enum err_code rc = claude_find_prompt(ref, t, point, &plan->arena, &at, &id, e);

    if (!rc) {
        plan->point = id.p;
        plan->point_ms = t->message[at].time_ms;
        plan->conversation.kept = claude_count_messages(t, 0, at);
        plan->conversation.dropped = claude_count_messages(t, at, t->n);
    }
    transcript_free(t);

    if (rc)
        return rc;
    AUTO_ARENA a = { 0 };

    /* No row is removed: the session is resumed at the row before the prompt. */
    TRY(find_before(ref, id, &a, &before, e));

    plan->conversation.how = CONVERSATION_RESUME_AT;
    plan->conversation.change = change_new("rewind");
    return plan->conversation.change
               ? claude_resume_at(st, ref, before, plan->conversation.change, e)
               : err_nomem(e);
}
