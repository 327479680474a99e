// Starting threads, and the lock between them.
#ifndef CSYSTEM_THREADS_H
#define CSYSTEM_THREADS_H

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#ifdef __linux__
// Stands behind a switch (_GNU_SOURCE) that the toolchain's C module is built without; turning it on here would give the
// two modules different ideas of the same structures.
extern int pthread_setname_np(pthread_t thread, const char *name);
#endif

/// A mutex whose second comer first tries again for a moment, where the system has such: what is done under ours takes
/// less time than to fall asleep and be woken.
static inline int system_mutex_init(pthread_mutex_t *mutex) {
#ifdef __linux__
    pthread_mutexattr_t attributes;
    if (pthread_mutexattr_init(&attributes) != 0) return pthread_mutex_init(mutex, NULL);
    (void)pthread_mutexattr_settype(&attributes, PTHREAD_MUTEX_ADAPTIVE_NP);
    int code = pthread_mutex_init(mutex, &attributes);
    (void)pthread_mutexattr_destroy(&attributes);
    return code;
#else
    return pthread_mutex_init(mutex, NULL);
#endif
}

struct system_thread_start {
    char name[16];
    void (*body)(void *);
    void *context;
};

static inline void *system_thread_main(void *argument) {
    struct system_thread_start start = *(struct system_thread_start *)argument;
    free(argument);
#ifdef __linux__
    pthread_setname_np(pthread_self(), start.name);
#else
    pthread_setname_np(start.name);
#endif
    start.body(start.context);
    return NULL;
}

/// Starts a detached thread; answers 0 or an errno. The name is cut to 15 bytes.
static inline int system_start_thread(const char *name, void (*body)(void *), void *context) {
    struct system_thread_start *start = malloc(sizeof *start);
    if (!start) return ENOMEM;
    strncpy(start->name, name, sizeof start->name - 1);
    start->name[sizeof start->name - 1] = 0;
    start->body = body;
    start->context = context;
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    // What a main thread gets: user code runs here, and some systems give other threads far less.
    pthread_attr_setstacksize(&attributes, 8 << 20);
    pthread_t thread;
    int code = pthread_create(&thread, &attributes, system_thread_main, start);
    pthread_attr_destroy(&attributes);
    if (code) free(start);
    return code;
}

#endif
