// Descriptors, their errors, files and clocks.
#ifndef CSYSTEM_FILES_H
#define CSYSTEM_FILES_H

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "System.h"

static inline int system_errno(void) { return errno; }

static inline int64_t system_nanoseconds(clockid_t clock) {
    struct timespec time = {0, 0};
    (void)clock_gettime(clock, &time);
    return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}

static inline int64_t system_now(void) { return system_nanoseconds(SYSTEM_CLOCK); }
static inline int64_t system_now_at_last_tick(void) { return system_nanoseconds(SYSTEM_TICK_CLOCK); }
static inline int64_t system_time_of_day(void) { return system_nanoseconds(CLOCK_REALTIME); }

/// Opens a file. Never blocks, even if the path is a pipe without a reader or writer. A new file is for the own user only.
static inline int system_open_file(const char *path, int flags) {
    return open(path, flags | O_CLOEXEC | O_NONBLOCK, 0600);
}

/// Locks an open file, or fails with EWOULDBLOCK. The lock ends when the descriptor is closed.
static inline int system_lock_file(int descriptor) { return flock(descriptor, LOCK_EX | LOCK_NB); }

/// `write` for a descriptor that may be a file. Beyond a limit on the size of files (`ulimit -f`) it fails with EFBIG. The
/// system also sends the signal SIGXFSZ to the writing thread, which would end the process. So the signal is blocked and taken
/// in this thread. The signal's meaning in the rest of the process does not change.
static inline ssize_t system_write_file(int descriptor, const void *bytes, size_t count) {
    sigset_t limit, before, pending;
    sigemptyset(&limit);
    sigaddset(&limit, SIGXFSZ);
    (void)pthread_sigmask(SIG_BLOCK, &limit, &before);
    // A signal that was sent before from elsewhere is left pending.
    sigemptyset(&pending);
    (void)sigpending(&pending);
    int was_pending = sigismember(&pending, SIGXFSZ);
    ssize_t written = write(descriptor, bytes, count);
    int code = errno, number;
    if (written < 0 && code == EFBIG && !was_pending && sigpending(&pending) == 0 && sigismember(&pending, SIGXFSZ))
        (void)sigwait(&limit, &number);
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
    errno = code;
    return written;
}

#endif
