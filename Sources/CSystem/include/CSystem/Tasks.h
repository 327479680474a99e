// Sends the tasks that a thread makes ready to run to a function, instead of to the runtime's pool, for as long as the thread
// wants that. Only for a runtime that is known to have a hook for it (Package.swift).
#ifndef CSYSTEM_TASKS_H
#define CSYSTEM_TASKS_H

/// Installs the hook. Returns 0 if other code has the hook already: then no jobs can be taken.
int system_hook_pool(void);

/// From now on the jobs that the calling thread makes ready go to `take`; with NULL to the pool again.
void system_take_jobs(void (*take)(void *context, void *job), void *context);

#endif
