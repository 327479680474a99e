// The wait of a caller for its answer.
//
// When a function in Swift has waited it looks, before it goes on, whether its task is where it belongs. For a task that
// prefers an executor the runtime looks that up for it, under a lock of the task's, which costs more than the rest of the wait. The
// look is in vain where the task is put in the right place when it is resumed, as here. Some functions of the standard
// library do without it, but outside of that none can be written in Swift: this is what the compiler would make of it.
//
// Frames, continuations and executors lie in memory as the runtime's own headers say. The runtime does not promise that, so this
// is compiled only for runtimes with which it has been tested: Package.swift says for which.

#ifdef KNOWN_RUNTIME

#include <stddef.h>

struct frame;
typedef __attribute__((swiftasynccall)) void resume_function(__attribute__((swift_async_context)) struct frame *);

/// What every async function has in memory: the function that waits for it, and where that goes on.
struct frame {
    struct frame *waiter;
    resume_function *resume;
};

/// An actor's, or whichever the task prefers if both are NULL.
struct executor {
    void *identity, *witnesses;
};

struct continuation {
    struct frame frame;
    size_t flags, status;
    void *error, *result;
    /// Where the task goes on.
    struct executor executor;
};

/// Of the function below. Its caller makes room for it.
struct suspension {
    struct frame frame;
    struct continuation continuation;
};

extern __attribute__((swiftcall)) void *swift_continuation_init(struct continuation *, size_t flags);
extern __attribute__((swiftasynccall)) void swift_continuation_await(struct continuation *);
extern __attribute__((swiftcall)) struct executor swift_task_getCurrentExecutor(void);

/// A continuation's waiter is the function that made it.
static __attribute__((swiftasynccall)) void go_on(__attribute__((swift_async_context)) struct frame *continuation) {
    struct frame *function = continuation->waiter;
    return function->resume(function);
}

/// Suspends the running task until it is resumed. Swift hands the actor of its caller through, if there is one: two
/// words, before the arguments.
/// - begin: is given the continuation, and where the task goes on, to say something else; NULL for one that is an actor's.
__attribute__((visibility("hidden"), swiftasynccall)) void remoteproxy_suspend(
    void *actor, void *witnesses, void *first, void *second,
    void (*begin)(void *first, void *second, void *continuation, void *executor),
    __attribute__((swift_async_context)) struct suspension *suspension
) {
    struct continuation *continuation = &suspension->continuation;
    continuation->frame = (struct frame){&suspension->frame, go_on};
    void *task = swift_continuation_init(continuation, 0);
    if (actor) continuation->executor = swift_task_getCurrentExecutor();
    begin(first, second, task, actor ? NULL : &continuation->executor);
    return swift_continuation_await(continuation);
}

// What Swift calls an async function by: how far away its code lies, and how much room it needs.
_Static_assert(sizeof(struct suspension) == 80, "as below");

__asm__(
    ".section .rodata\n"
    ".globl remoteproxy_suspendTu\n"
    ".p2align 3\n"
    "remoteproxy_suspendTu:\n"
    ".long remoteproxy_suspend - remoteproxy_suspendTu\n"
    ".long 80\n"
    ".text\n");

#endif
