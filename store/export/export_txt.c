#include "lite/base/time.h"
#include "store/export/export_internal.h"

/* Plain text, for a pager. Lines are as long as they are. */

enum { SUBJECT_MAX = 160, NOTE_MAX = 400 };

/* Text with signs; each of its lines begins with the prefix. */
static void export_txt_add_lines(struct export_out *o, const char *prefix, struct slice text)
{
    struct export_walk w = { .rest = export_trim_end(text) };
    struct slice piece;
    enum export_piece_kind kind;
    bool begun = false;

    while (!o->rc && (kind = export_walk_next(&w, &piece)) != EXPORT_PIECE_END) {
        if (!begun && !(kind == EXPORT_PIECE_NEWLINE))
            export_out_lit(o, prefix);
        begun = kind != EXPORT_PIECE_NEWLINE;
        export_out_add(o, piece);
    }
    export_out_lit(o, begun ? "\n" : "");
}

static void add_in_line(struct export_out *o, struct slice text)
{
    struct export_walk w = { .rest = text };
    struct slice piece;
    enum export_piece_kind kind;

    while (!o->rc && (kind = export_walk_next(&w, &piece)) != EXPORT_PIECE_END)
        export_out_add(o, kind == EXPORT_PIECE_NEWLINE ? SLICE(" ") : piece);
}

static void export_txt_add_line(struct export_out *o, struct slice text, size_t max)
{
    struct slice cut = export_trim_line(text, max);

    add_in_line(o, cut);
    if (cut.n == max && text.n > max)
        export_out_lit(o, "…");
}

static void export_txt_add_fact(struct export_out *o, const char *name, struct slice value,
                                bool own)
{
    (void)own;
    export_out_addf(o, "%s:%*s ", name, (int)(sizeof "Last message" - 1 - strlen(name)), "");
    export_txt_add_line(o, value, 400);
    export_out_lit(o, "\n");
}

static void txt_begin(struct export_out *o, const struct export_head *head)
{
    export_txt_add_line(o, head->title, EXPORT_TITLE_MAX);
    export_out_lit(o, "\n\n");
    export_txt_add_fact(o, "Session", head->id, false);
    export_txt_add_fact(o, "System", slice_of(head->system), true);
    export_facts(o, head, export_txt_add_fact);
    export_out_lit(o, "\n");
}

static void txt_contents(struct export_out *o, const struct export_section *section, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        export_section_name(o, &section[i], export_txt_add_line);
        export_out_lit(o, "\n");
    }
    export_out_lit(o, "\n");
}

static void txt_section(struct export_out *o, const struct export_section *s)
{
    export_out_lit(o, "========================================================================\n");
    export_section_name(o, s, export_txt_add_line);
    export_out_lit(o, "\n\n");
}

static void txt_message(struct export_out *o, const struct export_message *m)
{
    char time[EXPORT_TIME];

    if (m->again || m->speaker == EXPORT_NO_SPEAKER)
        return;
    export_out_addf(o, "--- %s", m->speaker == EXPORT_USER ? "User" : "Agent");
    if (m->time_ms != TIME_NONE) {
        export_time(m->time_ms, time);
        export_out_addf(o, ", %s", time);
    }
    export_out_addf(o, ", #%zu ---\n\n", m->number);
}

static void txt_prompt(struct export_out *o, struct slice text, bool command)
{
    (void)command;
    export_txt_add_lines(o, "> ", text);
    export_out_lit(o, "\n");
}

static void txt_reply(struct export_out *o, struct slice text, bool failed)
{
    export_out_lit(o, failed ? "Error:\n" : "");
    export_txt_add_lines(o, "", text);
    export_out_lit(o, "\n");
}

static void txt_thinking(struct export_out *o, struct slice text, bool open)
{
    (void)open;
    export_txt_add_lines(o, "~ ", text);
    export_out_lit(o, "\n");
}

/* One line; the call's input and output follow only if everything is wanted. */
static void txt_tool(struct export_out *o, const struct export_tool *t)
{
    char outcome[32];

    export_out_lit(o, "* ");
    export_txt_add_line(o, t->call ? t->call->name : SLICE("Result"), 60);
    export_out_lit(o, t->subject.n ? " " : "");
    export_txt_add_line(o, t->subject, SUBJECT_MAX);
    if (t->hunks.added)
        export_out_addf(o, " +%zu", t->hunks.added);
    if (t->hunks.removed)
        export_out_addf(o, " -%zu", t->hunks.removed);
    if (t->result)
        export_out_addf(o, " (%s)", export_outcome(t, outcome));
    if (t->section)
        export_out_addf(o, " (sub-agent %zu)", t->section);
    export_out_lit(o, "\n");
    if (t->open) {
        export_txt_add_lines(o, "    $ ", t->command);
        export_txt_add_lines(o, "    ", t->input);

        if (t->hunks.rc)
            o->rc = t->hunks.rc;
        for (size_t i = 0; !o->rc && i < t->hunks.n; i++) {
            const struct hunk_line *l = &t->hunks.line[i];

            export_out_lit(o, "    ");

            /* The head of a hunk has no sign of its own, and may have no text. */
            if (l->sign != '@')
                export_out_add(o, (struct slice){ &l->sign, 1 });
            else if (l->text.n == 0)
                export_out_lit(o, "@@");
            add_in_line(o, l->text);
            export_out_lit(o, "\n");
        }

        export_txt_add_lines(o, "    ", t->output);
    }
    export_out_lit(o, "\n");
}

static void txt_media(struct export_out *o, const struct block *b)
{
    export_media(o, "[", b, export_txt_add_line, "]\n\n");
}

static void txt_note(struct export_out *o, const struct export_note *note)
{
    export_out_lit(o, note->failed ? "! " : ". ");
    if (note->summary)
        export_out_lit(o, "Summary of the conversation before");
    else
        export_txt_add_line(o, note->name, 80);
    if (note->open) {
        export_out_lit(o, "\n");
        export_txt_add_lines(o, "    ", note->text);
    } else if (!note->summary) {
        export_out_lit(o, note->text.n ? ": " : "");
        export_txt_add_line(o, note->text, NOTE_MAX);
    }
    export_out_lit(o, note->open ? "\n" : "\n\n");
}

static void txt_seam(struct export_out *o, struct slice text)
{
    export_out_lit(o, "------ ");
    export_txt_add_line(o, text, NOTE_MAX);
    export_out_lit(o, " ------\n\n");
}

static void txt_raw(struct export_out *o, struct slice text)
{
    export_out_lit(o, "[a row that cannot be read] ");
    export_txt_add_line(o, text, NOTE_MAX);
    export_out_lit(o, "\n\n");
}

const struct export_writer export_txt = {
    .begin = txt_begin,
    .end = "",
    .contents = txt_contents,
    .section = txt_section,
    .message = txt_message,
    .message_end = "",
    .prompt = txt_prompt,
    .reply = txt_reply,
    .thinking = txt_thinking,
    .tool = txt_tool,
    .media = txt_media,
    .note = txt_note,
    .seam = txt_seam,
    .raw = txt_raw,
};
