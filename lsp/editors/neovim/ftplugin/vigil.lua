if vim.b.did_ftplugin then
  return
end
vim.b.did_ftplugin = 1

vim.bo.commentstring = "// %s"
vim.bo.comments = ":///,://"
vim.opt_local.formatoptions:remove("t")
vim.opt_local.formatoptions:append("croql")
-- As `vigil fmt` lays it out.
vim.bo.expandtab = true
vim.bo.shiftwidth = 4
vim.bo.softtabstop = 4
-- `gf` on a module that a policy uses.
vim.bo.suffixesadd = ".vgl"
vim.bo.includeexpr = [[substitute(substitute(v:fname, '^\.', '', ''), '\.', '/', 'g')]]

vim.b.undo_ftplugin = "setlocal commentstring< comments< formatoptions< expandtab< shiftwidth< softtabstop< suffixesadd<"
  .. " includeexpr<"
