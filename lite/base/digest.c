#include "lite/base/digest.h"

#include <dlfcn.h>
#include <pthread.h>
#include <string.h>

#include <openssl/evp.h>

/* clang-format off */
#define LIBCRYPTO_FUNCTIONS(F) \
    F(EVP_MD_CTX_new) F(EVP_MD_CTX_free) F(EVP_MD_fetch) F(EVP_DigestInit_ex2) F(EVP_DigestUpdate) F(EVP_DigestFinal_ex) F(EVP_EncodeBlock)
/* clang-format on */

/* Written once, by load_libcrypto. A kind that cannot be fetched is NULL. */
static struct {
#define DECLARE(name) __typeof__(name) *name;
    LIBCRYPTO_FUNCTIONS(DECLARE)
    EVP_MD *kind[DIGEST_KINDS];
} libcrypto;

#ifdef REPRISE_STATIC
#define LIBCRYPTO_FILE "libcrypto"

static bool find_functions(void)
{
#define LINKED(name) libcrypto.name = name;
    LIBCRYPTO_FUNCTIONS(LINKED)
    return true;
}
#else
static bool find_functions(void)
{
    void *handle = dlopen(LIBCRYPTO_FILE, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    bool whole = handle != NULL;

#define FIND(name)                                                                                 \
    const void *found_##name = whole ? dlsym(handle, #name) : NULL;                                \
    memcpy(&libcrypto.name, &found_##name, sizeof libcrypto.name);                                 \
    whole = whole && found_##name;
    LIBCRYPTO_FUNCTIONS(FIND)
    if (handle)
        dlclose(handle);
    return whole;
}
#endif

static void load_libcrypto(void)
{
    static const char *const names[DIGEST_KINDS] = { "MD5", "SHA1", "SHA256" };

    if (!find_functions())
        return;
    for (size_t i = 0; i < DIGEST_KINDS; i++)
        libcrypto.kind[i] = libcrypto.EVP_MD_fetch(NULL, names[i], NULL);
}

void digest_begin(struct digest *d, enum digest_kind kind)
{
    static pthread_once_t libcrypto_once = PTHREAD_ONCE_INIT;

    pthread_once(&libcrypto_once, load_libcrypto);
    if (!d->state && libcrypto.kind[kind])
        d->state = libcrypto.EVP_MD_CTX_new();
    d->failed =
        !d->state || libcrypto.EVP_DigestInit_ex2(d->state, libcrypto.kind[kind], NULL) != 1;
}

void digest_add(struct digest *d, struct slice bytes)
{
    if (!d->failed && bytes.n)
        d->failed = libcrypto.EVP_DigestUpdate(d->state, bytes.p, bytes.n) != 1;
}

bool digest_end(struct digest *d, uint8_t *sum)
{
    return !d->failed && libcrypto.EVP_DigestFinal_ex(d->state, sum, NULL) == 1;
}

void digest_fini(struct digest *d)
{
    if (d->state)
        libcrypto.EVP_MD_CTX_free(d->state);
    *d = (struct digest){ 0 };
}

bool digest_of(enum digest_kind kind, struct slice bytes, uint8_t *sum)
{
    struct digest d = { 0 };

    digest_begin(&d, kind);
    digest_add(&d, bytes);
    bool ok = digest_end(&d, sum);

    digest_fini(&d);
    return ok;
}

enum err_code digest_error(struct err *e)
{
    return libcrypto.kind[DIGEST_SHA256] ? err_nomem(e)
                                         : err_set(e, ERR_UNSUPPORTED, LIBCRYPTO_FILE,
                                                   "load libcrypto: the library is not installed");
}

void digest_hex(const uint8_t *bytes, size_t n, char *out)
{
    static const char digits[] = "0123456789abcdef";

    for (size_t i = 0; i < n; i++) {
        *out++ = digits[bytes[i] >> 4];
        *out++ = digits[bytes[i] & 15];
    }
    *out = '\0';
}

void digest_base64(const uint8_t *bytes, size_t n, char *out)
{
    libcrypto.EVP_EncodeBlock((unsigned char *)out, bytes, (int)n);
}
