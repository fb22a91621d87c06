/* A stand-in for the transcript view, which shows only the name of the conversation. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tui/screens/transcript/transcript.h"

struct transcript_view {
    char title[200];
    int scrolled;
    bool searching;
};

struct transcript_view *transcript_view_new(const struct settings *settings,
                                            enum requester requester)
{
    (void)settings;
    (void)requester;
    return calloc(1, sizeof(struct transcript_view));
}

void transcript_view_free(struct transcript_view *v)
{
    free(v);
}

bool transcript_view_open(struct transcript_view *v, const struct session_ref *ref,
                          struct slice title, struct slice cwd, struct effects *fx)
{
    (void)cwd;
    (void)fx;
    if (title.n == 0)
        title = ref->id;
    snprintf(v->title, sizeof v->title, "%.*s", SLICE_ARG(title));
    v->scrolled = 0;
    return true;
}

void transcript_view_close(struct transcript_view *v, struct effects *fx)
{
    (void)fx;
    v->title[0] = '\0';
}

void transcript_view_reload(struct transcript_view *v, const struct session_ref *ref,
                            struct effects *fx)
{
    (void)ref;
    (void)fx;
    strncat(v->title, " (again)", sizeof v->title - strlen(v->title) - 1);
}

void transcript_view_set_gone(struct transcript_view *v, bool gone)
{
    (void)v;
    (void)gone;
}

void transcript_view_retitle(struct transcript_view *v, struct slice title)
{
    snprintf(v->title, sizeof v->title, "%.*s", SLICE_ARG(title));
}

void transcript_view_search_for(struct transcript_view *v, struct slice text, struct effects *fx)
{
    (void)v;
    (void)text;
    (void)fx;
}

void transcript_view_search_in(struct transcript_view *v, struct slice agent, struct slice text,
                               bool last, struct effects *fx)
{
    (void)agent;
    (void)last;
    transcript_view_search_for(v, text, fx);
}

bool transcript_view_search_ends(const struct transcript_view *v, struct slice text, int direction)
{
    (void)v;
    (void)text;
    (void)direction;
    return false;
}

void transcript_view_search_state(const struct transcript_view *v, char *out, size_t cap)
{
    (void)v;
    if (cap)
        out[0] = '\0';
}

const struct usage_sum *transcript_view_usage(const struct transcript_view *v)
{
    (void)v;
    return NULL;
}

bool transcript_view_sums_usage(const struct transcript_view *v)
{
    (void)v;
    return true;
}

void transcript_view_go_to_message(struct transcript_view *v, struct id128 message)
{
    (void)v;
    (void)message;
}

void transcript_view_resize(struct transcript_view *v, int h, int w, struct effects *fx)
{
    (void)v;
    (void)h;
    (void)w;
    (void)fx;
}

bool transcript_view_msg(struct transcript_view *v, const struct msg *msg, struct effects *fx)
{
    (void)v;
    (void)msg;
    (void)fx;
    return false;
}

enum key_context transcript_view_key_context(const struct transcript_view *v)
{
    return v->searching ? IN_SEARCH : IN_TRANSCRIPT;
}

bool transcript_view_dismiss(struct transcript_view *v)
{
    (void)v;
    return false;
}

enum transcript_view_result transcript_view_act(struct transcript_view *v, enum action a,
                                                struct effects *fx)
{
    (void)fx;
    switch (a) {
    case ACT_BACK:
        if (!v->searching)
            return TRANSCRIPT_BACK;
        v->searching = false;
        return TRANSCRIPT_DONE;
    case ACT_SEARCH: v->searching = true; return TRANSCRIPT_DONE;
    case ACT_DOWN: v->scrolled++; return TRANSCRIPT_DONE;
    default: return TRANSCRIPT_IGNORED;
    }
}

void transcript_view_key(struct transcript_view *v, struct key key, struct effects *fx)
{
    (void)v;
    (void)key;
    (void)fx;
}

void transcript_view_paste(struct transcript_view *v, struct slice text, struct effects *fx)
{
    (void)v;
    (void)text;
    (void)fx;
}

void transcript_view_scroll(struct transcript_view *v, int lines, struct effects *fx)
{
    (void)fx;
    v->scrolled += lines;
}

void transcript_view_click(struct transcript_view *v, int y, int x, struct effects *fx)
{
    (void)v;
    (void)y;
    (void)x;
    (void)fx;
}

bool transcript_view_message(const struct transcript_view *v, struct id128 *id, int64_t *time_ms)
{
    (void)v;
    *id = id128_of(SLICE("p1"));
    *time_ms = 1;
    return true;
}

struct id128 transcript_view_leaf(const struct transcript_view *v)
{
    (void)v;
    return (struct id128){ 0, 0 };
}

bool transcript_view_shows_raw(const struct transcript_view *v)
{
    (void)v;
    return false;
}

const char *transcript_view_unavailable(const struct transcript_view *v, enum action a)
{
    (void)v;
    return a == ACT_SUBAGENTS ? "no sub-agents in this test" : NULL;
}

void transcript_view_draw(const struct transcript_view *v, struct frame *f, struct rect r)
{
    char text[300];

    snprintf(text, sizeof text, "%d: conversation of %s", v->scrolled, v->title);
    frame_text_cut(f, r.y, r.x, r.w, STYLE_TEXT, slice_of(text));
    f->cursor_y = r.y;
    f->cursor_x = r.x;
}
