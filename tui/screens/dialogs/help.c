#include <stdio.h>
#include <string.h>

#include "tui/app/program.h"
#include "tui/app/view.h"
#include "tui/filter/fuzzy.h"
#include "tui/screens/dialogs/dialog.h"
#include "tui/screens/list/list.h"
#include "tui/widgets/frame.h"
#include "tui/widgets/list_cursor.h"
#include "tui/widgets/styled_text.h"

/* The help must never differ from the keys that work, so each line about a key is made from the
 * present key tables. Only the filter syntax, the signs and the special meanings of some actions
 * are written here. The lines are not stored: one walk passes them to a function, once to count
 * them for scrolling and once to draw those that are visible.
 *
 *     the place where help was opened -> everywhere -> its signs -> the other places
 *
 * Both functions must count the same height for a line, which depends on the width; otherwise the
 * end could not be reached. A heading is passed only before the first line that matches, so that a
 * search shows no empty section. */

enum { KEYS_W = 22, HELP_W = 84, KEYS_TEXT = 96 };

/* The filter syntax and the meaning of the signs; the rest is made from the action list. */
static const struct {
    const char *sign, *text;
} typed[] = {
    { "word", "fuzzy: these letters in this order, in any case if all are lower case" },
    { "'word", "the exact word" },
    { "^word  word$", "at the start, at the end of a field" },
    { "!word", "sessions that do not contain it" },
    { "a | b", "either of the two" },
    { "\"two words\"", "the exact phrase" },
    { "/regex/", "a regular expression; blanks in it as \\s or in quotes" },
    { "1a2b  claude  #tag", "also the start of an id or a system, or a tag" },
    { "agent:x project:x", "only in that field; also branch: tag: id:; Tab completes x" },
    { "\"node:fs\"", "quotes make text of what looks like a field" },
    { "before:2w after:3d", "by age (m h d w mo y) or date: after:2026-01-31" },
    { "size:>10M", "larger than; size:<100k: smaller than" },
    { "dir:x // two words", "both words in the text of the conversations; \"a phrase\"" },
    { "is:running", "also is:waiting archived fork damaged interrupted empty marked kept" },
};

struct sign {
    const char *sign, *ascii, *text; /* ascii NULL: the same */
};

static const struct sign signs[] = {
    { "NOW ●", "NOW *", "an agent has the session open" },
    { "3f", NULL, "files that a rewind can restore; 3 files where there is room" },
    { "↳", "Y", "a fork of another session" },
    { "!", NULL, "the last turn was interrupted" },
    { "zz", NULL, "archived: listed only if the filter matches it; is:archived lists all" },
    { "expires 3d", NULL,
      "when the agent's own cleanup may remove it; without a time: any moment" },
    { "⚠", "X", "a line is damaged; the rest is shown" },
    { "◐", "%", "a resume restores only a part of the conversation" },
    { "◆", "+", "marked" },
    { "▴", "^", "pinned: stays at the top" },
};

static const struct sign transcript_signs[] = {
    { "┊", ":", "left out by a resume: summarised, another branch, or a call without a result" },
};

static const struct sign rewind_signs[] = {
    { "[x] [~] [ ]", NULL, "included, only some hunks, excluded" },
    { "M A D", NULL, "the file is modified, created again, deleted" },
    { "held back", NULL, "not restored unless you include it, which asks; the reason is below" },
    { "D", NULL, "beside a turn: it deleted files" },
    { "$", NULL, "shell commands ran in this turn; what they changed cannot be rewound" },
    { "✗", "x", "the turn cannot be restored" },
};

/* Contexts in which an action has a special meaning. */
static const struct {
    enum key_context place;
    enum action action;
    const char *text;
} meant_here[] = {
    { IN_CLEANUP, ACT_MARK, "tick the session, or change the rule" },
    { IN_CLEANUP, ACT_MARK_ALL, "tick every session that can be deleted, or none" },
    { IN_CLEANUP, ACT_TRASH, "move the ticked sessions to the trash (asks first)" },
    { IN_CLEANUP, ACT_SORT, "sort by size, by age, or group by project" },
    { IN_CLEANUP, ACT_PANE, "switch between rules and sessions" },
    { IN_CLEANUP, ACT_ACCEPT, "type a value for a rule; open a project; on a session: delete" },
    { IN_CLEANUP, ACT_VALUE_NEXT, "next value of the rule; open a project" },
    { IN_CLEANUP, ACT_VALUE_PREV, "previous value of the rule; close a project" },
    { IN_MENU, ACT_PANE, "the column on the right" },
    { IN_MENU, ACT_PANE_PREV, "the column on the left; from there back" },
    { IN_BLAME, ACT_VIEW, "open the conversation at that turn" },
    { IN_BLAME, ACT_PANE, "switch between turns and lines" },
    { IN_BLAME, ACT_SEARCH, "find a line, a prompt or a session's title" },
    { IN_BLAME, ACT_REFRESH, "read the sessions again" },
    { IN_COMPARE, ACT_PREVIEW_DOWN, "scroll the prompts or the diff down" },
    { IN_COMPARE, ACT_PREVIEW_UP, "scroll the prompts or the diff up" },
    { IN_COMPARE, ACT_REFRESH, "read the sessions again" },
    { IN_TREE, ACT_ACCEPT, "open the directory" },
    { IN_TREE, ACT_PANE, "all files, or those that differ" },
    { IN_TREE, ACT_PREVIEW_DOWN, "scroll the file down" },
    { IN_TREE, ACT_PREVIEW_UP, "scroll the file up" },
    { IN_TREE, ACT_PROMPT_PREV, "compare with an earlier turn" },
    { IN_TREE, ACT_PROMPT_NEXT, "compare with a later turn; after the last one, with now" },
    { IN_TREE, ACT_REFRESH, "read the files again" },
    { IN_TREE, ACT_BACK, "up one directory, or leave the view" },
    { IN_USAGE, ACT_ACCEPT, "the sessions behind the bar; on a session: read it" },
    { IN_USAGE, ACT_VALUE_NEXT, "by the next of day, week, month, project, session, model, agent" },
    { IN_USAGE, ACT_VALUE_PREV, "by the previous one" },
    { IN_USAGE, ACT_REFRESH, "read the sessions again" },
    { IN_BOARD, ACT_VIEW, "read along: the conversation at its end, which follows" },
    { IN_BOARD, ACT_REFRESH, "read the sessions again" },
    { IN_TRASH, ACT_MARK, "mark the session and move down" },
    { IN_TRASH, ACT_MARK_UP, "mark the session and move up" },
    { IN_TRASH, ACT_MARK_ALL, "mark all, or none" },
    { IN_TRASH, ACT_SEARCH, "find a session by its title, agent, id or directory" },
    { IN_REWIND, ACT_REFRESH, "check the files again" },
    { IN_REWIND, ACT_PREVIEW_UP, "scroll the diff up" },
    { IN_REWIND, ACT_PREVIEW_DOWN, "scroll the diff down" },
    { IN_REWIND, ACT_ACCEPT, "to the files of the turn; on a file: tick only this one" },
    { IN_REWIND, ACT_MARK_ALL, "tick every file, or none" },
    { IN_DAMAGED, ACT_COPY, "copy the session id, or the file's path" },
    { IN_DAMAGED, ACT_EDIT, "open a copy of the file in the editor" },
    { IN_DAMAGED, ACT_REFRESH, "check again" },
    { IN_DOCTOR, ACT_REFRESH, "check the session again" },
};

static const char *help_here(enum key_context place, enum action a)
{
    for (size_t i = 0; i < sizeof meant_here / sizeof *meant_here; i++)
        if (meant_here[i].place == place && meant_here[i].action == a)
            return meant_here[i].text;
    return action_help(a);
}

/* A walk over all lines; those that match the query are passed to `line`. */
struct walk {
    const struct help *help;
    const struct settings *settings;
    bool ascii;
    struct fuzzy_needle needle;
    const char *section; /* its heading has not been passed yet */
    void (*line)(struct walk *w, const char *keys, const char *text);
    size_t n;            /* lines so far */
    struct frame *frame; /* the frame into which a walk draws */
    struct rect rect;    /* where the lines are; the height matters to drawing only */
};

static int help_keys_width(const struct walk *w)
{
    return w->rect.w > 60 ? KEYS_W : 16;
}

/* The lines that a text needs beside its keys. */
static int help_height(const struct walk *w, const char *keys, const char *text)
{
    int h = keys ? text_wrap_height(slice_of(text), w->rect.w - help_keys_width(w) + 1) : 1;

    return h > 1 ? h : 1;
}

static bool contains(const struct fuzzy_needle *needle, const char *text)
{
    size_t n = strlen(text);

    if (n < needle->n)
        return false;
    for (size_t i = 0; i + needle->n <= n; i++) {
        size_t k = 0;

        while (k < needle->n) {
            char c = text[i + k];

            if ((c >= 'A' && c <= 'Z' ? c + 0x20 : c) != needle->text[k])
                break;
            k++;
        }
        if (k == needle->n)
            return true;
    }
    return needle->n == 0;
}

/* name: a text by which the line is also found. */
static void emit_line(struct walk *w, const char *keys, const char *text, const char *name)
{
    if (!contains(&w->needle, keys) && !contains(&w->needle, text) && !contains(&w->needle, name))
        return;
    if (w->section) {
        const char *heading = w->section;

        w->section = NULL;
        if (w->n > 0)
            w->line(w, NULL, "");
        w->line(w, NULL, heading);
    }
    w->line(w, keys, text);
}

static void walk_actions(struct walk *w, enum key_context place, bool moving)
{
    for (int a = ACT_NONE + 1; a < ACT_COUNT; a++) {
        char keys[KEYS_TEXT];

        if ((a >= ACT_UP && a <= ACT_LAST) != moving)
            continue;
        keymap_keys_of(&w->settings->keys, place, (enum action)a, w->ascii, keys, sizeof keys);
        if (keys[0])
            emit_line(w, keys, help_here(place, (enum action)a), action_name((enum action)a));
    }
}

static const char *heading_of(enum key_context place)
{
    switch (place) {
    case IN_LIST: return "In the list of sessions";
    case IN_FILTER: return "While typing a filter";
    case IN_TRANSCRIPT: return "In a conversation";
    case IN_REWIND: return "While rewinding";
    case IN_SEARCH: return "While typing a search";
    case IN_MENU: return "In the menu";
    case IN_DIALOG: return "In a dialog";
    case IN_BLAME: return "In the list of what changed a file";
    case IN_TRASH: return "In the trash";
    case IN_LOG: return "In the log";
    case IN_BOARD: return "On the board";
    case IN_USAGE: return "In the usage";
    case IN_COMPARE: return "While comparing two sessions";
    case IN_TREE: return "In the tree of a turn";
    case IN_CLEANUP: return "In the cleanup";
    case IN_DAMAGED: return "In the list of damage";
    case IN_DOCTOR: return "In the doctor's findings";
    case IN_PROMPT: return "While typing a title or a tag";
    case IN_HELP: return "In this help";
    case IN_ANY:
    case IN_COUNT: break;
    }
    return "Everywhere";
}

static void walk_section(struct walk *w, enum key_context place)
{
    if (place == IN_FILTER && w->settings->keys.scheme == KEYS_DEFAULT)
        return;
    w->section = heading_of(place);

    /* What can be done here, then how to move. */
    walk_actions(w, place, false);
    walk_actions(w, place, true);
}

static void walk_signs(struct walk *w, const char *section, const struct sign *sign, size_t n)
{
    w->section = section;
    for (size_t i = 0; i < n; i++)
        emit_line(w, w->ascii && sign[i].ascii ? sign[i].ascii : sign[i].sign, sign[i].text, "");
}

static void walk_all(struct walk *w)
{
    static const enum key_context rest[] = { IN_LIST, IN_FILTER, IN_TRANSCRIPT, IN_REWIND,
                                             IN_MENU };

    if (!fuzzy_needle_init(&w->needle, line_editor_text(&w->help->query)))
        return;
    walk_section(w, w->help->place);
    walk_section(w, IN_ANY);
    if (w->help->place == IN_LIST || w->help->place == IN_FILTER) {
        w->section = "Filter syntax";
        for (size_t i = 0; i < sizeof typed / sizeof *typed; i++)
            emit_line(w, typed[i].sign, typed[i].text, "");
        walk_signs(w, "Symbols in the list", signs, sizeof signs / sizeof *signs);
    }
    if (w->help->place == IN_TRANSCRIPT)
        walk_signs(w, "Signs in a conversation", transcript_signs,
                   sizeof transcript_signs / sizeof *transcript_signs);
    if (w->help->place == IN_REWIND)
        walk_signs(w, "Symbols while rewinding", rewind_signs,
                   sizeof rewind_signs / sizeof *rewind_signs);
    for (size_t i = 0; i < sizeof rest / sizeof *rest; i++)
        if (rest[i] != w->help->place)
            walk_section(w, rest[i]);
}

static void count_line(struct walk *w, const char *keys, const char *text)
{
    w->n += (size_t)help_height(w, keys, text);
}

/* A text whose top is scrolled out is only drawn once its first line is visible. */
static void dialog_help_draw_line(struct walk *w, const char *keys, const char *text)
{
    size_t i = w->n, top = w->help->top;
    int h = help_height(w, keys, text), keys_w = help_keys_width(w);
    struct rect r = w->rect;

    w->n += (size_t)h;
    if (i < top || i >= top + (size_t)r.h)
        return;
    int y = r.y + (int)(i - top), end = r.y + r.h;

    if (!keys) {
        frame_puts(w->frame, y, r.x, r.w, STYLE_HEADING, text);
        return;
    }
    frame_text_cut(w->frame, y, r.x + 1, keys_w - 2, STYLE_KEY, slice_of(keys));
    text_wrap_draw(w->frame,
                   (struct rect){ y, r.x + keys_w, h < end - y ? h : end - y, r.w - keys_w + 1 },
                   STYLE_TEXT, slice_of(text));
}

/* The width of the lines inside the box. */
static int width(int cols)
{
    return cols - 4 < HELP_W ? cols - 4 : HELP_W;
}

static void draw_lines(const struct help *h, const struct settings *settings, struct frame *f,
                       struct rect r)
{
    struct walk w = {
        .help = h,
        .settings = settings,
        .ascii = f->ascii,
        .line = dialog_help_draw_line,
        .frame = f,
        .rect = { r.y + 2, r.x, r.h - 2, r.w },
    };
    int x = r.x + frame_puts(f, r.y, r.x, r.w, STYLE_PROMPT, "/ ");
    char hint[80];

    walk_all(&w);
    line_editor_draw(&h->query, f, (struct rect){ r.y, x, 1, r.w - 2 }, STYLE_STRONG, true);
    if (h->query.n == 0)
        frame_puts(f, r.y, x + 1, r.w - 3, STYLE_DIM, "type to search");
    if (w.n == 0)
        frame_puts(f, r.y + 2, r.x, r.w, STYLE_DIM,
                   keymap_text(&settings->keys, IN_HELP, f->ascii, "No matches. {back} goes back.",
                               hint, sizeof hint));
}

/* --- as a view */
/* The number of lines inside the box, which leaves the footer free. */
static int dialog_help_height(int rows)
{
    return rows > 30 ? rows - 8 : rows - 3;
}

static void draw_help(const struct model *m, struct frame *f)
{
    const char *version = PROGRAM_VERSION;
    int h = dialog_help_height(f->rows);
    struct rect r = frame_box(f, h, width(f->cols), slice_of(version));

    draw_lines(m->help, m->settings, f, r);
}

static size_t dialog_help_page(const struct model *m)
{
    int h = dialog_help_height(m->rows) - 2;

    return h > 1 ? (size_t)h : 1;
}

static void dialog_help_scroll(struct model *m, int64_t lines)
{
    struct walk w = { .help = m->help,
                      .settings = m->settings,
                      .ascii = m->settings->ascii,
                      .line = count_line,
                      .rect = { .w = width(m->cols) } };

    walk_all(&w);
    int64_t last = (int64_t)w.n - (int64_t)dialog_help_page(m), top = (int64_t)m->help->top + lines;

    if (top > last)
        top = last;
    m->help->top = top < 0 ? 0 : (size_t)top;
}

static bool help_act(struct model *m, enum action a)
{
    int64_t by;

    if (list_cursor_steps(a, (int64_t)dialog_help_page(m), &by)) {
        dialog_help_scroll(m, by);
        return true;
    }
    switch (a) {
    case ACT_HELP:
    case ACT_BACK:
        if (a == ACT_BACK && m->help->query.n > 0) {
            line_editor_set(&m->help->query, (struct slice){ 0 });
            m->help->top = 0;
        } else {
            view_pop(m);
        }
        return true;
    default: return false;
    }
}

static void help_key(struct model *m, struct key k)
{
    if (m->help->query.n == 0 && k.mods == 0 && (k.code == '?' || k.code == 'q')) {
        view_pop(m);
        return;
    }
    if (m->help->query.n == 0 && k.mods == 0 && k.code == '/')
        return; /* the sign is on the screen already */
    if (line_editor_key(&m->help->query, k))
        m->help->top = 0;
}

static void help_paste(struct model *m, struct slice text)
{
    line_editor_insert(&m->help->query, text);
    m->help->top = 0;
}

static void help_mouse(struct model *m, struct mouse event)
{
    if (event.event == MOUSE_WHEEL_UP)
        dialog_help_scroll(m, -3);
    else if (event.event == MOUSE_WHEEL_DOWN)
        dialog_help_scroll(m, 3);
}

static bool help_perform(struct model *m, enum action a)
{
    if (a != ACT_HELP)
        return false;
    if (view_top(m) != VIEW_HELP) {
        *m->help = (struct help){ .place = view_key_context(m) };
        view_push(m, VIEW_HELP);
    }
    return true;
}

const struct view_ops view_help = {
    .name = "help",
    .overlay = true,
    .context = IN_HELP,
    .draw = draw_help,
    .act = help_act,
    .key = help_key,
    .paste = help_paste,
    .mouse = help_mouse,
    .perform = help_perform,
};
