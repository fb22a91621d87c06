#include <stdio.h>
#include <time.h>

#include "store/demo/demo.h"

/* demo_store DIR: builds the demo's store in an existing, empty directory, as of now. */
int main(int argc, char **argv)
{
    struct err e = { 0 };
    struct timespec now;
    char line[512];

    if (argc != 2) {
        fprintf(stderr, "usage: demo_store DIR\n");
        return 2;
    }
    clock_gettime(CLOCK_REALTIME, &now);
    if (demo_build(argv[1], (int64_t)now.tv_sec * 1000, &e) == ERR_OK)
        return 0;
    err_format(&e, line, sizeof line);
    fprintf(stderr, "demo_store: %s\n", line);
    return 1;
}
