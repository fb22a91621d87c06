/* libc has this function under two names: the header must not rename the one that the program uses. */
#undef _FILE_OFFSET_BITS
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A disk that fails while a directory is read, for a program that is run with LD_PRELOAD:
 *
 *   SHORT_DIR  the end of the directory's path
 *   SHORT_AT   how many of its entries are read before that, "." and ".." included; 0 if not set */
static int fails(DIR *d, long read)
{
    const char *end = getenv("SHORT_DIR"), *at = getenv("SHORT_AT");
    char link[64], path[4096];

    snprintf(link, sizeof link, "/proc/self/fd/%d", dirfd(d));
    ssize_t n = end ? readlink(link, path, sizeof path) : -1;
    size_t k = end ? strlen(end) : 0;

    return n >= 0 && (size_t)n >= k && memcmp(path + n - k, end, k) == 0 &&
           read >= (at ? atol(at) : 0);
}

struct dirent64 *readdir64(DIR *d)
{
    static struct dirent64 *(*real)(DIR *);
    static long read[1024]; /* by descriptor, of which a directory has one of its own */
    long *n = &read[dirfd(d) % 1024];

    if (!real)
        *(void **)&real = dlsym(RTLD_NEXT, "readdir64");
    if (telldir(d) == 0)
        *n = 0;
    if (fails(d, *n)) {
        errno = EIO;
        return NULL;
    }
    ++*n;
    return real(d);
}
