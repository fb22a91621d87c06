#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "store/demo/files.h"
#include "store/demo/play.h"
#include "store/demo/tool.h"

enum { SECOND = 1000 };

/* An assistant row with one text. */
static void log_report(struct demo_log *l, const char *text)
{
    struct buf content = { 0 };
    struct jsonout j;

    jsonout_init(&j, &content);
    jsonout_open(&j, '[');
    jsonout_open(&j, '{');
    demo_log_member(&j, "type", "text");
    demo_log_member(&j, "text", text);
    jsonout_close(&j, '}');
    jsonout_close(&j, ']');
    if (!l->rc)
        l->rc = j.rc;
    demo_log_assistant(l, buf_slice(&content), "end_turn");
    buf_fini(&content);
}

static enum err_code put_agent_file(const struct play *p, const char *agent, const char *ending,
                                    struct slice bytes, struct err *e)
{
    char path[PATH_MAX];
    int n = snprintf(path, sizeof path, "%s/subagents/agent-%s%s", p->side, agent, ending);

    if (n < 0 || n >= PATH_MAX)
        return err_set(e, ERR_USAGE, p->side, "name the sub-agent: too long");
    return demo_put(path, bytes, p->log.clock_ms, e);
}

/* Its transcript: the prompt, one command, the report. It ends before the call is answered. */
static enum err_code put_transcript(struct play *p, const struct demo_step *step, const char *agent,
                                    struct err *e)
{
    const struct demo_step inside = { ACT_RUN, { step->arg[2], step->arg[3] } };
    struct play sub = { .cwd = p->cwd, .side = p->side, .world = p->world };

    demo_log_init(&sub.log, p->log.session, p->cwd, p->log.clock_ms - 80 * SECOND);
    demo_log_seed(&sub.log, agent);
    sub.log.agent = agent;
    demo_log_prompt(&sub.log, slice_of(step->arg[1]));
    sub.log.clock_ms += 30 * SECOND;
    enum err_code rc = play_tool(&sub, &inside, e);
    sub.log.clock_ms += 40 * SECOND;
    log_report(&sub.log, step->arg[4]);
    if (!rc)
        rc = sub.log.rc;
    if (!rc)
        rc = put_agent_file(&sub, agent, ".jsonl", buf_slice(&sub.log.out), e);
    demo_log_fini(&sub.log);
    return rc;
}

static enum err_code put_meta(const struct play *p, const struct demo_step *step, const char *agent,
                              const char *call_id, struct err *e)
{
    struct buf meta = { 0 };
    struct jsonout j;

    jsonout_init(&j, &meta);
    jsonout_open(&j, '{');
    demo_log_member(&j, "agentType", "Explore");
    demo_log_member(&j, "description", step->arg[0]);
    demo_log_member(&j, "toolUseId", call_id);
    jsonout_close(&j, '}');
    enum err_code rc = j.rc ? j.rc : put_agent_file(p, agent, ".meta.json", buf_slice(&meta), e);
    buf_fini(&meta);
    return rc;
}

/* "a" and 16 hex digits, as the client names them. */
static void name_agent(struct demo_log *l, char out[DEMO_UUID])
{
    demo_log_uuid(l, out);
    out[0] = 'a';
    memmove(out + 8, out + 9, 4);
    memmove(out + 12, out + 24, 5);
    out[17] = '\0';
}

enum err_code play_agent(struct play *p, const struct demo_step *step, struct err *e)
{
    struct tool t;
    char agent[DEMO_UUID];

    tool_init(&t, p, "Agent");
    name_agent(&p->log, agent);
    demo_log_member(&t.in, "description", step->arg[0]);
    demo_log_member(&t.in, "prompt", step->arg[1]);
    demo_log_member(&t.in, "subagent_type", "Explore");
    tool_call(p, &t);
    enum err_code rc = put_transcript(p, step, agent, e);
    if (!rc)
        rc = put_meta(p, step, agent, t.id, e);
    tool_write_text(&t, step->arg[4]);
    jsonout_open(&t.out, '{');
    demo_log_member(&t.out, "status", "completed");
    demo_log_member(&t.out, "prompt", step->arg[1]);
    demo_log_member(&t.out, "agentId", agent);
    demo_log_member(&t.out, "agentType", "Explore");
    jsonout_key(&t.out, "totalDurationMs");
    jsonout_int(&t.out, 70000);
    jsonout_key(&t.out, "totalToolUseCount");
    jsonout_int(&t.out, 1);
    jsonout_close(&t.out, '}');
    tool_write_result(p, &t);
    tool_fini(&t);
    return rc;
}
