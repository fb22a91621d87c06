#include "store/export/export_md_parse.h"

/* Texts in Markdown: escaped, in fences, in a line of code. */

static bool export_md_escape_is_letter(char c)
{
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
           (unsigned char)c >= 0x80;
}

/* An underscore inside a word does not begin emphasis, and names with backslashes are hard to read. */
static bool needs_escape(struct slice text, size_t i, const struct export_md_place *at)
{
    char c = text.p[i], next = i + 1 < text.n ? text.p[i + 1] : ' ';

    switch (c) {
    case '\\':
    case '`':
    case '*':
    case '[':
    case ']':
    case '<':
    case '>':
    case '|':
    case '~':
    case '$': return true;
    case '_': return !export_md_escape_is_letter(at->before) || !export_md_escape_is_letter(next);
    case '&': return i + 1 == text.n || export_md_escape_is_letter(next) || next == '#';
    case '!': return i + 1 == text.n; /* a link may follow, which it would make an image */
    case '#': return at->start || at->before == ' ' || at->before == '\t';
    case '+':
    case '-':
    case ':':
    case '=': return at->start;
    case '.':
    case ')': return at->digits;
    default: return false;
    }
}

/* The length of the web address that begins here, or 0. */
static size_t address_length(struct slice text, size_t i, const struct export_md_place *at)
{
    struct slice rest = { text.p + i, text.n - i };
    size_t scheme = slice_starts(rest, "https://") ? 8 : slice_starts(rest, "http://") ? 7 : 0, n;

    if (!at->links || !scheme || export_md_escape_is_letter(at->before))
        return 0;
    for (n = scheme;
         n < rest.n && rest.p[n] > ' ' && rest.p[n] < 0x7F &&
         (export_md_escape_is_letter(rest.p[n]) || strchr("/:?=%#+@~_-.,;!&$", rest.p[n]));)
        n++;
    while (n > scheme && strchr(".,;:!?_~", rest.p[n - 1]))
        n--;
    return n > scheme ? n : 0;
}

/* GitHub turns addresses into links, including the backslashes in them. Text that must not become a link gets an entity
 * where it looks like one. */
static const char *unlinking_entity(struct slice text, size_t i, const struct export_md_place *at)
{
    struct slice rest = { text.p + i, text.n - i };

    if (slice_starts(rest, "://"))
        return "&#58;";
    return *rest.p == '.' && at->www == 3 ? "&#46;" : NULL;
}

static void escape_piece(struct export_out *o, struct slice text, struct export_md_place *at)
{
    size_t from = 0;

    for (size_t i = 0; i < text.n; i++) {
        char c = text.p[i];

        size_t address = c == 'h' ? address_length(text, i, at) : 0;

        if (address) {
            export_out_add(o, (struct slice){ text.p + from, i - from });
            export_out_lit(o, "<");
            export_out_add(o, (struct slice){ text.p + i, address });
            export_out_lit(o, ">");
            i += address - 1;
            from = i + 1;
            at->start = at->digits = false;
            at->before = '>';
            continue;
        }
        const char *entity = unlinking_entity(text, i, at);
        bool blank = at->start && (c == ' ' || c == '\t'); /* would be left out, or begin code */

        if (blank || entity || needs_escape(text, i, at)) {
            export_out_add(o, (struct slice){ text.p + from, i - from });
            export_out_lit(o, blank ? "&nbsp;" : entity ? entity : "\\");
            from = i + (blank || entity);
        }
        at->digits = (at->start || at->digits) && c >= '0' && c <= '9';
        at->start = at->start && (c == ' ' || c == '\t');
        at->www = (c | 0x20) != 'w'                                    ? 0
                  : at->www || !export_md_escape_is_letter(at->before) ? at->www + 1
                                                                       : 0;
        at->before = c;
    }
    export_out_add(o, (struct slice){ text.p + from, text.n - from });
}

void export_md_escape(struct export_out *o, struct slice text, struct export_md_place *place)
{
    struct export_walk w = { .rest = text };
    struct slice piece;
    enum export_piece_kind kind;

    while (!o->rc && (kind = export_walk_next(&w, &piece)) != EXPORT_PIECE_END)
        escape_piece(o, kind == EXPORT_PIECE_NEWLINE ? SLICE(" ") : piece, place);
}

void export_md_line(struct export_out *o, struct slice text, size_t max)
{
    struct export_md_place place = { .start = true };
    struct slice cut = export_trim_line(text, max);

    export_md_escape(o, cut, &place);
    if (cut.n == max && text.n > max)
        export_out_lit(o, "…");
}

void export_md_lines(struct export_out *o, const char *prefix, struct slice text)
{
    struct slice line;
    bool torn;

    text = export_trim_end(text);
    while (!o->rc && slice_line(&text, &line, &torn)) {
        struct export_md_place place = { .start = true, .links = true };
        struct slice rest = line = export_trim_end(line);

        /* Leading blanks are kept as entities: otherwise they would make the line code, or be lost. */
        export_out_lit(o, prefix);
        for (; rest.n && (*rest.p == ' ' || *rest.p == '\t'); rest.p++, rest.n--)
            export_out_lit(o, *rest.p == '\t' ? "&nbsp;&nbsp;&nbsp;&nbsp;" : "&nbsp;");
        export_md_escape(o, rest, &place);
        export_out_lit(o, text.n && line.n ? "  \n" : "\n");
    }
}

static void export_md_escape_add_run(struct export_out *o, char c, size_t n)
{
    while (n-- > 0)
        export_out_add(o, (struct slice){ &c, 1 });
}

static void add_info(struct export_out *o, struct slice info)
{
    for (size_t i = 0; i < info.n && i < 32; i++) {
        char c = info.p[i];

        if ((!export_md_escape_is_letter(c) || (unsigned char)c >= 0x80) &&
            !strchr("+-#._", c ? c : ' '))
            return;
        export_out_add(o, (struct slice){ &c, 1 });
    }
}

void export_md_fence(struct export_out *o, struct slice prefix, struct slice info,
                     struct slice text)
{
    size_t fence = export_longest_run(text, '`') + 1;

    /* The fence has to be longer than any run of backticks in the text. */
    text = export_trim_end(text);
    fence = fence < 3 ? 3 : fence;
    export_md_escape_add_run(o, '`', fence);
    add_info(o, info);
    export_out_lit(o, "\n");
    export_out_add(o, prefix);
    if (text.n) {
        struct export_walk w = { .rest = text };
        struct slice piece;
        enum export_piece_kind kind;

        while (!o->rc && (kind = export_walk_next(&w, &piece)) != EXPORT_PIECE_END) {
            export_out_add(o, piece);
            if (kind == EXPORT_PIECE_NEWLINE)
                export_out_add(o, prefix);
        }

        export_out_lit(o, "\n");
        export_out_add(o, prefix);
    }
    export_md_escape_add_run(o, '`', fence);
    export_out_lit(o, "\n");
}

/* Not every reader knows longer fences in a line (md4c). */
enum { CODE_FENCE_MAX = 31 };

void export_md_code(struct export_out *o, struct slice text, bool in_table)
{
    size_t fence = export_longest_run(text, '`') + 1;
    struct export_md_place place = { .before = 'x' };
    bool pad = text.n == 0 || text.p[0] == '`' || text.p[text.n - 1] == '`' ||
               (text.p[0] == ' ' && text.p[text.n - 1] == ' ');

    if (fence > CODE_FENCE_MAX) {
        export_md_escape(o, text, &place);
        return;
    }
    export_md_escape_add_run(o, '`', fence);
    export_out_lit(o, pad ? " " : "");

    /* In a table a bar ends the cell, in code as well. */
    struct export_walk w = { .rest = text };
    struct slice piece;
    enum export_piece_kind kind;

    while (!o->rc && (kind = export_walk_next(&w, &piece)) != EXPORT_PIECE_END) {
        const char *bar = in_table && piece.n ? memchr(piece.p, '|', piece.n) : NULL;

        for (; bar; bar = piece.n ? memchr(piece.p, '|', piece.n) : NULL) {
            export_out_add(o, (struct slice){ piece.p, (size_t)(bar - piece.p) });
            export_out_lit(o, bar > piece.p && bar[-1] == '\\' ? "|" : "\\|");
            piece.n -= (size_t)(bar + 1 - piece.p);
            piece.p = bar + 1;
        }
        export_out_add(o, kind == EXPORT_PIECE_NEWLINE ? SLICE(" ") : piece);
    }

    export_out_lit(o, pad ? " " : "");
    export_md_escape_add_run(o, '`', fence);
}
