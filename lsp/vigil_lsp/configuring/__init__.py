"""Help in a `vigil.toml` that a schema cannot give: kinds, roles, tools and arguments of the project itself."""
