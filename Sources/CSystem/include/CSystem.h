// What the sockets need from the system and Swift cannot say by itself: headers that the toolchain's C module leaves
// out, and the calls whose types or flags differ from system to system, each as one inline function.
#ifndef CSYSTEM_H
#define CSYSTEM_H

#include "CSystem/Cancellation.h"
#include "CSystem/Descriptors.h"
#include "CSystem/Files.h"
#include "CSystem/Signals.h"
#include "CSystem/Sockets.h"
#include "CSystem/Tasks.h"
#include "CSystem/ThreadState.h"
#include "CSystem/Threads.h"
#include "CSystem/Waiting.h"

#endif
