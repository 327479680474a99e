// The raw baseline: the same bytes over plain sockets with nothing in between. In goes a frame (4-byte big-endian
// length and that many bytes), back comes the same frame. Blocking, so that a failing baseline ends its process
// instead of reporting a figure.
#ifndef RAW_ECHO_H
#define RAW_ECHO_H

#include <stdint.h>

#include "Histogram.h"

/// How a raw end waits and answers.
enum raw_way {
    /// One connection, blocking calls: what a ping-pong costs when both ends sleep.
    raw_blocking,
    /// Many connections on one epoll, all that has come answered in one write.
    raw_batched,
    /// One connection, one way: frames are counted, and the count is the only answer.
    raw_counting,
};

/// What a raw client did. Latencies go into the counts of a histogram.
struct raw_load {
    const uint8_t *frame;
    uint32_t length;
    /// When to begin no more, on `bench_now`.
    uint64_t until;
    uint32_t *counts;
};

/// Binds a free port of the loopback address; returns the listening descriptor.
int raw_listen(uint16_t *port);

/// Serves until the process ends.
void raw_serve(int listener, enum raw_way way);

int raw_connect(uint16_t port);

/// One frame at a time. Returns the number of answered frames.
uint64_t raw_ping(int descriptor, enum raw_way way, struct raw_load load);

/// `window` frames under way on each connection, written in batches. Returns the number of answered frames.
uint64_t raw_pipeline(const int *descriptors, int count, int window, struct raw_load load);

/// Frames that nobody answers. Returns how many the server has counted when it has seen all.
uint64_t raw_post(int descriptor, struct raw_load load);

#endif
