// Suspends a caller until its answer has come.
//
// After a wait, a Swift function first checks whether its task is where it belongs. For a task that prefers an executor, the
// runtime looks that executor up, under a lock of the task. This costs more than the rest of the wait. It is in vain if the
// task is put in the right place when it is resumed, as here. Some functions of the standard library omit the check, but no
// other Swift code can. So this is written in C: it does what the compiler would make of such a function.
//
// The layout of frames, continuations and executors here is that of the runtime's own headers. The runtime does not promise it.
// So this is compiled only for runtimes with which it has been tested: of the compilers that Package.swift lists, on this system
// and processor.

#if defined(KNOWN_RUNTIME) && defined(__x86_64__) && defined(__linux__)

#include <stddef.h>

struct frame;
typedef __attribute__((swiftasynccall)) void resume_function(__attribute__((swift_async_context)) struct frame *);

/// The beginning of every async function's memory: the function that waits for it, and where that function continues.
struct frame {
    struct frame *waiter;
    resume_function *resume;
};

/// The executor of an actor; or, if both are NULL, the executor that the task prefers.
struct executor {
    void *identity, *witnesses;
};

struct continuation {
    struct frame frame;
    size_t flags, status;
    void *error, *result;
    /// Where the task continues.
    struct executor executor;
};

/// The memory of the function below. Its caller makes room for it.
struct suspension {
    struct frame frame;
    struct continuation continuation;
};

extern __attribute__((swiftcall)) void *swift_continuation_init(struct continuation *, size_t flags);
extern __attribute__((swiftasynccall)) void swift_continuation_await(struct continuation *);
extern __attribute__((swiftcall)) struct executor swift_task_getCurrentExecutor(void);

/// Continues the function that made the continuation: the continuation's waiter.
static __attribute__((swiftasynccall)) void go_on(__attribute__((swift_async_context)) struct frame *continuation) {
    struct frame *function = continuation->waiter;
    return function->resume(function);
}

/// Suspends the running task until it is resumed. Swift passes the actor of the caller before the arguments, in two words; NULL
/// if there is none.
/// - begin: is called with the continuation, and with the place where the task continues, which it may change. That place is
///   NULL if the caller is on an actor.
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

// By this record Swift calls an async function: the distance to its code, and how much room it needs.
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
