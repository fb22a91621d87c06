#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <spawn.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "store/fs/disk.h"
#include "store/fs/path.h"
#include "tui/commands/command.h"
#include "tui/config/shell.h"

enum { VALUE_COLUMN = 34, TEMPLATE_COLUMN = 20 };

/* Where the value in force comes from, as `source` in JSON. Two settings also follow the environment: NO_COLOR and the
 * locale. */
static const char *config_show_source_of(const struct invocation *in,
                                         const struct config_entry *entry)
{
    bool from_environment =
        (strcmp(entry->name, "colors") == 0 && in->options.color == COLOR_AUTO) ||
        (strcmp(entry->name, "ascii") == 0 && !option_given(&in->options, OPTION_ASCII));

    if (entry->overridden)
        return from_environment ? "environment" : "command line";
    return entry->line ? "file" : "default";
}

static void write_text(const struct config_entry *entry, const char *source, struct out *o)
{
    size_t width = strlen(entry->name) + 3 + entry->value.n;

    out_text(o, slice_of(entry->name));
    out_addf(o, " = ");
    out_text(o, entry->value);
    out_addf(o, "%*s ; ", width < VALUE_COLUMN ? (int)(VALUE_COLUMN - width) : 1, "");
    if (entry->line && !entry->overridden)
        out_addf(o, "line %d", entry->line);
    else
        out_addf(o, "%s", source);
    if (entry->words)
        out_addf(o, ", one of %s", entry->words);
    out_addf(o, "\n");
}

static void write_settings(struct invocation *in, const struct config *c, const char *path)
{
    struct config_entry entry;
    const char *section = "";
    struct out *o = &in->out;

    if (!o->wants_json) {
        out_addf(o, "# ");
        out_text(o, slice_of(path));
        out_addf(o, "%s\n", access(path, F_OK) == 0 ? "" : " (not there: these are the defaults)");
    }
    for (size_t i = 0; config_entry_at(c, i, &entry); i++) {
        if (o->wants_json) {
            const char *source = config_show_source_of(in, &entry);

            out_json_row(o);
            out_open(o, NULL, '{');
            out_member(o, "section", slice_of(entry.section));
            out_string(o, "name", entry.name);
            out_member(o, "value", entry.value);
            out_string(o, "source", source);
            if (entry.line)
                out_int(o, "line", entry.line);
            out_close(o, '}');

            continue;
        }

        if (strcmp(section, entry.section) != 0) {
            out_addf(o, "\n[");
            out_text(o, slice_of(entry.section));
            out_addf(o, "]\n");
        }
        section = entry.section;
        write_text(&entry, config_show_source_of(in, &entry), o);
    }
    if (o->wants_json)
        out_json_rows_end(o);
}

/* ---- --edit ---- */

/* Every setting with its default, as a comment. */
static enum err_code make_template(struct buf *out)
{
    struct config defaults;
    struct config_entry entry;
    const char *section = "";
    enum err_code rc = buf_addf(out, "# The settings of reprise: see man 5 reprise-config\n\n");

    config_init(&defaults);
    for (size_t i = 0; !rc && config_entry_at(&defaults, i, &entry); i++) {
        if (strcmp(section, entry.section) != 0)
            rc = buf_addf(out, "\n# [%s]\n", entry.section);
        section = entry.section;
        if (!rc)
            rc = buf_addf(out, "# %s = %-*.*s%s%s\n", entry.name,
                          entry.words ? TEMPLATE_COLUMN - (int)strlen(entry.name) : 0,
                          (int)entry.value.n, entry.value.p, entry.words ? "; one of " : "",
                          entry.words ? entry.words : "");
    }
    config_fini(&defaults);
    return rc;
}

static enum err_code config_show_edit_file(const struct invocation *in, const char *path,
                                           struct err *e)
{
    struct arena arena = { 0 };
    const struct shell_value file = { "file", slice_of(path) };
    const char *line =
        arena_format(&arena, "%s {file}", in->world->editor ? in->world->editor : "vi");
    char **argv;
    pid_t child;
    int status = 0;
    enum err_code rc =
        line ? shell_split(slice_of(line), &file, 1, &arena, &argv, e) : err_nomem(e);

    if (!rc && (errno = posix_spawnp(&child, argv[0], NULL, NULL, argv, environ)) != 0)
        rc = err_sys(e, argv[0], "open in the editor");
    while (!rc && waitpid(child, &status, 0) < 0 && errno == EINTR)
        ;
    if (!rc && status != 0)
        rc = err_set(e, ERR_IO, argv[0], "open in the editor: the editor failed");
    arena_fini(&arena);
    return rc;
}

/* ---- --check ---- */

enum err_code config_show_run(struct invocation *in, struct err *e)
{
    struct arena arena = { 0 };
    struct config config;
    const char *path = command_config_path(in, &arena);
    enum err_code rc =
        path ? ERR_OK
             : err_set(e, ERR_NOT_FOUND, "",
                       "find the configuration: neither XDG_CONFIG_HOME nor HOME is set");

    if (!rc && option_given(&in->options, OPTION_EDIT)) {
        /* The file is created, unless it is there. */
        struct buf text = { 0 };
        char dir[PATH_MAX];
        size_t done;
        rc = path_parent(path, dir) ? disk_make_dir(dir, 0700, e) : ERR_OK;

        if (!rc && make_template(&text))
            rc = err_nomem(e);
        int fd = rc ? -1 : open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);

        if (!rc && fd < 0 && errno != EEXIST)
            rc = err_sys(e, path, "create the configuration");
        if (fd >= 0) {
            rc = disk_write(fd, buf_slice(&text), &done, path, e);
            close(fd);
            if (rc)
                unlink(path); /* it is ours: O_EXCL */
        }
        buf_fini(&text);

        if (!rc)
            rc = config_show_edit_file(in, path, e);
    }

    /* The file is read after it was edited, so that new mistakes are reported. */
    if (!rc)
        rc = command_config(in, &config, e);
    if (!rc) {
        bool shows =
            !option_given(&in->options, OPTION_CHECK) && !option_given(&in->options, OPTION_EDIT);

        if (shows)
            write_settings(in, &config, path);
        else {
            size_t n = config.problems ? config.problems->n : 0;

            if (n)
                rc = err_set(e, ERR_FORMAT, "", "the configuration has %zu mistake%s", n,
                             n == 1 ? "" : "s");
        }
        config_fini(&config);
    }
    arena_fini(&arena);
    return rc;
}
