#include "tests/test.h"

#include <stdlib.h>

#include "store/log/append.h"
#include "tests/sweeps/trial.h"

static const char rows[] = "{\"a\":1}\n{\"a\":2}\n{\"a\":3}\n";
static const char torn_rows[] = "{\"a\":1}\n{\"a\":2}\n{\"a\":";
static const char title[] = "{\"type\":\"custom-title\",\"customTitle\":\"t\"}\n";

static void make_log(struct trial_dir *y)
{
    const char *text = y->arg;

    folder_put(&y->folder, "user/log.jsonl", slice_of(text));
    folder_put(&y->folder, "user/other.jsonl", SLICE("{}\n"));
}

static enum trial_end append(struct trial_dir *y)
{
    char path[4096];
    struct err e;

    folder_path(&y->folder, "user/log.jsonl", path);
    return trial_end_of(log_append(path, SLICE(title), 0, NULL, &e), &e);
}

/* Recovery means appending again, which must find a line of its own whatever the end of the file is. */
static enum trial_end nothing(struct trial_dir *y)
{
    (void)y;
    return END_DONE;
}

/* A crash in the middle of the one write leaves a torn line at the end, which harms no other line. An error leaves
 * nothing, or (if another program has the file open) a line that is no record. */
static bool others_are_whole(const struct trial_dir *y, bool done)
{
    const char *text = y->arg;
    size_t n, start = strlen(text);
    char *now = folder_get(&y->folder, "user/log.jsonl", &n);
    bool whole = n >= start && memcmp(now, text, start) == 0;

    free(now);
    if (!whole || done)
        return false;
    struct trial_dir again = *y;

    if (append(&again) != END_DONE)
        return false;
    now = folder_get(&y->folder, "user/log.jsonl", &n);
    whole = n > strlen(title) && now[n - strlen(title) - 1] == '\n' &&
            strcmp(now + n - strlen(title), title) == 0 && memcmp(now, text, start) == 0;
    free(now);
    return whole;
}

TEST(append_is_complete_or_harmless)
{
    struct trial s = { .name = "append",
                       .make = make_log,
                       .act = append,
                       .recover = nothing,
                       .tolerates = others_are_whole,
                       .arg = rows,
                       .leaves = !HAS_LEASES, /* blanks */
                       .thorough = true };

    trial_must_hold_once(&s);
}

TEST(append_after_a_torn_line_is_complete_or_harmless)
{
    struct trial s = { .name = "append behind a torn line",
                       .make = make_log,
                       .act = append,
                       .recover = nothing,
                       .tolerates = others_are_whole,
                       .arg = torn_rows,
                       .leaves = !HAS_LEASES,
                       .thorough = true };

    trial_must_hold_once(&s);
}
