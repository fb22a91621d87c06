#include "tui/widgets/line_editor.h"

#include <string.h>

#include "lite/base/utf8.h"

struct slice line_editor_text(const struct line_editor *e)
{
    return (struct slice){ e->text, e->n };
}

void line_editor_set(struct line_editor *e, struct slice text)
{
    e->n = e->cursor = 0;
    line_editor_insert(e, text);
}

static void insert_bytes(struct line_editor *e, const char *bytes, size_t n)
{
    if (n > LINE_EDITOR_MAX - e->n)
        return;
    memmove(e->text + e->cursor + n, e->text + e->cursor, e->n - e->cursor);
    memcpy(e->text + e->cursor, bytes, n);
    e->n += n;
    e->cursor += n;
}

void line_editor_insert(struct line_editor *e, struct slice text)
{
    while (text.n > 0) {
        char bytes[4];
        uint32_t cp = utf8_next(&text, false);

        if (cp < ' ' || cp == 0x7f)
            cp = ' ';
        insert_bytes(e, bytes, utf8_encode(bytes, cp));
    }
}

static size_t left_of(const struct line_editor *e, size_t i)
{
    while (i > 0 && ((unsigned char)e->text[--i] & 0xc0) == 0x80)
        ;
    return i;
}

static size_t right_of(const struct line_editor *e, size_t i)
{
    if (i < e->n)
        i++;
    while (i < e->n && ((unsigned char)e->text[i] & 0xc0) == 0x80)
        i++;
    return i;
}

static size_t word_left(const struct line_editor *e)
{
    size_t i = e->cursor;

    while (i > 0 && e->text[i - 1] == ' ')
        i--;
    while (i > 0 && e->text[i - 1] != ' ')
        i--;
    return i;
}

static size_t word_right(const struct line_editor *e)
{
    size_t i = e->cursor;

    while (i < e->n && e->text[i] == ' ')
        i++;
    while (i < e->n && e->text[i] != ' ')
        i++;
    return i;
}

static bool delete_range(struct line_editor *e, size_t from, size_t to)
{
    if (from == to)
        return false;
    memmove(e->text + from, e->text + to, e->n - to);
    e->n -= to - from;
    e->cursor = from;
    return true;
}

static bool line_editor_move_cursor(struct line_editor *e, size_t to)
{
    bool moved = e->cursor != to;

    e->cursor = to;
    return moved;
}

bool line_editor_key(struct line_editor *e, struct key key)
{
    if (key.mods == MOD_CTRL) {
        switch (key.code) {
        case 'a': return line_editor_move_cursor(e, 0);
        case 'e': return line_editor_move_cursor(e, e->n);
        case 'b': return line_editor_move_cursor(e, left_of(e, e->cursor));
        case 'f': return line_editor_move_cursor(e, right_of(e, e->cursor));
        case 'h': return delete_range(e, left_of(e, e->cursor), e->cursor);
        case 'd': return delete_range(e, e->cursor, right_of(e, e->cursor));
        case 'w': return delete_range(e, word_left(e), e->cursor);
        case 'u': return delete_range(e, 0, e->cursor);
        case 'k': return delete_range(e, e->cursor, e->n);
        default: return false;
        }
    }
    if (key.mods == MOD_ALT) {
        switch ((key.code < 0x80 ? key.code | 0x20 : key.code)) {
        case 'b': return line_editor_move_cursor(e, word_left(e));
        case 'f': return line_editor_move_cursor(e, word_right(e));
        case 'd': return delete_range(e, e->cursor, word_right(e));
        case KEYCODE_BACKSPACE: return delete_range(e, word_left(e), e->cursor);
        default: return false;
        }
    } /* Alt+B is Alt+b */
    if (key_is_text(key)) {
        char bytes[4];

        insert_bytes(e, bytes, utf8_encode(bytes, key.code));
        return true;
    }
    if (key.mods != 0)
        return false;
    switch (key.code) {
    case KEYCODE_LEFT: return line_editor_move_cursor(e, left_of(e, e->cursor));
    case KEYCODE_RIGHT: return line_editor_move_cursor(e, right_of(e, e->cursor));
    case KEYCODE_HOME: return line_editor_move_cursor(e, 0);
    case KEYCODE_END: return line_editor_move_cursor(e, e->n);
    case KEYCODE_BACKSPACE: return delete_range(e, left_of(e, e->cursor), e->cursor);
    case KEYCODE_DELETE: return delete_range(e, e->cursor, right_of(e, e->cursor));
    default: return false;
    }
}

int line_editor_draw(const struct line_editor *e, struct frame *f, struct rect r, enum style style,
                     bool cursor)
{
    size_t from = 0;
    struct slice before = { e->text, e->cursor };

    if (r.w <= 0)
        return 0;
    /* The last column is for the sign of what is further right. */
    const bool fits = frame_width(line_editor_text(e)) < r.w;
    const int room = fits || e->cursor == e->n || r.w < 4 ? r.w : r.w - 1;

    while (frame_width(before) + (from > 0) >= room && from < e->cursor) {
        from = right_of(e, from);
        before = (struct slice){ e->text + from, e->cursor - from };
    }
    /* A sign stands for what is further left, and one for what is further right. */
    const char *cut = f->ascii ? "~" : "…";
    const int sign = from > 0 ? frame_puts(f, r.y, r.x, r.w, STYLE_DIM, cut) : 0;
    const struct slice shown = { e->text + from, e->n - from };
    const int used = sign + frame_text(f, r.y, r.x + sign, r.w - sign, style, shown);

    if (room < r.w && frame_width(shown) > r.w - sign)
        frame_puts(f, r.y, r.x + r.w - 1, 1, STYLE_DIM, cut);

    if (cursor) {
        f->cursor_y = r.y;
        f->cursor_x = r.x + sign + frame_width(before);
    }
    return used;
}
