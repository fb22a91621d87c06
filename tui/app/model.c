#include "tui/app/model.h"

#include <stdlib.h>

#include "tui/app/view.h"
#include "tui/widgets/frame.h"

struct model *model_new(const struct settings *settings, int64_t now_ms)
{
    struct model *m = calloc(1, sizeof *m);

    if (!m)
        return NULL;
    m->settings = settings;
    m->now_ms = now_ms;
    m->depth = 1; /* the list */
    m->viewed = ENTRY_NONE;
    m->resume_flow.entry = ENTRY_NONE;
    m->damaged.entry = m->damaged.sought = m->doctor.entry = ENTRY_NONE;
    m->viewer = transcript_view_new(settings, REQUESTER_VIEWER);
    m->rewind = rewind_view_new(settings);
    if (!m->viewer || !m->rewind || !list_init(&m->list, settings, now_ms, &m->fx)) {
        model_free(m);
        return NULL;
    }
    list_track(&m->list, &m->viewed);
    list_track(&m->list, &m->damaged.entry);
    list_track(&m->list, &m->damaged.sought);
    list_track(&m->list, &m->doctor.entry);
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
    change_flow_clear(m);
    undo_flow_fini(&m->undo_flow);
    trash_view_fini(&m->trash);
    cleanup_fini(&m->cleanup);
    damaged_fini(&m->damaged);
    doctor_fini(&m->doctor);
    list_fini(&m->list);
    transcript_view_free(m->viewer);
    rewind_view_free(m->rewind);
    resume_dirs_free(m->resume_flow.place);
    free(m->chosen);
    effects_fini(&m->fx);
    free(m);
}

struct effects *model_effects(struct model *m)
{
    return &m->fx;
}

static int64_t earlier(int64_t a, int64_t b)
{
    if (a == TIME_NONE || b == TIME_NONE)
        return a == TIME_NONE ? b : a;
    return a < b ? a : b;
}

int64_t model_wake_ms(const struct model *m)
{
    int64_t at = earlier(list_wake_ms(&m->list), toast_wake_ms(&m->toast));

    at = earlier(at, cleanup_wake_ms(&m->cleanup, m->now_ms));
    at = earlier(at, damaged_wake_ms(&m->damaged, m->now_ms));
    at = earlier(at, doctor_wake_ms(&m->doctor, m->now_ms));
    if (m->pending_change.under_way > 0)
        at = earlier(at, frame_spinner_wake_ms(m->pending_change.since_ms, m->now_ms));
    return earlier(at, rewind_view_wake_ms(m->rewind));
}
