#ifndef TUI_APP_ACTION_H
#define TUI_APP_ACTION_H

#include <stdbool.h>

#include "lite/base/slice.h"

/* All actions in one list, so that the enum, the names in the configuration, the words in footer
 * and menu, and the lines in the help cannot drift apart. */
#define ACTIONS(X)                                                                                 \
    X(NONE, "none", "", "")                                                                        \
    /* sessions */                                                                                 \
    X(RESUME, "resume", "resume", "resume the session")                                            \
    X(RESUME_WITH, "resume-with", "resume with", "resume once with other flags")                   \
    X(VIEW, "view", "read", "read the conversation")                                               \
    X(MARK, "mark", "mark", "mark the session and move down")                                      \
    X(MARK_UP, "mark-up", "mark up", "mark the session and move up")                               \
    X(MARK_ALL, "mark-all", "mark all", "mark every session in the list, or none")                 \
    X(PRINT, "print", "print", "print the choice and quit")                                        \
    X(MENU, "menu", "actions", "menu of all actions")                                              \
    X(FORK, "fork", "fork", "continue in a copy of the session")                                   \
    X(CONTINUE_IN, "continue-in", "continue in", "continue in another agent (asks first)")         \
    X(REWIND, "rewind", "rewind", "preview what a rewind would change")                            \
    X(RENAME, "rename", "rename", "rename the session")                                            \
    X(TAG, "tag", "tag", "tag the session")                                                        \
    X(PIN, "pin", "pin", "keep the session at the top of the list, or no longer")                  \
    X(ARCHIVE, "archive", "archive", "archive or unarchive the session")                           \
    X(KEEP, "keep", "keep", "keep a copy of the session, or put a kept one back")                  \
    X(TRASH, "delete", "delete", "move the session to the trash")                                  \
    X(COPY, "copy", "copy", "copy the session id; a message or a part")                            \
    X(EDIT, "edit", "open in editor", "open a copy of the transcript in the editor")               \
    X(EXPORT, "export", "export", "write to a file: Markdown, HTML, text or JSONL")                \
    X(BUNDLE, "bundle", "bundle", "one file that another machine can unpack (asks first)")         \
    X(CLEANUP, "cleanup", "clean up", "find sessions to delete")                                   \
    X(TRASHED, "trash", "trash", "browse the trash and restore from it")                           \
    X(BOARD, "board", "board", "the sessions that run now, those that wait for you first")         \
    X(GO, "go", "go to it", "go to the terminal in which the session runs")                        \
    X(COMPARE, "compare", "compare", "two marked sessions: where they part, prompts, files")       \
    X(TAKE_A, "take-a", "take A's", "the file as A left it, or hunks of it, into this project")    \
    X(TAKE_B, "take-b", "take B's", "the file as B left it, or hunks of it, into this project")    \
    X(USAGE, "usage", "usage", "what was used: tokens and cost by day, project, model")            \
    X(TREE, "tree", "tree", "all files as they were before the turn")                              \
    X(BISECT, "bisect", "bisect", "find the first turn after which a command fails")               \
    X(LOG, "log", "log", "what was changed; undo any of it, or everything since")                  \
    X(UNDO_THIS, "undo-this", "undo this", "undo the selected change (asks first)")                \
    X(BACK_TO, "back-to", "undo up to it",                                                         \
      "the state before it: list what has to be undone, and undo all of that")                     \
    X(DAMAGED, "damaged", "damaged", "list damaged sessions and files")                            \
    X(DOCTOR, "doctor", "doctor", "check the whole session for damage")                            \
    X(FIX, "fix", "repair", "repair what is safe to repair (asks first)")                          \
    X(RESTORE, "restore", "restore", "restore the marked sessions, or the selected one")           \
    X(EMPTY, "empty-trash", "empty", "delete the marked sessions for good, or empty the trash")    \
    X(PRUNE, "prune", "old records",                                                               \
      "remove old undo records and snapshots for good (asks first)")                               \
    X(UNDO, "undo", "undo", "undo the last change")                                                \
    X(REDO, "redo", "redo", "redo the last undone change")                                         \
    /* moving */                                                                                   \
    X(UP, "up", "up", "one line up")                                                               \
    X(DOWN, "down", "down", "one line down")                                                       \
    X(PAGE_UP, "page-up", "page up", "one page up")                                                \
    X(PAGE_DOWN, "page-down", "page down", "one page down")                                        \
    X(HALF_UP, "half-page-up", "half up", "half a page up")                                        \
    X(HALF_DOWN, "half-page-down", "half down", "half a page down")                                \
    X(FIRST, "first", "first", "to the beginning")                                                 \
    X(LAST, "last", "last", "to the end")                                                          \
    X(SIDE_LEFT, "scroll-left", "left", "long lines: half a screen to the left")                   \
    X(SIDE_RIGHT, "scroll-right", "right", "long lines: half a screen to the right")               \
    /* how the list looks */                                                                       \
    X(SCOPE, "scope", "scope", "this directory, its repository's worktrees, or all projects")      \
    X(SORT, "sort", "sort", "sort by recent, created, size or title")                              \
    X(PREVIEW, "preview", "preview", "show or hide the preview")                                   \
    X(PREVIEW_UP, "preview-up", "preview up", "scroll the preview up")                             \
    X(PREVIEW_DOWN, "preview-down", "preview down", "scroll the preview down")                     \
    X(DENSITY, "density", "density", "one or two lines per session")                               \
    X(REFRESH, "refresh", "refresh", "reload the sessions")                                        \
    X(FILTER, "filter", "filter", "filter the sessions")                                           \
    /* the transcript */                                                                           \
    X(PROMPT_PREV, "previous-prompt", "prev prompt", "to the previous prompt")                     \
    X(PROMPT_NEXT, "next-prompt", "next prompt", "to the next prompt")                             \
    X(UNFOLD, "unfold", "unfold", "the block under the cursor: folded, its first lines, all")      \
    X(UNFOLD_OR_PAGE, "unfold-or-page", "unfold",                                                  \
      "the block under the cursor: folded, its first lines, all; else a page down")                \
    X(FOLD_LEVEL, "fold-level", "folds", "fold everything, only tools, or nothing")                \
    X(THINKING, "thinking", "thinking", "show or hide the agent's thinking")                       \
    X(SUBAGENTS, "subagents", "sub-agents", "list the sub-agents")                                 \
    X(BRANCHES, "branches", "branches", "forks, or other branches of the conversation")            \
    X(RAW, "raw", "raw", "show the raw entry")                                                     \
    X(SEARCH, "search", "search", "search the conversation")                                       \
    X(LINE, "line", "line", "go to a line by its number")                                          \
    X(SEARCH_NEXT, "search-next", "next", "to the next match")                                     \
    X(SEARCH_PREV, "search-previous", "previous", "to the previous match")                         \
    X(RESUME_AT, "resume-at", "resume here", "resume the session after this message")              \
    X(FORK_AT, "fork-at", "fork here", "fork: a copy that ends with this message")                 \
    X(REWIND_AT, "rewind-at", "rewind here", "rewind to before this message")                      \
    /* the rewind */                                                                               \
    X(PANE, "next-pane", "pane", "next pane: turns, files, diff")                                  \
    X(PANE_PREV, "previous-pane", "pane back", "previous pane")                                    \
    X(TICK, "tick", "tick", "include or exclude the file, in the diff the hunk")                   \
    X(HUNK, "hunk", "hunk", "include or exclude the hunk")                                         \
    X(HUNK_NEXT, "next-hunk", "next hunk", "to the next hunk")                                     \
    X(HUNK_PREV, "previous-hunk", "prev hunk", "to the previous hunk")                             \
    X(MODE, "mode", "mode", "rewind files, conversation, or both")                                 \
    X(ONLY, "only", "this turn", "undo only this turn and keep the later ones")                    \
    X(INFERRED, "inferred", "at the point", "files as of this turn, inferred from its edits")      \
    X(TOUCHED, "touched", "history",                                                               \
      "sessions and turns that touched the file, and who wrote its lines")                         \
    X(APPLY, "apply", "apply", "rewind the ticked files (asks first)")                             \
    /* everywhere */                                                                               \
    X(ACCEPT, "accept", "choose", "choose the selected line")                                      \
    X(YES, "yes", "yes", "answer a question with yes")                                             \
    X(BACK, "back", "back", "one step back")                                                       \
    X(HELP, "help", "help", "all keys")                                                            \
    X(SUSPEND, "suspend", "suspend", "suspend reprise (fg brings it back)")                        \
    X(REDRAW, "redraw", "redraw", "redraw the screen")                                             \
    X(VALUE_NEXT, "next-value", "more", "the next value of the rule")                              \
    X(VALUE_PREV, "previous-value", "less", "the previous value of the rule")                      \
    X(QUIT, "quit", "quit", "quit without choosing")

enum action {
#define X(id, name, title, help) ACT_##id,
    ACTIONS(X)
#undef X
        ACT_COUNT
};

const char *action_name(enum action a); /* "page-up": in the configuration */
/* ACT_NONE: no action has this name. */
enum action action_named(struct slice name);
const char *action_title(enum action a); /* "page up": in footer and menu */
/* Something is typed right after its key: a title, a tag, or a letter of the menu. */
bool action_prompts(enum action a);
const char *action_help(enum action a); /* "one page up": in help */

#endif
