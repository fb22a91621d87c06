#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <stdio.h>
#include <string.h>

#include "store/plugins/s3/s3.h"

enum { SUM_BYTES = 32, DAY_LETTERS = 8 };

static void to_hex(const unsigned char sum[SUM_BYTES], char out[S3_SHA256_TEXT])
{
    for (size_t i = 0; i < SUM_BYTES; i++)
        snprintf(out + i * 2, 3, "%02x", sum[i]);
}

int s3_sha256(struct slice bytes, char out[S3_SHA256_TEXT])
{
    unsigned char sum[EVP_MAX_MD_SIZE];

    if (!EVP_Digest(bytes.p, bytes.n, sum, NULL, EVP_sha256(), NULL))
        return REPRISE_PLUGIN_NO_MEMORY;
    to_hex(sum, out);
    return REPRISE_PLUGIN_OK;
}

/* Each text is signed with the previous sum; the first one with the secret. */
static bool sign_in_turn(const char *secret, const char *const *text, size_t n,
                         char out[S3_SHA256_TEXT])
{
    unsigned char sum[2][EVP_MAX_MD_SIZE];
    const void *key = secret;
    size_t size = strlen(secret);

    for (size_t i = 0; i < n; i++) {
        const unsigned char *p = (const unsigned char *)text[i];

        if (!HMAC(EVP_sha256(), key, (int)size, p, strlen(text[i]), sum[i % 2], NULL))
            return false;
        key = sum[i % 2];
        size = SUM_BYTES;
    }
    to_hex(key, out);
    return true;
}

const char *s3_sign(const struct s3 *s3, const struct s3_signed *x, struct arena *a)
{
    const char *names = s3->token ? "host;x-amz-content-sha256;x-amz-date;x-amz-security-token"
                                  : "host;x-amz-content-sha256;x-amz-date";
    const char *request = arena_format(
        a, "%s\n%s\n%s\nhost:%s\nx-amz-content-sha256:%s\nx-amz-date:%s\n%s%s%s\n%s\n%s", x->method,
        x->path, x->query, s3->host, x->sum, x->date, s3->token ? "x-amz-security-token:" : "",
        s3->token ? s3->token : "", s3->token ? "\n" : "", names, x->sum);
    const char *secret = arena_format(a, "AWS4%s", s3->secret);
    const char *day = arena_format(a, "%.*s", DAY_LETTERS, x->date);
    char sum[S3_SHA256_TEXT], signature[S3_SHA256_TEXT];

    if (!request || !secret || !day || s3_sha256(slice_of(request), sum))
        return NULL;
    const char *scope = arena_format(a, "%s/%s/s3/aws4_request", day, s3->region);
    const char *text =
        scope ? arena_format(a, "AWS4-HMAC-SHA256\n%s\n%s\n%s", x->date, scope, sum) : NULL;
    const char *const turn[] = { day, s3->region, "s3", "aws4_request", text };

    if (!text || !sign_in_turn(secret, turn, sizeof turn / sizeof *turn, signature))
        return NULL;
    return arena_format(a, "AWS4-HMAC-SHA256 Credential=%s/%s,SignedHeaders=%s,Signature=%s",
                        s3->key, scope, names, signature);
}
