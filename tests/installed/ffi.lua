-- Calls the installed library through LuaJIT's ffi, with the declarations of reprise.h itself after a preprocessor.
--   usage: luajit ffi.lua LIBRARY DECLARATIONS DIRECTORY
local ffi = require "ffi"
local declarations = assert(io.open(arg[2])):read "*a"
ffi.cdef(declarations)
local c = ffi.load(arg[1])

local function sized(kind, values)
    local out = ffi.new("struct " .. kind, values)
    out.size = ffi.sizeof(out)
    return out
end

local function check(code, e)
    if code ~= c.REPRISE_OK then error(ffi.string(e.message), 2) end
end

-- A call that hands out a handle of this type before the error.
local function make(kind, f, ...)
    local out, e, args = ffi.new("struct " .. kind .. " *[1]"), ffi.new "struct reprise_error", { ... }
    local n = select("#", ...)
    args[n + 1], args[n + 2] = out, e
    check(f(unpack(args, 1, n + 2)), e)
    return out[0]
end

local function texts(list)
    local size, out = ffi.new "size_t[1]", {}
    for i = 0, tonumber(c.reprise_texts_count(list)) - 1 do
        local text = c.reprise_texts_at(list, i, size)
        out[#out + 1] = ffi.string(text, size[0])
    end
    c.reprise_texts_free(list)
    return out
end

-- A struct does not keep a text alive that it points to; these locals do.
local home, path = "HOME=" .. arg[3] .. "/home", arg[3] .. "/lua"
local environment = ffi.new "const char *[2]"
environment[0] = home
local options = sized("reprise_options", { system = "goat", path = path, environment = environment,
                                           flags = c.REPRISE_OPEN_CREATE })
local stores = make("reprise", c.reprise_open, options)
local request = sized("reprise_create_request", { id = "lua-1", title = "From Lua" })
local session = make("reprise_session", c.reprise_create, stores, request)
local row = '{"uuid":"m-1","role":"user","content":"moon"}\n'
local ids = texts(make("reprise_texts", c.reprise_append, session, row, #row, 0))
assert(#ids == 1 and ids[1] == "m-1")

local messages = texts(make("reprise_texts", c.reprise_messages, session, nil))
assert(#messages == 1 and messages[1]:find('"content":"moon"', 1, true), messages[1])

local rows = make("reprise_rows", c.reprise_list, stores, nil)
local first = c.reprise_rows_at(rows, 0)
assert(ffi.string(first.id) == "lua-1" and ffi.string(first.title) == "From Lua")
assert(c.reprise_rows_at(rows, 1) == nil)
assert(not pcall(make, "reprise_session", c.reprise_session_open, stores, "no such session"))

c.reprise_rows_free(rows)

-- A copy, which goes on from the first message; it is deleted and comes back.
local fork = sized("reprise_fork_request", { id = "lua-2", at = "m-1" })
local copy, e = ffi.new "struct reprise_session *[1]", ffi.new "struct reprise_error"
check(c.reprise_fork(session, fork, nil, copy, e), e)
local bundle = texts(make("reprise_texts", c.reprise_restore, copy[0], nil))
assert(bundle[1]:find('"sessionId":"lua-2"', 1, true), bundle[1])
local change = sized("reprise_change", {})
check(c.reprise_rename(copy[0], "Again", change, e), e)
check(c.reprise_undo(stores, change.id, nil, e), e)
check(c.reprise_delete(copy[0], 0, nil, e), e)
local trash = make("reprise_trash", c.reprise_list_trash, stores)
assert(c.reprise_trash_count(trash) == 1 and ffi.string(c.reprise_trash_at(trash, 0).session) == "lua-2")
check(c.reprise_trash_restore(stores, c.reprise_trash_at(trash, 0).id, 0, e), e)
c.reprise_trash_free(trash)
c.reprise_session_close(copy[0])
c.reprise_session_close(session)
c.reprise_close(stores)
print("lua " .. ffi.string(c.reprise_version()))
