#include "tests/test.h"

#include "tui/term/term.h"

static struct key one_key(const char *bytes, size_t n, bool quiet)
{
    struct input in = { 0 };
    struct input_event ev = { 0 };

    input_feed(&in, (struct slice){ bytes, n });
    struct key k = input_next(&in, 0, quiet, &ev) && ev.kind == INPUT_KEY
                       ? ev.key
                       : (struct key){ KEYCODE_NONE, 0 };
    struct input_event more;

    assert_false(input_next(&in, 0, true, &more));
    input_fini(&in);
    return k;
}

static void assert_key(const char *bytes, uint32_t code, unsigned mods)
{
    struct key k = one_key(bytes, strlen(bytes), true);

    assert_int_equal(k.code, code);
    assert_int_equal(k.mods, mods);
}

TEST(letters_come_as_typed)
{
    assert_key("a", 'a', 0);
    assert_key("G", 'G', 0);
    assert_key("\xc3\xa9", 0xe9, 0);
    assert_key("\xf0\x9f\x98\x80", 0x1f600, 0);
    assert_key("\x01", 'a', MOD_CTRL);
    assert_key("\n", 'j', MOD_CTRL);
    assert_key("\x1f", '_', MOD_CTRL);
    assert_key("\x1b"
               "b",
               'b', MOD_ALT);
    assert_key("\x1b"
               "B",
               'B', MOD_ALT);
    assert_key("\x1b\xc3\xa9", 0xe9, MOD_ALT);
    assert_int_equal(one_key("\0", 1, true).code, ' ');
    assert_int_equal(one_key("\0", 1, true).mods, MOD_CTRL);
}

TEST(named_keys_have_one_name)
{
    assert_key("\r", KEYCODE_ENTER, 0);
    assert_key("\t", KEYCODE_TAB, 0);
    assert_key("\x1b[Z", KEYCODE_TAB, MOD_SHIFT);
    assert_key("\x7f", KEYCODE_BACKSPACE, 0);
    assert_key("\x08", KEYCODE_BACKSPACE, 0);
    assert_key("\x1b\x7f", KEYCODE_BACKSPACE, MOD_ALT);
    assert_key("\x1b\r", KEYCODE_ENTER, MOD_ALT);
    assert_key("\x1b[A", KEYCODE_UP, 0);
    assert_key("\x1bOA", KEYCODE_UP, 0);
    assert_key("\x1b[1;5C", KEYCODE_RIGHT, MOD_CTRL);
    assert_key("\x1b[1;4D", KEYCODE_LEFT, MOD_SHIFT | MOD_ALT);
    assert_key("\x1b[a", KEYCODE_UP, MOD_SHIFT);
    assert_key("\x1b[3~", KEYCODE_DELETE, 0);
    assert_key("\x1b[3;5~", KEYCODE_DELETE, MOD_CTRL);
    assert_key("\x1b[3$", KEYCODE_DELETE, MOD_SHIFT);
    assert_key("\x1b[5~", KEYCODE_PAGE_UP, 0);
    assert_key("\x1b[7~", KEYCODE_HOME, 0);
    assert_key("\x1b[4~", KEYCODE_END, 0);
    assert_key("\x1bOP", KEYCODE_F1, 0);
    assert_key("\x1b[11~", KEYCODE_F1, 0);
    assert_key("\x1b[[A", KEYCODE_F1, 0);
    assert_key("\x1b[24~", KEYCODE_F12, 0);
    assert_key("\x1b[27;5;9~", KEYCODE_TAB, MOD_CTRL);
    assert_key("\x1b[97;5u", 'a', MOD_CTRL);
}

/* Other programs may leave the keyboard protocol of kitty on, with which a key reports more than once. */
TEST(a_key_that_is_released_types_nothing)
{
    assert_key("\x1b[97;1:1u", 'a', 0);
    assert_key("\x1b[97;1:2u", 'a', 0);
    assert_key("\x1b[97;1:3u", KEYCODE_NONE, 0);
    assert_key("\x1b[97;5:3u", KEYCODE_NONE, 0);
    assert_key("\x1b[97:65;2:1;65u", 'A', 0);
    assert_key("\x1b[97:65:99;5u", 'a', MOD_CTRL);
    assert_key("\x1b[27;1:3u", KEYCODE_NONE, 0);
    assert_key("\x1b[1;1:3B", KEYCODE_NONE, 0);
    assert_key("\x1b[1;5:1B", KEYCODE_DOWN, MOD_CTRL);
    assert_key("\x1b[3;1:3~", KEYCODE_NONE, 0);
    assert_key("\x1b[57441;2u", KEYCODE_NONE, 0);
}

TEST(answers_about_modes_type_nothing)
{
    assert_key("\x1b[?2026;2$y", KEYCODE_NONE, 0);
    assert_key("\x1b[?1$y", KEYCODE_NONE, 0);
    assert_key("\x1b[4;1$y", KEYCODE_NONE, 0);
    assert_key("\x1b[?2026;2$yx", 'x', 0);
    assert_key("\x1b[3$", KEYCODE_DELETE, MOD_SHIFT);
}

TEST(number_pad_and_old_arrows_are_keys)
{
    assert_key("\x1bOp", '0', 0);
    assert_key("\x1bOy", '9', 0);
    assert_key("\x1bOk", '+', 0);
    assert_key("\x1bOa", KEYCODE_UP, MOD_CTRL);
    assert_key("\x1bOX", KEYCODE_NONE, 0);
    assert_key("\x1b\x1b[A", KEYCODE_UP, MOD_ALT);
    assert_key("\x1b\x1bOD", KEYCODE_LEFT, MOD_ALT);
    assert_key("\x1b\x1b[3~", KEYCODE_DELETE, MOD_ALT);
}

/* Bytes of a sequence that is none of ours are not typed. */
TEST(odd_sequences_are_skipped_to_their_end)
{
    char text[600] = "\x1b[";

    for (int i = 0; i < 290; i++)
        strcat(text, "1;");
    assert_key(strcat(text, "A"), KEYCODE_UP, 0);
    assert_key("\x1b[?<>=1 q", KEYCODE_NONE, 0);
    assert_key("\x1b[1;5\x01", 'a', MOD_CTRL);
}

/* Feeds a byte every `pause` ms, and lets the program wait as long as it says in between. Returns the number of events. */
static int in_pieces(const char *bytes, int64_t pause, bool esc_quits, struct key keys[8])
{
    struct input in = { 0 };
    struct input_event ev;
    int64_t now = 1000, due = TIME_NONE;
    int n = 0;

    for (size_t i = 0; bytes[i] || due != TIME_NONE; i++) {
        int64_t next = bytes[i] ? now + pause : INT64_MAX;

        while (due != TIME_NONE && due < next) {
            now = due;
            while (input_next(&in, now, true, &ev))
                keys[n++] = ev.key;
            due = input_hold_ms(&in, esc_quits);
            due = due == TIME_NONE ? due : now + due;
        }
        if (!bytes[i])
            break;
        now = next;
        input_feed(&in, (struct slice){ bytes + i, 1 });
        while (input_next(&in, now, false, &ev))
            keys[n++] = ev.key;
        due = input_hold_ms(&in, esc_quits);
        due = due == TIME_NONE ? due : now + due;
    }
    input_fini(&in);
    return n;
}

/* Where Esc would end the program, a key in pieces is that key; elsewhere Esc is one step back, and the rest of the key is
 * not typed. */
TEST(keys_arrive_in_pieces)
{
    static const struct {
        const char *bytes;
        uint32_t code;
        unsigned mods;
    } known[] = {
        { "\x1b[A", KEYCODE_UP, 0 },           { "\x1bOB", KEYCODE_DOWN, 0 },
        { "\x1b[1;5A", KEYCODE_UP, MOD_CTRL }, { "\x1b[15~", KEYCODE_F1 + 4, 0 },
        { "\x1b[[A", KEYCODE_F1, 0 },
    };
    struct key keys[8];

    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        for (int64_t pause = 100; pause <= 500; pause += 100) {
            assert_int_equal(in_pieces(known[i].bytes, pause, true, keys), 1);
            assert_int_equal(keys[0].code, known[i].code);
            assert_int_equal(keys[0].mods, known[i].mods);
            assert_int_equal(in_pieces(known[i].bytes, pause, false, keys), 1);
            assert_int_equal(keys[0].code, KEYCODE_ESC);
        }
    assert_int_equal(in_pieces("\x1b[?2026;2$y", 400, true, keys), 0);
    assert_int_equal(in_pieces("\xc3\xa9", 400, false, keys), 1);
    assert_int_equal(keys[0].code, 0xe9);

    /* What a person types after Esc is typed. */
    assert_int_equal(in_pieces("\x1bOr", 400, false, keys), 3);
    assert_int_equal(keys[1].code, 'O');
    assert_int_equal(in_pieces("\x1b[", 400, false, keys), 2);
    assert_int_equal(keys[1].code, '[');
    assert_int_equal(in_pieces("\x1bx", 400, true, keys), 2);
    assert_int_equal(keys[0].code, KEYCODE_ESC);
    assert_int_equal(keys[1].code, 'x');
}

TEST(esc_waits_for_a_possible_sequence)
{
    struct input in = { 0 };
    struct input_event ev;

    input_feed(&in, SLICE("\x1b"));
    assert_false(input_next(&in, 0, false, &ev));
    assert_int_equal(input_hold_ms(&in, false), INPUT_ESC_MS);
    input_feed(&in, SLICE("["));
    assert_false(input_next(&in, 0, false, &ev));
    input_feed(&in, SLICE("B"));
    assert_true(input_next(&in, 0, false, &ev));
    assert_int_equal(ev.key.code, KEYCODE_DOWN);
    assert_int_equal(input_hold_ms(&in, false), TIME_NONE);

    input_feed(&in, SLICE("\x1b"));
    assert_true(input_next(&in, 0, true, &ev));
    assert_int_equal(ev.key.code, KEYCODE_ESC);
    input_fini(&in);
}

TEST(esc_twice_is_two_keys)
{
    struct input in = { 0 };
    struct input_event ev;

    input_feed(&in, SLICE("\x1b\x1b"));
    assert_true(input_next(&in, 0, true, &ev));
    assert_int_equal(ev.key.code, KEYCODE_ESC);
    assert_true(input_next(&in, 0, true, &ev));
    assert_int_equal(ev.key.code, KEYCODE_ESC);
    assert_false(input_next(&in, 0, true, &ev));
    input_fini(&in);
}

TEST(ctrl_c_right_after_esc_is_ctrl_c)
{
    struct input in = { 0 };
    struct input_event ev;

    input_feed(&in, SLICE("\x1b\x03"));
    assert_true(input_next(&in, 0, false, &ev));
    assert_int_equal(ev.key.code, KEYCODE_ESC);
    assert_true(input_next(&in, 0, false, &ev));
    assert_int_equal(ev.key.code, 'c');
    assert_int_equal(ev.key.mods, MOD_CTRL);
    input_fini(&in);
}

/* Alt with ], P, _ or ^ begins like a string of the terminal, and keys that follow at once are in it. */
TEST(ctrl_c_ends_what_looked_like_a_string)
{
    static const char *const typed[] = { "\x1b]\x03", "\x1b]jjj\x03", "\x1bPq\x03", "\x1b_\x03",
                                         "\x1b^g\x03" };

    for (size_t i = 0; i < sizeof typed / sizeof *typed; i++)
        assert_key(typed[i], 'c', MOD_CTRL);
}

/* Many keys in one read, as after the program was busy: no key is lost. */
TEST(a_burst_of_keys_is_split)
{
    struct input in = { 0 };
    struct input_event ev;
    static const uint32_t want[] = { 'x', KEYCODE_UP, KEYCODE_UP, 0xe9, KEYCODE_ENTER };

    input_feed(&in, SLICE("x\x1b[A\x1bOA\xc3\xa9\r"));
    for (size_t i = 0; i < sizeof want / sizeof want[0]; i++) {
        assert_true(input_next(&in, 0, false, &ev));
        assert_int_equal(ev.key.code, want[i]);
    }
    assert_false(input_next(&in, 0, false, &ev));
    input_fini(&in);
}

TEST(a_paste_is_one_event_and_no_keys)
{
    static const char bytes[] = "\x1b[200~rm -rf /\r\x1b[A\x1b[201~q";
    struct input in = { 0 };
    struct input_event ev;
    size_t events = 0;

    /* A byte at a time: the closing sequence arrives in pieces. */
    for (size_t i = 0; i + 1 < sizeof bytes; i++) {
        input_feed(&in, (struct slice){ bytes + i, 1 });
        while (input_next(&in, 0, false, &ev)) {
            if (events++ == 0) {
                assert_int_equal(ev.kind, INPUT_PASTE);
                assert_true(slice_eq(ev.paste, SLICE("rm -rf /\r\x1b[A")));
            }
        }
    }
    assert_int_equal(events, 2);
    assert_int_equal(ev.key.code, 'q');
    input_fini(&in);
}

TEST(a_paste_whose_end_is_lost_ends_with_a_key)
{
    static const struct {
        const char *bytes;
        uint32_t code;
        uint8_t mods;
    } keys[] = { { "\x1b[200~first\r\x03 q\x03", 'c', MOD_CTRL },
                 { "\x1b[200~first\r\x03 q\x1b", KEYCODE_ESC, 0 } };

    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++) {
        struct input in = { 0 };
        struct input_event ev;

        for (const char *p = keys[i].bytes; *p; p++) {
            input_feed(&in, (struct slice){ p, 1 });
            assert_false(input_next(&in, 0, false, &ev));
        }
        assert_int_equal(input_hold_ms(&in, false), INPUT_PIECES_MS);
        assert_true(input_next(&in, 1000, true, &ev));
        assert_int_equal(ev.kind, INPUT_PASTE);
        assert_true(slice_eq(ev.paste, SLICE("first\r\x03 q")));
        assert_true(input_next(&in, 1000, true, &ev));
        assert_int_equal(ev.key.code, keys[i].code);
        assert_int_equal(ev.key.mods, keys[i].mods);

        /* An end that was only late is not typed. */
        if (ev.key.code == KEYCODE_ESC)
            input_feed(&in, SLICE("[201~"));
        input_feed(&in, SLICE("x"));
        assert_true(input_next(&in, 1200, false, &ev));
        assert_int_equal(ev.key.code, 'x');
        input_fini(&in);
    }
}

TEST(the_mouse_clicks_and_scrolls)
{
    struct input in = { 0 };
    struct input_event ev;

    input_feed(&in, SLICE("\x1b[<0;11;6M\x1b[<0;11;6m\x1b[<0;11;6M\x1b[<64;1;1M\x1b[<2;1;1M"));
    assert_true(input_next(&in, 1000, false, &ev));
    assert_int_equal(ev.kind, INPUT_MOUSE);
    assert_int_equal(ev.mouse.event, MOUSE_CLICK);
    assert_int_equal(ev.mouse.y, 5);
    assert_int_equal(ev.mouse.x, 10);
    assert_true(input_next(&in, 1200, false, &ev));
    assert_int_equal(ev.mouse.event, MOUSE_DOUBLE_CLICK);
    assert_true(input_next(&in, 1200, false, &ev));
    assert_int_equal(ev.mouse.event, MOUSE_WHEEL_UP);
    assert_false(input_next(&in, 1200, false, &ev));
    input_fini(&in);
}

TEST(replies_of_the_terminal_are_no_keys)
{
    static const char *const answers[] = {
        "\x1b[?1;2c",
        "\x1b[I",
        "\x1b]11;rgb:0000/0000/0000\x07",
        "\x1bP1$r0m\x1b\\",
        "\x1b]0;a\x1b[Ab\x1b\\",
        "\x1b[M !!",
        "\x1b[999~",
        "\xff",
        "\xc3",
    };

    for (size_t i = 0; i < sizeof answers / sizeof answers[0]; i++)
        assert_int_equal(one_key(answers[i], strlen(answers[i]), true).code, KEYCODE_NONE);
}

/* For any bytes, parsing terminates and nothing is held back for ever. */
static const char bright[] = "\x1b]11;rgb:ffff/fafa/f0f0\x1b\\";
static const char answers[] = "\x1b]11;rgb:ffff/fafa/f0f0\x1b\\\x1b[?64;1;2;6;22c";

TEST(the_background_is_told_from_its_colour)
{
    static const struct {
        const char *bytes;
        bool event, light;
    } rows[] = {
        { bright, true, true },
        { "\x1b]11;rgb:ff/fa/f0\x07", true, true },
        { "\x1b]11;rgb:f/f/f\x07", true, true },
        { "\x1b]11;rgba:0000/2b2b/3636/ffff\x1b\\", true, false },
        { "\x1b]11;rgb:1616/1818/2424\x1b\\", true, false },
        { "\x1b]11;rgb:ff/ff\x07", false, false },
        { "\x1b]11;rgb:ff//ff\x07", false, false },
        { "\x1b]11;#ffffff\x07", false, false },
        { "\x1b]10;rgb:ff/fa/f0\x07", false, false },
        { "\x1b]11;\x07", false, false },
    };
    struct input_event ev;

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct input in = { 0 };

        input_feed(&in, slice_of(rows[i].bytes));
        assert_int_equal(input_next(&in, 0, true, &ev), rows[i].event);
        if (rows[i].event) {
            assert_int_equal(ev.kind, INPUT_BACKGROUND);
            assert_int_equal(ev.light, rows[i].light);
        }
        assert_false(input_next(&in, 0, true, &ev));
        input_fini(&in);
    }
}

/* An answer that arrives in two pieces, the second too late: no part of it becomes a key, and the key after it does. */
TEST(a_cut_answer_is_no_keys)
{
    for (size_t cut = 2; cut < sizeof answers - 1; cut++) {
        struct input in = { .expects = true };
        struct input_event ev;
        size_t keys = 0;

        input_feed(&in, (struct slice){ answers, cut });
        while (input_next(&in, 0, false, &ev))
            keys += ev.kind == INPUT_KEY;
        /* An ESC alone is held back by the caller for longer than an answer takes. */
        while (answers[cut - 1] != '\x1b' && input_next(&in, 0, true, &ev))
            keys += ev.kind == INPUT_KEY;
        input_feed(&in, (struct slice){ answers + cut, sizeof answers - 1 - cut });
        while (input_next(&in, 0, true, &ev))
            keys += ev.kind == INPUT_KEY;
        assert_int_equal(keys, 0);
        input_feed(&in, SLICE("j"));
        assert_true(input_next(&in, 0, true, &ev));
        assert_int_equal(ev.key.code, 'j');
        input_fini(&in);
    }
}

/* After the second answer nothing is waited for. */
TEST(the_last_answer_ends_the_waiting)
{
    struct input in = { .expects = true };
    struct input_event ev;

    input_feed(&in, slice_of(answers));
    assert_true(input_next(&in, 0, false, &ev) && ev.kind == INPUT_BACKGROUND);
    assert_true(in.expects);
    assert_true(input_next(&in, 0, false, &ev) && ev.kind == INPUT_ANSWERED);
    assert_false(in.expects);
    input_feed(&in, SLICE("\x1b[?1;2c"));
    assert_false(input_next(&in, 0, false, &ev));
    input_fini(&in);
}

TEST(parsing_any_bytes_terminates)
{
    uint32_t seed = 1;

    for (int round = 0; round < 2000; round++) {
        static const char alphabet[] = "\x1b\x1b[[O;;<~M0123Zu$\x07\\]P_\xc3\xa9\xf0 a";
        struct input in = { 0 };
        struct input_event ev;
        char bytes[40];
        int events = 0;

        for (size_t i = 0; i < sizeof bytes; i++) {
            seed = seed * 1103515245u + 12345u;
            bytes[i] = alphabet[(seed >> 16) % (sizeof alphabet - 1)];
        }
        input_feed(&in, (struct slice){ bytes, sizeof bytes });
        while (input_next(&in, 0, true, &ev))
            events++;
        assert_true(events <= (int)sizeof bytes);
        assert_int_equal(input_hold_ms(&in, false), TIME_NONE);
        input_fini(&in);
    }
}
