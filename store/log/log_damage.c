#include "store/log/log_damage.h"

#include <string.h>

#include "lite/base/cleanup.h"
#include "lite/json/json.h"

/* A longer line is only reported, and a second row is looked for at so many places of a line. A split row has at most
 * so many lines, and attempts to join lines stop after so many bytes of a log, because each of a million broken lines
 * could be the first of one. */
enum { ROW_MOST = 16 << 20, SECOND_TRIES = 32, SPLIT_LINES = 4096, SPLIT_BYTES = 64 << 20 };

static const char byte_order_mark[] = "\xef\xbb\xbf";
static const struct log_rules no_rules = { .begins = NULL };
const struct log_rules log_rules_unknown = { .unknown = true };

struct scan {
    struct logfile *log;
    const struct log_rules *rules;
    log_damage_fn *fn;
    void *arg;
    struct buf bytes, row; /* the bytes of the repair; a line without its NULs */
    size_t joined;         /* bytes that attempts to join lines have read */
    struct arena arena;    /* owns the texts of one damage */
    struct log_survey survey;
    enum {
        SEARCHED_UNKNOWN,
        SEARCHED_FOUND,
        SEARCHED_NOWHERE
    } searched; /* for log_rules.searched */
};

static bool is_row(struct slice text)
{
    return json_type(text) == JSON_OBJECT && json_valid(text);
}

/* ---- the repairs ---- */

static bool is_torn_line(const struct scan *k, size_t i)
{
    return k->log->index.torn_tail && i + 1 == k->log->index.n;
}

/* The line with the range taken out. If offsets count, blanks take its place. */
static enum err_code put_without(struct scan *k, struct log_damage *d, struct slice row, size_t at,
                                 size_t n)
{
    const bool gone = n == row.n && !k->rules->has_offsets;

    TRY(buf_add(&k->bytes, (struct slice){ row.p, at }));
    for (size_t i = 0; k->rules->has_offsets && i < n; i++)
        TRY(buf_add_byte(&k->bytes, ' '));
    TRY(buf_add(&k->bytes, (struct slice){ row.p + at + n, row.n - at - n }));
    return gone || is_torn_line(k, d->line) ? ERR_OK : buf_add_byte(&k->bytes, '\n');
}

/* ---- the damages ---- */

/* Where a second row begins, or 0. A row that is the value of a key or in an array is part of the first one; inside a
 * text its quotes would be escaped. */
static size_t find_second_row(const struct log_rules *rules, struct slice row, bool *whole)
{
    static const char *const any[] = { "{\"", NULL };
    const char *const *begins = rules->begins ? rules->begins : any;
    size_t tries = 0, cut = 0;

    *whole = false;
    for (; *begins; begins++) {
        size_t at = 1, n = strlen(*begins);
        const char *p;

        while (at < row.n && tries < SECOND_TRIES &&
               (p = slice_find(row.p + at, row.n - at, *begins, n))) {
            at = (size_t)(p - row.p);
            if (p[-1] == '\0' || !strchr(":,[ ", p[-1])) {
                tries++;
                *whole = is_row((struct slice){ p, row.n - at });
                if (*whole)
                    return at;
                if (rules->begins && !cut)
                    cut = at;
            }
            at++;
        }
    }
    return cut;
}

static enum err_code judge_spliced(struct scan *k, struct log_damage *d, struct slice row,
                                   size_t second, bool whole)
{
    const bool first_is_row = is_row((struct slice){ row.p, second });

    d->kind = FINDING_SPLICED_LINE;
    d->why = "two rows run into each other";
    if (!whole)
        return ERR_OK;
    d->why = arena_format(&k->arena, "a whole row begins at byte %zu of this line", second);
    if (!d->why)
        return ERR_NOMEM;
    if (first_is_row || k->rules->skips_broken) {
        if (k->rules->has_offsets)
            return ERR_OK;
        d->repair = "puts a newline before it";
        TRY(buf_add(&k->bytes, (struct slice){ row.p, second }));
        TRY(buf_add(&k->bytes, slice_of("\n")));
        TRY(buf_add(&k->bytes, (struct slice){ row.p + second, row.n - second }));
        return is_torn_line(k, d->line) ? ERR_OK : buf_add_byte(&k->bytes, '\n');
    }
    d->repair = "takes out the cut row before it";
    return put_without(k, d, row, 0, second);
}

static enum err_code judge_nuls(struct scan *k, struct log_damage *d, struct slice row)
{
    const bool only = slice_trim(row).n == 0;

    d->kind = FINDING_NUL_BYTES;
    k->row.n = 0;
    for (size_t i = 0; i < row.n; i++) {
        if (row.p[i] != '\0' || k->rules->has_offsets)
            TRY(buf_add_byte(&k->row, row.p[i] ? row.p[i] : ' '));
    }
    if (only) {
        d->why = "the line consists of NUL bytes";
        d->repair = "takes the NUL bytes out";
        return put_without(k, d, row, 0, row.n);
    }
    if (is_row(slice_trim(buf_slice(&k->row)))) {
        d->why = is_row(slice_trim(row)) ? "the line begins with NUL bytes, as after a power cut"
                                         : "the line contains NUL bytes, as after a power cut";
        d->repair = "takes the NUL bytes out";
        return put_without(k, d, buf_slice(&k->row), 0, 0);
    }
    d->why = "the line contains NUL bytes, as after a power cut, and does not parse";
    if (k->rules->skips_broken)
        return ERR_OK;
    d->repair = "takes the line out";
    return put_without(k, d, row, 0, row.n);
}

/* Adds a part of a row, and follows whether it ends in a text and how deep it is nested. */
static enum err_code add_part(struct buf *to, struct slice part, bool *in_text, size_t *depth)
{
    for (size_t i = 0; i < part.n; i++) {
        const char c = part.p[i];

        if (*in_text && c == '\\')
            i++;
        else if (c == '"')
            *in_text = !*in_text;
        else if (!*in_text && (c == '{' || c == '['))
            ++*depth;
        else if (!*in_text && (c == '}' || c == ']') && *depth)
            --*depth;
    }
    return buf_add(to, part);
}

/* Joins the lines from this one on to one row, if they are one whose newlines were not escaped. */
static enum err_code judge_split(struct scan *k, struct log_damage *d, struct slice row,
                                 struct err *e)
{
    const struct index *ix = &k->log->index;
    bool in_text = false;
    size_t depth = 0, n = 1;

    if (json_type(row) != JSON_OBJECT || k->joined > SPLIT_BYTES)
        return ERR_OK;
    k->bytes.n = 0;
    TRY(add_part(&k->bytes, row, &in_text, &depth));

    /* A line that is a row of its own belongs to no other, and neither does a torn last line. */
    for (; depth && n < SPLIT_LINES && d->line + n < ix->n; n++) {
        const struct index_line *next = &ix->line[d->line + n];

        if (next->state == LINE_OK || is_torn_line(k, d->line + n) || next->length > ROW_MOST ||
            k->bytes.n > ROW_MOST)
            break;
        TRY(logfile_row(k->log, d->line + n, &row, e));
        if (in_text)
            TRY(buf_add(&k->bytes, SLICE("\\n")));
        TRY(add_part(&k->bytes, row, &in_text, &depth));
    }

    /* The bytes count for the whole file, so that a ruined one is not joined again from each of its lines. */
    k->joined += k->bytes.n;
    if (n == 1 || depth || !is_row(buf_slice(&k->bytes)))
        return ERR_OK;
    d->kind = FINDING_SPLIT_LINE;
    d->lines = n;
    d->why = arena_format(&k->arena, "this line and the next %zu are one row, with newlines in it",
                          n - 1);
    if (!d->why)
        return ERR_NOMEM;
    if (k->rules->has_offsets)
        return ERR_OK;
    d->repair = "joins them, with the newlines escaped";
    return buf_add_byte(&k->bytes, '\n');
}

static enum err_code judge_broken(struct scan *k, struct log_damage *d, struct slice row,
                                  struct err *e)
{
    bool whole;

    if (row.n > 3 && memcmp(row.p, byte_order_mark, 3) == 0 &&
        is_row((struct slice){ row.p + 3, row.n - 3 })) {
        d->why = "the line begins with a byte order mark, and readers lose it";
        d->repair = "takes the mark out";
        return put_without(k, d, row, 0, 3);
    }
    const size_t second = find_second_row(k->rules, row, &whole);

    if (second && (whole || !memchr(row.p, '\0', row.n)))
        return judge_spliced(k, d, row, second, whole);
    if (memchr(row.p, '\0', row.n))
        return judge_nuls(k, d, row);
    TRY(judge_split(k, d, row, e));
    if (d->kind == FINDING_SPLIT_LINE || k->rules->skips_broken)
        return ERR_OK;
    TRY(logfile_row(k->log, d->line, &row, e)); /* judge_split read other lines */
    k->bytes.n = 0;
    d->repair = "takes the line out";
    return put_without(k, d, row, 0, row.n);
}

/* The last line has no newline. */
static enum err_code judge_torn(struct scan *k, struct log_damage *d, struct slice row,
                                struct err *e)
{
    const bool nuls = row.n && row.p[0] == '\0', empty = slice_trim(row).n == 0;
    const bool whole = k->log->index.line[d->line].state == LINE_OK && !nuls;

    /* If the repair of another damage leaves a row, it is that. */
    if (!whole && !empty) {
        TRY(nuls ? judge_nuls(k, d, row) : judge_broken(k, d, row, e));
        if (d->repair && slice_trim(buf_slice(&k->bytes)).n)
            return buf_add_byte(&k->bytes, '\n');
        TRY(logfile_row(k->log, d->line, &row, e)); /* judge_broken read it again */
        k->bytes.n = 0;
        d->repair = NULL;
    }
    d->kind = FINDING_TORN_TAIL;
    d->why = whole ? "the last line has no newline: the agent would append its next row to it"
                   : "unfinished write: the last line is cut, and the agent would append its next "
                     "row to it";
    if (whole || (k->rules->skips_broken && !empty)) {
        d->repair = "adds the newline";
        TRY(buf_add(&k->bytes, row));
        return buf_add_byte(&k->bytes, '\n');
    }
    d->repair = "takes the cut line out";
    return ERR_OK;
}

/* A program has read the rows and printed them again, with blanks after the colons. Only the first row with the member
 * tells, because agents read the beginning of a log. */
static enum err_code judge_spaced(struct scan *k, struct log_damage *d, struct slice row)
{
    struct slice value;

    if (k->searched == SEARCHED_FOUND || !json_get(row, k->rules->searched, &value) ||
        json_type(value) != JSON_STRING)
        return ERR_OK;
    const bool spaced = value.p[-1] == ' ' || (value.p[-1] == ':' && value.p[-2] == ' ');

    if (k->searched == SEARCHED_UNKNOWN)
        k->searched = spaced ? SEARCHED_NOWHERE : SEARCHED_FOUND;
    if (!spaced)
        return ERR_OK;
    d->kind = FINDING_SPACED_ROW;
    d->why = "printed again with blanks: started in another directory, the agent does not find "
             "the session by its id";
    d->repair = "takes the blanks between the row's members out";

    /* Adds a row without the blanks between its tokens. */
    bool in_text = false;

    for (size_t i = 0; i < row.n; i++) {
        const bool escapes = in_text && row.p[i] == '\\' && i + 1 < row.n;

        if (row.p[i] == '"')
            in_text = !in_text;
        if (in_text || row.p[i] != ' ')
            TRY(buf_add(&k->bytes, (struct slice){ row.p + i, escapes ? 2 : 1 }));
        i += escapes;
    }

    return buf_add_byte(&k->bytes, '\n');
}

static enum err_code judge_line(struct scan *k, struct log_damage *d, struct err *e)
{
    const struct index_line *line = &k->log->index.line[d->line];
    struct slice row;

    if (line->length > ROW_MOST) {
        if (is_torn_line(k, d->line)) {
            d->kind = FINDING_TORN_TAIL;
            d->why = "the last line has no newline";
        } else if (line->state == LINE_OK)
            d->kind = FINDING_KINDS;
        return ERR_OK;
    }
    TRY(logfile_row(k->log, d->line, &row, e));
    if (is_torn_line(k, d->line))
        return judge_torn(k, d, row, e);
    if (line->state == LINE_BROKEN)
        return judge_broken(k, d, row, e);
    if (row.n && row.p[0] == '\0')
        return judge_nuls(k, d, row);
    if (k->rules->splits_at_separators &&
        (slice_has(row, "\xe2\x80\xa8") || slice_has(row, "\xe2\x80\xa9"))) {
        /* Write each separator as its escape. */
        d->kind = FINDING_SPLIT_LINE;
        d->why = "the row contains U+2028 or U+2029, at which the agent's reader splits it";
        d->repair = "escapes them";
        for (size_t i = 0; i < row.n; i++) {
            const bool is = row.n - i > 2 && memcmp(row.p + i, "\xe2\x80", 2) == 0 &&
                            (row.p[i + 2] == '\xa8' || row.p[i + 2] == '\xa9');

            TRY(is ? buf_add(&k->bytes,
                             row.p[i + 2] == '\xa8' ? SLICE("\\u2028") : SLICE("\\u2029"))
                   : buf_add_byte(&k->bytes, row.p[i]));
            i += is ? 2 : 0;
        }
        return buf_add_byte(&k->bytes, '\n');
    }
    if (k->rules->refused && line->state == LINE_OK)
        TRY(k->rules->refused(&k->survey, line->offset, row, &k->bytes, &d->why, &d->repair));
    d->kind = d->repair ? FINDING_POISONED_ROW : FINDING_KINDS;
    if (d->repair)
        return buf_add_byte(&k->bytes, '\n');
    return k->rules->searched && line->state == LINE_OK ? judge_spaced(k, d, row) : ERR_OK;
}

/* A repair that takes the name of the session out of the first line would take the session out of all lists. */
static enum err_code judge_name(struct scan *k, struct log_damage *d, struct err *e)
{
    struct slice row, rest = d->bytes, first, value;
    bool torn;

    TRY(logfile_row(k->log, d->line, &row, e));
    if (!slice_has(row, k->rules->names) ||
        (slice_line(&rest, &first, &torn) && json_get(first, k->rules->names, &value)))
        return ERR_OK;
    d->repair = NULL;
    NEED(d->why = arena_format(&k->arena,
                               "%s; there is no repair, because the id of the session is nowhere "
                               "else",
                               d->why));
    return ERR_OK;
}

enum err_code log_damage_scan(struct logfile *log, const struct log_rules *rules, log_damage_fn *fn,
                              void *arg, struct err *e)
{
    struct scan k = { .log = log, .rules = rules ? rules : &no_rules, .fn = fn, .arg = arg };

    k.survey.rules = k.rules;
    enum err_code rc = k.rules->survey ? k.rules->survey(log, &k.survey, e) : ERR_OK;

    for (size_t i = 0; i < log->index.n && !rc;) {
        struct log_damage d = { .kind = FINDING_BROKEN_LINE,
                                .line = i,
                                .lines = 1,
                                .why = "the line is not a JSON object" };

        k.bytes.n = 0;
        rc = judge_line(&k, &d, e);
        /* The functions that judge a line return this code without an error. */
        if (rc == ERR_NOMEM)
            rc = err_nomem(e);
        d.bytes = buf_slice(&k.bytes);
        if (k.rules->unknown && !rc && d.kind != FINDING_KINDS) {
            d.repair = NULL;
            d.why = arena_format(&k.arena,
                                 "%s; there is no repair, because it is not known what the agent "
                                 "makes of it",
                                 d.why);
            rc = d.why ? ERR_OK : err_nomem(e);
        }
        if (!rc && i == 0 && d.repair && k.rules->names)
            rc = judge_name(&k, &d, e);
        if (!rc && d.kind != FINDING_KINDS)
            rc = fn(&d, arg, e);
        arena_reset(&k.arena);
        i += d.lines;
    }
    buf_fini(&k.bytes);
    buf_fini(&k.row);
    arena_fini(&k.arena);
    arena_fini(&k.survey.arena);
    return rc;
}

/* ---- findings ---- */

/* A ruined file of a million lines must not produce a million findings. */
enum { REPORT_MOST = 200 };

/* One row says it for all that were printed again. */
static size_t report_most(enum finding_kind kind)
{
    return kind == FINDING_SPACED_ROW ? 1 : REPORT_MOST;
}

struct damage_report {
    const struct logfile *log;
    struct slice session;
    finding_fn *fn;
    void *arg;
    size_t n[FINDING_KINDS];
    bool has_rows; /* damaged ones count if a repair could make them rows */
};

static enum err_code log_damage_note(const struct log_damage *d, void *arg, struct err *e)
{
    struct damage_report *r = arg;
    const bool newline = d->kind == FINDING_TORN_TAIL && d->bytes.n > 0;
    const struct finding f = { .kind = d->kind,
                               .session = r->session,
                               .path = r->log->path,
                               .line = (int64_t)d->line + 1,
                               .offset = r->log->index.line[d->line].offset,
                               .why = d->why,
                               .repair = d->repair,
                               .rewrites = d->repair && !newline,
                               .fixable = d->repair };

    r->has_rows |= d->kind == FINDING_SPLIT_LINE || d->kind == FINDING_SPLICED_LINE ||
                   (d->kind != FINDING_TORN_TAIL && d->repair && slice_has(d->bytes, "{"));
    return r->n[d->kind]++ < report_most(d->kind) ? r->fn(&f, r->arg, e) : ERR_OK;
}

enum err_code log_damage_report(struct logfile *log, const struct log_rules *rules,
                                struct slice session, finding_fn *fn, void *arg, struct err *e)
{
    struct damage_report r = { .log = log, .session = session, .fn = fn, .arg = arg };

    TRY(log_damage_scan(log, rules, log_damage_note, &r, e));

    enum err_code rc = ERR_OK;
    struct arena a = { 0 };

    /* Findings beyond the limit were only counted. */
    for (int kind = 0; kind < FINDING_KINDS && !rc; kind++) {
        const size_t most = report_most((enum finding_kind)kind);

        if (r.n[kind] <= most)
            continue;
        const struct finding f = { .kind = (enum finding_kind)kind,
                                   .session = r.session,
                                   .path = r.log->path,
                                   .why = arena_format(&a, "and %zu more like this",
                                                       r.n[kind] - most) };

        rc = f.why ? r.fn(&f, r.arg, e) : err_nomem(e);
    }
    arena_fini(&a);
    if (rc)
        return rc;

    /* The scan reports only damaged lines, so whole rows are looked up in the index. */
    for (size_t i = 0; i < log->index.n && !r.has_rows; i++)
        r.has_rows = log->index.line[i].state == LINE_OK;
    if (log->index.broken == 0 || r.has_rows)
        return ERR_OK;
    const struct finding f = { .kind = FINDING_NO_SESSION,
                               .session = session,
                               .path = log->path,
                               .why = "none of its lines is a row: this is no session" };

    return fn(&f, arg, e);
}

/* ---- the repair of a log ---- */

struct repairing {
    struct logfile *log;
    struct log_repair *out;
    size_t done; /* bytes of out->old that are in out->bytes already */
};

/* The offset after the line. */
static int64_t log_damage_line_end(const struct logfile *log, size_t i)
{
    return i + 1 < log->index.n ? log->index.line[i + 1].offset : log->file.id.size;
}

static enum err_code repair_damage(const struct log_damage *d, void *arg, struct err *e)
{
    struct repairing *r = arg;
    const int64_t offset = r->log->index.line[d->line].offset;

    if (!d->repair)
        return ERR_OK;
    if (r->out->repaired++ == 0) {
        /* The first repair keeps the rest of the log, so that it can be undone. */
        const int64_t rest = r->log->file.id.size - offset;

        if (rest > LOG_REPAIR_MOST)
            return err_set(e, ERR_UNSUPPORTED, r->log->path,
                           "repair: too much follows the damage to be kept for an undo");
        r->out->offset = offset;
        TRY(file_read_part(&r->log->file, offset, (size_t)rest, &r->out->old, e));
        if (r->out->old.n != (size_t)rest)
            return err_set(e, ERR_STALE, r->log->path, "repair: the log became shorter");
    }
    const struct slice old = buf_slice(&r->out->old);
    const size_t at = (size_t)(offset - r->out->offset);

    if (buf_add(&r->out->bytes, (struct slice){ old.p + r->done, at - r->done }) ||
        buf_add(&r->out->bytes, d->bytes))
        return err_nomem(e);
    r->done = (size_t)(log_damage_line_end(r->log, d->line + d->lines - 1) - r->out->offset);
    return ERR_OK;
}

/* Adds what follows the last damage, or frees everything after a failure. */
static enum err_code log_repair_end(struct repairing *r, enum err_code rc, struct err *e)
{
    struct log_repair *out = r->out;

    if (!rc && out->repaired &&
        buf_add(&out->bytes, (struct slice){ out->old.p + r->done, out->old.n - r->done }))
        rc = err_nomem(e);
    if (rc)
        log_repair_fini(out);
    return rc;
}

enum err_code log_repair_read(struct logfile *log, const struct log_rules *rules,
                              struct log_repair *out, struct err *e)
{
    struct repairing r = { .log = log, .out = out };

    *out = (struct log_repair){ .offset = 0 };
    return log_repair_end(&r, log_damage_scan(log, rules, repair_damage, &r, e), e);
}

enum err_code log_repair_rows(struct logfile *log, const struct log_damage damage[], size_t n,
                              struct log_repair *out, struct err *e)
{
    struct repairing r = { .log = log, .out = out };
    enum err_code rc = ERR_OK;

    *out = (struct log_repair){ .offset = 0 };
    for (size_t i = 0; i < n && !rc; i++)
        rc = repair_damage(&damage[i], &r, e);
    return log_repair_end(&r, rc, e);
}

void log_repair_fini(struct log_repair *r)
{
    buf_fini(&r->old);
    buf_fini(&r->bytes);
    *r = (struct log_repair){ .offset = 0 };
}
