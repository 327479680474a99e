// What the sockets need from the system and Swift cannot say by itself: headers that the toolchain's C module leaves
// out, and the calls whose types or flags differ from system to system, each as one inline function.
#ifndef CSYSTEM_H
#define CSYSTEM_H

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#ifdef __linux__
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>

// These stand behind a switch (_GNU_SOURCE) that the toolchain's C module is built without; turning it on here would
// give the two modules different ideas of the same structures.
extern int accept4(int descriptor, struct sockaddr *peer, socklen_t *length, int flags);
extern int pipe2(int ends[2], int flags);
extern int pthread_setname_np(pthread_t thread, const char *name);
struct system_credentials {
    pid_t process;
    uid_t user;
    gid_t group;
};
#endif

#ifdef __linux__
/// `epoll_wait` with nanoseconds, where the kernel has that; elsewhere with milliseconds, rounded up. Negative is for ever.
static inline int system_epoll_wait(int queue, struct epoll_event *events, int most, long long nanoseconds) {
    if (nanoseconds > 0 && nanoseconds < 1000000) {
        struct timespec time = {0, (long)nanoseconds};
        int count = (int)syscall(441 /* epoll_pwait2 */, queue, events, most, &time, NULL, 0);
        // Some sandboxes say that what they do not know is forbidden.
        if (count >= 0 || (errno != ENOSYS && errno != EPERM)) return count;
    }
    long long milliseconds = nanoseconds <= 0 ? nanoseconds : (nanoseconds - 1) / 1000000 + 1;
    if (milliseconds > 0x7fffffff) milliseconds = 0x7fffffff;
    return epoll_wait(queue, events, most, (int)milliseconds);
}
#endif

static inline int system_errno(void) { return errno; }
static inline void system_set_errno(int code) { errno = code; }

/// A mutex whose second comer first tries again for a moment, where the system has such: what is done under ours takes
/// less time than to fall asleep and be woken.
static inline int system_mutex_init(pthread_mutex_t *mutex) {
#ifdef __linux__
    pthread_mutexattr_t attributes;
    if (pthread_mutexattr_init(&attributes) != 0) return pthread_mutex_init(mutex, NULL);
    (void)pthread_mutexattr_settype(&attributes, PTHREAD_MUTEX_ADAPTIVE_NP);
    int code = pthread_mutex_init(mutex, &attributes);
    (void)pthread_mutexattr_destroy(&attributes);
    return code;
#else
    return pthread_mutex_init(mutex, NULL);
#endif
}

// MARK: descriptors

static inline int system_close_on_exec_nonblocking(int descriptor) {
    if (fcntl(descriptor, F_SETFD, FD_CLOEXEC) < 0) return -1;
    int flags = fcntl(descriptor, F_GETFL);
    return flags < 0 ? -1 : fcntl(descriptor, F_SETFL, flags | O_NONBLOCK);
}

/// A placeholder in the descriptor table.
static inline int system_open_spare(void) { return open("/dev/null", O_RDONLY | O_CLOEXEC); }

static inline int system_pipe(int ends[2]) {
#ifdef __linux__
    return pipe2(ends, O_CLOEXEC | O_NONBLOCK);
#else
    if (pipe(ends) < 0) return -1;
    if (system_close_on_exec_nonblocking(ends[0]) == 0 && system_close_on_exec_nonblocking(ends[1]) == 0) return 0;
    int code = errno;
    close(ends[0]);
    close(ends[1]);
    errno = code;
    return -1;
#endif
}

// MARK: stream sockets, never blocking, closed on exec, silent about a peer that is gone

static inline int system_prepare_socket(int descriptor) {
#ifdef SO_NOSIGPIPE
    int on = 1;
    (void)setsockopt(descriptor, SOL_SOCKET, SO_NOSIGPIPE, &on, sizeof on);
#endif
#ifndef __linux__
    if (system_close_on_exec_nonblocking(descriptor) < 0) {
        int code = errno;
        close(descriptor);
        errno = code;
        return -1;
    }
#endif
    return descriptor;
}

/// The constant is of another type on each system.
static inline int system_stream_type(void) { return SOCK_STREAM; }

static inline int system_socket(int family) {
#ifdef __linux__
    int descriptor = socket(family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
#else
    int descriptor = socket(family, SOCK_STREAM, 0);
#endif
    return descriptor < 0 ? descriptor : system_prepare_socket(descriptor);
}

static inline int system_socket_pair(int ends[2]) {
#ifdef __linux__
    return socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends);
#else
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) < 0) return -1;
    return system_prepare_socket(ends[0]) < 0 || system_prepare_socket(ends[1]) < 0 ? -1 : 0;
#endif
}

static inline int system_accept(int descriptor, struct sockaddr_storage *peer, socklen_t *length) {
#ifdef __linux__
    return accept4(descriptor, (struct sockaddr *)peer, length, SOCK_CLOEXEC | SOCK_NONBLOCK);
#else
    int accepted = accept(descriptor, (struct sockaddr *)peer, length);
    return accepted < 0 ? accepted : system_prepare_socket(accepted);
#endif
}

static inline int system_connect(int descriptor, const struct sockaddr_storage *address, socklen_t length) {
    return connect(descriptor, (const struct sockaddr *)address, length);
}

static inline int system_bind(int descriptor, const struct sockaddr_storage *address, socklen_t length) {
    return bind(descriptor, (const struct sockaddr *)address, length);
}

static inline int system_local_address(int descriptor, struct sockaddr_storage *address, socklen_t *length) {
    return getsockname(descriptor, (struct sockaddr *)address, length);
}

static inline int system_remote_address(int descriptor, struct sockaddr_storage *address, socklen_t *length) {
    return getpeername(descriptor, (struct sockaddr *)address, length);
}

static inline ssize_t system_send(int descriptor, const void *bytes, size_t count) {
#ifdef MSG_NOSIGNAL
    return send(descriptor, bytes, count, MSG_NOSIGNAL | MSG_DONTWAIT);
#else
    return send(descriptor, bytes, count, MSG_DONTWAIT);
#endif
}

static inline ssize_t system_receive(int descriptor, void *bytes, size_t count) {
    return recv(descriptor, bytes, count, MSG_DONTWAIT);
}

static inline int system_set_option(int descriptor, int level, int option, int value) {
    return setsockopt(descriptor, level, option, &value, sizeof value);
}

static inline int system_set_no_delay(int descriptor) {
    return system_set_option(descriptor, IPPROTO_TCP, TCP_NODELAY, 1);
}

static inline int system_set_dual_stack(int descriptor) {
    return system_set_option(descriptor, IPPROTO_IPV6, IPV6_V6ONLY, 0);
}

/// After `idle` milliseconds without traffic the peer's system is asked; a peer whose system has answered nothing for
/// `timeout` more, or has taken no data for as long as both together, is given up.
static inline void system_set_keepalive(int descriptor, int idle_milliseconds, int timeout_milliseconds) {
    int idle = (idle_milliseconds + 999) / 1000, interval = (timeout_milliseconds + 999) / 1000;
    (void)system_set_option(descriptor, SOL_SOCKET, SO_KEEPALIVE, 1);
#ifdef TCP_KEEPIDLE
    (void)system_set_option(descriptor, IPPROTO_TCP, TCP_KEEPIDLE, idle);
#elif defined(TCP_KEEPALIVE)
    (void)system_set_option(descriptor, IPPROTO_TCP, TCP_KEEPALIVE, idle);
#endif
    (void)system_set_option(descriptor, IPPROTO_TCP, TCP_KEEPINTVL, interval);
    (void)system_set_option(descriptor, IPPROTO_TCP, TCP_KEEPCNT, 1);
#ifdef TCP_USER_TIMEOUT
    (void)system_set_option(descriptor, IPPROTO_TCP, TCP_USER_TIMEOUT, idle_milliseconds + timeout_milliseconds);
#endif
}

static inline int system_pending_error(int descriptor) {
    int code = 0;
    socklen_t length = sizeof code;
    return getsockopt(descriptor, SOL_SOCKET, SO_ERROR, &code, &length) < 0 ? errno : code;
}

/// The user at the other end of a Unix-domain socket.
static inline int system_peer_user(int descriptor, unsigned int *user) {
#ifdef __linux__
    struct system_credentials credentials;
    socklen_t length = sizeof credentials;
    if (getsockopt(descriptor, SOL_SOCKET, SO_PEERCRED, &credentials, &length) < 0) return -1;
    *user = credentials.user;
    return 0;
#else
    uid_t uid;
    gid_t gid;
    if (getpeereid(descriptor, &uid, &gid) < 0) return -1;
    *user = uid;
    return 0;
#endif
}

// MARK: files

/// Never waits, not even for the other end of a pipe that was put there; new files are for the own user only.
static inline int system_open_file(const char *path, int flags) {
    return open(path, flags | O_CLOEXEC | O_NONBLOCK, 0600);
}

/// Takes the lock of an open file or fails with EWOULDBLOCK; it ends with the descriptor.
static inline int system_lock_file(int descriptor) { return flock(descriptor, LOCK_EX | LOCK_NB); }

// MARK: threads

struct system_thread_start {
    char name[16];
    void (*body)(void *);
    void *context;
};

static inline void *system_thread_main(void *argument) {
    struct system_thread_start start = *(struct system_thread_start *)argument;
    free(argument);
#ifdef __linux__
    pthread_setname_np(pthread_self(), start.name);
#else
    pthread_setname_np(start.name);
#endif
    start.body(start.context);
    return NULL;
}

/// Starts a detached thread; answers 0 or an errno. The name is cut to 15 bytes.
static inline int system_start_thread(const char *name, void (*body)(void *), void *context) {
    struct system_thread_start *start = malloc(sizeof *start);
    if (!start) return ENOMEM;
    strncpy(start->name, name, sizeof start->name - 1);
    start->name[sizeof start->name - 1] = 0;
    start->body = body;
    start->context = context;
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    // What a main thread gets: user code runs here, and some systems give other threads far less.
    pthread_attr_setstacksize(&attributes, 8 << 20);
    pthread_t thread;
    int code = pthread_create(&thread, &attributes, system_thread_main, start);
    pthread_attr_destroy(&attributes);
    if (code) free(start);
    return code;
}

/// A number that no other living thread has, never 0: the address of a structure, and so a multiple of eight.
static inline unsigned long system_thread_identity(void) { return (unsigned long)pthread_self(); }

#ifdef __linux__
extern long system_call(long number, ...) __asm__("syscall");
#endif

/// What the system calls the calling thread; 0 where nothing can be asked about it.
static inline int system_thread_number(void) {
#ifdef __linux__
    return (int)system_call(SYS_gettid);
#else
    return 0;
#endif
}

/// Whether a thread of this process computes or waits for a processor: 0 when it sleeps, or when that is not known.
static inline int system_thread_is_running(int number) {
#ifdef __linux__
    char path[48], text[128];
    snprintf(path, sizeof path, "/proc/self/task/%d/stat", number);
    int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0) return 0;
    ssize_t count = read(file, text, sizeof text - 1);
    close(file);
    text[count < 0 ? 0 : count] = 0;
    // The name of the thread stands in parentheses and may hold any character; the state comes after it.
    const char *end = strrchr(text, ')');
    return end && end[1] == ' ' && end[2] == 'R';
#else
    (void)number;
    return 0;
#endif
}

/// For how many nanoseconds a thread of this process has computed; negative when that is not known.
static inline long long system_thread_time(int number) {
#ifdef __linux__
    struct timespec time;
    // What the kernel calls the clock of a thread.
    if (clock_gettime((clockid_t)(~(unsigned)number << 3 | 6), &time) < 0) return -1;
    return time.tv_sec * 1000000000LL + time.tv_nsec;
#else
    (void)number;
    return -1;
#endif
}

#ifdef __linux__
extern int system_affinity(pid_t process, size_t size, unsigned long *set) __asm__("sched_getaffinity");
#endif

/// How many processors the calling thread may run on.
static inline int system_processors(void) {
#ifdef __linux__
    unsigned long set[16] = {0};
    // A system with more than 1,024 says that they do not fit.
    if (system_affinity(0, sizeof set, set) < 0) return 1024;
    int count = 0;
    for (int word = 0; word < 16; word++) count += __builtin_popcountl(set[word]);
    return count;
#else
    return (int)sysconf(_SC_NPROCESSORS_ONLN);
#endif
}

// MARK: signals

static volatile int system_signal_pipe = -1;

/// Only what a signal handler may do: one write, errno kept.
static inline void system_report_signal(int number) {
    int code = errno;
    unsigned char byte = (unsigned char)number;
    (void)!write(system_signal_pipe, &byte, 1);
    errno = code;
}

/// From now on, each of these signals puts its number into the pipe instead of ending the process.
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
