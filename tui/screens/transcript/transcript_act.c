#include "lite/base/utf8.h"
#include "tui/screens/transcript/transcript_internal.h"

#include <stdlib.h>

#include "lite/base/utf8.h"

/* The actions of the view: in the conversation, in the views that cover it (the raw entry, a
 * choice), and while a search is typed. */

/* ---- folding ---- */

static bool block_has_line(const struct styled_text *s, unsigned block, enum line_part part,
                           size_t *at)
{
    for (size_t i = 0; i < s->n; i++)
        if (s->line[i].block == block && s->line[i].part == part && s->line[i].foldable) {
            *at = i;
            return true;
        }
    return false;
}

/* The other part takes the place of this one: the cursor goes to the line where reading goes on. */
static void turn_part(struct transcript_view *v, int64_t offset, struct line line)
{
    bool later = line.part == PART_LATER;
    const struct slot *s = transcript_view_cursor_slot(v);
    int part = folds_part(&v->folds, s->passage.blocks.block[line.block].kind, offset, line.block);

    if (!folds_set_part(&v->folds, offset, line.block, part + (later ? 1 : -1))) {
        transcript_view_notify_no_memory(v);
        return;
    }
    transcript_view_lines(v, v->cursor.message);
    block_has_line(&s->styled_text, line.block, later ? PART_EARLIER : PART_LATER, &v->cursor.line);
    transcript_view_show_cursor(v, v->rows / 2);
}

/* A call is unfolded at its line. Lines without a fold belong to the block of their message. */
static void unfold(struct transcript_view *v)
{
    const struct slot *s = transcript_view_cursor_slot(v);

    if (!s || v->cursor.line >= s->styled_text.n)
        return;
    struct line line = s->styled_text.line[v->cursor.line];
    struct transcript_position head = v->cursor;

    if (!line.foldable) {
        transcript_view_refuse(v, "nothing to unfold here");
        return;
    }
    int64_t offset = v->conversation->transcript->message[v->cursor.message].offset;
    enum block_kind kind = s->passage.blocks.block[line.block].kind;
    size_t more;

    if (line.part == PART_EARLIER || line.part == PART_LATER) {
        turn_part(v, offset, line);
        return;
    }
    bool cut = block_has_line(&s->styled_text, line.block, PART_MORE, &more);

    if (!(line.part == PART_MORE ? folds_toggle(&v->folds, offset, line.block, PART_MORE)
                                 : folds_cycle(&v->folds, kind, offset, line.block, cut))) {
        transcript_view_notify_no_memory(v);
        return;
    }
    if (line.part == PART_MORE || head.line == 0 ||
        folds_open(&v->folds, kind, offset, line.block, PART_BLOCK))
        return;
    /* closing from within: the cursor goes to the line that stays */
    size_t lines = transcript_view_lines(v, head.message);
    const struct slot *now = transcript_view_cursor_slot(v);

    for (size_t i = 0; i < lines; i++)
        if (now->styled_text.line[i].block == line.block && now->styled_text.line[i].runs > 0 &&
            !now->styled_text.line[i].rule) {
            if (i < v->cursor.line)
                v->cursor.line = i;
            break;
        }
    transcript_view_show_cursor(v, 0);
}

static bool is_foldable_here(struct transcript_view *v)
{
    const struct slot *s = transcript_view_cursor_slot(v);

    return s && v->cursor.line < s->styled_text.n && s->styled_text.line[v->cursor.line].foldable;
}

static void next_level(struct transcript_view *v)
{
    static const char *const says[FOLD_LEVELS] = {
        [FOLD_TOOLS] = "tools and notes folded",
        [FOLD_NOTHING] = "everything open",
        [FOLD_ALL] = "outline: prompts and first lines",
    };
    struct folds *f = &v->folds;
    bool end = v->at_end;

    f->level = (enum fold_level)((f->level + 1) % FOLD_LEVELS);
    f->thinking = f->level == FOLD_NOTHING;
    f->n = f->parts = 0; /* what was folded one by one */
    f->stamp++;
    transcript_view_notify(v, says[v->folds.level]);
    if (end) {
        /* The cursor goes to what appears below it, so that it stays at the end. */
        v->placed = false;
    } else if (transcript_view_nearest_line(v, &v->cursor)) {
        v->top = v->cursor;
        transcript_view_scroll_lines(v, -(long)(v->rows / 3));
    }
}

/* ---- the file ---- */

static void open_transcript_in_editor(struct transcript_view *v, struct effects *fx)
{
    struct buf path = { 0 };
    const char *p = v->conversation ? v->conversation->transcript->path : NULL;

    if (!p || buf_add(&path, slice_of(p))) {
        buf_fini(&path);
        return;
    }
    effect_add(fx, EFFECT_EDIT, v->requester)->text = path;
}

/* ---- over the conversation ---- */

/* The entry is copied as it is in the file. */
static void copy_raw(struct transcript_view *v, struct effects *fx)
{
    const struct slot *s = transcript_view_cursor_slot(v);

    if (s)
        transcript_view_copy_text(v, utf8_js_trim(buf_slice(&s->passage.bytes)), fx);
}

static enum transcript_view_result act_in_raw(struct transcript_view *v, enum action a,
                                              struct effects *fx)
{
    long page = transcript_view_body_height(v) > 2 ? transcript_view_body_height(v) - 2 : 1;

    switch (a) {
    case ACT_UP: transcript_view_raw_scroll(v, -1); break;
    case ACT_DOWN: transcript_view_raw_scroll(v, 1); break;
    case ACT_PAGE_UP: transcript_view_raw_scroll(v, -page); break;
    case ACT_PAGE_DOWN: transcript_view_raw_scroll(v, page); break;
    case ACT_HALF_UP: transcript_view_raw_scroll(v, -page / 2); break;
    case ACT_HALF_DOWN: transcript_view_raw_scroll(v, page / 2); break;
    case ACT_FIRST: transcript_view_raw_scroll(v, -(1L << 40)); break;
    case ACT_LAST: transcript_view_raw_scroll(v, 1L << 40); break;
    case ACT_COPY: copy_raw(v, fx); break;
    case ACT_RAW:
    case ACT_BACK: transcript_view_raw_close(v); break;
    case ACT_HELP:
    case ACT_QUIT:
    case ACT_SUSPEND:
    case ACT_REDRAW: return TRANSCRIPT_IGNORED;
    default: transcript_view_refuse(v, "this is the raw entry: go back first"); break;
    }
    return TRANSCRIPT_DONE;
}

static enum transcript_view_result act_in_search(struct transcript_view *v, enum action a,
                                                 struct effects *fx)
{
    switch (a) {
    case ACT_ACCEPT:
        v->search.typing = false;
        if (v->search.needle.n == 0)
            transcript_view_search_cancel(v, fx);
        break;
    case ACT_BACK:
        v->search.typing = false;
        transcript_view_search_return(v);
        transcript_view_search_cancel(v, fx);
        break;
    case ACT_SEARCH_NEXT: transcript_view_search_step(v, 1); break;
    case ACT_SEARCH_PREV: transcript_view_search_step(v, -1); break;
    default: return TRANSCRIPT_IGNORED;
    }
    return TRANSCRIPT_DONE;
}

/* ---- in the conversation ---- */

static bool transcript_act_moving(struct transcript_view *v, enum action a)
{
    switch (a) {
    case ACT_UP: transcript_view_move(v, -1); break;
    case ACT_DOWN: transcript_view_move(v, 1); break;
    case ACT_PAGE_UP: transcript_view_move_page(v, -2); break;
    case ACT_PAGE_DOWN: transcript_view_move_page(v, 2); break;
    case ACT_HALF_UP: transcript_view_move_page(v, -1); break;
    case ACT_HALF_DOWN: transcript_view_move_page(v, 1); break;
    case ACT_FIRST: transcript_view_to_first(v); break;
    case ACT_LAST: transcript_view_to_end(v); break;
    case ACT_PROMPT_PREV: transcript_view_to_prompt(v, -1); break;
    case ACT_PROMPT_NEXT: transcript_view_to_prompt(v, 1); break;
    case ACT_SEARCH_NEXT: transcript_view_search_step(v, 1); break;
    case ACT_SEARCH_PREV: transcript_view_search_step(v, -1); break;
    default: return false;
    }
    return true;
}

static enum transcript_view_result transcript_act_step_back(struct transcript_view *v,
                                                            struct effects *fx)
{
    if (v->search.needle.n == 0)
        return TRANSCRIPT_BACK;
    transcript_view_search_cancel(v, fx);
    return TRANSCRIPT_DONE;
}

static enum transcript_view_result act_here(struct transcript_view *v, enum action a,
                                            struct effects *fx)
{
    const char *reason = transcript_view_unavailable(v, a);

    if (reason) {
        transcript_view_refuse(v, reason);
        return TRANSCRIPT_DONE;
    }

    if (transcript_act_moving(v, a))
        return TRANSCRIPT_DONE;
    switch (a) {
    case ACT_BACK: return transcript_act_step_back(v, fx);
    case ACT_UNFOLD: unfold(v); break;
    case ACT_UNFOLD_OR_PAGE:
        if (is_foldable_here(v))
            unfold(v);
        else
            transcript_view_move_page(v, 2);
        break;
    case ACT_FOLD_LEVEL: next_level(v); break;
    case ACT_THINKING:
        v->folds.thinking = !v->folds.thinking;
        v->folds.stamp++;
        break;
    case ACT_SEARCH: transcript_view_search_begin(v); break;
    case ACT_SUBAGENTS: transcript_view_choose_agent(v, fx); break;
    case ACT_BRANCHES: transcript_view_choose_branch(v, fx); break;
    case ACT_RAW: transcript_view_raw_open(v); break;
    case ACT_COPY: transcript_view_copy(v, fx); break;
    case ACT_EDIT: open_transcript_in_editor(v, fx); break;
    default: return TRANSCRIPT_IGNORED;
    }
    return TRANSCRIPT_DONE;
}

static enum transcript_view_result act_in_inner(struct transcript_view *v, enum action a,
                                                struct effects *fx)
{
    bool branches = a == ACT_BRANCHES && transcript_view_is_branch(v->inner);
    enum transcript_view_result result =
        branches ? TRANSCRIPT_BACK : transcript_view_act(v->inner, a, fx);

    if (result != TRANSCRIPT_BACK)
        return result;
    transcript_view_close(v->inner, fx);
    transcript_view_free(v->inner);
    v->inner = NULL;
    if (branches)
        transcript_view_choose_branch(v, fx); /* the same list again */
    else if (v->agent_listed)
        transcript_view_list_agents(v, fx);
    v->agent_listed = false;
    if (v->conversation && v->conversation->transcript->partial)
        transcript_view_reload(v, &v->session->ref[0], fx); /* a newer question took its place */
    return TRANSCRIPT_DONE;
}

enum transcript_view_result transcript_view_act(struct transcript_view *v, enum action a,
                                                struct effects *fx)
{
    enum transcript_view_result result;

    if (v->inner)
        return act_in_inner(v, a, fx);
    if (!v->session)
        return a == ACT_BACK ? TRANSCRIPT_BACK : TRANSCRIPT_IGNORED;
    v->notice[0] = '\0';
    if (v->choice.names)
        return transcript_view_choice_act(v, a, fx);
    if (v->raw.shown)
        result = act_in_raw(v, a, fx);
    else if (v->search.typing)
        result = act_in_search(v, a, fx);
    else
        result = act_here(v, a, fx);
    if (result == TRANSCRIPT_BACK)
        return result;
    transcript_view_settle(v, fx);
    v->stuck = false;
    transcript_view_want_more(v, fx);
    return result;
}

bool transcript_view_dismiss(struct transcript_view *v)
{
    if (v->inner)
        return transcript_view_dismiss(v->inner);
    const bool refused = v->notice[0] && v->notice_refuses && !v->search.typing;

    if (refused)
        v->notice[0] = '\0';
    return refused;
}

void transcript_view_key(struct transcript_view *v, struct key key, struct effects *fx)
{
    struct buf *needle = &v->search.needle;
    char utf8[4];

    if (v->inner) {
        transcript_view_key(v->inner, key, fx);
        return;
    }
    if (!v->search.typing)
        return;
    if (key_is_text(key)) {
        size_t n = utf8_encode(utf8, key.code);

        if (buf_add(needle, (struct slice){ utf8, n }))
            transcript_view_notify_no_memory(v);
    } else if (key.code == KEYCODE_BACKSPACE) {
        /* A character is removed with all its bytes. */
        while (needle->n > 0 && ((unsigned char)needle->p[--needle->n] & 0xC0) == 0x80)
            ;
    } else if (key.code == 'u' && key.mods == MOD_CTRL) {
        needle->n = 0;
    } else {
        return;
    }

    transcript_view_search_typed(v, fx);
    transcript_view_settle(v, fx);
    transcript_view_want_more(v, fx);
}

void transcript_view_paste(struct transcript_view *v, struct slice text, struct effects *fx)
{
    size_t line = 0; /* a terminal may send a line break as \r */

    if (v->inner) {
        transcript_view_paste(v->inner, text, fx);
        return;
    }
    if (!v->search.typing)
        return;
    while (line < text.n && ((unsigned char)text.p[line] >= ' ' || text.p[line] == '\t') &&
           text.p[line] != 0x7f)
        line++;
    if (buf_add(&v->search.needle, (struct slice){ text.p, line }))
        transcript_view_notify_no_memory(v);
    transcript_view_search_typed(v, fx);
    transcript_view_settle(v, fx);
    transcript_view_want_more(v, fx);
}

static const char *in_words(const struct store_ops *ops, unsigned ability, const char *otherwise)
{
    const char *why = store_unsupported_reason(ops, ability);

    return why ? why : otherwise;
}

const char *transcript_view_unavailable(const struct transcript_view *v, enum action a)
{
    const struct store_ops *ops = v->session ? v->session->ref[0].store->ops : NULL;

    if (v->inner)
        return transcript_view_unavailable(v->inner, a);
    switch (a) {
    case ACT_BRANCHES:
        return !ops || ops->branches
                   ? NULL
                   : in_words(ops, CAN_HAVE_BRANCHES, "this agent keeps no branches");
    case ACT_REWIND_AT:
        return ops && store_can_rewind(ops) ? NULL : "this agent keeps no copies of files";
    case ACT_SUBAGENTS:
        return !ops || ops->subagents
                   ? NULL
                   : in_words(ops, CAN_HAVE_AGENTS, "this agent keeps no sub-agents");
    case ACT_SEARCH_NEXT:
    case ACT_SEARCH_PREV: return v->search.needle.n ? NULL : "no search yet: press /";
    default: return NULL;
    }
}
