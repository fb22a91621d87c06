#include <stdio.h>

#include "lite/base/digest.h"
#include "lite/base/time.h"
#include "store/export/export_md_parse.h"

/* One page of HTML: no scripts, nothing that is loaded from elsewhere. The policy in its head allows nothing but the
 * page's own style, by its hash; so even a mistake in escaping could not run anything. */

enum { SUMMARY_MAX = 200, NOTE_MAX = 600 };

/* clang-format off */
static const char style[] =
    ":root{color-scheme:light dark;--bg:#fff;--fg:#1f2328;--dim:#59636e;--line:#d1d9e0;--box:#f6f8fa;"
    "--user:#ddf4ff;--link:#0969da;--add:#dafbe1;--addfg:#116329;--del:#ffebe9;--delfg:#a40e26;--hunk:#0550ae;"
    "--bad:#cf222e;--ok:#1a7f37}\n"
    "@media(prefers-color-scheme:dark){:root{--bg:#0d1117;--fg:#e6edf3;--dim:#9198a1;--line:#3d444d;"
    "--box:#151b23;--user:#121d2f;--link:#4493f8;--add:#12261e;--addfg:#56d364;--del:#25171c;--delfg:#ff7b72;"
    "--hunk:#79c0ff;--bad:#f85149;--ok:#3fb950}}\n"
    "*{box-sizing:border-box}\n"
    "body{margin:0 auto;padding:2rem 1rem 4rem;max-width:56rem;background:var(--bg);color:var(--fg);"
    "font:16px/1.55 system-ui,-apple-system,'Segoe UI',sans-serif;overflow-wrap:anywhere}\n"
    "h1{font-size:1.6rem;line-height:1.25;margin:0 0 1rem}"
    "h2{margin:3rem 0 1rem;padding-top:1rem;border-top:1px solid var(--line);font-size:1.3rem}"
    "h4,h5,h6{margin:1.2em 0 .4em;font-size:1.05em}\n"
    "a{color:var(--link)}"
    "hr{border:0;border-top:1px solid var(--line);margin:1.5em 0}\n"
    "dl{display:grid;grid-template-columns:max-content 1fr;gap:.15rem 1rem;margin:0 0 2rem;font-size:.9rem}"
    "dt{color:var(--dim)}"
    "dd{margin:0}\n"
    "pre,code{font:13px/1.5 ui-monospace,SFMono-Regular,Menlo,Consolas,monospace}\n"
    "pre{margin:.6em 0;padding:.7em .9em;background:var(--box);border:1px solid var(--line);border-radius:6px;"
    "white-space:pre-wrap;overflow-wrap:anywhere}"
    "pre code{display:block}\n"
    ":not(pre)>code{background:var(--box);padding:.1em .3em;border-radius:4px}\n"
    "blockquote{margin:.6em 0;padding:0 1em;color:var(--dim);border-left:3px solid var(--line)}\n"
    "table{border-collapse:collapse;margin:.8em 0;display:block;overflow-x:auto;max-width:100%}"
    "th,td{border:1px solid var(--line);padding:.3em .7em;text-align:left}"
    ".center{text-align:center}"
    ".right{text-align:right}"
    "li.task{list-style:none}\n"
    "article{margin:.4rem 0;unicode-bidi:isolate}"
    "article>header{display:flex;gap:.8rem;align-items:baseline;margin:1.8rem 0 .3rem;font-size:.85rem;"
    "color:var(--dim)}"
    "article>header b{color:var(--fg);font-size:.95rem}"
    "article>header a{color:inherit;text-decoration:none}"
    "article>header a:hover{text-decoration:underline}\n"
    "article:target{outline:2px solid var(--link);outline-offset:6px;border-radius:4px}\n"
    ".prompt{background:var(--user);border:1px solid var(--line);border-radius:8px;padding:.7em 1em;"
    "white-space:pre-wrap;margin:.4em 0}"
    ".command{font:13px/1.5 ui-monospace,monospace}\n"
    ".text>:first-child{margin-top:0}"
    ".text>:last-child{margin-bottom:0}"
    ".text{margin:.6em 0}\n"
    "details{margin:.35em 0;border:1px solid var(--line);border-radius:6px;background:var(--box)}"
    "details>summary{cursor:pointer;padding:.35em .8em;font-size:.88rem}"
    "details[open]>summary{border-bottom:1px solid var(--line)}"
    "details>:not(summary){margin:.6em .8em}"
    "details pre{background:var(--bg)}"
    "details.thinking{border-style:dashed}\n"
    ".thinking .plain{white-space:pre-wrap;color:var(--dim)}"
    ".note,.media{color:var(--dim);font-size:.88rem;margin:.4em 0}"
    ".seam{display:flex;align-items:center;gap:1rem;color:var(--dim);font-size:.88rem;margin:2rem 0}"
    ".seam::before,.seam::after{content:'';flex:1;border-top:1px dashed var(--line)}"
    ".failed{color:var(--bad)}"
    ".ok{color:var(--ok)}\n"
    ".diff .add,.diff .del,.diff .hunk,.diff .same{display:block;min-height:1.5em}"
    ".diff .add{background:var(--add);color:var(--addfg)}"
    ".diff .del{background:var(--del);color:var(--delfg)}"
    ".diff .hunk{color:var(--hunk)}"
    ".plus{color:var(--addfg)}"
    ".minus{color:var(--delfg)}\n"
    ".sign{color:var(--bad);border:1px solid currentColor;border-radius:3px;padding:0 .15em;font-size:.85em}"
    ".target{color:var(--dim)}"
    "nav ol{font-size:.95rem}\n"
    "@media print{body{max-width:none;padding:0;font-size:11pt}details,pre,.prompt,table{break-inside:avoid}"
    "a[href^=http]::after{content:' (' attr(href) ')';font-size:.85em}article>header{break-after:avoid}"
    "details:not([open])>summary{border:0}}\n";
/* clang-format on */

static void add_style_hash(struct export_out *o)
{
    uint8_t hash[SHA256_BYTES];
    char text[2 * SHA256_BYTES];

    if (!digest_of(DIGEST_SHA256, SLICE(style), hash)) {
        o->rc = digest_error(NULL);
        return;
    }
    digest_base64(hash, sizeof hash, text);
    export_out_add(o, slice_of(text));
}

static void export_html_add_fact(struct export_out *o, const char *name, struct slice value,
                                 bool own)
{
    (void)own;
    export_out_addf(o, "<dt>%s</dt><dd>", name);
    export_html_line(o, value, 400);
    export_out_lit(o, "</dd>\n");
}

static void html_begin(struct export_out *o, const struct export_head *head)
{
    struct slice piece;
    enum export_piece_kind kind;

    export_out_lit(o, "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
                      "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
                      "style-src 'sha256-");
    add_style_hash(o);
    export_out_lit(o, "'; base-uri 'none'; form-action 'none'\">\n"
                      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
                      "<meta name=\"referrer\" content=\"no-referrer\">\n<title>");

    /* The title of a page is text alone: markup in it would be shown. */
    struct slice title = head->title;
    struct export_walk w = { .rest = export_trim_line(title, EXPORT_TITLE_MAX) };

    while (!o->rc && (kind = export_walk_next(&w, &piece)) != EXPORT_PIECE_END)
        if (kind != EXPORT_PIECE_SIGN)
            export_html_text(o, kind == EXPORT_PIECE_NEWLINE ? SLICE(" ") : piece);

    export_out_lit(o, "</title>\n<style>");
    export_out_lit(o, style);
    export_out_lit(o, "</style>\n</head>\n<body>\n<h1 dir=\"auto\">");
    export_html_line(o, head->title, EXPORT_TITLE_MAX);
    export_out_lit(o, "</h1>\n<dl>\n<dt>Session</dt><dd>");
    export_html_line(o, head->id, 200);
    export_out_addf(o, " (%s)</dd>\n", head->system);
    export_facts(o, head, export_html_add_fact);
    export_out_lit(o, "</dl>\n<main>\n");
}

static void html_contents(struct export_out *o, const struct export_section *section, size_t n)
{
    export_out_lit(o, "<nav><ol>\n");
    for (size_t i = 0; i < n; i++) {
        export_out_addf(o, "<li><a href=\"#s%zu\">", section[i].number);
        export_section_name(o, &section[i], export_html_line);
        export_out_lit(o, "</a></li>\n");
    }
    export_out_lit(o, "</ol></nav>\n");
}

static void html_section(struct export_out *o, const struct export_section *s)
{
    export_out_addf(o, "<h2 id=\"s%zu\" dir=\"auto\">", s->number);
    export_section_name(o, s, export_html_line);
    export_out_lit(o, "</h2>\n");
}

/* The anchor of a message is its place in the conversation, which does not change while that grows. */
static void html_message(struct export_out *o, const struct export_message *m)
{
    static const char *const classes[] = { "other", "user", "agent" };
    char time[EXPORT_TIME], anchor[64];

    if (m->section)
        snprintf(anchor, sizeof anchor, "s%zum%zu", m->section, m->number);
    else
        snprintf(anchor, sizeof anchor, "m%zu", m->number);
    export_out_addf(o, "<article class=\"%s\" id=\"%s\">", classes[m->speaker], anchor);
    if (!m->again && m->speaker != EXPORT_NO_SPEAKER) {
        export_out_addf(o, "<header><b>%s</b>", m->speaker == EXPORT_USER ? "User" : "Agent");
        if (m->time_ms != TIME_NONE) {
            export_time(m->time_ms, time);
            export_out_addf(o, "<time>%s</time>", time);
        }
        export_out_addf(o, "<a href=\"#%s\">#%zu</a></header>", anchor, m->number);
    }
    export_out_lit(o, "\n");
}

static void html_prompt(struct export_out *o, struct slice text, bool command)
{
    export_out_lit(o, command ? "<div class=\"prompt command\" dir=\"auto\">"
                              : "<div class=\"prompt\" dir=\"auto\">");
    export_html_text(o, export_trim_end(text));
    export_out_lit(o, "</div>\n");
}

static void html_reply(struct export_out *o, struct slice text, bool failed)
{
    export_out_lit(o, failed ? "<div class=\"text failed\" dir=\"auto\">"
                             : "<div class=\"text\" dir=\"auto\">");
    export_markdown_to_html(o, text);
    export_out_lit(o, "</div>\n");
}

static void html_thinking(struct export_out *o, struct slice text, bool open)
{
    export_out_addf(o,
                    "<details class=\"thinking\"%s><summary>Thinking</summary>"
                    "<div class=\"plain\" dir=\"auto\">",
                    open ? " open" : "");
    export_html_text(o, export_trim_end(text));
    export_out_lit(o, "</div></details>\n");
}

static void add_pre(struct export_out *o, const char *class, struct slice text)
{
    if (text.n == 0)
        return;
    export_out_addf(o, "<pre class=\"%s\"><code>", class);
    export_html_text(o, export_trim_end(text));
    export_out_lit(o, "</code></pre>");
}

static void html_tool(struct export_out *o, const struct export_tool *t)
{
    export_out_addf(o, "<details class=\"tool\"%s>", t->open ? " open" : "");

    /* The line that is shown while the details are closed. */
    char outcome[32];

    export_out_lit(o, "<summary><b>");
    export_html_line(o, t->call ? t->call->name : SLICE("Result"), 60);
    export_out_lit(o, "</b>");
    if (t->subject.n) {
        export_out_lit(o, " <code>");
        export_html_line(o, t->subject, SUMMARY_MAX);
        export_out_lit(o, "</code>");
    }
    if (t->hunks.added)
        export_out_addf(o, " <span class=\"plus\">+%zu</span>", t->hunks.added);
    if (t->hunks.removed)
        export_out_addf(o, " <span class=\"minus\">−%zu</span>", t->hunks.removed);
    if (t->result)
        export_out_addf(o, " <span class=\"%s\">%s</span>", t->result->failed ? "failed" : "ok",
                        export_outcome(t, outcome));
    export_out_lit(o, "</summary>");

    add_pre(o, "command", t->command);
    add_pre(o, "input", t->input);
    if (t->hunks.rc)
        o->rc = t->hunks.rc;
    if (t->hunks.n != 0) {
        export_out_lit(o, "<pre class=\"diff\"><code>");
        for (size_t i = 0; !o->rc && i < t->hunks.n; i++) {
            const struct hunk_line *l = &t->hunks.line[i];
            const char *class = l->sign == '+'   ? "add"
                                : l->sign == '-' ? "del"
                                : l->sign == ' ' ? "same"
                                                 : "hunk";
            char sign[2] = { l->sign == '@' ? '\0' : l->sign };

            export_out_addf(o, "<span class=\"%s\">%s", class, sign);
            export_html_text(o, l->sign == '@' && l->text.n == 0 ? SLICE("@@") : l->text);
            export_out_lit(o, "\n</span>");
        }
        export_out_lit(o, "</code></pre>");
    }

    add_pre(o, t->result && t->result->failed ? "output failed" : "output", t->output);
    if (t->section)
        export_out_addf(o, "<p><a href=\"#s%zu\">Sub-agent %zu</a></p>", t->section, t->section);
    export_out_lit(o, "</details>\n");
}

static void html_media(struct export_out *o, const struct block *b)
{
    export_media(o, "<p class=\"media\">[", b, export_html_line, "]</p>\n");
}

static void html_note(struct export_out *o, const struct export_note *note)
{
    if (note->summary || note->open) {
        export_out_addf(o, "<details class=\"note\"%s><summary>", note->open ? " open" : "");
        export_html_line(
            o, note->summary ? SLICE("Summary of the conversation before") : note->name, 80);
        export_out_lit(o, "</summary>");
        if (note->summary) {
            export_out_lit(o, "<div class=\"text\" dir=\"auto\">");
            export_markdown_to_html(o, note->text);
            export_out_lit(o, "</div>");
        } else {
            add_pre(o, "output", note->text);
        }
        export_out_lit(o, "</details>\n");
        return;
    }
    export_out_addf(o, "<p class=\"note%s\" dir=\"auto\"><b>", note->failed ? " failed" : "");
    export_html_line(o, note->name, 80);
    export_out_lit(o, "</b> ");
    export_html_line(o, note->text, NOTE_MAX);
    export_out_lit(o, "</p>\n");
}

static void html_seam(struct export_out *o, struct slice text)
{
    export_out_lit(o, "<div class=\"seam\">");
    export_html_line(o, text, NOTE_MAX);
    export_out_lit(o, "</div>\n");
}

static void html_raw(struct export_out *o, struct slice text)
{
    export_out_lit(o, "<details class=\"raw\"><summary>A row that cannot be read</summary>");
    add_pre(o, "output", text);
    export_out_lit(o, "</details>\n");
}

const struct export_writer export_html = {
    .begin = html_begin,
    .end = "</main>\n</body>\n</html>\n",
    .contents = html_contents,
    .section = html_section,
    .message = html_message,
    .message_end = "</article>\n",
    .prompt = html_prompt,
    .reply = html_reply,
    .thinking = html_thinking,
    .tool = html_tool,
    .media = html_media,
    .note = html_note,
    .seam = html_seam,
    .raw = html_raw,
};
