// Descriptors, what went wrong with them, and files of one's own.
//
// Some functions stand behind a switch of the system's headers (_GNU_SOURCE) that the toolchain's C module is built without. To
// turn it on here would give the two modules different ideas of the same structures, so the functions are declared by hand.
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

/// A pipe of which neither end ever waits.
static inline int system_pipe(int ends[2]) { return pipe2(ends, O_CLOEXEC | O_NONBLOCK); }

/// Never waits, not even for the other end of a pipe that was put there; new files are for the own user only.
static inline int system_open_file(const char *path, int flags) {
    return open(path, flags | O_CLOEXEC | O_NONBLOCK, 0600);
}

/// Takes the lock of an open file or fails with EWOULDBLOCK; it ends with the descriptor.
static inline int system_lock_file(int descriptor) { return flock(descriptor, LOCK_EX | LOCK_NB); }

/// `write` to what may be a file. Beyond a limit on the size of files (`ulimit -f`) it fails with EFBIG like any other call;
/// the signal that goes with it, SIGXFSZ, ends the process unless it is blocked. It comes to the thread that writes, so it is
/// blocked and taken there, and what it means in the rest of the process stays as it is.
static inline ssize_t system_write_file(int descriptor, const void *bytes, size_t count) {
    sigset_t limit, before, pending;
    sigemptyset(&limit);
    sigaddset(&limit, SIGXFSZ);
    (void)pthread_sigmask(SIG_BLOCK, &limit, &before);
    // One that was sent from elsewhere before is not ours to take.
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
