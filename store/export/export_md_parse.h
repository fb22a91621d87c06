#ifndef STORE_EXPORT_EXPORT_MD_PARSE_H
#define STORE_EXPORT_EXPORT_MD_PARSE_H

#include "store/export/export_internal.h"

/* The Markdown of an agent, parsed (md4c) and written anew, so that an open fence, a stray tag or a reference in a
 * message has no effect on what follows it. HTML in it is text. Links lead to http, https and mailto; others, and
 * images, which would be loaded from a foreign server, become text. Headings are three levels lower, below those of the
 * document. A text of more than EXPORT_MARKDOWN_MAX bytes is written as it is. */
enum { EXPORT_MARKDOWN_MAX = 4 << 20, EXPORT_MARKDOWN_LEVELS = 24, EXPORT_HEADING = 3 };

void export_markdown_to_html(struct export_out *o, struct slice text);
void export_markdown_to_md(struct export_out *o, struct slice text);

/* ---- for both ---- */

unsigned export_markdown_flags(void);
struct MD_PARSER;
/* md_parse over a copy that ends with a newline: without one md4c (0.4.8) may read a byte after the text, and report
 * it. Texts that are passed to the parser's functions are valid during the call. ERR_NOMEM; if a function ends the
 * walk, that is not an error. */
MUST_CHECK enum err_code export_markdown_parse(struct slice text, const struct MD_PARSER *parser,
                                               void *arg);
/* Returns the character of an entity such as "&amp;" or "&#8364;" as UTF-8, or the entity itself if it is not known.
 * The result is in out, static, or the entity. */
struct slice export_entity(struct slice entity, char out[4]);
/* The spans that are open. md4c may end one that it never began (an emphasis that begins in the target of a link), so
 * both writers end only what they began, innermost first. */
enum { EXPORT_SPANS = 64 };

struct export_spans {
    int type[EXPORT_SPANS];  /* MD_SPANTYPE */
    bool link[EXPORT_SPANS]; /* the span is a link, and written as one */
    int n;
};

/* Returns false if too many are open; the span is then not begun. */
bool export_span_begin(struct export_spans *s, int type);
/* The number of spans to end, innermost first, so that the innermost of this type ends; 0: none of this type is
 * open. */
int export_span_depth(const struct export_spans *s, int type);

struct MD_ATTRIBUTE;
/* Decides whether the link that was just begun is written as one, with its target in the buffer: not within another
 * link (md4c may report such), and not if its scheme is not allowed. */
bool export_span_link(struct export_spans *s, const struct MD_ATTRIBUTE *href, struct buf *target);
/* The target of a link, decoded, in the buffer. */
void export_link_raw(const struct MD_ATTRIBUTE *a, struct buf *out);
/* The target as an address in which everything but plain characters is percent-encoded. Returns false if its scheme is
 * not allowed. */
bool export_link_target(struct slice raw, struct buf *out);

/* ---- HTML ---- */

/* Text of the document, escaped; line ends stay. */
void export_html_text(struct export_out *o, struct slice text);
/* One line of at most `max` bytes: line ends become blanks. */
void export_html_line(struct export_out *o, struct slice text, size_t max);

/* ---- Markdown ---- */

/* Where a text is in its line, which decides what has to be escaped. */
struct export_md_place {
    bool start;  /* nothing was written in the line */
    bool digits; /* only digits were written: "1." would begin a list */
    /* addresses become links, so they are written whole: with escapes, GitHub would include the backslashes */
    bool links;
    char before;  /* the last character */
    unsigned www; /* number of letters w at the beginning of the present word */
};

/* Text of one line, escaped; line ends become blanks. */
void export_md_escape(struct export_out *o, struct slice text, struct export_md_place *place);
/* A line of its own, at most `max` bytes of it. */
void export_md_line(struct export_out *o, struct slice text, size_t max);
/* A text of several lines, each after the prefix; line ends and blanks at the beginning of a line are kept. */
void export_md_lines(struct export_out *o, const char *prefix, struct slice text);
/* A block of code. Each line begins with the prefix. `info` is the language; only its plain characters are written. */
void export_md_fence(struct export_out *o, struct slice prefix, struct slice info,
                     struct slice text);
/* Code in a line. */
void export_md_code(struct export_out *o, struct slice text, bool in_table);

#endif
