#include "store/demo/tool.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

void tool_init(struct tool *t, struct play *p, const char *name)
{
    memset(t, 0, sizeof *t);
    t->name = name;
    demo_log_call_id(&p->log, t->id);
    jsonout_init(&t->in, &t->input);
    jsonout_init(&t->out, &t->result);
    jsonout_open(&t->in, '{');
}

void tool_fini(struct tool *t)
{
    buf_fini(&t->input);
    buf_fini(&t->result);
    buf_fini(&t->text);
}

void tool_write_text(struct tool *t, const char *text)
{
    if (buf_add(&t->text, slice_of(text)))
        t->out.rc = ERR_NOMEM;
}

void tool_member_path(struct play *p, struct jsonout *j, const char *key, const char *path)
{
    char whole[PATH_MAX];

    snprintf(whole, sizeof whole, "%s/%s", p->cwd, path);
    demo_log_member(j, key, whole);
}

void tool_member(struct jsonout *j, const char *key, struct slice text)
{
    jsonout_key(j, key);
    jsonout_text(j, text);
}

void tool_call(struct play *p, struct tool *t)
{
    struct buf content = { 0 };
    struct jsonout j;

    jsonout_close(&t->in, '}');
    jsonout_init(&j, &content);
    jsonout_open(&j, '[');
    jsonout_open(&j, '{');
    demo_log_member(&j, "type", "tool_use");
    demo_log_member(&j, "id", t->id);
    demo_log_member(&j, "name", t->name);
    jsonout_key(&j, "input");
    jsonout_raw(&j, buf_slice(&t->input));
    jsonout_close(&j, '}');
    jsonout_close(&j, ']');
    if (!p->log.rc)
        p->log.rc = t->in.rc ? t->in.rc : j.rc;
    demo_log_assistant(&p->log, buf_slice(&content), "tool_use");
    memcpy(t->row, p->log.last, sizeof t->row);
    buf_fini(&content);
}

void tool_write_result(struct play *p, struct tool *t)
{
    struct buf content = { 0 };
    struct jsonout j;

    jsonout_init(&j, &content);
    jsonout_open(&j, '[');
    jsonout_open(&j, '{');
    demo_log_member(&j, "tool_use_id", t->id);
    demo_log_member(&j, "type", "tool_result");
    tool_member(&j, "content", buf_slice(&t->text));
    if (t->failed) {
        jsonout_key(&j, "is_error");
        jsonout_bool(&j, true);
    }
    jsonout_close(&j, '}');
    jsonout_close(&j, ']');
    if (!p->log.rc)
        p->log.rc = t->out.rc ? t->out.rc : j.rc;
    demo_log_tool_result(&p->log, &(struct demo_log_result){ .content_json = buf_slice(&content),
                                                             .result_json = buf_slice(&t->result),
                                                             .call_row = t->row });
    buf_fini(&content);
}
