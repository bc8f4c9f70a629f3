"""What the runs of a project say about its policies, worked out in a process of its own."""
