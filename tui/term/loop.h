#ifndef TUI_TERM_LOOP_H
#define TUI_TERM_LOOP_H

#include "lite/base/err.h"
#include "tui/app/effect.h"
#include "tui/app/model.h"
#include "tui/jobs/jobs.h"
#include "tui/term/term.h"

/* The loop that drives the screen: waits for keys, answers of workers, signals, changed files and the model's own
 * clock, hands each to update as a message, carries out the effects, and draws once when nothing waits any more.
 * Nothing wakes it when nothing happens. */
struct loop_setup {
    struct job_context *context;
    struct term_options term;
    const char *editor; /* $VISUAL, $EDITOR; NULL: vi */
    int threads;
};

/* How the screen was left. */
struct outcome {
    /* EFFECT_RESUME, EFFECT_PRINT or EFFECT_QUIT; effect_fini frees it. Its rows are the model's. */
    struct effect chosen;
};

/* Runs until the model wants to leave, the terminal is gone or a signal asks to end; the terminal is then as it
 * was found, and no thread runs any more. */
MUST_CHECK enum err_code loop_run(const struct loop_setup *setup, struct model *model,
                                  struct outcome *out, struct err *e);

#endif
