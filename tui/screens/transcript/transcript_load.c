#include <stdio.h>
#include <stdlib.h>

#include "tui/screens/transcript/transcript_internal.h"
#include "tui/text/human.h"

enum {
    VIEWER_TAIL = 512 * 1024,
    PREVIEW_TAIL = 128 * 1024,
    TAIL_MAX = 64 * 1024 * 1024, /* a longer last row is only read with the whole file */
    MARK_WIDTH = 2,              /* the selected line's mark */
    BAR_WIDTH = 2,
    PAGE_GROWS = 4,  /* each page of a remote conversation is longer by this factor */
    PAGE_AHEAD = 30, /* requested when fewer messages are above the screen */
};

int transcript_view_body_height(const struct transcript_view *v)
{
    bool foot = v->search.typing || v->search.needle.n > 0; /* reserved, so that no hit is hidden
                                                               behind it */

    return transcript_view_is_preview(v) ? v->h : v->h - 1 - foot;
}

int transcript_view_text_width(const struct transcript_view *v)
{
    return transcript_view_is_preview(v)
               ? v->w
               : v->w - MARK_WIDTH - BAR_WIDTH - transcript_view_turns_width(v);
}

struct layout_options transcript_view_layout(const struct transcript_view *v)
{
    bool ascii = v->settings->ascii;
    struct layout_options look = { .width = transcript_view_text_width(v),
                                   .ascii = ascii,
                                   .glyphs = layout_glyphs_for(ascii),
                                   .root = v->root,
                                   .now_ms = v->now_ms };

    const struct keymap *keys = &v->settings->keys;
    struct key key;

    if (!transcript_view_is_preview(v) &&
        (keymap_key_of(keys, IN_TRANSCRIPT, ACT_UNFOLD_OR_PAGE, &key) ||
         keymap_key_of(keys, IN_TRANSCRIPT, ACT_UNFOLD, &key)))
        key_label(key, ascii, look.unfold);
    return look;
}

void transcript_view_notify(struct transcript_view *v, const char *text)
{
    snprintf(v->notice, sizeof v->notice, "%s", text);
    v->notice_refuses = false;
}

void transcript_view_refuse(struct transcript_view *v, const char *why)
{
    transcript_view_notify(v, why);
    v->notice_refuses = true;
}

void transcript_view_notify_no_memory(struct transcript_view *v)
{
    transcript_view_refuse(v, ERR_NOMEM_TEXT);
}

struct transcript_view *transcript_view_new(const struct settings *settings,
                                            enum requester requester)
{
    struct transcript_view *v = calloc(1, sizeof *v);

    if (v) {
        v->settings = settings;
        v->requester = requester;
        v->root = settings->project;
    }
    return v;
}

/* Clears everything about the session that was shown. */
static void clear_session(struct transcript_view *v)
{
    transcript_view_free(v->inner);
    ref_list_free(v->session);
    arena_fini(&v->texts);
    v->root = v->settings->project;
    conversation_free(v->conversation);
    conversation_usage_free(v->usage);
    transcript_window_clear(&v->window);
    folds_fini(&v->folds);
    transcript_view_search_fini(&v->search);
    transcript_view_raw_close(v);
    transcript_view_choice_close(v);
    free(v->row);
    *v = (struct transcript_view){ .settings = v->settings,
                                   .requester = v->requester,
                                   .root = v->root,
                                   .now_ms = v->now_ms,
                                   .h = v->h,
                                   .w = v->w,
                                   .sizes = v->sizes };
}

void transcript_view_free(struct transcript_view *v)
{
    if (!v)
        return;
    clear_session(v);
    free(v);
}

void transcript_view_close(struct transcript_view *v, struct effects *fx)
{
    if (v->inner)
        transcript_view_close(v->inner, fx);
    effect_cancel(fx, v->requester, &v->asked_tail);
    effect_cancel(fx, v->requester, &v->asked_load);
    effect_cancel(fx, v->requester, &v->asked_read);
    effect_cancel(fx, v->requester, &v->asked_names);
    effect_cancel(fx, v->requester, &v->asked_branches);
    effect_cancel(fx, v->requester, &v->asked_usage);
    transcript_view_search_cancel(v, fx);
    clear_session(v);
}

/* ---- questions ---- */

static struct effect *transcript_load_request_session(struct transcript_view *v,
                                                      enum effect_kind kind, unsigned *generation,
                                                      struct effects *fx)
{
    struct ref_list *refs = ref_list_one(&v->session->ref[0], v->session->agent);

    if (!refs) {
        err_nomem(&v->error);
        return NULL;
    }
    struct effect *e = effect_add(fx, kind, v->requester);

    e->refs = refs;
    *generation = e->generation;
    return e;
}

static void request_tail(struct transcript_view *v, struct effects *fx)
{
    struct effect *e = transcript_load_request_session(v, EFFECT_TAIL, &v->asked_tail, fx);

    if (e)
        e->bytes = v->tail_requested;
}

static void request_whole(struct transcript_view *v, struct effects *fx)
{
    struct effect *e =
        v->asked_load ? NULL : transcript_load_request_session(v, EFFECT_LOAD, &v->asked_load, fx);

    if (e)
        e->branch = v->branch;
}

/* A preview requests it once its end is shown; the viewer shows it for the turns of the whole
 * conversation. */
static void request_usage(struct transcript_view *v, struct effects *fx)
{
    const struct session_ref *ref = &v->session->ref[0];
    bool preview = transcript_view_is_preview(v);

    if (v->requester == REQUESTER_TRASH || v->session->agent.n || !ref->store ||
        (preview && !ref->store->ops->usage) || (!preview && v->conversation->transcript->partial))
        return;
    effect_cancel(fx, v->requester, &v->asked_usage);
    struct effect *e = transcript_load_request_session(v, EFFECT_USAGE, &v->asked_usage, fx);

    if (e && !preview)
        e->conversation = conversation_retain(v->conversation);
}

static void set_usage(struct transcript_view *v, struct conversation_usage *usage)
{
    v->asked_usage = 0;
    conversation_usage_free(v->usage);
    v->usage = usage;
    v->sizes++; /* lines for the turns come in */
    if (v->at_end)
        v->placed = false; /* the last of them is the end */
}

const struct usage_sum *transcript_view_usage(const struct transcript_view *v)
{
    return v->usage ? &v->usage->sum : NULL;
}

bool transcript_view_sums_usage(const struct transcript_view *v)
{
    return v->asked_usage != 0;
}

/* The rest of a conversation on a server is read when the reader comes near it. */
static bool reads_pages(const struct transcript_view *v)
{
    const struct store *st = v->session->ref[0].store;

    return st && st->ops->remote;
}

static bool transcript_load_open_session(struct transcript_view *v, const struct session_ref *ref,
                                         struct slice agent, struct id128 branch,
                                         struct slice title, struct effects *fx)
{
    transcript_view_close(v, fx);
    v->branch = branch;
    v->session = ref_list_one(ref, agent);
    v->title = arena_copy(&v->texts, title);
    if (!v->session || !v->title.p) {
        transcript_view_close(v, fx);
        return false;
    }
    v->at_end = true;
    v->tail_requested = transcript_view_is_preview(v) ? PREVIEW_TAIL : VIEWER_TAIL;
    if (transcript_view_is_branch(v))
        request_whole(v, fx);
    else
        request_tail(v, fx);
    return true;
}

bool transcript_view_open(struct transcript_view *v, const struct session_ref *ref,
                          struct slice title, struct slice cwd, struct effects *fx)
{
    if (!transcript_load_open_session(v, ref, (struct slice){ "", 0 }, (struct id128){ 0 }, title,
                                      fx))
        return false;
    if (cwd.n > 0)
        v->root = arena_copy(&v->texts, cwd);
    return true;
}

static void open_inner(struct transcript_view *v, struct slice agent, struct id128 branch,
                       struct slice title, struct effects *fx)
{
    v->inner = transcript_view_new(v->settings, v->requester);
    if (v->inner) {
        v->inner->now_ms = v->now_ms;
        transcript_view_resize(v->inner, v->h, v->w, fx);
    }
    if (!v->inner ||
        !transcript_load_open_session(v->inner, &v->session->ref[0], agent, branch, title, fx)) {
        transcript_view_free(v->inner);
        v->inner = NULL;
        transcript_view_notify_no_memory(v);
        return;
    }
    v->inner->root = v->root; /* which lives longer */
}

void transcript_view_open_agent(struct transcript_view *v, struct slice agent, struct slice task,
                                struct effects *fx)
{
    const char *colon = task.n ? ":" : "";
    struct slice name = task.n ? task : agent;
    char title[200];

    snprintf(title, sizeof title, "sub-agent%s %.*s", colon, name.n > 160 ? 160 : (int)name.n,
             name.p);
    open_inner(v, agent, (struct id128){ 0 }, slice_of(title), fx);
}

void transcript_view_open_branch(struct transcript_view *v, struct id128 leaf, struct slice title,
                                 struct effects *fx)
{
    open_inner(v, (struct slice){ "", 0 }, leaf, title, fx);
}

void transcript_view_reload(struct transcript_view *v, const struct session_ref *ref,
                            struct effects *fx)
{
    if (!v->session)
        return;
    struct ref_list *again = ref_list_one(ref, v->session->agent);

    if (!again)
        return;
    ref_list_free(v->session);
    v->session = again;
    if (v->at_end || !v->conversation || v->conversation->transcript->partial)
        request_tail(v, fx);
    else
        request_whole(v, fx);
}

void transcript_view_set_gone(struct transcript_view *v, bool gone)
{
    v->gone = gone;
    if (v->inner)
        v->inner->gone = gone;
}

void transcript_view_retitle(struct transcript_view *v, struct slice title)
{
    if (!v->session || slice_eq(v->title, title))
        return;
    struct slice copy = arena_copy(&v->texts, title); /* the old one stays: few are given */

    if (copy.p)
        v->title = copy;
}

/* ---- answers ---- */

/* Returns true if the part that was read is too small for even one message. */
static bool is_hardly_anything(const struct transcript_view *v)
{
    const struct transcript *t = v->conversation->transcript;

    return t->partial && t->n == 0 && (int64_t)v->tail_requested < t->size;
}

/* A conversation is shown from its end, a branch from where it leaves the conversation. */
static void go_to_start(struct transcript_view *v)
{
    const struct transcript *t = v->conversation->transcript;

    transcript_view_to_end(v);
    for (size_t i = 0; i < t->n && transcript_view_is_branch(v); i++)
        if (t->message[i].flags & MESSAGE_ASIDE) {
            transcript_view_go_to(v, (struct transcript_position){ i, 0 });
            return;
        }
}

/* A message of another branch is not in the conversation. */
static void go_to_message(struct transcript_view *v)
{
    const struct transcript *t = v->conversation->transcript;
    size_t i = 0;

    while (i < t->n && !id128_eq(t->message[i].id, v->to_message))
        i++;
    if (i < t->n)
        transcript_view_go_to(v, (struct transcript_position){ i, 0 });
    else
        transcript_view_refuse(v, "the turn is not in this conversation: b lists other branches");
    v->to_message = (struct id128){ 0, 0 };
}

void transcript_view_go_to_message(struct transcript_view *v, struct id128 message)
{
    v->to_message = message;
    if (!id128_none(message) && v->conversation && !v->conversation->transcript->partial)
        go_to_message(v);
}

/* Said once, and the title goes on saying how much it is. */
static void tell_lost(struct transcript_view *v)
{
    const struct transcript *t = v->conversation->transcript;
    const struct session_ref *ref = &v->session->ref[0];
    const size_t id = ref->id.n < 8 ? ref->id.n : 8;

    if (t->lost && !v->told_lost && !transcript_view_is_preview(v)) {
        v->notice_refuses = false;
        snprintf(v->notice, sizeof v->notice,
                 "a resume restores %zu of %zu messages: reprise doctor %.*s --fix --reconnect",
                 t->restored, t->restored + t->lost, (int)id, ref->id.p);
    }
    v->told_lost |= t->lost > 0;
}

static void set_conversation(struct transcript_view *v, const struct msg *msg, struct effects *fx)
{
    bool tail = msg->generation == v->asked_tail;

    if (tail) {
        v->asked_tail = 0;
        v->tail_shown = v->tail_requested;
    } else {
        v->asked_load = 0;
    }
    v->error = (struct err){ 0 };
    transcript_view_search_keep(v);
    transcript_view_replace(v, msg->u.conversation);
    transcript_view_search_again(v, fx);
    if (is_hardly_anything(v) && v->tail_requested < TAIL_MAX) {
        v->tail_requested *= 16;
        request_tail(v, fx);
    } else if (v->conversation->transcript->partial &&
               (is_hardly_anything(v) || v->conversation->transcript->n == 0 ||
                !(transcript_view_is_preview(v) || reads_pages(v)))) {
        request_whole(v, fx);
    }
    if (!v->placed && v->conversation->transcript->n > 0)
        go_to_start(v);
    if (v->to_first && !v->conversation->transcript->partial)
        transcript_view_to_first(v);
    if (!id128_none(v->to_message) && !v->conversation->transcript->partial)
        go_to_message(v);
    tell_lost(v);
    request_usage(v, fx);
}

static bool is_near_start(const struct transcript_view *v)
{
    bool preview = transcript_view_is_preview(v);

    if (v->rows == 0 || (preview && v->at_end))
        return false;
    return v->row[0].message < (preview ? 1 : PAGE_AHEAD);
}

static void request_page(struct transcript_view *v, struct effects *fx)
{
    if (v->asked_tail || v->asked_load)
        return;
    v->tail_requested = v->tail_shown * PAGE_GROWS;
    request_tail(v, fx);
}

/* A preview that is scrolled to the beginning of its tail needs the rest, and so does a remote conversation. */
void transcript_view_want_more(struct transcript_view *v, struct effects *fx)
{
    bool partial = v->conversation && v->conversation->transcript->partial;

    if (!partial || v->stuck || !(transcript_view_is_preview(v) || reads_pages(v)))
        return;
    /* Something is looked for in all of it. */
    if (v->to_first || !id128_none(v->to_message) || v->search.needle.n > 0) {
        effect_cancel(fx, v->requester, &v->asked_tail); /* its answer could come later */
        request_whole(v, fx);
    } else if (is_near_start(v) && reads_pages(v) && v->tail_shown < TAIL_MAX) {
        request_page(v, fx);
    } else if (is_near_start(v)) {
        request_whole(v, fx);
    }
}

static void handle_transcript_failure(struct transcript_view *v, const struct msg *msg,
                                      struct effects *fx)
{
    char line[256];

    if (msg->generation == v->asked_read && msg->u.error.code == ERR_STALE)
        request_tail(v, fx); /* the file was replaced under us */
    if (msg->generation == v->asked_names || msg->generation == v->asked_branches) {
        err_sentence(&msg->u.error, line, sizeof line);
        transcript_view_refuse(v, line);
    } else if (!v->conversation) {
        v->error = msg->u.error;
    } else if (msg->generation == v->asked_tail || msg->generation == v->asked_load) {
        v->stuck = true;
        err_sentence(&msg->u.error, line, sizeof line);
        transcript_view_refuse(v, line);
    }
    if (msg->generation == v->asked_tail)
        v->asked_tail = 0;
    if (msg->generation == v->asked_load)
        v->asked_load = 0;
    if (msg->generation == v->asked_read)
        v->asked_read = 0;
    if (msg->generation == v->asked_names)
        v->asked_names = 0;
    if (msg->generation == v->asked_branches)
        v->asked_branches = 0;
    if (msg->generation == v->asked_usage)
        v->asked_usage = 0;
}

static bool handle_answer(struct transcript_view *v, const struct msg *msg, struct effects *fx)
{
    if (transcript_view_search_msg(v, msg))
        return true;
    const unsigned g = msg->generation;

    if (!g || (g != v->asked_tail && g != v->asked_load && g != v->asked_read &&
               g != v->asked_names && g != v->asked_branches && g != v->asked_usage))
        return false;
    switch (msg->kind) {
    case MSG_TRANSCRIPT: set_conversation(v, msg, fx); return true;
    case MSG_PASSAGES:
        v->asked_read = 0;
        transcript_view_set_rows(v, msg->u.passages);
        return true;
    case MSG_USAGE: set_usage(v, msg->u.token_usage); return true;
    case MSG_SUBAGENTS: transcript_view_set_agents(v, msg->u.subagents, fx); return true;
    case MSG_BRANCHES: transcript_view_set_branches(v, msg->u.branches); return true;
    case MSG_FAILED: handle_transcript_failure(v, msg, fx); return true;
    case MSG_PROGRESS: return true;
    default: return false;
    }
}

bool transcript_view_msg(struct transcript_view *v, const struct msg *msg, struct effects *fx)
{
    v->now_ms = msg->now_ms;
    if (v->inner && transcript_view_msg(v->inner, msg, fx))
        return true;
    if (!handle_answer(v, msg, fx))
        return false;
    transcript_view_settle(v, fx);
    transcript_view_want_more(v, fx);
    return true;
}

/* ---- the position ---- */

enum key_context transcript_view_key_context(const struct transcript_view *v)
{
    if (v->inner)
        return transcript_view_key_context(v->inner);
    if (v->choice.names)
        return IN_MENU;
    return v->search.typing ? IN_SEARCH : IN_TRANSCRIPT;
}

bool transcript_view_message(const struct transcript_view *v, struct id128 *id, int64_t *time_ms)
{
    const struct transcript *t = v->conversation ? v->conversation->transcript : NULL;

    if (v->inner && transcript_view_is_branch(v->inner))
        return transcript_view_message(v->inner, id, time_ms);
    if (!t || !v->placed || v->cursor.message >= t->n)
        return false;
    *id = t->message[v->cursor.message].id;
    *time_ms = t->message[v->cursor.message].time_ms;
    return true;
}

struct id128 transcript_view_leaf(const struct transcript_view *v)
{
    return v->inner ? transcript_view_leaf(v->inner) : v->branch;
}

const struct slot *transcript_view_cursor_slot(const struct transcript_view *v)
{
    return v->placed ? transcript_window_slot(&v->window, v->cursor.message) : NULL;
}

const struct block *transcript_view_block(const struct transcript_view *v)
{
    const struct slot *s = transcript_view_cursor_slot(v);

    if (!s || v->cursor.line >= s->styled_text.n)
        return NULL;
    size_t at = s->styled_text.line[v->cursor.line].block;

    return at < s->passage.blocks.n ? &s->passage.blocks.block[at] : NULL;
}

void transcript_view_scroll(struct transcript_view *v, int lines, struct effects *fx)
{
    if (v->inner) {
        transcript_view_scroll(v->inner, lines, fx);
        return;
    }
    if (v->raw.shown)
        transcript_view_raw_scroll(v, lines);
    else
        transcript_view_scroll_lines(v, lines);
    transcript_view_settle(v, fx);
    v->stuck = false;
    transcript_view_want_more(v, fx);
}

void transcript_view_click(struct transcript_view *v, int y, int x, struct effects *fx)
{
    int row = y - (transcript_view_is_preview(v) ? 0 : 1);
    size_t turn;

    if (v->inner) {
        transcript_view_click(v->inner, y, x, fx);
    } else if (!v->raw.shown && !v->choice.names && transcript_view_turn_at(v, y, x, &turn)) {
        transcript_view_go_to(v, (struct transcript_position){ v->usage->head[turn].message, 0 });
        transcript_view_settle(v, fx);
    } else if (row >= 0 && (size_t)row < v->rows && !v->raw.shown && !v->choice.names) {
        v->cursor = v->row[row];
        v->at_end = false;
        transcript_view_settle(v, fx);
    }
}
