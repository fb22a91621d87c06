#include <string.h>

#include "lite/json/jsonout.h"
#include "store/rewind/record/backup_list.h"
#include "tui/commands/command.h"
#include "tui/commands/rewind/rewind_answer.h"

/* reprise rewinds show ID [FILE]: what a record keeps, and the bytes of one of its files. */

static const char *action_word(enum rewind_action did)
{
    return did == REWIND_RESTORE ? "restore" : did == REWIND_CREATE ? "create" : "delete";
}

static enum err_code write_kept_json(struct out *out, const struct rewind_backup_list *list,
                                     struct err *e)
{
    struct jsonout j;

    jsonout_init(&j, &out->buf);
    jsonout_open(&j, '{');
    jsonout_member(&j, "id", slice_of(list->id));
    jsonout_key(&j, "files");
    jsonout_open(&j, '[');
    for (size_t i = 0; i < list->n; i++) {
        const struct rewind_backup *f = &list->file[i];

        jsonout_open(&j, '{');
        jsonout_member(&j, "path", slice_of(f->path));
        jsonout_member(&j, "did", slice_of(action_word(f->did)));
        if (f->has_bytes) {
            jsonout_key(&j, "kept");
            jsonout_int(&j, f->size);
        }
        if (f->written) {
            jsonout_key(&j, "now");
            jsonout_int(&j, f->now);
        }
        jsonout_key(&j, "undone");
        jsonout_bool(&j, f->undone);
        if (f->conflict) {
            jsonout_key(&j, "conflict");
            jsonout_bool(&j, true);
        }
        jsonout_close(&j, '}');
    }
    jsonout_close(&j, ']');
    jsonout_close(&j, '}');
    return j.rc ? err_nomem(e) : out_add(out, SLICE("\n"), e);
}

static enum err_code write_kept_text(struct out *out, const struct rewind_backup_list *list,
                                     struct err *e)
{
    enum err_code rc = ERR_OK;

    for (size_t i = 0; i < list->n && !rc; i++) {
        const struct rewind_backup *f = &list->file[i];

        rc = f->has_bytes ? out_addf(out, e, "%-8s %10lld bytes kept  ", action_word(f->did),
                                     (long long)f->size)
                          : out_addf(out, e, "%-8s %10s not kept     ", action_word(f->did), "");
        if (!rc)
            rc = out_text(out, slice_of(f->path), e);
        if (!rc && f->written)
            rc = out_addf(out, e, "  (written to after the rewind: %lld bytes now)",
                          (long long)f->now);
        if (!rc)
            rc = out_addf(out, e, "%s\n",
                          f->conflict ? "  (conflict: not changed)"
                          : f->undone ? "  (undone)"
                                      : "");
    }
    return rc;
}

/* As they are: they may go into a file, or through another program. */
static enum err_code write_bytes(struct out *out, const struct span *bytes, struct err *e)
{
    char piece[OUT_PIECE];
    enum err_code rc = out_flush(out, e);

    out->raw = true;
    for (int64_t at = 0; at < bytes->n && !rc;) {
        size_t n = bytes->n - at < OUT_PIECE ? (size_t)(bytes->n - at) : OUT_PIECE;

        rc = span_read(bytes, at, piece, n, e);
        if (!rc)
            rc = out_add(out, (struct slice){ piece, n }, e);
        if (!rc)
            rc = out_row(out, e);
        at += (int64_t)n;
    }
    return rc ? rc : out_flush(out, e);
}

static enum err_code write_file(struct invocation *in, const struct rewind_backup_list *list,
                                const char *path, struct err *e)
{
    const struct rewind_backup *file = rewind_backup_find(list, path, in->world->env.cwd);
    struct span bytes;

    if (!file)
        return err_set(e, ERR_NOT_FOUND, path, "the rewind did not change this file");
    enum err_code rc = rewind_backup_open(file, &bytes, e);

    if (rc)
        return rc;
    rc = write_bytes(&in->out, &bytes, e);
    span_close(&bytes);
    return rc;
}

enum err_code rewinds_show(struct invocation *in, struct err *e)
{
    struct rewind_backup_list list;

    if (in->argc < 2)
        return err_set(e, ERR_USAGE, "", "usage: reprise rewinds show ID [FILE]");
    enum err_code rc = rewind_backup_read(&in->world->env, in->argv[1], &list, e);

    if (rc)
        return rc;
    rc = in->argc > 2                              ? write_file(in, &list, in->argv[2], e)
         : option_given(&in->options, OPTION_JSON) ? write_kept_json(&in->out, &list, e)
                                                   : write_kept_text(&in->out, &list, e);
    rewind_backup_fini(&list);
    return rc;
}
