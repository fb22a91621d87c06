#include "tui/app/model.h"

#include <stdlib.h>

#include "tui/app/view.h"
#include "tui/screens/blame/blame_view.h"
#include "tui/screens/dialogs/dialog.h"
#include "tui/screens/flows/flows.h"
#include "tui/screens/list/list.h"
#include "tui/screens/maintenance/cleanup.h"
#include "tui/screens/maintenance/maintenance.h"
#include "tui/screens/overview/overview.h"
#include "tui/screens/rewind/rewind.h"
#include "tui/screens/transcript/transcript.h"

/* The table of all views, and the model with the state of each. */

static const struct view_ops *const views[VIEW_COUNT] = {
    [VIEW_LIST] = &view_list,
    [VIEW_TRANSCRIPT] = &view_transcript,
    [VIEW_REWIND] = &view_rewind,
    [VIEW_TREE] = &view_tree,
    [VIEW_BISECT] = &view_bisect,
    [VIEW_BLAME] = &view_blame,
    [VIEW_CLEANUP] = &view_cleanup,
    [VIEW_DOCTOR] = &view_doctor,
    [VIEW_DAMAGED] = &view_damaged,
    [VIEW_TRASH] = &view_trash,
    [VIEW_LOG] = &view_log,
    [VIEW_BOARD] = &view_board,
    [VIEW_COMPARE] = &view_compare,
    [VIEW_USAGE] = &view_usage,
    [VIEW_MENU] = &view_menu,
    [VIEW_DIALOG] = &view_dialog,
    [VIEW_PROMPT] = &view_prompt,
    [VIEW_HELP] = &view_help,
    [VIEW_EXPORT] = &view_export,
    [VIEW_RESUME_OPTIONS] = &view_resume_options,
    [VIEW_CHANGE_FLOW] = &view_change_flow,
    [VIEW_RESUME_FLOW] = &view_resume_flow,
};

struct whole {
    struct model model; /* first, because callers hold a pointer to it */
    struct list list;
    struct tree_view tree;
    struct bisect_view bisect;
    struct blame_view blame;
    struct cleanup cleanup;
    struct doctor_view doctor;
    struct damaged_view damaged;
    struct trash_view trash;
    struct log_view log;
    struct board_view board;
    struct compare_view compare;
    struct usage_view usage;
    struct menu menu;
    struct dialog dialog;
    struct prompt prompt;
    struct help help;
    struct export_view export;
    struct resume_view resume_view;
    struct pending_change pending_change;
    struct undo_flow undo_flow;
    struct resume_flow resume_flow;
};

struct model *model_new(const struct settings *settings, int64_t now_ms)
{
    struct whole *w = calloc(1, sizeof *w);

    if (!w)
        return NULL;

    /* Each view is part of the model, which only points to it. */
    w->model = (struct model){
        .views = views,
        .stack = { VIEW_LIST },
        .depth = 1,
        .viewed = ENTRY_NONE,
        .list = &w->list,
        .tree = &w->tree,
        .bisect = &w->bisect,
        .blame = &w->blame,
        .cleanup = &w->cleanup,
        .doctor = &w->doctor,
        .damaged = &w->damaged,
        .trash = &w->trash,
        .log = &w->log,
        .board = &w->board,
        .compare = &w->compare,
        .usage = &w->usage,
        .menu = &w->menu,
        .dialog = &w->dialog,
        .prompt = &w->prompt,
        .help = &w->help,
        .export = &w->export,
        .resume_view = &w->resume_view,
        .pending_change = &w->pending_change,
        .undo_flow = &w->undo_flow,
        .resume_flow = &w->resume_flow,
    };
    w->resume_flow.entry = ENTRY_NONE;
    w->damaged.entry = w->damaged.sought = w->doctor.entry = w->menu.entry = ENTRY_NONE;

    struct model *m = &w->model;

    m->settings = settings;
    m->now_ms = now_ms;
    m->viewer = transcript_view_new(settings, REQUESTER_VIEWER);
    m->rewind = rewind_view_new(settings);
    if (!m->viewer || !m->rewind || !list_init(m->list, settings, &m->now_ms, &m->fx)) {
        model_free(m);
        return NULL;
    }
    list_track(m->list, &m->viewed);
    list_track(m->list, &m->damaged->entry);
    list_track(m->list, &m->damaged->sought);
    list_track(m->list, &m->doctor->entry);
    list_track(m->list, &m->menu->entry);
    return m;
}

bool model_rewind(struct model *m, const struct session_row *row)
{
    const struct rewind_start newest = { .time_ms = TIME_NONE, .live = row->flags & SESSION_LIVE };

    if (!rewind_view_open(m->rewind, &row->ref, session_row_title(row), newest, m->now_ms, &m->fx))
        return false;
    m->rewind_only = true;
    view_push(m, VIEW_REWIND);
    return true;
}

void model_free(struct model *m)
{
    if (!m)
        return;
    update_forget_held(m);
    change_flow_clear(m);
    agent_flow_clear(m);
    export_view_fini(m->export);
    undo_flow_fini(m->undo_flow);
    resume_flow_fini(m->resume_flow);
    trash_view_fini(m->trash);
    log_view_fini(m->log);
    board_view_fini(m->board);
    compare_view_fini(m->compare);
    usage_view_fini(m->usage);
    tree_view_fini(m->tree);
    bisect_view_fini(m->bisect);
    blame_view_fini(m->blame);
    cleanup_fini(m->cleanup);
    damaged_fini(m->damaged);
    doctor_fini(m->doctor);
    list_fini(m->list);
    transcript_view_free(m->viewer);
    rewind_view_free(m->rewind);
    effects_fini(&m->fx);
    free(m); /* frees the whole struct, which begins here */
}

struct effects *model_effects(struct model *m)
{
    return &m->fx;
}

bool model_esc_quits(const struct model *m)
{
    const struct view_ops *top = m->views[view_top(m)];

    return top->back_quits && top->back_quits(m) && !m->toast.text[0];
}

bool model_follows(const struct model *m)
{
    return view_is_open(m, VIEW_BOARD);
}

int64_t model_wake_ms(const struct model *m)
{
    int64_t at = toast_wake_ms(&m->toast);

    for (size_t i = 0; i < VIEW_COUNT; i++)
        if (m->views[i]->wake_ms)
            at = view_earlier(at, m->views[i]->wake_ms(m));
    return at;
}
