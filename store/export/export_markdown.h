#ifndef STORE_EXPORT_EXPORT_MARKDOWN_H
#define STORE_EXPORT_EXPORT_MARKDOWN_H

#include "store/export/export_internal.h"

/* The Markdown of an agent, parsed (md4c) and written anew, so that a message ends where it ends: an open fence, a
 * stray tag or a reference in it has no effect on what follows. HTML in it is text. Links lead to http, https and
 * mailto; others, and images, which would be loaded from a foreign server, become text. Headings are three levels
 * lower, below those of the document. A text of more than EXPORT_MARKDOWN_MAX bytes is written as it is. */
enum { EXPORT_MARKDOWN_MAX = 4 << 20, EXPORT_MARKDOWN_LEVELS = 24, EXPORT_HEADING = 3 };

void export_markdown_to_html(struct export_out *o, struct slice text);
void export_markdown_to_md(struct export_out *o, struct slice text);

/* ---- for both ---- */

unsigned export_markdown_flags(void);
struct MD_PARSER;
/* md_parse over a copy that ends with a newline: without one md4c (0.4.8) may read a byte behind the text, and hand it
 * out. Texts that the parser's functions get are valid during their call. ERR_NOMEM; a function that ends the walk is no
 * error. */
MUST_CHECK enum err_code export_markdown_parse(struct slice text, const struct MD_PARSER *parser,
                                               void *arg);
/* What an entity such as "&amp;" or "&#8364;" means, as UTF-8; the entity itself if it is not known. The result is in
 * out, static, or the entity. */
struct slice export_entity(struct slice entity, char out[4]);
/* The spans that are open. md4c may end one that it never began (of an emphasis that begins in the target of a link), so
 * both writers end what they began, innermost first, and nothing else. */
enum { EXPORT_SPANS = 64 };

struct export_spans {
    int type[EXPORT_SPANS];  /* MD_SPANTYPE */
    bool link[EXPORT_SPANS]; /* of a link: it is written as one */
    int n;
};

/* Returns false if there are too many: it is not begun. */
bool export_span_begin(struct export_spans *s, int type);
/* The number of spans to end, innermost first, so that the innermost of this type ends; 0: none of this type is open. */
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
    bool start;   /* nothing was written in the line */
    bool digits;  /* only digits were: "1." would begin a list */
    bool links;   /* addresses become links, whole: GitHub would take them with the backslashes */
    char before;  /* the last character */
    unsigned www; /* so many letters w were, at the beginning of a word */
};

/* Text of one line, escaped; line ends become blanks. */
void export_md_escape(struct export_out *o, struct slice text, struct export_md_place *place);
/* A line of its own, at most `max` bytes of it. */
void export_md_line(struct export_out *o, struct slice text, size_t max);
/* A text of several lines, each behind the prefix; line ends and blanks in front of a line stay. */
void export_md_lines(struct export_out *o, const char *prefix, struct slice text);
/* A block of code. Each line begins with the prefix. `info` is the language; only its plain characters are written. */
void export_md_fence(struct export_out *o, struct slice prefix, struct slice info,
                     struct slice text);
/* Code in a line. */
void export_md_code(struct export_out *o, struct slice text, bool in_table);

#endif
