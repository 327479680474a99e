// Who is told when a task is cancelled: the two halves of the runtime's own way, which Swift offers only as an async
// function around what may be cancelled. The runtime does not promise them: Swift uses them only behind KNOWN_RUNTIME, which
// Package.swift defines.
#ifndef CSYSTEM_CANCELLATION_H
#define CSYSTEM_CANCELLATION_H

/// Who is told, and what of. Stays where it is until the task is left alone, for which the runtime has given a record.
struct system_cancellation {
    void (*tell)(void *who, void *what);
    void *who, *what;
    void *record;
};

typedef __attribute__((swiftcall)) void (*system_canceller)(__attribute__((swift_context)) void *context);

extern __attribute__((swiftcall)) void *swift_task_addCancellationHandler(system_canceller tell, void *context);
extern __attribute__((swiftcall)) void swift_task_removeCancellationHandler(void *record);

extern __attribute__((swiftcall)) void *swift_task_getCurrent(void);
extern __attribute__((swiftcall)) _Bool swift_task_isCancelled(void *task);

/// Whether the running task has been cancelled; there is one.
static inline _Bool system_is_cancelled(void) { return swift_task_isCancelled(swift_task_getCurrent()); }

static __attribute__((swiftcall)) void system_tell_cancelled(__attribute__((swift_context)) void *context) {
    struct system_cancellation *cancellation = context;
    cancellation->tell(cancellation->who, cancellation->what);
}

/// From now on the running task's cancellation is told; at once if it has been cancelled. The record stands on the task's own
/// stack: what is begun last ends first.
static inline void system_watch_cancellation(struct system_cancellation *cancellation) {
    cancellation->record = swift_task_addCancellationHandler(system_tell_cancelled, cancellation);
}

/// By the same task. When it returns nobody is being told any more.
static inline void system_leave_cancellation(struct system_cancellation *cancellation) {
    swift_task_removeCancellationHandler(cancellation->record);
}

#endif
