"""From the intermediate form to syntax trees, and from those to a policy file."""
