#include "tui/words.h"

#include <stdio.h>

#include "tui/size.h"
#include "tui/state.h"

enum { NAME_BYTES = 64 }; /* of a title in a line of ours */

struct words words_title(const struct model *m, struct slice title)
{
    const bool ascii = m->settings->ascii;
    const char *left = ascii ? "\"" : "“", *right = ascii ? "\"" : "”";
    const char *more = title.n <= NAME_BYTES ? "" : ascii ? "..." : "…";
    int n = title.n <= NAME_BYTES ? (int)title.n : NAME_BYTES;
    struct words w;

    snprintf(w.text, sizeof w.text, "%s%.*s%s%s", left, n, title.p, more, right);
    return w;
}

struct words words_count(size_t n)
{
    struct words w;

    snprintf(w.text, sizeof w.text, "%zu session%s", n, n == 1 ? "" : "s");
    return w;
}

struct words words_back(const struct model *m, enum action a)
{
    enum place_id place = view_ops_of(view_top(m))->place(m);
    const char *dash = m->settings->ascii ? "-" : "—";
    struct words w;
    struct key key;
    char name[KEY_NAME];
    bool here = keymap_key_of(m->settings->keys, place, a, &key);

    if (!here && !keymap_key_of(m->settings->keys, IN_MENU, a, &key))
        return (struct words){ "" };
    key_name(key, m->settings->ascii, name);
    snprintf(w.text, sizeof w.text, " %s %s%s %s", dash, here ? "" : "^X ", name, action_title(a));
    return w;
}

const char *words_doing(enum wish wish)
{
    switch (wish) {
    case WISH_RENAME: return "renaming";
    case WISH_TAG: return "tagging";
    case WISH_ARCHIVE:
    case WISH_UNARCHIVE: return "marking";
    case WISH_FORK: return "forking";
    case WISH_SWEEP:
    case WISH_TRASH: return "moving to the trash";
    case WISH_JOIN:
    case WISH_RESTORE: return "restoring from the trash";
    case WISH_EMPTY: return "emptying the trash";
    case WISH_RESUME_AT: return "setting where to resume";
    case WISH_FIX: return "repairing";
    case WISH_UNDO: return "undoing";
    case WISH_REDO: return "redoing";
    }
    return "";
}

static void words_of_sweep(struct words *w, const struct changed *c, const char *size)
{
    int n =
        snprintf(w->text, sizeof w->text, "moved to trash: %s%s%s, %s", c->orphans ? "what " : "",
                 words_count(c->sessions.n).text, c->orphans ? " left behind" : "", size);

    if (c->stayed > 0 && n > 0 && (size_t)n < sizeof w->text)
        snprintf(w->text + n, sizeof w->text - (size_t)n, "; %zu kept: used meanwhile", c->stayed);
}

static void words_of_fix(struct words *w, const struct changed *c)
{
    int n = snprintf(w->text, sizeof w->text, "repaired: %zu finding%s", c->repaired,
                     c->repaired == 1 ? "" : "s");

    if (c->steps > 1 && n > 0 && (size_t)n < sizeof w->text)
        snprintf(w->text + n, sizeof w->text - (size_t)n, ", in %zu steps", c->steps);
}

struct words words_done(const struct model *m, const struct changed *c)
{
    struct slice text = buf_slice(&c->text);
    struct words n = words_count(c->sessions.n), w = { "" };
    char size[SIZE_TEXT];

    size_text(c->bytes, size);
    switch (c->wish) {
    case WISH_RENAME:
        snprintf(w.text, sizeof w.text, "renamed to %s", words_title(m, text).text);
        break;
    case WISH_TAG:
        if (text.n > 0)
            snprintf(w.text, sizeof w.text, "tagged #%.*s: %s", SLICE_ARG(text), n.text);
        else
            snprintf(w.text, sizeof w.text, "tag removed: %s", n.text);
        break;
    case WISH_ARCHIVE: snprintf(w.text, sizeof w.text, "archived: %s", n.text); break;
    case WISH_UNARCHIVE: snprintf(w.text, sizeof w.text, "unarchived: %s", n.text); break;
    case WISH_TRASH: snprintf(w.text, sizeof w.text, "moved to trash: %s, %s", n.text, size); break;
    case WISH_SWEEP: words_of_sweep(&w, c, size); break;
    case WISH_RESTORE: snprintf(w.text, sizeof w.text, "restored: %s, %s", n.text, size); break;
    case WISH_JOIN:
        snprintf(w.text, sizeof w.text, "joined with the newer transcript: %s", n.text);
        break;
    case WISH_EMPTY:
        snprintf(w.text, sizeof w.text, "deleted for good: %s, %s", n.text, size);
        break;
    case WISH_UNDO: snprintf(w.text, sizeof w.text, "undone: %.*s", SLICE_ARG(text)); break;
    case WISH_REDO: snprintf(w.text, sizeof w.text, "redone: %.*s", SLICE_ARG(text)); break;
    case WISH_FIX: words_of_fix(&w, c); break;
    case WISH_FORK: snprintf(w.text, sizeof w.text, "forked: the fork is selected"); break;
    case WISH_RESUME_AT:
        snprintf(w.text, sizeof w.text, "the session resumes after that message");
        break;
    }
    return w;
}
