#include "tui/screens/rewind/rewind_view.h"

#include <stdlib.h>
#include <string.h>

#include "tui/screens/rewind/rewind_internal.h"

/* The life of the view. */

enum { TURN_MS = 100 };

struct rewind_view *rewind_view_new(const struct settings *settings)
{
    struct rewind_view *v = calloc(1, sizeof *v);

    if (v) {
        v->settings = settings;
        v->due_ms = TIME_NONE;
    }
    return v;
}

static void cancel_generation(struct effects *fx, unsigned generation)
{
    if (generation)
        effect_add(fx, EFFECT_CANCEL, REQUESTER_REWIND)->generation = generation;
}

/* A rewind that is under way is not cancelled: it ends, whether or not somebody waits to hear of it. */
void rewind_view_close(struct rewind_view *v, struct effects *fx)
{
    cancel_generation(fx, v->asked_turns);
    cancel_generation(fx, v->asked_lines);
    rewind_clear_preview(v, fx);
    ref_list_free(v->session);
    preview_checkpoints_free(v->turns);
    arena_fini(&v->texts);
    *v = (struct rewind_view){
        .settings = v->settings, .now_ms = v->now_ms, .h = v->h, .w = v->w, .due_ms = TIME_NONE
    };
}

void rewind_view_free(struct rewind_view *v)
{
    struct effects none = { 0 };

    if (!v)
        return;
    rewind_view_close(v, &none);
    free(v);
}

bool rewind_view_open(struct rewind_view *v, const struct session_ref *ref, struct slice title,
                      struct rewind_start at, int64_t now_ms, struct effects *fx)
{
    rewind_view_close(v, fx);
    v->now_ms = now_ms;
    v->at = at;
    v->session = ref_list_one(ref, SLICE(""));
    v->title = arena_copy(&v->texts, title);
    if (v->session && v->title.p && rewind_request(v, EFFECT_CHECKPOINTS, &v->asked_turns, fx))
        return true;
    rewind_view_close(v, fx);
    return false;
}

void rewind_view_resize(struct rewind_view *v, int h, int w)
{
    bool other_width = w != v->w;

    v->h = h;
    v->w = w;
    if (other_width)
        rewind_layout_changes(v);
    rewind_settle(v);
}

void rewind_view_tick(struct rewind_view *v, int64_t now_ms, struct effects *fx)
{
    v->now_ms = now_ms;
    if (v->session && v->due_ms != TIME_NONE && now_ms >= v->due_ms)
        rewind_request_preview(v, fx);
}

int64_t rewind_view_wake_ms(const struct rewind_view *v)
{
    if (!v->session)
        return TIME_NONE;
    if (v->due_ms != TIME_NONE)
        return v->due_ms;
    if (!v->asked_turns && !v->asked_preview && !v->asked_changes && !v->asked_rewind)
        return TIME_NONE;
    return rewind_is_slow(v) ? v->now_ms + TURN_MS : v->asked_ms + SLOW_MS;
}
