// Where tasks go that a thread makes ready to run: to the runtime's pool, or, for as long as the thread says so, to
// somebody of its own.
//
// The runtime has a hook for this, a variable of its library that Swift cannot name. Jobs and executors stand in it as
// they do in the runtime's own header; its calling convention is Swift's.
#ifndef CSYSTEM_TASKS_H
#define CSYSTEM_TASKS_H

#include <stddef.h>

typedef __attribute__((swiftcall)) void (*system_pool)(void *job);
typedef __attribute__((swiftcall)) void (*system_pool_hook)(void *job, system_pool pool);

extern system_pool_hook swift_task_enqueueGlobal_hook;

/// Who takes the jobs that the calling thread makes ready for the pool; `take` is NULL while nobody does.
struct system_taker {
    void (*take)(void *context, void *job);
    void *context;
};

static inline struct system_taker *system_own_taker(void) {
    static __thread struct system_taker taker;
    return &taker;
}

/// Who had the hook before us; NULL when nobody had.
static inline system_pool_hook *system_former_hook(void) {
    static system_pool_hook hook;
    return &hook;
}

static __attribute__((swiftcall)) void system_enqueue(void *job, system_pool pool) {
    struct system_taker *taker = system_own_taker();
    if (taker->take) return taker->take(taker->context, job);
    system_pool_hook former = *system_former_hook();
    if (former) former(job, pool);
    else pool(job);
}

/// Once in the life of the process, before anybody takes.
static inline void system_hook_pool(void) {
    *system_former_hook() = __atomic_load_n(&swift_task_enqueueGlobal_hook, __ATOMIC_RELAXED);
    __atomic_store_n(&swift_task_enqueueGlobal_hook, system_enqueue, __ATOMIC_RELEASE);
}

/// From now on the calling thread's jobs go there; to the pool again with NULL.
static inline void system_take_jobs(void (*take)(void *context, void *job), void *context) {
    *system_own_taker() = (struct system_taker){take, context};
}

#endif
