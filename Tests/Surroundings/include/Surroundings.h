// Nothing to call: see Surroundings.c.
