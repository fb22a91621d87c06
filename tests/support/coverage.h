#ifndef TESTS_SUPPORT_COVERAGE_H
#define TESTS_SUPPORT_COVERAGE_H

#ifdef REPRISE_COVERAGE
void __gcov_dump(void);
#endif

/* A process that is killed or ends by _exit writes its coverage only on request. */
static inline void coverage_keep(void)
{
#ifdef REPRISE_COVERAGE
    __gcov_dump();
#endif
}

#endif
