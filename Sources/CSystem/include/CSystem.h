// What the sockets need from the system and Swift cannot express: headers, and calls whose flags and structures the toolchain's
// C module lacks. Each call is one inline function.
#ifndef CSYSTEM_H
#define CSYSTEM_H

#include "CSystem/Cancellation.h"
#include "CSystem/Files.h"
#include "CSystem/Kqueue.h"
#include "CSystem/Processes.h"
#include "CSystem/Signals.h"
#include "CSystem/Sockets.h"
#include "CSystem/TLS.h"
#include "CSystem/Tasks.h"
#include "CSystem/Threads.h"

#endif
