vim.filetype.add({ extension = { vgl = "vigil" } })
