#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>

#include "lite/base/buf.h"
#include "lite/base/cleanup.h"
#include "lite/io/file.h"
#include "store/fs/disk.h"
#include "store/fs/file_at.h"
#include "store/journal/change.h"
#include "store/proc/process.h"
#include "store/snapshots/hooks.h"
#include "tui/commands/command.h"
#include "tui/commands/session.h"
#include "tui/config/shell.h"

/* `reprise keep --install-timer` and `--remove-timer`: a timer of the user's systemd that runs `keep --due` every day. Where
 * no systemd answers, the line for cron is shown and nothing is written. */

enum { TIMER_WAIT_MS = 20000, TIMER_ANSWER_MAX = 1 << 16, TIMER_UNIT_MAX = 1 << 16 };

#define TIMER_MARK "# Written by reprise keep --install-timer.\n"

static const char *const timer_units[] = { "reprise-keep.service", "reprise-keep.timer" };
enum { TIMER_SERVICE, TIMER_TIMER, TIMER_UNITS };

/* The variables that decide where sessions are. systemd does not have them unless the unit sets them. */
static const char *const timer_variables[] = {
    "XDG_CONFIG_HOME",
    "XDG_DATA_HOME",
    "XDG_STATE_HOME",
    "CLAUDE_CONFIG_DIR",
    "CODEX_HOME",
    "COPILOT_HOME",
    "GEMINI_CLI_HOME",
    "GROK_HOME",
    "KIMI_CODE_HOME",
    "KIMI_SHARE_DIR",
    "KIRO_HOME",
    "PI_CODING_AGENT_DIR",
    "PI_CODING_AGENT_SESSION_DIR",
    "QODER_CONFIG_DIR",
    "QODER_CONFIG_DIR_NAME",
    "QODER_CLI_HOME",
    "QWEN_HOME",
    "QWEN_RUNTIME_DIR",
    "VIBE_HOME",
    "CLINE_DATA_DIR",
    "CLINE_SESSION_DATA_DIR",
    "CLINE_DIR",
    "CONTINUE_GLOBAL_DIR",
    "CURSOR_CONFIG_DIR",
};

static enum err_code timer_systemctl(const char *const argv[], struct err *e)
{
    AUTO_BUF said = { 0 };

    return spawn_read(
        &(struct spawn){
            .argv = argv, .dir = "/", .timeout_ms = TIMER_WAIT_MS, .max = TIMER_ANSWER_MAX },
        &said, e);
}

/* A word of a unit file: in quotes, without the percent signs that systemd would replace. */
static enum err_code timer_add_word(struct buf *out, const char *before, const char *word)
{
    enum err_code rc = buf_addf(out, "\"%s", before);

    for (const char *c = word; *c && !rc; c++)
        rc = *c == '%'                 ? buf_addf(out, "%%%%")
             : *c == '"' || *c == '\\' ? buf_addf(out, "\\%c", *c)
                                       : buf_addf(out, "%c", *c);
    return rc ? rc : buf_addf(out, "\"");
}

static const char timer_text[] =
    TIMER_MARK "[Unit]\nDescription=Copies of sessions before their agents remove them, every day\n"
               "\n[Timer]\nOnCalendar=daily\nPersistent=true\nRandomizedDelaySec=1h\n"
               "\n[Install]\nWantedBy=timers.target\n";

/* The present unit. A file that this command did not write is not replaced. */
static enum err_code timer_read(const char *path, struct arena *a, struct hook_text *out,
                                struct err *e)
{
    AUTO_BUF text = { 0 };
    struct stat st;
    bool there;

    TRY(file_at_stat(path, &there, &st, e));
    out->absent = !there;
    if (!there)
        return ERR_OK;
    if (!S_ISREG(st.st_mode))
        return err_set(e, ERR_UNSAFE, path, "keep: a link, or not a regular file");
    TRY(file_read_all(AT_FDCWD, path, 0, TIMER_UNIT_MAX, &text, e));
    if (!slice_starts(buf_slice(&text), TIMER_MARK))
        return err_set(e, ERR_STALE, path, "keep: another program wrote it");
    out->text = arena_copy(a, buf_slice(&text));
    NEED(out->text.p);
    return ERR_OK;
}

static enum err_code timer_plan(const struct invocation *in, const char *dir, const char *program,
                                bool on, bool settings, struct arena *a,
                                struct hook_plan plan[TIMER_UNITS], struct err *e)
{
    AUTO_BUF service = { 0 };

    const char *const *environment = in->world->env.environment;

    NEED(!buf_addf(&service,
                   TIMER_MARK "[Unit]\n"
                              "Description=Copies of sessions before their agents remove them\n"
                              "\n[Service]\nType=oneshot\n"));
    for (size_t i = 0; i < sizeof timer_variables / sizeof *timer_variables; i++) {
        const char *value = env_value(environment, timer_variables[i]);
        AUTO_BUF name = { 0 };

        /* A line break would end the line of the unit, and with it the value. */
        if (!value || !*value || strchr(value, '\n'))
            continue;
        NEED(!buf_addf(&name, "%s=", timer_variables[i]) && buf_cstr(&name));
        NEED(!buf_addf(&service, "Environment=") && !timer_add_word(&service, name.p, value) &&
             !buf_addf(&service, "\n"));
    }

    /* The sessions that the configuration chooses are kept by a run of their own, before those that are due. */
    for (int due = !settings; due < 2; due++)
        NEED(!buf_addf(&service, "ExecStart=") && !timer_add_word(&service, "", program) &&
             !buf_addf(&service, " keep --all%s\n", due ? " --due" : ""));

    for (int i = 0; i < TIMER_UNITS; i++) {
        plan[i] = (struct hook_plan){ .path = arena_format(a, "%s/%s", dir, timer_units[i]),
                                      .after.absent = !on };
        NEED(plan[i].path);
        TRY(timer_read(plan[i].path, a, &plan[i].before, e));
        if (on)
            plan[i].after.text =
                i == TIMER_TIMER ? slice_of(timer_text) : arena_copy(a, buf_slice(&service));
        NEED(!on || plan[i].after.text.p);
    }
    return ERR_OK;
}

static enum err_code timer_apply(const struct invocation *in,
                                 const struct hook_plan plan[TIMER_UNITS], const char *dir, bool on,
                                 char id[CHANGE_ID], struct err *e)
{
    CLEANUP(change_free_at) struct change *c = change_new("keep-timer");

    NEED(c);
    c->text = on ? "installed the timer of keep" : "removed the timer of keep";
    for (int i = 0; i < TIMER_UNITS; i++) {
        const struct step put = { .kind = STEP_PUT,
                                  .path = plan[i].path,
                                  .old = plan[i].before.text,
                                  .old_absent = plan[i].before.absent,
                                  .bytes = plan[i].after.text,
                                  .absent = plan[i].after.absent,
                                  .mode = 0644,
                                  .mtime_ns = MTIME_NOW };

        if (hook_plan_changes(&plan[i]))
            TRY(change_add(c, &put, e));
    }
    TRY(disk_make_dir(dir, 0755, e));
    TRY(change_do(&in->world->env, c, e));
    memcpy(id, c->id, sizeof c->id);
    return ERR_OK;
}

/* Once a day, at a time at which few jobs run. cron replaces percent signs. */
static enum err_code timer_show_cron(struct invocation *in, const char *program, bool settings,
                                     struct err *e)
{
    AUTO_BUF line = { 0 }, word = { 0 };
    struct out *o = &in->out;

    NEED(!shell_quote(&word, slice_of(program)) && !buf_addf(&line, "17 9 * * * "));
    for (int due = !settings; due < 2; due++) { /* as in timer_plan() */
        for (size_t i = 0; i < word.n; i++)
            NEED(!buf_addf(&line, word.p[i] == '%' ? "\\%c" : "%c", word.p[i]));
        NEED(!buf_addf(&line, " keep --all%s", due ? " --due >/dev/null" : " >/dev/null; "));
    }
    if (o->wants_json) {
        out_open(o, NULL, '{');
        out_member(o, "cron", buf_slice(&line));
        out_end(o, '}');
    } else {
        out_line(o, "", buf_slice(&line));
    }
    return out_flush(o, e);
}

static void timer_write_answer(struct invocation *in, const struct hook_plan plan[TIMER_UNITS],
                               const char *id, bool on, bool changes)
{
    struct out *o = &in->out;

    if (o->wants_json) {
        out_open(o, NULL, '{');
        out_string(o, "change", *id ? id : NULL);
        out_open(o, "paths", '[');
        for (int i = 0; i < TIMER_UNITS; i++)
            out_string(o, NULL, plan[i].path);
        out_close(o, ']');
        out_bool_if_true(o, "dryRun", option_given(&in->options, OPTION_DRY_RUN));
        out_end(o, '}');
    } else if (*id) {
        out_addf(o,
                 on ? "Sessions are kept every day before their agents remove them; remove this "
                      "with: reprise keep --remove-timer\n"
                    : "The timer is gone" OUT_UNDO_WITH "\n",
                 id);
    } else if (!changes) {
        out_addf(o, on ? "Nothing to change.\n"
                       : "No timer is installed; a line for cron is removed with: crontab -e\n");
    }
}

/* The files are there already, or gone, so a failure is a warning. */
static void timer_tell_systemd(const struct invocation *in, bool on)
{
    static const char *const reload[] = { "systemctl", "--user", "daemon-reload", NULL };
    static const char *const enable[] = { "systemctl",          "--user", "enable", "--now",
                                          "reprise-keep.timer", NULL };
    struct err why = { 0 };

    if (timer_systemctl(reload, &why) || (on && timer_systemctl(enable, &why)))
        command_warn(in, why.code, "",
                     on ? "keep: the files are written, but systemd did not take them: systemctl "
                          "--user enable --now reprise-keep.timer"
                        : "keep: the files are removed, but systemd does not know it: systemctl "
                          "--user daemon-reload");
}

enum err_code keep_timer_run(struct invocation *in, bool settings, struct err *e)
{
    static const char *const asks[] = { "systemctl", "--user", "show-environment", NULL };
    static const char *const disable[] = { "systemctl",          "--user", "disable", "--now",
                                           "reprise-keep.timer", NULL };
    AUTO_ARENA a = { 0 };
    const bool on = option_given(&in->options, OPTION_INSTALL_TIMER),
               dry = option_given(&in->options, OPTION_DRY_RUN);
    const char *config = env_value(in->world->env.environment, "XDG_CONFIG_HOME");
    const char *home = env_value(in->world->env.environment, "HOME");
    struct hook_plan plan[TIMER_UNITS];
    char program[PATH_MAX], id[CHANGE_ID] = "";
    struct err why = { 0 };

    if (on && option_given(&in->options, OPTION_REMOVE_TIMER))
        return err_set(e, ERR_USAGE, "--install-timer", "not together with --remove-timer");
    if (in->argc || option_given(&in->options, OPTION_QUERY))
        return err_set(e, ERR_USAGE, "",
                       "keep: the timer takes no sessions: they are chosen "
                       "by `sessions` of [keep] in the configuration");
    if (!proc_program(program, sizeof program) || strchr(program, '\n'))
        return err_set(e, ERR_UNSUPPORTED, "", "keep: the path of this program is not known");

    /* Without a systemd of this user, which containers and other systems lack, only cron can run the command. */
    if (on && timer_systemctl(asks, NULL)) {
        TRY(timer_show_cron(in, program, settings, e));
        return err_set(
            e, ERR_UNSUPPORTED, "",
            "keep: no systemd of this user answers; the line above does it for crontab -e");
    }

    /* systemd reads the units of a user from here; a relative XDG_CONFIG_HOME is not valid. */
    const char *dir = config && config[0] == '/' ? arena_format(&a, "%s/systemd/user", config)
                      : home && home[0] == '/'   ? arena_format(&a, "%s/.config/systemd/user", home)
                                                 : NULL;

    if (!dir)
        return err_set(e, a.failed ? ERR_NOMEM : ERR_UNSUPPORTED, "", "keep: HOME is not set");
    TRY(timer_plan(in, dir, program, on, settings, &a, plan, e));
    const bool changes = hook_plan_changes(&plan[0]) || hook_plan_changes(&plan[1]);

    for (int i = 0; i < TIMER_UNITS && !in->out.wants_json; i++)
        if (hook_plan_changes(&plan[i]))
            TRY(config_change_show(&plan[i], &in->out, e));

    /* The timer is stopped while its unit still exists, and started only after systemd has read the new files. */
    if (changes && !dry) {
        TRY(config_change_ask(in, OPTION_YES, "--yes", e));
        if (!on && timer_systemctl(disable, &why))
            out_report(in->err_fd, &why);
        TRY(timer_apply(in, plan, dir, on, id, e));
        in->done = true;
        timer_tell_systemd(in, on);
    }
    timer_write_answer(in, plan, id, on, changes);
    return ERR_OK;
}
