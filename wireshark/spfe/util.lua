-- SPDX-License-Identifier: MIT OR Apache-2.0
-- Helpers of the dissectors: fields, expert infos, and state that lasts from record to record.

local M = {}

--- Makes the fields of a protocol from a list {key, kind, filter suffix, name, ...}, and sets
--- `proto.fields`.
function M.fields(proto, prefix, list)
    local by_key, all = {}, {}
    for _, row in ipairs(list) do
        local field = ProtoField[row[2]](prefix .. "." .. row[3], table.unpack(row, 4))
        by_key[row[1]] = field
        all[#all + 1] = field
    end
    proto.fields = all
    return by_key
end

--- Makes the expert infos of a protocol from a list {key, text, group, severity}.
function M.experts(proto, prefix, list)
    local by_key, all = {}, {}
    for _, row in ipairs(list) do
        local info = ProtoExpert.new(prefix .. "." .. row[1], row[2], row[3], row[4])
        by_key[row[1]] = info
        all[#all + 1] = info
    end
    proto.experts = all
    return by_key
end

--- Finds a name in a table, or returns "unknown (N)".
function M.name(names, value)
    return names[value] or string.format("unknown (%d)", value)
end

--- Makes a buffer from bytes.
function M.buffer(bytes, name)
    return ByteArray.new(bytes, true):tvb(name)
end

--- State that passes from a record to the next one with the same key.
--
-- Wireshark dissects all records in order once, and then any of them again. So the state at the
-- start of each record is stored by its number: `begin` returns it, and `leave` sets the state at
-- the start of the next record.
local Carried = {}
Carried.__index = Carried

function M.carried()
    return setmetatable({ last = {}, at = {} }, Carried)
end

function Carried:clear()
    self.last, self.at = {}, {}
end

local function copy(state)
    local new = {}
    for key, value in pairs(state) do
        new[key] = type(value) == "table" and copy(value) or value
    end
    return new
end

function Carried:begin(pinfo, key, fresh)
    local place = pinfo.number .. "/" .. key
    if not self.at[place] then
        self.at[place] = self.last[key] or fresh
    end
    return copy(self.at[place])
end

function Carried:leave(pinfo, key, state)
    if not pinfo.visited then self.last[key] = state end
end

return M
