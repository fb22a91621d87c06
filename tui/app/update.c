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

static void handle_paste(struct model *m, struct slice text)
{
    const struct view_ops *top = m->views[view_top(m)];

    if (update_absorbs(m))
        return;
    toast_dismiss(&m->toast);
    if (top->paste)
        top->paste(m, text);
}

void update_forget_held(struct model *m)
{
    while (m->held_n > 0)
        buf_fini(&m->held[--m->held_n].paste);
}

/* Esc and what quits act at once, and what was typed ahead of them is forgotten. */
static void take_key(struct model *m, struct key key)
{
    const bool escapes = key.code == KEYCODE_ESC && key.mods == 0;

    if (escapes && m->held_n > 0) {
        update_forget_held(m);
        return;
    }
    if (keymap_find(&m->settings->keys, view_key_context(m), key) == ACT_QUIT)
        update_forget_held(m);
    if (m->held_n == 0 && !key_holds(m, key))
        handle_key(m, key);
    else if (m->held_n < HELD_KEYS)
        m->held[m->held_n++] = (struct held_input){ .key = key };
}

/* Text that comes after a key that waits is for what that key will open. */
static void take_paste(struct model *m, struct slice text)
{
    struct held_input held = { .key = { 0 } };

    if (m->held_n == 0)
        handle_paste(m, text);
    else if (m->held_n < HELD_KEYS && text.n > 0) {
        if (buf_add(&held.paste, text))
            toast_no_memory(&m->toast);
        else
            m->held[m->held_n++] = held;
    }
}

static void release_keys(struct model *m)
{
    while (m->held_n > 0 && !m->leaving) {
        struct held_input first = m->held[0];

        if (first.paste.n == 0 && key_holds(m, first.key))
            return;
        memmove(m->held, m->held + 1, --m->held_n * sizeof *m->held);
        if (first.paste.n > 0)
            handle_paste(m, buf_slice(&first.paste));
        else
            handle_key(m, first.key);
        buf_fini(&first.paste);
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
    case MSG_PASTE: take_paste(m, msg->u.paste); break;
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
