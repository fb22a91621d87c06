#include "tests/test.h"

#include "store/plugins/s3/s3.h"

/* The examples of Amazon's documentation: "Signature Calculations for the Authorization Header". */
static struct s3 example = { .key = "AKIAIOSFODNN7EXAMPLE",
                             .secret = "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY",
                             .region = "us-east-1",
                             .host = "examplebucket.s3.amazonaws.com" };

static void expect(const char *query, const char *signature)
{
    struct arena a = { 0 };
    char sum[S3_SHA256_TEXT];

    assert_int_equal(s3_sha256(SLICE(""), sum), REPRISE_PLUGIN_OK);
    const struct s3_signed x = { "GET", "/", query, sum, "20130524T000000Z" };
    const char *want = arena_format(&a,
                                    "AWS4-HMAC-SHA256 Credential=AKIAIOSFODNN7EXAMPLE/20130524/"
                                    "us-east-1/s3/aws4_request,SignedHeaders=host;"
                                    "x-amz-content-sha256;x-amz-date,Signature=%s",
                                    signature);

    assert_string_equal(s3_sign(&example, &x, &a), want);
    arena_fini(&a);
}

TEST(the_examples_have_their_signatures)
{
    expect("lifecycle=", "fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543");
    expect("max-keys=2&prefix=J",
           "34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7");
}
