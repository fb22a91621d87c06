#include <limits.h>
#include <string.h>

#include "lite/base/cleanup.h"
#include "store/api/plugin.h"
#include "tui/commands/command.h"

struct rule_count {
    struct out *out;
    size_t n[3]; /* by enum plugin_rule_result */
};

static const char *const result_words[] = { "passed", "failed", "skipped" };

static void write_rule_json(const struct plugin_rule_report *r, struct out *o)
{
    out_json_row(o);
    out_open(o, NULL, '{');
    out_string(o, "name", r->name);
    if (r->number)
        out_int(o, "number", r->number);
    out_string(o, "result", result_words[r->result]);
    if (r->expected)
        out_string(o, "expected", r->expected);
    if (r->got)
        out_string(o, "got", r->got);
    if (r->why)
        out_string(o, "why", r->why);
    out_close(o, '}');
}

static void write_rule_text(const struct plugin_rule_report *r, struct out *o)
{
    out_addf(o, "%-7s ", result_words[r->result]);
    if (r->number)
        out_addf(o, "%2d ", r->number);
    else
        out_addf(o, "   ");
    out_text(o, slice_of(r->name));
    if (r->why) {
        out_addf(o, " (");
        out_text(o, slice_of(r->why));
        out_addf(o, ")");
    }
    if (r->expected) {
        out_addf(o, "\n           expected: ");
        out_text(o, slice_of(r->expected));
        out_addf(o, "\n           came:     ");
        out_text(o, slice_of(r->got));
    }
    out_addf(o, "\n");
}

static enum err_code write_rule(const struct plugin_rule_report *r, void *arg, struct err *e)
{
    struct rule_count *c = arg;

    c->n[r->result]++;
    if (c->out->wants_json) {
        write_rule_json(r, c->out);
        return out_row(c->out, e);
    }
    write_rule_text(r, c->out);
    return out_flush(c->out, e); /* a server may be slow */
}

/* The words after the path are settings, as the configuration has them. */
static enum err_code read_settings(const struct invocation *in, struct plugin_config *config,
                                   struct plugin_option *option, struct arena *a, struct err *e)
{
    for (int i = 1; i < in->argc; i++) {
        const char *equals = strchr(in->argv[i], '=');

        if (!equals || equals == in->argv[i])
            return err_set(e, ERR_USAGE, in->argv[i], "doctor: a setting is NAME=VALUE");
        NEED(option[config->options].name =
                 arena_format(a, "%.*s", (int)(equals - in->argv[i]), in->argv[i]));
        option[config->options++].value = equals + 1;
    }
    return ERR_OK;
}

enum err_code doctor_plugin(struct invocation *in, struct err *e)
{
    AUTO_ARENA a = { 0 };
    const struct options *o = &in->options;
    const struct store_env *env = &in->world->env;
    struct rule_count count = { .out = &in->out };
    struct plugin_config config = { .name = "plugin", .plugin = o->plugin };
    struct plugin_option *option = arena_zalloc(&a, ((size_t)in->argc + 1) * sizeof *option);
    char run[PLUGIN_CHECK_NAME];
    size_t failed;
    int signal;

    if (in->argc == 0)
        return err_set(
            e, ERR_USAGE, "",
            "doctor: --plugin needs the path of a store, as `path` in the configuration");
    NEED(option);
    config.path = in->argv[0];
    config.option = option;
    if (strchr(o->plugin, '/') && o->plugin[0] != '/')
        NEED(config.plugin = arena_format(&a, "%s/%s", env->cwd, o->plugin));

    TRY(read_settings(in, &config, option, &a, e));
    plugin_check_name(run);
    const struct plugin_check check = { .env = env,
                                        .config = &config,
                                        .run = run,
                                        .write = option_given(o, OPTION_APPLY),
                                        .leave = option_given(o, OPTION_FORCE),
                                        .fn = write_rule,
                                        .arg = &count };

    /* This is on the screen before the first rule writes, so that what a check that was killed leaves can be found. */
    if (!in->out.wants_json) {
        out_addf(&in->out, "the rules write sessions of projects that begin with %s, and %s\n", run,
                 !check.write  ? "remove them: only with --apply"
                 : check.leave ? "remove them if the plug-in can"
                               : "remove them");
        TRY(out_flush(&in->out, e));
    }

    TRY(plugin_check(&check, &failed, &signal, e));
    if (in->out.wants_json)
        out_json_rows_end(&in->out);
    else
        out_addf(&in->out, "%zu rules: %zu passed, %zu failed, %zu skipped\n",
                 count.n[0] + count.n[1] + count.n[2], count.n[PLUGIN_RULE_PASSED],
                 count.n[PLUGIN_RULE_FAILED], count.n[PLUGIN_RULE_SKIPPED]);

    /* The exit code is that of a program which the signal ended. */
    if (signal) {
        in->exit_code = 128 + signal;
        return err_set(e, ERR_CANCELLED, "", "doctor: interrupted");
    }
    if (!failed)
        return ERR_OK;

    /* The rules come before the error, which goes to another stream. */
    TRY(out_flush(&in->out, e));
    return err_set(e, ERR_IO, o->plugin, "check plug-in: it does not keep %zu rule%s", failed,
                   failed == 1 ? "" : "s");
}
