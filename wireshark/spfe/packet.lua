-- SPDX-License-Identifier: MIT OR Apache-2.0
-- Packets of SpaceWire and SpaceFibre: path, logical address, protocol identifier
-- (ECSS-E-ST-50-12C 5.6, ECSS-E-ST-50-51C).

return function(lib)
    local names, util = lib.names, lib.util
    local proto = Proto("spacewire", "SpaceWire Packet")
    local f = util.fields(proto, "spacewire", {
        { "path", "bytes", "path", "Path address" },
        { "target", "uint8", "logical_address", "Logical address", base.HEX },
        { "pid", "uint8", "pid", "Protocol identifier", base.DEC, names.pids },
        { "extended", "uint16", "extended_pid", "Extended protocol identifier", base.HEX },
        { "cargo", "bytes", "cargo", "Cargo" },
        { "end", "uint8", "end", "End of packet", base.DEC, names.ends },
        { "length", "uint32", "length", "Length", base.DEC },
        { "time_code", "uint8", "time_code", "Time-code", base.DEC },
        { "interrupt", "uint8", "interrupt", "Interrupt", base.DEC },
        { "acknowledge", "uint8", "interrupt_acknowledge", "Interrupt acknowledge", base.DEC },
        { "code", "uint8", "broadcast_code", "Broadcast code", base.HEX },
    })
    local e = util.experts(proto, "spacewire", {
        { "eep", "Error end of packet: the network cut it", expert.group.PROTOCOL, expert.severity.ERROR },
        { "empty", "Packet without a data character", expert.group.PROTOCOL, expert.severity.WARN },
        { "reserved_pid", "Reserved protocol identifier: receivers discard it", expert.group.PROTOCOL,
            expert.severity.WARN },
        { "reserved_code", "Reserved type of broadcast code", expert.group.PROTOCOL, expert.severity.WARN },
    })
    proto.prefs.guess = Pref.bool("Leading bytes below 32 are path addresses", true,
        "Treat bytes 0 to 31 at the start of a packet as path addresses that are not yet deleted")
    proto.prefs.skip = Pref.uint("Bytes before the logical address", 0,
        "Always treat this many bytes as addresses")
    local pids = DissectorTable.new("spacewire.pid", "SpaceWire protocol identifier", ftypes.UINT8,
        base.DEC, proto)

    -- For protocol identifiers that several protocols use: tells from the packet whether it belongs
    -- to the dissector in the table. (A dissector that refuses leaves the bytes to Wireshark.)
    local accepts = {}

    local M = { proto = proto, pids = pids, accepts = accepts }

    --- The packet that is being dissected, for dissectors in the table `spacewire.pid`.
    M.current = { ends = 0, cut = false, place = "" }

    local function path_bytes(tvb)
        local count = math.min(proto.prefs.skip, tvb:len())
        if proto.prefs.guess then
            while count < tvb:len() and tvb(count, 1):uint() < 32 do count = count + 1 end
        end
        return count
    end

    -- Calls the dissector of the packet's protocol, or shows the bytes if there is none. Returns
    -- the name of an undissected protocol.
    local function cargo(tvb, pinfo, root, tree, from)
        local pid = tvb(from + 1, 1):uint()
        local item = tree:add(f.pid, tvb(from + 1, 1))
        local start, what = from + 2, string.format("PID %d", pid)
        if pid == 255 then
            item:add_proto_expert_info(e.reserved_pid)
        elseif pid == 0 and tvb:len() >= from + 4 then
            local extended = tvb(from + 2, 2)
            what = string.format("extended PID 0x%04x", extended:uint())
            local extended_item = tree:add(f.extended, extended)
            if extended:uint() < 0x100 then extended_item:add_proto_expert_info(e.reserved_pid) end
            start = from + 4
        elseif pid > 0 and pids:get_dissector(pid) and
            (not accepts[pid] or accepts[pid](tvb(from))) and pids:try(pid, tvb(from):tvb(), pinfo, root) > 0 then
            return nil
        end
        if tvb:len() > start then tree:add(f.cargo, tvb(start)) end
        return what
    end

    --- Dissects a packet. `about` has: ends (0 none, 1 EOP, 2 EEP), cut (at the snapshot length),
    --- place (unique within the capture), length (of the uncut packet).
    function M.dissect(tvb, pinfo, root, about)
        M.current = about
        pinfo.cols.protocol = "SpaceWire"
        local tree = root:add(proto, tvb())
        local what
        local path = path_bytes(tvb)
        if path > 0 then tree:add(f.path, tvb(0, path)) end
        if tvb:len() > path then tree:add(f.target, tvb(path, 1)) end
        if tvb:len() >= path + 2 then
            what = cargo(tvb, pinfo, root, tree, path)
        elseif about.length == 0 then
            tree:add_proto_expert_info(e.empty)
            what = "empty"
        else
            what = "without protocol identifier"
        end
        tree:add(f.length, about.length):set_generated()
        local ends = tree:add(f["end"], about.ends):set_generated()
        tree:append_text(string.format(": %d bytes, %s", about.length, util.name(names.ends, about.ends)))
        if what then pinfo.cols.info = string.format("Packet, %d bytes, %s", about.length, what) end
        if about.ends == 2 then
            ends:add_proto_expert_info(e.eep)
            pinfo.cols.info:append(" [EEP]")
        end
        if path > 0 then
            pinfo.cols.info:append(string.format(" (path %s)", tvb(0, path):bytes():tohex(true, " ")))
        end
    end

    --- Dissects a broadcast code: time-code, interrupt or acknowledgement. Returns its text.
    function M.code(range, tree)
        local code = range:uint()
        local kind, value = math.floor(code / 32), code % 32
        local item = tree:add(f.code, range)
        if kind < 2 then
            tree:add(f.time_code, range, code):set_generated()
            return string.format("Time-code %d", code)
        elseif kind == 4 then
            tree:add(f.interrupt, range, value):set_generated()
            return string.format("Interrupt %d", value)
        elseif kind == 5 then
            tree:add(f.acknowledge, range, value):set_generated()
            return string.format("Interrupt acknowledge %d", value)
        end
        item:add_proto_expert_info(e.reserved_code)
        return string.format("Reserved broadcast code 0x%02x", code)
    end

    -- Entry for a call by name with a whole packet, without a pseudo-header.
    function proto.dissector(tvb, pinfo, root)
        local about = { ends = 1, cut = false, place = pinfo.number .. "/0", length = tvb:len() }
        M.dissect(tvb, pinfo, root, about)
        return tvb:len()
    end

    return M
end
