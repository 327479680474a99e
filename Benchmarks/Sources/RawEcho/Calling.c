// The calling end of the raw baseline: one frame at a time, a window of frames, or frames without an answer.

#include <sys/epoll.h>
#include <unistd.h>

#include "Raw.h"
#include "RawEcho.h"

uint64_t raw_ping(int descriptor, enum raw_way way, struct raw_load load) {
    struct raw_buffer buffer = {0};
    uint64_t calls = 0, begin = bench_now();
    while (begin < load.until) {
        raw_send(descriptor, load.frame, load.length);
        uint64_t frames = 0;
        while (!frames) {
            if (!raw_receive(descriptor, &buffer, 0)) raw_fail("the raw server closed");
            raw_buffer_drop(&buffer, raw_whole_frames(&buffer, &frames));
        }
        uint64_t now = bench_now();
        load.counts[histogram_bucket(now - begin)]++;
        calls++;
        begin = now;
    }
    free(buffer.bytes);
    return calls;
}

/// One connection of the pipeline. Frames come back in order, so a ring of times tells how long each took.
struct line {
    int descriptor, window;
    uint64_t sent, answered, *times;
    struct raw_buffer buffer;
};

static void refill(struct line *line, const uint8_t *batch, struct raw_load load, uint64_t now) {
    uint64_t room = (uint64_t)line->window - (line->sent - line->answered);
    if (!room || now >= load.until) return;
    for (uint64_t i = 0; i < room; i++) line->times[(line->sent + i) % (uint64_t)line->window] = now;
    line->sent += room;
    raw_send(line->descriptor, batch, room * load.length);
}

static void take(struct line *line, struct raw_load load, uint64_t now) {
    uint64_t frames = 0;
    raw_buffer_drop(&line->buffer, raw_whole_frames(&line->buffer, &frames));
    for (; frames; frames--, line->answered++) {
        if (line->answered % (histogram_untimed + 1)) continue;
        load.counts[histogram_bucket(now - line->times[line->answered % (uint64_t)line->window])]++;
    }
}

uint64_t raw_pipeline(const int *descriptors, int count, int window, struct raw_load load) {
    int selector = epoll_create1(EPOLL_CLOEXEC);
    struct line *lines = calloc((size_t)count, sizeof *lines);
    uint8_t *batch = malloc((size_t)window * load.length);
    if (selector < 0 || !lines || !batch) raw_fail("raw_pipeline");
    for (int i = 0; i < window; i++) memcpy(batch + (size_t)i * load.length, load.frame, load.length);
    for (int i = 0; i < count; i++) {
        lines[i] = (struct line){.descriptor = descriptors[i], .window = window};
        lines[i].times = calloc((size_t)window, sizeof *lines[i].times);
        struct epoll_event event = {.events = EPOLLIN, .data.ptr = &lines[i]};
        if (epoll_ctl(selector, EPOLL_CTL_ADD, descriptors[i], &event) < 0) raw_fail("epoll_ctl");
        refill(&lines[i], batch, load, bench_now());
    }
    int open = count;
    struct epoll_event events[64];
    while (open > 0) {
        int ready = epoll_wait(selector, events, 64, -1);
        if (ready < 0 && errno != EINTR) raw_fail("epoll_wait");
        for (int i = 0; i < ready; i++) {
            struct line *line = events[i].data.ptr;
            if (!raw_receive(line->descriptor, &line->buffer, MSG_DONTWAIT)) raw_fail("the raw server closed");
            uint64_t now = bench_now();
            take(line, load, now);
            refill(line, batch, load, now);
            if (line->sent == line->answered) open--;
        }
    }
    uint64_t calls = 0;
    for (int i = 0; i < count; i++) {
        calls += lines[i].answered;
        free(lines[i].times);
        free(lines[i].buffer.bytes);
    }
    free(lines);
    free(batch);
    close(selector);
    return calls;
}

uint64_t raw_post(int descriptor, struct raw_load load) {
    enum { at_once = 64 };
    uint8_t *batch = malloc(at_once * (size_t)load.length);
    if (!batch) raw_fail("malloc");
    for (int i = 0; i < at_once; i++) memcpy(batch + (size_t)i * load.length, load.frame, load.length);
    while (bench_now() < load.until) raw_send(descriptor, batch, at_once * (size_t)load.length);
    free(batch);
    if (shutdown(descriptor, SHUT_WR) < 0) raw_fail("shutdown");
    uint64_t counted = 0;
    if (recv(descriptor, &counted, sizeof counted, MSG_WAITALL) != sizeof counted) raw_fail("recv");
    return counted;
}
