"""Language models as lists of ops: FLOPs, bytes by kind and calls per step of one device."""
