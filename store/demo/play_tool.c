#include <string.h>

#include "store/demo/patch.h"
#include "store/demo/play.h"
#include "store/demo/tool.h"

/* "1\tfirst line" and so on, as a model is shown a file. */
static size_t number_lines(struct tool *t, struct slice text)
{
    struct slice line;
    bool torn;
    size_t n = 0;

    while (slice_line(&text, &line, &torn))
        if (buf_addf(&t->text, "%s%zu\t", n ? "\n" : "", n + 1) || buf_add(&t->text, line))
            t->out.rc = ERR_NOMEM;
        else
            n++;
    return n;
}

static enum err_code play_read(struct play *p, const struct world_file *f)
{
    struct tool t;

    tool_init(&t, p, "Read");
    tool_member_path(p, &t.in, "file_path", f->path);
    tool_call(p, &t);
    size_t lines = number_lines(&t, buf_slice(&f->text));
    jsonout_open(&t.out, '{');
    demo_log_member(&t.out, "type", "text");
    jsonout_key(&t.out, "file");
    jsonout_open(&t.out, '{');
    tool_member_path(p, &t.out, "filePath", f->path);
    tool_member(&t.out, "content", buf_slice(&f->text));
    jsonout_key(&t.out, "numLines");
    jsonout_int(&t.out, (int64_t)lines);
    jsonout_key(&t.out, "startLine");
    jsonout_int(&t.out, 1);
    jsonout_key(&t.out, "totalLines");
    jsonout_int(&t.out, (int64_t)lines);
    jsonout_close(&t.out, '}');
    jsonout_close(&t.out, '}');
    tool_write_result(p, &t);
    tool_fini(&t);
    return ERR_OK;
}

/* What both changing tools say at the end: the patch and what was there before. */
static void result_change(struct play *p, struct tool *t, const struct world_file *f,
                          struct slice before)
{
    jsonout_key(&t->out, "structuredPatch");
    patch_write(&t->out, before, buf_slice(&f->text));
    jsonout_key(&t->out, "userModified");
    jsonout_bool(&t->out, false);
    jsonout_close(&t->out, '}');
    if (buf_addf(&t->text, "The file %s/%s has been updated.", p->cwd, f->path))
        t->out.rc = ERR_NOMEM;
}

static enum err_code play_edit(struct play *p, const struct demo_step *step, struct world_file *f,
                               struct err *e)
{
    struct tool t;
    struct buf before = { 0 };
    struct slice old = slice_of(step->arg[1]), new = slice_of(step->arg[2]);

    tool_init(&t, p, "Edit");
    tool_member_path(p, &t.in, "file_path", f->path);
    tool_member(&t.in, "old_string", old);
    tool_member(&t.in, "new_string", new);
    tool_call(p, &t);
    enum err_code rc = demo_history_touch(&p->history, &p->log, f, e);
    if (!rc && buf_add(&before, buf_slice(&f->text)))
        rc = err_nomem(e);
    if (!rc)
        rc = world_edit(f, old, new, e);
    if (!rc) {
        jsonout_open(&t.out, '{');
        tool_member_path(p, &t.out, "filePath", f->path);
        tool_member(&t.out, "oldString", old);
        tool_member(&t.out, "newString", new);
        tool_member(&t.out, "originalFile", buf_slice(&before));
        result_change(p, &t, f, buf_slice(&before));
        tool_write_result(p, &t);
    }
    buf_fini(&before);
    tool_fini(&t);
    return rc;
}

static enum err_code play_write(struct play *p, const struct demo_step *step, struct world_file *f,
                                struct err *e)
{
    struct tool t;
    struct buf before = { 0 };
    bool fresh = !f->exists;

    tool_init(&t, p, "Write");
    tool_member_path(p, &t.in, "file_path", f->path);
    demo_log_member(&t.in, "content", step->arg[1]);
    tool_call(p, &t);
    enum err_code rc = demo_history_touch(&p->history, &p->log, f, e);
    if (!rc && (buf_add(&before, buf_slice(&f->text)) || world_write(f, slice_of(step->arg[1]))))
        rc = err_nomem(e);
    if (!rc) {
        jsonout_open(&t.out, '{');
        demo_log_member(&t.out, "type", fresh ? "create" : "update");
        tool_member_path(p, &t.out, "filePath", f->path);
        demo_log_member(&t.out, "content", step->arg[1]);
        jsonout_key(&t.out, "originalFile");
        if (fresh)
            jsonout_null(&t.out);
        else
            jsonout_text(&t.out, buf_slice(&before));
        result_change(p, &t, f, buf_slice(fresh ? &f->text : &before));
        tool_write_result(p, &t);
    }
    buf_fini(&before);
    tool_fini(&t);
    return rc;
}

static void result_failure(struct tool *t)
{
    struct buf text = { 0 };

    t->failed = true;
    if (buf_add(&text, SLICE("Error: ")) || buf_add(&text, buf_slice(&t->text)))
        t->out.rc = ERR_NOMEM;
    jsonout_text(&t->out, buf_slice(&text));
    buf_fini(&text);
}

static void result_output(struct tool *t, const char *output)
{
    jsonout_open(&t->out, '{');
    demo_log_member(&t->out, "stdout", output);
    demo_log_member(&t->out, "stderr", "");
    jsonout_key(&t->out, "interrupted");
    jsonout_bool(&t->out, false);
    jsonout_key(&t->out, "isImage");
    jsonout_bool(&t->out, false);
    jsonout_close(&t->out, '}');
}

static enum err_code play_run(struct play *p, const struct demo_step *step)
{
    struct tool t;

    tool_init(&t, p, "Bash");
    demo_log_member(&t.in, "command", step->arg[0]);
    tool_call(p, &t);
    if (step->act == ACT_RUN) {
        tool_write_text(&t, step->arg[1][0] ? step->arg[1] : "(no output)");
        result_output(&t, step->arg[1]);
    } else {
        tool_write_text(&t, step->act == ACT_STOP ? "The command was stopped." : step->arg[1]);
        result_failure(&t);
    }
    tool_write_result(p, &t);
    tool_fini(&t);
    return ERR_OK;
}

enum err_code play_tool(struct play *p, const struct demo_step *step, struct err *e)
{
    if (step->act == ACT_AGENT)
        return play_agent(p, step, e);
    if (step->act != ACT_READ && step->act != ACT_EDIT && step->act != ACT_WRITE)
        return play_run(p, step);

    struct world_file *f = world_file(p->world, p->log.session->project, step->arg[0]);
    if (!f)
        return err_set(e, ERR_USAGE, step->arg[0], "the demo has too many files");
    if (step->act == ACT_READ)
        return play_read(p, f);
    return step->act == ACT_EDIT ? play_edit(p, step, f, e) : play_write(p, step, f, e);
}
