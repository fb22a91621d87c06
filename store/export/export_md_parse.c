#include "store/export/export_md_parse.h"

#include <md4c.h>
#include <strings.h>

#include "lite/base/utf8.h"

unsigned export_markdown_flags(void)
{
    return MD_FLAG_TABLES | MD_FLAG_STRIKETHROUGH | MD_FLAG_TASKLISTS | MD_FLAG_NOHTML |
           MD_FLAG_PERMISSIVEURLAUTOLINKS | MD_FLAG_NOINDENTEDCODEBLOCKS;
}

enum err_code export_markdown_parse(struct slice text, const MD_PARSER *parser, void *arg)
{
    AUTO_BUF copy = { 0 };

    TRY(buf_add(&copy, text));
    if (text.n == 0 || text.p[text.n - 1] != '\n')
        TRY(buf_add_byte(&copy, '\n'));
    if (md_parse(copy.p, (MD_SIZE)copy.n, parser, arg) < 0)
        return ERR_NOMEM;
    return ERR_OK;
}

struct slice export_entity(struct slice entity, char out[4])
{
    static const struct {
        const char *name, *text;
    } known[] = {
        { "&amp;", "&" },    { "&lt;", "<" },        { "&gt;", ">" },    { "&quot;", "\"" },
        { "&apos;", "'" },   { "&nbsp;", "\u00a0" }, { "&mdash;", "—" }, { "&ndash;", "–" },
        { "&hellip;", "…" }, { "&rarr;", "→" },      { "&larr;", "←" },  { "&times;", "×" },
        { "&copy;", "©" },   { "&deg;", "°" },
    };

    if (entity.n > 3 && entity.p[1] == '#') {
        /* "#8364" or "#x20ac". */
        struct slice digits = (struct slice){ entity.p + 2, entity.n - 3 };
        bool hex = digits.n > 0 && (*digits.p == 'x' || *digits.p == 'X');
        uint32_t cp = 0;

        for (size_t i = hex; i < digits.n && cp <= 0x10FFFF; i++) {
            char c = digits.p[i];

            cp = cp * (hex ? 16 : 10) + (uint32_t)(c >= 'a'   ? c - 'a' + 10
                                                   : c >= 'A' ? c - 'A' + 10
                                                              : c - '0');
        }
        cp = cp == 0 || cp > 0x10FFFF || (cp >= 0xD800 && cp <= 0xDFFF) ? UTF8_REPLACEMENT : cp;

        return (struct slice){ out, utf8_encode(out, cp) };
    }
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (slice_eq(entity, slice_of(known[i].name)))
            return slice_of(known[i].text);
    return entity;
}

bool export_span_begin(struct export_spans *s, int type)
{
    if (s->n == EXPORT_SPANS)
        return false;
    s->type[s->n] = type;
    s->link[s->n++] = false;
    return true;
}

int export_span_depth(const struct export_spans *s, int type)
{
    for (int i = s->n; i > 0; i--)
        if (s->type[i - 1] == type)
            return s->n - i + 1;
    return 0;
}

void export_link_raw(const MD_ATTRIBUTE *a, struct buf *out)
{
    enum err_code rc = ERR_OK;

    out->n = 0;
    for (int i = 0; !rc && a->text && a->substr_offsets[i] < a->size; i++) {
        struct slice part = { a->text + a->substr_offsets[i],
                              a->substr_offsets[i + 1] - a->substr_offsets[i] };
        char utf8[4];

        rc = buf_add(out, a->substr_types[i] == MD_TEXT_ENTITY ? export_entity(part, utf8) : part);
    }
    if (rc)
        out->n = 0; /* no target is a dropped link */
}

bool export_span_link(struct export_spans *s, const MD_ATTRIBUTE *href, struct buf *target)
{
    struct buf raw = { 0 };
    bool *written = &s->link[s->n - 1];

    for (int i = 0; i + 1 < s->n; i++)
        if (s->link[i])
            return false;
    export_link_raw(href, &raw);
    *written = export_link_target(buf_slice(&raw), target);
    buf_fini(&raw);
    return *written;
}

bool export_link_target(struct slice raw, struct buf *out)
{
    static const char *const schemes[] = { "http://", "https://", "mailto:" };
    bool allowed = false;
    enum err_code rc = ERR_OK;

    out->n = 0;
    for (size_t i = 0; i < sizeof schemes / sizeof *schemes; i++)
        allowed = allowed || (raw.n > strlen(schemes[i]) &&
                              strncasecmp(raw.p, schemes[i], strlen(schemes[i])) == 0);
    for (size_t i = 0; allowed && !rc && i < raw.n; i++) {
        unsigned char c = (unsigned char)raw.p[i];

        rc = c > ' ' && c < 0x7F && !strchr("\"<>\\^`{|}'()[]*", c) ? buf_add_byte(out, raw.p[i])
                                                                    : buf_addf(out, "%%%02X", c);
    }
    return allowed && !rc;
}
