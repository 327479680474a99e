// Where a latency is counted: 128 buckets for every doubling, so that no figure is off by more than half a percent,
// and a fixed size, so that counting allocates nothing. Shared by the raw baseline and the measured clients.
#ifndef HISTOGRAM_H
#define HISTOGRAM_H

#include <stdint.h>
#include <time.h>

/// Of many calls at a time so many are not timed after one that is.
enum { histogram_buckets = 4096, histogram_untimed = 7 };

/// Nanoseconds on a clock that only goes forward.
static inline uint64_t bench_now(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static inline uint32_t histogram_bucket(uint64_t nanoseconds) {
    if (nanoseconds < 128) return (uint32_t)nanoseconds;
    int shift = 63 - __builtin_clzll(nanoseconds) - 7;
    uint64_t bucket = ((uint64_t)shift << 7) + (nanoseconds >> shift);
    return bucket < histogram_buckets ? (uint32_t)bucket : histogram_buckets - 1;
}

/// The middle of a bucket, in nanoseconds.
static inline double histogram_value(uint32_t bucket) {
    if (bucket < 256) return bucket;
    int shift = (int)(bucket >> 7) - 1;
    return ((double)(128 + (bucket & 127)) + 0.5) * (double)(1ull << shift);
}

#endif
