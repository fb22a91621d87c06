#include "store/systems/goat/metadata.h"

#include <fcntl.h>
#include <string.h>

#include "lite/base/utf8.h"
#include "lite/io/file.h"
#include "lite/json/json.h"
#include "store/fs/file_at.h"
#include "store/journal/change.h"
#include "store/log/lease.h"
#include "store/systems/common/go_json.h"
#include "store/systems/goat/dialect.h"
#include "store/systems/goat/goat.h"

/* Every spelling that a dialect has for a field; of two, the more specific one first. */
enum spelling {
    ID,
    SESSION_ID,
    PROJECT_HASH,
    CWD,
    MODEL,
    PARENT_SESSION_ID,
    PARENT_ID,
    FORK_POINT,
    CREATED_AT,
    UPDATED_AT,
    MESSAGE_COUNT,
    TURN_COUNT,
    TOTAL_TOKENS,
    TOTAL_COST,
    LEAF_TITLE,
    EXIT_REASON,
    AGENT_NAME,
    SPELLINGS
};

static const char *const spelled[SPELLINGS] = {
    [ID] = "id",
    [SESSION_ID] = "session_id",
    [PROJECT_HASH] = "project_hash",
    [CWD] = "cwd",
    [MODEL] = "model",
    [PARENT_SESSION_ID] = "parent_session_id",
    [PARENT_ID] = "parent_id",
    [FORK_POINT] = "fork_point_uuid",
    [CREATED_AT] = "created_at",
    [UPDATED_AT] = "updated_at",
    [MESSAGE_COUNT] = "message_count",
    [TURN_COUNT] = "turn_count",
    [TOTAL_TOKENS] = "total_tokens",
    [TOTAL_COST] = "total_cost_usd",
    [LEAF_TITLE] = "leaf_title",
    [EXIT_REASON] = "exit_reason",
    [AGENT_NAME] = "agent_name",
};

static const enum goat_field field_of[SPELLINGS] = {
    [ID] = GOAT_ID,
    [SESSION_ID] = GOAT_ID,
    [PROJECT_HASH] = GOAT_HASH,
    [CWD] = GOAT_CWD,
    [MODEL] = GOAT_MODEL,
    [PARENT_SESSION_ID] = GOAT_PARENT,
    [PARENT_ID] = GOAT_PARENT,
    [FORK_POINT] = GOAT_FORK_POINT,
    [CREATED_AT] = GOAT_CREATED,
    [UPDATED_AT] = GOAT_UPDATED,
    [MESSAGE_COUNT] = GOAT_MESSAGES,
    [TURN_COUNT] = GOAT_TURNS,
    [TOTAL_TOKENS] = GOAT_TOKENS,
    [TOTAL_COST] = GOAT_COST,
    [LEAF_TITLE] = GOAT_TITLE,
    [EXIT_REASON] = GOAT_EXIT,
    [AGENT_NAME] = GOAT_AGENT,
};

static const char *const wrong[] = {
    [GOAT_TEXT] = "metadata.json has a member of the wrong type",
    [GOAT_TIME] = "metadata.json has an invalid time",
    [GOAT_INT] = "metadata.json has a count that is not a whole number",
    [GOAT_FLOAT] = "metadata.json has an amount that is not a number",
};

/* ---- times ---- */

static bool goat_digits(struct slice text, size_t at, size_t n)
{
    for (size_t i = at; i < at + n; i++)
        if (i >= text.n || text.p[i] < '0' || text.p[i] > '9')
            return false;
    return true;
}

/* The digits after the point, as nanoseconds; *at moves past them. */
static bool fraction(struct slice text, size_t *at, int64_t *ns)
{
    int64_t unit = 100000000;
    size_t from = ++*at;

    for (*ns = 0; goat_digits(text, *at, 1); ++*at, unit /= 10)
        *ns += (text.p[*at] - '0') * unit;
    return *at > from;
}

static bool is_zone(struct slice zone)
{
    return slice_eq(zone, SLICE("Z")) ||
           (zone.n == 6 && (zone.p[0] == '+' || zone.p[0] == '-') && goat_digits(zone, 1, 2) &&
            zone.p[3] == ':' && goat_digits(zone, 4, 2));
}

static int goat_number(struct slice text, size_t at, size_t n)
{
    int value = 0;

    for (size_t i = at; i < at + n; i++)
        value = value * 10 + (text.p[i] - '0');
    return value;
}

/* Returns false for a day that is not in the month: Go refuses it, while time_parse, like
 * JavaScript, continues into the next month. */
static bool is_on_calendar(struct slice text)
{
    static const int days[] = { 31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31 };

    if (!goat_digits(text, 5, 2) || !goat_digits(text, 8, 2) || memcmp(text.p + 11, "24", 2) == 0)
        return false;
    int year = goat_number(text, 0, 4), month = goat_number(text, 5, 2),
        day = goat_number(text, 8, 2);
    bool leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);

    return month >= 1 && month <= 12 && day >= 1 && day <= days[month - 1] + (month == 2 && leap);
}

bool goat_time(struct slice text, int64_t *ns)
{
    enum { SECONDS = 19 }; /* 2026-02-09T02:48:30 */
    char plain[SECONDS + 6 + 1];
    size_t at = SECONDS;
    int64_t rest = 0, ms;

    if (text.n < SECONDS + 1 || text.n > 64 || (text.p[10] != 'T' && text.p[10] != 't') ||
        !goat_digits(text, 0, 4) || !goat_digits(text, 17, 2))
        return false;
    if (text.p[at] == '.' && !fraction(text, &at, &rest))
        return false;
    struct slice zone = { text.p + at, text.n - at };

    if (!is_zone(zone))
        return false;
    memcpy(plain, text.p, SECONDS);
    memcpy(plain + SECONDS, zone.p, zone.n);
    if (!is_on_calendar(text) || !time_parse((struct slice){ plain, SECONDS + zone.n }, &ms))
        return false;
    /* Go's zero time, and times that do not fit in 64 bits of nanoseconds, have no meaning here. */
    bool holds = ms > INT64_MIN / 1000000 + 1000 && ms < INT64_MAX / 1000000 - 1000;

    *ns = holds ? ms * 1000000 + rest : 0;
    return true;
}

/* ---- the document ---- */

static bool goat_parse_field(struct goat_metadata *m, enum goat_field field, struct slice value,
                             struct arena *a)
{
    enum goat_form form = goat_form(field);
    enum json_type want = form == GOAT_TEXT || form == GOAT_TIME ? JSON_STRING : JSON_NUMBER;
    int64_t whole;

    m->raw[field] = value;
    if (json_type(value) != want || (form == GOAT_INT && !json_int(value, &whole))) {
        m->why = wrong[form];
        return true;
    }
    if (want == JSON_STRING && !json_text(value, a, &m->text[field]))
        return false;
    if (form != GOAT_TIME)
        return true;
    int64_t ns;

    if (!goat_time(m->text[field], &ns))
        m->why = wrong[GOAT_TIME];
    else if (field == GOAT_UPDATED)
        m->updated_ns = ns;
    else
        m->created_ms = ns ? ns / 1000000 : TIME_NONE;
    return true;
}

static const char *outer_fault(struct slice document, struct goat_metadata *m)
{
    if (document.n >= 3 && memcmp(document.p, "\xef\xbb\xbf", 3) == 0) {
        m->bom = true;
        document = (struct slice){ document.p + 3, document.n - 3 };
    }
    m->object = utf8_js_trim(document);
    if (m->object.n == 0)
        return "metadata.json is empty";
    if (!json_valid(m->object))
        return "metadata.json is not JSON";
    return json_type(m->object) == JSON_OBJECT ? NULL : "metadata.json is not a JSON object";
}

/* Parses a document. `why` receives a defect of the document; the only error is ERR_NOMEM. */
static enum err_code goat_metadata_parse(struct slice document, struct arena *a,
                                         struct goat_metadata *out)
{
    struct slice value[SPELLINGS];
    struct goat_metadata m = { .document = document, .created_ms = TIME_NONE };

    m.why = outer_fault(document, &m);
    if (m.why) {
        *out = m;
        return ERR_OK;
    }
    goat_members(m.object, spelled, SPELLINGS, value);

    const struct goat_telltale telltale = {
        .id = value[ID].p != NULL,
        .session_id = value[SESSION_ID].p != NULL,
        .parent_id = value[PARENT_ID].p != NULL,
        .total_tokens = value[TOTAL_TOKENS].p != NULL,
        .total_cost = value[TOTAL_COST].p != NULL,
    };

    m.dialect = goat_dialect_of_metadata(m.object, &telltale);

    /* A field has several spellings, of which the first value that is not null counts. */
    for (size_t i = 0; i < SPELLINGS; i++) {
        enum goat_field field = field_of[i];

        if (value[i].p && json_type(value[i]) != JSON_NULL && !m.raw[field].p &&
            !goat_parse_field(&m, field, value[i], a))
            return ERR_NOMEM;
    }
    if (!m.why && !m.raw[GOAT_ID].p)
        m.why = "metadata.json does not name the session";
    *out = m;
    return ERR_OK;
}

/* Reads all of it at once: a document is small, and is replaced as a whole. */
static enum err_code goat_read_document(int dirfd, const char *name, struct arena *a,
                                        struct slice *out)
{
    struct file f;
    char *bytes = NULL;
    enum err_code rc = file_open(dirfd, name, 0, &f, NULL);

    *out = (struct slice){ NULL, 0 };
    if (rc)
        return rc;
    if (f.id.size > GOAT_METADATA_MAX)
        rc = ERR_FORMAT;
    else if (!(bytes = arena_alloc(a, (size_t)f.id.size + 1)))
        rc = ERR_NOMEM;
    else
        rc = file_read(&f, 0, bytes, (size_t)f.id.size, &out->n, NULL);
    out->p = bytes;
    file_close(&f);
    return rc;
}

enum err_code goat_metadata_read(int dirfd, const char *name, struct arena *a,
                                 struct goat_metadata *out)
{
    struct slice document;
    enum err_code rc = goat_read_document(dirfd, name, a, &document);

    if (rc == ERR_NOMEM)
        return rc;
    if (!rc)
        return goat_metadata_parse(document, a, out);
    *out = (struct goat_metadata){ .created_ms = TIME_NONE };
    switch (rc) {
    case ERR_NOT_FOUND: out->why = "there is no metadata.json"; break;
    case ERR_UNSAFE: out->why = "metadata.json is a link, or not a regular file"; break;
    case ERR_FORMAT: out->why = "metadata.json is larger than 1 MiB"; break;
    default: out->why = "metadata.json cannot be read";
    }
    return ERR_OK;
}

enum err_code goat_metadata_of(const struct session_ref *ref, struct arena *a,
                               struct goat_metadata *out)
{
    if (ref->preread.n)
        return goat_metadata_parse(ref->preread, a, out);
    const char *path = goat_path(ref, GOAT_METADATA, a);

    return path ? goat_metadata_read(AT_FDCWD, path, a, out) : ERR_NOMEM;
}

enum err_code goat_metadata_updated(int dirfd, const char *name, struct arena *a,
                                    struct goat_metadata *out)
{
    struct slice document;
    enum err_code rc = goat_read_document(dirfd, name, a, &document);

    *out = (struct goat_metadata){ .document = document };
    if (rc || document.n == 0)
        return rc == ERR_NOMEM ? rc : ERR_OK;
    /* Finds the time as Go writes it, on a separate line that is indented by two blanks. For anything else (another
     * spelling, a document in one line, a repeated key) the whole document is parsed. */
    static const char key[] = "\n  \"updated_at\": \"";
    enum { KEY = sizeof key - 1, NAME = sizeof "\n  " - 1 };
    const char *p = slice_find(document.p, document.n, key, KEY), *end = document.p + document.n;
    const char *text = p ? p + KEY : end;
    const char *quote = memchr(text, '"', (size_t)(end - text));

    return quote && goat_time((struct slice){ text, (size_t)(quote - text) }, &out->updated_ns) &&
                   !slice_find(quote, (size_t)(end - quote), key + NAME, KEY - NAME)
               ? ERR_OK
               : goat_metadata_parse(document, a, out);
}

struct member {
    struct slice key, value; /* raw */
    int rank;                /* its place in the dialect's order; -1: unknown to the dialect */
};

struct members {
    struct member *list; /* in the arena */
    size_t n;
};

static int goat_rank_of(enum goat_dialect d, struct slice key)
{
    const struct goat_member *m = goat_dialects[d].member;

    for (int i = 0; m[i].key; i++)
        if (goat_key_is(key, m[i].key))
            return i;
    return -1;
}

static enum err_code goat_insert(struct members *ms, size_t at, struct member m, struct arena *a)
{
    struct member *list = arena_grow(a, ms->list, ms->n, sizeof *list);

    if (!list)
        return ERR_NOMEM;
    ms->list = list;
    for (size_t i = ms->n; i > at; i--)
        list[i] = list[i - 1];
    list[at] = m;
    ms->n++;
    return ERR_OK;
}

/* The place after the last member that the dialect writes before it; unknown members come last. */
static size_t place_for(const struct members *ms, int rank)
{
    size_t at = rank < 0 ? ms->n : 0;

    for (size_t i = 0; rank >= 0 && i < ms->n; i++)
        if (ms->list[i].rank >= 0 && ms->list[i].rank < rank)
            at = i + 1;
    return at;
}

/* Removes every member with that name except the last, which is the one that Go takes. */
static enum err_code apply_edit(struct members *ms, enum goat_dialect d,
                                const struct goat_edit *edit, struct arena *a)
{
    const char *name = edit->key ? edit->key : goat_key(d, edit->field);
    struct slice value = edit->value;
    char *quoted = name ? arena_format(a, "\"%s\"", name) : NULL;
    bool found = false;

    if (!quoted)
        return name ? ERR_NOMEM : ERR_OK;
    struct slice key = slice_of(quoted);
    int rank = goat_rank_of(d, key);

    /* Go writes an empty text unless the member has omitempty. */
    if (!value.n && (rank >= 0 && !goat_dialects[d].member[rank].omit_empty))
        value = SLICE("\"\"");
    for (size_t i = ms->n; i-- > 0;) {
        if (!goat_key_is(ms->list[i].key, name))
            continue;
        if (found || !value.n)
            memmove(&ms->list[i], &ms->list[i + 1], (--ms->n - i) * sizeof *ms->list);
        else
            ms->list[i].value = value;
        found = true;
    }
    if (found || !value.n)
        return ERR_OK;
    return goat_insert(ms, place_for(ms, rank), (struct member){ key, value, rank }, a);
}

enum err_code goat_metadata_edit(const struct goat_metadata *m, const struct goat_edit edit[],
                                 size_t n, struct arena *a, struct buf *out)
{
    struct members ms = { 0 };

    struct json_iter it;
    struct slice key, value;
    enum err_code rc = ERR_OK;
    struct go_json_document g;

    /* All members stay, even those that we do not know, in the order of the document. */
    for (bool more = json_iter_open(&it, m->object);
         !rc && more && json_iter_next(&it, &key, &value);) {
        struct member one = { key, value, goat_rank_of(m->dialect, key) };

        rc = goat_insert(&ms, ms.n, one, a);
    }

    for (size_t i = 0; i < n && !rc; i++)
        rc = apply_edit(&ms, m->dialect, &edit[i], a);
    if (rc)
        return rc;
    go_json_document_init(&g, out);
    go_json_document_open(&g, '{');
    for (size_t i = 0; i < ms.n; i++) {
        go_json_document_raw_key(&g, ms.list[i].key);
        go_json_document_value(&g, ms.list[i].value);
    }
    go_json_document_close(&g, '}');
    return g.rc;
}

/* Changes of a session's metadata: read, changed and replaced under the lock that hosts take for
 * the log (metadata.json is the only file here that is replaced by rename). A document that another
 * program changed between plan and execution is left alone (step.h, PUT). */

enum err_code goat_document_open(const struct session_ref *ref, struct goat_document *d,
                                 struct err *e)
{
    *d = (struct goat_document){ 0 };
    d->path = goat_path(ref, GOAT_METADATA, &d->arena);

    struct buf bytes = { 0 };
    enum err_code rc =
        d->path ? file_read_all(AT_FDCWD, d->path, 0, GOAT_METADATA_MAX, &bytes, e) : err_nomem(e);
    struct slice document =
        rc ? (struct slice){ NULL, 0 } : arena_copy(&d->arena, buf_slice(&bytes));

    buf_fini(&bytes);
    if (!rc && (!document.p || goat_metadata_parse(document, &d->arena, &d->m)))
        rc = err_nomem(e);
    if (!rc && d->m.why)
        rc = err_set(e, ERR_FORMAT, d->path, "read metadata: %s", d->m.why);
    if (rc)
        goat_document_close(d);
    return rc;
}

void goat_document_close(struct goat_document *d)
{
    arena_fini(&d->arena);
    *d = (struct goat_document){ 0 };
}

const char *goat_lock_path(const struct session_ref *ref, struct arena *a)
{
    return goat_path(ref, GOAT_MESSAGES_LOG GOAT_LOCK_SUFFIX, a);
}

/* The step that puts the changed document in its place; it borrows from d. */
static enum err_code goat_document_step(const struct session_ref *ref, struct goat_document *d,
                                        const struct goat_edit edit[], size_t n, struct step *step,
                                        struct err *e)
{
    struct buf now = { 0 };
    enum err_code rc = goat_metadata_edit(&d->m, edit, n, &d->arena, &now);
    struct slice bytes = rc ? (struct slice){ NULL, 0 } : arena_copy(&d->arena, buf_slice(&now));

    buf_fini(&now);
    *step = (struct step){ .kind = STEP_PUT,
                           .path = d->path,
                           .lock = goat_lock_path(ref, &d->arena),
                           .bytes = bytes,
                           .old = d->m.document,
                           .mtime_ns = MTIME_NOW };
    return bytes.p && step->lock ? ERR_OK : err_nomem(e);
}

enum err_code goat_rename(const struct store *st, const struct session_ref *ref, struct slice title,
                          struct change *c, struct err *e)
{
    struct goat_document d;
    struct buf value = { 0 };
    struct step step;
    struct slice text = utf8_js_trim(title);

    (void)st;
    if (text.n == 0)
        return err_set(e, ERR_USAGE, ref->path.p, "rename: title must be non-empty");
    enum err_code rc = goat_document_open(ref, &d, e);

    if (rc)
        return rc;
    if (go_json_text(&value, text))
        rc = err_nomem(e);
    const struct goat_edit edit = { GOAT_TITLE, buf_slice(&value), "leaf_title" };

    if (!rc)
        rc = goat_document_step(ref, &d, &edit, 1, &step, e);
    if (!rc)
        rc = change_add(c, &step, e);
    buf_fini(&value);
    goat_document_close(&d);
    return rc;
}

enum err_code goat_parts(const struct store *st, const struct session_ref *ref, bool all,
                         struct arena *a, const char ***part, size_t *n, struct err *e)
{
    const char **list = arena_alloc(a, sizeof *list);

    (void)st;
    (void)all;
    if (!list || !(list[0] = goat_path(ref, "", a)))
        return err_nomem(e);
    *part = list;
    *n = 1;
    return ERR_OK;
}

/* A host holds the lock only during a write, but keeps its logs open as long as it runs. */
enum err_code goat_live(const struct store *st, const struct session_ref *ref, struct live *out,
                        struct err *e)
{
    static const char *const logs[] = { GOAT_MESSAGES_LOG, GOAT_TRANSCRIPT_LOG };
    struct arena a = { 0 };
    enum err_code rc = ERR_OK;

    (void)st;
    *out = (struct live){ .state = LIVE_QUIET };
    for (size_t i = 0; i < 2 && !rc && out->state == LIVE_QUIET; i++) {
        const char *log = goat_path(ref, logs[i], &a);
        const char *lock = log ? arena_format(&a, "%s" GOAT_LOCK_SUFFIX, log) : NULL;

        if (!lock)
            rc = err_nomem(e);
        else if (log_lock_is_held(lock))
            *out =
                (struct live){ .state = LIVE_RUNNING, .why = "a program holds the session's lock" };
        else
            *out = lease_live(log);
    }
    arena_fini(&a);
    return rc;
}
