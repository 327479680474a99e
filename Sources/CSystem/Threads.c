#include "CSystem/Threads.h"

uintptr_t system_thread(void) { return (uintptr_t)pthread_self(); }
