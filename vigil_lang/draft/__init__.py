"""From a skill document to a policy: a language model drafts, deterministic code decides what is kept (section 4.1)."""
