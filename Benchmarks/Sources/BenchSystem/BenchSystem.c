// Nothing: this target is its header.
