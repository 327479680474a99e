// Signals as bytes in a pipe.
#ifndef CSYSTEM_SIGNALS_H
#define CSYSTEM_SIGNALS_H

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

static volatile int system_signal_pipe = -1;

/// The signal handler: one write, with errno kept, because a handler may do little else.
static inline void system_report_signal(int number) {
    int code = errno;
    unsigned char byte = (unsigned char)number;
    (void)!write(system_signal_pipe, &byte, 1);
    errno = code;
}

/// From now on the signal puts its number into the pipe instead of ending the process. All signals share the last pipe.
static inline int system_watch_signal(int number, int pipe) {
    system_signal_pipe = pipe;
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_handler = system_report_signal;
    action.sa_flags = SA_RESTART;
    sigemptyset(&action.sa_mask);
    return sigaction(number, &action, NULL);
}

static inline void system_unblock_signal(int number) {
    sigset_t signals;
    sigemptyset(&signals);
    sigaddset(&signals, number);
    (void)pthread_sigmask(SIG_UNBLOCK, &signals, NULL);
}

static inline int system_default_signal(int number) { return signal(number, SIG_DFL) == SIG_ERR ? -1 : 0; }
static inline int system_ignore_signal(int number) { return signal(number, SIG_IGN) == SIG_ERR ? -1 : 0; }

#endif
