"""What stands at a place of a policy, as Markdown."""
