#include <stdio.h>
#include <string.h>

#include "lite/base/cleanup.h"
#include "lite/base/time.h"
#include "lite/json/json.h"
#include "store/fs/path.h"
#include "store/systems/common/jsonl.h"
#include "store/systems/common/patches/patch_log.h"
#include "store/systems/continue/continue.h"

/* What a document of Continue proves about files. It keeps no copies of them, but the result of an edit, and of a write over
 * a file that is not empty, has the unified diff, and a read shows the whole file. Nothing has a time, so a text that only
 * later changes give may have been written by a person; a read in the turn is what proves most.
 *
 * The calls of one answer may run at the same time. An element of the history therefore has three places: its commands count
 * at the first and at the last one, and what changes or reads files is at the one in between. A read thus shows nothing about
 * a change of the same answer. */

enum { CN_PLACES = 3 };

struct cn_reading {
    const struct store *st;
    struct patch_log *out;
    struct arena scratch;
    size_t at;       /* the first place of the element */
    bool background; /* a command still runs, which may change files at any time */
};

/* A tool call and how it ended. */
struct cn_call {
    struct slice name, id, input, said;
    const char *path; /* the file that it names; NULL: none */
    bool done, failed;
};

/* text: empty if it may have done anything. */
static void cn_add_command(struct cn_reading *r, struct slice text)
{
    const char *dir = text.n ? r->out->cwd : NULL;

    patch_log_add_command(r->out, text, dir, r->at);
    patch_log_add_command(r->out, text, dir, r->at + CN_PLACES - 1);
}

static void cn_add_change(struct cn_reading *r, const struct cn_call *call, enum patch_kind kind,
                          struct slice text, const char *why)
{
    patch_log_add_change(r->out, &(struct patch_change){ .kind = kind,
                                                         .path = call->path,
                                                         .text = text,
                                                         .why = why,
                                                         .at = r->at + 1,
                                                         .time_ms = TIME_NONE,
                                                         .begin_ms = TIME_NONE,
                                                         .end_ms = TIME_NONE,
                                                         .call = call->id });
}

/* Everything is checked before a file is opened for writing, and only what fails then is reported so. */
static bool cn_did_nothing(const struct cn_call *call)
{
    return call->failed && !slice_has(call->said, "Error: failed to edit") &&
           !slice_has(call->said, "Error writing to file");
}

/* A call that changes the file it names. */
static void cn_end_change(struct cn_reading *r, const struct cn_call *call, bool writes)
{
    static const char torn[] = "a call that may have changed it has no result",
                      failed_half[] = "a call failed, perhaps after it had changed this file",
                      no_diff[] = "what an edit replaced is not recorded";
    static const char mark[] = "\nDiff:\n";
    const char *diff = slice_find(call->said.p, call->said.n, mark, sizeof mark - 1);
    struct slice text = { NULL, 0 };

    if (!call->path || cn_did_nothing(call))
        return;
    if (diff)
        text = patch_hunks((struct slice){ diff, (size_t)(call->said.p + call->said.n - diff) });
    if (!call->done)
        cn_add_change(r, call, PATCH_UNSURE, text, call->failed ? failed_half : torn);
    else if (text.n && slice_starts(call->said, "Successfully "))
        cn_add_change(r, call, PATCH_UPDATED, text, NULL);
    else if (writes && slice_starts(call->said, "Successfully created file: ") &&
             json_get_text(call->input, "content", &r->scratch, &text))
        cn_add_change(r, call, PATCH_ADDED, text, NULL);
    else
        cn_add_change(r, call, PATCH_UNSURE, SLICE(""), no_diff);
}

/* The file as it was, or that there was none. */
static void cn_end_read(struct cn_reading *r, const struct cn_call *call)
{
    static const char replaced[] = "\xef\xbf\xbd", begin[] = "Content of ";
    struct patch_seen seen = { .path = call->path, .at = r->at + 1 };
    struct slice named;

    if (!call->path || !json_get_text(call->input, "filepath", &r->scratch, &named))
        return;
    if (slice_starts(named, "./"))
        named = (struct slice){ named.p + 2, named.n - 2 };
    const struct slice head =
        arena_join(&r->scratch, arena_join(&r->scratch, SLICE(begin), "", named), "", SLICE(":\n"));

    seen.gone = call->failed && slice_has(call->said, "File does not exist: ");
    seen.whole = call->done && head.n && call->said.n >= head.n &&
                 memcmp(call->said.p, head.p, head.n) == 0 && !slice_has(call->said, replaced);
    if (seen.whole)
        seen.text = (struct slice){ call->said.p + head.n, call->said.n - head.n };
    if (seen.gone || call->done)
        patch_log_add_seen(r->out, &seen);
}

static void cn_end_call(struct cn_reading *r, struct slice state)
{
    static const char *const readers[] = {
        "List",      "Search", "Fetch", "Diff",          "Skills",         "AskQuestion",
        "Checklist", "Status", "Exit",  "ReportFailure", "UploadArtifact", "CheckBackgroundJob"
    };
    struct arena *a = &r->scratch;
    struct slice said;
    struct cn_call call = { .name = json_text_at(state, "toolCall.function.name", a),
                            .id = json_text_at(state, "toolCallId", a),
                            .input = json_text_at(state, "toolCall.function.arguments", a),
                            .said = cn_output(state, a),
                            .done = json_get_is(state, "status", "done"),
                            .failed = json_get_is(state, "status", "errored") ||
                                      json_get_is(state, "status", "canceled") };
    const bool writes = slice_eq(call.name, SLICE("Write")),
               edits =
                   slice_eq(call.name, SLICE("Edit")) || slice_eq(call.name, SLICE("MultiEdit"));

    if (!json_valid(call.input))
        call.input = SLICE("{}");
    if ((json_get_text(call.input, edits ? "file_path" : "filepath", a, &said)) && said.n &&
        r->out->cwd && !memchr(said.p, '\0', said.n) && (said = arena_copy(a, said)).p)
        call.path = path_normalize(r->out->cwd, said.p, &r->out->arena);
    if (writes || edits) {
        cn_end_change(r, &call, writes);
    } else if (slice_eq(call.name, SLICE("Read"))) {
        cn_end_read(r, &call);
    } else if (slice_eq(call.name, SLICE("Bash"))) {
        cn_add_command(r, json_text_at(call.input, "command", a));
        r->background |= !(call.done || call.failed) || slice_has(call.said, "ackground");
    } else {
        bool reads = false;

        for (size_t i = 0; i < COUNT_OF(readers) && !reads; i++)
            reads = slice_eq(call.name, slice_of(readers[i]));
        if (!reads)
            cn_add_command(r, SLICE(""));
    }
}

static enum err_code cn_read_row(struct cn_reading *r, const struct message *m, struct slice row,
                                 struct err *e)
{
    enum { NOT_TYPED = MESSAGE_META | MESSAGE_SUMMARY | MESSAGE_BROKEN | MESSAGE_LEFT_OUT };
    struct slice state;
    struct json_iter it;

    if (m->flags & MESSAGE_BROKEN || r->background)
        cn_add_command(r, SLICE("")); /* a damaged one may have been the result of any call */
    if (m->kind == MESSAGE_USER && !(m->flags & NOT_TYPED)) {
        /* A prompt is named by its place, as where only snapshots are rewound to
         * (store/rewind/plan/prompt_points.c). */
        CLEANUP(transcript_blocks_fini) struct block_list blocks = { .n = 0 };
        char id[32];

        TRY(r->st->ops->blocks(r->st, row, &blocks, e));
        for (size_t i = 0; i < blocks.n; i++) {
            if (blocks.block[i].kind != BLOCK_PROMPT)
                continue;
            snprintf(id, sizeof id, "prompt-%zu", r->out->points + 1);
            patch_log_add_point(r->out, &(struct patch_point){ .id = slice_of(id),
                                                               .text = blocks.block[i].text,
                                                               .time_ms = TIME_NONE,
                                                               .at = r->at });
            break;
        }
    }
    json_list_open(&it, row, "toolCallStates");
    while (json_list_next(&it, &state))
        cn_end_call(r, state);
    arena_reset(&r->scratch);
    return r->out->arena.failed || r->scratch.failed ? err_nomem(e) : ERR_OK;
}

static enum err_code cn_read_patches(const struct store *st, const struct session_ref *ref,
                                     struct patch_log *out, struct err *e)
{
    CLEANUP(transcript_free_at) struct transcript *t = NULL;
    CLEANUP(patch_log_fini) struct patch_log log = { .lossy = true };
    CLEANUP(session_row_free_at) struct session_row *about = session_row_new();
    const struct scope everywhere = { .all = true };
    struct cn_reading r = { .st = st, .out = &log };
    AUTO_BUF row = { 0 };

    NEED(about);
    if (st->ops->describe(st, &everywhere, ref, about, NULL) == ERR_OK && about->cwd.n &&
        about->cwd.p[0] == '/')
        log.cwd = arena_copy(&log.arena, about->cwd).p;
    enum err_code rc = jsonl_load(st, ref, NULL, &t, e);

    for (size_t i = 0; !rc && i < t->n; i++) {
        rc = transcript_read(t, i, &row, e);
        if (!rc)
            rc = cn_read_row(&r, &t->message[i], buf_slice(&row), e);
        r.at += CN_PLACES;
    }
    arena_fini(&r.scratch);
    TRY(rc);
    HAND_OVER(out, log);
    return ERR_OK;
}

enum err_code cn_checkpoints(const struct store *st, const struct session_ref *ref,
                             struct checkpoint_list *out, struct err *e)
{
    struct patch_log log;

    TRY(cn_read_patches(st, ref, &log, e));
    return patch_log_checkpoints(&log, out, e);
}

enum err_code cn_plan(const struct store *st, const struct session_ref *ref, struct slice point,
                      struct rewind_plan *out, struct err *e)
{
    struct patch_log log;

    TRY(cn_read_patches(st, ref, &log, e));
    return patch_log_plan(&log, ref, continue_ops.label, point, out, e);
}
