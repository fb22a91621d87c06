#ifndef TESTS_SUPPORT_REWIND_MIXED_PLAN_HOOK_H
#define TESTS_SUPPORT_REWIND_MIXED_PLAN_HOOK_H

#include "tests/test.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "support/faults/syscall_hook.h"
#include "support/rewind/mixed_plan.h"

/* The actions of a person in the middle of a rewind of the wide plan, and the checks afterwards. */

enum { F, O, ONLY, H, M, TOO, ENTRIES }; /* the entries of the wide plan */

static const char *const place_of[ENTRIES] = { "ws/d/f",        "out/o", "ws/gone/deep/only",
                                               "ws/new/deep/h", "ws/m",  "out/gone/too" };

static inline void save(void *arg, int entry, const char *text)
{
    struct rewind_case *p = arg;
    char path[4096], other[4200];

    folder_put(&p->folder, "saving", slice_of(text));
    snprintf(other, sizeof other, "%s/saving", p->folder.path);
    assert_int_equal(rename(other, folder_path(&p->folder, place_of[entry], path)), 0);
}

static inline void drop(void *arg, int entry)
{
    struct rewind_case *p = arg;
    char path[4096];

    assert_int_equal(unlink(folder_path(&p->folder, place_of[entry], path)), 0);
}

/* ---- checks afterwards ---- */

static const char *record_of(const struct rewind_case *p)
{
    static char id[256];
    char path[4096];
    DIR *d = opendir(folder_path(&p->folder, "state/rewinds", path));
    const struct dirent *x;

    id[0] = '\0';
    assert_non_null(d);
    while ((x = readdir(d)))
        if (x->d_name[0] >= '0' && x->d_name[0] <= '9' && strcmp(x->d_name, id) > 0)
            snprintf(id, sizeof id, "%s", x->d_name);
    closedir(d);
    return id;
}

static const char *temp_of(const struct rewind_case *p, int entry, char out[4096])
{
    const char *path = place_of[entry];

    snprintf(out, 4096, "%.*s/.reprise-%.32s-%d.tmp", (int)(strrchr(path, '/') - path), path,
             record_of(p), entry);
    return out;
}

/* Looks under the name of a file written to after the rewind, or of one that was not. */
static inline bool is_kept(const struct rewind_case *p, int entry, const char *text)
{
    char name[512];
    int n = snprintf(name, sizeof name, "state/rewinds/%s/old/%d.live", record_of(p), entry);

    if (!folder_has(&p->folder, name))
        name[n - 5] = '\0';
    return folder_is(&p->folder, name, text);
}

/* The record's outcome, by which the listing and the undo go. */
static inline enum rewind_outcome outcome_of(struct rewind_case *p, int entry)
{
    char name[512];
    size_t n;

    snprintf(name, sizeof name, "state/rewinds/%s/commit", record_of(p));
    char *letters = folder_get(&p->folder, name, &n);
    char letter = letters[entry];

    assert_int_equal(n, ENTRIES);
    free(letters);
    return letter == 'c' ? REWIND_CONFLICT : REWIND_DONE;
}

/* All entries but this one are done, this one is a conflict, and the rest can be undone. */
static inline void only_this_is_a_conflict(struct rewind_case *p, int entry)
{
    char *before = mixed_image(p);
    struct rewind_records list;

    for (int i = 0; i < ENTRIES; i++)
        assert_int_equal(outcome_of(p, i), i == entry ? REWIND_CONFLICT : REWIND_DONE);
    assert_true(mixed_is_clean(p));
    assert_int_equal(rewind_records_read(&p->env, &list, NULL), ERR_OK);
    assert_int_equal(list.record[0].restored + list.record[0].created + list.record[0].deleted,
                     ENTRIES - 1);
    rewind_records_fini(&list);
    p->env.now_ms++;
    assert_int_equal(mixed_undo(p), ERR_OK);
    for (size_t i = 0; i < p->preview.n; i++)
        assert_string_not_equal(strrchr(p->preview.entry[i].target->path, '/'),
                                strrchr(place_of[entry], '/'));
    free(before);
}

/* Stops as if killed between INTENT and the exchange of `name`. */
static inline struct rewind_case *stopped_at(const char *call, const char *name)
{
    struct rewind_case *p = mixed_place(false);

    syscall_hook_arm(&(struct syscall_hook){ .call = call, .name = name, .error = EIO });
    assert_int_not_equal(apply(p), ERR_OK);
    assert_true(syscall_hook_fired());
    assert_non_null(strstr(p->e.text, "unfinished"));
    return p;
}

static inline void recover(struct rewind_case *p)
{
    size_t recovered;

    assert_int_equal(rewind_recover(&p->env, &recovered, &p->e), ERR_OK);
    assert_int_equal(recovered, 1);
}

static inline void put_at(struct rewind_case *p, int entry, const char *text)
{
    folder_put(&p->folder, place_of[entry], slice_of(text));
}

static inline void put_temp(struct rewind_case *p, int entry, const char *text)
{
    char temp[4096];

    folder_put(&p->folder, temp_of(p, entry, temp), slice_of(text));
}

static inline void drop_temp(struct rewind_case *p, int entry)
{
    char temp[4096], path[4096];

    assert_int_equal(unlink(folder_path(&p->folder, temp_of(p, entry, temp), path)), 0);
}

#endif
