"""What the runs of a project say about its policies; a process of its own knows them."""
