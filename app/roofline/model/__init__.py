"""A profile: devices, memory levels, op tables, steps. No behaviour, no input or output."""
