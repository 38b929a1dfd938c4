-- SPDX-License-Identifier: MIT OR Apache-2.0
-- CCSDS packet transfer protocol (ECSS-E-ST-50-53C) and the primary header of a space packet
-- (CCSDS 133.0-B 4.1.3).

return function(lib)
    local util, packet = lib.util, lib.packet
    local proto = Proto("ccsds_ptp", "CCSDS Packet Transfer Protocol")
    local PID = 2
    local f = util.fields(proto, "ccsds_ptp", {
        { "target", "uint8", "target", "Target logical address", base.HEX },
        { "pid", "uint8", "pid", "Protocol identifier", base.DEC },
        { "reserved", "uint8", "reserved", "Reserved", base.HEX },
        { "application", "uint8", "user_application", "User application", base.DEC },
        { "version", "uint16", "version", "Packet version number", base.DEC, nil, 0xe000 },
        { "type", "uint16", "type", "Packet type", base.DEC, { [0] = "Telemetry", "Telecommand" }, 0x1000 },
        { "secondary", "bool", "secondary_header", "Secondary header", 16, nil, 0x0800 },
        { "apid", "uint16", "apid", "Application process identifier", base.DEC, nil, 0x07ff },
        { "sequence", "uint16", "sequence_flags", "Sequence flags", base.DEC,
            { [0] = "Continuation", "First", "Last", "Unsegmented" }, 0xc000 },
        { "count", "uint16", "sequence_count", "Sequence count or packet name", base.DEC, nil, 0x3fff },
        { "length", "uint16", "length", "Packet data length minus 1", base.DEC },
        { "data", "bytes", "data", "Packet data" },
    })
    local e = util.experts(proto, "ccsds_ptp", {
        { "short", "Packet ends in its header", expert.group.PROTOCOL, expert.severity.ERROR },
        { "reserved_bad", "Reserved byte is not 0: not delivered", expert.group.PROTOCOL,
            expert.severity.ERROR },
        { "version_bad", "Version of space packet is not 0", expert.group.PROTOCOL, expert.severity.ERROR },
        { "length_bad", "Length of the space packet differs from its header", expert.group.PROTOCOL,
            expert.severity.ERROR },
    })

    local function space_packet(tvb, tree, about)
        local identification, sequence = tvb(4, 2), tvb(6, 2)
        local version = tree:add(f.version, identification)
        tree:add(f.type, identification)
        tree:add(f.secondary, identification)
        tree:add(f.apid, identification)
        tree:add(f.sequence, sequence)
        tree:add(f.count, sequence)
        local length = tree:add(f.length, tvb(8, 2))
        if tvb:len() > 10 then tree:add(f.data, tvb(10)) end
        if identification:uint() >= 0x2000 then version:add_proto_expert_info(e.version_bad) end
        if tvb(8, 2):uint() + 11 ~= tvb:len() and not about.cut then
            length:add_proto_expert_info(e.length_bad)
        end
        return string.format("%s, APID %d, count %d",
            identification:bitfield(3, 1) == 1 and "telecommand" or "telemetry",
            identification:bitfield(5, 11), sequence:bitfield(2, 14))
    end

    function proto.dissector(tvb, pinfo, root)
        local about = packet.current
        pinfo.cols.protocol = "CCSDS PTP"
        local tree = root:add(proto, tvb())
        tree:add(f.target, tvb(0, 1))
        tree:add(f.pid, tvb(1, 1))
        if tvb:len() < 10 then
            if not about.cut then tree:add_proto_expert_info(e.short) end
            pinfo.cols.info = "CCSDS packet transfer, incomplete"
            return tvb:len()
        end
        local reserved = tree:add(f.reserved, tvb(2, 1))
        if tvb(2, 1):uint() ~= 0 then reserved:add_proto_expert_info(e.reserved_bad) end
        tree:add(f.application, tvb(3, 1))
        pinfo.cols.info = string.format("CCSDS packet transfer, application %d, %s", tvb(3, 1):uint(),
            space_packet(tvb, tree, about))
        return tvb:len()
    end

    packet.pids:add(PID, proto)
end
