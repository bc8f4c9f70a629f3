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
  on_init = function(client)
    -- Asked to look again (the runs were read), Neovim 0.12 asks a server that has findings of whole workspaces only for
    -- those, and leaves open files as they were.
    local provider = client.server_capabilities.diagnosticProvider
    if provider then
      provider.workspaceDiagnostics = false
    end
  end,
  handlers = {
    ["vigil/verdicts"] = verdicts.take,
    -- Asked to look again, Neovim draws hints only of lines that it has not drawn since it was asked; whatever else is drawn
    -- before the answer comes (a lens, a finding) keeps the old ones, or none, until the next edit. Anew they are all drawn.
    ["workspace/inlayHint/refresh"] = function(_, _, context)
      local client = vim.lsp.get_client_by_id(context.client_id)
      for buffer in pairs(client and client.attached_buffers or {}) do
        local filter = { bufnr = buffer }
        if vim.lsp.inlay_hint.is_enabled(filter) then
          vim.lsp.inlay_hint.enable(false, filter)
          vim.lsp.inlay_hint.enable(true, filter)
        end
      end
      return vim.NIL
    end,
  },
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
