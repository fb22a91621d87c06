#include "store/keep/keep.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lite/base/array.h"
#include "lite/base/cleanup.h"
#include "lite/io/file.h"
#include "store/fs/disk.h"
#include "store/journal/record.h"

/* The manifest: words separated by blanks, texts %XX-encoded (store/journal/record.h). The lines of its files follow
 * that of a session.
 *
 *     session <system> <store> <id> <kept_ms> <path>
 *     file|dir|shared|gone <mode> <size> <mtime_ns> <ctime_ns> <inode> <sha256> <path>
 *
 * A file that is gone has lost its original. */

enum { MANIFEST_MAX = 1 << 30, WORDS_MAX = 8 };

static const char *const keep_words[KEEP_KINDS + 1] = { "file", "dir", "shared", "gone" };

void keep_manifest_fini(struct keep_manifest *m)
{
    for (size_t i = 0; i < m->n; i++)
        free(m->session[i].file);
    free(m->session);
    arena_fini(&m->arena);
    *m = (struct keep_manifest){ .n = 0 };
}

int64_t keep_session_bytes(const struct keep_session *s)
{
    int64_t bytes = 0;

    for (size_t i = 0; i < s->n; i++)
        bytes += s->file[i].kind == KEEP_FILE ? s->file[i].size : 0;
    return bytes;
}

/* ---- reading ---- */

static size_t keep_split(char *line, char *word[WORDS_MAX])
{
    size_t n = 0;

    char *rest = line;

    for (; rest && n < WORDS_MAX; n++)
        word[n] = strsep(&rest, " ");
    return n + (rest != NULL);
}

static const char *keep_decode(const char *word, struct arena *a)
{
    struct slice text;

    return record_percent_decode(word, a, &text) && !memchr(text.p, '\0', text.n) ? text.p : NULL;
}

static bool keep_number(const char *word, int64_t *out)
{
    char *end;

    *out = strtoll(word, &end, 10);
    return end != word && !*end;
}

static bool keep_unhex(const char *word, uint8_t out[SHA256_BYTES])
{
    const size_t digits = 2 * (size_t)SHA256_BYTES;
    unsigned byte;

    if (strlen(word) != digits || strspn(word, "0123456789abcdef") != digits)
        return false;
    for (size_t i = 0; i < SHA256_BYTES && sscanf(word + 2 * i, "%2x", &byte) == 1; i++)
        out[i] = (uint8_t)byte;
    return true;
}

static bool keep_read_file(char *const word[WORDS_MAX], struct arena *a, struct keep_file *out)
{
    int64_t mode, ino;

    for (int kind = 0; kind <= KEEP_KINDS; kind++)
        if (strcmp(word[0], keep_words[kind]) == 0) {
            out->gone = kind == KEEP_KINDS;
            out->kind = out->gone ? KEEP_FILE : (enum keep_kind)kind;
            out->path = keep_decode(word[7], a);
            if (!keep_number(word[1], &mode) || !keep_number(word[5], &ino))
                return false;
            out->mode = (uint32_t)mode & 07777;
            out->ino = (uint64_t)ino;
            return keep_number(word[2], &out->size) && keep_number(word[3], &out->mtime_ns) &&
                   keep_number(word[4], &out->ctime_ns) && keep_unhex(word[6], out->sha256) &&
                   out->path && out->path[0] == '/';
        }
    return false;
}

/* The session whose files are being read. */
struct keep_reading {
    struct keep_session *session; /* NULL: it is not known */
    size_t cap;
};

/* A line that cannot be read may have named another session, so the files that follow have none. The list of the session
 * before it may lack some: all of it counts as changed, and is copied again. */
static void keep_lose_place(struct keep_manifest *m, struct keep_reading *r)
{
    for (size_t i = 0; r->session && i < r->session->n; i++)
        r->session->file[i].mtime_ns = -1;
    r->session = NULL;
    m->damaged++;
}

static enum err_code keep_read_line(struct keep_manifest *m, char *line, struct keep_reading *r,
                                    struct err *e)
{
    char *word[WORDS_MAX];
    const size_t n = keep_split(line, word);
    struct keep_session *s = r->session;
    bool ok = false;

    if (n == 6 && strcmp(word[0], "session") == 0) {
        NEED(array_reserve(m->session, m->cap, m->n + 1));

        struct keep_session *out = &m->session[m->n];

        *out = (struct keep_session){ .system = keep_decode(word[1], &m->arena),
                                      .store = keep_decode(word[2], &m->arena),
                                      .id = keep_decode(word[3], &m->arena),
                                      .path = keep_decode(word[5], &m->arena) };
        ok = keep_number(word[4], &out->kept_ms) && out->system && out->store && out->id &&
             out->path && out->path[0] == '/';

        *r = (struct keep_reading){ .session = out };
        m->n += ok;
    } else if (n == WORDS_MAX && s) {
        NEED(array_reserve(s->file, r->cap, s->n + 1));
        s->file[s->n] = (struct keep_file){ .size = 0 };
        ok = keep_read_file(word, &m->arena, &s->file[s->n]);
        s->n += ok;
    }
    if (!ok)
        keep_lose_place(m, r);
    return m->arena.failed ? err_nomem(e) : ERR_OK;
}

enum err_code keep_manifest_read(const char *path, struct keep_manifest *out, struct err *e)
{
    AUTO_BUF text = { 0 };
    CLEANUP(keep_manifest_fini) struct keep_manifest m = { .n = 0 };
    struct keep_reading r = { .cap = 0 };
    enum err_code rc = file_read_all(AT_FDCWD, path, 0, MANIFEST_MAX, &text, e);

    if (rc && rc != ERR_NOT_FOUND)
        return rc;
    NEED(!buf_add_byte(&text, '\0'));

    /* A NUL, as a power cut leaves them, ends a text and not the list. */
    for (char *line = text.p, *end = text.p + text.n, *next; line < end; line = next) {
        next = memchr(line, '\n', (size_t)(end - line));
        next = next ? next : end - 1;
        *next++ = '\0';
        if (strlen(line) + 1 < (size_t)(next - line))
            keep_lose_place(&m, &r);
        else if (*line)
            TRY(keep_read_line(&m, line, &r, e));
    }
    keep_manifest_sort(&m);
    HAND_OVER(out, m);
    return ERR_OK;
}

static int keep_by_path(const void *a, const void *b)
{
    const struct keep_session *x = a, *y = b;

    return strcmp(x->path, y->path);
}

void keep_manifest_sort(struct keep_manifest *m)
{
    if (m->n)
        qsort(m->session, m->n, sizeof *m->session, keep_by_path);
}

struct keep_session *keep_manifest_find(const struct keep_manifest *m, const char *path)
{
    const struct keep_session wanted = { .path = path };

    return m->n ? bsearch(&wanted, m->session, m->n, sizeof wanted, keep_by_path) : NULL;
}

/* ---- writing ---- */

static enum err_code keep_add_text(struct buf *out, const char *text, struct buf *scratch)
{
    enum err_code rc = record_percent_encode(slice_of(text), scratch);

    for (size_t i = 0; i < scratch->n && !rc; i++)
        rc = scratch->p[i] == ' ' ? buf_add(out, SLICE("%20")) : buf_add_byte(out, scratch->p[i]);
    return rc;
}

static enum err_code keep_add_file(struct buf *out, const struct keep_file *f, struct buf *scratch)
{
    char hex[SHA256_BYTES * 2 + 1];

    hasher_hex(f->sha256, hex);
    TRY(buf_addf(out, "%s %u %" PRId64 " %" PRId64 " %" PRId64 " %" PRIu64 " %s ",
                 keep_words[f->gone ? KEEP_KINDS : f->kind], (unsigned)f->mode, f->size,
                 f->mtime_ns, f->ctime_ns, f->ino, hex));
    TRY(keep_add_text(out, f->path, scratch));
    return buf_add_byte(out, '\n');
}

static enum err_code keep_print(const struct keep_manifest *m, struct buf *out, struct buf *scratch)
{
    for (size_t i = 0; i < m->n; i++) {
        const struct keep_session *s = &m->session[i];
        const char *const text[] = { s->system, s->store, s->id };

        TRY(buf_addf(out, "session "));
        for (size_t k = 0; k < COUNT_OF(text); k++) {
            TRY(keep_add_text(out, text[k], scratch));
            TRY(buf_add_byte(out, ' '));
        }
        TRY(buf_addf(out, "%" PRId64 " ", s->kept_ms));
        TRY(keep_add_text(out, s->path, scratch));
        TRY(buf_add_byte(out, '\n'));
        for (size_t k = 0; k < s->n; k++)
            TRY(keep_add_file(out, &s->file[k], scratch));
    }
    return ERR_OK;
}

enum err_code keep_manifest_write(const struct keep_manifest *m, const char *dir, struct err *e)
{
    AUTO_BUF out = { 0 };
    AUTO_BUF scratch = { 0 };

    NEED(!keep_print(m, &out, &scratch));
    return disk_replace_file(dir, "manifest", buf_slice(&out), 0600, e);
}
