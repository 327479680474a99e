// Threads, and the mutex that they share.
#ifndef CSYSTEM_THREADS_H
#define CSYSTEM_THREADS_H

#include <pthread.h>
#include <stdint.h>
#include <sys/types.h>

#include "System.h"

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

static inline int system_mutex_init(pthread_mutex_t *mutex) {
    pthread_mutexattr_t attributes;
    (void)pthread_mutexattr_init(&attributes);
    (void)pthread_mutexattr_settype(&attributes, SYSTEM_MUTEX);
    int code = pthread_mutex_init(mutex, &attributes);
    (void)pthread_mutexattr_destroy(&attributes);
    return code;
}

/// Whether a thread may spin for a moment before it sleeps: there is another processor, and spinning cannot keep this one from
/// the thread that is waited for.
static inline int system_may_spin(void) { return SYSTEM_MAY_SPIN && system_processors() > 1; }

#endif
