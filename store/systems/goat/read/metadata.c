#include "store/systems/goat/read/metadata.h"

#include <fcntl.h>
#include <string.h>

#include "lite/base/utf8.h"
#include "lite/io/file.h"
#include "lite/json/json.h"
#include "store/systems/goat/goat.h"
#include "store/systems/goat/members.h"

/* Every spelling that a dialect has for a field, the more telling one of two first. */
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
    [GOAT_TEXT] = "metadata.json has a number or a list where a text belongs",
    [GOAT_TIME] = "metadata.json has a time that is none",
    [GOAT_INT] = "metadata.json has a count that is no whole number",
    [GOAT_FLOAT] = "metadata.json has an amount that is no number",
};

/* ---- times ---- */

static bool digits(struct slice text, size_t at, size_t n)
{
    for (size_t i = at; i < at + n; i++)
        if (i >= text.n || text.p[i] < '0' || text.p[i] > '9')
            return false;
    return true;
}

/* The digits behind the point, as nanoseconds; *at moves behind them. */
static bool fraction(struct slice text, size_t *at, int64_t *ns)
{
    int64_t unit = 100000000;
    size_t from = ++*at;

    for (*ns = 0; digits(text, *at, 1); ++*at, unit /= 10)
        *ns += (text.p[*at] - '0') * unit;
    return *at > from;
}

static bool is_zone(struct slice zone)
{
    return slice_eq(zone, SLICE("Z")) ||
           (zone.n == 6 && (zone.p[0] == '+' || zone.p[0] == '-') && digits(zone, 1, 2) &&
            zone.p[3] == ':' && digits(zone, 4, 2));
}

static int number(struct slice text, size_t at, size_t n)
{
    int value = 0;

    for (size_t i = at; i < at + n; i++)
        value = value * 10 + (text.p[i] - '0');
    return value;
}

/* Where time_parse, like JavaScript, lets a day run over into the next month, Go says that there is no such time. */
static bool is_on_calendar(struct slice text)
{
    static const int days[] = { 31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31 };

    if (!digits(text, 5, 2) || !digits(text, 8, 2) || memcmp(text.p + 11, "24", 2) == 0)
        return false;
    int year = number(text, 0, 4), month = number(text, 5, 2), day = number(text, 8, 2);
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
        !digits(text, 0, 4) || !digits(text, 17, 2))
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
    /* Go's zero time, and what 64 bits of nanoseconds cannot hold: no time that would mean anything here. */
    bool holds = ms > INT64_MIN / 1000000 + 1000 && ms < INT64_MAX / 1000000 - 1000;

    *ns = holds ? ms * 1000000 + rest : 0;
    return true;
}

/* ---- the document ---- */

static void take_time(struct goat_metadata *m, enum goat_field field)
{
    int64_t ns;

    if (!goat_time(m->text[field], &ns)) {
        m->why = wrong[GOAT_TIME];
        return;
    }
    if (field == GOAT_UPDATED)
        m->updated_ns = ns;
    else
        m->created_ms = ns ? ns / 1000000 : TIME_NONE;
}

static bool take_field(struct goat_metadata *m, enum goat_field field, struct slice value,
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
    if (form == GOAT_TIME)
        take_time(m, field);
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
        return "metadata.json is no JSON";
    return json_type(m->object) == JSON_OBJECT ? NULL : "metadata.json holds no object";
}

static enum goat_dialect dialect_of(struct slice object, const struct slice value[SPELLINGS])
{
    const struct goat_telltale told = {
        .id = value[ID].p != NULL,
        .session_id = value[SESSION_ID].p != NULL,
        .parent_id = value[PARENT_ID].p != NULL,
        .total_tokens = value[TOTAL_TOKENS].p != NULL,
        .total_cost = value[TOTAL_COST].p != NULL,
    };

    return goat_dialect_of_metadata(object, &told);
}

enum err_code goat_metadata_parse(struct slice document, struct arena *a, struct goat_metadata *out)
{
    struct slice value[SPELLINGS];
    struct goat_metadata m = { .created_ms = TIME_NONE };

    m.why = outer_fault(document, &m);
    if (m.why) {
        *out = m;
        return ERR_OK;
    }
    goat_members(m.object, spelled, SPELLINGS, value);
    m.dialect = dialect_of(m.object, value);
    for (size_t i = 0; i < SPELLINGS; i++) {
        enum goat_field field = field_of[i];

        if (value[i].p && json_type(value[i]) != JSON_NULL && !m.raw[field].p &&
            !take_field(&m, field, value[i], a))
            return ERR_NOMEM;
    }
    if (!m.why && !m.raw[GOAT_ID].p)
        m.why = "metadata.json names no session";
    *out = m;
    return ERR_OK;
}

/* One read of as many bytes as there are: a document is small, and is replaced as a whole. */
static enum err_code read_document(int dirfd, const char *name, struct buf *bytes)
{
    struct file f;
    size_t got = 0;
    enum err_code rc = file_open(dirfd, name, 0, &f, NULL);

    bytes->n = 0;
    if (rc)
        return rc;
    if (f.id.size > GOAT_METADATA_MAX)
        rc = ERR_FORMAT;
    else
        rc = buf_reserve(bytes, (size_t)f.id.size + 1);
    if (!rc)
        rc = file_read(&f, 0, bytes->p, (size_t)f.id.size, &got, NULL);
    bytes->n = got;
    file_close(&f);
    return rc;
}

enum err_code goat_metadata_read(int dirfd, const char *name, struct buf *bytes, struct arena *a,
                                 struct goat_metadata *out)
{
    enum err_code rc = read_document(dirfd, name, bytes);

    if (rc == ERR_NOMEM)
        return rc;
    if (!rc)
        return goat_metadata_parse(buf_slice(bytes), a, out);
    *out = (struct goat_metadata){ .created_ms = TIME_NONE };
    switch (rc) {
    case ERR_NOT_FOUND: out->why = "there is no metadata.json"; break;
    case ERR_UNSAFE: out->why = "metadata.json is a link, or no regular file"; break;
    case ERR_FORMAT: out->why = "metadata.json is larger than 1 MiB"; break;
    default: out->why = "metadata.json cannot be read";
    }
    return ERR_OK;
}

enum err_code goat_metadata_of(const struct session_ref *ref, struct buf *bytes, struct arena *a,
                               struct goat_metadata *out)
{
    if (ref->told.n)
        return goat_metadata_parse(ref->told, a, out);
    const char *path = goat_path(ref, GOAT_METADATA, a);

    return path ? goat_metadata_read(AT_FDCWD, path, bytes, a, out) : ERR_NOMEM;
}

/* As Go writes it: on a line of its own, two blanks in. Whatever looks otherwise (another spelling, one line for all,
 * the key twice) is read as a whole. */
static bool plain_updated(struct slice document, int64_t *ns)
{
    static const char key[] = "\n  \"updated_at\": \"";
    enum { KEY = sizeof key - 1, NAME = sizeof "\n  " - 1 };
    const char *p = slice_find(document.p, document.n, key, KEY), *end = document.p + document.n;
    const char *text = p ? p + KEY : end;
    const char *quote = memchr(text, '"', (size_t)(end - text));

    return quote && goat_time((struct slice){ text, (size_t)(quote - text) }, ns) &&
           !slice_find(quote, (size_t)(end - quote), key + NAME, KEY - NAME);
}

enum err_code goat_metadata_updated(int dirfd, const char *name, struct buf *bytes, int64_t *ns)
{
    struct arena a = { 0 };
    struct goat_metadata m = { 0 };
    enum err_code rc = read_document(dirfd, name, bytes);

    *ns = 0;
    if (rc || bytes->n == 0)
        return rc == ERR_NOMEM ? rc : ERR_OK;
    if (plain_updated(buf_slice(bytes), ns))
        return ERR_OK;
    rc = goat_metadata_parse(buf_slice(bytes), &a, &m);
    *ns = m.updated_ns;
    arena_fini(&a);
    return rc;
}
