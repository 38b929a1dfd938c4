-- SPDX-License-Identifier: MIT OR Apache-2.0
-- Characters of a SpaceWire link (ECSS-E-ST-50-12C 5.4).

return function(lib)
    local names, util, packet = lib.names, lib.util, lib.packet
    local proto = Proto("spacewire_characters", "SpaceWire Characters")
    local f = util.fields(proto, "spacewire_characters", {
        { "kind", "uint8", "kind", "Character", base.DEC, names.characters },
        { "value", "uint8", "value", "Value", base.HEX },
    })
    local e = util.experts(proto, "spacewire_characters", {
        { "parity", "Parity error", expert.group.PROTOCOL, expert.severity.ERROR },
        { "escape", "Escape error", expert.group.PROTOCOL, expert.severity.ERROR },
    })
    local CHARACTER, PACKET_MAX = 2, 65536
    local DATA, EOP, EEP, CODE, PARITY, ESCAPE = 0, 1, 2, 5, 6, 7
    local carried = util.carried()

    function proto.init()
        carried:clear()
    end

    -- Adds a character to the current packet. Returns the packet if it is complete.
    local function collect(state, parts, kind, value)
        if kind == DATA then
            parts[#parts + 1] = string.char(value)
        elseif kind == EOP or kind == EEP then
            local bytes = state.bytes .. table.concat(parts)
            state.bytes = ""
            local long = state.long
            state.long = false
            return not long and { bytes = bytes, ends = kind } or nil, {}
        elseif kind == PARITY or kind == ESCAPE then
            state.bytes = ""
            return nil, {}
        end
        return nil, parts
    end

    local M = { proto = proto }

    --- Dissects characters. `about` has: interface, direction, first, sub_ns.
    function M.dissect(tvb, pinfo, root, about)
        pinfo.cols.protocol = "SpaceWire"
        local key = string.format("%d/%d", about.interface, about.direction)
        local state = carried:begin(pinfo, key, { bytes = "", long = false })
        local count = math.floor(tvb:len() / CHARACTER)
        local tree = root:add(proto, tvb())
        local parts, complete, counts, order = {}, {}, {}, {}
        for index = 0, count - 1 do
            local range = tvb(index * CHARACTER, CHARACTER)
            local kind, value = range(0, 1):uint(), range(1, 1):uint()
            local name = util.name(names.characters, kind)
            local item = tree:add(proto, range)
            item:add(f.kind, range(0, 1))
            local text = name
            if kind == DATA then
                item:add(f.value, range(1, 1))
                text = string.format("Data 0x%02x", value)
            elseif kind == CODE then
                text = packet.code(range(1, 1), item)
            elseif kind == PARITY then
                item:add_proto_expert_info(e.parity)
            elseif kind == ESCAPE then
                item:add_proto_expert_info(e.escape)
            end
            item:set_text(string.format("Character %.0f: %s", about.first + index, text))
            if not counts[name] then order[#order + 1] = name end
            counts[name] = (counts[name] or 0) + 1
            local done
            done, parts = collect(state, parts, kind, value)
            if done then complete[#complete + 1] = done end
        end
        state.bytes = state.bytes .. table.concat(parts)
        if #state.bytes > PACKET_MAX then state.bytes, state.long = "", true end
        carried:leave(pinfo, key, state)
        for number, one in ipairs(complete) do
            packet.dissect(util.buffer(one.bytes, "Packet"), pinfo, root, {
                ends = one.ends, cut = false, length = #one.bytes, sub_ns = about.sub_ns,
                place = pinfo.number .. "/" .. number,
            })
        end
        local texts = {}
        for _, name in ipairs(order) do texts[#texts + 1] = string.format("%d %s", counts[name], name) end
        pinfo.cols.info = string.format("%d characters: %s", count, table.concat(texts, ", "))
    end

    return M
end
