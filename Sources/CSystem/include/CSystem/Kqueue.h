// Waiting for descriptors with kqueue, where there is one.
#ifndef CSYSTEM_KQUEUE_H
#define CSYSTEM_KQUEUE_H

#if __has_include(<sys/event.h>)

#include <fcntl.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/event.h>
#include <time.h>

/// Makes a list that is closed on exec.
static inline int system_kqueue(void) {
    int list = kqueue();
    if (list >= 0) (void)fcntl(list, F_SETFD, FD_CLOEXEC);
    return list;
}

static inline int system_kqueue_change(int list, uintptr_t identifier, int filter, int flags, unsigned int details) {
    struct kevent change;
    EV_SET(&change, identifier, (int16_t)filter, (uint16_t)flags, details, 0, NULL);
    return kevent(list, &change, 1, NULL, 0, NULL);
}

/// Waits for events; a negative time is no limit.
static inline int system_kqueue_wait(int list, struct kevent *events, int count, int64_t nanoseconds) {
    struct timespec limit = {nanoseconds / 1000000000, nanoseconds % 1000000000};
    return kevent(list, NULL, 0, events, count, nanoseconds < 0 ? NULL : &limit);
}

#endif

#endif
