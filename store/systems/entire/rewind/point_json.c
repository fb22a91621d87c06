#include "store/systems/entire/rewind/point_json.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#include "lite/base/utf8.h"
#include "lite/json/jsonout.h"
#include "store/git/repo.h"
#include "store/systems/entire/names.h"
#include "store/systems/entire/read/prompts.h"

enum { PROMPT_BYTES = 60 };

/* When the author made it, where the author was: RFC 3339, without fractions. */
static void put_date(struct jsonout *j, const git_signature *by)
{
    char text[64];
    int minutes = by->when.offset, away = minutes < 0 ? -minutes : minutes;
    time_t at = (time_t)by->when.time + minutes * 60;
    struct tm tm = { 0 };
    size_t n = gmtime_r(&at, &tm) ? strftime(text, 32, "%Y-%m-%dT%H:%M:%S", &tm) : 0;

    if (minutes == 0)
        n += (size_t)snprintf(text + n, sizeof text - n, "Z");
    else
        n += (size_t)snprintf(text + n, sizeof text - n, "%c%02d:%02d", minutes < 0 ? '-' : '+',
                              away / 60 % 100, away % 60);
    jsonout_member(j, "date", (struct slice){ text, n });
}

/* The first prompt that says something, cut as Entire cuts it. */
static void put_prompt(struct jsonout *j, const struct view *v, const struct point *p)
{
    struct buf text = { 0 };
    char cut[PROMPT_BYTES + 4];

    if (prompts_read(v->repo, p, &text)) {
        struct slice first = utf8_js_trim(prompts_first(buf_slice(&text)));

        if (first.n > PROMPT_BYTES) {
            size_t n = PROMPT_BYTES - 3;

            while (n && ((unsigned char)first.p[n] & 0xc0) == 0x80)
                n--; /* not in the middle of a letter */
            first.n = (size_t)snprintf(cut, sizeof cut, "%.*s...", (int)n, first.p);
            first.p = cut;
        }
        if (first.n)
            jsonout_member(j, "session_prompt", first);
    }
    buf_fini(&text);
}

/* Where its metadata lies: in the tree of a shadow commit; of an auto-commit on the metadata branch. */
static void put_folder(struct jsonout *j, const struct point *p)
{
    char path[700] = "";

    if (p->source == POINT_SHADOW)
        snprintf(path, sizeof path, "%s%s%s", p->metadata.p, p->task.n ? "/tasks/" : "", p->task.p);
    else if (slice_eq(p->strategy, SLICE("auto-commit")) && p->id.n == ENTIRE_HEX_ID)
        snprintf(path, sizeof path, "%.2s/%s%s%s", p->id.p, p->id.p + 2, p->task.n ? "/tasks/" : "",
                 p->task.p);
    jsonout_key(j, "metadata_dir");
    jsonout_text(j, slice_of(path));
}

/* Work of an auto-commit that the main branch does not have can be gone back to; else only the log. */
static bool is_logs_only(const struct view *v, const struct point *p, const git_oid *commit)
{
    static const char *const mains[] = { ENTIRE_HEADS "main", "refs/remotes/origin/main",
                                         ENTIRE_HEADS "master", "refs/remotes/origin/master" };
    git_oid tip;

    if (p->source == POINT_SHADOW)
        return false;
    if (!slice_eq(p->strategy, SLICE("auto-commit")))
        return true;
    for (size_t i = 0; i < sizeof mains / sizeof *mains; i++)
        if (repo_has_ref(v->repo, mains[i], &tip))
            return git_oid_equal(&tip, commit) ||
                   git_graph_descendant_of(v->repo, &tip, commit) == 1;
    return false;
}

static void put_all(struct jsonout *j, const struct view *v, const struct point *p,
                    const git_commit *c, struct slice subject)
{
    char hex[GIT_OID_HEXSZ + 1];

    git_oid_tostr(hex, sizeof hex, git_commit_id(c));
    jsonout_open(j, '{');
    jsonout_member(j, "id", (struct slice){ hex, GIT_OID_HEXSZ });
    jsonout_key(j, "message");
    jsonout_text(j, subject);
    put_folder(j, p);
    put_date(j, git_commit_author(c));
    jsonout_key(j, "is_task_checkpoint");
    jsonout_bool(j, p->task.n > 0);
    if (p->task.n)
        jsonout_member(j, "tool_use_id", p->task);
    jsonout_key(j, "is_logs_only");
    jsonout_bool(j, is_logs_only(v, p, git_commit_id(c)));
    if (p->source != POINT_SHADOW)
        jsonout_member(j, "condensation_id", p->id);
    if (p->session.n)
        jsonout_member(j, "session_id", p->session);
    put_prompt(j, v, p);
    jsonout_close(j, '}');
}

bool point_json_make(const struct view *v, const struct point *p, const struct link *link,
                     struct arena *a, struct slice *out)
{
    const git_oid *id = p->source == POINT_SHADOW ? &p->commit : link ? &link->commit : NULL;
    git_commit *c = NULL;
    struct buf text = { 0 };
    struct jsonout j;

    *out = SLICE("");
    if (!id || git_commit_lookup(&c, v->repo, id))
        return true;
    jsonout_init(&j, &text);
    put_all(&j, v, p, c, p->source == POINT_SHADOW ? p->text : link->subject);
    if (!j.rc)
        *out = arena_copy(a, buf_slice(&text));
    buf_fini(&text);
    git_commit_free(c);
    return !j.rc && out->p;
}
