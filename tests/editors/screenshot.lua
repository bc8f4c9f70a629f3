-- Shows a policy as somebody at the keyboard sees it, and writes the cells of the screen as JSON: a list of rows, each a
-- list of [text, foreground, background, style]. Started with `nvim -u this-file, in a terminal, policy.vgl`; $VIGIL_SEEN names
-- the file to write, $VIGIL_COMMAND (JSON) is the server's command, $VIGIL_NEOVIM the folder for the runtimepath.

vim.opt.runtimepath:prepend(vim.env.VIGIL_NEOVIM)
vim.opt.swapfile = false
vim.opt.termguicolors = true
vim.opt.number = true
vim.opt.signcolumn = "yes"
vim.opt.wrap = false
vim.opt.background = "dark"
vim.treesitter.start = function() end
vim.cmd("filetype plugin on")
vim.cmd("syntax on")
vim.diagnostic.config({ virtual_text = true })
vim.lsp.config("vigil", { cmd = vim.json.decode(vim.env.VIGIL_COMMAND) })
vim.lsp.enable("vigil")

vim.api.nvim_create_autocmd("LspAttach", {
  callback = function(event)
    vim.lsp.inlay_hint.enable(true, { bufnr = event.buf })
    vim.lsp.codelens.enable(true, { bufnr = event.buf })
  end,
})

local function cells()
  vim.cmd("redraw!")
  local rows = {}
  for row = 0, vim.o.lines - 2 do
    local shown = {}
    for column = 0, vim.o.columns - 1 do
      local cell = vim.api.nvim__inspect_cell(1, row, column)
      local look = cell[2] or {}
      local style = (look.bold and "b" or "") .. (look.italic and "i" or "") .. ((look.undercurl or look.underline) and "u" or "")
      table.insert(shown, { cell[1] or " ", look.foreground or -1, look.background or -1, style })
    end
    table.insert(rows, shown)
  end
  return rows
end

local function ready()
  return #vim.lsp.inlay_hint.get({ bufnr = 0 }) > 3 and #vim.diagnostic.get(0) > 0
end

vim.api.nvim_create_autocmd("VimEnter", {
  callback = function()
    vim.schedule(function()
      vim.wait(30000, ready, 50)
      vim.cmd("normal! zt")
      vim.wait(3000, function() vim.cmd("redraw") end, 100) -- what comes after: tokens and lenses
      local file = assert(io.open(vim.env.VIGIL_SEEN, "w"))
      local default = vim.api.nvim_get_hl(0, { name = "Normal" })
      file:write(vim.json.encode({ rows = cells(), fg = default.fg, bg = default.bg }))
      file:close()
      vim.cmd("qall!")
    end)
  end,
})
