#ifndef TESTS_BENCH_SCREEN_H
#define TESTS_BENCH_SCREEN_H

#include <stddef.h>
#include <sys/types.h>

enum { SCREEN_ROWS = 60, SCREEN_COLS = 200 };

/* A program on a terminal of its own. */
struct screen {
    pid_t pid;
    int fd;
    double started;
    double first, rows; /* seconds until the first byte and until the first row; 0: not yet */
    double waited;      /* waited for a processor until then, by the thread that waited longest */
    char last[8];       /* the end of the previous read, for matches across two reads */
};

void screen_start(struct screen *s, char *const argv[]);
void screen_stop(struct screen *s);
/* Reads until nothing has come for a while; returns the number of bytes. */
size_t screen_settle(struct screen *s, int quiet_ms);

#endif
