-- The language server of Vigil: `vim.lsp.enable("vigil")` starts it for policies.
--
-- Recorded runs are JSON Lines, as much else is: they get the server only where a project has a `vigil.toml`. Of TOML
-- files it gets that one alone.

local markers = { "vigil.toml", "pyproject.toml", ".git" }

local verdicts = require("vigil.verdicts")

---@type vim.lsp.Config
return {
  cmd = { "vigil", "lsp" },
  filetypes = { "vigil", "jsonl", "toml" },
  -- What runs make of each statement, in the sign column and at the end of its line.
  init_options = { verdicts = true },
  handlers = { ["vigil/verdicts"] = verdicts.take },
  on_init = function(client)
    -- Asked to look again (the runs were read), Neovim 0.12 asks a server that has findings of whole workspaces only for
    -- those, and leaves open files as they were.
    local provider = client.server_capabilities.diagnosticProvider
    if provider then
      provider.workspaceDiagnostics = false
    end
  end,
  root_dir = function(buffer, found)
    if vim.bo[buffer].filetype == "vigil" then
      found(vim.fs.root(buffer, markers) or vim.fs.dirname(vim.api.nvim_buf_get_name(buffer)))
      return
    end
    local name = vim.fs.basename(vim.api.nvim_buf_get_name(buffer))
    local project = vim.fs.root(buffer, "vigil.toml")
    if project and (vim.bo[buffer].filetype ~= "toml" or name == "vigil.toml") then
      found(project)
    end
  end,
}
