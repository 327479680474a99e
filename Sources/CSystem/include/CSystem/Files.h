// Files of one's own.
#ifndef CSYSTEM_FILES_H
#define CSYSTEM_FILES_H

#include <fcntl.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/stat.h>

/// Never waits, not even for the other end of a pipe that was put there; new files are for the own user only.
static inline int system_open_file(const char *path, int flags) {
    return open(path, flags | O_CLOEXEC | O_NONBLOCK, 0600);
}

/// Takes the lock of an open file or fails with EWOULDBLOCK; it ends with the descriptor.
static inline int system_lock_file(int descriptor) { return flock(descriptor, LOCK_EX | LOCK_NB); }

#endif
