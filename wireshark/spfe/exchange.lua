-- SPDX-License-Identifier: MIT OR Apache-2.0
-- Requests and their responses: which belong together, and the time between them.

local M = {}
local Exchange = {}
Exchange.__index = Exchange

local time_field = Field.new("frame.time_epoch")

--- Pairs the requests and responses of a protocol. `fields` has reply_in, reply_to, time and
--- time_ps; `missing` is the expert info of a response without a request. With `parts`, further
--- requests with the key of one that waits belong to it; without, they are copies on other links.
function M.new(fields, missing, parts)
    local self = { fields = fields, missing = missing, parts = parts }
    return setmetatable(self, Exchange):clear()
end

--- Forgets everything, as before a new capture.
function Exchange:clear()
    -- Requests that wait for a response, by their key, and what was found, by place.
    self.waiting, self.found = {}, {}
    return self
end

local function note(self, pinfo, about, key, is_reply)
    local stamp = time_field().value
    local found = {
        number = pinfo.number,
        secs = stamp.secs,
        nsecs = stamp.nsecs,
        ps = about.sub_ns or 0,
    }
    local request = self.waiting[key]
    if is_reply then
        found.request = request
        if request and not request.reply then request.reply = pinfo.number end
    elseif not request or request.reply then
        self.waiting[key] = found
    elseif self.parts then
        found.first = request
    end
    self.found[about.place] = found
    return found
end

--- Finds and shows the request of a response, or the response of a request.
function Exchange:show(pinfo, tree, about, key, is_reply)
    local f = self.fields
    local found = self.found[about.place] or note(self, pinfo, about, key, is_reply)
    local request = found.request
    if is_reply and not request then
        tree:add_proto_expert_info(self.missing)
    elseif is_reply then
        tree:add(f.reply_to, request.number):set_generated()
        local secs, nsecs = found.secs - request.secs, found.nsecs - request.nsecs
        local ps = (secs * 1e9 + nsecs) * 1000 + found.ps - request.ps
        if nsecs < 0 then secs, nsecs = secs - 1, nsecs + 1e9 end
        if ps >= 0 then
            tree:add(f.time, NSTime.new(secs, nsecs)):set_generated()
            tree:add(f.time_ps, UInt64.new(ps % 2 ^ 32, math.floor(ps / 2 ^ 32))):set_generated()
        end
    else
        local reply = (found.first or found).reply
        if reply then tree:add(f.reply_in, reply):set_generated() end
    end
end

return M
