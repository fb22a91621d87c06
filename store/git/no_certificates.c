/* A libgit2 that is built with mbed TLS reads all certificates of the system when it starts, which are 50 million
 * instructions, and more than the rest of a snapshot. Programs of ours open no connections with it. They export this
 * function, which takes precedence over that of the library: there are no certificates then, so that a connection would be
 * refused. A host has its own needs, so that our library does not contain it. */
__attribute__((visibility("default"))) int mbedtls_x509_crt_parse_file(void *chain,
                                                                       const char *path);

int mbedtls_x509_crt_parse_file(void *chain, const char *path)
{
    (void)chain;
    (void)path;
    return 0;
}
