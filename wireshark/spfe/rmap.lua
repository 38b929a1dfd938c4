-- SPDX-License-Identifier: MIT OR Apache-2.0
-- Remote memory access protocol (ECSS-E-ST-50-52C).

return function(lib)
    local bits, names, util, packet = lib.bits, lib.names, lib.util, lib.packet
    local proto = Proto("rmap", "RMAP")
    local PID = 1
    local f = util.fields(proto, "rmap", {
        { "target", "uint8", "target", "Target logical address", base.HEX },
        { "initiator", "uint8", "initiator", "Initiator logical address", base.HEX },
        { "pid", "uint8", "pid", "Protocol identifier", base.DEC },
        { "instruction", "uint8", "instruction", "Instruction", base.HEX },
        { "type", "uint8", "packet_type", "Packet type", base.DEC,
            { [0] = "Reply", "Command", "Reserved", "Reserved" }, 0xc0 },
        { "write", "bool", "write", "Write", 8, nil, 0x20 },
        { "verify", "bool", "verify", "Verify data before write", 8, nil, 0x10 },
        { "reply", "bool", "reply", "Reply", 8, nil, 0x08 },
        { "increment", "bool", "increment", "Increment address", 8, nil, 0x04 },
        { "words", "uint8", "reply_address_words", "Reply address length (4 bytes)", base.DEC, nil, 0x03 },
        { "command", "string", "command", "Command" },
        { "key", "uint8", "key", "Key", base.HEX },
        { "reply_address", "bytes", "reply_address", "Reply address" },
        { "transaction", "uint16", "transaction", "Transaction identifier", base.HEX_DEC },
        { "address", "uint64", "address", "Address", base.HEX },
        { "length", "uint24", "length", "Data length", base.DEC },
        { "header_crc", "uint8", "header_crc", "Header CRC", base.HEX },
        { "header_good", "bool", "header_crc_good", "Header CRC good" },
        { "data", "bytes", "data", "Data" },
        { "mask", "bytes", "mask", "Mask" },
        { "data_crc", "uint8", "data_crc", "Data CRC", base.HEX },
        { "data_good", "bool", "data_crc_good", "Data CRC good" },
        { "status", "uint8", "status", "Status", base.DEC, names.rmap_status },
        { "reserved", "uint8", "reserved", "Reserved", base.HEX },
        { "reply_in", "framenum", "reply_in", "Reply in", base.NONE, frametype.RESPONSE },
        { "reply_to", "framenum", "reply_to", "Reply to", base.NONE, frametype.REQUEST },
        { "time", "relative_time", "time", "Response time" },
        { "time_ps", "uint64", "time_ps", "Response time (ps)", base.DEC },
    })
    local group, severity = expert.group, expert.severity
    local e = util.experts(proto, "rmap", {
        { "short", "Packet ends in its header", group.PROTOCOL, severity.ERROR },
        { "header_crc_bad", "Header CRC is bad: nothing in the packet can be trusted", group.CHECKSUM,
            severity.ERROR },
        { "data_crc_bad", "Data CRC is bad", group.CHECKSUM, severity.ERROR },
        { "early_end", "Packet ends before its data does", group.PROTOCOL, severity.ERROR },
        { "too_much", "Packet continues after its data", group.PROTOCOL, severity.ERROR },
        { "packet_type", "Reserved packet type", group.PROTOCOL, severity.ERROR },
        { "code", "Invalid command code", group.PROTOCOL, severity.ERROR },
        { "rmw_length", "Data length of a read-modify-write is not 0, 2, 4, 6 or 8", group.PROTOCOL,
            severity.ERROR },
        { "refused", "The target refused or failed", group.RESPONSE_CODE, severity.WARN },
        { "no_command", "Reply without a command in this capture", group.SEQUENCE, severity.NOTE },
    })

    local exchange = lib.exchange.new(f, e.no_command)

    function proto.init()
        exchange:clear()
    end

    local function code_of(instruction)
        return bits.field(instruction, 2, 4)
    end

    local function command_name(instruction)
        local code = code_of(instruction)
        if code == 2 then return "Read single address" end
        if code == 3 then return "Read" end
        if code == 7 then return "Read-modify-write" end
        if code < 8 then return nil end
        local name = bits.test(instruction, 4) and "Verified write" or "Write"
        if not bits.test(instruction, 2) then name = name .. " single address" end
        return name
    end

    local function show_crc(tvb, tree, at, crc, field, good, bad)
        local is_good = tvb(at, 1):uint() == crc
        local item = tree:add(field, tvb(at, 1))
        tree:add(good, tvb(at, 1), is_good):set_generated()
        if not is_good then
            item:append_text(string.format(" (0x%02x expected)", crc))
            item:add_proto_expert_info(bad)
        end
        return is_good
    end

    -- Dissects `count` bytes of data and their CRC, from byte `from` on.
    local function body(tvb, tree, about, from, count, masked)
        local there = tvb:len() - from
        if there < count + 1 then
            if there > 0 then tree:add(f.data, tvb(from)) end
            if not about.cut then tree:add_proto_expert_info(e.early_end) end
            return
        end
        if count > 0 then
            local half = masked and math.floor(count / 2) or count
            if half > 0 then tree:add(f.data, tvb(from, half)) end
            if count > half then tree:add(f.mask, tvb(from + half, count - half)) end
        end
        local crc = bits.crc8_range(tvb, from, count)
        show_crc(tvb, tree, from + count, crc, f.data_crc, f.data_good, e.data_crc_bad)
        if there > count + 1 then tree:add_proto_expert_info(e.too_much) end
    end

    local function show_instruction(tvb, tree)
        local range = tvb(2, 1)
        local sub = tree:add(f.instruction, range)
        for _, key in ipairs { "type", "write", "verify", "reply", "increment", "words" } do
            sub:add(f[key], range)
        end
        return range:uint(), sub
    end

    local function header_end(tvb, tree, at)
        return show_crc(tvb, tree, at, bits.crc8_range(tvb, 0, at), f.header_crc, f.header_good,
            e.header_crc_bad)
    end

    local function short(tvb, pinfo, tree, about, what)
        if not about.cut then tree:add_proto_expert_info(e.short) end
        pinfo.cols.info = what .. ", incomplete"
        return tvb:len()
    end

    local function dissect_command(tvb, pinfo, tree, about)
        tree:add(f.target, tvb(0, 1))
        tree:add(f.pid, tvb(1, 1))
        local instruction, sub = show_instruction(tvb, tree)
        local name = command_name(instruction)
        local reserved = bits.test(instruction, 7)
        if reserved then sub:add_proto_expert_info(e.packet_type) end
        if not name then sub:add_proto_expert_info(e.code) end
        name = name or string.format("Unused command code %d", code_of(instruction))
        tree:add(f.command, tvb(2, 1), name):set_generated()
        local r = 4 * (instruction % 4)
        if tvb:len() < 16 + r then return short(tvb, pinfo, tree, about, "RMAP " .. name) end
        tree:add(f.key, tvb(3, 1))
        if r > 0 then tree:add(f.reply_address, tvb(4, r)) end
        tree:add(f.initiator, tvb(4 + r, 1))
        local transaction = tvb(5 + r, 2):uint()
        tree:add(f.transaction, tvb(5 + r, 2))
        local high, low = tvb(7 + r, 1):uint(), tvb(8 + r, 4):uint()
        tree:add(f.address, tvb(7 + r, 5), UInt64.new(low, high))
        local length = tvb(12 + r, 3):uint()
        local length_item = tree:add(f.length, tvb(12 + r, 3))
        local good = header_end(tvb, tree, 15 + r)
        pinfo.cols.info = string.format("RMAP %s 0x%02X%08X, %d bytes, transaction %d", name, high, low,
            length, transaction)
        if not good then
            pinfo.cols.info:append(" [bad header CRC]")
            return tvb:len()
        end
        local rmw = code_of(instruction) == 7
        if rmw and (length > 8 or length % 2 == 1) then length_item:add_proto_expert_info(e.rmw_length) end
        if rmw or code_of(instruction) >= 8 then
            body(tvb, tree, about, 16 + r, length, rmw)
        elseif tvb:len() > 16 + r then
            tree:add(f.data, tvb(16 + r))
            tree:add_proto_expert_info(e.too_much)
        end
        if bits.test(instruction, 3) and not reserved then
            local key = string.format("%d/%d/%d", tvb(4 + r, 1):uint(), tvb(0, 1):uint(), transaction)
            exchange:show(pinfo, tree, about, key, false)
        end
        return tvb:len()
    end

    local function dissect_reply(tvb, pinfo, tree, about)
        tree:add(f.initiator, tvb(0, 1))
        tree:add(f.pid, tvb(1, 1))
        local instruction, sub = show_instruction(tvb, tree)
        local name = command_name(instruction)
        if not name then sub:add_proto_expert_info(e.code) end
        name = name or string.format("Unused command code %d", code_of(instruction))
        tree:add(f.command, tvb(2, 1), name):set_generated()
        local is_write = bits.test(instruction, 5)
        local last = is_write and 7 or 11
        if tvb:len() < last + 1 then
            return short(tvb, pinfo, tree, about, "RMAP reply to " .. name)
        end
        local status, transaction = tvb(3, 1):uint(), tvb(5, 2):uint()
        local status_item = tree:add(f.status, tvb(3, 1))
        tree:add(f.target, tvb(4, 1))
        tree:add(f.transaction, tvb(5, 2))
        local length = 0
        if not is_write then
            tree:add(f.reserved, tvb(7, 1))
            length = tvb(8, 3):uint()
            tree:add(f.length, tvb(8, 3))
        end
        pinfo.cols.info = string.format("RMAP reply to %s, %s, %d bytes, transaction %d", name,
            util.name(names.rmap_status, status), length, transaction)
        if not header_end(tvb, tree, last) then
            pinfo.cols.info:append(" [bad header CRC]")
            return tvb:len()
        end
        if status ~= 0 then status_item:add_proto_expert_info(e.refused) end
        if not is_write then
            body(tvb, tree, about, last + 1, length, false)
        elseif tvb:len() > last + 1 then
            tree:add_proto_expert_info(e.too_much)
        end
        local key = string.format("%d/%d/%d", tvb(0, 1):uint(), tvb(4, 1):uint(), transaction)
        exchange:show(pinfo, tree, about, key, true)
        return tvb:len()
    end

    function proto.dissector(tvb, pinfo, root)
        local about = packet.current
        pinfo.cols.protocol = "RMAP"
        local tree = root:add(proto, tvb())
        if tvb:len() < 3 then return short(tvb, pinfo, tree, about, "RMAP") end
        if tvb(2, 1):uint() < 0x40 then return dissect_reply(tvb, pinfo, tree, about) end
        return dissect_command(tvb, pinfo, tree, about)
    end

    packet.pids:add(PID, proto)
end
