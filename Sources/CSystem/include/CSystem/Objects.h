// Objects that are known and not kept. The runtime counts such references, as it does for `unowned`, and says whether the object
// can still be kept, as it does for `weak`. Swift has no reference that is both. Declared as in the runtime's own header, and used
// only behind KNOWN_RUNTIME (Package.swift).
#ifndef CSYSTEM_OBJECTS_H
#define CSYSTEM_OBJECTS_H

#include <stddef.h>

extern void *swift_unownedRetain(void *object);
extern void swift_unownedRelease(void *object);
extern void *swift_tryRetain(void *object);

/// From now on the object's memory stays, also when the object is gone.
static inline void system_know_object(void *object) { swift_unownedRetain(object); }

/// Once for each time that it has become known.
static inline void system_forget_object(void *object) { swift_unownedRelease(object); }

/// One reference more to an object that is known, unless it is gone or on its way.
static inline int system_keep_object(void *object) { return swift_tryRetain(object) != NULL; }

#endif
