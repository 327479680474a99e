// The runtime's hook for tasks that become ready to run: a variable of the runtime that Swift code cannot name. The runtime
// does not promise it, and other code may use it too.

#if defined(KNOWN_RUNTIME) && defined(__x86_64__) && defined(__linux__)

#include "CSystem/Tasks.h"

#include <stddef.h>

typedef __attribute__((swiftcall)) void (*system_pool)(void *job);
typedef __attribute__((swiftcall)) void (*system_pool_hook)(void *job, system_pool pool);

extern system_pool_hook swift_task_enqueueGlobal_hook;

/// Gets the jobs that this thread makes ready for the pool; NULL while they go to the pool.
static __thread void (*taker)(void *context, void *job);
static __thread void *taker_context;

static __attribute__((swiftcall)) void system_enqueue(void *job, system_pool pool) {
    if (taker) taker(taker_context, job);
    else pool(job);
}

int system_hook_pool(void) {
    system_pool_hook none = NULL;
    return __atomic_compare_exchange_n(
        &swift_task_enqueueGlobal_hook, &none, system_enqueue, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
}

void system_take_jobs(void (*take)(void *context, void *job), void *context) {
    taker = take;
    taker_context = context;
}

#endif
