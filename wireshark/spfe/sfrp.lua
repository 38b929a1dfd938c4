-- SPDX-License-Identifier: MIT OR Apache-2.0
-- RDMA over SpaceFibre (docs/rdma.md).

return function(lib)
    local bits, names, util, packet = lib.bits, lib.names, lib.util, lib.packet
    local proto = Proto("sfrp", "SFRP")
    local VERSION, BASE_BYTES, FIRST_PID, LAST_PID = 1, 40, 0xf0, 0xfe
    local RESPONSE, IN_HEADER = 0x80, 2
    local OP = {}
    for code, name in pairs(names.sfrp_opcodes) do OP[name] = code end
    local f = util.fields(proto, "sfrp", {
        { "receiver", "uint8", "receiver", "Logical address of the receiver", base.HEX },
        { "pid", "uint8", "pid", "Protocol identifier", base.DEC },
        { "version", "uint8", "version", "Version", base.DEC, nil, 0xf0 },
        { "header_words", "uint8", "header_length", "Header length (8 bytes)", base.DEC, nil, 0x0f },
        { "response", "bool", "response", "Response", 8, nil, RESPONSE },
        { "opcode", "uint8", "opcode", "Opcode", base.DEC, names.sfrp_opcodes, 0x7f },
        { "flags", "uint8", "flags", "Flags", base.HEX },
        { "ack", "bool", "flags.ack", "Acknowledgement requested", 8, nil, 0x80 },
        { "first", "bool", "flags.first", "First packet of the message", 8, nil, 0x40 },
        { "last", "bool", "flags.last", "Last packet of the message", 8, nil, 0x20 },
        { "has_crc", "bool", "flags.crc", "Payload CRC", 8, nil, 0x10 },
        { "has_immediate", "bool", "flags.immediate", "Immediate data", 8, nil, 0x08 },
        { "solicited", "bool", "flags.solicited", "Solicited", 8, nil, 0x04 },
        { "retry", "bool", "flags.retry", "Sent again", 8, nil, 0x02 },
        { "status", "uint8", "status", "Status", base.DEC, names.sfrp_status },
        { "vc", "uint8", "response_vc", "Virtual channel of the response", base.DEC,
            { [255] = "that of arrival" } },
        { "sender", "uint8", "sender", "Logical address of the sender", base.HEX },
        { "path_bytes", "uint8", "reply_path_length", "Bytes of the reply path", base.DEC },
        { "sender_queue", "uint16", "sender_queue", "Queue pair of the sender", base.DEC },
        { "receiver_queue", "uint16", "receiver_queue", "Queue pair of the receiver", base.DEC },
        { "request", "uint32", "request", "Request", base.HEX },
        { "key", "uint32", "key", "Key of the region", base.HEX },
        { "length", "uint32", "length", "Length", base.DEC },
        { "address", "uint64", "address", "Address", base.HEX },
        { "offset", "uint64", "offset", "Offset", base.DEC },
        { "executed", "uint64", "executed", "Bytes executed", base.DEC },
        { "total", "uint32", "message_length", "Length of the message", base.DEC },
        { "message_offset", "uint32", "message_offset", "Offset in the message", base.DEC },
        { "immediate", "uint32", "immediate", "Immediate data", base.HEX },
        { "credit", "uint32", "credit", "Receive buffers posted since the start", base.DEC },
        { "expected", "uint32", "expected", "Expected message", base.DEC },
        { "wait", "uint32", "wait", "Time to wait (us)", base.DEC },
        { "sequence", "uint16", "sequence", "Message", base.DEC },
        { "path", "bytes", "reply_path", "Reply path" },
        { "header_crc", "uint16", "header_crc", "Header CRC", base.HEX },
        { "header_good", "bool", "header_crc_good", "Header CRC good" },
        { "payload", "bytes", "payload", "Payload" },
        { "crc", "uint32", "payload_crc", "Payload CRC", base.HEX },
        { "good", "bool", "payload_crc_good", "Payload CRC good" },
        { "reply_in", "framenum", "response_in", "Response in", base.NONE, frametype.RESPONSE },
        { "reply_to", "framenum", "response_to", "Response to", base.NONE, frametype.REQUEST },
        { "time", "relative_time", "time", "Response time" },
        { "time_ps", "uint64", "time_ps", "Response time (ps)", base.DEC },
    })
    local group, severity = expert.group, expert.severity
    local e = util.experts(proto, "sfrp", {
        { "short", "Packet ends in its header", group.PROTOCOL, severity.ERROR },
        { "header_length_bad", "Header length is not 5 to 8", group.PROTOCOL, severity.ERROR },
        { "header_crc_bad", "Header CRC is bad: nothing in the packet can be trusted", group.CHECKSUM,
            severity.ERROR },
        { "crc_bad", "Payload CRC is bad", group.CHECKSUM, severity.ERROR },
        { "early_end", "Packet ends before its payload does", group.PROTOCOL, severity.ERROR },
        { "too_much", "Packet continues after its payload", group.PROTOCOL, severity.ERROR },
        { "opcode_bad", "Unknown opcode", group.PROTOCOL, severity.WARN },
        { "refused", "The target refused or failed", group.RESPONSE_CODE, severity.WARN },
        { "sent_again", "Sent again by the initiator", group.SEQUENCE, severity.NOTE },
        { "no_request", "Response without a request in this capture", group.SEQUENCE, severity.NOTE },
    })
    local exchange = lib.exchange.new(f, e.no_request, true)

    function proto.init()
        exchange:clear()
    end

    local function checked(tvb, tree, at, bytes, crc, field, good, bad)
        local is_good = tvb(at, bytes):uint() == crc
        local item = tree:add(field, tvb(at, bytes))
        tree:add(good, tvb(at, bytes), is_good):set_generated()
        if not is_good then
            item:append_text(string.format(" (0x%0" .. 2 * bytes .. "x expected)", crc))
            item:add_proto_expert_info(bad)
        end
        return is_good
    end

    -- Whether a packet has a payload of `length` bytes. LEN of a READ is what is wanted.
    local function has_payload(code, is_response)
        if code == OP.READ then return is_response end
        return not is_response and (code == OP.WRITE or code == OP.SEND) or code == OP.FETCH_ADD or
            code == OP.CMP_SWAP or is_response and (code == OP.INFO or code == OP.REGIONS)
    end

    local function show_address(tvb, tree, code, is_response)
        local range = tvb(24, 8)
        if code == OP.SEND and not is_response then
            tree:add(f.total, tvb(24, 4))
            tree:add(f.message_offset, tvb(28, 4))
        elseif is_response then
            tree:add(code == OP.READ and f.offset or f.executed, range)
        else
            tree:add(f.address, range)
        end
    end

    -- IMM means what flags, opcode and status make of it.
    local function show_immediate(tvb, tree, code, flags, status)
        local field
        if bits.test(flags, 3) then
            field = f.immediate
        elseif code == OP.CREDIT or code == OP.CONNECT and status == 0 then
            field = f.credit
        elseif status == 7 or status == 14 then
            field = f.wait
        elseif status == 16 then
            field = f.expected
        end
        if field then tree:add(field, tvb(32, 4)) end
    end

    local function show_flags(tvb, tree, is_response)
        local item = tree:add(f.flags, tvb(4, 1))
        for _, key in ipairs { "ack", "first", "last", "has_crc", "has_immediate", "solicited", "retry" } do
            item:add(f[key], tvb(4, 1))
        end
        local flags = tvb(4, 1):uint()
        if bits.test(flags, 1) and not is_response then item:add_proto_expert_info(e.sent_again) end
        return flags
    end

    -- Shows the payload, and its CRC if there is one.
    local function body(tvb, tree, about, from, count, with_crc)
        local there, wanted = tvb:len() - from, count + (with_crc and 4 or 0)
        if there < wanted then
            if there > 0 then tree:add(f.payload, tvb(from, math.min(there, count))) end
            if not about.cut then tree:add_proto_expert_info(e.early_end) end
            return
        end
        if count > 0 then tree:add(f.payload, tvb(from, count)) end
        if with_crc then
            checked(tvb, tree, from + count, 4, bits.crc32c(tvb, from, count), f.crc, f.good, e.crc_bad)
        end
        if there > wanted then tree:add_proto_expert_info(e.too_much) end
    end

    local function summary(tvb, name, is_response, status, length)
        local what = string.format("SFRP %s%s", name, is_response and " response" or "")
        if is_response and status ~= 0 then
            what = string.format("%s, %s", what, util.name(names.sfrp_status, status))
        end
        return string.format("%s, %d bytes, queue pairs %d to %d, message %d", what, length,
            tvb(8, 2):uint(), tvb(10, 2):uint(), tvb(36, 2):uint())
    end

    -- Other protocols of projects have the same identifiers.
    local function is_ours(range)
        return range:len() >= 3 and bits.field(range:range(2, 1):uint(), 4, 4) == VERSION
    end

    function proto.dissector(tvb, pinfo, root)
        local about = packet.current
        pinfo.cols.protocol = "SFRP"
        local tree = root:add(proto, tvb())
        tree:add(f.receiver, tvb(0, 1))
        tree:add(f.pid, tvb(1, 1))
        tree:add(f.version, tvb(2, 1))
        local words_item = tree:add(f.header_words, tvb(2, 1))
        local header = 8 * (tvb(2, 1):uint() % 16)
        pinfo.cols.info = "SFRP, incomplete"
        if header < BASE_BYTES or header > 64 then
            words_item:add_proto_expert_info(e.header_length_bad)
            return tvb:len()
        end
        if tvb:len() < header then
            if not about.cut then tree:add_proto_expert_info(e.short) end
            return tvb:len()
        end
        local op = tvb(3, 1):uint()
        local is_response, code = op >= RESPONSE, op % RESPONSE
        tree:add(f.response, tvb(3, 1))
        local opcode_item = tree:add(f.opcode, tvb(3, 1))
        local name = names.sfrp_opcodes[code]
        if not name then opcode_item:add_proto_expert_info(e.opcode_bad) end
        name = name or string.format("opcode %d", code)
        local flags = show_flags(tvb, tree, is_response)
        local status = is_response and tvb(5, 1):uint() or 0
        local status_item = tree:add(is_response and f.status or f.vc, tvb(5, 1))
        tree:add(f.sender, tvb(6, 1))
        tree:add(f.path_bytes, tvb(7, 1))
        tree:add(f.sender_queue, tvb(8, 2))
        tree:add(f.receiver_queue, tvb(10, 2))
        tree:add(f.request, tvb(12, 4))
        tree:add(f.key, tvb(16, 4))
        tree:add(f.length, tvb(20, 4))
        show_address(tvb, tree, code, is_response)
        show_immediate(tvb, tree, code, flags, status)
        tree:add(f.sequence, tvb(36, 2))
        local path = math.min(tvb(7, 1):uint(), header - BASE_BYTES)
        if path > 0 then tree:add(f.path, tvb(38, path)) end
        local length = tvb(20, 4):uint()
        pinfo.cols.info = summary(tvb, name, is_response, status, length)
        local crc = bits.crc16_header(tvb, 0, header - IN_HEADER)
        if not checked(tvb, tree, header - IN_HEADER, 2, crc, f.header_crc, f.header_good,
                e.header_crc_bad) then
            pinfo.cols.info:append(" [bad header CRC]")
            return tvb:len()
        end
        if status ~= 0 then status_item:add_proto_expert_info(e.refused) end
        local count = has_payload(code, is_response) and status == 0 and length or 0
        body(tvb, tree, about, header, count, bits.test(flags, 4))
        if code == OP.CREDIT then return tvb:len() end
        local own, far = { 6, 8, 0, 10 }, { 0, 10, 6, 8 }
        local side = is_response and far or own
        local key = string.format("%d.%d/%d.%d/%d", tvb(side[1], 1):uint(), tvb(side[2], 2):uint(),
            tvb(side[3], 1):uint(), tvb(side[4], 2):uint(), tvb(12, 4):uint())
        exchange:show(pinfo, tree, about, key, is_response)
        return tvb:len()
    end

    for pid = FIRST_PID, LAST_PID do
        packet.pids:add(pid, proto)
        packet.accepts[pid] = is_ours
    end
end
