"""The page where people decide: rendered by the server, with one small script. Nothing is decided by GET."""
