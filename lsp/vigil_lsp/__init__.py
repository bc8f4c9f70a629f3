"""The language server: `vigil lsp` for editors, over what `vigil_lang` knows of policies and runs."""
