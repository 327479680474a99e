// Waiting for many descriptors at a time: epoll and eventfd where there are such, poll everywhere.
#ifndef CSYSTEM_WAITING_H
#define CSYSTEM_WAITING_H

#include <errno.h>
#include <poll.h>

#ifdef __linux__
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/// `epoll_wait` with nanoseconds, where the kernel has that; elsewhere with milliseconds, rounded up. Negative is for ever.
static inline int system_epoll_wait(int queue, struct epoll_event *events, int most, long long nanoseconds) {
    if (nanoseconds > 0 && nanoseconds < 1000000) {
        struct timespec time = {0, (long)nanoseconds};
        int count = (int)syscall(441 /* epoll_pwait2 */, queue, events, most, &time, NULL, 0);
        // Some sandboxes say that what they do not know is forbidden.
        if (count >= 0 || (errno != ENOSYS && errno != EPERM)) return count;
    }
    long long milliseconds = nanoseconds <= 0 ? nanoseconds : (nanoseconds - 1) / 1000000 + 1;
    if (milliseconds > 0x7fffffff) milliseconds = 0x7fffffff;
    return epoll_wait(queue, events, most, (int)milliseconds);
}
#endif

#endif
