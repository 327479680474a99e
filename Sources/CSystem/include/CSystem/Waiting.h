// Waiting for many descriptors at a time: epoll and eventfd where there are such, poll everywhere.
#ifndef CSYSTEM_WAITING_H
#define CSYSTEM_WAITING_H

#include <errno.h>
#include <poll.h>

#ifdef __linux__
#include <sys/epoll.h>
#include <sys/eventfd.h>
#endif

#endif
