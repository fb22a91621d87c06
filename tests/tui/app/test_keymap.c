#include "tests/test.h"

#include "tui/app/key.h"

static const struct keymap schemes[] = { { .scheme = KEYS_DEFAULT }, { .scheme = KEYS_VIM } };

static enum action find(enum key_scheme scheme, enum key_context place, uint32_t code, uint8_t mods)
{
    return keymap_find(&(struct keymap){ .scheme = scheme }, place, (struct key){ code, mods });
}

/* The first rule of the screen: where text is entered, no letter has another meaning. */
TEST(no_letter_acts_where_text_is_entered)
{
    for (int scheme = KEYS_DEFAULT; scheme <= KEYS_VIM; scheme++)
        for (int place = 0; place < IN_ANY; place++) {
            if (!keymap_is_text(&schemes[scheme], (enum key_context)place))
                continue;
            for (uint32_t c = ' '; c < 0x7f; c++)
                assert_int_equal(find((enum key_scheme)scheme, (enum key_context)place, c, 0),
                                 ACT_NONE);
        }
    assert_true(keymap_is_text(&schemes[KEYS_DEFAULT], IN_LIST));
    assert_false(keymap_is_text(&schemes[KEYS_VIM], IN_LIST));
    assert_true(keymap_is_text(&schemes[KEYS_VIM], IN_FILTER));
}

TEST(the_keys_of_the_list_are_the_documented_ones)
{
    static const struct {
        uint32_t code;
        uint8_t mods;
        enum action action;
    } promised[] = {
        { KEYCODE_UP, 0, ACT_UP },           { KEYCODE_DOWN, 0, ACT_DOWN },
        { 'p', MOD_CTRL, ACT_UP },           { 'n', MOD_CTRL, ACT_DOWN },
        { 'k', MOD_CTRL, ACT_UP },           { 'j', MOD_CTRL, ACT_DOWN },
        { KEYCODE_PAGE_UP, 0, ACT_PAGE_UP }, { KEYCODE_PAGE_DOWN, 0, ACT_PAGE_DOWN },
        { KEYCODE_HOME, 0, ACT_FIRST },      { KEYCODE_END, 0, ACT_LAST },
        { KEYCODE_TAB, 0, ACT_MARK },        { KEYCODE_TAB, MOD_SHIFT, ACT_MARK_UP },
        { KEYCODE_ENTER, 0, ACT_RESUME },    { KEYCODE_RIGHT, 0, ACT_VIEW },
        { 'a', MOD_CTRL, ACT_SCOPE },        { 's', MOD_CTRL, ACT_SORT },
        { 't', MOD_CTRL, ACT_PREVIEW },      { 'f', MOD_CTRL, ACT_FORK },
        { 'r', MOD_CTRL, ACT_RENAME },       { KEYCODE_DELETE, 0, ACT_TRASH },
        { 'x', MOD_CTRL, ACT_MENU },         { 'o', MOD_CTRL, ACT_PRINT },
        { KEYCODE_F1, 0, ACT_HELP },         { KEYCODE_ESC, 0, ACT_BACK },
        { 'c', MOD_CTRL, ACT_QUIT },         { 'z', MOD_CTRL, ACT_SUSPEND },
        { 'l', MOD_CTRL, ACT_REDRAW },
    };

    for (size_t i = 0; i < sizeof promised / sizeof *promised; i++)
        assert_int_equal(find(KEYS_DEFAULT, IN_LIST, promised[i].code, promised[i].mods),
                         promised[i].action);
    /* Editing keys belong to the query. */
    assert_int_equal(find(KEYS_DEFAULT, IN_LIST, 'u', MOD_CTRL), ACT_NONE);
    assert_int_equal(find(KEYS_DEFAULT, IN_LIST, 'w', MOD_CTRL), ACT_NONE);
    assert_int_equal(find(KEYS_DEFAULT, IN_LIST, KEYCODE_BACKSPACE, 0), ACT_NONE);
}

/* Both schemes: where no text is entered, the documented keys are the same. */
TEST(the_keys_of_the_other_contexts_are_the_documented_ones)
{
    static const struct {
        enum key_context place;
        uint32_t code;
        enum action action;
    } promised[] = {
        { IN_TRANSCRIPT, 'j', ACT_DOWN },
        { IN_TRANSCRIPT, 'k', ACT_UP },
        { IN_TRANSCRIPT, KEYCODE_DOWN, ACT_DOWN },
        { IN_TRANSCRIPT, KEYCODE_UP, ACT_UP },
        { IN_TRANSCRIPT, '{', ACT_PROMPT_PREV },
        { IN_TRANSCRIPT, '}', ACT_PROMPT_NEXT },
        { IN_TRANSCRIPT, 'g', ACT_FIRST },
        { IN_TRANSCRIPT, 'G', ACT_LAST },
        { IN_TRANSCRIPT, '/', ACT_SEARCH },
        { IN_TRANSCRIPT, 'n', ACT_SEARCH_NEXT },
        { IN_TRANSCRIPT, 'N', ACT_SEARCH_PREV },
        { IN_TRANSCRIPT, ' ', ACT_UNFOLD_OR_PAGE },
        { IN_TRANSCRIPT, 'f', ACT_PAGE_DOWN },
        { IN_TRANSCRIPT, 'b', ACT_PAGE_UP },
        { IN_TRANSCRIPT, 'd', ACT_HALF_DOWN },
        { IN_TRANSCRIPT, KEYCODE_ENTER, ACT_UNFOLD },
        { IN_TRANSCRIPT, 'z', ACT_FOLD_LEVEL },
        { IN_TRANSCRIPT, 'T', ACT_THINKING },
        { IN_TRANSCRIPT, 's', ACT_SUBAGENTS },
        { IN_TRANSCRIPT, 'B', ACT_BRANCHES },
        { IN_TRANSCRIPT, 'i', ACT_RAW },
        { IN_TRANSCRIPT, 'y', ACT_COPY },
        { IN_TRANSCRIPT, KEYCODE_ESC, ACT_BACK },
        { IN_TRANSCRIPT, KEYCODE_LEFT, ACT_BACK },
        { IN_TRANSCRIPT, 'r', ACT_RESUME_AT },
        { IN_TRANSCRIPT, 'c', ACT_FORK_AT },
        { IN_TRANSCRIPT, 'w', ACT_REWIND_AT },
        { IN_TRANSCRIPT, 'u', ACT_HALF_UP },
        { IN_TRANSCRIPT, 'U', ACT_NONE },
        { IN_TRANSCRIPT, 'o', ACT_NONE },
        { IN_TRANSCRIPT, KEYCODE_DELETE, ACT_NONE },
        { IN_TRANSCRIPT, '?', ACT_HELP },
        { IN_TRANSCRIPT, 'q', ACT_BACK },
        { IN_REWIND, ' ', ACT_TICK },
        { IN_REWIND, 'h', ACT_PANE_PREV },
        { IN_REWIND, 'l', ACT_PANE },
        { IN_REWIND, '*', ACT_MARK_ALL },
        { IN_REWIND, KEYCODE_TAB, ACT_PANE },
        { IN_REWIND, 'm', ACT_MODE },
        { IN_REWIND, 'a', ACT_APPLY },
        { IN_REWIND, 'u', ACT_UNDO },
        { IN_REWIND, 'U', ACT_REDO },
        { IN_REWIND, KEYCODE_ESC, ACT_BACK },
        { IN_REWIND, '?', ACT_HELP },
        { IN_REWIND, 'q', ACT_BACK },
        { IN_TRASH, 'q', ACT_BACK },
        { IN_CLEANUP, 'q', ACT_BACK },
        { IN_BLAME, 'q', ACT_BACK },
        { IN_BLAME, 'u', ACT_NONE },
        { IN_DIALOG, 'y', ACT_YES },
        { IN_MENU, 'r', ACT_RESUME },
        { IN_MENU, 'f', ACT_FORK },
        { IN_MENU, 'w', ACT_REWIND },
        { IN_MENU, 'n', ACT_RENAME },
        { IN_MENU, 't', ACT_TAG },
        { IN_MENU, 'a', ACT_ARCHIVE },
        { IN_MENU, 'd', ACT_TRASH },
        { IN_MENU, 'y', ACT_COPY },
        { IN_MENU, 'o', ACT_EDIT },
        { IN_MENU, 'c', ACT_CLEANUP },
        { IN_MENU, 'x', ACT_DAMAGED },
        { IN_MENU, 'X', ACT_DOCTOR },
        { IN_CLEANUP, 'u', ACT_UNDO },
        { IN_CLEANUP, ' ', ACT_MARK },
        { IN_DAMAGED, KEYCODE_ENTER, ACT_VIEW },
        { IN_DAMAGED, 'X', ACT_DOCTOR },
        { IN_DOCTOR, 'F', ACT_FIX },
        { IN_DOCTOR, 'u', ACT_UNDO },
    };

    for (int scheme = KEYS_DEFAULT; scheme <= KEYS_VIM; scheme++)
        for (size_t i = 0; i < sizeof promised / sizeof *promised; i++)
            assert_int_equal(find((enum key_scheme)scheme, promised[i].place, promised[i].code, 0),
                             promised[i].action);
    assert_int_equal(find(KEYS_VIM, IN_LIST, '/', 0), ACT_FILTER);
}

TEST(one_letter_means_the_same_in_the_menu_and_in_the_vim_list)
{
    for (uint32_t c = 'a'; c <= 'z'; c++) {
        enum action menu = find(KEYS_VIM, IN_MENU, c, 0);
        enum action list = find(KEYS_VIM, IN_LIST, c, 0);

        if (c != 'q' && menu != ACT_NONE && list != ACT_NONE)
            assert_int_equal(menu, list);
    }
    assert_int_equal(find(KEYS_DEFAULT, IN_MENU, 'w', 0), ACT_REWIND);
    assert_int_equal(find(KEYS_DEFAULT, IN_MENU, 'd', 0), ACT_TRASH);
}

TEST(a_context_takes_precedence_over_everywhere)
{
    assert_int_equal(find(KEYS_DEFAULT, IN_LIST, 'l', MOD_CTRL), ACT_REDRAW);
    assert_int_equal(find(KEYS_DEFAULT, IN_TRANSCRIPT, 'l', MOD_CTRL), ACT_REDRAW);
    assert_int_equal(find(KEYS_DEFAULT, IN_HELP, KEYCODE_F1, 0), ACT_BACK);
}

TEST(alt_with_a_capital_is_a_key_of_its_own)
{
    const struct keymap k = { 0 };

    assert_int_equal(keymap_find(&k, IN_LIST, (struct key){ 'n', MOD_ALT }), ACT_SEARCH_NEXT);
    assert_int_equal(keymap_find(&k, IN_LIST, (struct key){ 'N', MOD_ALT }), ACT_SEARCH_PREV);
    assert_int_equal(keymap_find(&k, IN_FILTER, (struct key){ 'N', MOD_ALT }), ACT_SEARCH_PREV);
    /* Caps Lock */
    assert_int_equal(keymap_find(&k, IN_LIST, (struct key){ 'A', MOD_ALT }), ACT_MARK_ALL);
    assert_int_equal(keymap_find(&k, IN_LIST, (struct key){ 'Q', MOD_ALT }), ACT_NONE);
}

TEST(control_c_quits_and_escape_steps_back_in_every_context)
{
    for (int scheme = KEYS_DEFAULT; scheme <= KEYS_VIM; scheme++)
        for (int place = 0; place < IN_ANY; place++) {
            assert_int_equal(find((enum key_scheme)scheme, (enum key_context)place, 'c', MOD_CTRL),
                             ACT_QUIT);
            assert_int_equal(find((enum key_scheme)scheme, (enum key_context)place, KEYCODE_ESC, 0),
                             ACT_BACK);
        }
}

TEST(the_key_shown_for_an_action_performs_it)
{
    for (int scheme = KEYS_DEFAULT; scheme <= KEYS_VIM; scheme++)
        for (int place = 0; place <= IN_ANY; place++)
            for (int a = ACT_NONE + 1; a < ACT_COUNT; a++) {
                const struct keymap *s = &schemes[scheme];
                enum key_context p = (enum key_context)place;
                struct key key;

                if (keymap_key_of(s, p, (enum action)a, &key))
                    assert_int_equal(keymap_find(s, p, key), a);
            }
}

TEST(keys_are_named_as_people_write_them)
{
    static const struct {
        struct key key;
        const char *name, *ascii;
    } keys[] = {
        { { 'a', MOD_CTRL }, "^A", "^A" },
        { { 'b', MOD_ALT }, "Alt+b", "Alt+b" },
        { { 'G', 0 }, "G", "G" },
        { { ' ', 0 }, "Space", "Space" },
        { { KEYCODE_RIGHT, 0 }, "→", "Right" },
        { { KEYCODE_TAB, MOD_SHIFT }, "Shift+Tab", "Shift+Tab" },
        { { KEYCODE_UP, MOD_CTRL }, "Ctrl+↑", "Ctrl+Up" },
        { { KEYCODE_F1, 0 }, "F1", "F1" },
        { { KEYCODE_F12, 0 }, "F12", "F12" },
        { { 0xe4, 0 }, "ä", "ä" },
    };

    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        char out[KEY_NAME];

        key_label(keys[i].key, false, out);
        assert_string_equal(out, keys[i].name);
        key_label(keys[i].key, true, out);
        assert_string_equal(out, keys[i].ascii);
    }
}

TEST(all_keys_of_an_action_are_listed)
{
    char out[64], tight[8];

    keymap_keys_of(&schemes[KEYS_DEFAULT], IN_LIST, ACT_UP, false, out, sizeof out);
    assert_string_equal(out, "↑ ^P ^K");
    keymap_keys_of(&schemes[KEYS_VIM], IN_LIST, ACT_UP, true, out, sizeof out);
    assert_string_equal(out, "Up ^P ^K k");
    keymap_keys_of(&schemes[KEYS_DEFAULT], IN_LIST, ACT_UP, false, tight, sizeof tight);
    assert_string_equal(tight, "↑ ^P");
    keymap_keys_of(&schemes[KEYS_DEFAULT], IN_LIST, ACT_UNFOLD, false, out, sizeof out);
    assert_string_equal(out, "");
}

static struct key parsed(const char *word)
{
    struct key key = { 0 };
    const char *why;

    assert_true(key_parse(slice_of(word), &key, &why));
    return key;
}

/* Every key that help can show is read back as itself. */
TEST(the_names_of_keys_are_read)
{
    static const char *const bad[] = { "",      "ctrl-", "ctrl-i", "^m",     "C-h", "shift-g",
                                       "alt-[", "f13",   "ab",     "ctrl-1", "\xff" };
    struct key key;
    const char *why;

    for (int scheme = KEYS_DEFAULT; scheme <= KEYS_VIM; scheme++)
        for (int place = 0; place <= IN_ANY; place++)
            for (int a = ACT_NONE + 1; a < ACT_COUNT; a++)
                for (int ascii = 0; ascii < 2; ascii++) {
                    char name[KEY_NAME];

                    if (!keymap_key_of(&schemes[scheme], (enum key_context)place, (enum action)a,
                                       &key))
                        continue;
                    key_label(key, ascii, name);
                    assert_true(key_eq(parsed(name), key));
                }
    assert_true(key_eq(parsed("CTRL+X"), (struct key){ 'x', MOD_CTRL }));
    assert_true(
        key_eq(parsed("alt-shift-page-up"), (struct key){ KEYCODE_PAGE_UP, MOD_ALT | MOD_SHIFT }));
    assert_true(key_eq(parsed("ctrl-space"), (struct key){ ' ', MOD_CTRL }));
    assert_true(key_eq(parsed("^"), (struct key){ '^', 0 }));
    assert_true(key_eq(parsed("-"), (struct key){ '-', 0 }));
    assert_true(key_eq(parsed("Alt-ä"), (struct key){ 0xe4, MOD_ALT }));
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_false(key_parse(slice_of(bad[i]), &key, &why));
}

/* The keys of the configuration take the place of the action's own, in one context or in all. */
TEST(keys_can_be_bound_otherwise)
{
    static const struct key_binding bound[] = {
        { IN_LIST, ACT_TRASH, { 'd', MOD_CTRL }, 1 },
        { IN_LIST, ACT_TRASH, { 'e', MOD_CTRL }, 1 },
        { IN_LIST, ACT_SCOPE, { KEYCODE_NONE, 0 }, 2 },
        { IN_LIST, ACT_MENU, { 'r', MOD_CTRL }, 3 },
        { IN_ANY, ACT_HELP, { KEYCODE_F1 + 1, 0 }, 4 },
        { IN_ANY, ACT_QUIT, { 'q', MOD_CTRL }, 5 },
        { IN_TRASH, ACT_DOWN, { 'd', 0 }, 6 },
    };
    const struct keymap k = { .bound = bound, .bounds = sizeof bound / sizeof *bound };
    char out[64];
    struct key key;

    assert_int_equal(keymap_find(&k, IN_LIST, (struct key){ 'd', MOD_CTRL }), ACT_TRASH);
    assert_int_equal(keymap_find(&k, IN_LIST, (struct key){ KEYCODE_DELETE, 0 }), ACT_NONE);
    assert_int_equal(keymap_find(&k, IN_CLEANUP, (struct key){ KEYCODE_DELETE, 0 }), ACT_TRASH);
    keymap_keys_of(&k, IN_LIST, ACT_TRASH, false, out, sizeof out);
    assert_string_equal(out, "^D ^E");
    assert_int_equal(keymap_find(&k, IN_LIST, (struct key){ 'a', MOD_CTRL }), ACT_NONE);
    assert_false(keymap_key_of(&k, IN_LIST, ACT_SCOPE, &key));
    /* A key that is bound is no longer shown for the action that had it. */
    keymap_keys_of(&k, IN_LIST, ACT_RENAME, false, out, sizeof out);
    assert_string_equal(out, "");
    keymap_menu_keys(&k, IN_LIST, ACT_RENAME, false, out);
    assert_string_equal(out, "^R n");
    /* Everywhere, and Ctrl+C in any case. */
    assert_int_equal(keymap_find(&k, IN_REWIND, (struct key){ KEYCODE_F1, 0 }), ACT_NONE);
    assert_int_equal(keymap_find(&k, IN_REWIND, (struct key){ KEYCODE_F1 + 1, 0 }), ACT_HELP);
    assert_int_equal(keymap_find(&k, IN_REWIND, (struct key){ 'q', MOD_CTRL }), ACT_QUIT);
    assert_int_equal(keymap_find(&k, IN_REWIND, (struct key){ 'c', MOD_CTRL }), ACT_QUIT);
    /* Keys that several contexts share are changed in one of them. */
    assert_int_equal(keymap_find(&k, IN_TRASH, (struct key){ 'j', 0 }), ACT_NONE);
    assert_int_equal(keymap_find(&k, IN_DOCTOR, (struct key){ 'j', 0 }), ACT_DOWN);
    assert_string_equal(
        keymap_text(&k, IN_LIST, false, "{delete} or {scope}: {rename}.", out, sizeof out),
        "^D or (no key): (no key).");
}

TEST(every_action_has_a_name_a_word_and_a_line)
{
    for (int a = ACT_NONE + 1; a < ACT_COUNT; a++) {
        assert_int_not_equal(action_name((enum action)a)[0], '\0');
        assert_int_not_equal(action_title((enum action)a)[0], '\0');
        assert_int_not_equal(action_help((enum action)a)[0], '\0');
        for (int b = a + 1; b < ACT_COUNT; b++)
            assert_string_not_equal(action_name((enum action)a), action_name((enum action)b));
    }
    for (int p = 0; p < IN_COUNT; p++)
        assert_int_not_equal(keymap_context_name((enum key_context)p)[0], '\0');
}
