// Where tasks go that a thread makes ready to run: to the runtime's pool, or, for as long as the thread says so, to a function
// of its own.
//
// The runtime has a hook for this, a variable of its library that Swift cannot name. The runtime does not promise it, and other
// code may want it too. Swift code uses it only behind KNOWN_RUNTIME (Package.swift).
#ifndef CSYSTEM_TASKS_H
#define CSYSTEM_TASKS_H

#include <stddef.h>

typedef __attribute__((swiftcall)) void (*system_pool)(void *job);
typedef __attribute__((swiftcall)) void (*system_pool_hook)(void *job, system_pool pool);

extern system_pool_hook swift_task_enqueueGlobal_hook;

/// What takes the jobs that the calling thread makes ready for the pool; `take` is NULL while they go there.
struct system_taker {
    void (*take)(void *context, void *job);
    void *context;
};

/// One for each thread and each object file that this is part of: what hooks the pool and what takes stand in one.
static inline struct system_taker *system_own_taker(void) {
    static __thread struct system_taker taker;
    return &taker;
}

static __attribute__((swiftcall)) void system_enqueue(void *job, system_pool pool) {
    struct system_taker *taker = system_own_taker();
    if (taker->take) taker->take(taker->context, job);
    else pool(job);
}

/// Answers whether jobs can be taken from now on. They cannot where other code has the hook already.
static inline int system_hook_pool(void) {
    system_pool_hook none = NULL;
    return __atomic_compare_exchange_n(
        &swift_task_enqueueGlobal_hook, &none, system_enqueue, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
}

/// From now on the calling thread's jobs go there; to the pool again with NULL.
static inline void system_take_jobs(void (*take)(void *context, void *job), void *context) {
    *system_own_taker() = (struct system_taker){take, context};
}

#endif
