#include "store/journal/record.h"
#include "lite/base/cleanup.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cjson/cJSON.h>

enum err_code record_percent_encode(struct slice bytes, struct buf *out)
{
    enum err_code rc = ERR_OK;

    out->n = 0;
    while (bytes.n && !rc) {
        size_t n = 0;

        while (n < bytes.n && bytes.p[n] >= ' ' && bytes.p[n] <= '~' && bytes.p[n] != '%')
            n++;
        rc = buf_add(out, (struct slice){ bytes.p, n });
        if (!rc && n < bytes.n)
            rc = buf_addf(out, "%%%02X", (unsigned char)bytes.p[n++]);
        bytes.p += n;
        bytes.n -= n;
    }
    return rc;
}

bool record_percent_decode(const char *text, struct arena *a, struct slice *out)
{
    char *p = arena_alloc(a, strlen(text) + 1);
    size_t n = 0;

    if (!p)
        return false;
    for (; *text; text++) {
        if (*text != '%') {
            p[n++] = *text;
            continue;
        }
        int hi = slice_hex_digit(text[1]), lo = hi < 0 ? -1 : slice_hex_digit(text[2]);

        if (lo < 0)
            return false;
        p[n++] = (char)(hi * 16 + lo);
        text += 2;
    }
    p[n] = '\0';
    *out = (struct slice){ p, n };
    return true;
}

/* ---- writing ---- */

bool record_put_bytes(cJSON *o, const char *key, struct slice bytes, struct buf *scratch)
{
    return record_percent_encode(bytes, scratch) == ERR_OK && buf_cstr(scratch) &&
           cJSON_AddStringToObject(o, key, scratch->p);
}

bool record_put_int(cJSON *o, const char *key, int64_t n)
{
    char text[24];

    snprintf(text, sizeof text, "%lld", (long long)n);
    return cJSON_AddStringToObject(o, key, text);
}

static bool put_field(cJSON *o, const struct record_field *f, const void *at, struct buf *scratch)
{
    const char *text = NULL;
    char hex[SHA256_BYTES * 2 + 1];

    switch (f->kind) {
    case RECORD_TEXT:
    case RECORD_OPTIONAL:
        text = *(const char *const *)at;
        return !text || record_put_bytes(o, f->key, slice_of(text), scratch);
    case RECORD_BYTES: return record_put_bytes(o, f->key, *(const struct slice *)at, scratch);
    case RECORD_INT:
        return record_put_int(
            o, f->key, (f->size == sizeof(int64_t) ? *(const int64_t *)at : *(const uint32_t *)at));
    case RECORD_NUMBER: return cJSON_AddNumberToObject(o, f->key, (double)*(const int64_t *)at);
    case RECORD_BOOL: return record_put_int(o, f->key, *(const bool *)at);
    case RECORD_FLAG: return !*(const bool *)at || record_put_int(o, f->key, 1);
    case RECORD_HASH: hasher_hex(at, hex); return cJSON_AddStringToObject(o, f->key, hex);
    case RECORD_WORD: return cJSON_AddStringToObject(o, f->key, f->words[*(const unsigned *)at]);
    case RECORD_ATTRS: return record_json_set_attrs(o, at, scratch);
    }
    return false;
}

bool record_put(cJSON *o, const struct record_table *t, const void *from, struct buf *scratch)
{
    bool ok = true;

    for (const struct record_field *f = t->field; f < t->field + t->n && ok; f++)
        ok = put_field(o, f, (const char *)from + f->at, scratch);
    return ok;
}

bool record_put_list(cJSON *o, const char *key, const struct record_table *t, const void *items,
                     size_t n, struct buf *scratch)
{
    cJSON *list = cJSON_AddArrayToObject(o, key);
    bool ok = list != NULL;

    for (size_t i = 0; i < n && ok; i++) {
        cJSON *one = cJSON_CreateObject();

        ok = cJSON_AddItemToArray(list, one) &&
             record_put(one, t, (const char *)items + i * t->size, scratch);
    }
    return ok;
}

/* ---- reading ---- */

static bool read_int(const char *text, int64_t *n)
{
    char *end;

    if (!text || !text[0])
        return false;
    *n = strtoll(text, &end, 10);
    return *end == '\0';
}

bool record_get_int(const cJSON *o, const char *key, int64_t *n)
{
    return read_int(cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(o, key)), n);
}

bool record_get_bytes(const cJSON *o, const char *key, struct arena *a, struct slice *out)
{
    const cJSON *v = cJSON_GetObjectItemCaseSensitive(o, key);

    *out = (struct slice){ NULL, 0 };
    return cJSON_IsString(v) ? record_percent_decode(v->valuestring, a, out) : !v;
}

static bool read_hash(const char *text, uint8_t out[SHA256_BYTES])
{
    if (!text || strlen(text) != SHA256_BYTES * 2)
        return false;
    for (size_t i = 0; i < SHA256_BYTES; i++) {
        int hi = slice_hex_digit(text[i * 2]), lo = slice_hex_digit(text[i * 2 + 1]);

        if (hi < 0 || lo < 0)
            return false;
        out[i] = (uint8_t)(hi * 16 + lo);
    }
    return true;
}

static bool read_word(const char *text, const struct record_field *f, unsigned *out)
{
    for (*out = 0; text && *out < f->words_n; ++*out)
        if (f->words[*out] && strcmp(text, f->words[*out]) == 0)
            return true;
    return false;
}

static bool get_field(const cJSON *o, const struct record_field *f, void *at, struct arena *a)
{
    const cJSON *v = cJSON_GetObjectItemCaseSensitive(o, f->key);
    const char *text = cJSON_GetStringValue(v);
    struct slice bytes;
    int64_t n = 0;
    bool ok = true;

    switch (f->kind) {
    case RECORD_TEXT:
    case RECORD_OPTIONAL:
        ok = record_get_bytes(o, f->key, a, &bytes) && (bytes.p || f->kind == RECORD_OPTIONAL);
        *(const char **)at = bytes.p;
        break;
    case RECORD_BYTES: return record_get_bytes(o, f->key, a, at) && ((struct slice *)at)->p;
    /* Integers are recorded as text, because a number of JSON has only 53 bits. */
    case RECORD_INT:
        ok = read_int(text, &n);
        if (f->size == sizeof n)
            *(int64_t *)at = n;
        else
            *(uint32_t *)at = (uint32_t)n;
        break;
    case RECORD_NUMBER: *(int64_t *)at = cJSON_IsNumber(v) ? (int64_t)v->valuedouble : 0; break;
    case RECORD_BOOL:
        ok = read_int(text, &n);
        *(bool *)at = n != 0;
        break;
    case RECORD_FLAG: *(bool *)at = v != NULL; break;
    case RECORD_HASH: return read_hash(text, at);
    case RECORD_WORD: return read_word(text, f, at);
    case RECORD_ATTRS: return record_json_attrs(o, a, at);
    }
    return ok;
}

bool record_get(const cJSON *o, const struct record_table *t, void *to, struct arena *a)
{
    bool ok = true;

    for (const struct record_field *f = t->field; f < t->field + t->n && ok; f++)
        ok = get_field(o, f, (char *)to + f->at, a);
    return ok;
}

bool record_get_list(const cJSON *o, const char *key, const struct record_table *t, void *items,
                     size_t *n, struct arena *a)
{
    const cJSON *list = cJSON_GetObjectItemCaseSensitive(o, key);
    char *to = list ? arena_zalloc(a, t->size * ((size_t)cJSON_GetArraySize(list) + 1)) : NULL;
    bool ok = !list || (to && cJSON_IsArray(list));

    *n = 0;
    memcpy(items, &to, sizeof to);
    for (const cJSON *one = list ? list->child : NULL; one && ok; one = one->next)
        ok = record_get(one, t, to + t->size * (*n)++, a);
    return ok;
}

/* ---- tables ---- */

static const struct record_field path_field[] = { { "path", RECORD_TEXT, 0, 0, NULL, 0 } };
const struct record_table record_paths = RECORD_TABLE(const char *, path_field);

/* clang-format off */
static const struct record_field xattr_fields[] = {
    RECORD_FIELD("name", RECORD_TEXT, struct attr, name),
    RECORD_FIELD("value", RECORD_BYTES, struct attr, value),
};
static const struct record_field attrs_fields[] = {
    RECORD_FIELD("mode", RECORD_INT, struct attrs, mode),
    RECORD_FIELD("uid", RECORD_INT, struct attrs, uid),
    RECORD_FIELD("gid", RECORD_INT, struct attrs, gid),
    RECORD_FIELD("mtime", RECORD_INT, struct attrs, mtime_ns),
};
/* clang-format on */
static const struct record_table xattr_table = RECORD_TABLE(struct attr, xattr_fields);
static const struct record_table attrs_table = RECORD_TABLE(struct attrs, attrs_fields);

bool record_json_set_attrs(cJSON *o, const struct attrs *x, struct buf *scratch)
{
    cJSON *to = cJSON_AddObjectToObject(o, "attrs");

    return to && record_put(to, &attrs_table, x, scratch) &&
           (x->n == 0 || record_put_list(to, "xattrs", &xattr_table, x->x, x->n, scratch));
}

bool record_json_attrs(const cJSON *o, struct arena *a, struct attrs *out)
{
    const cJSON *from = cJSON_GetObjectItemCaseSensitive(o, "attrs");
    struct attrs x = { 0 };

    if (!record_get(from, &attrs_table, &x, a) ||
        !record_get_list(from, "xattrs", &xattr_table, &x.x, &x.n, a))
        return false;
    x.mode &= 07777;
    *out = x;
    return true;
}

enum { DIGITS = 15 };

int64_t record_id_time(const char *id)
{
    char digits[DIGITS + 1] = "";

    if (strspn(id, "0123456789") != DIGITS)
        return 0;
    memcpy(digits, id, DIGITS);
    return strtoll(digits, NULL, 10);
}

/* A log that does not exist yet has no ids. */
static enum err_code newest_in(const struct store_env *env, const char *log, int64_t *newest,
                               struct err *e)
{
    char dir[PATH_MAX];
    const struct dirent *x;
    enum err_code rc = env_state_path(env, log, dir, e);
    DIR *d = rc ? NULL : opendir(dir);

    if (!d)
        return rc || errno == ENOENT ? rc : err_sys(e, dir, "read directory");
    while ((errno = 0, x = readdir(d))) {
        int64_t ms = record_id_time(x->d_name);

        *newest = ms > *newest ? ms : *newest;
    }
    if (errno)
        rc = err_sys(e, dir, "read directory");
    closedir(d);
    return rc;
}

enum err_code record_id_next(const struct store_env *env, char out[RECORD_ID_SIZE], struct err *e)
{
    int64_t newest = 0;
    uint32_t run = env->run;

    TRY(newest_in(env, "changes", &newest, e));
    TRY(newest_in(env, "rewinds", &newest, e));
    if (run == 0 && getentropy(&run, sizeof run))
        return err_sys(e, "", "generate a random name");
    snprintf(out, RECORD_ID_SIZE, "%0*lld-%08x", DIGITS,
             (long long)(env->now_ms > newest ? env->now_ms : newest + 1), (unsigned)run);
    return ERR_OK;
}

bool record_id_is_of_run(const struct store_env *env, const char *id)
{
    char end[16];

    snprintf(end, sizeof end, "-%08x", (unsigned)env->run);
    return env->run != 0 && strlen(id) == DIGITS + strlen(end) && strcmp(id + DIGITS, end) == 0;
}
