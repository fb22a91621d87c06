#include "tests/test.h"

#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "store/api/store.h"
#include "tui/config/config.h"

static char path[64];

static enum err_code read_text(struct config *c, const char *text)
{
    FILE *f = fopen(path, "w");

    assert_non_null(f);
    fputs(text, f);
    fclose(f);
    config_init(c);
    return config_read(c, path, NULL);
}

TEST(a_file_that_others_can_write_is_refused)
{
    struct config c;

    assert_int_equal(read_text(&c, "theme = dark\n"), ERR_OK);
    config_fini(&c);
    assert_int_equal(chmod(path, 0646), 0);
    assert_int_equal(read_text(&c, "theme = dark\n"), ERR_UNSAFE);
    config_fini(&c);
    assert_int_equal(chmod(path, 0644), 0);
}

TEST(the_defaults_include_the_resume_command)
{
    struct config c;

    config_init(&c);
    assert_string_equal(config_resume_command(&c, "claude"), "claude --resume {id}");
    assert_null(config_resume_command(&c, "unheard-of"));
    assert_int_equal(c.theme.look[STYLE_STRONG].attributes, THEME_BOLD);
    config_fini(&c);
}

TEST(settings_in_the_file_take_effect)
{
    struct config c;

    assert_int_equal(read_text(&c,
                               "# mine\nkeys = vim\ndensity=two-lines\nascii = yes\nmouse = no\n"
                               "sort = title\npreview = off\ncolors = none\nscope = all\n"
                               "[claude]\nresume = cl --resume \"{id}\" ; a comment\n"
                               "[other]\nresume = other go {id}\n"
                               "[colors]\ntitle = bold red\n"),
                     ERR_OK);
    assert_null(c.problems);
    assert_int_equal(c.settings.keys.scheme, KEYS_VIM);
    assert_int_equal(c.settings.density, DENSITY_TWO_LINES);
    assert_int_equal(c.settings.preview, PREVIEW_OFF);
    assert_int_equal(c.settings.colours, COLOURS_NONE);
    assert_int_equal(c.settings.scope, SCOPE_ALL);
    assert_int_equal(c.settings.sort, SORT_TITLE);
    assert_true(c.settings.ascii);
    assert_true(c.settings.no_mouse);
    assert_string_equal(config_resume_command(&c, "claude"), "cl --resume \"{id}\"");
    assert_string_equal(config_resume_command(&c, "other"), "other go {id}");
    assert_int_equal(c.theme.look[STYLE_TITLE].fg, 1);
    config_fini(&c);
}

TEST(commands_of_agents_are_read_for_systems_and_stores)
{
    struct config c;
    struct store_ops named = { .name = "work", .format = "codex" };
    bool own;

    assert_int_equal(
        read_text(&c, "[codex]\ndelete = a {id}\ndelete = b {id}\nrename = r {id} {title}\n"
                      "[store.work]\nformat = codex\npath = /w\ndelete = w {id}\n"),
        ERR_OK);
    assert_null(c.problems);
    assert_string_equal(
        config_change_command(&c, store_system(SLICE("codex")), STORE_COMMAND_DELETE, &own),
        "b {id}");
    assert_false(own);
    assert_string_equal(config_change_command(&c, &named, STORE_COMMAND_DELETE, &own), "w {id}");
    assert_true(own);
    assert_string_equal(config_change_command(&c, &named, STORE_COMMAND_RENAME, &own),
                        "r {id} {title}");
    assert_false(own);
    assert_null(config_change_command(&c, &named, STORE_COMMAND_ARCHIVE, &own));
    config_fini(&c);
}

static double cost_of(const struct config *c, const char *model, double recorded)
{
    const struct usage_answer a = { .tokens = { 1000000, 2000000, 0, 0 }, .cost = recorded };

    return config_cost(c, &a, slice_of(model));
}

TEST(a_model_costs_what_the_longest_name_says)
{
    struct config c;

    assert_int_equal(read_text(&c,
                               "[prices]\nopus* = 1 2 3 4\nopus-4* = 10 0 0 0\nopus-4-1=0 0.5 0 0\n"
                               "a = 1 2 3\nb = 1 2 3 -4\nc = 1 2 3 4 5\nd = nan 1 1 1\n"),
                     ERR_OK);

    assert_true(cost_of(&c, "opus-3", (double)NAN) == 5.0);
    assert_true(cost_of(&c, "opus-4-5", (double)NAN) == 10.0);
    assert_true(cost_of(&c, "opus-4-1", (double)NAN) == 1.0);
    assert_true(cost_of(&c, "opus-4-1", 7) == 7.0);
    assert_true(isnan(cost_of(&c, "sonnet", (double)NAN)) && isnan(cost_of(&c, "", (double)NAN)));
    assert_int_equal(c.problems->n, 4);
    config_fini(&c);
}

TEST(every_mistake_is_named_with_its_line)
{
    struct config c;
    char place[96];

    assert_int_equal(read_text(&c, "kyes = vim\nkeys = emacs\nascii = yes\n\nnonsense\n"
                                   "[colors]\ntilte = red\ntitle = rde\n[claude]\nfork = x\n"),
                     ERR_OK);
    assert_non_null(c.problems);
    assert_true(c.settings.ascii);
    assert_int_equal(c.settings.keys.scheme, KEYS_DEFAULT);

    static const int lines[] = { 1, 2, 7, 8, 10, 5 };

    assert_int_equal(c.problems->n, sizeof lines / sizeof lines[0]);
    for (size_t i = 0; i < c.problems->n; i++) {
        snprintf(place, sizeof place, "%s:%d", path, lines[i]);
        assert_string_equal(c.problems->problem[i].err.path, place);
    }
    config_fini(&c);
}

static void expect_problem(const struct config *c, size_t i, int line, const char *text)
{
    char want[400];

    assert_true(c->problems && i < c->problems->n);
    snprintf(want, sizeof want, "%s:%d", path, line);
    assert_string_equal(c->problems->problem[i].err.path, want);
    assert_non_null(strstr(c->problems->problem[i].err.text, text));
}

TEST(unknown_words_are_named_with_the_nearest)
{
    struct config c;
    static const struct {
        const char *text, *problem;
    } cases[] = {
        { "theme = drak\n", "theme \"drak\"? Did you mean dark? (auto|dark|light" },
        { "theme = drak\n", "Did you mean dark?" },
        { "pewview = on\n", "unknown setting \"pewview\"; did you mean preview?" },
        { "[color]\ntitle = red\n", "unknown section \"color\"; did you mean colors?" },
        { "[cluade]\nresume = x\n", "unknown section \"cluade\"; did you mean claude?" },
        { "[keys]\ndelete = d\n", "unknown section \"keys\"; did you mean keys.list?" },
        { "[store]\npath = d\n", "unknown section \"store\"; did you mean store.NAME?" },
        { "[something]\nelse = d\n", "unknown section \"something\"; see man reprise-config" },
        { "[codex]\nresum = x\n", "unknown setting \"resum\"; did you mean resume?" },
        { "[codex]\nresume =\n", "no command follows resume" },
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_int_equal(read_text(&c, cases[i].text), ERR_OK);
        assert_non_null(c.problems);
        assert_int_equal(c.problems->n, 1);
        assert_non_null(strstr(c.problems->problem[0].err.text, cases[i].problem));
        config_fini(&c);
    }
}

TEST(every_system_that_can_be_resumed_is_shown_and_configured)
{
    struct config c;
    struct buf text = { 0 };
    struct config_entry entry;
    size_t shown = 0, systems = 0;

    for (; store_systems[systems]; systems++)
        assert_int_equal(buf_addf(&text, "[%s]\nresume = mine\n", store_systems[systems]->name),
                         ERR_OK);
    assert_int_equal(read_text(&c, buf_cstr(&text)), ERR_OK);
    assert_null(c.problems);
    for (size_t i = 0; config_entry_at(&c, i, &entry); i++)
        if (strcmp(entry.name, "resume") == 0) {
            assert_true(slice_eq(entry.value, SLICE("mine")));
            shown++;
        }
    assert_int_equal(shown, systems);
    config_fini(&c);
    buf_fini(&text);
}

TEST(keys_are_read_by_context)
{
    struct config c;

    assert_int_equal(read_text(&c,
                               "[keys.list]\ndelete = ctrl-d\ndelete = Ctrl+D ^E f7\nfork = none\n"
                               "menu = ctrl-x\n[keys.everywhere]\nhelp = f2\n"),
                     ERR_OK);
    assert_true(config_check_keys(&c, path));
    assert_null(c.problems);
    assert_int_equal(c.settings.keys.bounds, 6);
    assert_int_equal(keymap_find(&c.settings.keys, IN_LIST, (struct key){ 'e', MOD_CTRL }),
                     ACT_TRASH);
    assert_int_equal(keymap_find(&c.settings.keys, IN_LIST, (struct key){ 'f', MOD_CTRL }),
                     ACT_NONE);
    config_fini(&c);
}

TEST(a_key_behind_that_of_the_menu_is_one_in_the_menu)
{
    const struct key del = { KEYCODE_DELETE, 0 };
    struct config c;
    char keys[KEYMAP_MENU_KEYS];

    assert_int_equal(read_text(&c, "[keys.list]\ndelete = ctrl-x k\nfork = f7 ctrl-x F\n"), ERR_OK);
    assert_true(config_check_keys(&c, path));
    assert_null(c.problems);
    keymap_menu_keys(&c.settings.keys, IN_LIST, ACT_TRASH, true, keys);
    assert_string_equal(keys, "^X k");
    assert_int_equal(keymap_find(&c.settings.keys, IN_LIST, del), ACT_NONE);
    assert_int_equal(keymap_find(&c.settings.keys, IN_LIST, (struct key){ 'x', MOD_CTRL }),
                     ACT_MENU);
    assert_int_equal(keymap_find(&c.settings.keys, IN_LIST, (struct key){ KEYCODE_F1 + 6, 0 }),
                     ACT_FORK);
    assert_int_equal(keymap_find(&c.settings.keys, IN_MENU, (struct key){ 'F', 0 }), ACT_FORK);
    config_fini(&c);

    /* Another key opens the menu. */
    assert_int_equal(read_text(&c, "[keys.list]\nmenu = f9\ndelete = f9 k\n"), ERR_OK);
    assert_true(config_check_keys(&c, path));
    keymap_menu_keys(&c.settings.keys, IN_LIST, ACT_TRASH, true, keys);
    assert_string_equal(keys, "F9 k");
    config_fini(&c);

    assert_int_equal(read_text(&c, "[keys.menu]\ntag = j alt-t\n"), ERR_OK);
    assert_null(c.problems);
    assert_int_equal(keymap_find(&c.settings.keys, IN_MENU, (struct key){ 'j', 0 }), ACT_TAG);
    config_fini(&c);

    assert_int_equal(read_text(&c, "[keys.list]\ndelete = ctrl-x nokey\n"), ERR_OK);
    expect_problem(&c, 0, 2, "not a key: nokey");
    assert_int_equal(keymap_find(&c.settings.keys, IN_LIST, del), ACT_TRASH);
    config_fini(&c);
}

TEST(mistakes_in_keys_are_named)
{
    struct config c;

    assert_int_equal(read_text(&c,
                               "[keys.lits]\nfork = f7\n[keys.list]\nfrok = f7\nhunk = f7\nfork =\n"
                               "fork = ctrl-m\nfork = alt-c ctrl-c\ndelete = f8\n"),
                     ERR_OK);
    expect_problem(&c, 0, 2, "unknown context \"lits\"; did you mean list?");
    expect_problem(&c, 1, 4, "unknown action \"frok\"; did you mean fork?");
    expect_problem(&c, 2, 5, "hunk is not an action of [keys.list]");
    expect_problem(&c, 3, 6, "no keys");
    expect_problem(&c, 4, 7, "ctrl-m (in a terminal it is Enter)");
    expect_problem(&c, 5, 8, "ctrl-c always quits");
    assert_int_equal(c.problems->n, 6);
    assert_int_equal(c.settings.keys.bounds, 1);
    config_fini(&c);
}

TEST(conflicts_of_keys_are_named)
{
    static const char text[] = "[keys.list]\nfork = ctrl-g\nrename = ctrl-g f9\ndelete = d\n"
                               "menu = f8\nsort = ctrl-x\nup = ctrl-t\npreview = none\n"
                               "print = enter\n[keys.everywhere]\nhelp = ctrl-s\n";
    struct config c;

    assert_int_equal(read_text(&c, text), ERR_OK);
    assert_null(c.problems);
    assert_true(config_check_keys(&c, path));
    expect_problem(&c, 0, 3, "^G in [keys.list] is bound to fork already, not to rename");
    expect_problem(&c, 1, 4, "d is text that is typed in [keys.list]");
    expect_problem(&c, 2, 11, "^S, now help, was the only key of sort in [keys.filter]");
    assert_int_equal(c.problems->n, 3);
    /* Impossible keys are left out; the rest counts. */
    assert_int_equal(keymap_find(&c.settings.keys, IN_LIST, (struct key){ KEYCODE_F1 + 8, 0 }),
                     ACT_RENAME);
    assert_int_equal(keymap_find(&c.settings.keys, IN_LIST, (struct key){ KEYCODE_DELETE, 0 }),
                     ACT_TRASH);
    config_fini(&c);

    /* The other scheme has other keys: d is one of them. */
    assert_int_equal(read_text(&c, "keys = vim\n[keys.list]\nfork = d\nup = /\n"), ERR_OK);
    assert_true(config_check_keys(&c, path));
    expect_problem(
        &c, 0, 4,
        "/, now up, was the only key of filter in [keys.list]; bind it, or filter = none");
    assert_int_equal(c.problems->n, 1);
    assert_int_equal(keymap_find(&c.settings.keys, IN_LIST, (struct key){ 'd', 0 }), ACT_FORK);
    config_fini(&c);
}

/* [colors] counts whatever the theme is and wherever it is set. */
TEST(styles_replace_those_of_the_theme)
{
    struct config c;

    config_init(&c);
    assert_int_equal(c.theme.look[STYLE_MATCH].fg, 3);
    assert_int_equal(c.light.look[STYLE_MATCH].fg & THEME_RGB, THEME_RGB);
    assert_int_equal(
        read_text(&c, "[colors]\ntitle = #010203\n[screen]\ntheme = contrast\ncolors = true\n"),
        ERR_OK);
    assert_null(c.problems);
    assert_int_equal(c.settings.theme, THEME_FIRST + THEME_CONTRAST);
    assert_int_equal(c.settings.colours, COLOURS_TRUE);
    assert_int_equal(c.theme.look[STYLE_TITLE].fg, THEME_RGB | 0x010203);
    assert_int_equal(c.theme.few_colours[STYLE_TITLE].fg, THEME_RGB | 0x010203);
    assert_int_equal(c.light.look[STYLE_TITLE].fg, THEME_RGB | 0x010203);
    assert_int_equal(c.theme.look[STYLE_TEXT].bg, THEME_RGB | 0x000000);
    config_fini(&c);
}

TEST(a_line_too_long_for_the_reader_is_not_cut)
{
    struct config c;
    char text[1000] = "[claude]\nresume = ";

    memset(text + strlen(text), 'x', 600);
    strcat(text, "\n[other]\nresume = y\n");
    assert_int_equal(read_text(&c, text), ERR_OK);
    assert_int_equal(c.problems->n, 1);
    assert_string_equal(config_resume_command(&c, "claude"), "claude --resume {id}");
    assert_string_equal(config_resume_command(&c, "other"), "y");
    config_fini(&c);
}

TEST(a_missing_file_is_distinguished)
{
    struct config c;

    config_init(&c);
    assert_int_equal(config_read(&c, "/nonexistent/config", NULL), ERR_NOT_FOUND);
    config_fini(&c);
}

static int make_file(void **state)
{
    (void)state;
    snprintf(path, sizeof path, "/tmp/test_config.XXXXXX");
    int fd = mkstemp(path);

    return fd < 0 ? -1 : close(fd);
}

static int remove_file(void **state)
{
    (void)state;
    return unlink(path);
}

TEST_MAIN
{
    return test_run(make_file, remove_file);
}
