// What the files of the raw baseline share: failing loudly, whole writes, and the buffer that frames gather in.
#ifndef RAW_H
#define RAW_H

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/types.h>

static inline _Noreturn void raw_fail(const char *what) {
    perror(what);
    exit(1);
}

void raw_prepare(int descriptor);

/// Bytes that have come and are not answered yet.
struct raw_buffer {
    uint8_t *bytes;
    size_t count, capacity;
};

static inline void raw_buffer_reserve(struct raw_buffer *buffer, size_t more) {
    if (buffer->capacity - buffer->count >= more) return;
    while (buffer->capacity - buffer->count < more) buffer->capacity = buffer->capacity ? 2 * buffer->capacity : 65536;
    buffer->bytes = realloc(buffer->bytes, buffer->capacity);
    if (!buffer->bytes) raw_fail("realloc");
}

/// How many whole bytes of frames stand at the start, and how many frames they are.
static inline size_t raw_whole_frames(const struct raw_buffer *buffer, uint64_t *frames) {
    size_t end = 0;
    while (buffer->count - end >= 4) {
        uint32_t length;
        memcpy(&length, buffer->bytes + end, 4);
        length = __builtin_bswap32(length);
        if (buffer->count - end - 4 < length) break;
        end += 4 + (size_t)length;
        *frames += 1;
    }
    return end;
}

static inline void raw_buffer_drop(struct raw_buffer *buffer, size_t count) {
    buffer->count -= count;
    if (buffer->count) memmove(buffer->bytes, buffer->bytes + count, buffer->count);
}

/// Reads once; false at the end of the stream. With `flags` MSG_DONTWAIT it may have read nothing.
static inline int raw_receive(int descriptor, struct raw_buffer *buffer, int flags) {
    raw_buffer_reserve(buffer, 65536);
    for (;;) {
        ssize_t got = recv(descriptor, buffer->bytes + buffer->count, buffer->capacity - buffer->count, flags);
        if (got > 0) buffer->count += (size_t)got;
        if (got >= 0) return got > 0;
        if (errno == EAGAIN) return 1;
        if (errno == ECONNRESET) return 0;
        if (errno != EINTR) raw_fail("recv");
    }
}

/// The descriptors stay blocking: a full socket makes this wait.
static inline void raw_send(int descriptor, const uint8_t *bytes, size_t count) {
    while (count > 0) {
        ssize_t put = send(descriptor, bytes, count, MSG_NOSIGNAL);
        if (put < 0 && errno == EINTR) continue;
        if (put < 0) raw_fail("send");
        bytes += put;
        count -= (size_t)put;
    }
}

#endif
