#include "tui/app/msg.h"

#include <stdlib.h>

void msg_resume_dirs_free(struct resume_dirs *p)
{
    if (!p)
        return;
    free(p->session_dir);
    free(p->main_worktree);
    free(p->present_dir);
    project_places_fini(&p->places);
    free(p);
}

bool msg_answers(const struct msg *m, unsigned asked, enum msg_kind kind)
{
    return asked != 0 && m->generation == asked && (m->kind == kind || m->kind == MSG_FAILED);
}

static void free_branches(struct branch_list *list)
{
    branch_list_fini(list);
    free(list);
}

static void free_trash(struct trash_list *list, struct ref_list *refs)
{
    trash_list_fini(list);
    free(list);
    ref_list_free(refs);
}

void msg_fini(struct msg *m)
{
    switch (m->kind) {
    case MSG_SESSIONS: ref_list_free(m->u.sessions); break;
    case MSG_LISTED: problem_list_free(m->u.listed.problems); break;
    case MSG_DISK_USAGE:
    case MSG_FULL_SCAN:
    case MSG_DESCRIBED: described_list_free(m->u.described); break;
    case MSG_TRANSCRIPT: conversation_free(m->u.conversation); break;
    case MSG_PASSAGES: conversation_passages_free(m->u.passages); break;
    case MSG_FOUND: search_hits_free(m->u.found); break;
    case MSG_CONTENT: content_hits_free(m->u.content); break;
    case MSG_USAGE: conversation_usage_free(m->u.token_usage); break;
    case MSG_SUBAGENTS: {
        struct subagent_list *list = m->u.subagents;

        subagent_list_fini(list);
        free(list);
    } break;
    case MSG_BRANCHES: free_branches(m->u.branches); break;
    case MSG_RESUME_DIRS: msg_resume_dirs_free(m->u.place); break;
    case MSG_CHECKPOINTS: preview_checkpoints_free(m->u.checkpoints); break;
    case MSG_PREVIEW: preview_free(m->u.preview); break;
    case MSG_TURN_FILES: turn_files_free(m->u.turn_files); break;
    case MSG_TURN_FILE: buf_fini(&m->u.turn_file.text); break;
    case MSG_COMPARISON: preview_comparison_free(m->u.comparison); break;
    case MSG_SWEEP: {
        struct sweep *sweep = m->u.sweep;

        sweep_fini(sweep);
        free(sweep);
    } break;
    case MSG_TRASH: free_trash(m->u.trash.list, m->u.trash.refs); break;
    case MSG_LOG: log_rows_free(m->u.log); break;
    case MSG_COMPARED: compared_sessions_free(m->u.compared); break;
    case MSG_USAGE_GROUPS: usage_groups_free(m->u.usage_groups); break;
    case MSG_BOARD: board_rows_free(m->u.board); break;
    case MSG_BISECT_OUTPUT:
    case MSG_BISECTED: buf_fini(&m->u.text); break;
    case MSG_BLAME: blame_rows_free(m->u.blame); break;
    case MSG_FINDINGS: findings_free(m->u.findings); break;
    case MSG_CHANGED: change_result_free(m->u.changed); break;
    case MSG_REWIND_DONE: name_list_free(m->u.rewind_summary.edited); break;
    case MSG_DELETE_ESTIMATE:
    case MSG_TERMINAL:
    case MSG_TICK:
    case MSG_KEY:
    case MSG_PASTE:
    case MSG_MOUSE:
    case MSG_RESIZE:
    case MSG_CONTINUE:
    case MSG_FILES_CHANGED:
    case MSG_SILENCE:
    case MSG_NOTICE:
    case MSG_EXPORTED:
    case MSG_PROGRESS:
    case MSG_FAILED: break;
    }
    *m = (struct msg){ .kind = MSG_TICK };
}
