#ifndef TUI_ACTION_H
#define TUI_ACTION_H

/* Everything a person can do, once: the enum, the name in the configuration, the word in footer and menu, and
 * the line in help cannot drift apart. */
#define ACTIONS(X)                                                                                 \
    X(NONE, "none", "", "")                                                                        \
    /* sessions */                                                                                 \
    X(RESUME, "resume", "resume", "take the session up again")                                     \
    X(VIEW, "view", "view", "read the whole conversation")                                         \
    X(MARK, "mark", "mark", "mark the session and move down")                                      \
    X(MARK_UP, "mark-up", "mark up", "mark the session and move up")                               \
    X(MARK_ALL, "mark-all", "mark all", "mark every session shown, or none")                       \
    X(PRINT, "print", "print", "print the choice and leave")                                       \
    X(MENU, "menu", "more", "menu of everything that can be done")                                 \
    X(FORK, "fork", "fork", "continue in a copy of the session")                                   \
    X(REWIND, "rewind", "rewind", "show what going back would change")                             \
    X(RENAME, "rename", "rename", "give the session a title")                                      \
    X(TAG, "tag", "tag", "give the session a tag")                                                 \
    X(ARCHIVE, "archive", "archive", "put the session aside, or take it back")                     \
    X(TRASH, "delete", "delete", "move the session to the trash")                                  \
    X(COPY, "copy", "yank", "copy the session's id, or the text shown")                            \
    X(EDIT, "edit", "open in editor", "open the transcript in the editor")                         \
    X(CLEANUP, "cleanup", "cleanup", "find sessions to throw away")                                \
    X(TRASHED, "trash", "trash", "see what was deleted, and take it back")                         \
    X(DAMAGED, "damaged", "damaged", "sessions and files in which something is wrong")             \
    X(DOCTOR, "doctor", "doctor", "look through all of the session for damage")                    \
    X(FIX, "fix", "repair", "repair what can be repaired safely: asks first")                      \
    X(RESTORE, "restore", "restore", "take what is marked out of the trash, or the selected one")  \
    X(EMPTY, "empty-trash", "empty", "remove what is marked for good, or all of the trash")        \
    X(UNDO, "undo", "undo", "take the last change back")                                           \
    X(REDO, "redo", "redo", "make the last change again")                                          \
    /* moving */                                                                                   \
    X(UP, "up", "up", "one line up")                                                               \
    X(DOWN, "down", "down", "one line down")                                                       \
    X(PAGE_UP, "page-up", "page up", "one page up")                                                \
    X(PAGE_DOWN, "page-down", "page down", "one page down")                                        \
    X(HALF_UP, "half-page-up", "half up", "half a page up")                                        \
    X(HALF_DOWN, "half-page-down", "half down", "half a page down")                                \
    X(FIRST, "first", "first", "to the beginning")                                                 \
    X(LAST, "last", "last", "to the end")                                                          \
    /* how the list looks */                                                                       \
    X(SCOPE, "scope", "scope", "here, the repository's worktrees, or everywhere")                  \
    X(SORT, "sort", "sort", "recent, created, size or title first")                                \
    X(PREVIEW, "preview", "preview", "show or hide the conversation beside the list")              \
    X(PREVIEW_UP, "preview-up", "preview up", "scroll the preview up")                             \
    X(PREVIEW_DOWN, "preview-down", "preview down", "scroll the preview down")                     \
    X(DENSITY, "density", "density", "one or two lines for each session")                          \
    X(REFRESH, "refresh", "refresh", "look for sessions again")                                    \
    X(FILTER, "filter", "filter", "type what to look for")                                         \
    /* the transcript */                                                                           \
    X(PROMPT_PREV, "previous-prompt", "prev prompt", "to the previous prompt")                     \
    X(PROMPT_NEXT, "next-prompt", "next prompt", "to the next prompt")                             \
    X(UNFOLD, "unfold", "unfold", "open or close what is folded here")                             \
    X(FOLD_LEVEL, "fold-level", "folds", "fold everything, tools only, or nothing")                \
    X(THINKING, "thinking", "thinking", "show or hide the agent's thinking")                       \
    X(SUBAGENTS, "subagents", "subagents", "read what a sub-agent did")                            \
    X(BRANCHES, "branches", "branches", "forks, or the other branches of a conversation")          \
    X(RAW, "raw", "raw", "show the entry as it is stored")                                         \
    X(SEARCH, "search", "search", "look for text in the conversation")                             \
    X(SEARCH_NEXT, "search-next", "next", "to the next place found")                               \
    X(SEARCH_PREV, "search-previous", "previous", "to the previous place found")                   \
    X(RESUME_AT, "resume-at", "resume here", "take the session up again after this message")       \
    X(FORK_AT, "fork-at", "fork here", "continue in a copy that ends here")                        \
    X(REWIND_AT, "rewind-at", "rewind here", "go back to before this message")                     \
    /* the rewind */                                                                               \
    X(PANE, "next-pane", "pane", "to the turns, the files, the changes of a file")                 \
    X(PANE_PREV, "previous-pane", "pane back", "the other way round")                              \
    X(TICK, "tick", "file", "take the file along, or leave it as it is")                           \
    X(HUNK, "hunk", "hunk", "take this change of the file along, or leave it")                     \
    X(HUNK_NEXT, "next-hunk", "next hunk", "to the next change of the file")                       \
    X(HUNK_PREV, "previous-hunk", "prev hunk", "to the previous change of the file")               \
    X(MODE, "mode", "mode", "go back with the files, the conversation, or both")                   \
    X(ONLY, "only", "this turn", "take back this turn alone, and keep what came after it")         \
    X(INFERRED, "inferred", "at the point", "the files as they were at the point, told by edits")  \
    X(APPLY, "apply", "apply", "go back: asks once, then does what is ticked")                     \
    /* everywhere */                                                                               \
    X(ACCEPT, "accept", "choose", "choose what is selected")                                       \
    X(BACK, "back", "back", "one step back")                                                       \
    X(HELP, "help", "help", "all keys")                                                            \
    X(SUSPEND, "suspend", "suspend", "put reprise to sleep (fg wakes it)")                         \
    X(REDRAW, "redraw", "redraw", "paint the screen again")                                        \
    X(VALUE_NEXT, "next-value", "more", "the next value of the rule")                              \
    X(VALUE_PREV, "previous-value", "less", "the value before it")                                 \
    X(QUIT, "quit", "quit", "leave without choosing")

enum action {
#define X(id, name, title, help) ACT_##id,
    ACTIONS(X)
#undef X
        ACT_COUNT
};

const char *action_name(enum action a);  /* "page-up": in the configuration */
const char *action_title(enum action a); /* "page up": in footer and menu */
const char *action_help(enum action a);  /* "one page up": in help */

#endif
