// Where tasks go that a thread makes ready to run: to the runtime's pool, or, for as long as the thread says so, to a function
// of its own. Only for a runtime that is known to have a hook for this (Package.swift).
#ifndef CSYSTEM_TASKS_H
#define CSYSTEM_TASKS_H

/// Answers whether jobs can be taken from now on. They cannot where other code has the hook already.
int system_hook_pool(void);

/// From now on the calling thread's jobs go there; to the pool again with NULL.
void system_take_jobs(void (*take)(void *context, void *job), void *context);

#endif
