// Descriptors, their errors, and files.
//
// The system's headers declare some functions only behind a switch (_GNU_SOURCE), without which the toolchain's C module is
// built. With the switch the two modules would disagree about the same structures. So these functions are declared by hand.
#ifndef CSYSTEM_FILES_H
#define CSYSTEM_FILES_H

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

extern int pipe2(int ends[2], int flags);

static inline int system_errno(void) { return errno; }

/// Makes a pipe whose ends never block.
static inline int system_pipe(int ends[2]) { return pipe2(ends, O_CLOEXEC | O_NONBLOCK); }

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
    int code = errno;
    if (written < 0 && code == EFBIG && !was_pending) {
        struct timespec none = {0, 0};
        while (sigtimedwait(&limit, NULL, &none) < 0 && errno == EINTR) {}
    }
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
    errno = code;
    return written;
}

#endif
