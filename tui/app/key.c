#include "tui/app/key.h"

#include <stdio.h>
#include <string.h>

enum { DEFAULT = 1 << KEYS_DEFAULT, VIM = 1 << KEYS_VIM, BOTH = DEFAULT | VIM };

/* clang-format off */
#define CTRL(c) { (c), MOD_CTRL }
#define ALT(c) { (c), MOD_ALT }
#define PLAIN(c) { (c), 0 }
#define SHIFTED(c) { (c), MOD_SHIFT }
/* clang-format on */

/* Keys that several contexts have in common. */
enum key_set { TYPED_ROWS = IN_COUNT, TEXT_PAGES, TABLE_ROWS, CHOICES, NO_SET };

static enum key_set set_of(enum key_context place)
{
    switch (place) {
    case IN_LIST:
    case IN_FILTER:
    case IN_HELP: return TYPED_ROWS;
    case IN_TRANSCRIPT:
    case IN_REWIND: return TEXT_PAGES;
    case IN_TRASH:
    case IN_LOG:
    case IN_BOARD:
    case IN_COMPARE:
    case IN_TREE:
    case IN_USAGE:
    case IN_CLEANUP:
    case IN_DAMAGED:
    case IN_BLAME:
    case IN_DOCTOR: return TABLE_ROWS;
    case IN_MENU:
    case IN_DIALOG: return CHOICES;
    default: return NO_SET;
    }
}

/* A context inherits the rows of its set. The footer names the first key of an action in a context. */
/* clang-format off */
static const struct {
    int place; /* a key_context or a key_set */
    unsigned char schemes;
    struct key key;
    enum action action;
} keymap[] = {
    { TYPED_ROWS, BOTH, PLAIN(KEYCODE_ESC), ACT_BACK },
    { TYPED_ROWS, BOTH, PLAIN(KEYCODE_UP), ACT_UP },
    { TYPED_ROWS, BOTH, CTRL('p'), ACT_UP },
    { TYPED_ROWS, BOTH, PLAIN(KEYCODE_DOWN), ACT_DOWN },
    { TYPED_ROWS, BOTH, CTRL('n'), ACT_DOWN },
    { TYPED_ROWS, BOTH, CTRL('j'), ACT_DOWN },
    { TYPED_ROWS, BOTH, PLAIN(KEYCODE_PAGE_UP), ACT_PAGE_UP },
    { TYPED_ROWS, BOTH, PLAIN(KEYCODE_PAGE_DOWN), ACT_PAGE_DOWN },

    { TEXT_PAGES, BOTH, PLAIN(KEYCODE_ESC), ACT_BACK },
    { TEXT_PAGES, BOTH, PLAIN('j'), ACT_DOWN },
    { TEXT_PAGES, BOTH, PLAIN(KEYCODE_DOWN), ACT_DOWN },
    { TEXT_PAGES, BOTH, CTRL('n'), ACT_DOWN },
    { TEXT_PAGES, BOTH, PLAIN('k'), ACT_UP },
    { TEXT_PAGES, BOTH, PLAIN(KEYCODE_UP), ACT_UP },
    { TEXT_PAGES, BOTH, CTRL('p'), ACT_UP },
    { TEXT_PAGES, BOTH, PLAIN('g'), ACT_FIRST },
    { TEXT_PAGES, BOTH, PLAIN(KEYCODE_HOME), ACT_FIRST },
    { TEXT_PAGES, BOTH, PLAIN('G'), ACT_LAST },
    { TEXT_PAGES, BOTH, PLAIN(KEYCODE_END), ACT_LAST },
    { TEXT_PAGES, BOTH, PLAIN(KEYCODE_PAGE_UP), ACT_PAGE_UP },
    { TEXT_PAGES, BOTH, CTRL('b'), ACT_PAGE_UP },
    { TEXT_PAGES, BOTH, PLAIN(KEYCODE_PAGE_DOWN), ACT_PAGE_DOWN },
    { TEXT_PAGES, BOTH, CTRL('f'), ACT_PAGE_DOWN },
    { TEXT_PAGES, BOTH, CTRL('u'), ACT_HALF_UP },
    { TEXT_PAGES, BOTH, CTRL('d'), ACT_HALF_DOWN },
    { TEXT_PAGES, BOTH, PLAIN('?'), ACT_HELP },
    { TEXT_PAGES, BOTH, PLAIN('q'), ACT_BACK },

    { TABLE_ROWS, BOTH, PLAIN(KEYCODE_ESC), ACT_BACK },
    { TABLE_ROWS, BOTH, PLAIN(KEYCODE_UP), ACT_UP },
    { TABLE_ROWS, BOTH, PLAIN('k'), ACT_UP },
    { TABLE_ROWS, BOTH, CTRL('p'), ACT_UP },
    { TABLE_ROWS, BOTH, PLAIN(KEYCODE_DOWN), ACT_DOWN },
    { TABLE_ROWS, BOTH, PLAIN('j'), ACT_DOWN },
    { TABLE_ROWS, BOTH, CTRL('n'), ACT_DOWN },
    { TABLE_ROWS, BOTH, PLAIN(KEYCODE_PAGE_UP), ACT_PAGE_UP },
    { TABLE_ROWS, BOTH, CTRL('b'), ACT_PAGE_UP },
    { TABLE_ROWS, BOTH, PLAIN(KEYCODE_PAGE_DOWN), ACT_PAGE_DOWN },
    { TABLE_ROWS, BOTH, CTRL('f'), ACT_PAGE_DOWN },
    { TABLE_ROWS, BOTH, PLAIN('g'), ACT_FIRST },
    { TABLE_ROWS, BOTH, PLAIN(KEYCODE_HOME), ACT_FIRST },
    { TABLE_ROWS, BOTH, PLAIN('G'), ACT_LAST },
    { TABLE_ROWS, BOTH, PLAIN(KEYCODE_END), ACT_LAST },
    { TABLE_ROWS, BOTH, PLAIN('?'), ACT_HELP },
    { TABLE_ROWS, BOTH, PLAIN('q'), ACT_BACK },
    { TABLE_ROWS, BOTH, PLAIN(KEYCODE_F1 + 4), ACT_REFRESH },

    { CHOICES, BOTH, PLAIN(KEYCODE_ENTER), ACT_ACCEPT },
    { CHOICES, BOTH, PLAIN(KEYCODE_ESC), ACT_BACK },
    { CHOICES, BOTH, PLAIN(KEYCODE_UP), ACT_UP },
    { CHOICES, BOTH, PLAIN('k'), ACT_UP },
    { CHOICES, BOTH, CTRL('p'), ACT_UP },
    { CHOICES, BOTH, PLAIN(KEYCODE_DOWN), ACT_DOWN },
    { CHOICES, BOTH, PLAIN('j'), ACT_DOWN },
    { CHOICES, BOTH, CTRL('n'), ACT_DOWN },

    { IN_LIST, BOTH, PLAIN(KEYCODE_ENTER), ACT_RESUME },
    { IN_LIST, BOTH, ALT(KEYCODE_ENTER), ACT_RESUME_WITH },
    { IN_LIST, BOTH, PLAIN(KEYCODE_RIGHT), ACT_VIEW },
    { IN_LIST, BOTH, PLAIN(KEYCODE_TAB), ACT_MARK },
    { IN_LIST, BOTH, SHIFTED(KEYCODE_TAB), ACT_MARK_UP },
    { IN_LIST, BOTH, ALT('a'), ACT_MARK_ALL },
    { IN_LIST, BOTH, CTRL('a'), ACT_SCOPE },
    { IN_LIST, BOTH, CTRL('s'), ACT_SORT },
    { IN_LIST, BOTH, CTRL('t'), ACT_PREVIEW },
    { IN_LIST, BOTH, CTRL('f'), ACT_FORK },
    { IN_LIST, BOTH, CTRL('r'), ACT_RENAME },
    { IN_LIST, BOTH, PLAIN(KEYCODE_DELETE), ACT_TRASH },
    { IN_LIST, BOTH, CTRL('x'), ACT_MENU },
    { IN_LIST, BOTH, CTRL('o'), ACT_PRINT },
    { IN_LIST, BOTH, ALT('x'), ACT_DAMAGED },
    { IN_LIST, BOTH, ALT('l'), ACT_LOG },
    { IN_LIST, BOTH, ALT('b'), ACT_BOARD },
    { IN_LIST, BOTH, ALT('c'), ACT_COMPARE },
    { IN_LIST, BOTH, ALT('$'), ACT_USAGE },
    { IN_LIST, BOTH, PLAIN(KEYCODE_F1 + 4), ACT_REFRESH },
    { IN_LIST, BOTH, CTRL('k'), ACT_UP },
    { IN_LIST, BOTH, PLAIN(KEYCODE_HOME), ACT_FIRST },
    { IN_LIST, BOTH, PLAIN(KEYCODE_END), ACT_LAST },
    { IN_LIST, BOTH, SHIFTED(KEYCODE_UP), ACT_PREVIEW_UP },
    { IN_LIST, BOTH, ALT(KEYCODE_UP), ACT_PREVIEW_UP },
    { IN_LIST, BOTH, SHIFTED(KEYCODE_DOWN), ACT_PREVIEW_DOWN },
    { IN_LIST, BOTH, ALT(KEYCODE_DOWN), ACT_PREVIEW_DOWN },

    { IN_LIST, BOTH, ALT('n'), ACT_SEARCH_NEXT },
    { IN_LIST, BOTH, ALT('N'), ACT_SEARCH_PREV },

    { IN_LIST, VIM, PLAIN('/'), ACT_FILTER },
    { IN_LIST, VIM, PLAIN('j'), ACT_DOWN },
    { IN_LIST, VIM, PLAIN('k'), ACT_UP },
    { IN_LIST, VIM, PLAIN('g'), ACT_FIRST },
    { IN_LIST, VIM, PLAIN('G'), ACT_LAST },
    { IN_LIST, VIM, CTRL('d'), ACT_HALF_DOWN },
    { IN_LIST, VIM, CTRL('u'), ACT_HALF_UP },
    { IN_LIST, VIM, PLAIN('l'), ACT_VIEW },
    { IN_LIST, VIM, PLAIN(' '), ACT_MARK },
    { IN_LIST, VIM, PLAIN('*'), ACT_MARK_ALL },
    { IN_LIST, VIM, PLAIN('r'), ACT_RESUME },
    { IN_LIST, VIM, PLAIN('R'), ACT_RESUME_WITH },
    { IN_LIST, VIM, PLAIN('f'), ACT_FORK },
    { IN_LIST, VIM, PLAIN('w'), ACT_REWIND },
    { IN_LIST, VIM, PLAIN('n'), ACT_RENAME },
    { IN_LIST, VIM, PLAIN('t'), ACT_TAG },
    { IN_LIST, VIM, PLAIN('P'), ACT_PIN },
    { IN_LIST, VIM, PLAIN('a'), ACT_ARCHIVE },
    { IN_LIST, VIM, PLAIN('K'), ACT_KEEP },
    { IN_LIST, VIM, PLAIN('d'), ACT_TRASH },
    { IN_LIST, VIM, PLAIN('y'), ACT_COPY },
    { IN_LIST, VIM, PLAIN('e'), ACT_EXPORT },
    { IN_LIST, VIM, PLAIN('b'), ACT_BRANCHES },
    { IN_LIST, VIM, PLAIN('c'), ACT_CLEANUP },
    { IN_LIST, VIM, PLAIN('D'), ACT_TRASHED },
    { IN_LIST, VIM, PLAIN('H'), ACT_LOG },
    { IN_LIST, VIM, PLAIN('B'), ACT_BOARD },
    { IN_LIST, VIM, PLAIN('C'), ACT_COMPARE },
    { IN_LIST, VIM, PLAIN('$'), ACT_USAGE },
    { IN_LIST, VIM, PLAIN('x'), ACT_DAMAGED },
    { IN_LIST, VIM, PLAIN('X'), ACT_DOCTOR },
    { IN_LIST, VIM, PLAIN('L'), ACT_DENSITY },
    { IN_LIST, VIM, PLAIN('u'), ACT_UNDO },
    { IN_LIST, VIM, PLAIN('U'), ACT_REDO },
    { IN_LIST, VIM, PLAIN('q'), ACT_QUIT },
    { IN_LIST, VIM, PLAIN('?'), ACT_HELP },

    { IN_FILTER, BOTH, PLAIN(KEYCODE_ENTER), ACT_ACCEPT },
    { IN_FILTER, BOTH, PLAIN(KEYCODE_TAB), ACT_MARK },
    { IN_FILTER, BOTH, SHIFTED(KEYCODE_TAB), ACT_MARK_UP },
    { IN_FILTER, BOTH, CTRL('s'), ACT_SORT },
    { IN_FILTER, BOTH, CTRL('t'), ACT_PREVIEW },
    { IN_FILTER, BOTH, CTRL('x'), ACT_MENU },
    { IN_FILTER, BOTH, ALT('n'), ACT_SEARCH_NEXT },
    { IN_FILTER, BOTH, ALT('N'), ACT_SEARCH_PREV },

    { IN_TRANSCRIPT, BOTH, PLAIN(KEYCODE_LEFT), ACT_BACK },
    { IN_TRANSCRIPT, VIM, PLAIN('h'), ACT_BACK },
    { IN_TRANSCRIPT, BOTH, PLAIN('}'), ACT_PROMPT_NEXT },
    { IN_TRANSCRIPT, BOTH, PLAIN('{'), ACT_PROMPT_PREV },
    { IN_TRANSCRIPT, BOTH, PLAIN(KEYCODE_ENTER), ACT_UNFOLD },
    { IN_TRANSCRIPT, BOTH, PLAIN(' '), ACT_UNFOLD_OR_PAGE },
    { IN_TRANSCRIPT, BOTH, PLAIN('f'), ACT_PAGE_DOWN },
    { IN_TRANSCRIPT, BOTH, PLAIN('b'), ACT_PAGE_UP },
    { IN_TRANSCRIPT, BOTH, PLAIN('d'), ACT_HALF_DOWN },
    { IN_TRANSCRIPT, BOTH, PLAIN('u'), ACT_HALF_UP },
    { IN_TRANSCRIPT, BOTH, PLAIN('/'), ACT_SEARCH },
    { IN_TRANSCRIPT, BOTH, PLAIN('n'), ACT_SEARCH_NEXT },
    { IN_TRANSCRIPT, BOTH, PLAIN('N'), ACT_SEARCH_PREV },
    { IN_TRANSCRIPT, BOTH, PLAIN('r'), ACT_RESUME_AT },
    { IN_TRANSCRIPT, BOTH, PLAIN('c'), ACT_FORK_AT },
    { IN_TRANSCRIPT, BOTH, PLAIN('w'), ACT_REWIND_AT },
    { IN_TRANSCRIPT, BOTH, PLAIN('z'), ACT_FOLD_LEVEL },
    { IN_TRANSCRIPT, BOTH, PLAIN('T'), ACT_THINKING },
    { IN_TRANSCRIPT, BOTH, PLAIN('s'), ACT_SUBAGENTS },
    { IN_TRANSCRIPT, BOTH, PLAIN('B'), ACT_BRANCHES },
    { IN_TRANSCRIPT, BOTH, PLAIN('i'), ACT_RAW },
    { IN_TRANSCRIPT, BOTH, PLAIN('y'), ACT_COPY },
    { IN_TRANSCRIPT, BOTH, PLAIN('e'), ACT_EXPORT },
    { IN_TRANSCRIPT, BOTH, CTRL('x'), ACT_MENU },
    { IN_TRANSCRIPT, BOTH, CTRL('o'), ACT_PRINT },

    { IN_REWIND, BOTH, PLAIN(KEYCODE_TAB), ACT_PANE },
    { IN_REWIND, BOTH, PLAIN(KEYCODE_RIGHT), ACT_PANE },
    { IN_REWIND, BOTH, PLAIN('l'), ACT_PANE },
    { IN_REWIND, BOTH, SHIFTED(KEYCODE_TAB), ACT_PANE_PREV },
    { IN_REWIND, BOTH, PLAIN(KEYCODE_LEFT), ACT_PANE_PREV },
    { IN_REWIND, BOTH, PLAIN('h'), ACT_PANE_PREV },
    { IN_REWIND, BOTH, PLAIN(KEYCODE_ENTER), ACT_ACCEPT },
    { IN_REWIND, BOTH, PLAIN(' '), ACT_TICK },
    { IN_REWIND, BOTH, PLAIN('*'), ACT_MARK_ALL },
    { IN_REWIND, BOTH, PLAIN('u'), ACT_UNDO },
    { IN_REWIND, BOTH, PLAIN('U'), ACT_REDO },
    { IN_REWIND, BOTH, PLAIN('}'), ACT_HUNK_NEXT },
    { IN_REWIND, BOTH, PLAIN('{'), ACT_HUNK_PREV },
    { IN_REWIND, BOTH, PLAIN('m'), ACT_MODE },
    { IN_REWIND, BOTH, PLAIN('o'), ACT_ONLY },
    { IN_REWIND, BOTH, PLAIN('i'), ACT_INFERRED },
    { IN_REWIND, BOTH, PLAIN('a'), ACT_APPLY },
    { IN_REWIND, BOTH, PLAIN('t'), ACT_TOUCHED },
    { IN_REWIND, BOTH, PLAIN('!'), ACT_BISECT },
    { IN_REWIND, BOTH, PLAIN('T'), ACT_TREE },
    { IN_REWIND, BOTH, SHIFTED(KEYCODE_UP), ACT_PREVIEW_UP },
    { IN_REWIND, BOTH, SHIFTED(KEYCODE_DOWN), ACT_PREVIEW_DOWN },
    { IN_REWIND, BOTH, PLAIN(KEYCODE_F1 + 4), ACT_REFRESH },

    { IN_SEARCH, BOTH, PLAIN(KEYCODE_ENTER), ACT_ACCEPT },
    { IN_SEARCH, BOTH, PLAIN(KEYCODE_ESC), ACT_BACK },
    { IN_SEARCH, BOTH, PLAIN(KEYCODE_DOWN), ACT_SEARCH_NEXT },
    { IN_SEARCH, BOTH, PLAIN(KEYCODE_UP), ACT_SEARCH_PREV },

    { IN_MENU, BOTH, PLAIN('q'), ACT_BACK },
    { IN_MENU, BOTH, PLAIN(KEYCODE_LEFT), ACT_PANE_PREV },
    { IN_MENU, BOTH, PLAIN(KEYCODE_RIGHT), ACT_PANE },
    { IN_MENU, BOTH, PLAIN(KEYCODE_HOME), ACT_FIRST },
    { IN_MENU, BOTH, PLAIN(KEYCODE_END), ACT_LAST },
    { IN_MENU, BOTH, PLAIN('r'), ACT_RESUME },
    { IN_MENU, BOTH, PLAIN('R'), ACT_RESUME_WITH },
    { IN_MENU, BOTH, PLAIN('v'), ACT_VIEW },
    { IN_MENU, BOTH, PLAIN('f'), ACT_FORK },
    { IN_MENU, BOTH, PLAIN('i'), ACT_CONTINUE_IN },
    { IN_MENU, BOTH, PLAIN('w'), ACT_REWIND },
    { IN_MENU, BOTH, PLAIN('n'), ACT_RENAME },
    { IN_MENU, BOTH, PLAIN('t'), ACT_TAG },
    { IN_MENU, BOTH, PLAIN('P'), ACT_PIN },
    { IN_MENU, BOTH, PLAIN('a'), ACT_ARCHIVE },
    { IN_MENU, BOTH, PLAIN('K'), ACT_KEEP },
    { IN_MENU, BOTH, PLAIN('d'), ACT_TRASH },
    { IN_MENU, BOTH, PLAIN('y'), ACT_COPY },
    { IN_MENU, BOTH, PLAIN('o'), ACT_EDIT },
    { IN_MENU, BOTH, PLAIN('e'), ACT_EXPORT },
    { IN_MENU, BOTH, PLAIN('z'), ACT_BUNDLE },
    { IN_MENU, BOTH, PLAIN('b'), ACT_BRANCHES },
    { IN_MENU, BOTH, PLAIN('c'), ACT_CLEANUP },
    { IN_MENU, BOTH, PLAIN('D'), ACT_TRASHED },
    { IN_MENU, BOTH, PLAIN('H'), ACT_LOG },
    { IN_MENU, BOTH, PLAIN('B'), ACT_BOARD },
    { IN_MENU, BOTH, PLAIN('C'), ACT_COMPARE },
    { IN_MENU, BOTH, PLAIN('$'), ACT_USAGE },
    { IN_MENU, BOTH, PLAIN('x'), ACT_DAMAGED },
    { IN_MENU, BOTH, PLAIN('X'), ACT_DOCTOR },
    { IN_MENU, BOTH, PLAIN('u'), ACT_UNDO },
    { IN_MENU, BOTH, PLAIN('U'), ACT_REDO },
    { IN_MENU, BOTH, PLAIN('L'), ACT_DENSITY },
    { IN_MENU, BOTH, PLAIN('p'), ACT_PRINT },
    { IN_MENU, BOTH, PLAIN('?'), ACT_HELP },

    { IN_DIALOG, BOTH, PLAIN('y'), ACT_YES },
    { IN_DIALOG, BOTH, PLAIN('n'), ACT_BACK },
    { IN_DIALOG, BOTH, PLAIN('q'), ACT_BACK },
    { IN_DIALOG, BOTH, PLAIN(KEYCODE_TAB), ACT_DOWN },

    { IN_BLAME, BOTH, PLAIN(KEYCODE_ENTER), ACT_VIEW },
    { IN_BLAME, BOTH, PLAIN(KEYCODE_RIGHT), ACT_VIEW },
    { IN_BLAME, VIM, PLAIN('l'), ACT_VIEW },
    { IN_BLAME, BOTH, PLAIN(KEYCODE_TAB), ACT_PANE },
    { IN_BLAME, BOTH, PLAIN(':'), ACT_LINE },
    { IN_BLAME, BOTH, PLAIN('L'), ACT_SIDE_RIGHT },
    { IN_BLAME, BOTH, SHIFTED(KEYCODE_RIGHT), ACT_SIDE_RIGHT },
    { IN_BLAME, BOTH, PLAIN('H'), ACT_SIDE_LEFT },
    { IN_BLAME, BOTH, SHIFTED(KEYCODE_LEFT), ACT_SIDE_LEFT },
    { IN_BLAME, BOTH, PLAIN('/'), ACT_SEARCH },
    { IN_BLAME, BOTH, PLAIN('n'), ACT_SEARCH_NEXT },
    { IN_BLAME, BOTH, PLAIN('N'), ACT_SEARCH_PREV },
    { IN_BLAME, BOTH, PLAIN(KEYCODE_LEFT), ACT_BACK },
    { IN_BLAME, VIM, PLAIN('h'), ACT_BACK },

    { IN_TRASH, BOTH, PLAIN('u'), ACT_UNDO },
    { IN_TRASH, BOTH, PLAIN('U'), ACT_REDO },
    { IN_TRASH, BOTH, PLAIN(KEYCODE_ENTER), ACT_RESTORE },
    { IN_TRASH, BOTH, PLAIN('r'), ACT_RESTORE },
    { IN_TRASH, BOTH, SHIFTED(KEYCODE_UP), ACT_PREVIEW_UP },
    { IN_TRASH, BOTH, ALT(KEYCODE_UP), ACT_PREVIEW_UP },
    { IN_TRASH, BOTH, SHIFTED(KEYCODE_DOWN), ACT_PREVIEW_DOWN },
    { IN_TRASH, BOTH, ALT(KEYCODE_DOWN), ACT_PREVIEW_DOWN },
    { IN_TRASH, BOTH, PLAIN(' '), ACT_MARK },
    { IN_TRASH, BOTH, PLAIN(KEYCODE_TAB), ACT_MARK },
    { IN_TRASH, BOTH, SHIFTED(KEYCODE_TAB), ACT_MARK_UP },
    { IN_TRASH, BOTH, PLAIN('*'), ACT_MARK_ALL },
    { IN_TRASH, BOTH, ALT('a'), ACT_MARK_ALL },
    { IN_TRASH, BOTH, PLAIN('/'), ACT_SEARCH },
    { IN_TRASH, BOTH, PLAIN('n'), ACT_SEARCH_NEXT },
    { IN_TRASH, BOTH, PLAIN('N'), ACT_SEARCH_PREV },
    { IN_TRASH, BOTH, PLAIN('E'), ACT_EMPTY },
    { IN_TRASH, BOTH, PLAIN(KEYCODE_LEFT), ACT_BACK },
    { IN_TRASH, VIM, PLAIN('h'), ACT_BACK },

    { IN_LOG, BOTH, PLAIN(KEYCODE_ENTER), ACT_UNDO_THIS },
    { IN_LOG, BOTH, PLAIN('b'), ACT_BACK_TO },
    { IN_LOG, BOTH, PLAIN('u'), ACT_UNDO },
    { IN_LOG, BOTH, PLAIN('U'), ACT_REDO },
    { IN_LOG, BOTH, CTRL('a'), ACT_SCOPE },
    { IN_LOG, BOTH, PLAIN(KEYCODE_LEFT), ACT_BACK },
    { IN_LOG, VIM, PLAIN('h'), ACT_BACK },

    { IN_BOARD, BOTH, PLAIN(KEYCODE_ENTER), ACT_GO },
    { IN_BOARD, BOTH, PLAIN(KEYCODE_RIGHT), ACT_VIEW },
    { IN_BOARD, VIM, PLAIN('l'), ACT_VIEW },
    { IN_BOARD, BOTH, PLAIN(KEYCODE_LEFT), ACT_BACK },
    { IN_BOARD, VIM, PLAIN('h'), ACT_BACK },

    { IN_COMPARE, BOTH, PLAIN('A'), ACT_TAKE_A },
    { IN_COMPARE, BOTH, PLAIN('B'), ACT_TAKE_B },
    { IN_COMPARE, BOTH, PLAIN(' '), ACT_PREVIEW_DOWN },
    { IN_COMPARE, BOTH, SHIFTED(KEYCODE_DOWN), ACT_PREVIEW_DOWN },
    { IN_COMPARE, BOTH, PLAIN('b'), ACT_PREVIEW_UP },
    { IN_COMPARE, BOTH, SHIFTED(KEYCODE_UP), ACT_PREVIEW_UP },
    { IN_COMPARE, BOTH, PLAIN(KEYCODE_LEFT), ACT_BACK },
    { IN_COMPARE, VIM, PLAIN('h'), ACT_BACK },

    { IN_TREE, BOTH, PLAIN(KEYCODE_ENTER), ACT_ACCEPT },
    { IN_TREE, BOTH, PLAIN(KEYCODE_RIGHT), ACT_ACCEPT },
    { IN_TREE, VIM, PLAIN('l'), ACT_ACCEPT },
    { IN_TREE, BOTH, PLAIN(KEYCODE_TAB), ACT_PANE },
    { IN_TREE, BOTH, PLAIN(' '), ACT_PREVIEW_DOWN },
    { IN_TREE, BOTH, SHIFTED(KEYCODE_DOWN), ACT_PREVIEW_DOWN },
    { IN_TREE, BOTH, PLAIN('b'), ACT_PREVIEW_UP },
    { IN_TREE, BOTH, SHIFTED(KEYCODE_UP), ACT_PREVIEW_UP },
    { IN_TREE, BOTH, PLAIN('['), ACT_PROMPT_PREV },
    { IN_TREE, BOTH, PLAIN(']'), ACT_PROMPT_NEXT },
    { IN_TREE, BOTH, PLAIN(KEYCODE_LEFT), ACT_BACK },
    { IN_TREE, VIM, PLAIN('h'), ACT_BACK },

    { IN_USAGE, BOTH, PLAIN(KEYCODE_ENTER), ACT_ACCEPT },
    { IN_USAGE, BOTH, PLAIN(KEYCODE_RIGHT), ACT_VALUE_NEXT },
    { IN_USAGE, BOTH, PLAIN(KEYCODE_TAB), ACT_VALUE_NEXT },
    { IN_USAGE, VIM, PLAIN('l'), ACT_VALUE_NEXT },
    { IN_USAGE, BOTH, PLAIN(KEYCODE_LEFT), ACT_VALUE_PREV },
    { IN_USAGE, BOTH, SHIFTED(KEYCODE_TAB), ACT_VALUE_PREV },
    { IN_USAGE, VIM, PLAIN('h'), ACT_VALUE_PREV },
    { IN_USAGE, BOTH, CTRL('a'), ACT_SCOPE },

    { IN_CLEANUP, BOTH, PLAIN('u'), ACT_UNDO },
    { IN_CLEANUP, BOTH, PLAIN('U'), ACT_REDO },
    { IN_CLEANUP, BOTH, PLAIN(KEYCODE_RIGHT), ACT_VALUE_NEXT },
    { IN_CLEANUP, VIM, PLAIN('l'), ACT_VALUE_NEXT },
    { IN_CLEANUP, BOTH, PLAIN(KEYCODE_LEFT), ACT_VALUE_PREV },
    { IN_CLEANUP, VIM, PLAIN('h'), ACT_VALUE_PREV },
    { IN_CLEANUP, BOTH, PLAIN(' '), ACT_MARK },
    { IN_CLEANUP, BOTH, PLAIN('*'), ACT_MARK_ALL },
    { IN_CLEANUP, BOTH, ALT('a'), ACT_MARK_ALL },
    { IN_CLEANUP, BOTH, PLAIN(KEYCODE_TAB), ACT_PANE },
    { IN_CLEANUP, BOTH, SHIFTED(KEYCODE_TAB), ACT_PANE_PREV },
    { IN_CLEANUP, BOTH, PLAIN(KEYCODE_ENTER), ACT_ACCEPT },
    { IN_CLEANUP, BOTH, PLAIN('d'), ACT_TRASH },
    { IN_CLEANUP, BOTH, PLAIN(KEYCODE_DELETE), ACT_TRASH },
    { IN_CLEANUP, BOTH, CTRL('s'), ACT_SORT },
    { IN_CLEANUP, BOTH, PLAIN('E'), ACT_PRUNE },

    { IN_DAMAGED, BOTH, PLAIN('u'), ACT_UNDO },
    { IN_DAMAGED, BOTH, PLAIN('U'), ACT_REDO },
    { IN_DAMAGED, BOTH, PLAIN(KEYCODE_ENTER), ACT_VIEW },
    { IN_DAMAGED, BOTH, PLAIN(KEYCODE_RIGHT), ACT_VIEW },
    { IN_DAMAGED, VIM, PLAIN('l'), ACT_VIEW },
    { IN_DAMAGED, BOTH, PLAIN('X'), ACT_DOCTOR },
    { IN_DAMAGED, BOTH, PLAIN('F'), ACT_FIX },
    { IN_DAMAGED, BOTH, PLAIN('r'), ACT_RESUME },
    { IN_DAMAGED, BOTH, PLAIN('d'), ACT_TRASH },
    { IN_DAMAGED, BOTH, PLAIN(KEYCODE_DELETE), ACT_TRASH },
    { IN_DAMAGED, BOTH, PLAIN('y'), ACT_COPY },
    { IN_DAMAGED, BOTH, CTRL('a'), ACT_SCOPE },
    { IN_DAMAGED, BOTH, CTRL('x'), ACT_MENU },
    { IN_DAMAGED, BOTH, PLAIN(KEYCODE_LEFT), ACT_BACK },
    { IN_DAMAGED, VIM, PLAIN('h'), ACT_BACK },

    { IN_DOCTOR, BOTH, PLAIN('u'), ACT_UNDO },
    { IN_DOCTOR, BOTH, PLAIN('U'), ACT_REDO },
    { IN_DOCTOR, BOTH, PLAIN('F'), ACT_FIX },
    { IN_DOCTOR, BOTH, PLAIN(KEYCODE_ENTER), ACT_VIEW },
    { IN_DOCTOR, BOTH, PLAIN(KEYCODE_RIGHT), ACT_VIEW },
    { IN_DOCTOR, VIM, PLAIN('l'), ACT_VIEW },
    { IN_DOCTOR, BOTH, PLAIN('o'), ACT_EDIT },
    { IN_DOCTOR, BOTH, PLAIN('y'), ACT_COPY },
    { IN_DOCTOR, BOTH, PLAIN(KEYCODE_LEFT), ACT_BACK },
    { IN_DOCTOR, VIM, PLAIN('h'), ACT_BACK },

    { IN_PROMPT, BOTH, PLAIN(KEYCODE_ENTER), ACT_ACCEPT },
    { IN_PROMPT, BOTH, PLAIN(KEYCODE_ESC), ACT_BACK },

    { IN_HELP, BOTH, PLAIN(KEYCODE_F1), ACT_BACK },
    { IN_HELP, BOTH, PLAIN(KEYCODE_ENTER), ACT_BACK },
    { IN_HELP, BOTH, CTRL('k'), ACT_UP },
    { IN_HELP, BOTH, PLAIN(KEYCODE_HOME), ACT_FIRST },
    { IN_HELP, BOTH, PLAIN(KEYCODE_END), ACT_LAST },

    { IN_ANY, BOTH, CTRL('c'), ACT_QUIT },
    { IN_ANY, BOTH, CTRL('z'), ACT_SUSPEND },
    { IN_ANY, BOTH, CTRL('l'), ACT_REDRAW },
    { IN_ANY, BOTH, PLAIN(KEYCODE_F1), ACT_HELP },
};
/* clang-format on */

enum { KEYMAP_ROWS = sizeof keymap / sizeof *keymap };

static bool is_bound(const struct keymap *k, enum key_context place, enum action a)
{
    for (size_t i = 0; i < k->bounds; i++)
        if (k->bound[i].place == place && k->bound[i].action == a)
            return true;
    return false;
}

static bool row_fits(const struct keymap *k, size_t i, enum key_context place)
{
    int at = keymap[i].place;

    if ((at != (int)place && at != (int)set_of(place)) || !(keymap[i].schemes & 1u << k->scheme))
        return false;
    return key_is_exit(keymap[i].key) || !is_bound(k, place, keymap[i].action);
}

static enum action find_bound(const struct keymap *k, enum key_context place, struct key key)
{
    for (size_t i = 0; i < k->bounds; i++)
        if (k->bound[i].place == place && key_eq(k->bound[i].key, key))
            return k->bound[i].action;
    return ACT_NONE;
}

static enum action find_at(const struct keymap *k, enum key_context place, struct key key)
{
    for (size_t i = 0; i < KEYMAP_ROWS; i++)
        if (row_fits(k, i, place) && key_eq(keymap[i].key, key))
            return keymap[i].action;
    return ACT_NONE;
}

enum action keymap_find(const struct keymap *k, enum key_context place, struct key key)
{
    enum action a = find_bound(k, place, key);

    if (a == ACT_NONE)
        a = find_bound(k, IN_ANY, key);
    if (a == ACT_NONE)
        a = find_at(k, place, key);
    if (a == ACT_NONE)
        a = find_at(k, IN_ANY, key);
    /* Alt+A is Alt+a where it has no meaning of its own: Caps Lock may be on. */
    if (a == ACT_NONE && key.mods == MOD_ALT && key.code >= 'A' && key.code <= 'Z')
        return keymap_find(k, place, (struct key){ key.code | 0x20, MOD_ALT });
    return a;
}

/* The next key of an action in `at`, from *i on, those of the configuration first; keys with another use are left out. */
static bool key_next_key(const struct keymap *k, enum key_context place, enum key_context at,
                         enum action a, size_t *i, struct key *out)
{
    while (*i < k->bounds + KEYMAP_ROWS) {
        size_t n = (*i)++;
        bool bound = n < k->bounds;
        size_t row = bound ? n : n - k->bounds;

        if (bound ? k->bound[row].place != at || k->bound[row].action != a
                  : keymap[row].action != a || !row_fits(k, row, at))
            continue;
        *out = bound ? k->bound[row].key : keymap[row].key;
        if (out->code != KEYCODE_NONE && keymap_find(k, place, *out) == a)
            return true;
    }
    return false;
}

bool keymap_is_bound(const struct keymap *k, enum key_context place, enum action a)
{
    return is_bound(k, place, a) || is_bound(k, IN_ANY, a);
}

bool keymap_key_of(const struct keymap *k, enum key_context place, enum action a, struct key *out)
{
    size_t here = 0, anywhere = 0;

    return key_next_key(k, place, place, a, &here, out) ||
           key_next_key(k, place, IN_ANY, a, &anywhere, out);
}

bool keymap_has(enum key_context place, enum action a)
{
    bool menu = false, in_menu = false;

    for (size_t i = 0; i < KEYMAP_ROWS; i++) {
        bool here = keymap[i].place == (int)place || keymap[i].place == (int)set_of(place);

        if (keymap[i].action == a && (here || keymap[i].place == IN_ANY))
            return true;
        menu |= here && keymap[i].action == ACT_MENU;
        in_menu |= keymap[i].place == IN_MENU && keymap[i].action == a;
    }
    return menu && in_menu;
}

void keymap_menu_keys(const struct keymap *k, enum key_context place, enum action a, bool ascii,
                      char out[KEYMAP_MENU_KEYS])
{
    struct key menu, letter;
    char name[KEY_NAME];

    out[0] = '\0';
    if (!keymap_key_of(k, place, ACT_MENU, &menu) || !keymap_key_of(k, IN_MENU, a, &letter))
        return;
    key_label(menu, ascii, out);
    key_label(letter, ascii, name);
    size_t n = strlen(out);

    out[n] = ' ';
    memcpy(out + n + 1, name, strlen(name) + 1);
}

void keymap_keys_of(const struct keymap *k, enum key_context place, enum action a, bool ascii,
                    char *out, size_t cap)
{
    size_t n = 0, i = 0;
    struct key key;

    out[0] = '\0';
    while (key_next_key(k, place, place, a, &i, &key)) {
        char name[KEY_NAME];

        key_label(key, ascii, name);
        size_t len = strlen(name);

        if (n + len + 2 > cap)
            return;
        if (n > 0)
            out[n++] = ' ';
        memcpy(out + n, name, len + 1);
        n += len;
    }
}

const char *keymap_text(const struct keymap *k, enum key_context place, bool ascii,
                        const char *text, char *out, size_t cap)
{
    size_t n = 0;

    while (*text && n + KEY_NAME < cap) {
        size_t len = strcspn(text, "{"), end = strcspn(text + len, "}");
        struct key key;
        char name[KEY_NAME] = "(no key)";

        len = len < cap - n - 1 ? len : cap - n - 1;
        memcpy(out + n, text, len);
        n += len;
        text += len;
        if (*text != '{' || n + KEY_NAME >= cap)
            break;
        enum action a = action_named((struct slice){ text + 1, end - 1 });

        if (keymap_key_of(k, place, a, &key))
            key_label(key, ascii, name);
        n += (size_t)snprintf(out + n, cap - n, "%s", name);
        text += end + 1;
    }
    out[n] = '\0';
    return out;
}

const char *keymap_context_name(enum key_context p)
{
    static const char *const names[] = {
#define X(id, name) name,
        KEY_CONTEXTS(X)
#undef X
    };
    return names[p];
}

bool keymap_is_text(const struct keymap *k, enum key_context place)
{
    if (place == IN_LIST)
        return k->scheme == KEYS_DEFAULT;
    return place == IN_FILTER || place == IN_SEARCH || place == IN_PROMPT || place == IN_HELP ||
           place == IN_ANY;
}
