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

static bool journal_record_is_plain(unsigned char c)
{
    return c >= ' ' && c <= '~' && c != '%';
}

enum err_code record_percent_encode(struct slice bytes, struct buf *out)
{
    enum err_code rc = ERR_OK;

    out->n = 0;
    while (bytes.n && !rc) {
        size_t n = 0;

        while (n < bytes.n && journal_record_is_plain((unsigned char)bytes.p[n]))
            n++;
        rc = buf_add(out, (struct slice){ bytes.p, n });
        if (!rc && n < bytes.n)
            rc = buf_addf(out, "%%%02X", (unsigned char)bytes.p[n++]);
        bytes.p += n;
        bytes.n -= n;
    }
    return rc;
}

static int journal_record_hex_digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
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
        int hi = journal_record_hex_digit(text[1]),
            lo = hi < 0 ? -1 : journal_record_hex_digit(text[2]);

        if (lo < 0)
            return false;
        p[n++] = (char)(hi * 16 + lo);
        text += 2;
    }
    p[n] = '\0';
    *out = (struct slice){ p, n };
    return true;
}

static bool record_json_set_bytes(cJSON *o, const char *key, struct slice bytes,
                                  struct buf *scratch)
{
    return record_percent_encode(bytes, scratch) == ERR_OK && buf_cstr(scratch) &&
           cJSON_AddStringToObject(o, key, scratch->p);
}

bool record_json_set_text(cJSON *o, const char *key, const char *text, struct buf *scratch)
{
    return !text || record_json_set_bytes(o, key, slice_of(text), scratch);
}

bool record_json_set_int(cJSON *o, const char *key, int64_t n)
{
    char text[24];

    snprintf(text, sizeof text, "%lld", (long long)n);
    return cJSON_AddStringToObject(o, key, text);
}

bool record_json_set_hash(cJSON *o, const char *key, const uint8_t hash[SHA256_BYTES])
{
    char hex[SHA256_BYTES * 2 + 1];

    hasher_hex(hash, hex);
    return cJSON_AddStringToObject(o, key, hex);
}

static bool record_json_bytes(const cJSON *o, const char *key, struct arena *a, struct slice *out)
{
    const cJSON *v = cJSON_GetObjectItemCaseSensitive(o, key);

    return cJSON_IsString(v) && record_percent_decode(v->valuestring, a, out);
}

bool record_json_text(const cJSON *o, const char *key, struct arena *a, const char **out)
{
    struct slice text;

    if (!record_json_bytes(o, key, a, &text))
        return false;
    *out = text.p;
    return true;
}

bool record_json_optional_text(const cJSON *o, const char *key, struct arena *a, const char **out)
{
    return !cJSON_HasObjectItem(o, key) || record_json_text(o, key, a, out);
}

bool record_json_int(const cJSON *o, const char *key, int64_t *n)
{
    const cJSON *v = cJSON_GetObjectItemCaseSensitive(o, key);
    char *end;

    if (!cJSON_IsString(v) || !v->valuestring[0])
        return false;
    *n = strtoll(v->valuestring, &end, 10);
    return *end == '\0';
}

static int nibble(char c)
{
    const char digits[] = "0123456789abcdef", *at = memchr(digits, c, 16);

    return at ? (int)(at - digits) : -1;
}

bool record_json_hash(const cJSON *o, const char *key, uint8_t out[SHA256_BYTES])
{
    const cJSON *v = cJSON_GetObjectItemCaseSensitive(o, key);

    if (!cJSON_IsString(v) || strlen(v->valuestring) != SHA256_BYTES * 2)
        return false;
    for (size_t i = 0; i < SHA256_BYTES; i++) {
        int hi = nibble(v->valuestring[i * 2]), lo = nibble(v->valuestring[i * 2 + 1]);

        if (hi < 0 || lo < 0)
            return false;
        out[i] = (uint8_t)(hi * 16 + lo);
    }
    return true;
}

static bool write_list(cJSON *o, const struct attrs *x, struct buf *scratch)
{
    cJSON *list = cJSON_AddArrayToObject(o, "xattrs");
    bool ok = list != NULL;

    for (size_t i = 0; i < x->n && ok; i++) {
        cJSON *one = cJSON_CreateObject();

        ok = cJSON_AddItemToArray(list, one) &&
             record_json_set_text(one, "name", x->x[i].name, scratch) &&
             record_json_set_bytes(one, "value", x->x[i].value, scratch);
    }
    return ok;
}

bool record_json_set_attrs(cJSON *o, const struct attrs *x, struct buf *scratch)
{
    cJSON *to = cJSON_AddObjectToObject(o, "attrs");

    return to && record_json_set_int(to, "mode", x->mode) &&
           record_json_set_int(to, "uid", x->uid) && record_json_set_int(to, "gid", x->gid) &&
           record_json_set_int(to, "mtime", x->mtime_ns) &&
           (x->n == 0 || write_list(to, x, scratch));
}

static bool journal_record_read_list(const cJSON *list, struct arena *a, struct attrs *out)
{
    out->x = arena_zalloc(a, sizeof *out->x * (size_t)(cJSON_GetArraySize(list) + 1));
    bool ok = out->x && (!list || cJSON_IsArray(list));

    for (const cJSON *one = list ? list->child : NULL; one && ok; one = one->next) {
        struct attr *x = &out->x[out->n++];

        ok = record_json_text(one, "name", a, &x->name) &&
             record_json_bytes(one, "value", a, &x->value);
    }
    return ok;
}

bool record_json_attrs(const cJSON *o, struct arena *a, struct attrs *out)
{
    const cJSON *from = cJSON_GetObjectItemCaseSensitive(o, "attrs");
    int64_t mode, uid, gid;
    struct attrs x = { 0 };

    if (!record_json_int(from, "mode", &mode) || !record_json_int(from, "uid", &uid) ||
        !record_json_int(from, "gid", &gid) || !record_json_int(from, "mtime", &x.mtime_ns) ||
        !journal_record_read_list(cJSON_GetObjectItemCaseSensitive(from, "xattrs"), a, &x))
        return false;
    x.mode = (uint32_t)mode & 07777;
    x.uid = (uint32_t)uid;
    x.gid = (uint32_t)gid;
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
