#include "store/maintenance/project_note.h"

#include <cjson/cJSON.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <unistd.h>

#include "lite/base/cleanup.h"
#include "lite/io/file.h"
#include "store/fs/disk.h"
#include "store/git/identity.h"
#include "store/journal/record.h"

enum { NOTES_MOST = 500, NOTES_BYTES = 4 << 20, NOTE_AGE_MS = 24 * 60 * 60 * 1000 };

/* clang-format off */
#define NOTE(key, kind, member) RECORD_FIELD(key, kind, struct project_note, member)
static const struct record_field note_fields[] = {
    NOTE("dir", RECORD_TEXT, dir),          NOTE("at", RECORD_INT, at_ms),
    NOTE("dev", RECORD_INT, id.dev),        NOTE("ino", RECORD_INT, id.ino),
    NOTE("fs", RECORD_INT, id.fs),          NOTE("born", RECORD_INT, id.born_ns),
    NOTE("first", RECORD_OPTIONAL, first),
};
static const struct record_table note_table = RECORD_TABLE(struct project_note, note_fields);
/* clang-format on */

void project_notes_fini(struct project_notes *notes)
{
    arena_fini(&notes->arena);
    *notes = (struct project_notes){ .n = 0 };
}

DEFINE_CLEANUP(cJSON, cJSON_Delete);

enum err_code project_notes_read(const struct store_env *env, struct project_notes *out,
                                 struct err *e)
{
    char path[PATH_MAX];
    AUTO_BUF text = { 0 };

    *out = (struct project_notes){ .n = 0 };
    enum err_code rc = env_state_path(env, "projects", path, NULL);

    if (!rc)
        rc = file_read_all(AT_FDCWD, path, 0, NOTES_BYTES, &text, NULL);
    if (rc)
        return rc == ERR_NOMEM ? err_nomem(e) : ERR_OK;
    CLEANUP(cJSON_Delete_at) cJSON *root = cJSON_ParseWithLength(text.p, text.n);
    const cJSON *list = cJSON_GetObjectItemCaseSensitive(root, "projects");

    for (const cJSON *o = cJSON_IsArray(list) ? list->child : NULL; o && out->n < NOTES_MOST;
         o = o->next) {
        out->note = arena_grow(&out->arena, out->note, out->n, sizeof *out->note);
        if (!out->note)
            break;
        struct project_note *x = &out->note[out->n];

        *x = (struct project_note){ .dir = NULL };
        out->n +=
            record_get(o, &note_table, x, &out->arena) && x->dir[0] == '/' &&
            record_get_list(o, "remotes", &record_paths, &x->remote, &x->remotes, &out->arena);
    }
    if (!out->arena.failed)
        return ERR_OK;
    project_notes_fini(out);
    return err_nomem(e);
}

enum err_code project_note_add(const struct store_env *env, const char *dir, struct err *e)
{
    CLEANUP(project_notes_fini) struct project_notes notes = { .n = 0 };
    struct repo_identity of = { .root = NULL };
    struct project_note now = { .dir = dir, .at_ms = env->now_ms };
    size_t at = 0;
    AUTO_FD fd = -1;

    if (!env->state_dir || !dir)
        return ERR_OK;
    TRY(beneath_root(dir, &fd, e));
    TRY(beneath_root_id(fd, dir, &now.id, e));
    TRY(project_notes_read(env, &notes, e));
    while (at < notes.n && strcmp(notes.note[at].dir, dir) != 0)
        at++;

    /* The oldest commit is far away in a large repository, but it does not change. */
    const struct project_note *was = at < notes.n ? &notes.note[at] : NULL;
    const bool same = was && was->id.ino == now.id.ino && was->id.born_ns == now.id.born_ns;

    if (same && was->at_ms <= now.at_ms && now.at_ms - was->at_ms < NOTE_AGE_MS)
        return ERR_OK;
    TRY(repo_identify(dir, &notes.arena, same ? was->first : NULL, &of, e));
    now.first = of.first;
    now.remote = of.remote;
    now.remotes = of.remotes;
    if (!was)
        NEED(notes.note = arena_grow(&notes.arena, notes.note, notes.n++, sizeof *notes.note));
    memmove(&notes.note[1], &notes.note[0], at * sizeof *notes.note);
    notes.note[0] = now;

    /* The list is written anew as a whole. */
    AUTO_BUF scratch = { 0 };
    CLEANUP(cJSON_Delete_at) cJSON *root = cJSON_CreateObject();
    cJSON *list = cJSON_AddArrayToObject(root, "projects");

    NEED(list && cJSON_AddStringToObject(root, "version", "1"));
    for (size_t i = 0; i < notes.n && i < NOTES_MOST; i++) {
        const struct project_note *x = &notes.note[i];
        cJSON *o = cJSON_CreateObject();

        NEED(cJSON_AddItemToArray(list, o) && record_put(o, &note_table, x, &scratch) &&
             record_put_list(o, "remotes", &record_paths, x->remote, x->remotes, &scratch));
    }
    TRY(disk_private_dir(env->state_dir, e));
    char *text = cJSON_PrintUnformatted(root);

    NEED(text);
    disk_new_sweep(env->state_dir); /* what a program left that was killed while it did this */
    const enum err_code rc = disk_replace_file(env->state_dir, "projects", slice_of(text), 0600, e);

    cJSON_free(text);
    return rc;
}
