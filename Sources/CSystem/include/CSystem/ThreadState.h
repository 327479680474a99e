// What the system tells about threads: which one this is, and on how many processors it may run.
#ifndef CSYSTEM_THREADSTATE_H
#define CSYSTEM_THREADSTATE_H

#include <pthread.h>
#include <sys/types.h>
#include <unistd.h>

/// A number that no other living thread has, never 0: the address of a structure, and so a multiple of eight.
static inline unsigned long system_thread_identity(void) { return (unsigned long)pthread_self(); }

#ifdef __linux__
extern int system_affinity(pid_t process, size_t size, unsigned long *set) __asm__("sched_getaffinity");
#endif

/// How many processors the calling thread may run on.
static inline int system_processors(void) {
#ifdef __linux__
    unsigned long set[16] = {0};
    // A system with more than 1,024 says that they do not fit.
    if (system_affinity(0, sizeof set, set) < 0) return 1024;
    int count = 0;
    for (int word = 0; word < 16; word++) count += __builtin_popcountl(set[word]);
    return count;
#else
    return (int)sysconf(_SC_NPROCESSORS_ONLN);
#endif
}

#endif
