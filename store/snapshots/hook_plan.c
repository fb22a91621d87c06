#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lite/base/cleanup.h"
#include "lite/io/file.h"
#include "store/fs/disk.h"
#include "store/fs/file_at.h"
#include "store/fs/path.h"
#include "store/journal/change.h"
#include "store/snapshots/hooks.h"

enum { HOOK_CONFIG_MAX = 4 * 1024 * 1024 };

bool hook_plan_changes(const struct hook_plan *p)
{
    return !p->refused &&
           (p->before.absent != p->after.absent || !slice_eq(p->before.text, p->after.text));
}

/* Reads the file, or says why it is not ours to change. */
static enum err_code hook_plan_read(struct hook_plan *p, struct arena *a, struct err *e)
{
    struct stat st;
    struct err why = { 0 };
    AUTO_BUF text = { 0 };

    p->before.text = p->after.text = SLICE("");
    if (lstat(p->path, &st)) {
        p->before.absent = p->after.absent = true;
        return ERR_OK;
    }

    /* The file is replaced by a new one, which would be neither a link nor have the other names. */
    if (S_ISLNK(st.st_mode))
        p->refused =
            "it is a link, perhaps managed by another program: change the file it names by hand";
    else if (!S_ISREG(st.st_mode))
        p->refused = "it is not a regular file";
    else if (st.st_nlink > 1)
        p->refused = "it has several names (hard links)";
    else if (!(st.st_mode & S_IWUSR) || access(p->path, W_OK))
        p->refused = "it is read-only";
    else if (file_read_all(AT_FDCWD, p->path, 0, HOOK_CONFIG_MAX, &text, &why) == ERR_NOMEM)
        return err_nomem(e);
    else if (why.code)
        NEED(p->refused = arena_copy_text(a, why.text));
    p->before.text = p->after.text = arena_copy(a, buf_slice(&text));
    NEED(p->before.text.p);
    return ERR_OK;
}

/* Takes the result of an edit over into the plan. */
static enum err_code hook_plan_edited(enum err_code rc, const struct buf *text,
                                      const struct err *why, bool on, struct hook_plan *p,
                                      struct arena *a, struct err *e)
{
    if (rc == ERR_NOMEM)
        return err_nomem(e);
    if (rc) {
        NEED(p->refused = arena_copy_text(a, why->text));
        return ERR_OK;
    }
    p->after.text = arena_copy(a, buf_slice(text));
    NEED(p->after.text.p);
    p->after.absent = p->after.absent && !on;
    return ERR_OK;
}

enum err_code hook_plan_server(const struct store_env *env, const struct store_ops *ops,
                               const struct hook_program *program, bool on, struct arena *a,
                               struct hook_plan *out, struct err *e)
{
    struct hook_plan p = { .ops = ops, .server = true };
    AUTO_FREE char *path = ops->mcp->path(env);
    AUTO_BUF text = { 0 };
    char dir[PATH_MAX];
    struct stat st;
    struct err why = { 0 };

    if (!path || !path_parent(path, dir)) {
        p.refused = "its configuration is not known, because HOME is not set";
        *out = p;
        return ERR_OK;
    }
    NEED(p.path = arena_copy_text(a, path));
    p.used = ops->mcp->of_agent ? lstat(path, &st) == 0 : stat(dir, &st) == 0;
    TRY(hook_plan_read(&p, a, e));
    if (!p.refused && on && !p.used)
        p.refused = "it has no configuration yet: start the agent once";
    if (!p.refused)
        TRY(hook_plan_edited(on ? hook_server_on(ops->mcp, p.before, program, &text, &why)
                                : hook_server_off(ops->mcp, p.before, &text, &p.after.absent, &why),
                             &text, &why, on, &p, a, e));
    *out = p;
    return ERR_OK;
}

enum err_code hook_plan_skill(const struct store_env *env, const struct store_ops *ops,
                              const char *name, struct slice text, bool on, struct arena *a,
                              struct hook_plan *out, struct err *e)
{
    struct hook_plan p = { .ops = ops, .skill = true, .new_dir = true };
    AUTO_FREE char *beside = (ops->mcp->by_skills ? ops->mcp->by_skills : ops->mcp->path)(env);
    char dir[PATH_MAX];

    if (!beside || !path_parent(beside, dir)) {
        p.refused = "its configuration is not known, because HOME is not set";
        *out = p;
        return ERR_OK;
    }
    NEED(p.path = arena_format(a, "%s/skills/%s/SKILL.md", dir, name));
    p.used = path_is_dir(dir);
    TRY(hook_plan_read(&p, a, e));
    if (!p.refused && on && !p.used)
        p.refused = "it has no configuration yet: start the agent once";
    if (!p.refused && !p.before.absent && !slice_has(p.before.text, "reprise"))
        p.refused = "the user has another skill that is called so";
    if (!p.refused) {
        p.after.text = on ? text : SLICE("");
        p.after.absent = !on;
    }
    *out = p;
    return ERR_OK;
}

enum err_code hook_plan_make(const struct store_env *env, const struct store_ops *ops,
                             const struct hook_program *program, bool on, struct arena *a,
                             struct hook_plan *out, struct err *e)
{
    struct hook_plan p = { .ops = ops };
    AUTO_FREE char *path = ops->hooks->path(env);
    AUTO_BUF text = { 0 };
    char dir[PATH_MAX], above[PATH_MAX];
    struct stat st;
    struct err why = { 0 };

    if (!path || !path_parent(path, dir) || !path_parent(dir, above)) {
        p.refused = "its configuration is not known, because HOME is not set";
        *out = p;
        return ERR_OK;
    }
    NEED(p.path = arena_copy_text(a, path));

    /* The directory of a file of our own is made with it, so the one above shows whether the agent is used. One that was
     * there, if only an empty one, is not removed if that is undone. */
    p.new_dir = ops->hooks->form == HOOK_FILE && !(on && path_is_dir(dir));
    p.used = path_is_dir(ops->hooks->form == HOOK_FILE ? above : dir);
    TRY(hook_plan_read(&p, a, e));
    if (ops->hooks->hidden_by && on && !p.refused) {
        const char *other = arena_format(a, "%s/%s", dir, ops->hooks->hidden_by);

        NEED(other);
        if (lstat(other, &st) == 0)
            NEED(p.refused = arena_format(a, "the agent reads %s instead, which is not edited",
                                          ops->hooks->hidden_by));
    }
    p.has = hook_edit_has(ops->name, p.before.text);
    if (p.has && ops->hooks->trust) {
        const struct hook_step s = { .h = ops->hooks, .agent = ops->name, .event = HOOK_PROMPT };

        p.untrusted = !hook_json_trusted(&s, p.path, p.before);
    }
    p.disabled = p.refused ? NULL : hook_edit_disabled(ops->hooks, p.before.text);

    /* Hooks can be turned off even if the agent was never started. */
    if (!p.refused && on && !p.used)
        p.refused = "it has no directory of its own yet: start it once";
    if (!p.refused)
        TRY(hook_plan_edited(
            on ? hook_edit_on(ops->hooks, ops->name, p.before, program, &text, &why)
               : hook_edit_off(ops->hooks, ops->name, p.before, &text, &p.after.absent, &why),
            &text, &why, on, &p, a, e));
    *out = p;
    return ERR_OK;
}

enum err_code hook_plans_apply(const struct store_env *env, const struct hook_plan *const plans[],
                               size_t n, bool on, char id[64], struct err *e)
{
    AUTO_BUF text = { 0 };
    const bool skill = plans[0]->skill, server = plans[0]->server || skill;
    CLEANUP(change_free_at) struct change *change = change_new(server ? "mcp" : "snapshots");

    NEED(change && !buf_addf(&text,
                             skill    ? "%s the skill of reprise %s those of "
                             : server ? "%s reprise mcp %s the servers of "
                                      : "%s snapshots %s for ",
                             !server ? "turned"
                             : on    ? "added"
                                     : "removed",
                             !server ? (on ? "on" : "off")
                             : on    ? "to"
                                     : "from"));
    for (size_t i = 0; i < n; i++) {
        const struct hook_plan *p = plans[i];
        char dir[PATH_MAX], above[PATH_MAX];

        /* A step makes one directory; that of all skills is the user's and stays. */
        if (skill && on && path_parent(p->path, dir) && path_parent(dir, above))
            TRY(disk_make_dir(above, 0700, e));
        const struct step step = { .kind = STEP_PUT,
                                   .path = p->path,
                                   .old = p->before.text,
                                   .old_absent = p->before.absent,
                                   .bytes = p->after.text,
                                   .absent = p->after.absent,
                                   .mtime_ns = MTIME_NOW,
                                   .with_dir = p->new_dir };

        TRY(change_add(change, &step, e));
        NEED(!buf_addf(&text, "%s%s", i ? ", " : "", p->ops->label ? p->ops->label : p->ops->name));
    }
    const char *said = buf_cstr(&text);

    NEED(said && (change->text = arena_copy_text(&change->arena, said)));
    TRY(change_do(env, change, e));
    memcpy(id, change->id, sizeof change->id);
    return ERR_OK;
}
