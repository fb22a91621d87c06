#ifndef TUI_TERM_LOOP_H
#define TUI_TERM_LOOP_H

#include "lite/base/err.h"
#include "tui/app/effect.h"
#include "tui/app/model.h"
#include "tui/jobs/jobs.h"
#include "tui/term/term.h"

/* The loop that drives the screen. It waits for keys, replies of workers, signals, changed files
 * and the model's own clock, passes each to update() as a message, carries out the effects, and
 * draws once when nothing else is waiting. It does not wake up if nothing happens. */
struct loop_setup {
    struct job_context *context;
    struct term_options term;
    /* The theme to use if the terminal, when asked, reports a light background. */
    const struct theme *light;
    const char *editor;   /* $VISUAL, $EDITOR; NULL: vi */
    const char *temp_dir; /* for what the editor opens */
};

/* How the screen was left: EFFECT_RESUME, EFFECT_PRINT or EFFECT_QUIT. effect_fini() frees it; its rows belong to the
 * model. */
struct outcome {
    struct effect chosen;
};

/* Runs until the model quits, the terminal is gone or a signal asks the program to end. The terminal is then restored,
 * and no worker is running. */
MUST_CHECK enum err_code loop_run(const struct loop_setup *setup, struct model *model,
                                  struct outcome *out, struct err *e);

#endif
