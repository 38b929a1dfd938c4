-- SPDX-License-Identifier: MIT OR Apache-2.0
-- Fields and expert infos of SpaceFibre words.

return function(lib)
    local names, util = lib.names, lib.util
    local M = {}

    function M.fields(proto)
        return util.fields(proto, "spacefibre", {
            { "word", "uint32", "word", "Word", base.HEX },
            { "k", "uint8", "k", "K characters", base.HEX, nil, 0x0f },
            { "name", "string", "name", "Name" },
            { "vc", "uint8", "vc", "Virtual channel", base.DEC },
            { "seq", "uint8", "seq", "SEQ_NUM", base.HEX },
            { "count", "uint8", "seq.count", "Count", base.DEC, nil, 0x7f },
            { "polarity", "bool", "seq.negative", "Negative polarity", 8, nil, 0x80 },
            { "crc8", "uint8", "crc8", "CRC-8", base.HEX },
            { "crc8_good", "bool", "crc8_good", "CRC-8 good" },
            { "crc16", "uint16", "crc16", "CRC-16", base.HEX },
            { "crc16_good", "bool", "crc16_good", "CRC-16 good" },
            { "multiplier", "uint8", "multiplier", "FCT multiplier", base.DEC },
            { "channel", "uint8", "channel", "Broadcast channel", base.DEC },
            { "b_type", "uint8", "b_type", "Broadcast type", base.HEX },
            { "data", "bytes", "broadcast_data", "Broadcast data" },
            { "late", "bool", "late", "LATE", 8, nil, 0x01 },
            { "delayed", "bool", "delayed", "DELAYED", 8, nil, 0x02 },
            { "capability", "uint8", "capability", "Capability", base.HEX },
            { "link_reset", "bool", "capability.link_reset", "LinkReset flag", 8, nil, 0x01 },
            { "lane_start", "bool", "capability.lane_start", "LaneStart", 8, nil, 0x02 },
            { "scrambled", "bool", "capability.data_scrambled", "DataScrambled", 8, nil, 0x04 },
            { "multi_lane", "bool", "capability.multi_lane", "Multi-LaneCapable", 8, nil, 0x08 },
            { "switch", "bool", "capability.routing_switch", "RoutingSwitch", 8, nil, 0x10 },
            { "reason", "uint8", "reason", "Standby reason", base.DEC },
            { "cause", "uint8", "cause", "Cause", base.DEC, names.lost_signal_causes, 0x03 },
            { "active", "uint16", "active_lanes", "Active lanes", base.HEX },
            { "lanes", "uint8", "align.lanes", "LANES", base.HEX },
            { "inverse", "uint8", "align.inverse", "iLANES", base.HEX },
            { "payload", "bytes", "payload", "Payload, unscrambled" },
            { "frame_words", "uint32", "frame_words", "Words in frame", base.DEC },
        })
    end

    function M.experts(proto)
        local group, severity = expert.group, expert.severity
        return util.experts(proto, "spacefibre", {
            { "crc8_bad", "CRC-8 is bad", group.CHECKSUM, severity.ERROR },
            { "crc16_bad", "CRC-16 of data frame is bad", group.CHECKSUM, severity.ERROR },
            { "rxerr", "Word lost or damaged (RXERR)", group.PROTOCOL, severity.ERROR },
            { "unknown", "Unknown control word: ignored by receivers", group.PROTOCOL, severity.WARN },
            { "characters", "Invalid K character in a data word", group.PROTOCOL,
                severity.ERROR },
            { "frame_error", "Frame error: word not allowed here", group.PROTOCOL, severity.ERROR },
            { "eep", "Error end of packet", group.PROTOCOL, severity.ERROR },
            { "nack", "NACK requests error recovery", group.SEQUENCE, severity.NOTE },
            { "retry", "The following data is sent again", group.SEQUENCE, severity.NOTE },
            { "lost", "The lane starts again after an error", group.PROTOCOL, severity.WARN },
            { "align_bad", "iLANES is not the inverse of LANES", group.PROTOCOL, severity.ERROR },
            { "fault", "A fault was injected into this word", group.COMMENTS_GROUP, severity.NOTE },
        })
    end

    return M
end
