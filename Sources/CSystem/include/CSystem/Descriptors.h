// Descriptors of every kind, and what went wrong with them.
#ifndef CSYSTEM_DESCRIPTORS_H
#define CSYSTEM_DESCRIPTORS_H

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#ifdef __linux__
// Stands behind a switch (_GNU_SOURCE) that the toolchain's C module is built without; turning it on here would give the
// two modules different ideas of the same structures.
extern int pipe2(int ends[2], int flags);
#endif

static inline int system_errno(void) { return errno; }

static inline int system_close_on_exec_nonblocking(int descriptor) {
    if (fcntl(descriptor, F_SETFD, FD_CLOEXEC) < 0) return -1;
    int flags = fcntl(descriptor, F_GETFL);
    return flags < 0 ? -1 : fcntl(descriptor, F_SETFL, flags | O_NONBLOCK);
}

/// A placeholder in the descriptor table.
static inline int system_open_spare(void) { return open("/dev/null", O_RDONLY | O_CLOEXEC); }

static inline int system_pipe(int ends[2]) {
#ifdef __linux__
    return pipe2(ends, O_CLOEXEC | O_NONBLOCK);
#else
    if (pipe(ends) < 0) return -1;
    if (system_close_on_exec_nonblocking(ends[0]) == 0 && system_close_on_exec_nonblocking(ends[1]) == 0) return 0;
    int code = errno;
    close(ends[0]);
    close(ends[1]);
    errno = code;
    return -1;
#endif
}

#endif
