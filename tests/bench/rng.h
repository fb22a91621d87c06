#ifndef TESTS_BENCH_RNG_H
#define TESTS_BENCH_RNG_H

#include <math.h>
#include <stdint.h>

/* A private random source, so that the same seed gives the same corpus with any libc. */
struct rng {
    uint64_t a, b;
};

static inline uint64_t rng_next(struct rng *d)
{
    uint64_t x = d->a, y = d->b;

    d->a = y;
    x ^= x << 23;
    d->b = x ^ y ^ (x >> 17) ^ (y >> 26);
    return d->b + y;
}

/* splitmix64 gives neighbouring seeds unrelated states. */
static inline struct rng rng_of(uint64_t seed)
{
    uint64_t out[2];

    for (int i = 0; i < 2; i++) {
        uint64_t z = seed += 0x9e3779b97f4a7c15u;

        z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
        z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
        out[i] = z ^ (z >> 31);
    }
    return (struct rng){ out[0], out[1] };
}

static inline unsigned rng_roll(struct rng *d, unsigned sides)
{
    return (unsigned)(rng_next(d) % sides);
}

static inline double rng_unit(struct rng *d)
{
    return ((double)(rng_next(d) >> 11) + 0.5) / 9007199254740992.0;
}

/* A log-normal size, as the sizes of texts and sessions are. */
static inline double rng_size(struct rng *d, double median, double sigma)
{
    double gauss = sqrt(-2 * log(rng_unit(d))) * cos(6.283185307179586 * rng_unit(d));

    return median * exp(sigma * gauss);
}

#endif
