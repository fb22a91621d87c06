#ifndef TUI_SCREENS_DIALOGS_RESUME_VIEW_H
#define TUI_SCREENS_DIALOGS_RESUME_VIEW_H

#include <stddef.h>

#include "tui/config/resume_command.h"

/* Resumes a session once with other flags than the configured ones: the dialog has a row for each
 * known option of the agent, one for any other flags, and one that resumes. The choices are not
 * saved. */
enum { RESUME_TEXT = 160 };

struct resume_view {
    const struct resume_choice *choice[RESUME_CHOICES_MAX];
    size_t choices;
    /* 0: as configured; then those of the choice, then the typed one */
    size_t value[RESUME_CHOICES_MAX];
    char typed[RESUME_CHOICES_MAX][RESUME_TEXT]; /* "": none */
    char flags[RESUME_TEXT];                     /* as a shell would read them */
    char session[RESUME_TEXT];                   /* its id, because the list may be reloaded */
    size_t at; /* the choices, the flags, then the row that resumes */
};

extern const struct view_ops view_resume_options;

#endif
