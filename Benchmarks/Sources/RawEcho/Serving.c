// The answering end of the raw baseline.

#include <sys/epoll.h>
#include <unistd.h>

#include "Raw.h"
#include "RawEcho.h"

static int answer(int descriptor, struct raw_buffer *buffer, int flags) {
    if (!raw_receive(descriptor, buffer, flags)) return 0;
    uint64_t frames = 0;
    size_t whole = raw_whole_frames(buffer, &frames);
    if (whole) {
        raw_send(descriptor, buffer->bytes, whole);
        raw_buffer_drop(buffer, whole);
    }
    return 1;
}

static void serve_one(int descriptor) {
    struct raw_buffer buffer = {0};
    while (answer(descriptor, &buffer, 0)) {}
    free(buffer.bytes);
}

static void count_one(int descriptor) {
    struct raw_buffer buffer = {0};
    uint64_t frames = 0;
    while (raw_receive(descriptor, &buffer, 0)) raw_buffer_drop(&buffer, raw_whole_frames(&buffer, &frames));
    raw_send(descriptor, (const uint8_t *)&frames, sizeof frames);
    free(buffer.bytes);
}

struct connection {
    int descriptor;
    struct raw_buffer buffer;
};

static void add(int selector, int descriptor) {
    struct connection *connection = calloc(1, sizeof *connection);
    if (!connection) raw_fail("calloc");
    connection->descriptor = descriptor;
    struct epoll_event event = {.events = EPOLLIN, .data.ptr = connection};
    if (epoll_ctl(selector, EPOLL_CTL_ADD, descriptor, &event) < 0) raw_fail("epoll_ctl");
}

static void end(struct connection *connection) {
    close(connection->descriptor);
    free(connection->buffer.bytes);
    free(connection);
}

static void serve_batched(int listener) {
    int selector = epoll_create1(EPOLL_CLOEXEC);
    if (selector < 0) raw_fail("epoll_create1");
    add(selector, listener);
    struct epoll_event events[64];
    for (;;) {
        int count = epoll_wait(selector, events, 64, -1);
        if (count < 0 && errno != EINTR) raw_fail("epoll_wait");
        for (int i = 0; i < count; i++) {
            struct connection *connection = events[i].data.ptr;
            if (connection->descriptor == listener) {
                int descriptor = accept(listener, NULL, NULL);
                if (descriptor < 0) raw_fail("accept");
                raw_prepare(descriptor);
                add(selector, descriptor);
            } else if (!answer(connection->descriptor, &connection->buffer, MSG_DONTWAIT)) {
                end(connection);
            }
        }
    }
}

void raw_serve(int listener, enum raw_way way) {
    if (way == raw_batched) serve_batched(listener);
    for (;;) {
        int descriptor = accept(listener, NULL, NULL);
        if (descriptor < 0) raw_fail("accept");
        raw_prepare(descriptor);
        if (way == raw_counting) count_one(descriptor);
        else serve_one(descriptor);
        close(descriptor);
    }
}
