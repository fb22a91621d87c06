#include <string.h>

#include "tui/app/model.h"
#include "tui/app/view.h"

/* update() is the only entry point for events. It changes the model and queues effects. */

/* ---- actions ---- */

void update_perform(struct model *m, enum action a)
{
    const struct view_ops *base = m->views[view_base(m)];

    for (size_t i = 0; i < VIEW_COUNT; i++)
        if (m->views[i]->prepare)
            m->views[i]->prepare(m, a);
    const char *why = view_unavailable(m, a);

    if (why && !(base->waits && base->waits(m, a))) {
        toast_note(&m->toast, m->now_ms, "%s: %s", action_title(a), why);
        m->toast.absorbs = action_prompts(a);
    } else if (!m->views[view_top(m)]->act(m, a)) {
        /* These actions mean the same in every view. */
        switch (a) {
        case ACT_SUSPEND: effect_add(&m->fx, EFFECT_SUSPEND, REQUESTER_LIST); return;
        case ACT_REDRAW: effect_add(&m->fx, EFFECT_REDRAW, REQUESTER_LIST); return;
        case ACT_QUIT: view_quit(m); return;
        default: break;
        }
        for (size_t i = 0; i < VIEW_COUNT; i++)
            if (m->views[i]->perform && m->views[i]->perform(m, a))
                return;
    }
}

/* ---- input ---- */

/* A title that is typed although its prompt was refused must not become a filter, its letters no actions, and its
 * Enter must not resume. */
static bool update_absorbs(const struct model *m)
{
    return m->toast.text[0] && m->toast.absorbs && !m->views[view_top(m)]->overlay;
}

static bool key_erases_text(struct key key)
{
    return key.mods == MOD_CTRL ? key.code == 'h' || key.code == 'w' || key.code == 'u'
                                : key.code == KEYCODE_BACKSPACE;
}

static bool key_holds(const struct model *m, struct key key)
{
    const struct view_ops *top = m->views[view_top(m)];

    return top->holds && top->holds(m, keymap_find(&m->settings->keys, view_key_context(m), key));
}

static void handle_key(struct model *m, struct key key)
{
    const struct view_ops *top = m->views[view_top(m)];

    if (update_absorbs(m)) {
        if (key_is_text(key) || key_erases_text(key))
            return;
        if (key_eq(key, (struct key){ KEYCODE_ENTER, 0 })) {
            toast_dismiss(&m->toast);
            return;
        }
    }
    bool message = toast_dismiss(&m->toast);

    m->resume_waits = false;
    /* Esc is meant to put the message away, or to answer the question before it. */
    if (message && !top->overlay && key.code == KEYCODE_ESC && key.mods == 0)
        return;
    if (top->takes && top->takes(m, key))
        return;
    enum action a = keymap_find(&m->settings->keys, view_key_context(m), key);

    if (a != ACT_NONE) {
        /* A menu also lists actions that are not possible, so its own keys are handled before any check. */
        if (!top->overlay || !top->act(m, a))
            update_perform(m, a);
    } else if (top->key)
        top->key(m, key);
}

/* Esc and what quits act at once, and what was typed ahead of them is forgotten. */
static void take_key(struct model *m, struct key key)
{
    const bool escapes = key.code == KEYCODE_ESC && key.mods == 0;

    if (escapes && m->held_n > 0) {
        m->held_n = 0;
        return;
    }
    if (keymap_find(&m->settings->keys, view_key_context(m), key) == ACT_QUIT)
        m->held_n = 0;
    if (m->held_n == 0 && !key_holds(m, key))
        handle_key(m, key);
    else if (m->held_n < HELD_KEYS)
        m->held[m->held_n++] = key;
}

static void release_keys(struct model *m)
{
    while (m->held_n > 0 && !m->leaving && !key_holds(m, m->held[0])) {
        struct key key = m->held[0];

        memmove(m->held, m->held + 1, --m->held_n * sizeof *m->held);
        handle_key(m, key);
    }
}

/* ---- messages ---- */

/* A late answer, which no view waits for any more, is dropped. */
static void update_offer(struct model *m, const struct msg *msg)
{
    struct msg late = *msg;

    for (size_t i = VIEW_COUNT; i-- > 0;)
        if (m->views[i]->message && m->views[i]->message(m, msg))
            return;
    msg_fini(&late);
}

void update(struct model *m, const struct msg *msg)
{
    if (m->leaving) { /* the program is about to leave: the choice must not change */
        struct msg late = *msg;

        msg_fini(&late);
        return;
    }
    m->now_ms = msg->now_ms;

    switch (msg->kind) {
    case MSG_CONTINUE: break;
    case MSG_SILENCE: m->silent = msg->u.silent; break;
    case MSG_KEY: take_key(m, msg->u.key); break;
    case MSG_PASTE: {
        struct slice text = msg->u.paste;
        const struct view_ops *top = m->views[view_top(m)];

        if (!update_absorbs(m)) {
            toast_dismiss(&m->toast);
            if (top->paste)
                top->paste(m, text);
        }
    } break;
    case MSG_MOUSE: {
        struct mouse mouse = msg->u.mouse;
        const struct view_ops *top = m->views[view_top(m)];

        toast_dismiss(&m->toast);
        if (top->mouse)
            top->mouse(m, mouse);
    } break;
    case MSG_RESIZE: {
        int rows = msg->u.size.rows;
        int cols = msg->u.size.cols;

        m->rows = rows;
        m->cols = cols;
        for (size_t i = 0; i < VIEW_COUNT; i++)
            if (m->views[i]->resized)
                m->views[i]->resized(m);
    } break;
    case MSG_NOTICE:
        if (msg->u.notice.error)
            toast_error_text(&m->toast, msg->u.notice.text);
        else
            toast_info(&m->toast, m->now_ms, "%.*s", SLICE_ARG(msg->u.notice.text));
        break;
    default: update_offer(m, msg); break;
    }

    for (size_t i = 0; i < VIEW_COUNT; i++)
        if (m->views[i]->tick)
            m->views[i]->tick(m);
    release_keys(m);
    toast_tick(&m->toast, m->now_ms);
}
