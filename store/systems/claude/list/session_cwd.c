#include "store/systems/claude/list/session_cwd.h"

#include <dirent.h>
#include <fcntl.h>
#include <string.h>

#include "lite/io/window.h"
#include "lite/json/json.h"
#include "lite/scan/field.h"
#include "store/systems/claude/claude.h"
#include "store/systems/common/project_folder.h"

static const struct field moved = { FIELD_ROW, "relocatedCwd", "relocated" };

bool session_cwd_first(struct slice head, struct arena *a, struct slice *cwd)
{
    struct slice row, value;
    bool torn;

    while (slice_line(&head, &row, &torn)) {
        if (memmem(row.p, row.n, "\"cwd\":", 6) && json_valid(row) &&
            json_get(row, "cwd", &value) && json_type(value) == JSON_STRING)
            return json_text(value, a, cwd);
    }
    return true;
}

static bool session_own_cwd(struct slice head, struct slice tail, struct arena *a,
                            struct slice *cwd)
{
    struct field_set set;
    struct field_value value;

    *cwd = (struct slice){ NULL, 0 };
    field_set_init(&set, &moved, 1);
    if (!field_set_last(&set, tail, a, &value, NULL, NULL))
        return false;
    if (!value.found)
        return session_cwd_first(head, a, cwd);
    *cwd = value.text;
    return true;
}

static bool file_belongs_to(struct window *w, int dirfd, const char *name, struct slice path)
{
    struct arena a = { 0 };
    struct slice cwd = { NULL, 0 };
    bool yes = false;

    if (window_open(w, dirfd, name, 0, NULL) == ERR_OK && window_widen(w, NULL) == ERR_OK)
        yes =
            session_own_cwd(w->head, w->tail, &a, &cwd) && cwd.p && project_folder_same(cwd, path);
    arena_fini(&a);
    return yes;
}

static bool is_transcript_name(const char *name)
{
    size_t n = strlen(name);

    return n >= sizeof CLAUDE_SUFFIX - 1 &&
           strcmp(name + n - (sizeof CLAUDE_SUFFIX - 1), CLAUDE_SUFFIX) == 0;
}

bool session_cwd_folder_matches(const char *folder, struct slice path)
{
    struct window w;
    struct dirent *entry;
    bool yes = false;
    DIR *dir = opendir(folder);

    if (!dir)
        return false;
    if (window_init(&w, NULL) == ERR_OK) {
        while (!yes && (entry = readdir(dir)))
            yes = is_transcript_name(entry->d_name) &&
                  file_belongs_to(&w, dirfd(dir), entry->d_name, path);
        window_fini(&w);
    }
    closedir(dir);
    return yes;
}
