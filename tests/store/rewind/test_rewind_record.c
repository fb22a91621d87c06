#include "tests/test.h"

#include <cjson/cJSON.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include "store/rewind/record/record.h"
#include "store/rewind/record/records.h"
#include "support/rewind/rewind_case.h"

/* Records on disk: damaged ones are left alone, and interrupted ones are completed. */

/* A record of one restored file, as a rewind left it; returns its directory. */
static void make_record(struct rewind_case *p, char dir[4096])
{
    char name[128];

    want(p, p->f, "old\n");
    assert_int_equal(look(p), ERR_OK);
    assert_int_equal(apply(p), ERR_OK);
    snprintf(name, sizeof name, "state/rewinds/%s", p->result.undo);
    folder_path(&p->folder, name, dir);
}

static void put(struct rewind_case *p, const char *name, struct slice bytes)
{
    char path[256];

    snprintf(path, sizeof path, "state/rewinds/%s/%s", p->result.undo, name);
    folder_put(&p->folder, path, bytes);
}

static enum err_code read_record(struct rewind_case *p, const char *dir)
{
    struct rewind_tx tx;
    enum err_code rc = rewind_tx_read(dir, p->result.undo, &tx, NULL);

    if (!rc)
        rewind_tx_fini(&tx);
    return rc;
}

static enum err_code read_as(struct rewind_case *p, const char *dir, const cJSON *plan)
{
    char *text = cJSON_PrintUnformatted(plan);

    put(p, "plan", slice_of(text));
    cJSON_free(text);
    return read_record(p, dir);
}

/* Members that contain arbitrary text, and optional ones. */
static bool is_text(const char *key)
{
    static const char *const keys[] = { "path",  "root",    "system", "session",
                                        "point", "project", "undoes" };

    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        if (strcmp(key, keys[i]) == 0)
            return true;
    return false;
}

static void damage_each(struct rewind_case *p, const char *dir, cJSON *root, cJSON *object)
{
    static const char *const nonsense[] = { "", "zz", "12zz",
                                            "zz34567890123456789012345678901234567890123456789012"
                                            "345678901234",
                                            "3z34567890123456789012345678901234567890123456789012"
                                            "345678901234" };

    for (int i = 0; i < cJSON_GetArraySize(object); i++) {
        cJSON *member = cJSON_GetArrayItem(object, i);
        const char *key = member->string;
        bool optional = strcmp(key, "project") == 0 || strcmp(key, "undoes") == 0;

        if (cJSON_IsArray(member))
            continue;
        char *kept = strdup(member->valuestring);

        for (size_t k = 0; !is_text(key) && k < sizeof nonsense / sizeof *nonsense; k++) {
            cJSON_SetValuestring(member, nonsense[k]);
            if (read_as(p, dir, root) != ERR_FORMAT)
                fail_msg("%s is \"%s\", and no error was reported", key, nonsense[k]);
        }
        member = cJSON_GetArrayItem(object, i);
        cJSON *number = cJSON_CreateNumber(7);

        cJSON_ReplaceItemInObjectCaseSensitive(object, key, number);
        key = number->string;
        if (!optional)
            assert_int_equal(read_as(p, dir, root), ERR_FORMAT);
        cJSON_ReplaceItemInObjectCaseSensitive(object, key, cJSON_CreateString(kept));
        free(kept);
        assert_int_equal(read_as(p, dir, root), ERR_OK);
    }
}

#define CASE(name) TEST_WITH(name, set_up, tear_down)

CASE(a_damaged_plan_is_left_alone)
{
    struct rewind_case *p = *state;
    char dir[4096], name[160];
    size_t n, recovered;

    make_record(p, dir);
    snprintf(name, sizeof name, "state/rewinds/%s/plan", p->result.undo);
    char *text = folder_get(&p->folder, name, &n);
    cJSON *root = cJSON_ParseWithLength(text, n);

    assert_non_null(root);
    damage_each(p, dir, root, root);
    damage_each(p, dir, root,
                cJSON_GetArrayItem(cJSON_GetObjectItemCaseSensitive(root, "entries"), 0));
    cJSON *size = cJSON_GetObjectItemCaseSensitive(
        cJSON_GetArrayItem(cJSON_GetObjectItemCaseSensitive(root, "entries"), 0), "size");

    cJSON_SetValuestring(size, "-1");
    assert_int_equal(read_as(p, dir, root), ERR_FORMAT);
    cJSON_DeleteItemFromObjectCaseSensitive(root, "entries");
    assert_int_equal(read_as(p, dir, root), ERR_FORMAT);
    cJSON_Delete(root);
    put(p, "plan", SLICE("no json"));
    assert_int_equal(read_record(p, dir), ERR_FORMAT);
    snprintf(name, sizeof name, "%s/done", dir);
    assert_int_equal(unlink(name), 0);

    char *before = folder_image(&p->folder, "state");

    assert_int_equal(rewind_recover(&p->env, &recovered, NULL), ERR_OK);
    assert_int_equal(recovered, 0);
    char *after = folder_image(&p->folder, "state");

    assert_int_equal(strlen(before), strlen(after));
    free(before);
    free(after);
    free(text);
}

static cJSON *plan_of(struct rewind_case *p)
{
    char name[160];
    size_t n;

    snprintf(name, sizeof name, "state/rewinds/%s/plan", p->result.undo);
    char *text = folder_get(&p->folder, name, &n);
    cJSON *root = cJSON_ParseWithLength(text, n);

    assert_non_null(root);
    free(text);
    return root;
}

/* Replaces a member, or adds one. */
static void is_damaged_with(struct rewind_case *p, const char *dir, const char *key,
                            const char *text, bool in_entry)
{
    cJSON *root = plan_of(p), *object = root;

    assert_int_equal(read_as(p, dir, root), ERR_OK);
    if (in_entry)
        object = cJSON_GetArrayItem(cJSON_GetObjectItemCaseSensitive(root, "entries"), 0);
    cJSON *kept = cJSON_DetachItemFromObjectCaseSensitive(object, key);

    cJSON_AddStringToObject(object, key, text);
    if (read_as(p, dir, root) != ERR_FORMAT)
        fail_msg("%s is \"%s\", and no error was reported", key, text);
    cJSON_DeleteItemFromObjectCaseSensitive(object, key);
    if (kept)
        cJSON_AddItemToObject(object, key, kept);
    assert_int_equal(read_as(p, dir, root), ERR_OK);
    cJSON_Delete(root);
}

CASE(a_recorded_plan_is_checked_like_a_foreign_one)
{
    struct rewind_case *p = *state;
    static const struct {
        const char *key, *text;
        bool in_entry;
    } bad[] = {
        { "version", "0", false },
        { "version", "99", false },
        { "at", "x", false },
        { "system", "%zz", false },
        { "undoes", "%zz", false },
        { "project", "%zz", false },
        { "store", "%zz", false },
        { "title", "%zz", false },
        { "path", "/somewhere/else", true },
        { "path", "f", true },
        { "path", "", true },
        { "path", "/", true },
        { "root", "/somewhere", true },
        { "path", "/a/../b", true },
        { "path", "/a/.git/hooks/x", true },
        { "size", "9223372036854775807x", true },
    };
    char dir[4096];

    make_record(p, dir);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        is_damaged_with(p, dir, bad[i].key, bad[i].text, bad[i].in_entry);
}

CASE(an_incomplete_conversation_in_a_plan_is_damage)
{
    struct rewind_case *p = *state;
    static const char *const keys[] = { "talk", "kept", "dropped", "added" };
    char dir[4096];

    make_record(p, dir);
    cJSON *root = plan_of(p);

    cJSON_AddStringToObject(root, "talk", "resume-at");
    for (size_t i = 1; i < 4; i++)
        cJSON_AddStringToObject(root, keys[i], "1");
    assert_int_equal(read_as(p, dir, root), ERR_OK);
    cJSON_Delete(root);
    for (size_t i = 0; i < 4; i++)
        is_damaged_with(p, dir, keys[i], "nonsense", false);
    root = plan_of(p);
    cJSON_DeleteItemFromObjectCaseSensitive(root, "talk");
    cJSON_AddNumberToObject(root, "talk", 7);
    assert_int_equal(read_as(p, dir, root), ERR_FORMAT);
    cJSON_Delete(root);
}

/* Together they exceed the size of any file. */
CASE(impossible_sizes_are_damage)
{
    struct rewind_case *p = *state;
    char dir[4096], name[160];

    make_record(p, dir);
    snprintf(name, sizeof name, "state/rewinds/%s/commit", p->result.undo);
    cJSON *root = plan_of(p), *list = cJSON_GetObjectItemCaseSensitive(root, "entries"),
          *again = cJSON_Duplicate(cJSON_GetArrayItem(list, 0), true);

    cJSON_AddItemToArray(list, again);
    put(p, "commit", SLICE("dd"));
    assert_int_equal(read_as(p, dir, root), ERR_OK);
    cJSON_ReplaceItemInObjectCaseSensitive(again, "size",
                                           cJSON_CreateString("9223372036854775807"));
    assert_int_equal(read_as(p, dir, root), ERR_FORMAT);
    cJSON_Delete(root);
}

CASE(inconsistent_marks_are_left_alone)
{
    struct rewind_case *p = *state;
    char dir[4096], path[4200];
    size_t recovered;

    make_record(p, dir);
    put(p, "commit", SLICE("dd"));
    assert_int_equal(read_record(p, dir), ERR_FORMAT);
    put(p, "commit", SLICE("c"));
    assert_int_equal(read_record(p, dir), ERR_OK);
    /* A mark that is no file cannot be interpreted, and is not "no mark". */
    snprintf(path, sizeof path, "%s/intent", dir);
    assert_int_equal(unlink(path), 0);
    assert_int_equal(mkdir(path, 0700), 0);
    snprintf(path, sizeof path, "%s/done", dir);
    assert_int_equal(unlink(path), 0);
    assert_int_not_equal(read_record(p, dir), ERR_OK);
    assert_int_not_equal(rewind_recover(&p->env, &recovered, NULL), ERR_OK);
    assert_true(folder_is(&p->folder, "ws/d/f", "old\n"));
}

/* The crash came before the plan, so only the directory exists. */
CASE(a_record_without_a_plan_is_removed)
{
    struct rewind_case *p = *state;
    char dir[4096], path[4200];
    size_t recovered;

    make_record(p, dir);
    snprintf(path, sizeof path, "%s/plan", dir);
    assert_int_equal(unlink(path), 0);
    snprintf(path, sizeof path, "%s/done", dir);
    assert_int_equal(unlink(path), 0);
    assert_int_equal(rewind_recover(&p->env, &recovered, NULL), ERR_OK);
    assert_int_equal(recovered, 1);
    assert_int_equal(access(dir, F_OK), -1);
    assert_true(folder_is(&p->folder, "ws/d/f", "old\n"));
}

/* After COMMIT and before DONE an editor wrote into the removed file, and the record is on another file system: the
 * late writes are kept there. */
CASE(late_writes_into_the_old_file_are_kept)
{
    struct rewind_case *p = *state;
    char dir[4096], path[4200], name[160];
    size_t recovered;
    struct rewind_tx tx;

    folder_dir(&p->folder, "state");
    if (mount("tmpfs", p->state, "tmpfs", 0, "size=1m"))
        skip();
    make_record(p, dir);
    snprintf(path, sizeof path, "%s/done", dir);
    enum err_code rc = unlink(path) == 0 ? rewind_tx_read(dir, p->result.undo, &tx, NULL) : ERR_IO;
    char temp[64];

    if (!rc) {
        rewind_tx_temp_name(&tx, 0, temp);
        snprintf(name, sizeof name, "ws/d/%s", temp);
        folder_put(&p->folder, name, SLICE("written late\n"));
        rewind_tx_fini(&tx);
        rc = rewind_recover(&p->env, &recovered, NULL);
    }
    snprintf(name, sizeof name, "state/rewinds/%s/old/0.live", p->result.undo);
    bool kept = folder_is(&p->folder, name, "written late\n");
    char *image = folder_image(&p->folder, "ws");
    bool left = strstr(image, ".reprise") != NULL;

    free(image);
    umount2(p->state, MNT_DETACH);
    assert_int_equal(rc, ERR_OK);
    assert_true(kept);
    assert_false(left);
}

/* Only a rewind in force can be undone, and only once. */
CASE(an_undone_rewind_is_not_undone_again)
{
    struct rewind_case *p = *state;
    char dir[4096], id[40];
    struct rewind_plan again;

    make_record(p, dir);
    memcpy(id, p->result.undo, sizeof id);
    assert_int_equal(undo(p), ERR_OK);
    assert_int_equal(rewind_undo_plan(&p->env, id, &again, NULL), ERR_STALE);
    assert_int_equal(rewind_undo_plan(&p->env, "nothing", &again, NULL), ERR_NOT_FOUND);
    assert_int_equal(rewind_undo_plan(&p->env, NULL, &again, NULL), ERR_NOT_FOUND);
}

/* Both made their plans before either applied one. */
CASE(the_second_of_two_undos_is_too_late)
{
    struct rewind_case *p = *state;
    char dir[4096];
    struct rewind_plan other;
    struct rewind_preview late;
    struct rewind_result result;
    struct rewind_records records;

    make_record(p, dir);
    assert_int_equal(rewind_undo_plan(&p->env, NULL, &other, NULL), ERR_OK);
    assert_int_equal(rewind_preview(&other, &all, &late, NULL), ERR_OK);
    assert_int_equal(undo(p), ERR_OK);
    assert_int_equal(rewind_apply(&p->env, &late, &result, &p->e), ERR_STALE);
    assert_string_equal(p->e.path, p->f);
    assert_true(folder_is(&p->folder, "ws/d/f", "present\n"));
    assert_int_equal(rewind_records_read(&p->env, &records, NULL), ERR_OK);
    assert_int_equal(records.n, 2);
    assert_true(records.record[1].undone);
    rewind_records_fini(&records);
    rewind_preview_fini(&late);
    rewind_plan_fini(&other);
}

/* ---- records of an earlier version ---- */

/* A rewind as version 1 recorded it: one file restored, one recreated with its directories, one removed. %WS% is the
 * work tree. */
#define OLD_ID "001795323779739-19bd191e"

static void put_plan(struct rewind_case *p, const char *to)
{
    struct buf bytes = { 0 }, plan = { 0 };
    struct slice rest;

    assert_int_equal(
        file_read_all(AT_FDCWD, REWIND_DIR "/version-1/plan", 0, 1 << 20, &bytes, NULL), ERR_OK);
    rest = buf_slice(&bytes);
    for (const char *at; (at = memmem(rest.p, rest.n, "%WS%", 4));
         rest = (struct slice){ at + 4, rest.n - (size_t)(at + 4 - rest.p) }) {
        assert_int_equal(buf_add(&plan, (struct slice){ rest.p, (size_t)(at - rest.p) }), ERR_OK);
        assert_int_equal(buf_add(&plan, slice_of(p->root)), ERR_OK);
    }
    assert_int_equal(buf_add(&plan, rest), ERR_OK);
    folder_put(&p->folder, to, buf_slice(&plan));
    buf_fini(&bytes);
    buf_fini(&plan);
}

/* Where the files are once the names were exchanged (INTENT), and what the rest of the rewind moves into the record. */
static void put_version_1(struct rewind_case *p, bool ended)
{
    const char *record = "state/rewinds/" OLD_ID "/", *work = "ws/sub/.reprise-" OLD_ID "-";
    const struct {
        const char *in, *name, *text;
        bool always;
    } lies[] = {
        { record, "undo/0", "present\n", true },
        { record, "undo/2", "added later\n", true },
        { record, "intent", "", true },
        { "ws/sub/", "changed", "wanted\n", true },
        { "ws/", "deep/er/back", "back\n", true },
        { record, "undo/0.old", "present\n", ended },
        { record, "commit", "ddd", ended },
        { record, "undo/2.old", "added later\n", ended },
        { record, "done", "", ended },
        { work, "0.tmp", "present\n", !ended },
        { work, "2.tmp", "added later\n", !ended },
    };
    char name[256];

    for (size_t i = 0; i < sizeof lies / sizeof *lies; i++) {
        snprintf(name, sizeof name, "%s%s", lies[i].in, lies[i].name);
        if (lies[i].always)
            folder_put(&p->folder, name, slice_of(lies[i].text));
    }
    if (!ended) { /* as the plan has seen it */
        char path[4096];

        snprintf(name, sizeof name, "%s2.tmp", work);
        assert_int_equal(chmod(folder_path(&p->folder, name, path), 0640), 0);
        folder_mtime(&p->folder, name, INT64_C(1767323045123456789));
    }
    put_plan(p, "state/rewinds/" OLD_ID "/plan");
}

static void check_version_1_undone(struct rewind_case *p)
{
    struct stat st;
    char path[4096];

    assert_int_equal(undo(p), ERR_OK);
    assert_int_equal(p->result.conflicts, 0);
    assert_true(folder_is(&p->folder, "ws/sub/changed", "present\n"));
    assert_true(folder_is(&p->folder, "ws/sub/added", "added later\n"));
    assert_false(folder_has(&p->folder, "ws/deep"));
    assert_int_equal(stat(folder_path(&p->folder, "ws/sub/added", path), &st), 0);
    assert_int_equal(st.st_mode & 07777, 0640);
    assert_int_equal(st.st_mtim.tv_sec, 1767323045);
    assert_int_equal(st.st_mtim.tv_nsec, 123456789);
}

CASE(a_rewind_recorded_by_version_1_is_undone)
{
    struct rewind_case *p = *state;
    struct rewind_records records;

    put_version_1(p, true);
    assert_int_equal(rewind_records_read(&p->env, &records, NULL), ERR_OK);
    assert_int_equal(records.n, 1);
    assert_string_equal(records.record[0].id, OLD_ID);
    assert_int_equal(records.record[0].restored, 1);
    assert_int_equal(records.record[0].created, 1);
    assert_int_equal(records.record[0].deleted, 1);
    rewind_records_fini(&records);
    check_version_1_undone(p);
}

/* The program was upgraded while an interrupted rewind of an earlier version existed. */
CASE(an_interrupted_version_1_rewind_is_finished_and_undone)
{
    struct rewind_case *p = *state;
    size_t recovered;

    put_version_1(p, false);
    assert_int_equal(rewind_recover(&p->env, &recovered, NULL), ERR_OK);
    assert_int_equal(recovered, 1);
    /* Without leases it may be open, and so it is moved there itself. */
    assert_true(folder_is(&p->folder,
                          HAS_LEASES ? "state/rewinds/" OLD_ID "/undo/0.old"
                                     : "state/rewinds/" OLD_ID "/undo/0.live",
                          "present\n"));
    assert_true(folder_is(&p->folder,
                          HAS_LEASES ? "state/rewinds/" OLD_ID "/undo/2.old"
                                     : "state/rewinds/" OLD_ID "/undo/2.live",
                          "added later\n"));
    char *image = folder_image(&p->folder, "ws");

    assert_null(strstr(image, ".reprise"));
    free(image);
    assert_true(folder_is(&p->folder, "ws/sub/changed", "wanted\n"));
    check_version_1_undone(p);
}
