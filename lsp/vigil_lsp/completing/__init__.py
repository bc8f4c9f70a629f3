"""Completion: where the cursor is (place, slots), the candidates for it, and how the client is sent them."""
