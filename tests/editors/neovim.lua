-- Drives Neovim as somebody at the keyboard would, and writes what was seen as JSON: one object, a key for each step.
-- Started with `nvim --headless -u this-file policy.vgl`; $VIGIL_SEEN names the file to write, $VIGIL_COMMAND (JSON) is
-- the server's command, $VIGIL_NEOVIM the folder that users put into their runtimepath.

vim.opt.runtimepath:prepend(vim.env.VIGIL_NEOVIM)
vim.opt.swapfile = false
vim.opt.completeopt = { "menuone", "noinsert", "popup" }
vim.treesitter.start = function() end -- for Markdown in windows; the package has no parsers
vim.cmd("filetype plugin on")
vim.cmd("syntax on")
vim.lsp.config("vigil", { cmd = vim.json.decode(vim.env.VIGIL_COMMAND) })
vim.lsp.enable("vigil")
vim.lsp.log.set_level("warn")

local seen, step = {}, "start"
local SECONDS = 30

local function finish(problem)
  seen.problem = problem
  local file = assert(io.open(vim.env.VIGIL_SEEN, "w"))
  file:write(vim.json.encode(seen))
  file:close()
  vim.cmd("qall!")
end

-- Steps run in a coroutine; while one waits, the editor works as it does for a user.
local run

local function pause(milliseconds)
  vim.defer_fn(function()
    local fine, problem = coroutine.resume(run)
    if not fine then
      finish(step .. ": " .. tostring(problem))
    end
  end, milliseconds)
  coroutine.yield()
end

local function wait(condition)
  local last
  for _ = 1, SECONDS * 50 do
    last = condition()
    if last then
      return last
    end
    pause(20)
  end
  local at = debug.getinfo(2, "l").currentline
  error(("line %d: not so after %d s; findings: %s"):format(at, SECONDS, vim.inspect(vim.diagnostic.get(0))), 0)
end

local function keys(typed)
  vim.api.nvim_input(typed)
end

local function lines()
  return table.concat(vim.api.nvim_buf_get_lines(0, 0, -1, true), "\n")
end

local function go(text, inside)
  vim.fn.cursor(1, 1)
  assert(vim.fn.search("\\V" .. vim.fn.escape(text, "\\"), "c") > 0, "no " .. text)
  if inside then
    vim.fn.cursor(vim.fn.line("."), vim.fn.col(".") + inside)
  end
end

local function findings()
  local found = {}
  for _, each in ipairs(vim.diagnostic.get(0)) do
    local text = vim.api.nvim_buf_get_text(0, each.lnum, each.col, each.end_lnum, each.end_col, {})
    table.insert(found, { code = tostring(each.code), text = table.concat(text, "\n"), message = each.message })
  end
  return found
end

local function finding(code)
  for _, each in ipairs(findings()) do
    if each.code == code then
      return each
    end
  end
end

local function floating()
  for _, window in ipairs(vim.api.nvim_list_wins()) do
    if vim.api.nvim_win_get_config(window).relative ~= "" then
      local shown = vim.api.nvim_buf_get_lines(vim.api.nvim_win_get_buf(window), 0, -1, true)
      return window, table.concat(shown, "\n")
    end
  end
end

local steps = {
  {
    "attach",
    function()
      local client = wait(function()
        return vim.lsp.get_clients({ bufnr = 0, name = "vigil" })[1]
      end)
      wait(function()
        return client.initialized
      end)
      return {
        filetype = vim.bo.filetype,
        commentstring = vim.bo.commentstring,
        root = client.root_dir,
        encoding = client.offset_encoding,
      }
    end,
  },
  {
    "colours",
    function()
      local found = {}
      for _, text in ipairs({
        "policy dashcam", "pattern consumes", "action in", "in {", "and", "=", "prec", "abs(", "/// ", "@source", "SKILL.md",
        '{x}` was', "statement R3", "consumes(x) = ",
      }) do
        go(text)
        local id = vim.fn.synIDtrans(vim.fn.synID(vim.fn.line("."), vim.fn.col("."), 1))
        found[text] = vim.fn.synIDattr(id, "name")
      end
      return found
    end,
  },
  {
    "typo",
    function()
      go("transform = x")
      keys("cwtransfrom<Esc>")
      wait(function()
        return lines():find("transfrom")
      end)
      wait(function()
        return finding("VGL402")
      end)
      return findings()
    end,
  },
  {
    "fix",
    function()
      go("transfrom")
      vim.lsp.buf.code_action({
        apply = true,
        filter = function(action)
          return action.kind == "quickfix" and action.title:find("`transform`", 1, true) ~= nil
        end,
      })
      wait(function()
        return not lines():find("transfrom")
      end)
      wait(function()
        return not finding("VGL402")
      end)
      return lines()
    end,
  },
  {
    "hover",
    function()
      go("prec(consumes", 1)
      vim.lsp.buf.hover()
      local _, shown = wait(function()
        return floating()
      end), select(2, floating())
      vim.api.nvim_win_close(floating(), true)
      return shown
    end,
  },
  {
    "completion",
    function()
      vim.lsp.completion.enable(true, vim.lsp.get_clients({ bufnr = 0 })[1].id, 0)
      keys("Gostatement T: ab<C-x><C-o>")
      wait(function()
        return vim.fn.pumvisible() == 1
      end)
      local words = vim.tbl_map(function(item)
        return item.abbr ~= "" and item.abbr or item.word
      end, vim.fn.complete_info({ "items" }).items)
      keys("<C-y>")
      wait(function()
        return lines():find("statement T: abs%(%a")
      end)
      local line = vim.api.nvim_get_current_line()
      keys("<Esc><Esc>")
      wait(function()
        return vim.api.nvim_get_mode().mode == "n"
      end)
      keys("dd")
      wait(function()
        return not lines():find("statement T")
      end)
      return { words = words, line = line }
    end,
  },
  {
    "rename",
    function()
      go("consumes(x)", 2)
      vim.lsp.buf.rename("applies")
      wait(function()
        return not lines():find("consumes%(")
      end)
      return lines()
    end,
  },
  {
    "definition",
    function()
      go("prec(applies", 7)
      vim.lsp.buf.definition()
      wait(function()
        return vim.api.nvim_get_current_line():find("^pattern")
      end)
      return vim.api.nvim_get_current_line()
    end,
  },
  {
    "format",
    function()
      go("abs(sample_video")
      keys("i   <Esc>")
      wait(function()
        return lines():find(":    abs")
      end)
      vim.lsp.buf.format({ timeout_ms = SECONDS * 1000 })
      wait(function()
        return not lines():find(":    abs")
      end)
      return lines()
    end,
  },
  {
    "tokens",
    function()
      go("applies(x)")
      local position = vim.api.nvim_win_get_cursor(0)
      local found = wait(function()
        local tokens = vim.lsp.semantic_tokens.get_at_pos(0, position[1] - 1, position[2])
        -- Until the answer for the new text is there, tokens of the older one are moved along.
        return tokens and tokens[1] and tokens[1].end_col == position[2] + #"applies" and tokens[1]
      end)
      return { type = found.type, start = found.start_col, stop = found.end_col }
    end,
  },
  {
    "hints",
    function()
      vim.lsp.inlay_hint.enable(true)
      return vim.tbl_map(
        function(each)
          local label = each.inlay_hint.label
          if type(label) == "table" then
            label = table.concat(vim.tbl_map(function(part)
              return part.value
            end, label))
          end
          return label
        end,
        wait(function()
          local found = vim.lsp.inlay_hint.get({ bufnr = 0 })
          return #found > 0 and found
        end)
      )
    end,
  },
  {
    "lenses",
    function()
      local client = vim.lsp.get_clients({ bufnr = 0 })[1]
      local function ask(method, params)
        local answer = client:request_sync(method, params, SECONDS * 1000, 0)
        return answer and answer.result
      end
      return wait(function()
        local titles = {}
        for _, lens in ipairs(ask("textDocument/codeLens", { textDocument = vim.lsp.util.make_text_document_params() }) or {}) do
          local whole = lens.command and lens or ask("codeLens/resolve", lens)
          table.insert(titles, whole and whole.command and whole.command.title or "")
        end
        return table.concat(titles, "\n"):find("violated") and titles
      end)
    end,
  },
  {
    "verdicts",
    function()
      local space = vim.api.nvim_get_namespaces()["vigil.verdicts"]
      local function shown()
        local found = {}
        for _, each in ipairs(vim.api.nvim_buf_get_extmarks(0, space, 0, -1, { details = true })) do
          local line = vim.api.nvim_buf_get_lines(0, each[2], each[2] + 1, true)[1]
          found[line:match("statement (%w+)") or line] = vim.trim(each[4].sign_text) .. "|" .. each[4].virt_text[1][1]
        end
        return found
      end
      local function known()
        return wait(function()
          local now = shown()
          return now.R3 and now.R3:find("violated") and now
        end)
      end
      local before = known()
      vim.api.nvim_buf_set_lines(0, 0, 0, true, { "// one more line" })
      local edited = shown()
      local after = known()
      vim.cmd("undo")
      return { before = before, edited = edited, after = after }
    end,
  },
  {
    "configuration",
    function()
      vim.cmd("edit! vigil.toml")
      vim.bo.filetype = "toml"
      vim.api.nvim_buf_set_lines(0, -1, -1, true, { "[tools.t]", 'kinds = ["file.raed"]' })
      return wait(function()
        return finding("VGL006")
      end)
    end,
  },
  {
    "quiet",
    function()
      -- What the server prints ends up in Neovim's log.
      local log = io.open(vim.lsp.log.get_filename())
      local text = log and log:read("*a") or ""
      return text
    end,
  },
}

run = coroutine.create(function()
  for _, each in ipairs(steps) do
    step = each[1]
    seen[step] = each[2]()
  end
  finish(nil)
end)

vim.api.nvim_create_autocmd("VimEnter", {
  callback = function()
    local fine, problem = coroutine.resume(run)
    if not fine then
      finish(step .. ": " .. tostring(problem))
    end
  end,
})
