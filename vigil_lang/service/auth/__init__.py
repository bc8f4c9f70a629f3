"""Who asks: agents by their keys, people by passkeys or their identity provider, and what each may do."""
