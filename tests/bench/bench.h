#ifndef TESTS_BENCH_BENCH_H
#define TESTS_BENCH_BENCH_H

#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>

/* Times that are compared only with others of the same run. */

static inline double bench_now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static inline double bench_seconds(struct timeval t)
{
    return (double)t.tv_sec + (double)t.tv_usec / 1e6;
}

static inline double bench_cpu(void)
{
    struct rusage r;

    getrusage(RUSAGE_SELF, &r);
    return bench_seconds(r.ru_utime) + bench_seconds(r.ru_stime);
}

/* Keeps the best of several runs. */
struct bench_time {
    double wall, cpu;
};

static inline void bench_keep_best(struct bench_time *best, double wall, double cpu)
{
    if (best->wall == 0 || wall < best->wall)
        best->wall = wall;
    if (best->cpu == 0 || cpu < best->cpu)
        best->cpu = cpu;
}

static inline void bench_need(int ok, const char *what)
{
    if (!ok) {
        perror(what);
        exit(1);
    }
}

#endif
