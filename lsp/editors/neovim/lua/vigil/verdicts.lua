-- What the runs say of each statement, as signs and at the ends of lines.
--
-- A verdict is shown only of the very text that it is about: an edit makes all of a buffer unknown until the server has
-- said more.

local M = {}

local space = vim.api.nvim_create_namespace("vigil.verdicts")
local attached = {} ---@type table<integer, true>

local looks = {
  holds = { "✓", "VigilHolds", "DiagnosticOk" },
  violated = { "✗", "VigilViolated", "DiagnosticError" },
  unknown = { "?", "VigilUnknown", "Comment" },
  unreadable = { "!", "VigilUnreadable", "DiagnosticWarn" },
}

local function mark(buffer, line, state, text, id)
  local sign, group = unpack(looks[state] or looks.unknown)
  vim.api.nvim_buf_set_extmark(buffer, space, line, 0, {
    id = id,
    sign_text = sign,
    sign_hl_group = group,
    virt_text = { { sign .. " " .. text, group } },
    virt_text_pos = "eol",
    hl_mode = "combine",
    invalidate = true,
    undo_restore = false,
  })
end

local function forget(buffer)
  for _, each in ipairs(vim.api.nvim_buf_get_extmarks(buffer, space, 0, -1, {})) do
    mark(buffer, each[2], "unknown", "…", each[1])
  end
end

local function attach(buffer)
  if attached[buffer] then
    return
  end
  attached[buffer] = true
  vim.api.nvim_buf_attach(buffer, false, {
    on_lines = function()
      forget(buffer)
    end,
    on_reload = function()
      forget(buffer)
    end,
    on_detach = function()
      attached[buffer] = nil
    end,
  })
  vim.api.nvim_create_autocmd("LspDetach", {
    buffer = buffer,
    callback = function(event)
      local client = vim.lsp.get_client_by_id(event.data.client_id)
      if client and client.name == "vigil" then
        vim.api.nvim_buf_clear_namespace(buffer, space, 0, -1)
      end
    end,
  })
end

--- Show what the server says, where it is about the text as it is.
function M.take(_, said)
  local buffer = vim.uri_to_bufnr(said.uri)
  if not vim.api.nvim_buf_is_loaded(buffer) or vim.lsp.util.buf_versions[buffer] ~= said.version then
    return
  end
  for _, look in pairs(looks) do
    vim.api.nvim_set_hl(0, look[2], { link = look[3], default = true })
  end
  attach(buffer)
  vim.api.nvim_buf_clear_namespace(buffer, space, 0, -1)
  for _, each in ipairs(said.verdicts) do
    mark(buffer, each.range.start.line, each.state, each.text)
  end
end

return M
