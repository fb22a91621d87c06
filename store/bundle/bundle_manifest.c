#include <stdio.h>
#include <string.h>

#include "lite/base/array.h"
#include "lite/base/time.h"
#include "lite/base/utf8.h"
#include "lite/json/json.h"
#include "lite/json/jsonout.h"
#include "store/bundle/bundle_internal.h"
#include "store/fs/path.h"

enum { BUNDLE_VERSION = 1 };
static const char bundle_format[] = "reprise-bundle";

void bundle_fini(struct bundle *b)
{
    arena_fini(&b->arena);
    *b = (struct bundle){ .n = 0 };
}

bool bundle_path_is_plain(struct slice path)
{
    size_t part = 0;

    if (!path.n || path.n > BUNDLE_PATH_MAX || !utf8_valid(path))
        return false;
    for (size_t i = 0; i <= path.n; i++) {
        const unsigned char c = i < path.n ? (unsigned char)path.p[i] : '/';

        if (c < ' ' || c == 0x7f || c == '\\')
            return false;
        if (c != '/')
            continue;
        const char *name = path.p + part;
        const size_t n = i - part;

        if (!n || n > BUNDLE_NAME_MAX || (name[0] == '.' && (n == 1 || (n == 2 && name[1] == '.'))))
            return false;
        part = i + 1;
    }
    return true;
}

/* ---- writing ---- */

static void bundle_print_time(struct jsonout *j, const char *key, int64_t ms)
{
    if (ms != TIME_NONE)
        jsonout_int_member(j, key, ms);
}

static void bundle_print_text(struct jsonout *j, const char *key, const char *text)
{
    jsonout_member(j, key, text ? slice_of(text) : SLICE(""));
}

static void bundle_print_session(struct jsonout *j, const struct bundle_session *s)
{
    char hex[SHA256_BYTES * 2 + 1];

    jsonout_open(j, '{');
    bundle_print_text(j, "agent", s->agent);
    bundle_print_text(j, "id", s->id);
    bundle_print_text(j, "title", s->title);
    bundle_print_text(j, "directory", s->directory);
    bundle_print_text(j, "transcript", s->transcript);
    jsonout_int_member(j, "messages", s->messages);
    bundle_print_time(j, "createdMs", s->created_ms);
    bundle_print_time(j, "modifiedMs", s->modified_ms);

    if (s->repository.root) {
        jsonout_key(j, "repository");
        jsonout_open(j, '{');
        bundle_print_text(j, "root", s->repository.root);
        bundle_print_text(j, "commit", s->repository.commit);
        bundle_print_text(j, "firstCommit", s->repository.first);
        jsonout_key(j, "remotes");
        jsonout_open(j, '[');
        for (size_t i = 0; i < s->repository.remotes; i++)
            jsonout_text(j, slice_of(s->repository.remote[i]));
        jsonout_close(j, ']');
        jsonout_close(j, '}');
    }

    jsonout_key(j, "files");
    jsonout_open(j, '[');
    for (size_t i = 0; i < s->n; i++) {
        hasher_hex(s->file[i].sha256, hex);
        jsonout_open(j, '{');
        bundle_print_text(j, "path", s->file[i].path);
        jsonout_int_member(j, "size", s->file[i].size);
        jsonout_int_member(j, "mtimeNs", s->file[i].mtime_ns);
        bundle_print_text(j, "sha256", hex);
        jsonout_close(j, '}');
    }
    jsonout_close(j, ']');
    jsonout_close(j, '}');
}

enum err_code bundle_manifest_print(const struct bundle *b, struct buf *out)
{
    struct jsonout j;

    jsonout_init(&j, out);
    jsonout_open(&j, '{');
    bundle_print_text(&j, "format", bundle_format);
    jsonout_int_member(&j, "version", BUNDLE_VERSION);
    bundle_print_time(&j, "madeMs", b->made_ms);
    bundle_print_text(&j, "home", b->home);
    jsonout_bool_member(&j, "redacted", b->redacted);
    jsonout_key(&j, "sessions");
    jsonout_open(&j, '[');
    for (size_t i = 0; i < b->n; i++)
        bundle_print_session(&j, &b->session[i]);
    jsonout_close(&j, ']');
    jsonout_close(&j, '}');
    return j.rc ? j.rc : buf_add_byte(out, '\n');
}

/* ---- reading ---- */

static enum err_code bundle_refuse(const char *what, struct err *e)
{
    return err_set(e, ERR_UNSAFE, "", "read the bundle: %s", what);
}

/* A text without a NUL, NULL if it is missing. Returns false if it cannot be accepted. */
static bool bundle_text(struct slice object, const char *name, size_t most, struct arena *a,
                        const char **out)
{
    const struct slice text = json_copy_at(object, name, a);

    *out = text.p;
    return !a->failed && text.n <= most && (!text.p || !memchr(text.p, '\0', text.n));
}

/* An absolute path in its plain form, NULL if it is missing. */
static bool bundle_absolute(struct slice object, const char *name, struct arena *a,
                            const char **out)
{
    if (!bundle_text(object, name, PATH_MAX - 1, a, out))
        return false;
    const char *clean = *out ? path_normalize("/", *out, a) : "";

    return clean && (!*out || strcmp(clean, *out) == 0);
}

static int64_t bundle_number(struct slice object, const char *name, int64_t missing)
{
    struct slice value;
    int64_t n;

    return json_get(object, name, &value) && json_int(value, &n) ? n : missing;
}

static bool bundle_hash(const char *hex, uint8_t out[SHA256_BYTES])
{
    unsigned byte;

    if (!hex || strlen(hex) != SHA256_BYTES * 2 ||
        strspn(hex, "0123456789abcdef") != SHA256_BYTES * 2)
        return false;
    for (size_t i = 0; i < SHA256_BYTES && sscanf(hex + 2 * i, "%2x", &byte) == 1; i++)
        out[i] = (uint8_t)byte;
    return true;
}

static enum err_code bundle_read_file(struct slice object, struct arena *a, struct bundle_file *out,
                                      struct err *e)
{
    const char *hex;

    out->size = bundle_number(object, "size", -1);
    out->mtime_ns = bundle_number(object, "mtimeNs", 0);
    if (!bundle_text(object, "path", BUNDLE_PATH_MAX, a, &out->path) || !out->path ||
        !bundle_path_is_plain(slice_of(out->path)))
        return a->failed ? err_nomem(e) : bundle_refuse("it names a file outside of a store", e);
    if (!bundle_text(object, "sha256", SHA256_BYTES * 2, a, &hex) ||
        !bundle_hash(hex, out->sha256) || out->size < 0)
        return a->failed ? err_nomem(e) : bundle_refuse("its manifest is damaged", e);
    return ERR_OK;
}

static enum err_code bundle_read_files(struct bundle *b, struct slice object,
                                       struct bundle_session *s, size_t *files, struct err *e)
{
    struct json_iter it;
    struct slice file;

    json_list_open(&it, object, "files");
    while (json_list_next(&it, &file)) {
        if (++*files > BUNDLE_FILES_MAX)
            return bundle_refuse("it has too many files", e);
        NEED(s->file = arena_grow(&b->arena, s->file, s->n, sizeof *s->file));
        TRY(bundle_read_file(file, &b->arena, &s->file[s->n], e));
        if (s->file[s->n].size > INT64_MAX - b->bytes)
            return bundle_refuse("it is too large", e);
        b->bytes += s->file[s->n].size;
        s->bytes += s->file[s->n++].size;
    }
    return ERR_OK;
}

static bool bundle_read_repository(struct slice object, struct arena *a, struct repo_identity *out)
{
    struct slice repository, url;
    struct json_iter it;

    if (!json_get(object, "repository", &repository))
        return true;
    json_list_open(&it, repository, "remotes");
    while (json_list_next(&it, &url) && out->remotes < 100) {
        const struct slice text = json_text_of(url, a);

        if (text.n && text.n < 1024 && !memchr(text.p, '\0', text.n) &&
            !arena_add_text(a, &out->remote, &out->remotes, arena_copy(a, text).p))
            return false;
    }
    return bundle_absolute(repository, "root", a, &out->root) &&
           bundle_text(repository, "commit", 64, a, &out->commit) &&
           bundle_text(repository, "firstCommit", 64, a, &out->first);
}

static enum err_code bundle_read_session(struct bundle *b, struct slice object, size_t *files,
                                         struct err *e)
{
    struct arena *a = &b->arena;

    if (b->n >= BUNDLE_SESSIONS_MAX)
        return bundle_refuse("it has too many sessions", e);
    NEED(b->session = arena_grow(a, b->session, b->n, sizeof *b->session));
    struct bundle_session *s = &b->session[b->n++];

    *s = (struct bundle_session){ .messages = bundle_number(object, "messages", 0),
                                  .created_ms = bundle_number(object, "createdMs", TIME_NONE),
                                  .modified_ms = bundle_number(object, "modifiedMs", TIME_NONE) };
    if (!bundle_text(object, "agent", 64, a, &s->agent) || !s->agent ||
        !bundle_text(object, "id", BUNDLE_NAME_MAX, a, &s->id) || !s->id || !s->id[0] ||
        !bundle_text(object, "title", BUNDLE_TEXT_MAX, a, &s->title) ||
        !bundle_absolute(object, "directory", a, &s->directory) ||
        !bundle_text(object, "transcript", BUNDLE_PATH_MAX, a, &s->transcript) || !s->transcript ||
        !bundle_path_is_plain(slice_of(s->transcript)) ||
        !bundle_read_repository(object, a, &s->repository))
        return a->failed ? err_nomem(e) : bundle_refuse("its manifest is damaged", e);
    s->title = s->title ? s->title : "";
    TRY(bundle_read_files(b, object, s, files, e));
    return s->n ? ERR_OK : bundle_refuse("a session of it has no files", e);
}

enum err_code bundle_manifest_read(struct slice json, struct bundle *out, struct err *e)
{
    CLEANUP(bundle_fini) struct bundle b = { .made_ms = bundle_number(json, "madeMs", TIME_NONE) };
    struct json_iter it;
    struct slice session;
    size_t files = 0;

    if (!json_valid(json) || !json_get_is(json, "format", bundle_format))
        return err_set(e, ERR_FORMAT, "", "read the bundle: it is no bundle of reprise");
    if (bundle_number(json, "version", 0) != BUNDLE_VERSION)
        return err_set(e, ERR_UNSUPPORTED, "", "read the bundle: a newer reprise made it");
    b.redacted = json_get_true(json, "redacted");
    if (!bundle_absolute(json, "home", &b.arena, &b.home))
        return b.arena.failed ? err_nomem(e) : bundle_refuse("its manifest is damaged", e);
    json_list_open(&it, json, "sessions");
    while (json_list_next(&it, &session))
        TRY(bundle_read_session(&b, session, &files, e));
    if (!b.n)
        return bundle_refuse("it has no sessions", e);
    HAND_OVER(out, b);
    return ERR_OK;
}
