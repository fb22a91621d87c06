#include <string.h>

#include "lite/json/json.h"
#include "store/systems/claude/check/check.h"

/* Lines that a reader of the vendor's loses, and what most likely happened to each. */

enum { READ_MOST = 16 << 20 }; /* of a longer line only that it is broken is told */

/* How a client begins a row. Inside a text these quotes would be escaped. */
static const char *const fronts[] = { "{\"parentUuid\":", "{\"logicalParentUuid\":",
                                      "{\"isSidechain\":", "{\"type\":\"" };

/* Where a second row begins; NULL: nowhere. One that is the value of a key or in an array is part of the first. */
static const char *second_row(struct slice row)
{
    for (size_t f = 0; f < sizeof fronts / sizeof *fronts; f++) {
        size_t at = 1;
        const char *p;

        while (at < row.n && (p = memmem(row.p + at, row.n - at, fronts[f], strlen(fronts[f])))) {
            if (!strchr(":,[ ", p[-1]) || p[-1] == '\0')
                return p;
            at = (size_t)(p - row.p) + 1;
        }
    }
    return NULL;
}

static enum err_code report_broken_line(struct check *k, size_t i, struct slice row, struct err *e)
{
    const char *second = second_row(row);

    if (row.n > 3 && memcmp(row.p, "\xef\xbb\xbf", 3) == 0)
        return check_report(k, FINDING_BROKEN_LINE, i,
                            "the line begins with a byte order mark, and readers lose it", e);
    if (second && json_valid((struct slice){ second, (size_t)(row.p + row.n - second) }))
        return check_report(k, FINDING_SPLICED_LINE, i,
                            arena_format(&k->arena, "a whole row begins at byte %zu of this line",
                                         (size_t)(second - row.p)),
                            e);
    if (second)
        return check_report(k, FINDING_SPLICED_LINE, i, "two rows run into each other", e);
    if (memchr(row.p, '\0', row.n))
        return check_report(k, FINDING_NUL_BYTES, i,
                            "the line holds NUL bytes, as after a power cut, and does not parse",
                            e);
    return check_report(k, FINDING_BROKEN_LINE, i, "the line is no JSON object", e);
}

static enum err_code check_broken(struct check *k, size_t i, struct err *e)
{
    const struct index_line *line = claude_line(&k->log, i);
    struct slice row;

    if (line->length > READ_MOST)
        return check_report(k, FINDING_BROKEN_LINE, i, "the line is no JSON object", e);
    enum err_code rc = logfile_row(&k->log.file, i, &row, e);

    return rc ? rc : report_broken_line(k, i, row, e);
}

/* A record behind a run of NULs is read all the same; others stumble over it. */
static enum err_code check_front(struct check *k, size_t i, struct err *e)
{
    const struct index_line *line = claude_line(&k->log, i);
    char first = ' ';
    size_t got = 0;
    enum err_code rc =
        line->length ? file_read(&k->log.file.file, line->offset, &first, 1, &got, e) : ERR_OK;

    if (rc || got == 0 || first != '\0')
        return rc;
    return check_report(k, FINDING_NUL_BYTES, i,
                        line->state == LINE_OK
                            ? "the line begins with NUL bytes, as after a power cut"
                            : "the line is nothing but NUL bytes",
                        e);
}

enum err_code check_lines(struct check *k, struct err *e)
{
    const struct index *ix = &k->log.file.index;
    enum err_code rc = ERR_OK;

    for (size_t i = 0; i < ix->n && !rc; i++) {
        bool torn = ix->torn_tail && i + 1 == ix->n;

        if (torn)
            rc = check_report(
                k, FINDING_TORN_TAIL, i,
                ix->line[i].state == LINE_OK
                    ? "the last line has no newline: the agent would append its next "
                      "row to it"
                    : "unfinished write: the last line is cut, and the agent would append "
                      "its next row to it",
                e);
        else if (ix->line[i].state == LINE_BROKEN)
            rc = check_broken(k, i, e);
        else
            rc = check_front(k, i, e);
    }
    return rc;
}
