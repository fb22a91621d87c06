#include "store/journal/record_json.h"

#include <cjson/cJSON.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "store/journal/percent.h"

bool record_json_set_bytes(cJSON *o, const char *key, struct slice bytes, struct buf *scratch)
{
    return percent_encode(bytes, scratch) == ERR_OK && buf_cstr(scratch) &&
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

bool record_json_bytes(const cJSON *o, const char *key, struct arena *a, struct slice *out)
{
    const cJSON *v = cJSON_GetObjectItemCaseSensitive(o, key);

    return cJSON_IsString(v) && percent_decode(v->valuestring, a, out);
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
