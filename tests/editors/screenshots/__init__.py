"""Pictures of each supported editor with Vigil at work: `make screenshots` writes them to docs/images."""
