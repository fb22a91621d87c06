#ifndef TUI_SCREENS_DIALOGS_RESUME_VIEW_H
#define TUI_SCREENS_DIALOGS_RESUME_VIEW_H

#include <stddef.h>

#include "tui/config/resume_command.h"

/* Resuming a session once with other flags than the configured ones: a row for each choice that the agent is known to have,
 * one for any other flags, and one that resumes. Nothing is remembered. */
enum { RESUME_TEXT = 160 };

struct resume_view {
    const struct resume_choice *choice[RESUME_CHOICES_MAX];
    size_t choices;
    /* 0: as configured; then those of the choice, then the typed one */
    size_t value[RESUME_CHOICES_MAX];
    char typed[RESUME_CHOICES_MAX][RESUME_TEXT]; /* "": none */
    char flags[RESUME_TEXT];                     /* as a shell would read them */
    char session[RESUME_TEXT];                   /* its id: the list may be reloaded meanwhile */
    size_t at; /* the choices, the flags, then the row that resumes */
};

extern const struct view_ops view_resume_options;

#endif
