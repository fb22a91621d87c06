#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lite/base/utf8.h"
#include "lite/json/json.h"
#include "tui/screens/transcript/transcript_internal.h"
#include "tui/text/human.h"
#include "tui/widgets/frame.h"

/* Shows an entry as it is stored: its JSON, one value per line, nothing decoded and nothing left out. A row that does
 * not parse is shown as bytes. */
enum { DEPTH_MAX = 64, STEP = 2, LINES_MAX = 100000 };

struct printing {
    struct styled_text *styled_text;
    int width;
    struct json_iter open[DEPTH_MAX];
    int depth;
};

/* Returns true if another value follows in the container that is being printed. */
static bool print_goes_on(const struct printing *p)
{
    struct json_iter ahead;
    struct slice key, value;

    if (p->depth == 0)
        return false;
    ahead = p->open[p->depth - 1];
    return json_iter_next(&ahead, &key, &value);
}

static void print_value(struct printing *p, struct slice key, struct slice value, enum style style,
                        bool comma)
{
    static const char blanks[] = "                                                                ";
    struct text_wrap f = { .styled_text = p->styled_text,
                           .width = p->width,
                           .mode = TEXT_WRAP_VERBATIM };
    size_t indent = (size_t)p->depth * STEP;

    if (indent > sizeof blanks - 1)
        indent = sizeof blanks - 1;
    text_margin_add(&f.first, STYLE_TEXT, blanks + (sizeof blanks - 1 - indent));
    text_margin_add(&f.rest, STYLE_TEXT, blanks + (sizeof blanks - 1 - indent));
    text_margin_add(&f.rest, STYLE_TEXT, "  ");
    text_wrap_begin(&f);
    if (key.n) {
        text_wrap_add(&f, STYLE_KEY, key);
        text_wrap_add(&f, STYLE_DIM, SLICE(": "));
    }
    text_wrap_add(&f, style, value);
    if (comma)
        text_wrap_add(&f, STYLE_DIM, SLICE(","));
    text_wrap_fini(&f);
}

static enum style transcript_choice_style_of(enum json_type type)
{
    switch (type) {
    case JSON_STRING: return STYLE_TEXT;
    case JSON_NUMBER: return STYLE_AGE;
    case JSON_TRUE:
    case JSON_FALSE:
    case JSON_NULL: return STYLE_TAG;
    default: return STYLE_DIM;
    }
}

/* Opens a container, or prints the value. Beyond the depth shown, a container is on one line. */
static void print_json_value(struct printing *p, struct slice key, struct slice v)
{
    enum json_type type = json_type(v);
    bool container = type == JSON_OBJECT || type == JSON_ARRAY;

    if (!container || p->depth == DEPTH_MAX || !json_iter_open(&p->open[p->depth], v)) {
        print_value(p, key, v, transcript_choice_style_of(type), print_goes_on(p));
        return;
    }
    print_value(p, key, type == JSON_OBJECT ? SLICE("{") : SLICE("["), STYLE_DIM, false);
    p->depth++;
}

static void print_json(struct printing *p, struct slice row)
{
    struct slice key, v;

    print_json_value(p, (struct slice){ NULL, 0 }, row);
    while (p->depth > 0 && !p->styled_text->rc && p->styled_text->n < LINES_MAX) {
        struct json_iter *it = &p->open[p->depth - 1];

        if (json_iter_next(it, &key, &v)) {
            print_json_value(p, key, v);
        } else {
            p->depth--;
            print_value(p, (struct slice){ NULL, 0 }, it->object ? SLICE("}") : SLICE("]"),
                        STYLE_DIM, print_goes_on(p));
        }
    }
}

void transcript_view_raw_open(struct transcript_view *v)
{
    const struct slot *s = transcript_view_cursor_slot(v);

    if (!s)
        return;
    transcript_view_raw_close(v);
    struct printing p = { .styled_text = &v->raw.styled_text,
                          .width = transcript_view_text_width(v) };
    struct slice row = utf8_js_trim(buf_slice(&s->passage.bytes));

    if (json_valid(row))
        print_json(&p, row);
    else
        print_value(&p, (struct slice){ NULL, 0 }, row, STYLE_TEXT, false);
    v->raw.shown = true;
}

bool transcript_view_shows_raw(const struct transcript_view *v)
{
    return v->inner ? transcript_view_shows_raw(v->inner) : v->raw.shown;
}

void transcript_view_raw_close(struct transcript_view *v)
{
    styled_text_fini(&v->raw.styled_text);
    v->raw = (struct raw){ .shown = false };
}

void transcript_view_raw_scroll(struct transcript_view *v, long lines)
{
    long h = transcript_view_body_height(v), n = (long)v->raw.styled_text.n;
    long last = n > h ? n - h : 0, top = (long)v->raw.top + lines;

    v->raw.top = (size_t)(top < 0 ? 0 : top > last ? last : top);
}

/* A list over the conversation to choose from: its sub-agents, its branches, or what can be copied of
 * a message (transcript_copy.c). */

enum { TYPE_MAX = 16 };

void transcript_view_choice_close(struct transcript_view *v)
{
    name_list_free(v->choice.names);
    name_list_free(v->choice.agents);
    name_list_free(v->choice.tasks);
    name_list_free(v->choice.copies);
    free(v->choice.leaf);
    v->choice = (struct transcript_choice){ .names = NULL };
}

/* ---- sub-agents ---- */

/* The sub-agent that the call at the cursor started; empty if it started no sub-agent. */
static struct slice agent_here(const struct transcript_view *v)
{
    const struct block *b = transcript_view_block(v);

    if (!b || b->kind != BLOCK_TOOL_CALL)
        return b ? b->agent : (struct slice){ NULL, 0 };
    for (size_t i = v->cursor.message;
         transcript_window_slot(&v->window, i) && i < v->cursor.message + 64; i++) {
        const struct block_list *list = &transcript_window_slot(&v->window, i)->passage.blocks;

        for (size_t k = 0; k < list->n; k++)
            if (list->block[k].kind == BLOCK_TOOL_RESULT &&
                slice_eq(list->block[k].call_id, b->call_id))
                return list->block[k].agent;
    }
    return b->agent;
}

void transcript_view_list_agents(struct transcript_view *v, struct effects *fx)
{
    struct ref_list *refs = ref_list_one(&v->session->ref[0], (struct slice){ "", 0 });

    if (!refs)
        return;
    struct effect *e = effect_add(fx, EFFECT_SUBAGENTS, v->requester);

    e->refs = refs;
    v->asked_names = e->generation;
}

void transcript_view_choose_agent(struct transcript_view *v, struct effects *fx)
{
    struct slice agent = agent_here(v);

    if (agent.n > 0) {
        transcript_view_open_agent(v, agent, (struct slice){ "", 0 }, fx);
        return;
    }
    v->agent_at = 0;
    transcript_view_list_agents(v, fx);
}

static struct slice transcript_choice_first_line(struct slice text)
{
    const char *end = text.n ? memchr(text.p, '\n', text.n) : NULL;

    return end ? (struct slice){ text.p, (size_t)(end - text.p) } : text;
}

/* "done        4.1 KB  Explore  Audit the shop's endpoints: 23 routes ..." */
static bool transcript_choice_add_agent(struct transcript_choice *c, const struct subagent *x,
                                        int type_w)
{
    struct slice task = transcript_choice_first_line(x->task),
                 outcome = transcript_choice_first_line(x->outcome);
    char size[HUMAN_SIZE] = "-";
    struct buf label = { 0 };
    int pad = type_w - frame_width(x->type);

    if (x->bytes >= 0)
        human_size(x->bytes, size);
    bool ok = buf_addf(&label, "%-10s %8s  %.*s%*s", subagent_end_word(x->end), size,
                       SLICE_ARG(x->type), pad > 0 ? pad : 0, "") == ERR_OK &&
              (type_w == 0 || buf_add(&label, SLICE("  ")) == ERR_OK) &&
              buf_add(&label, task.n ? task : x->id) == ERR_OK &&
              (outcome.n == 0 || buf_addf(&label, ": %.*s", SLICE_ARG(outcome)) == ERR_OK) &&
              name_list_add(c->names, buf_slice(&label)) && name_list_add(c->agents, x->id) &&
              name_list_add(c->tasks, task);

    buf_fini(&label);
    return ok;
}

void transcript_view_set_agents(struct transcript_view *v, struct subagent_list *list,
                                struct effects *fx)
{
    struct transcript_choice *c = &v->choice;
    int type_w = 0; /* of the longest type */

    v->asked_names = 0;
    transcript_view_choice_close(v);
    for (size_t i = 0; i < list->n; i++) {
        const int w = frame_width(list->agent[i].type);

        type_w = w > type_w ? w : type_w;
    }
    type_w = type_w < TYPE_MAX ? type_w : TYPE_MAX;
    if (list->n == 0) {
        transcript_view_refuse(v, "this session has no sub-agents");
    } else if (v->inner) {
        ; /* another conversation was opened meanwhile, and is read now */
    } else if (list->n == 1) {
        transcript_view_open_agent(v, list->agent[0].id,
                                   transcript_choice_first_line(list->agent[0].task), fx);
    } else {
        c->names = name_list_new();
        c->agents = name_list_new();
        c->tasks = name_list_new();
        bool ok = c->names && c->agents && c->tasks;

        for (size_t i = 0; i < list->n && ok; i++)
            ok = transcript_choice_add_agent(c, &list->agent[i], type_w);
        c->at = v->agent_at < list->n ? v->agent_at : 0;
        if (!ok) {
            transcript_view_choice_close(v);
            transcript_view_notify_no_memory(v);
        }
    }
    subagent_list_fini(list);
    free(list);
}

/* ---- branches ---- */

void transcript_view_choose_branch(struct transcript_view *v, struct effects *fx)
{
    struct ref_list *refs = ref_list_one(&v->session->ref[0], (struct slice){ "", 0 });

    if (!refs) {
        transcript_view_notify_no_memory(v);
        return;
    }
    struct effect *e = effect_add(fx, EFFECT_BRANCHES, v->requester);

    e->refs = refs;
    v->asked_branches = e->generation;
}

/* The first and the last prompt of a branch: several branches may end alike. */
static bool add_prompts(struct buf *out, const struct branch *b)
{
    struct slice from = transcript_choice_first_line(b->prompt),
                 to = transcript_choice_first_line(b->last);
    bool both = from.n && to.n && !slice_eq(from, to);

    return buf_add(out, from.n ? from
                        : to.n ? to
                               : SLICE("(no prompt)")) == ERR_OK &&
           (!both || buf_addf(out, " … %.*s", SLICE_ARG(to)) == ERR_OK);
}

/* "2 of 3    2h ago     4 messages   splits after entry 12  Try it with a queue": columns, as the list of sessions has them. On a
 * narrow screen the prompts get the room of what is less telling: of the age, because branches that begin and end alike
 * differ in their lengths, and on a very narrow one of the length. The current conversation is the first. */
static bool add_label(const struct transcript_view *v, const struct transcript_choice *c, size_t i,
                      size_t n, const struct branch *b)
{
    struct name_list *names = c->names;
    enum { MIDDLE = 76, WIDE = 100 };
    const bool is_wide = v->w >= WIDE;
    const struct transcript *t = v->conversation ? v->conversation->transcript : NULL;
    size_t after =
        0; /* the number of the message after which it leaves the conversation; 0: it is not shown */
    char where[40] = "", messages[40] = "", when[HUMAN_AGE + 8] = "";
    char age[HUMAN_AGE];
    struct buf label = { 0 };

    for (size_t k = 0; t && !t->partial && !id128_none(b->from) && k < t->n && !after; k++)
        after = id128_eq(t->message[k].id, b->from) ? k + 1 : 0;
    human_age(v->now_ms, b->time_ms, age);
    if (after)
        snprintf(where, sizeof where, "  %s %-4zu", is_wide ? "splits after entry" : "after",
                 after);
    if (is_wide || v->w < MIDDLE)
        snprintf(when, sizeof when, " %8s", age);
    if (v->w >= MIDDLE)
        snprintf(messages, sizeof messages, " %5zu message%s", b->messages,
                 b->messages == 1 ? " " : "s");
    bool ok = buf_addf(&label, "%zu of %zu%s%s%s  ", i, n, when, messages, where) == ERR_OK &&
              add_prompts(&label, b) && name_list_add(names, buf_slice(&label));

    label.n = 0;
    ok = ok && buf_addf(&label, "Branch %zu of %zu: ", i, n) == ERR_OK && add_prompts(&label, b) &&
         name_list_add(c->tasks, buf_slice(&label));
    buf_fini(&label);
    return ok;
}

static bool fill_branches(struct transcript_view *v, const struct branch_list *list)
{
    struct transcript_choice *c = &v->choice;

    c->names = name_list_new();
    c->leaf = calloc(list->n + 1, sizeof *c->leaf); /* the first is none: the conversation itself */
    c->tasks = name_list_new();
    bool ok = c->names && c->leaf && c->tasks && name_list_add(c->tasks, SLICE("")) &&
              name_list_add(c->names, SLICE("the current conversation"));

    for (size_t i = 0; i < list->n && ok; i++) {
        c->leaf[i + 1] = list->branch[i].leaf;
        ok = add_label(v, c, i + 2, list->n + 1, &list->branch[i]);
    }
    return ok;
}

void transcript_view_set_branches(struct transcript_view *v, struct branch_list *list)
{
    v->asked_branches = 0;
    transcript_view_choice_close(v);
    if (list->n == 0) {
        transcript_view_refuse(v, "this conversation has no other branches");
    } else if (!fill_branches(v, list)) {
        transcript_view_choice_close(v);
        transcript_view_notify_no_memory(v);
    } else {
        v->choice.at = 1;
    }
    branch_list_fini(list);
    free(list);
}

/* ---- choosing ---- */

static void open_choice(struct transcript_view *v, struct effects *fx)
{
    const struct transcript_choice *c = &v->choice;

    if (c->copies) {
        transcript_view_copy_text(v, c->copies->name[c->at], fx);
    } else if (!c->leaf) {
        v->agent_at = c->at;
        v->agent_listed = true;
        transcript_view_open_agent(v, c->agents->name[c->at], c->tasks->name[c->at], fx);
    } else if (c->at > 0) {
        transcript_view_open_branch(v, c->leaf[c->at], c->tasks->name[c->at], fx);
    }
    transcript_view_choice_close(v);
}

enum transcript_view_result transcript_view_choice_act(struct transcript_view *v, enum action a,
                                                       struct effects *fx)
{
    struct transcript_choice *c = &v->choice;

    switch (a) {
    case ACT_UP: c->at -= c->at > 0; break;
    case ACT_DOWN: c->at += c->at + 1 < c->names->n; break;
    case ACT_FIRST: c->at = 0; break;
    case ACT_LAST: c->at = c->names->n - 1; break;
    case ACT_ACCEPT: open_choice(v, fx); break;
    case ACT_BACK:
    case ACT_PANE_PREV: transcript_view_choice_close(v); break;
    case ACT_QUIT:
    case ACT_SUSPEND:
    case ACT_REDRAW: return TRANSCRIPT_IGNORED;
    default: break; /* a letter of the menu has no meaning here */
    }
    return TRANSCRIPT_DONE;
}
