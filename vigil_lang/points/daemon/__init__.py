"""The daemon: one process that answers the hooks of all runs of a state folder, and the client that asks it."""
