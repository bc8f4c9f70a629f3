"""From syntax to meaning: names resolved, forms written as □Θ, what they denote, and what is wrong with them."""
