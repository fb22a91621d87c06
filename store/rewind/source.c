#include "store/rewind/source.h"

#include <errno.h>
#include <fcntl.h>
#include <openssl/evp.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lite/file.h"

void content_fini(struct content *c)
{
    buf_fini(&c->bytes);
}

static enum err_code hash(struct content *c, const char *path, struct err *e)
{
    unsigned n = SHA256_BYTES;

    return EVP_Digest(c->bytes.p ? c->bytes.p : "", c->bytes.n, c->sha256, &n, EVP_sha256(), NULL)
               ? ERR_OK
               : err_set(e, ERR_NOMEM, path, "hash: out of memory");
}

enum err_code content_read(int fd, const char *path, struct content *out, struct err *e)
{
    struct stat st;

    out->bytes.n = 0;
    if (fstat(fd, &st))
        return err_sys(e, path, "look at the file");
    if (buf_reserve(&out->bytes, (size_t)st.st_size + 1))
        return err_set(e, ERR_NOMEM, path, "read: %lld bytes are too many", (long long)st.st_size);
    /* One byte more than there should be tells a file that grew. */
    while (out->bytes.n <= (size_t)st.st_size) {
        ssize_t k = pread(fd, out->bytes.p + out->bytes.n, (size_t)st.st_size + 1 - out->bytes.n,
                          (off_t)out->bytes.n);

        if (k < 0 && errno == EINTR)
            continue;
        if (k < 0)
            return err_sys(e, path, "read");
        if (k == 0)
            break;
        out->bytes.n += (size_t)k;
    }
    if (out->bytes.n != (size_t)st.st_size)
        return err_set(e, ERR_STALE, path, "it changed while it was read");
    return hash(out, path, e);
}

enum err_code content_of(struct slice bytes, struct content *out, struct err *e)
{
    out->bytes.n = 0;
    if (buf_add(&out->bytes, bytes))
        return err_set(e, ERR_NOMEM, NULL, "read: out of memory");
    return hash(out, NULL, e);
}

void sha256_hex(const uint8_t hash_bytes[SHA256_BYTES], char out[SHA256_BYTES * 2 + 1])
{
    for (size_t i = 0; i < SHA256_BYTES; i++)
        snprintf(out + i * 2, 3, "%02x", hash_bytes[i]);
}

static enum err_code read_backup(const char *path, struct content *out, struct err *e)
{
    struct file f;
    enum err_code rc = file_open(AT_FDCWD, path, 0, &f, e);

    if (rc == ERR_NOT_FOUND)
        return err_set(e, ERR_FORMAT, path, "the saved copy is missing");
    if (rc == ERR_UNSAFE)
        return err_set(e, ERR_FORMAT, path, "the saved copy is a link or no regular file");
    if (rc)
        return err_set(e, ERR_FORMAT, path, "the saved copy cannot be read");
    rc = content_read(f.fd, path, out, e);
    file_close(&f);
    return rc;
}

enum err_code source_read(const struct rewind_source *s, struct content *out, struct err *e)
{
    char hex[SHA256_BYTES * 2 + 1];
    enum err_code rc = s->file ? read_backup(s->file, out, e) : content_of(s->bytes, out, e);

    if (rc || !s->sha256)
        return rc;
    sha256_hex(out->sha256, hex);
    return strcasecmp(hex, s->sha256) == 0
               ? ERR_OK
               : err_set(e, ERR_FORMAT, s->file, "the saved copy is not what its checksum says");
}
