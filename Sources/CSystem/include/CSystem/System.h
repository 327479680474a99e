// The functions that differ from system to system, in one header for each. This is the only place that asks for the system, and
// all headers have the same names:
//
// - SYSTEM_CLOCK, SYSTEM_TICK_CLOCK: a clock that cannot be set, and runs on while the machine sleeps where the system has one
//   that does; and a cheaper one that never is ahead of it.
// - SYSTEM_MUTEX: the kind of mutex for locks that are held for a moment.
// - SYSTEM_MAY_SPIN: whether a thread may spin for a moment. Where threads have classes of service it could keep the processor
//   from the very thread that it waits for.
// - system_pipe, system_socket, system_socket_pair, system_accept: make descriptors that never block, and are closed on exec.
// - SYSTEM_TLS_LIBRARIES: where OpenSSL is looked for, the newest that is tested first.
// - SYSTEM_SEND_FLAGS: makes a send to a connection that is gone fail without a signal, unless the socket does.
// - system_synchronize: returns when the bytes of a file would survive a loss of power.
// - system_set_plain_congestion_control: for a connection within this machine, where there is no network to protect, selects the
//   plainest congestion control. Another one may hold output back by a timer.
// - system_watch_peer: sets the times of TCP's keepalive, see system_set_keepalive.
// - system_peer_user: finds the user at the other end of a Unix-domain socket.
// - SYSTEM_CAN_SPAWN: whether programs may start others.
// - SYSTEM_SPAWN_FLAGS, system_spawn_closing_others: the flags, and the step, that close all descriptors in a new program but its
//   standard streams.
// - system_environment: the environment of this process.
// - system_name_thread: names the calling thread.
// - system_processors: how many processors the calling thread may run on.
#ifndef CSYSTEM_SYSTEM_H
#define CSYSTEM_SYSTEM_H

#if defined(__linux__)
#include "Linux.h"
#elif defined(__APPLE__)
#include "Darwin.h"
#elif defined(__FreeBSD__)
#include "FreeBSD.h"
#else
#error "CSystem needs a header for this system, like Linux.h"
#endif

#endif
