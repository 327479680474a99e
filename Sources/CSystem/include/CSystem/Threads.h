// Threads, and the mutex that they share.
#ifndef CSYSTEM_THREADS_H
#define CSYSTEM_THREADS_H

#include <pthread.h>
#include <stdint.h>
#include <sys/types.h>

// Declared by hand for the reason that Files.h gives.
extern int pthread_setname_np(pthread_t thread, const char *name);
extern int system_affinity(pid_t process, size_t size, unsigned long *set) __asm__("sched_getaffinity");

/// The number of the calling thread. Not inlined: `pthread_self` is declared to return the same value each time, so the optimizer
/// would keep the number while an async function waits, after which the function may run on another thread.
uintptr_t system_thread(void);

/// Starts a detached thread. Returns 0 or an errno.
static inline int system_start_thread(void *(*body)(void *), void *context) {
    pthread_attr_t attributes;
    (void)pthread_attr_init(&attributes);
    (void)pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    // As much as a main thread has, because user code runs here, and the system's default may be far less.
    (void)pthread_attr_setstacksize(&attributes, 8 << 20);
    pthread_t thread;
    int code = pthread_create(&thread, &attributes, body, context);
    (void)pthread_attr_destroy(&attributes);
    return code;
}

/// Makes a mutex that spins for a moment before it lets a thread sleep. Work under this library's locks takes less time than to
/// fall asleep and be woken.
static inline int system_mutex_init(pthread_mutex_t *mutex) {
    pthread_mutexattr_t attributes;
    (void)pthread_mutexattr_init(&attributes);
    (void)pthread_mutexattr_settype(&attributes, PTHREAD_MUTEX_ADAPTIVE_NP);
    int code = pthread_mutex_init(mutex, &attributes);
    (void)pthread_mutexattr_destroy(&attributes);
    return code;
}

/// How many processors the calling thread may run on.
static inline int system_processors(void) {
    unsigned long set[16] = {0};
    // The call fails if the system has more than 1,024 processors.
    if (system_affinity(0, sizeof set, set) < 0) return 1024;
    int count = 0;
    for (int word = 0; word < 16; word++) count += __builtin_popcountl(set[word]);
    return count;
}

#endif
