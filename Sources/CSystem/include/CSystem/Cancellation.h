// Calls a function when a task is cancelled: the two halves of what Swift offers only as an async function around the code. The
// runtime does not promise them. Swift code uses them only behind KNOWN_RUNTIME (Package.swift).
#ifndef CSYSTEM_CANCELLATION_H
#define CSYSTEM_CANCELLATION_H

/// The function, and the two objects that it is called with. Must not be moved before `system_leave_cancellation`.
struct system_cancellation {
    void (*tell)(void *receiver, void *subject);
    void *receiver, *subject;
    /// The runtime's record of it.
    void *record;
};

typedef __attribute__((swiftcall)) void (*system_canceller)(__attribute__((swift_context)) void *context);

extern __attribute__((swiftcall)) void *swift_task_addCancellationHandler(system_canceller tell, void *context);
extern __attribute__((swiftcall)) void swift_task_removeCancellationHandler(void *record);

static __attribute__((swiftcall)) void system_tell_cancelled(__attribute__((swift_context)) void *context) {
    struct system_cancellation *cancellation = context;
    cancellation->tell(cancellation->receiver, cancellation->subject);
}

/// Begins to watch the running task; calls the function at once if the task has been cancelled already. The record is on the
/// task's own stack, so the last watch that begins must be the first that ends.
static inline void system_watch_cancellation(struct system_cancellation *cancellation) {
    cancellation->record = swift_task_addCancellationHandler(system_tell_cancelled, cancellation);
}

/// Ends the watch; called by the same task. When it returns, the function is not running and will not be called.
static inline void system_leave_cancellation(struct system_cancellation *cancellation) {
    swift_task_removeCancellationHandler(cancellation->record);
}

#endif
