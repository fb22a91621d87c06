#include "tests/sweeps/change_sweep.h"

enum trial_end change_sweep_recover(struct trial_dir *y)
{
    struct change_log *log;
    struct err e = { 0 };
    enum err_code rc = change_log_open(&y->env, &log, &e);

    if (!rc)
        change_log_close(log);
    return trial_end_of(rc, &e);
}

enum trial_end change_sweep_undo(struct trial_dir *y)
{
    struct change_log *log;
    struct err e = { 0 };
    enum err_code rc = change_log_open(&y->env, &log, &e);

    if (!rc) {
        rc = change_undo(log, NULL, NULL, &e);
        change_log_close(log);
    }
    return trial_end_of(rc, &e);
}

enum trial_end change_sweep_redo(struct trial_dir *y)
{
    struct change_log *log;
    struct err e = { 0 };
    enum err_code rc = change_log_open(&y->env, &log, &e);

    if (!rc) {
        rc = change_redo(log, NULL, &e);
        change_log_close(log);
    }
    return trial_end_of(rc, &e);
}
