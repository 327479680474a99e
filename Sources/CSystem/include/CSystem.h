// The system headers that the toolchain's own C module leaves out.
#ifndef CSYSTEM_H
#define CSYSTEM_H

#ifdef __linux__
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#endif

#endif
