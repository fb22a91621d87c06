#include "tests/fault/changing.h"

enum trial_end changing_recover(struct yard *y)
{
    struct change_log *log;
    struct err e = { 0 };
    enum err_code rc = change_log_open(&y->env, &log, &e);

    if (!rc)
        change_log_close(log);
    return trial_end_of(rc, &e);
}

enum trial_end changing_undo(struct yard *y)
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

enum trial_end changing_redo(struct yard *y)
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
