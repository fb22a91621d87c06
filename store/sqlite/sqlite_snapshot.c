#include "store/sqlite/sqlite_db.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "lite/base/array.h"
#include "lite/base/time.h"

/* A reader that takes no locks cannot keep a writer out, so it has to find out afterwards whether
 * there was one:
 *
 *   attributes of the database -> its header -> the -journal, or else the -wal -> pages -> holds
 *
 * The attributes are read before anything else, so that every later change shows in them. A
 * file that was written a moment ago is not settled: a second write could leave the same time. A
 * page comes from the log if the log has it, and otherwise from the database. Bytes that were read
 * mean nothing until sqlite_snapshot_holds has returned true after the last of them. Nothing is
 * repeated here, and a transaction over several databases is refused rather than rolled back. */

enum {
    DB_HEADER = 100,
    JOURNAL_HEADER = 28,
    /* bytes of a journal: the number of the page, and a checksum after its bytes */
    RECORD_EXTRA = 8,
    SECTOR_SMALLEST = 32,
    WAL_HEADER = 32,
    FRAME_HEADER = 24,
    PAGE_SMALLEST = 512,
    PAGE_LARGEST = 65536,
    SETTLED_MS = 20, /* clocks of file systems tick every 4 or 10 ms */
    WAIT_MS = 25,
};

/* A log this large is an error, and checking it would take seconds. */
static const int64_t log_most = INT64_C(4) << 30;

static uint32_t big_endian(const unsigned char *p)
{
    return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

static uint32_t little_endian(const unsigned char *p)
{
    return (uint32_t)p[3] << 24 | (uint32_t)p[2] << 16 | (uint32_t)p[1] << 8 | p[0];
}

/* Reads until n bytes or the end. Returns how many, or -1. */
static ssize_t sqlite_snapshot_read_at(int fd, void *out, size_t n, int64_t at)
{
    size_t got = 0;

    while (got < n) {
        ssize_t k = pread(fd, (char *)out + got, n - got, (off_t)(at + (int64_t)got));

        if (k < 0 && errno == EINTR)
            continue;
        if (k < 0)
            return -1;
        if (k == 0)
            break;
        got += (size_t)k;
    }
    return (ssize_t)got;
}

static bool is_page_size(uint32_t n)
{
    return n >= PAGE_SMALLEST && n <= PAGE_LARGEST && (n & (n - 1)) == 0;
}

/* ---- the -wal ---- */

/* The -wal while its transactions are collected. */
struct gathering {
    struct sqlite_snapshot *s;
    uint32_t (*word)(const unsigned char *p); /* the byte order of its checksums */
    uint32_t sum[2];
    unsigned char *bytes; /* owned: one frame */
    /* frames that were read; those after s->frames belong to no complete transaction */
    size_t n, cap;
};

static void add_to_sum(struct gathering *g, const unsigned char *p, size_t n)
{
    for (size_t i = 0; i + 8 <= n; i += 8) {
        g->sum[0] += g->word(p + i) + g->sum[1];
        g->sum[1] += g->word(p + i + 4) + g->sum[0];
    }
}

static bool sum_is(const struct gathering *g, const unsigned char *p)
{
    return big_endian(p) == g->sum[0] && big_endian(p + 4) == g->sum[1];
}

static bool read_wal_header(struct gathering *g)
{
    unsigned char *h = g->s->header;

    if (sqlite_snapshot_read_at(g->s->log, h, WAL_HEADER, 0) != WAL_HEADER)
        return false;
    uint32_t magic = big_endian(h);

    if ((magic & ~1u) != 0x377f0682)
        return false;
    g->word = magic & 1 ? big_endian : little_endian;
    add_to_sum(g, h, 24);
    return sum_is(g, h + 24) && big_endian(h + 8) == g->s->page_size;
}

static bool has_salts(const struct sqlite_snapshot *s, const unsigned char *frame)
{
    return memcmp(frame + 8, s->header + 16, 8) == 0;
}

/* Reads the frame at *at. Returns false after the last complete frame. */
static bool read_frame(struct gathering *g, int64_t *at)
{
    struct sqlite_snapshot *s = g->s;
    size_t n = FRAME_HEADER + s->page_size;

    if (sqlite_snapshot_read_at(s->log, g->bytes, n, *at) != (ssize_t)n ||
        !has_salts(s, g->bytes) || big_endian(g->bytes) == 0)
        return false;
    add_to_sum(g, g->bytes, 8);
    add_to_sum(g, g->bytes + FRAME_HEADER, s->page_size);
    *at += (int64_t)n;
    return sum_is(g, g->bytes + 16);
}

static int compare_frames(const void *x, const void *y)
{
    const struct sqlite_frame *a = x, *b = y;

    if (a->page != b->page)
        return a->page < b->page ? -1 : 1;
    return (a->at > b->at) - (a->at < b->at);
}

/* Keeps only the newest frame of each page. */
static void sort_frames(struct sqlite_snapshot *s)
{
    size_t n = 0;

    if (s->frames)
        qsort(s->frame, s->frames, sizeof *s->frame, compare_frames);
    for (size_t i = 0; i < s->frames; i++)
        if (i + 1 == s->frames || s->frame[i + 1].page != s->frame[i].page)
            s->frame[n++] = s->frame[i];
    s->frames = n;
}

static enum err_code read_frames(struct gathering *g, const atomic_bool *cancel, struct err *e)
{
    int64_t at = WAL_HEADER;
    enum err_code rc = ERR_OK;

    g->s->log_end = at;
    while (read_frame(g, &at)) {
        if (cancel && atomic_load_explicit(cancel, memory_order_relaxed))
            return err_set(e, ERR_CANCELLED, g->s->path, "read the database");

        struct sqlite_snapshot *s = g->s;
        uint32_t size = big_endian(g->bytes + 4);

        if (!array_reserve(s->frame, g->cap, g->n + 1)) {
            rc = ERR_NOMEM;
            break;
        }
        s->frame[g->n++] = (struct sqlite_frame){ big_endian(g->bytes), at - s->page_size };
        if (size) { /* the last one of a transaction */
            s->frames = g->n;
            s->log_end = at;
            s->size = (int64_t)size * s->page_size;
        }
    }
    sort_frames(g->s);
    return rc ? err_nomem(e) : ERR_OK;
}

/* ---- files beside the database ---- */

static int open_beside(const struct sqlite_snapshot *s, const char *suffix)
{
    char path[PATH_MAX];
    struct stat st;
    char real[PATH_MAX];

    /* SQLite keeps the others beside the file itself, not beside a link to it. */
    int fd = (realpath(s->path, real) &&
              (size_t)snprintf(path, PATH_MAX, "%s%s", real, suffix) < PATH_MAX)
                 ? open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC | O_NOCTTY)
                 : -1;

    if (fd >= 0 && (fstat(fd, &st) || !S_ISREG(st.st_mode) || st.st_size == 0)) {
        close(fd);
        fd = -1;
    }
    return fd;
}

/* ---- the -journal ---- */

static const unsigned char journal_magic[] = { 0xd9, 0xd5, 0x05, 0xf9, 0x20, 0xa1, 0x63, 0xd7 };

/* Opens a rollback journal with its magic number: a transaction is being written, or was never finished. -1: none. */
static int open_journal(const struct sqlite_snapshot *s, unsigned char header[JOURNAL_HEADER])
{
    int fd = open_beside(s, "-journal");

    if (fd >= 0 && (sqlite_snapshot_read_at(fd, header, JOURNAL_HEADER, 0) != JOURNAL_HEADER ||
                    memcmp(header, journal_magic, sizeof journal_magic) != 0)) {
        close(fd);
        fd = -1;
    }
    return fd;
}

static bool in_transaction(const struct sqlite_snapshot *s)
{
    unsigned char header[JOURNAL_HEADER];
    int fd = open_journal(s, header);

    if (fd >= 0)
        close(fd);
    return fd >= 0;
}

/* Every 200th byte from the end counts, so that a page that was written in part is found. */
static uint32_t journal_sum(const unsigned char *page, uint32_t n, uint32_t nonce)
{
    for (uint32_t i = n; i > 200; i -= 200)
        nonce += page[i - 200];
    return nonce;
}

/* Adds the pages of one part of the journal, which begins with a header at *at. Sets *at to the end of its records.
 * Returns false at the end of the journal: what follows was not completely written, so that the pages in question were
 * not written to the database either. */
static bool read_journal_part(struct gathering *g, int64_t *at, int64_t end, enum err_code *rc)
{
    struct sqlite_snapshot *s = g->s;
    unsigned char h[JOURNAL_HEADER];

    if (sqlite_snapshot_read_at(s->log, h, sizeof h, *at) != sizeof h ||
        memcmp(h, journal_magic, sizeof journal_magic) != 0)
        return false;
    const uint32_t nonce = big_endian(h + 12), sector = big_endian(h + 20);
    const int64_t record = (int64_t)s->page_size + RECORD_EXTRA;

    if (sector < SECTOR_SMALLEST || sector > PAGE_LARGEST || sector & (sector - 1) ||
        *at + sector > end)
        return false;

    /* SQLite does not write the count if it does not sync the journal; the records then extend to its end. */
    int64_t n = big_endian(h + 8) == UINT32_MAX ? (end - *at - sector) / record : big_endian(h + 8);

    *at += sector;
    for (; n > 0; n--, *at += record) {
        const unsigned char *page = g->bytes + 4;

        if (sqlite_snapshot_read_at(s->log, g->bytes, (size_t)record, *at) != record ||
            big_endian(g->bytes) == 0 ||
            big_endian(page + s->page_size) != journal_sum(page, s->page_size, nonce))
            return false;
        if (!array_reserve(s->frame, g->cap, s->frames + 1)) {
            *rc = ERR_NOMEM;
            return false;
        }
        s->frame[s->frames++] = (struct sqlite_frame){ big_endian(g->bytes), *at + 4 };
    }

    /* The next part begins with a new sector. */
    *at = (*at + sector - 1) / sector * sector;
    return true;
}

/* As SQLite itself would play it back (pager_playback() in its pager.c). */
static enum err_code read_journal(struct sqlite_snapshot *s, const atomic_bool *cancel,
                                  struct err *e)
{
    struct gathering g = { .s = s };
    const uint32_t page_size = big_endian(s->header + 24);
    unsigned char tail[sizeof journal_magic];
    struct stat st;
    int64_t at = 0;
    enum err_code rc = ERR_OK;

    s->rolls_back = true;
    if (page_size && !is_page_size(page_size)) /* SQLite plays nothing back */
        return ERR_OK;
    if (page_size) /* that of the database may be half written */
        s->page_size = page_size;
    if (fstat(s->log, &st))
        return err_sys(e, s->path, "read its journal");
    if (st.st_size > log_most)
        return err_set(e, ERR_UNSUPPORTED, s->path, "open the database: its journal is too large");
    if (sqlite_snapshot_read_at(s->log, tail, sizeof tail, st.st_size - (int64_t)sizeof tail) ==
            sizeof tail &&
        memcmp(tail, journal_magic, sizeof tail) == 0)
        return err_set(e, ERR_UNSUPPORTED, s->path,
                       "open the database: an unfinished transaction changed several databases; "
                       "the agent completes it when it starts");
    g.bytes = malloc((size_t)s->page_size + RECORD_EXTRA);
    if (!g.bytes)
        return err_nomem(e);
    while (read_journal_part(&g, &at, st.st_size, &rc))
        if (cancel && atomic_load_explicit(cancel, memory_order_relaxed)) {
            rc = err_set(e, ERR_CANCELLED, s->path, "read the database");
            break;
        }
    free(g.bytes);
    /* A transaction that made the database larger also changed its first page. */
    if (s->frames)
        s->size = (int64_t)big_endian(s->header + 16) * s->page_size;
    sort_frames(s);
    return rc == ERR_NOMEM ? err_nomem(e) : rc;
}

/* ---- opening ---- */

static bool was_just_written(const struct stat *st)
{
    struct timespec now;
    int64_t age = clock_gettime(CLOCK_REALTIME, &now) ? 0 : time_ns(now) - time_ns(st->st_mtim);

    return age > -(int64_t)SETTLED_MS * 1000000 && age < (int64_t)SETTLED_MS * 1000000;
}

static enum err_code look_at_db(struct sqlite_snapshot *s, struct err *e)
{
    const struct timespec wait = { 0, WAIT_MS * 1000000L };

    if (fstat(s->db, &s->at))
        return err_sys(e, s->path, "open the database");
    if (!S_ISREG(s->at.st_mode))
        return err_set(e, ERR_UNSAFE, s->path, "open the database: not a regular file");
    if (was_just_written(&s->at)) {
        nanosleep(&wait, NULL);
        if (fstat(s->db, &s->at))
            return err_sys(e, s->path, "open the database");
    }
    s->settled = !was_just_written(&s->at);
    s->size = s->at.st_size;
    return ERR_OK;
}

static enum err_code read_db_header(struct sqlite_snapshot *s, bool *logs, struct err *e)
{
    unsigned char h[DB_HEADER];
    ssize_t n = sqlite_snapshot_read_at(s->db, h, sizeof h, 0);

    if (n < 0)
        return err_sys(e, s->path, "read the database");
    if (n < DB_HEADER || memcmp(h, "SQLite format 3", 16) != 0)
        return err_set(e, ERR_FORMAT, s->path, "open the database: %s",
                       n ? "not a database of SQLite" : "the file is empty");
    s->page_size = (uint32_t)h[16] << 8 | h[17];
    s->page_size = s->page_size == 1 ? PAGE_LARGEST : s->page_size;
    *logs = h[19] == 2;
    return is_page_size(s->page_size)
               ? ERR_OK
               : err_set(e, ERR_FORMAT, s->path, "open the database: its page size is impossible");
}

enum err_code sqlite_snapshot_open(const char *path, const atomic_bool *cancel,
                                   struct sqlite_snapshot *out, struct err *e)
{
    struct sqlite_snapshot s = { .db = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY),
                                 .log = -1,
                                 .path = path };
    bool logs = false;

    if (s.db < 0)
        return err_sys(e, path, "open the database");
    enum err_code rc = look_at_db(&s, e);

    if (!rc)
        rc = read_db_header(&s, &logs, e);
    if (!rc && (s.log = open_journal(&s, s.header)) >= 0)
        rc = read_journal(&s, cancel, e);
    else if (!rc && logs && (s.log = open_beside(&s, "-wal")) >= 0) {
        /* The frames of the write-ahead log are newer than the pages of the file. */
        struct gathering g = { .s = &s, .bytes = malloc(FRAME_HEADER + (size_t)s.page_size) };
        struct stat st;

        rc = g.bytes ? ERR_OK : err_nomem(e);

        if (!rc && fstat(s.log, &st) == 0 && st.st_size > log_most)
            rc = err_set(e, ERR_UNSUPPORTED, s.path, "open the database: its -wal is too large");
        if (!rc && read_wal_header(&g)) {
            rc = read_frames(&g, cancel, e);
        } else if (!rc) { /* SQLite also treats it as an empty one */
            close(s.log);
            s.log = -1;
        }
        free(g.bytes);
    }
    if (rc)
        sqlite_snapshot_close(&s);
    else
        *out = s;
    return rc;
}

void sqlite_snapshot_close(struct sqlite_snapshot *s)
{
    if (s->db >= 0)
        close(s->db);
    if (s->log >= 0)
        close(s->log);
    free(s->frame);
    *s = (struct sqlite_snapshot){ .db = -1, .log = -1 };
}

/* ---- reading ---- */

/* Bytes of one page, from `in` on. */
static ssize_t sqlite_snapshot_read_page(const struct sqlite_snapshot *s, int64_t page, uint32_t in,
                                         size_t n, void *out)
{
    size_t low = 0, high = s->frames;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if ((int64_t)s->frame[middle].page < page)
            low = middle + 1;
        else
            high = middle;
    }
    const struct sqlite_frame *f =
        low < s->frames && (int64_t)s->frame[low].page == page ? &s->frame[low] : NULL;

    if (!f)
        return sqlite_snapshot_read_at(s->db, out, n, (page - 1) * s->page_size + in);
    return sqlite_snapshot_read_at(s->log, out, n, f->at + in);
}

enum err_code sqlite_snapshot_read(const struct sqlite_snapshot *s, int64_t at, size_t n, void *out,
                                   bool *whole, struct err *e)
{
    unsigned char *bytes = out;
    size_t done = 0;

    *whole = true;
    while (done < n) {
        int64_t place = at + (int64_t)done;
        uint32_t in = (uint32_t)(place % s->page_size);
        size_t part = n - done < s->page_size - in ? n - done : s->page_size - in;
        ssize_t got = place < s->size ? sqlite_snapshot_read_page(s, place / s->page_size + 1, in,
                                                                  part, bytes + done)
                                      : 0;

        if (got < 0)
            return err_sys(e, s->path, "read the database");
        if ((size_t)got < part) {
            memset(bytes + done + got, 0, part - (size_t)got);
            *whole = false;
        }
        done += part;
    }

    /* These two bytes tell SQLite to look for a -wal, whose pages were read here already. */
    for (int64_t i = 18; i < 20; i++)
        if (i >= at && i < at + (int64_t)n && bytes[i - at] == 2)
            bytes[i - at] = 1;

    return ERR_OK;
}

/* ---- one moment ---- */

static bool is_db_unchanged(const struct sqlite_snapshot *s)
{
    struct stat now;

    return s->settled && fstat(s->db, &now) == 0 && now.st_size == s->at.st_size &&
           time_ns(now.st_mtim) == time_ns(s->at.st_mtim) &&
           time_ns(now.st_ctim) == time_ns(s->at.st_ctim);
}

static bool has_wal_grown(const struct sqlite_snapshot *s)
{
    unsigned char frame[FRAME_HEADER];

    return sqlite_snapshot_read_at(s->log, frame, sizeof frame, s->log_end) == FRAME_HEADER &&
           has_salts(s, frame);
}

/* A later transaction may use the same file again, with another nonce. The present one may have added more pages, which
 * are written to the database afterwards. */
static bool is_journal_whole(const struct sqlite_snapshot *s)
{
    unsigned char header[JOURNAL_HEADER];
    int fd = open_journal(s, header);
    struct stat now, ours;
    bool same = fd >= 0 && fstat(fd, &now) == 0 && fstat(s->log, &ours) == 0 &&
                now.st_ino == ours.st_ino && now.st_dev == ours.st_dev &&
                memcmp(header + 12, s->header + 12, JOURNAL_HEADER - 12) == 0;

    if (fd >= 0)
        close(fd);
    return same;
}

bool sqlite_snapshot_holds(const struct sqlite_snapshot *s)
{
    struct stat wal;
    unsigned char header[WAL_HEADER];

    if (s->log < 0)
        return is_db_unchanged(s) && !in_transaction(s);
    if (s->rolls_back)
        return is_db_unchanged(s) && is_journal_whole(s);
    /* The frames that were read must still exist. */
    if (fstat(s->log, &wal) != 0 || wal.st_size < s->log_end ||
        sqlite_snapshot_read_at(s->log, header, sizeof header, 0) != WAL_HEADER ||
        memcmp(header, s->header, sizeof header) != 0)
        return false;
    /* A checkpoint of transactions in the snapshot wrote only pages that are read from the -wal anyway. */
    return (wal.st_nlink && !has_wal_grown(s)) || is_db_unchanged(s);
}
