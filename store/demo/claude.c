#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "lite/base/arena.h"
#include "lite/base/cleanup.h"
#include "lite/base/digest.h"
#include "store/demo/demo.h"
#include "store/demo/demo_internal.h"
#include "store/snapshots/snapshot.h"
#include "store/systems/common/config_dir.h"

/* The sessions of Claude Code: each script of the story is played step by step, which appends rows to a transcript and
 * changes the files of the projects. Checkpoints are those of the client (docs/formats/claude.md C2). */

enum { FILES_MAX = 32 };

/* The files of all projects as they are at the present step. */
struct world {
    const char *dir; /* The directory of the demo. */
    struct demo_file file[FILES_MAX];
    size_t n;
};

/* ---- files ---- */

/* Returns NULL if there are too many files. */
static struct demo_file *find_file(struct world *w, const char *project, const char *path)
{
    for (size_t i = 0; i < w->n; i++)
        if (strcmp(w->file[i].project, project) == 0 && strcmp(w->file[i].path, path) == 0)
            return &w->file[i];
    if (w->n == FILES_MAX)
        return NULL;
    w->file[w->n] = (struct demo_file){ .project = project, .path = path };
    return &w->file[w->n++];
}

static enum err_code demo_write_file(struct demo_file *f, struct slice text)
{
    f->text.n = 0;
    f->exists = true;
    return buf_add(&f->text, text);
}

/* Replaces the first occurrence of `old`. */
static enum err_code demo_edit_file(struct demo_file *f, struct slice old, struct slice new,
                                    struct err *e)
{
    const char *at = slice_find(f->text.p, f->text.n, old.p, old.n);
    struct buf after = { 0 };

    if (!at)
        return err_set(e, ERR_FORMAT, f->path, "the demo edits text that is not there");
    size_t before = (size_t)(at - f->text.p);
    enum err_code rc = buf_add(&after, (struct slice){ f->text.p, before });

    if (!rc)
        rc = buf_add(&after, new);
    if (!rc)
        rc = buf_add(&after, (struct slice){ at + old.n, f->text.n - before - old.n });
    buf_fini(&f->text);
    f->text = after;
    return rc;
}

/* ---- checkpoints ---- */

/* Saves the present content of a file as the next version: <16 hex digits of sha256(path)>@v<version>. */
static void back_up(struct demo_writer *p, struct backup *b)
{
    char path[PATH_MAX];
    uint8_t sum[SHA256_BYTES];

    b->version++;
    b->changed = false;
    b->at_ms = p->clock_ms;
    b->name[0] = '\0';
    if (!b->file->exists || p->rc)
        return;
    demo_writer_note(p, DEMO_JOIN(path, p->e, p->cwd, "/", b->file->path));
    if (p->rc)
        return;
    if (!digest_of(DIGEST_SHA256, slice_of(path), sum)) {
        demo_writer_note(p, digest_error(p->e));
        return;
    }
    digest_hex(sum, 8, b->name);
    snprintf(b->name + 16, sizeof b->name - 16, "@v%u", b->version);
    if (!p->rc)
        demo_writer_note(p, DEMO_JOIN(path, p->e, p->history, "/", b->name));
    if (!p->rc)
        demo_writer_note(p, demo_put(path, buf_slice(&b->file->text), p->clock_ms, p->e));
}

static void demo_add_backup(struct demo_writer *p, const struct backup *b)
{
    char parent[PATH_MAX];
    const char *slash = strrchr(b->file->path, '/');
    int depth = slash ? (int)(slash - b->file->path) : 0;

    snprintf(parent, sizeof parent, "%s%s%.*s", p->cwd, depth ? "/" : "", depth, b->file->path);
    demo_writer_note(
        p,
        demo_json(&p->out, "{'backupFileName':$s,'version':$d,'backupTime':$t,'realParentDir':$s}",
                  b->name[0] ? b->name : NULL, (int64_t)b->version, b->at_ms, parent));
}

/* Called after the row of a prompt: backs up the files that changed since the last one. */
static void demo_add_snapshot(struct demo_writer *p)
{
    for (size_t i = 0; i < p->backups; i++)
        if (p->backup[i].changed)
            back_up(p, &p->backup[i]);
    demo_writer_note(p, demo_json(&p->out,
                                  "{'type':'file-history-snapshot','messageId':$s,"
                                  "'snapshot':{'messageId':$s,'trackedFileBackups':{",
                                  p->prompt, p->prompt));
    for (size_t i = 0; i < p->backups; i++) {
        demo_writer_note(p, demo_json(&p->out, i ? ",$s:" : "$s:", p->backup[i].file->path));
        demo_add_backup(p, &p->backup[i]);
    }
    demo_writer_note(
        p, demo_json(&p->out, "},'timestamp':$t},'isSnapshotUpdate':false}\n", p->clock_ms));
}

/* Called between the row of a tool call and the change that it makes. */
static void track_file(struct demo_writer *p, const struct demo_file *f)
{
    for (size_t i = 0; i < p->backups; i++)
        if (p->backup[i].file == f) {
            p->backup[i].changed = true;
            return;
        }
    if (p->backups == BACKUPS_MAX) {
        demo_writer_note(
            p, err_set(p->e, ERR_USAGE, f->path, "one demo session edits too many files"));
        return;
    }
    struct backup *b = &p->backup[p->backups++];

    *b = (struct backup){ .file = f };
    back_up(p, b);
    b->changed = true;
    demo_writer_note(p,
                     demo_json(&p->out,
                               "{'type':'file-history-delta','messageId':$s,'snapshotMessageId':$s,"
                               "'trackingPath':$s,'backup':",
                               p->last, p->prompt, f->path));
    demo_add_backup(p, b);
    demo_writer_note(p, demo_json(&p->out, ",'timestamp':$t}\n", p->clock_ms));
}

/* ---- tools ---- */

struct call {
    char id[32], row[UUID];
    struct buf text;   /* the result for the model */
    struct buf result; /* the result that the client keeps: toolUseResult */
};

/* Adds the row of the call; `form` is that of its input. Sets c->id. */
static void demo_add_call(struct demo_writer *p, struct call *c, const char *name, const char *form,
                          ...)
{
    struct buf content = { 0 };
    va_list args;

    demo_writer_note(
        p, demo_json(&content, "[{'type':'tool_use','id':$s,'name':$s,'input':", c->id, name));
    va_start(args, form);
    demo_writer_note(p, demo_json_list(&content, form, args));
    va_end(args);
    demo_writer_note(p, buf_add(&content, SLICE("}]")));
    demo_writer_add_assistant(p, &content, "tool_use");
    memcpy(c->row, p->last, sizeof c->row);
    buf_fini(&content);
}

/* Adds the row of the result; frees the call. */
static void demo_add_result(struct demo_writer *p, struct call *c, bool failed)
{
    demo_writer_add_row(p,
                        USER_ROW "[{'tool_use_id':$s,'type':'tool_result','content':$z$r}]},"
                                 "'toolUseResult':$r,'sourceToolAssistantUUID':$s",
                        p->turn, c->id, buf_slice(&c->text),
                        failed ? SLICE(",\"is_error\":true") : SLICE(""), buf_slice(&c->result),
                        c->row);
    demo_writer_begin_answer(p);
    buf_fini(&c->text);
    buf_fini(&c->result);
}

static void demo_writer_read(struct demo_writer *p, const struct demo_file *f, struct call *c)
{
    struct slice rest = buf_slice(&f->text), line;
    int64_t n = 0;
    bool torn;

    demo_add_call(p, c, "Read", "{'file_path':'$e/$e'}", p->cwd, f->path);
    for (; slice_line(&rest, &line, &torn); n++)
        demo_writer_note(p, buf_addf(&c->text, "%s%lld\t%.*s", n ? "\n" : "", (long long)n + 1,
                                     SLICE_ARG(line)));
    demo_writer_note(
        p, demo_json(&c->result,
                     "{'type':'text','file':{'filePath':'$e/$e','content':$z,'numLines':$d,"
                     "'startLine':1,'totalLines':$d}}",
                     p->cwd, f->path, buf_slice(&f->text), n, n));
    demo_add_result(p, c, false);
}

/* Ends an edit or a write with its patch. Frees `before`. */
static void end_change(struct demo_writer *p, const struct demo_file *f, struct buf *before,
                       struct call *c)
{
    struct slice now = buf_slice(&f->text);

    demo_writer_note(p, buf_add(&c->result, SLICE(",\"structuredPatch\":")));
    demo_writer_note(p, demo_patch(&c->result, before->p ? buf_slice(before) : now, now));
    demo_writer_note(p, buf_add(&c->result, SLICE(",\"userModified\":false}")));
    demo_writer_note(p, buf_addf(&c->text, "The file %s/%s has been updated.", p->cwd, f->path));
    demo_add_result(p, c, false);
    buf_fini(before);
}

static void demo_writer_edit(struct demo_writer *p, const struct demo_step *step,
                             struct demo_file *f, struct call *c)
{
    const char *old = step->arg[1], *new = step->arg[2];
    struct buf before = { 0 };

    demo_add_call(p, c, "Edit", "{'file_path':'$e/$e','old_string':$s,'new_string':$s}", p->cwd,
                  f->path, old, new);
    track_file(p, f);
    demo_writer_note(p, buf_add(&before, buf_slice(&f->text)));
    demo_writer_note(p, demo_edit_file(f, slice_of(old), slice_of(new), p->e));
    demo_writer_note(
        p,
        demo_json(&c->result, "{'filePath':'$e/$e','oldString':$s,'newString':$s,'originalFile':$z",
                  p->cwd, f->path, old, new, buf_slice(&before)));
    end_change(p, f, &before, c);
}

static void demo_writer_write(struct demo_writer *p, const struct demo_step *step,
                              struct demo_file *f, struct call *c)
{
    struct buf before = { 0 };
    bool fresh = !f->exists;

    demo_add_call(p, c, "Write", "{'file_path':'$e/$e','content':$s}", p->cwd, f->path,
                  step->arg[1]);
    track_file(p, f);
    if (!fresh)
        demo_writer_note(p, buf_add(&before, buf_slice(&f->text)));
    demo_writer_note(p, demo_write_file(f, slice_of(step->arg[1])));
    demo_writer_note(p, demo_json(&c->result,
                                  "{'type':$s,'filePath':'$e/$e','content':$s,'originalFile':$z",
                                  fresh ? "create" : "update", p->cwd, f->path, step->arg[1],
                                  buf_slice(&before)));
    end_change(p, f, &before, c);
}

static void demo_writer_run(struct demo_writer *p, const struct demo_step *step, struct call *c)
{
    const char *text = step->arg[1];

    demo_add_call(p, c, "Bash", "{'command':$s}", step->arg[0]);
    if (step->act == ACT_RUN) {
        demo_writer_note(
            p, demo_json(&c->result,
                         "{'stdout':$s,'stderr':'','interrupted':false,'isImage':false}", text));
        text = text[0] ? text : "(no output)";
    } else {
        text = step->act == ACT_STOP ? "The command was stopped." : text;
        demo_writer_note(p, demo_json(&c->result, "'Error: $e'", text));
    }
    demo_writer_note(p, buf_add(&c->text, slice_of(text)));
    if (step->arg[2])
        find_file(p->world, p->session->project, step->arg[2])->exists = false;
    demo_add_result(p, c, step->act != ACT_RUN);
}

/* ---- sub-agents ---- */

static void put_agent_file(struct demo_writer *p, const char *agent, const char *ending,
                           struct slice bytes, int64_t when_ms)
{
    char path[PATH_MAX];

    if (!p->rc)
        demo_writer_note(p, DEMO_JOIN(path, p->e, p->side, "/subagents/agent-", agent, ending));
    if (!p->rc)
        demo_writer_note(p, demo_put(path, bytes, when_ms, p->e));
}

/* The sub-agent's transcript: the prompt, one command, the report. It ends before the call ends. */
static void demo_writer_inside(struct demo_writer *p, const struct demo_step *step,
                               const char *agent)
{
    const struct demo_step inside = { ACT_RUN, { step->arg[2], step->arg[3] } };
    struct demo_writer sub = { .session = p->session,
                               .cwd = p->cwd,
                               .agent = agent,
                               .clock_ms = p->clock_ms - 80 * SECOND,
                               .e = p->e };
    struct call c = { .id = "" };

    demo_writer_seed_ids(&sub, agent);
    demo_writer_add_prompt(&sub, step->arg[1]);
    sub.clock_ms += 30 * SECOND;
    demo_writer_generate_id(&sub, "toolu", c.id);
    demo_writer_run(&sub, &inside, &c);
    sub.clock_ms += 40 * SECOND;
    demo_writer_say(&sub, step->arg[4], false, "end_turn");
    demo_writer_note(p, sub.rc);
    put_agent_file(p, agent, ".jsonl", buf_slice(&sub.out), sub.clock_ms);
    buf_fini(&sub.out);
}

static void demo_writer_agent(struct demo_writer *p, const struct demo_step *step, struct call *c)
{
    struct buf meta = { 0 };
    char agent[UUID];

    /* "a" and 16 hex digits, as the client names them */
    demo_writer_generate_uuid(p, agent);
    agent[0] = 'a';
    memmove(agent + 8, agent + 9, 4);
    memmove(agent + 12, agent + 24, 5);
    agent[17] = '\0';
    demo_add_call(p, c, "Agent", "{'description':$s,'prompt':$s,'subagent_type':'Explore'}",
                  step->arg[0], step->arg[1]);
    demo_writer_inside(p, step, agent);
    demo_writer_note(p, demo_json(&meta, "{'agentType':'Explore','description':$s,'toolUseId':$s}",
                                  step->arg[0], c->id));
    put_agent_file(p, agent, ".meta.json", buf_slice(&meta), p->clock_ms);
    buf_fini(&meta);
    demo_writer_note(p, buf_add(&c->text, slice_of(step->arg[4])));
    demo_writer_note(
        p, demo_json(&c->result,
                     "{'status':'completed','prompt':$s,'agentId':$s,'agentType':'Explore',"
                     "'totalDurationMs':70000,'totalToolUseCount':1}",
                     step->arg[1], agent));
    demo_add_result(p, c, false);
}

/* ---- snapshots ---- */

/* Makes the files of a project (NULL: of all) what they are in the story now. */
static enum err_code demo_put_files(struct world *w, const char *project, int64_t when_ms,
                                    struct err *e)
{
    char path[PATH_MAX];

    for (struct demo_file *f = w->file; f < w->file + w->n; f++) {
        if (project && strcmp(f->project, project) != 0)
            continue;
        TRY(DEMO_JOIN(path, e, w->dir, "/", f->project, "/", f->path));
        if (f->is_on_disk && unlink(path))
            return err_sys(e, path, "remove");
        if (f->exists)
            TRY(demo_put(path, buf_slice(&f->text), when_ms, e));
        f->is_on_disk = f->exists;
    }
    return ERR_OK;
}

/* Takes the snapshot that a hook would have taken at this time. */
static enum err_code demo_take_snapshot(const struct demo_writer *p, enum snapshot_kind kind)
{
    const struct demo_session *s = p->session;
    struct err *e = p->e;
    char state[PATH_MAX];
    const struct store_env env = { .home = p->world->dir,
                                   .state_dir = state,
                                   .now_ms = p->clock_ms };
    const struct snapshot_request request = { .agent = "claude",
                                              .session = slice_of(s->id),
                                              .prompt = slice_of(p->last_prompt),
                                              .cwd = p->cwd,
                                              .kind = kind,
                                              .limit_ms = MINUTE };

    TRY(DEMO_JOIN(state, e, p->world->dir, "/state"));
    TRY(demo_put_files(p->world, s->project, p->clock_ms, e));
    return snapshot_take(&env, &request, e);
}

/* ---- steps ---- */

static void demo_writer_tool(struct demo_writer *p, const struct demo_step *step)
{
    bool on_file = step->act == ACT_READ || step->act == ACT_EDIT || step->act == ACT_WRITE;
    struct demo_file *f = on_file ? find_file(p->world, p->session->project, step->arg[0]) : NULL;
    struct call c = { .id = "" };

    demo_writer_generate_id(p, "toolu", c.id);
    if (on_file && !f)
        demo_writer_note(p, err_set(p->e, ERR_USAGE, step->arg[0], "the demo has too many files"));
    else if (step->act == ACT_READ)
        demo_writer_read(p, f, &c);
    else if (step->act == ACT_EDIT)
        demo_writer_edit(p, step, f, &c);
    else if (step->act == ACT_WRITE)
        demo_writer_write(p, step, f, &c);
    else if (step->act == ACT_AGENT)
        demo_writer_agent(p, step, &c);
    else
        demo_writer_run(p, step, &c);
}

static bool ends_turn(const struct demo_session *s, size_t i)
{
    if (i + 1 == s->script.n)
        return s->end == END_WHOLE;
    enum demo_act next = s->script.step[i + 1].act;
    return next == ACT_ASK || next == ACT_SHELL;
}

static void demo_writer_step(struct demo_writer *p, size_t i)
{
    const struct demo_step *step = &p->session->script.step[i];
    bool last = ends_turn(p->session, i);

    switch (step->act) {
    case ACT_ASK:
        p->last_prompt = step->arg[0];
        if (p->session->snapshots && !p->rc)
            demo_writer_note(p, demo_take_snapshot(p, SNAPSHOT_PROMPT));
        demo_writer_add_prompt(p, step->arg[0]);
        demo_add_snapshot(p);
        break;
    case ACT_SHELL:
        demo_writer_generate_uuid(p, p->turn);
        demo_writer_add_row(p, USER_ROW "'<bash-input>$e</bash-input>'}", p->turn, step->arg[0]);
        demo_writer_begin_answer(p);
        demo_writer_add_row(p,
                            USER_ROW "'<bash-stdout>$e</bash-stdout><bash-stderr></bash-stderr>'}",
                            p->turn, step->arg[1]);
        demo_writer_begin_answer(p);
        break;
    case ACT_THINK:
    case ACT_SAY:
        demo_writer_say(p, step->arg[0], step->act == ACT_THINK, last ? "end_turn" : "tool_use");
        if (last)
            demo_writer_end_turn(p);
        if (last && p->session->snapshots && !p->rc)
            demo_writer_note(p, demo_take_snapshot(p, SNAPSHOT_END));
        break;
    case ACT_COMPACT: demo_writer_compact(p, step->arg[0]); break;
    default: demo_writer_tool(p, step);
    }

    /* The default case wrote the call that the user interrupts. */
    if (step->act == ACT_STOP) {
        demo_writer_add_row(
            p, USER_ROW "[{'type':'text','text':'[Request interrupted by user for tool use]'}]}",
            p->turn);
        demo_writer_begin_answer(p);
    }
}

/* ---- sessions ---- */

/* How long each act takes, in seconds: a person types, a model thinks, tests run. */
static const int act_seconds[] = {
    [ACT_ASK] = 140, [ACT_SHELL] = 30, [ACT_THINK] = 6,    [ACT_SAY] = 9,
    [ACT_READ] = 2,  [ACT_EDIT] = 4,   [ACT_WRITE] = 7,    [ACT_RUN] = 14,
    [ACT_FAIL] = 14, [ACT_AGENT] = 95, [ACT_COMPACT] = 20, [ACT_STOP] = 11,
};

/* When the session, or in a fork its own part, began. */
static int64_t began_ms(const struct demo_session *s, int64_t now_ms)
{
    int64_t ms = now_ms - s->ended_min_ago * (int64_t)MINUTE;

    for (size_t i = s->shared; i < s->script.n; i++)
        ms -= act_seconds[s->script.step[i].act] * (int64_t)SECOND;
    return ms;
}

static const struct demo_session *demo_find_session(const char *id)
{
    const struct demo_session *s = demo_sessions;

    while (strcmp(s->id, id) != 0)
        s++;
    return s;
}

static void demo_writer_all(struct demo_writer *p, int64_t now_ms)
{
    const struct demo_session *s = p->session;

    p->clock_ms = began_ms(s->fork_of ? demo_find_session(s->fork_of) : s, now_ms);
    p->forked_from = s->fork_of;
    if (s->fork_of)
        demo_writer_seed_ids(p, s->fork_of);
    for (size_t i = 0; i < s->script.n; i++) {
        if (s->fork_of && i == s->shared) {
            demo_writer_seed_ids(p, s->id);
            p->forked_from = NULL;
            p->clock_ms = began_ms(s, now_ms);
        }
        p->clock_ms += act_seconds[s->script.step[i].act] * (int64_t)SECOND;
        demo_writer_step(p, i);
    }
    if (s->end == END_WHOLE)
        demo_writer_add_metadata(p);
}

static void put_session(struct demo_writer *p)
{
    char path[PATH_MAX];
    struct buf mark = { 0 };
    int64_t archived_ms = p->clock_ms + MINUTE;

    if (!p->rc && p->session->end == END_TORN) {
        /* Cut the last row in half. */
        const char *nl = memrchr(p->out.p, '\n', p->out.n - 1);

        p->out.n -= (size_t)(p->out.p + p->out.n - nl - 1) / 2;
    }
    if (!p->rc)
        demo_writer_note(p, DEMO_JOIN(path, p->e, p->side, ".jsonl"));
    if (!p->rc)
        demo_writer_note(p, demo_put(path, buf_slice(&p->out), p->clock_ms, p->e));
    if (p->session->archived && !p->rc) {
        demo_writer_note(p, demo_json(&mark, "{'archived':true,'at':$t,'by':'sdk'}", archived_ms));
        demo_writer_note(p, DEMO_JOIN(path, p->e, p->side, "/archived.json"));
        if (!p->rc)
            demo_writer_note(p, demo_put(path, buf_slice(&mark), archived_ms, p->e));
        buf_fini(&mark);
    }
}

static enum err_code build_session(const char *dir, struct world *w, const struct demo_session *s,
                                   int64_t now_ms, struct err *e)
{
    AUTO_ARENA a = { 0 };
    const char *cwd = arena_format(&a, "%s/%s", dir, s->project);

    NEED(cwd);
    struct slice folder = config_dir_project_name(slice_of(cwd), &a);
    struct demo_writer p = { .session = s,
                             .world = w,
                             .cwd = cwd,
                             .side = arena_format(&a, "%s/" DEMO_CONFIG "/projects/%s/%s", dir,
                                                  folder.p ? folder.p : "", s->id),
                             .history =
                                 arena_format(&a, "%s/" DEMO_CONFIG "/file-history/%s", dir, s->id),
                             .e = e };

    NEED(!a.failed);
    demo_writer_seed_ids(&p, p.session->id);
    demo_writer_begin_answer(&p);
    demo_writer_all(&p, now_ms);
    put_session(&p);
    buf_fini(&p.out);
    return p.rc;
}

enum err_code demo_claude(const char *dir, int64_t now_ms, struct err *e)
{
    struct world w = { .dir = dir };
    enum err_code rc = ERR_OK;

    for (size_t i = 0; i < demo_source_count && !rc; i++) {
        const struct demo_source *s = &demo_sources[i];

        if (demo_write_file(find_file(&w, s->project, s->path), slice_of(s->text)))
            rc = err_nomem(e);
    }
    for (size_t i = 0; i < demo_session_count && !rc; i++)
        rc = build_session(dir, &w, &demo_sessions[i], now_ms, e);
    if (!rc)
        rc = demo_put_files(&w, NULL, now_ms, e);
    for (size_t i = 0; i < w.n; i++)
        buf_fini(&w.file[i].text);
    return rc;
}
