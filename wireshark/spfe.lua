-- SPDX-License-Identifier: MIT OR Apache-2.0 Wireshark dissector for captures of SpaceFibre and
-- SpaceWire traffic (docs/capture.md). To use it:
--
--   wireshark -X lua_script:wireshark/spfe.lua FILE.pcapng
--
-- To install it, copy this file and the folder spfe/ into the folder of Wireshark's personal Lua
-- plugins (Help, About, Folders).

local here = debug.getinfo(1, "S").source:match("^@(.*[/\\])") or ""

local lib = {}
local function load_part(name)
    local part = assert(loadfile(here .. "spfe/" .. name .. ".lua"))()
    return type(part) == "function" and part(lib) or part
end

for _, name in ipairs { "names", "bits", "util", "exchange", "packet", "rmap", "sfrp", "netdev", "ptp",
    "word_fields", "words", "characters" } do
    lib[name] = load_part(name)
end

local names, bits, util = lib.names, lib.bits, lib.util
local proto = Proto("spfe", "Capture of SpaceFibre/SpaceWire")
local f = util.fields(proto, "spfe", {
    { "version", "uint8", "version", "Version", base.DEC },
    { "header", "uint8", "header_bytes", "Header length", base.DEC },
    { "kind", "uint8", "kind", "Record", base.DEC, names.kinds },
    { "link", "uint8", "link", "Link", base.DEC, names.links },
    { "direction", "uint8", "direction", "Recorded at", base.DEC, names.directions },
    { "lane", "uint8", "lane", "Lane", base.DEC },
    { "vc", "uint8", "vc", "Virtual channel", base.DEC },
    { "network", "uint8", "vn", "Virtual network", base.DEC },
    { "ends", "uint8", "end", "End of packet", base.DEC, names.ends },
    { "lanes", "uint8", "lanes", "Data-sending lanes", base.DEC },
    { "flags", "uint16", "flags", "Flags", base.HEX },
    { "error", "bool", "flags.error", "Error", 16, nil, names.flags.ERROR },
    { "fault", "bool", "flags.fault", "Injected fault", 16, nil, names.flags.FAULT },
    { "truncated", "bool", "flags.truncated", "Truncated", 16, nil, names.flags.TRUNCATED },
    { "resent", "bool", "flags.resent", "Resent", 16, nil, names.flags.RESENT },
    { "scrambled", "bool", "flags.scrambled", "Scrambled", 16, nil, names.flags.SCRAMBLED },
    { "plain", "bool", "flags.plain", "Not scrambled", 16, nil, names.flags.PLAIN },
    { "sub_ns", "uint16", "sub_ns", "Picoseconds after the nanosecond", base.DEC },
    { "length", "uint32", "length", "Length", base.DEC },
    { "period", "uint32", "period", "Period (ps)", base.DEC },
    { "id", "uint64", "id", "Identity", base.DEC },
    { "code", "uint16", "event.code", "Event", base.HEX, names.events },
    { "severity", "uint8", "event.severity", "Severity", base.DEC, names.severities },
    { "value", "uint32", "event.value", "Value", base.DEC },
    { "meaning", "string", "event.meaning", "Meaning" },
    { "text", "string", "event.text", "Text" },
    { "channel", "uint8", "broadcast.channel", "Broadcast channel", base.DEC },
    { "b_type", "uint8", "broadcast.type", "Broadcast type", base.HEX },
    { "late", "bool", "broadcast.late", "LATE", 8, nil, 0x01 },
    { "delayed", "bool", "broadcast.delayed", "DELAYED", 8, nil, 0x02 },
    { "data", "bytes", "broadcast.data", "Broadcast data" },
})
local group, severity = expert.group, expert.severity
local e = util.experts(proto, "spfe", {
    { "event_error", "An error of the link", group.PROTOCOL, severity.ERROR },
    { "event_warning", "A warning of the link", group.PROTOCOL, severity.WARN },
    { "injected", "A fault was injected", group.PROTOCOL, severity.NOTE },
    { "version_bad", "Unknown version of the pseudo-header", group.UNDECODED, severity.WARN },
    { "content_bad", "Length of the content differs from the header", group.MALFORMED,
        severity.ERROR },
    { "late_message", "Broadcast message was late", group.PROTOCOL, severity.NOTE },
})

local NONE = 0xff
local interface_name, interface_id = Field.new("frame.interface_name"), Field.new("frame.interface_id")

-- Functions that describe the value of an event, for events whose value has fields or names.
local function change(states, value)
    return util.name(states, value % 256) .. " -> " .. util.name(states, bits.field(value, 8, 8))
end

local meanings = {
    [names.event.LaneState] = function(v) return change(names.lane_states, v) end,
    [names.event.Alignment] = function(v) return change(names.alignment_states, v) end,
    [names.event.LinkReset] = function(v) return change(names.link_reset_states, v) end,
    [names.event.SpaceWireState] = function(v) return change(names.spacewire_states, v) end,
    [names.event.SpaceWireError] = function(v) return util.name(names.spacewire_causes, v) end,
    [names.event.LostSignalSent] = function(v) return util.name(names.lost_signal_causes, v) end,
    [names.event.FarEndLostSignal] = function(v) return util.name(names.lost_signal_causes, v) end,
    [names.event.Misaligned] = function(v) return util.name(names.misaligned_causes, v) end,
    [names.event.PacketDropped] = function(v)
        local reason = util.name(names.drop_reasons, v % 256)
        if not bits.test(v, 16) then return reason end
        return string.format("%s, address %d", reason, bits.field(v, 8, 8))
    end,
}

local function event(content, pinfo, tree)
    pinfo.cols.protocol = "spfe event"
    if content:len() < 8 then return tree:add_proto_expert_info(e.content_bad) end
    local code, value = content(0, 2):le_uint(), content(4, 4):le_uint()
    local item = tree:add_le(f.code, content(0, 2))
    tree:add(f.severity, content(2, 1))
    tree:add_le(f.value, content(4, 4))
    local info = util.name(names.events, code)
    if meanings[code] then
        local meaning = meanings[code](value)
        tree:add(f.meaning, content(4, 4), meaning):set_generated()
        info = info .. ": " .. meaning
    end
    if content:len() > 8 then
        tree:add(f.text, content(8))
        info = info .. " (" .. content(8):string() .. ")"
    end
    pinfo.cols.info = info
    local level = content(2, 1):uint()
    if level == 2 then
        item:add_proto_expert_info(e.event_error, info)
    elseif level == 1 then
        item:add_proto_expert_info(e.event_warning, info)
    elseif math.floor(code / 256) == 6 then
        item:add_proto_expert_info(e.injected, info)
    end
end

local function broadcast(content, pinfo, tree)
    pinfo.cols.protocol = "SpaceFibre"
    if content:len() < 12 then return tree:add_proto_expert_info(e.content_bad) end
    tree:add(f.channel, content(0, 1))
    tree:add(f.b_type, content(1, 1))
    local late = tree:add(f.late, content(2, 1))
    tree:add(f.delayed, content(2, 1))
    tree:add(f.data, content(4, 8))
    local status = content(2, 1):uint()
    if bits.test(status, 0) then late:add_proto_expert_info(e.late_message) end
    pinfo.cols.info = string.format("Broadcast message, channel %d, type 0x%02x%s%s: %s",
        content(0, 1):uint(), content(1, 1):uint(), bits.test(status, 0) and ", LATE" or "",
        bits.test(status, 1) and ", DELAYED" or "", content(4, 8):bytes():tohex(true, " "))
end

local FLAGS = { "error", "fault", "truncated", "resent", "scrambled", "plain" }

-- Shows the pseudo-header and returns the fields that the other parts need.
local function header(tvb, tree)
    tree:add(f.version, tvb(2, 1))
    tree:add(f.header, tvb(3, 1))
    tree:add(f.kind, tvb(4, 1))
    tree:add(f.link, tvb(5, 1))
    tree:add(f.direction, tvb(6, 1))
    for index, key in ipairs { "lane", "vc", "network" } do
        local range = tvb(6 + index, 1)
        if range:uint() ~= NONE then tree:add(f[key], range) end
    end
    tree:add(f.ends, tvb(10, 1))
    if tvb(11, 1):uint() ~= 0 then tree:add(f.lanes, tvb(11, 1)) end
    local flags = tvb(12, 2):le_uint()
    local flag_tree = tree:add_le(f.flags, tvb(12, 2))
    for _, key in ipairs(FLAGS) do flag_tree:add_le(f[key], tvb(12, 2)) end
    tree:add_le(f.sub_ns, tvb(14, 2))
    tree:add_le(f.length, tvb(16, 4))
    if tvb(20, 4):le_uint() ~= 0 then tree:add_le(f.period, tvb(20, 4)) end
    tree:add_le(f.id, tvb(24, 8))
    local scrambled = nil
    if bits.band(flags, names.flags.SCRAMBLED) ~= 0 then scrambled = true end
    if bits.band(flags, names.flags.PLAIN) ~= 0 then scrambled = false end
    local id = interface_id()
    return {
        ends = tvb(10, 1):uint(),
        direction = tvb(6, 1):uint(),
        lane = tvb(7, 1):uint(),
        lanes = tvb(11, 1):uint(),
        cut = bits.band(flags, names.flags.TRUNCATED) ~= 0,
        scrambled = scrambled,
        sub_ns = tvb(14, 2):le_uint(),
        length = tvb(16, 4):le_uint(),
        first = tvb(24, 4):le_uint() + tvb(28, 4):le_uint() * 2 ^ 32,
        interface = id and id.value or 0,
    }
end

-- Sets source and destination from the interface's name: "camera.1>router.3" goes from camera.1 to
-- router.3.
local function ends_of_link(pinfo)
    local name = interface_name()
    local from, to = tostring(name and name.value or ""):match("^(.-)>(.+)$")
    if from then
        pinfo.cols.src, pinfo.cols.dst = from, to
    end
end

local kinds = {
    [names.kind.Packet] = function(content, pinfo, root, about)
        about.place = pinfo.number .. "/0"
        lib.packet.dissect(content, pinfo, root, about)
    end,
    [names.kind.Broadcast] = function(content, pinfo, _, _, tree) broadcast(content, pinfo, tree) end,
    [names.kind.Code] = function(content, pinfo, _, _, tree)
        pinfo.cols.protocol = "SpaceWire"
        if content:len() < 1 then return tree:add_proto_expert_info(e.content_bad) end
        pinfo.cols.info = lib.packet.code(content(0, 1), tree)
    end,
    [names.kind.Event] = function(content, pinfo, _, _, tree) event(content, pinfo, tree) end,
    [names.kind.Words] = function(content, pinfo, root, about)
        lib.words.dissect(content, pinfo, root, about)
    end,
    [names.kind.Frame] = function(content, pinfo, root, about)
        about.frame = true
        lib.words.dissect(content, pinfo, root, about)
    end,
    [names.kind.Characters] = function(content, pinfo, root, about)
        lib.characters.dissect(content, pinfo, root, about)
    end,
}

local UNIT = { [names.kind.Words] = 8, [names.kind.Frame] = 8, [names.kind.Characters] = 2 }

function proto.dissector(tvb, pinfo, root)
    if tvb:len() < 32 or tvb(0, 2):string() ~= "SF" then return 0 end
    pinfo.cols.protocol = "spfe"
    pinfo.cols.info = ""
    ends_of_link(pinfo)
    local bytes = tvb(3, 1):uint()
    local tree = root:add(proto, tvb(0, math.min(math.max(bytes, 32), tvb:len())))
    if tvb(2, 1):uint() ~= 1 then
        tree:add(f.version, tvb(2, 1)):add_proto_expert_info(e.version_bad)
        return tvb:len()
    end
    local about = header(tvb, tree)
    local kind = tvb(4, 1):uint()
    tree:append_text(", " .. util.name(names.kinds, kind))
    local whole = about.length * (UNIT[kind] or 1)
    local fits = bytes >= 32 and bytes <= tvb:len()
    fits = fits and (about.cut and tvb:len() - bytes < whole or tvb:len() - bytes == whole)
    if not fits or not kinds[kind] then
        tree:add_proto_expert_info(e.content_bad)
        return tvb:len()
    end
    if tvb:len() == bytes then
        kinds[kind](util.buffer("", "Empty"), pinfo, root, about, tree)
    else
        kinds[kind](tvb(bytes):tvb(), pinfo, root, about, tree)
    end
    return tvb:len()
end

DissectorTable.get("wtap_encap"):add((wtap_encaps or wtap).USER0, proto)
