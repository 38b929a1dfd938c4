-- SPDX-License-Identifier: MIT OR Apache-2.0
-- Ethernet frames over SpaceFibre (docs/netdev.md), versions 1 and 2.

return function(lib)
    local bits, util, packet = lib.bits, lib.util, lib.packet
    local proto = Proto("spfe_netdev", "Ethernet over SpaceFibre")
    local PID, PREFIX, HEADER1, HEADER2, HELLO = 0xf5, 8, 6, 18, 20
    local KINDS = { [0] = "frame", [1] = "hello" }
    local SEGMENTS = {
        [0] = "one segment", [1] = "TCP over IPv4", [4] = "TCP over IPv6", [5] = "UDP",
        [0x81] = "TCP over IPv4 with ECN", [0x84] = "TCP over IPv6 with ECN",
    }
    local f = util.fields(proto, "spfe_netdev", {
        { "target", "uint8", "logical_address", "Logical address", base.HEX },
        { "pid", "uint8", "pid", "Protocol identifier", base.DEC },
        { "version", "uint8", "version", "Version", base.DEC },
        { "kind", "uint8", "kind", "Kind", base.DEC, KINDS },
        { "to", "uint16", "to_node", "To node", base.DEC },
        { "from", "uint16", "from_node", "From node", base.DEC },
        { "flags", "uint8", "flags", "Flags", base.HEX },
        { "needs_checksum", "bool", "flags.needs_checksum", "Checksum to be completed", 8, nil, 0x01 },
        { "verified", "bool", "flags.verified", "Checksum verified by the sender", 8, nil, 0x02 },
        { "segments", "uint8", "segment_kind", "Segments", base.HEX, SEGMENTS },
        { "header", "uint16", "header_bytes", "Length of the headers", base.DEC },
        { "size", "uint16", "segment_bytes", "Payload of a segment", base.DEC },
        { "start", "uint16", "checksum_start", "Checksum covers the frame from", base.DEC },
        { "offset", "uint16", "checksum_offset", "Checksum is behind that by", base.DEC },
        { "ask", "bool", "hello.ask", "Asks for an answer", 8, nil, 0x01 },
        { "seen", "bool", "hello.seen", "Sends version 2 from here on", 8, nil, 0x02 },
        { "highest", "uint8", "hello.version", "Highest version", base.DEC },
        { "features", "uint16", "hello.features", "Can receive", base.HEX },
        { "checksum", "bool", "hello.features.checksum", "Checksums to be completed", 16, nil, 0x0001 },
        { "tcp4", "bool", "hello.features.tcp_ipv4", "Segments of TCP over IPv4", 16, nil, 0x0002 },
        { "tcp6", "bool", "hello.features.tcp_ipv6", "Segments of TCP over IPv6", 16, nil, 0x0004 },
        { "ecn", "bool", "hello.features.tcp_ecn", "Segments of TCP with ECN", 16, nil, 0x0008 },
        { "udp", "bool", "hello.features.udp", "Segments of UDP", 16, nil, 0x0010 },
        { "most", "uint32", "hello.packet_max", "Longest packet", base.DEC },
    })
    local e = util.experts(proto, "spfe_netdev", {
        { "short", "Packet ends in its header", expert.group.PROTOCOL, expert.severity.ERROR },
        { "kind_bad", "Unknown kind of packet", expert.group.PROTOCOL, expert.severity.WARN },
        { "offload_bad", "Checksum or segments do not fit the frame", expert.group.PROTOCOL,
            expert.severity.ERROR },
    })
    local ethernet = Dissector.get("eth_withoutfcs")

    local function frame(tvb, pinfo, root, tree, at)
        if tvb:len() < at + 14 then
            if not packet.current.cut then tree:add_proto_expert_info(e.short) end
            return
        end
        -- Of a frame that the network cut, headers may promise more than there is.
        if packet.current.ends == 2 then return end
        ethernet:call(tvb(at):tvb(), pinfo, root)
    end

    -- The rules of docs/netdev.md that do not depend on the MTU.
    local function fits(flags, kind, size, start, offset, bytes)
        local needs = bits.test(flags, 0)
        if flags > 3 or not SEGMENTS[kind] then return false end
        if needs and (start < 14 or start + offset + 2 > bytes) then return false end
        if kind == 0 then return size == 0 end
        return needs and size > 0
    end

    local function offload(tvb, tree)
        local item = tree:add(f.flags, tvb(8, 1))
        item:add(f.needs_checksum, tvb(8, 1))
        item:add(f.verified, tvb(8, 1))
        local kind_item = tree:add(f.segments, tvb(9, 1))
        for index, key in ipairs { "header", "size", "start", "offset" } do
            tree:add_le(f[key], tvb(8 + 2 * index, 2))
        end
        local kind, size = tvb(9, 1):uint(), tvb(12, 2):le_uint()
        if not packet.current.cut and not fits(tvb(8, 1):uint(), kind, size, tvb(14, 2):le_uint(),
                tvb(16, 2):le_uint(), tvb:len() - HEADER2) then
            item:add_proto_expert_info(e.offload_bad)
        end
        if kind ~= 0 then
            kind_item:append_text(string.format(" of %d bytes", size))
            tree:append_text(string.format(", segments of %d bytes", size))
        end
    end

    local function hello(tvb, pinfo, tree)
        if tvb:len() < HELLO then
            if not packet.current.cut then tree:add_proto_expert_info(e.short) end
            return
        end
        tree:add(f.ask, tvb(8, 1))
        tree:add(f.seen, tvb(8, 1))
        tree:add(f.highest, tvb(9, 1))
        local item = tree:add_le(f.features, tvb(10, 2))
        for _, key in ipairs { "checksum", "tcp4", "tcp6", "ecn", "udp" } do
            item:add_le(f[key], tvb(10, 2))
        end
        tree:add_le(f.most, tvb(12, 4))
        local flags = tvb(8, 1):uint()
        pinfo.cols.info = string.format("Hello%s%s, version %d, packets up to %d bytes",
            bits.test(flags, 0) and ", asks" or "", bits.test(flags, 1) and ", has heard" or "",
            tvb(9, 1):uint(), tvb(12, 4):le_uint())
    end

    local function second(tvb, pinfo, root, tree)
        local kind_item = tree:add(f.kind, tvb(3, 1))
        if tvb:len() < PREFIX then
            if not packet.current.cut then tree:add_proto_expert_info(e.short) end
            return
        end
        tree:add_le(f.to, tvb(4, 2))
        tree:add_le(f.from, tvb(6, 2))
        local kind = tvb(3, 1):uint()
        if kind == 1 then return hello(tvb, pinfo, tree) end
        if kind ~= 0 then return kind_item:add_proto_expert_info(e.kind_bad) end
        if tvb:len() >= HEADER2 then offload(tvb, tree) end
        frame(tvb, pinfo, root, tree, HEADER2)
    end

    function proto.dissector(tvb, pinfo, root)
        local version = tvb(2, 1):uint()
        -- Other protocols of projects have the same identifier.
        if version ~= 1 and version ~= 2 then
            Dissector.get("sfrp"):call(tvb, pinfo, root)
            return tvb:len()
        end
        pinfo.cols.protocol = "spfe netdev"
        pinfo.cols.info = "Ethernet over SpaceFibre, incomplete"
        local tree = root:add(proto, tvb(0, math.min(tvb:len(), version == 1 and HEADER1 or HEADER2)))
        tree:add(f.target, tvb(0, 1))
        tree:add(f.pid, tvb(1, 1))
        tree:add(f.version, tvb(2, 1))
        if tvb:len() < 4 then
            if not packet.current.cut then tree:add_proto_expert_info(e.short) end
        elseif version == 1 then
            frame(tvb, pinfo, root, tree, HEADER1)
        else
            second(tvb, pinfo, root, tree)
        end
        return tvb:len()
    end

    local others = packet.accepts[PID]
    packet.pids:add(PID, proto)
    packet.accepts[PID] = function(range)
        local version = range:len() >= 3 and range:range(2, 1):uint() or 0
        return version == 1 or version == 2 or others(range)
    end
end
