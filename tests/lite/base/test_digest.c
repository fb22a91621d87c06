#include "tests/test.h"

#include <pthread.h>
#include <string.h>

#include "lite/base/digest.h"

/* The sums are those of FIPS 180. */
static const struct {
    enum digest_kind kind;
    size_t n;
    const char *text, *sum;
} sums[] = {
    { DIGEST_SHA1, SHA1_BYTES, "", "da39a3ee5e6b4b0d3255bfef95601890afd80709" },
    { DIGEST_SHA1, SHA1_BYTES, "abc", "a9993e364706816aba3e25717850c26c9cd0d89d" },
    { DIGEST_SHA256, SHA256_BYTES, "",
      "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855" },
    { DIGEST_SHA256, SHA256_BYTES, "abc",
      "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad" },
    { DIGEST_MD5, MD5_BYTES, "abc", "900150983cd24fb0d6963f7d28e17f72" },
};

/* The first digest of the process is among these. */
static void *sum_often(void *arg)
{
    size_t *right = arg;
    uint8_t sum[DIGEST_MOST];
    char hex[2 * DIGEST_MOST + 1];

    for (int i = 0; i < 100; i++) {
        if (!digest_of(DIGEST_SHA256, SLICE("abc"), sum))
            continue;
        digest_hex(sum, SHA256_BYTES, hex);
        *right += strcmp(hex, sums[3].sum) == 0;
    }
    return NULL;
}

TEST(threads_may_begin_at_once)
{
    enum { THREADS = 4 };
    pthread_t thread[THREADS];
    size_t right[THREADS] = { 0 };

    for (size_t i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&thread[i], NULL, sum_often, &right[i]), 0);
    for (size_t i = 0; i < THREADS; i++) {
        pthread_join(thread[i], NULL);
        assert_int_equal(right[i], 100);
    }
}

TEST(sums_of_a_text_at_once_and_in_pieces)
{
    struct digest d = { 0 };
    uint8_t sum[DIGEST_MOST];
    char hex[2 * DIGEST_MOST + 1];

    for (size_t i = 0; i < sizeof sums / sizeof *sums; i++) {
        struct slice text = slice_of(sums[i].text);

        assert_true(digest_of(sums[i].kind, text, sum));
        digest_hex(sum, sums[i].n, hex);
        assert_string_equal(hex, sums[i].sum);

        /* One struct for all kinds, one after another. */
        digest_begin(&d, sums[i].kind);
        for (size_t k = 0; k < text.n; k++)
            digest_add(&d, (struct slice){ text.p + k, 1 });
        assert_true(digest_end(&d, sum));
        digest_hex(sum, sums[i].n, hex);
        assert_string_equal(hex, sums[i].sum);
    }
    digest_fini(&d);
    digest_fini(&d);
    digest_base64((const uint8_t *)"abcd", 4, hex);
    assert_string_equal(hex, "YWJjZA==");
}
