// Starting other programs, ending them, and learning how they have ended.
#ifndef CSYSTEM_PROCESSES_H
#define CSYSTEM_PROCESSES_H

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <spawn.h>
#include <stddef.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

#include "System.h"

/// Lets calls on the descriptor wait, or not. It changes the open file, so it is only for one that this process has made.
static inline int system_set_waiting(int descriptor, int waits) {
    int flags = fcntl(descriptor, F_GETFL);
    return flags < 0 ? -1 : fcntl(descriptor, F_SETFL, waits ? flags & ~O_NONBLOCK : flags | O_NONBLOCK);
}

/// Whether the descriptor was open when the program began. What the library opens is closed on exec.
static inline int system_is_inherited(int descriptor) {
    int flags = fcntl(descriptor, F_GETFD);
    return flags >= 0 && !(flags & FD_CLOEXEC);
}

/// Copies a descriptor to a free number that is none of the standard streams'. The copy is closed on exec.
static inline int system_duplicate(int descriptor) { return fcntl(descriptor, F_DUPFD_CLOEXEC, 3); }

/// Blocks the signal of a write without a reader, for the calling thread. The write fails instead.
static inline void system_block_broken_pipes(void) {
    sigset_t broken;
    sigemptyset(&broken);
    sigaddset(&broken, SIGPIPE);
    (void)pthread_sigmask(SIG_BLOCK, &broken, NULL);
}

#if SYSTEM_CAN_SPAWN

static inline int system_spawn_prepared(
    pid_t *process, const char *program, char *const arguments[], char *const environment[], const char *directory,
    int stream, int errors, posix_spawn_file_actions_t *actions, posix_spawnattr_t *attributes) {
    sigset_t none, all;
    sigemptyset(&none);
    sigfillset(&all);
    // The meaning of these two cannot be set, and one system refuses to try.
    sigdelset(&all, SIGKILL);
    sigdelset(&all, SIGSTOP);
    int code = posix_spawnattr_setflags(
        attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | SYSTEM_SPAWN_FLAGS);
    if (code == 0) code = posix_spawnattr_setpgroup(attributes, 0);
    if (code == 0) code = posix_spawnattr_setsigmask(attributes, &none);
    if (code == 0) code = posix_spawnattr_setsigdefault(attributes, &all);
    if (code == 0) code = posix_spawn_file_actions_adddup2(actions, stream, 0);
    if (code == 0) code = posix_spawn_file_actions_adddup2(actions, stream, 1);
    if (code == 0) code = posix_spawn_file_actions_adddup2(actions, errors, 2);
    if (code == 0) code = system_spawn_closing_others(actions);
    if (code == 0 && directory) code = posix_spawn_file_actions_addchdir_np(actions, directory);
    return code == 0 ? posix_spawnp(process, program, actions, attributes, arguments, environment) : code;
}

/// Starts a program as the leader of a process group of its own. Its standard input and output are `stream`, and its standard
/// error is `errors`; neither may be 0, 1 or 2. It inherits no other descriptor, and no signal that is blocked or ignored here. A
/// name without a slash is looked up in PATH. `directory` may be NULL. Returns 0 or an errno.
static inline int system_spawn(
    pid_t *process, const char *program, char *const arguments[], char *const environment[], const char *directory,
    int stream, int errors) {
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    int code = posix_spawn_file_actions_init(&actions);
    if (code != 0) return code;
    code = posix_spawnattr_init(&attributes);
    if (code == 0) {
        code = system_spawn_prepared(
            process, program, arguments, environment, directory, stream, errors, &actions, &attributes);
        (void)posix_spawnattr_destroy(&attributes);
    }
    (void)posix_spawn_file_actions_destroy(&actions);
    return code;
}

#else

static inline int system_spawn(
    pid_t *process, const char *program, char *const arguments[], char *const environment[], const char *directory,
    int stream, int errors) {
    (void)process, (void)program, (void)arguments, (void)environment, (void)directory, (void)stream, (void)errors;
    return ENOTSUP;
}

#endif

/// Returns when the child has ended. Its number stays its own until `system_reap`.
static inline int system_await_end(pid_t process) {
    siginfo_t information;
    int result;
    do result = waitid(P_PID, (id_t)process, &information, WEXITED | WNOWAIT);
    while (result < 0 && errno == EINTR);
    return result;
}

/// Forgets a child that has ended. Returns its exit status; minus the number of the signal that has ended it; or INT_MIN if that is
/// not known, because the program has children reaped elsewhere.
static inline int system_reap(pid_t process) {
    int status, result;
    do result = waitpid(process, &status, 0);
    while (result < 0 && errno == EINTR);
    if (result != process) return INT_MIN;
    return WIFEXITED(status) ? WEXITSTATUS(status) : WIFSIGNALED(status) ? -WTERMSIG(status) : INT_MIN;
}

/// Sends a signal to the child's process group; to the child alone if it has left that.
static inline void system_signal_group(pid_t process, int number) {
    if (kill(-process, number) < 0) (void)kill(process, number);
}

#endif
