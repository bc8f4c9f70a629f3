"""What a drafted statement must pass to be kept."""
