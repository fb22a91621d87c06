#include "store/export/export_md_parse.h"

#include "lite/base/time.h"

/* Markdown as GitHub renders it. Whatever is folded is a <details> element, the only HTML in the document. */

enum { SUMMARY_MAX = 160, NOTE_MAX = 400 };

static void export_md_add_fact(struct export_out *o, const char *name, struct slice value, bool own)
{
    export_out_addf(o, "- %s: ", name);
    if (own)
        export_out_add(o, value);
    else
        export_md_code(o, export_trim_line(value, 400), false);
    export_out_lit(o, "\n");
}

static void md_begin(struct export_out *o, const struct export_head *head)
{
    export_out_lit(o, "# ");
    export_md_line(o, head->title, EXPORT_TITLE_MAX);
    export_out_lit(o, "\n\n");
    export_out_addf(o, "- Session: `%s` ", head->system);
    export_md_code(o, head->id, false);
    export_out_lit(o, "\n");
    export_facts(o, head, export_md_add_fact);
    export_out_lit(o, "\n");
}

static void md_contents(struct export_out *o, const struct export_section *section, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        export_out_lit(o, "- ");
        export_section_name(o, &section[i], export_md_line);
        export_out_lit(o, "\n");
    }
    export_out_lit(o, "\n");
}

static void md_section(struct export_out *o, const struct export_section *section)
{
    export_out_lit(o, "---\n\n## ");
    export_section_name(o, section, export_md_line);
    export_out_lit(o, "\n\n");
}

static void md_message(struct export_out *o, const struct export_message *m)
{
    char time[EXPORT_TIME];

    if (m->again || m->speaker == EXPORT_NO_SPEAKER)
        return;
    export_out_lit(o, m->speaker == EXPORT_USER ? "### User" : "### Agent");
    if (m->time_ms != TIME_NONE) {
        export_time(m->time_ms, time);
        export_out_addf(o, " · %s", time);
    }
    export_out_lit(o, "\n\n");
}

static void md_prompt(struct export_out *o, struct slice text, bool command)
{
    if (command) {
        export_md_fence(o, SLICE(""), SLICE(""), text);
        export_out_lit(o, "\n");
        return;
    }
    export_md_lines(o, "> ", text);
    export_out_lit(o, "\n");
}

static void md_reply(struct export_out *o, struct slice text, bool failed)
{
    if (failed)
        export_out_lit(o, "**Error**\n\n");
    export_markdown_to_md(o, text);
    export_out_lit(o, "\n");
}

/* The summary is in a block of HTML, in which nothing is Markdown. */
static void open_details(struct export_out *o, bool open)
{
    export_out_lit(o, open ? "<details open>\n<summary>" : "<details>\n<summary>");
}

static void close_details(struct export_out *o)
{
    export_out_lit(o, "</details>\n\n");
}

static void md_thinking(struct export_out *o, struct slice text, bool open)
{
    open_details(o, open);
    export_out_lit(o, "<i>Thinking</i></summary>\n\n");
    export_md_lines(o, "> ", text);
    export_out_lit(o, "\n");
    close_details(o);
}

static void add_fence(struct export_out *o, const char *info, struct slice text)
{
    if (text.n == 0)
        return;
    export_md_fence(o, SLICE(""), slice_of(info), text);
    export_out_lit(o, "\n");
}

static void md_tool(struct export_out *o, const struct export_tool *t)
{
    char outcome[32];

    open_details(o, t->open);
    export_out_lit(o, "<b>");
    export_html_line(o, t->call ? t->call->name : SLICE("Result"), 60);
    export_out_lit(o, "</b>");
    if (t->subject.n) {
        export_out_lit(o, " <code>");
        export_html_line(o, t->subject, SUMMARY_MAX);
        export_out_lit(o, "</code>");
    }
    if (t->hunks.added)
        export_out_addf(o, " +%zu", t->hunks.added);
    if (t->hunks.removed)
        export_out_addf(o, " −%zu", t->hunks.removed);
    if (t->result || !t->call)
        export_out_addf(o, " — %s", export_outcome(t, outcome));
    if (t->section)
        export_out_addf(o, " — sub-agent %zu", t->section);

    export_out_lit(o, "</summary>\n\n");
    add_fence(o, "sh", t->command);
    add_fence(o, "yaml", t->input);
    if (t->hunks.n) {
        /* The lines of all hunks, with their signs. */
        struct buf text = { 0 };
        enum err_code rc = t->hunks.rc;

        for (size_t i = 0; !rc && i < t->hunks.n; i++) {
            const struct hunk_line *l = &t->hunks.line[i];

            if (l->sign != '@')
                rc = buf_add_byte(&text, l->sign);
            else if (l->text.n == 0)
                rc = buf_add(&text, SLICE("@@"));
            if (!rc)
                rc = buf_add(&text, l->text);
            if (!rc)
                rc = buf_add_byte(&text, '\n');
        }
        export_md_fence(o, SLICE(""), SLICE("diff"), buf_slice(&text));
        export_out_lit(o, "\n");
        buf_fini(&text);
        if (rc)
            o->rc = rc;
    }
    add_fence(o, "text", t->output);
    close_details(o);
}

static void md_media(struct export_out *o, const struct block *b)
{
    export_media(o, "*\\[", b, export_md_line, "\\]*\n\n");
}

static void md_note(struct export_out *o, const struct export_note *note)
{
    bool fold = note->summary || note->open;

    if (fold) {
        open_details(o, note->open);
        export_html_line(
            o, note->summary ? SLICE("Summary of the conversation before") : note->name, 80);
        export_out_lit(o, "</summary>\n\n");
        if (note->summary)
            export_markdown_to_md(o, note->text);
        else
            export_md_fence(o, SLICE(""), SLICE("text"), note->text);
        export_out_lit(o, "\n");
        close_details(o);
        return;
    }
    export_out_lit(o, note->failed ? "**" : "*");
    export_md_line(o, note->name, 80);
    export_out_lit(o, note->failed ? "**" : "*");
    export_out_lit(o, note->text.n ? ": " : "");
    export_md_line(o, note->text, NOTE_MAX);
    export_out_lit(o, "\n\n");
}

static void md_seam(struct export_out *o, struct slice text)
{
    export_out_lit(o, "---\n\n*");
    export_md_line(o, text.n ? text : SLICE("The conversation was compacted here."), NOTE_MAX);
    export_out_lit(o, "*\n\n");
}

static void md_raw(struct export_out *o, struct slice text)
{
    open_details(o, false);
    export_out_lit(o, "A row that cannot be read</summary>\n\n");
    add_fence(o, "text", text);
    close_details(o);
}

const struct export_writer export_md = {
    .begin = md_begin,
    .end = "",
    .contents = md_contents,
    .section = md_section,
    .message = md_message,
    .message_end = "",
    .prompt = md_prompt,
    .reply = md_reply,
    .thinking = md_thinking,
    .tool = md_tool,
    .media = md_media,
    .note = md_note,
    .seam = md_seam,
    .raw = md_raw,
};
