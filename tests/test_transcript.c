#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "hostile.h"
#include "transcript_drive.h"

#define USER(text) "{\"type\":\"user\",\"message\":{\"content\":\"" text "\"}}\n"
#define SAID(text)                                                                                 \
    "{\"type\":\"assistant\",\"message\":{\"content\":[{\"type\":\"text\",\"text\":\"" text        \
    "\"}]}}\n"
#define CALL(id, name, input)                                                                      \
    "{\"type\":\"assistant\",\"message\":{\"content\":[{\"type\":\"tool_use\",\"id\":\"" id        \
    "\",\"name\":\"" name "\",\"input\":" input "}]}}\n"
#define RESULT(id, more, text)                                                                     \
    "{\"type\":\"user\",\"message\":{\"content\":[{\"type\":\"tool_result\",\"tool_use_id\":\"" id \
    "\"" more ",\"content\":\"" text "\"}]}}\n"

static void assert_screen(struct drive *d, const char *want)
{
    char *got = drive_screen(d);

    assert_non_null(got);
    assert_string_equal(got, want);
    free(got);
}

static bool screen_holds(struct drive *d, const char *text)
{
    char *got = drive_screen(d);
    bool held = strstr(got, text) != NULL;

    free(got);
    return held;
}

static bool screen_holds_bytes(struct drive *d, struct slice raw)
{
    char *got = drive_screen(d);
    bool held = hostile_within((struct slice){ got, strlen(got) }, raw);

    free(got);
    return held;
}

/* As a JSON string: control characters by number, the rest as it is. */
static void add_escaped(struct buf *out, struct slice text)
{
    for (size_t i = 0; i < text.n; i++) {
        unsigned char c = (unsigned char)text.p[i];

        if (c < 0x20)
            assert_int_equal(buf_addf(out, "\\u%04x", c), ERR_OK);
        else if (c == '"' || c == '\\')
            assert_int_equal(buf_addf(out, "\\%c", c), ERR_OK);
        else
            assert_int_equal(buf_add_byte(out, (char)c), ERR_OK);
    }
}

static void a_talk_reads_like_one(void **state)
{
    (void)state;
    struct drive d;

    drive_init(&d, SLICE(USER("Fix the bug") SAID("I **look** at `a.c`.")
                             CALL("1", "Read", "{\"file_path\":\"/p/a.c\"}")
                                 RESULT("1", "", "one\\ntwo") SAID("Done.")));
    d.settings.project = SLICE("/p");
    drive_open(&d, ASKER_PREVIEW, 9, 30);

    assert_screen(&d, "──────────────────────────────\n"
                      "❯ Fix the bug\n"
                      "\n"
                      "● I look at a.c.\n"
                      "  ▸ Read a.c  2 lines ✓\n"
                      "\n"
                      "● Done.\n"
                      "\n"
                      "\n");
    drive_fini(&d);
}

static void a_call_opens_into_its_diff_and_closes_again(void **state)
{
    (void)state;
    struct drive d;

    drive_init(&d, SLICE(CALL("1", "Edit",
                              "{\"file_path\":\"/p/a.c\",\"old_string\":\"one\\ntwo\\nthree\","
                              "\"new_string\":\"one\\n2\\nthree\"}") RESULT("1", "", "ok")));
    drive_open(&d, ASKER_VIEWER, 7, 40);
    drive_act(&d, ACT_UNFOLD);

    assert_screen(&d, " A title                            1/2\n"
                      "▌   ▾ Edit /p/a.c +1 -1 ✓              ┃\n"
                      "▏       one                            ┃\n"
                      "▏     - two                            ┃\n"
                      "▏     + 2                              ┃\n"
                      "▏       three                          ┃\n"
                      "                                       ┃\n");
    drive_act(&d, ACT_UNFOLD);
    assert_false(screen_holds(&d, "two"));
    drive_fini(&d);
}

static void hostile_text_never_reaches_a_cell(void **state)
{
    (void)state;
    static const char *const places[] = {
        USER("%s"),
        SAID("%s"),
        SAID("```%s\\n%s\\n```"),
        SAID("| %s | b |\\n|---|---|\\n| %s | x |"),
        CALL("%s", "%s", "{\"command\":\"%s\",\"%s\":\"%s\"}")
            RESULT("%s", ",\"is_error\":true", "%s"),
        "{\"type\":\"system\",\"subtype\":\"%s\",\"content\":\"%s\"}\n",
        "%s not json %s\n",
    };

    for (size_t h = 0; h < HOSTILE_COUNT; h++)
        for (size_t i = 0; i < sizeof places / sizeof places[0]; i++) {
            struct buf row = { 0 };
            struct drive d;

            for (const char *p = places[i]; *p; p++)
                if (p[0] == '%' && p[1] == 's') {
                    add_escaped(&row, hostile[h].text);
                    p++;
                } else {
                    assert_int_equal(buf_add_byte(&row, *p), ERR_OK);
                }
            drive_init(&d, buf_slice(&row));
            drive_open(&d, ASKER_VIEWER, 30, 100);
            for (int level = 0; level < 3; level++) {
                if (screen_holds_bytes(&d, hostile[h].raw))
                    fail_msg("%s in place %zu reaches a cell", hostile[h].name, i);
                drive_act(&d, ACT_FOLD_LEVEL);
            }
            drive_act(&d, ACT_RAW);
            assert_false(screen_holds_bytes(&d, hostile[h].raw));
            drive_fini(&d);
            buf_fini(&row);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_talk_reads_like_one),
        cmocka_unit_test(a_call_opens_into_its_diff_and_closes_again),
        cmocka_unit_test(hostile_text_never_reaches_a_cell),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
