#ifndef TUI_SCREENS_DIALOGS_EXPORT_VIEW_H
#define TUI_SCREENS_DIALOGS_EXPORT_VIEW_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lite/base/id.h"
#include "store/export/export.h"
#include "tui/data/ref_list.h"

/* Exports a session, or the marked ones into a directory. The dialog shows the options of `reprise
 * export` as rows, and the name of the file. It stays open while the file is written, and Esc
 * cancels the export. If the file exists, confirming again replaces it. */
enum export_row {
    EXPORT_ROW_FORMAT,
    EXPORT_ROW_TOOLS,
    EXPORT_ROW_THINKING,
    EXPORT_ROW_SUBAGENTS,
    EXPORT_ROW_SECRETS,
    EXPORT_ROW_MESSAGES,
    EXPORT_ROW_FILE,
    EXPORT_ROW_WRITE,
    EXPORT_ROWS
};

enum export_messages { EXPORT_ALL_MESSAGES, EXPORT_FROM_MESSAGE, EXPORT_TO_MESSAGE };

struct export_view {
    struct ref_list *session; /* owned; NULL: never opened; several: one file each */
    struct id128 leaf;        /* of the branch that is read; none: no branch */
    struct id128 message;     /* under the cursor; none: no such message */
    enum export_format format;
    enum export_tools tools;
    enum export_messages messages;
    bool thinking, subagents, redact;
    bool named;  /* the person chose the name of the file */
    bool exists; /* the file exists: confirming again replaces it */
    char path[PATH_MAX];
    char title[128];
    size_t at;        /* the selected row */
    unsigned writing; /* generation of EFFECT_EXPORT; 0: nothing is written */
};

void export_view_fini(struct export_view *v);

extern const struct view_ops view_export;

#endif
