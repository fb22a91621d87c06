#include "store/demo/play.h"

#include <string.h>

enum { SECOND = 1000 };

/* What each act takes, in seconds: a person types, a model thinks, tests run. */
static const int act_seconds[] = {
    [ACT_ASK] = 140, [ACT_SHELL] = 30, [ACT_THINK] = 6,    [ACT_SAY] = 9,
    [ACT_READ] = 2,  [ACT_EDIT] = 4,   [ACT_WRITE] = 7,    [ACT_RUN] = 14,
    [ACT_FAIL] = 14, [ACT_AGENT] = 95, [ACT_COMPACT] = 20, [ACT_STOP] = 11,
};

int64_t play_length_ms(const struct demo_session *s)
{
    int64_t seconds = 0;

    for (size_t i = s->shared; i < s->script->n; i++)
        seconds += act_seconds[s->script->step[i].act];
    return seconds * SECOND;
}

/* An assistant row with one block: text or thinking. */
static void play_words(struct play *p, const struct demo_step *step, const char *stop_reason)
{
    struct buf content = { 0 };
    struct jsonout j;
    bool thinking = step->act == ACT_THINK;

    jsonout_init(&j, &content);
    jsonout_open(&j, '[');
    jsonout_open(&j, '{');
    demo_log_member(&j, "type", thinking ? "thinking" : "text");
    demo_log_member(&j, thinking ? "thinking" : "text", step->arg[0]);
    if (thinking)
        demo_log_member(&j, "signature", "ZGVtbw==");
    jsonout_close(&j, '}');
    jsonout_close(&j, ']');
    if (!p->log.rc)
        p->log.rc = j.rc;
    demo_log_assistant(&p->log, buf_slice(&content), stop_reason);
    buf_fini(&content);
}

static void note_text(struct play *p, const char *open, const char *text, const char *close)
{
    struct buf whole = { 0 }, json = { 0 };
    struct jsonout j;

    jsonout_init(&j, &json);
    if (buf_add(&whole, slice_of(open)) || buf_add(&whole, slice_of(text)) ||
        buf_add(&whole, slice_of(close)))
        p->log.rc = ERR_NOMEM;
    jsonout_text(&j, buf_slice(&whole));
    if (!p->log.rc)
        p->log.rc = j.rc;
    demo_log_note(&p->log, buf_slice(&json));
    buf_fini(&whole);
    buf_fini(&json);
}

static enum err_code play_ask(struct play *p, const struct demo_step *step, struct err *e)
{
    p->last_prompt = slice_of(step->arg[0]);
    demo_log_prompt(&p->log, p->last_prompt);
    return demo_history_snapshot(&p->history, &p->log, e);
}

static void play_shell(struct play *p, const struct demo_step *step)
{
    demo_log_uuid(&p->log, p->log.turn);
    note_text(p, "<bash-input>", step->arg[0], "</bash-input>");
    note_text(p, "<bash-stdout>", step->arg[1], "</bash-stdout><bash-stderr></bash-stderr>");
}

static enum err_code play_stop(struct play *p, const struct demo_step *step, struct err *e)
{
    enum err_code rc = play_tool(p, step, e);

    if (!rc)
        demo_log_note(
            &p->log,
            SLICE("[{\"type\":\"text\",\"text\":\"[Request interrupted by user for tool use]\"}]"));
    return rc;
}

static bool ends_turn(const struct demo_session *s, size_t i)
{
    if (i + 1 == s->script->n)
        return s->end == END_WHOLE;
    enum demo_act next = s->script->step[i + 1].act;
    return next == ACT_ASK || next == ACT_SHELL;
}

static enum err_code play_step(struct play *p, size_t i, struct err *e)
{
    const struct demo_step *step = &p->log.session->script->step[i];
    bool last = ends_turn(p->log.session, i);

    switch (step->act) {
    case ACT_ASK: return play_ask(p, step, e);
    case ACT_SHELL: play_shell(p, step); return ERR_OK;
    case ACT_THINK:
    case ACT_SAY: play_words(p, step, last ? "end_turn" : "tool_use"); break;
    case ACT_COMPACT: demo_log_seam(&p->log, slice_of(step->arg[0])); return ERR_OK;
    case ACT_STOP: return play_stop(p, step, e);
    default: return play_tool(p, step, e);
    }
    if (last)
        demo_log_turn_end(&p->log);
    return ERR_OK;
}

/* The client died while it wrote: half of the last row is missing. */
static void tear(struct buf *out)
{
    size_t begin = out->n - 1;

    while (begin > 0 && out->p[begin - 1] != '\n')
        begin--;
    out->n -= (out->n - begin) / 2;
}

enum err_code play_session(struct play *p, int64_t began_ms, int64_t parent_began_ms, struct err *e)
{
    const struct demo_session *s = p->log.session;

    if (s->fork_of) {
        demo_log_seed(&p->log, s->fork_of);
        p->log.forked_from = s->fork_of;
    }
    p->log.clock_ms = s->fork_of ? parent_began_ms : began_ms;
    for (size_t i = 0; i < s->script->n; i++) {
        if (s->fork_of && i == s->shared) {
            demo_log_seed(&p->log, s->id);
            p->log.forked_from = NULL;
            p->log.clock_ms = began_ms;
        }
        p->log.clock_ms += act_seconds[s->script->step[i].act] * (int64_t)SECOND;
        enum err_code rc = play_step(p, i, e);
        if (rc)
            return rc;
    }
    if (s->end == END_WHOLE)
        demo_log_metadata(&p->log, p->last_prompt);
    else if (s->end == END_TORN && !p->log.rc)
        tear(&p->log.out);
    return p->log.rc ? err_set(e, p->log.rc, s->id, "write the demo") : ERR_OK;
}
