#include "tui/screens/transcript/transcript_internal.h"

#include "lite/base/utf8.h"
#include "lite/json/json.h"

/* The entry as it is stored: its JSON, a value a line, nothing decoded and nothing left out. What does not parse is
 * shown as bytes. */
enum { DEPTH_MAX = 64, STEP = 2, LINES_MAX = 100000 };

struct printing {
    struct styled_text *styled_text;
    int width;
    struct json_iter open[DEPTH_MAX];
    int depth;
};

static void print_value(struct printing *p, struct slice key, struct slice value, enum style style)
{
    static const char blanks[] = "                                                                ";
    struct text_wrap f = { .styled_text = p->styled_text,
                           .width = p->width,
                           .mode = TEXT_WRAP_VERBATIM };
    size_t indent = (size_t)p->depth * STEP;

    if (indent > sizeof blanks - 1)
        indent = sizeof blanks - 1;
    text_margin_add(&f.first, STYLE_TEXT, blanks + (sizeof blanks - 1 - indent));
    text_margin_add(&f.rest, STYLE_TEXT, blanks + (sizeof blanks - 1 - indent));
    text_margin_add(&f.rest, STYLE_TEXT, "  ");
    text_wrap_begin(&f);
    if (key.n) {
        text_wrap_add(&f, STYLE_KEY, key);
        text_wrap_add(&f, STYLE_DIM, SLICE(": "));
    }
    text_wrap_add(&f, style, value);
    text_wrap_fini(&f);
}

static enum style style_of(enum json_type type)
{
    switch (type) {
    case JSON_STRING: return STYLE_TEXT;
    case JSON_NUMBER: return STYLE_AGE;
    case JSON_TRUE:
    case JSON_FALSE:
    case JSON_NULL: return STYLE_TAG;
    default: return STYLE_DIM;
    }
}

/* Opens a container, or prints the value. Beyond the depth shown, a container stands on one line. */
static void print_json_value(struct printing *p, struct slice key, struct slice v)
{
    enum json_type type = json_type(v);
    bool container = type == JSON_OBJECT || type == JSON_ARRAY;

    if (!container || p->depth == DEPTH_MAX || !json_iter_open(&p->open[p->depth], v)) {
        print_value(p, key, v, style_of(type));
        return;
    }
    print_value(p, key, type == JSON_OBJECT ? SLICE("{") : SLICE("["), STYLE_DIM);
    p->depth++;
}

static void print_json(struct printing *p, struct slice row)
{
    struct slice key, v;

    print_json_value(p, (struct slice){ NULL, 0 }, row);
    while (p->depth > 0 && !p->styled_text->rc && p->styled_text->n < LINES_MAX) {
        struct json_iter *it = &p->open[p->depth - 1];

        if (json_iter_next(it, &key, &v)) {
            print_json_value(p, key, v);
        } else {
            p->depth--;
            print_value(p, (struct slice){ NULL, 0 }, it->object ? SLICE("}") : SLICE("]"),
                        STYLE_DIM);
        }
    }
}

void transcript_view_raw_open(struct transcript_view *v)
{
    const struct slot *s = transcript_view_cursor_slot(v);

    if (!s)
        return;
    transcript_view_raw_close(v);
    struct printing p = { .styled_text = &v->raw.styled_text,
                          .width = transcript_view_text_width(v) };
    struct slice row = utf8_js_trim(buf_slice(&s->passage.bytes));

    if (json_valid(row))
        print_json(&p, row);
    else
        print_value(&p, (struct slice){ NULL, 0 }, row, STYLE_TEXT);
    v->raw.shown = true;
}

void transcript_view_raw_close(struct transcript_view *v)
{
    styled_text_fini(&v->raw.styled_text);
    v->raw = (struct raw){ .shown = false };
}

void transcript_view_raw_scroll(struct transcript_view *v, long lines)
{
    long h = transcript_view_body_height(v), n = (long)v->raw.styled_text.n;
    long last = n > h ? n - h : 0, top = (long)v->raw.top + lines;

    v->raw.top = (size_t)(top < 0 ? 0 : top > last ? last : top);
}
