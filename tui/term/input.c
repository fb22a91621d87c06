#include "tui/term/term.h"

#include <string.h>

#include "lite/base/utf8.h"

/* Keys, pastes, mouse reports and the terminal's answers come in one stream of bytes, which is read
 * in pieces of any size, and an Esc may be a key or the first byte of anything else. Each step
 * looks at the front of the bytes that are held, and tries in this order:
 *
 *     paste -> rest of a discarded answer -> late rest of a sequence -> Esc -> character
 *
 * A step either consumes bytes or waits for more. Outside a paste, a step that waits must leave
 * `at` where it was, because the next one begins there again. A sequence without a meaning is
 * skipped to its end: a part of it that remained would be typed into a filter. Time is an argument
 * and no clock is read here, so that every delay can be tested. The keymap decides elsewhere which
 * command a key means. */

enum {
    ESC = 0x1b,
    BEL = 0x07,
    CTRL_C = 0x03,
    PARAMS_MAX = 4,
    SEQUENCE_MAX = 4096,
    ANSWER_MAX = 64
};
/* kitty: a key was released; keys without a character, such as Shift by itself */
enum { EVENT_RELEASE = 3, KITTY_KEYS_FIRST = 57344, KITTY_KEYS_LAST = 63743 };

static const char paste_end[] = "\x1b[201~";

/* The result of parsing one event. */
enum step {
    STEP_EVENT, /* *out is filled */
    STEP_AGAIN, /* bytes that are not an event of ours were skipped */
    STEP_WAIT,  /* incomplete */
};

/* A control sequence: ESC [ private? number;number... final. Numbers after a colon belong to the one before it. */
struct sequence {
    char private, final;
    int param[PARAMS_MAX];
    int event; /* after the colon of the second number: what happened to the key */
    int params;
    size_t length; /* with the ESC */
};

static struct slice input_rest_of(const struct input *in)
{
    return in->held.n ? (struct slice){ in->held.p + in->at, in->held.n - in->at }
                      : (struct slice){ "", 0 };
}

static enum step key_event(struct input *in, size_t length, uint32_t code, unsigned mods,
                           struct input_event *out)
{
    in->at += length;
    *out = (struct input_event){ .kind = INPUT_KEY, .key = { code, (uint8_t)mods } };
    return STEP_EVENT;
}

static enum step input_skip_bytes(struct input *in, size_t length)
{
    in->at += length;
    return STEP_AGAIN;
}

/* Keys of CSI and SS3 by their last letter, and of CSI number ~ by the number. */
static const struct {
    char final;
    uint32_t code;
} letters[] = {
    { 'A', KEYCODE_UP },     { 'B', KEYCODE_DOWN },   { 'C', KEYCODE_RIGHT },
    { 'D', KEYCODE_LEFT },   { 'H', KEYCODE_HOME },   { 'F', KEYCODE_END },
    { 'P', KEYCODE_F1 },     { 'Q', KEYCODE_F1 + 1 }, { 'R', KEYCODE_F1 + 2 },
    { 'S', KEYCODE_F1 + 3 }, { 'M', KEYCODE_ENTER },
};

static const struct {
    int number;
    uint32_t code;
} numbers[] = {
    { 1, KEYCODE_HOME },     { 2, KEYCODE_INSERT },  { 3, KEYCODE_DELETE },
    { 4, KEYCODE_END },      { 5, KEYCODE_PAGE_UP }, { 6, KEYCODE_PAGE_DOWN },
    { 7, KEYCODE_HOME },     { 8, KEYCODE_END },     { 11, KEYCODE_F1 },
    { 12, KEYCODE_F1 + 1 },  { 13, KEYCODE_F1 + 2 }, { 14, KEYCODE_F1 + 3 },
    { 15, KEYCODE_F1 + 4 },  { 17, KEYCODE_F1 + 5 }, { 18, KEYCODE_F1 + 6 },
    { 19, KEYCODE_F1 + 7 },  { 20, KEYCODE_F1 + 8 }, { 21, KEYCODE_F1 + 9 },
    { 23, KEYCODE_F1 + 10 }, { 24, KEYCODE_F12 },
};

static uint32_t by_letter(char final)
{
    for (size_t i = 0; i < sizeof letters / sizeof letters[0]; i++)
        if (letters[i].final == final)
            return letters[i].code;
    return KEYCODE_NONE;
}

static uint32_t input_by_number(int number)
{
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++)
        if (numbers[i].number == number)
            return numbers[i].code;
    return KEYCODE_NONE;
}

/* xterm's parameter: 1 + shift, 2 alt, 4 ctrl. */
static unsigned mods_of(int param)
{
    unsigned bits = param > 0 ? (unsigned)param - 1 : 0;

    return (bits & 1 ? MOD_SHIFT : 0u) | (bits & 2 ? MOD_ALT : 0u) | (bits & 4 ? MOD_CTRL : 0u);
}

/* The key of a character with modifiers. */
static struct key character_key(uint32_t code, unsigned mods)
{
    switch (code) {
    case '\r': return (struct key){ KEYCODE_ENTER, (uint8_t)mods };
    case '\t': return (struct key){ KEYCODE_TAB, (uint8_t)mods };
    case 0x08:
    case 0x7f: return (struct key){ KEYCODE_BACKSPACE, (uint8_t)mods };
    case ESC: return (struct key){ KEYCODE_ESC, (uint8_t)mods };
    default: break;
    }
    if (code < ' ') {
        code = code == 0 ? ' ' : code <= 26 ? code + 'a' - 1 : code + '@';
        mods |= MOD_CTRL;
    }
    bool letter = (code | 0x20) >= 'a' && (code | 0x20) <= 'z';

    if (letter && (mods & MOD_CTRL))
        code |= 0x20;
    else if (letter && (mods & MOD_SHIFT))
        code &= ~(uint32_t)0x20;
    return (struct key){ code, (uint8_t)(mods & ~(unsigned)MOD_SHIFT) };
}

/* Parses what follows "ESC [", from the byte `i` on. Returns 1 if complete, 0 if incomplete, -1 if it is not a sequence; its
 * length is then that of what looks like one. */
static int read_sequence(struct slice text, size_t i, struct sequence *s)
{
    int colons = 0, ignored = 0;

    *s = (struct sequence){ 0 };
    if (i < text.n && text.p[i] >= '<' && text.p[i] <= '?')
        s->private = text.p[i++];
    for (; i < text.n && i < SEQUENCE_MAX; i++) {
        char c = text.p[i];

        if (c >= '<' && c <= '?') {
            s->private = '?';
        } else if (c >= '0' && c <= '9') {
            int *p = colons == 0                     ? &s->param[s->params]
                     : colons == 1 && s->params == 1 ? &s->event
                                                     : &ignored;

            *p = *p < 100000 ? *p * 10 + (c - '0') : *p;
        } else if (c == ';') {
            s->params += s->params < PARAMS_MAX - 1;
            colons = 0;
        } else if (c == ':') {
            colons++;
        } else if ((c >= '@' && c <= '~') || (c == '$' && !s->private && s->params == 0)) {
            /* rxvt ends Shift+key with a $. An answer about a mode ends with a letter after it. */
            s->final = c;
            s->params++;
            s->length = i + 1;
            return 1;
        } else if (c < ' ' || c > '/') {
            break;
        }
    }
    s->length = i;
    return i == text.n && i < SEQUENCE_MAX ? 0 : -1;
}

/* CSI number ; mods ~ and its relatives. */
static enum step number_key(struct input *in, const struct sequence *s, struct input_event *out)
{
    unsigned mods = mods_of(s->params > 1 ? s->param[1] : 0);

    if (s->final == '~' && s->param[0] == 200) {
        in->pasting = true;
        in->paste.n = 0;
        return input_skip_bytes(in, s->length);
    }
    if (s->final == '~' && s->param[0] == 27) { /* xterm, modifyOtherKeys: 27 ; mods ; code */
        struct key k = character_key((uint32_t)s->param[2], mods);

        return key_event(in, s->length, k.code, k.mods, out);
    }
    if (s->final == '$' || s->final == '@')
        mods |= MOD_SHIFT;
    if (s->final == '^' || s->final == '@')
        mods |= MOD_CTRL;
    uint32_t code = input_by_number(s->param[0]);

    return code ? key_event(in, s->length, code, mods, out) : input_skip_bytes(in, s->length);
}

static enum step letter_key(struct input *in, const struct sequence *s, struct input_event *out)
{
    unsigned mods = mods_of(s->params > 1 ? s->param[1] : 0);

    if (s->final == 'Z')
        return key_event(in, s->length, KEYCODE_TAB, mods | MOD_SHIFT, out);
    if (s->final == 'u') { /* code ; mods u: kitty and others */
        struct key k = character_key((uint32_t)s->param[0], mods);
        bool text = s->param[0] < KITTY_KEYS_FIRST || s->param[0] > KITTY_KEYS_LAST;

        return text ? key_event(in, s->length, k.code, k.mods, out)
                    : input_skip_bytes(in, s->length);
    }
    if (s->final >= 'a' && s->final <= 'd') /* rxvt: Shift+arrow */
        return key_event(in, s->length, by_letter((char)(s->final - 'a' + 'A')), MOD_SHIFT, out);
    uint32_t code = s->final == 'M' ? KEYCODE_NONE : by_letter(s->final);

    return code ? key_event(in, s->length, code, mods, out) : input_skip_bytes(in, s->length);
}

static enum step control_key(struct input *in, struct slice text, int64_t now_ms,
                             struct input_event *out)
{
    struct sequence s;
    int whole = read_sequence(text, 2, &s);

    if (whole == 0)
        return STEP_WAIT;
    if (whole < 0)
        return input_skip_bytes(in, s.length);
    if (s.final == '[' && s.length == 3) { /* the Linux console: ESC [ [ A is F1 */
        if (text.n < 4)
            return STEP_WAIT;
        bool known = text.p[3] >= 'A' && text.p[3] <= 'E';

        return known ? key_event(in, 4, KEYCODE_F1 + (uint32_t)(text.p[3] - 'A'), 0, out)
                     : input_skip_bytes(in, 4);
    }
    if (s.private == '<') {
        /* The mouse: wheel and left button. */
        int button = s.param[0] & ~(4 | 8 | 16); /* without the modifiers */
        struct mouse m = { .y = s.param[2] - 1, .x = s.param[1] - 1 };

        in->at += s.length;
        if (s.final != 'M' || (button != 0 && button != 64 && button != 65))
            return STEP_AGAIN;
        m.event = button == 64 ? MOUSE_WHEEL_UP : button == 65 ? MOUSE_WHEEL_DOWN : MOUSE_CLICK;
        if (m.event == MOUSE_CLICK) {
            bool again = now_ms - in->last_click_ms <= INPUT_DOUBLE_MS && in->last_click.y == m.y &&
                         in->last_click.x == m.x;

            m.event = again ? MOUSE_DOUBLE_CLICK : MOUSE_CLICK;
            in->last_click = m;
            in->last_click_ms = again ? INT64_MIN / 2 : now_ms; /* a third click is a first one */
        }
        *out = (struct input_event){ .kind = INPUT_MOUSE, .mouse = m };
        return STEP_EVENT;
    }
    if (s.private == '?' && s.final == 'c' && in->expects) {
        in->at += s.length;
        in->expects = false;
        *out = (struct input_event){ .kind = INPUT_ANSWERED };
        return STEP_EVENT;
    }
    /* a reply to a query that another program made */
    if (s.private || s.event == EVENT_RELEASE)
        return input_skip_bytes(in, s.length);
    if (s.final == 'M' && s.params == 1 && s.param[0] == 0)
        return text.n < 6 ? STEP_WAIT
                          : input_skip_bytes(in, 6); /* the old mouse report, three bytes more */
    if (strchr("~^$@", s.final))
        return number_key(in, &s, out);
    return letter_key(in, &s, out);
}

/* The first two digits of each part of "rgb:1d1d/2020/3030", "rgb:1d/20/30" and "rgba:...", as
 * numbers up to 255. Returns false for any other text. */
static bool read_rgb(struct slice text, int rgb[3])
{
    const char *colon = memchr(text.p, ':', text.n);
    size_t i = colon ? (size_t)(colon - text.p) + 1 : text.n;

    if (text.n < 3 || memcmp(text.p, "rgb", 3) != 0)
        return false;
    for (int n = 0; n < 3; n++, i++) {
        int value = 0, digits = 0;

        for (; i < text.n && text.p[i] != '/'; i++, digits++) {
            char c = text.p[i] | 0x20;
            int digit = text.p[i] >= '0' && text.p[i] <= '9' ? text.p[i] - '0'
                        : c >= 'a' && c <= 'f'               ? c - 'a' + 10
                                                             : -1;

            if (digit < 0)
                return false;
            value = digits < 2 ? value * 16 + digit : value;
        }
        if (digits == 0)
            return false;
        rgb[n] = digits == 1 ? value * 17 : value;
    }
    return true;
}

/* OSC, DCS and the like: a string that ends with BEL or ESC \. All are skipped except the
 * background colour. No such string has ^C in it: Alt with its first character was pressed. */
static enum step string_event(struct input *in, struct slice text, struct input_event *out)
{
    static const char background[] = "\x1b]11;";
    const size_t front = sizeof background - 1;
    size_t end = 2, length = 0;
    int rgb[3];

    for (; end < text.n && !length; end += !length)
        if (text.p[end] == BEL)
            length = end + 1;
        else if (text.p[end] == ESC && end + 1 < text.n && text.p[end + 1] == '\\')
            length = end + 2;
        else if ((unsigned char)text.p[end] < BEL)
            return input_skip_bytes(in, end);
    if (!length)
        return STEP_WAIT;
    if (end < front || memcmp(text.p, background, front) != 0 ||
        !read_rgb((struct slice){ text.p + front, end - front }, rgb))
        return input_skip_bytes(in, length);
    in->at += length;
    *out = (struct input_event){
        .kind = INPUT_BACKGROUND,
        .light =
            rgb[0] * 299 + rgb[1] * 587 + rgb[2] * 114 > 128 * 1000, /* as it looks to an eye */
    };
    return STEP_EVENT;
}

/* Skips the rest of an answer whose beginning was discarded. A byte that cannot be part of an
 * answer ends it. */
static enum step skip_cut(struct input *in, struct slice text)
{
    static const char parts[] = "0123456789abcdefABCDEF:;/rgbo?]";
    size_t i = 0;

    while (i < text.n && i < in->cut && text.p[i] && strchr(parts, text.p[i]))
        i++;
    in->cut -= i;
    if (i == text.n)
        return input_skip_bytes(in, i);
    if (text.p[i] == ESC && i + 1 == text.n)
        return i ? input_skip_bytes(in, i) : STEP_WAIT;
    in->cut = 0;
    if (text.p[i] == ESC && text.p[i + 1] == '\\')
        i += 2;
    else if (text.p[i] == BEL || text.p[i] == 'c')
        i++;
    return input_skip_bytes(in, i);
}

/* One character at `from`, perhaps after an ESC that makes it an Alt key. */
static enum step plain_key(struct input *in, struct slice text, size_t from, bool quiet,
                           struct input_event *out)
{
    unsigned char first = (unsigned char)text.p[from];
    size_t want = first < 0xc2 ? 1 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : first < 0xf5 ? 4 : 1;
    struct slice one = { text.p + from, text.n - from < want ? text.n - from : want };

    if (one.n < want && !quiet)
        return STEP_WAIT;
    size_t before = one.n;
    uint32_t code = utf8_next(&one, false);

    if (code == UTF8_REPLACEMENT)
        return input_skip_bytes(in, from + (before - one.n));
    struct key k = character_key(code, from ? MOD_ALT : 0);

    return key_event(in, from + (before - one.n), k.code, k.mods, out);
}

/* ESC O letter: a key of its own, one of the number pad, or rxvt's Ctrl+arrow. */
static enum step single_shift_key(struct input *in, struct slice text, struct input_event *out)
{
    static const char pad[] = "*+,-./0123456789";
    char c = text.p[2];

    if (by_letter(c))
        return key_event(in, 3, by_letter(c), 0, out);
    if (c >= 'a' && c <= 'd')
        return key_event(in, 3, by_letter((char)(c - 'a' + 'A')), MOD_CTRL, out);
    if (c >= 'j' && c <= 'y')
        return key_event(in, 3, (uint32_t)pad[c - 'j'], 0, out);
    return input_skip_bytes(in, c > ' ' && c <= '~' ? 3 : 2);
}

/* Where Esc came as a key, the rest of a sequence may follow late: it would be typed as text. */
static bool tail_step(struct input *in, struct slice text, int64_t now_ms, bool quiet,
                      enum step *step)
{
    struct sequence s;
    const bool late = quiet || now_ms - in->esc_ms <= INPUT_PIECES_MS;
    const bool shift = text.p[0] == 'O';

    *step = STEP_WAIT;
    if (!late || (!shift && text.p[0] != '[')) {
        in->esc_ms = 0;
        return false;
    }
    if (shift && text.n > 1 && !by_letter(text.p[1]))
        return false;
    int whole = shift ? text.n > 1 : read_sequence(text, 1, &s);

    if (!shift && whole > 0 && s.final == '[' && s.length == 2) { /* the Linux console */
        whole = text.n > 2;
        s.length++;
    }
    if (whole == 0 && !quiet) {
        in->esc_ms = now_ms;
        return true;
    }
    if (text.n == 1 || whole < 0) { /* it was typed */
        in->esc_ms = 0;
        return false;
    }
    *step = input_skip_bytes(in, shift ? 2 : whole == 0 ? text.n : s.length);
    return true;
}

static enum step escape_key(struct input *in, struct slice text, int64_t now_ms, bool quiet,
                            struct input_event *out)
{
    if (text.n == 1) {
        in->lone_ms = in->lone_ms ? in->lone_ms : now_ms;
        in->esc_ms = quiet ? now_ms : 0;
        return quiet ? key_event(in, 1, KEYCODE_ESC, 0, out) : STEP_WAIT;
    }
    unsigned char next = (unsigned char)text.p[1];
    const bool apart = in->lone_ms && now_ms - in->lone_ms > INPUT_ANSWER_MS;
    enum step step;

    if (next == ESC && text.n == 2 && !quiet)
        return STEP_WAIT;
    if (next == ESC && text.n > 2 && (text.p[2] == '[' || text.p[2] == 'O')) {
        in->at++; /* rxvt and others: Alt+arrow */
        step = escape_key(in, input_rest_of(in), now_ms, quiet, out);
        in->at -= step == STEP_WAIT;
        if (step == STEP_EVENT && out->kind == INPUT_KEY)
            out->key.mods |= MOD_ALT;
        return step;
    }
    if (next == '[')
        step = control_key(in, text, now_ms, out);
    else if (next == ']' || next == 'P' || next == '_' || next == '^')
        step = string_event(in, text, out);
    else if (next == 'O' && text.n == 2)
        step = STEP_WAIT;
    else if (next == 'O')
        return single_shift_key(in, text, out);
    else if (apart || next == ESC || (next < ' ' && next != '\r' && next != '\b'))
        return key_event(in, 1, KEYCODE_ESC, 0,
                         out); /* a quick Esc, then the next key: Ctrl+C stays Ctrl+C */
    else
        return plain_key(in, text, 1, quiet, out);
    /* Nothing follows: Alt with this character, or a sequence that was cut off. */
    if (step != STEP_WAIT || !quiet)
        return step;
    bool background = text.n > 4 && memcmp(text.p, "\x1b]11;", 5) == 0;
    bool answer = background || (in->expects && (next == ']' || next == '['));

    if (text.n == 2 && !answer)
        return plain_key(in, text, 1, quiet, out);
    in->cut = answer ? ANSWER_MAX : 0;
    return input_skip_bytes(in, text.n);
}

static bool ends_in_key(struct slice text)
{
    return text.p[text.n - 1] == ESC || text.p[text.n - 1] == CTRL_C;
}

/* Inside a bracketed paste: everything up to the closing sequence, which may arrive in pieces. If it is lost, Esc or ^C
 * after which nothing follows is a key, and ends the paste. */
static enum step paste_step(struct input *in, struct slice text, bool quiet,
                            struct input_event *out)
{
    const size_t mark = sizeof paste_end - 1;
    const char *end = memmem(text.p, text.n, paste_end, mark);
    const bool lost = !end && quiet && ends_in_key(text);
    size_t sure = end             ? (size_t)(end - text.p)
                  : lost          ? text.n - 1
                  : text.n < mark ? 0
                                  : text.n - (mark - 1);
    size_t room = INPUT_PASTE_MAX - in->paste.n;

    /* A paste that is too long, or too large for the memory, is cut; a query is shorter anyway. */
    enum err_code rc = buf_add(&in->paste, (struct slice){ text.p, sure < room ? sure : room });

    (void)rc;
    in->at += sure;
    if (!end && !lost)
        return STEP_WAIT;
    in->at += end ? mark : 0;
    in->pasting = false;
    *out = (struct input_event){ .kind = INPUT_PASTE, .paste = buf_slice(&in->paste) };
    return STEP_EVENT;
}

static enum step next_step(struct input *in, int64_t now_ms, bool quiet, struct input_event *out)
{
    struct slice text = input_rest_of(in);

    if (text.n == 0)
        return STEP_WAIT;
    if (in->pasting)
        return paste_step(in, text, quiet, out);
    if (in->cut && quiet && text.p[0] == ESC && text.n == 1)
        in->cut = 0;
    if (in->cut)
        return skip_cut(in, text);
    enum step step;

    if (in->esc_ms && tail_step(in, text, now_ms, quiet, &step))
        return step;
    if (text.p[0] == ESC)
        return escape_key(in, text, now_ms, quiet, out);
    return plain_key(in, text, 0, quiet, out);
}

void input_feed(struct input *in, struct slice bytes)
{
    if (in->at == in->held.n)
        in->at = in->held.n = 0;
    if (buf_add(&in->held, bytes))
        in->at = in->held.n = 0; /* out of memory: losing keys is better than half a key */
}

bool input_next(struct input *in, int64_t now_ms, bool quiet, struct input_event *out)
{
    enum step step;

    while ((step = next_step(in, now_ms, quiet, out)) == STEP_AGAIN)
        ;
    if (step == STEP_EVENT)
        in->lone_ms = 0;
    return step == STEP_EVENT;
}

int64_t input_hold_ms(const struct input *in, bool esc_quits)
{
    const struct slice text = input_rest_of(in);

    if (text.n == 0 || (in->pasting && !ends_in_key(text)))
        return TIME_NONE;
    const bool alone =
        text.p[0] == ESC && (text.n == 1 || (text.n == 2 && text.p[1] != '[' && text.p[1] != 'O'));

    return in->pasting || !alone || (esc_quits && text.n == 1) ? INPUT_PIECES_MS
           : in->expects                                       ? INPUT_ANSWER_MS
                                                               : INPUT_ESC_MS;
}

void input_fini(struct input *in)
{
    buf_fini(&in->held);
    buf_fini(&in->paste);
    *in = (struct input){ 0 };
}
