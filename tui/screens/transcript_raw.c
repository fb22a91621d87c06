#include "tui/screens/transcript_state.h"

#include "lite/json.h"
#include "lite/utf8.h"

/* The entry as it is stored: its JSON, a value a line, nothing decoded and nothing left out. What does not parse is
 * shown as bytes. */
enum { DEPTH_MAX = 64, STEP = 2, LINES_MAX = 100000 };

struct printing {
    struct sheet *sheet;
    int width;
    struct json_iter open[DEPTH_MAX];
    int depth;
};

static void put(struct printing *p, struct slice key, struct slice value, enum style style)
{
    static const char blanks[] = "                                                                ";
    struct flow f = { .sheet = p->sheet, .width = p->width, .mode = FLOW_VERBATIM };
    size_t indent = (size_t)p->depth * STEP;

    if (indent > sizeof blanks - 1)
        indent = sizeof blanks - 1;
    margin_add(&f.first, STYLE_TEXT, blanks + (sizeof blanks - 1 - indent));
    margin_add(&f.rest, STYLE_TEXT, blanks + (sizeof blanks - 1 - indent));
    margin_add(&f.rest, STYLE_TEXT, "  ");
    flow_begin(&f);
    if (key.n) {
        flow_text(&f, STYLE_KEY, key);
        flow_text(&f, STYLE_DIM, SLICE(": "));
    }
    flow_text(&f, style, value);
    flow_end(&f);
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
static void value(struct printing *p, struct slice key, struct slice v)
{
    enum json_type type = json_type(v);
    bool container = type == JSON_OBJECT || type == JSON_ARRAY;

    if (!container || p->depth == DEPTH_MAX || !json_iter_open(&p->open[p->depth], v)) {
        put(p, key, v, style_of(type));
        return;
    }
    put(p, key, type == JSON_OBJECT ? SLICE("{") : SLICE("["), STYLE_DIM);
    p->depth++;
}

static void print_json(struct printing *p, struct slice row)
{
    struct slice key, v;

    value(p, (struct slice){ NULL, 0 }, row);
    while (p->depth > 0 && !p->sheet->rc && p->sheet->n < LINES_MAX) {
        struct json_iter *it = &p->open[p->depth - 1];

        if (json_iter_next(it, &key, &v)) {
            value(p, key, v);
        } else {
            p->depth--;
            put(p, (struct slice){ NULL, 0 }, it->object ? SLICE("}") : SLICE("]"), STYLE_DIM);
        }
    }
}

void view_raw_open(struct transcript_view *v)
{
    const struct slot *s = view_cursor_slot(v);

    if (!s)
        return;
    view_raw_close(v);
    struct printing p = { .sheet = &v->raw.sheet, .width = view_text_width(v) };
    struct slice row = js_trim(buf_slice(&s->passage.bytes));

    if (json_valid(row))
        print_json(&p, row);
    else
        put(&p, (struct slice){ NULL, 0 }, row, STYLE_TEXT);
    v->raw.shown = true;
}

void view_raw_close(struct transcript_view *v)
{
    sheet_fini(&v->raw.sheet);
    v->raw = (struct raw){ .shown = false };
}

void view_raw_scroll(struct transcript_view *v, long lines)
{
    long h = view_body_height(v), n = (long)v->raw.sheet.n;
    long last = n > h ? n - h : 0, top = (long)v->raw.top + lines;

    v->raw.top = (size_t)(top < 0 ? 0 : top > last ? last : top);
}
