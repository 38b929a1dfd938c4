-- SPDX-License-Identifier: MIT OR Apache-2.0 Words of a SpaceFibre lane: control words, frames,
-- CRCs, scrambling (ECSS-E-ST-50-11C 5.3, 5.7.6).

return function(lib)
    local bits, names, util, packet = lib.bits, lib.names, lib.util, lib.packet
    local K, S1 = names.k, names.symbol1
    local proto = Proto("spacefibre", "SpaceFibre")
    local f, e = lib.word_fields.fields(proto), lib.word_fields.experts(proto)
    proto.prefs.scrambled = Pref.bool("Data frames are scrambled", true,
        "Used if neither the capture nor an INIT3 word says whether they are")
    proto.prefs.crc_plain = Pref.bool("CRC-16 covers unscrambled words", false,
        "Otherwise it covers the words on the line, which is how spfe reads the standard")

    local M = { proto = proto }
    local carried = util.carried()
    local WORD, RXERR, OFF, FAULT = 8, 0, 1, 2
    -- Maximum number of words of a data frame: 64 for each of 16 lanes.
    local FRAME_WORDS = 1024

    function proto.init()
        carried:clear()
    end

    -- Names of control words by symbol 1 after K28.7, and by symbol 2 of lane control words.
    local comma_names, lane_names, init_names = {}, {}, {}
    for _, name in ipairs { "SDF", "SIF", "ACK", "NACK", "FULL", "SBF", "RETRY", "ACTIVE", "ALIGN" } do
        comma_names[S1[name]] = name
    end
    for name, symbol in pairs(names.lane_symbol2) do
        local place = names.init[name] and init_names or lane_names
        place[symbol] = name
    end

    -- Whether symbol 3 repeats symbol 2, or is a field of this control word.
    local function twice(name, s2, s3)
        return names.symbol3_is_field[name] or s2 == s3
    end

    --- Returns the name of a control word, or nil if it is unknown.
    local function control_name(k, s0, s1, s2, s3)
        if k == 15 and s0 == K.COMMA and s1 == K.FILL and s2 == K.FILL and s3 == K.FILL then return "PAD" end
        if k ~= 1 then return nil end
        if s0 == K.EDF then return "EDF" end
        if s0 == K.EBF then return "EBF" end
        if s0 == K.FCT then return "FCT" end
        if s0 == K.COMMA then
            if s1 ~= names.llcw then return comma_names[s1] end
            local name = lane_names[s2]
            return name and twice(name, s2, s3) and name or nil
        end
        if s0 == K.INIT_COMMA then
            local name = init_names[s2]
            local inverted = name and name:sub(1, 1) == "i"
            if name and s1 == (inverted and names.llcw_inverted or names.llcw) and twice(name, s2, s3) then
                return name
            end
        end
        if s0 == 0 and s1 + s2 + s3 == 0 then return "RXERR" end
        return nil
    end

    local function is_n_chars(k, symbols)
        for index = 0, 3 do
            local symbol = symbols[index + 1]
            if bits.test(k, index) and symbol ~= K.FILL and symbol ~= K.EOP and symbol ~= K.EEP then
                return false
            end
        end
        return true
    end

    local function add_seq(tree, range)
        local item = tree:add(f.seq, range)
        item:add(f.count, range)
        item:add(f.polarity, range)
        return range:uint()
    end

    local function add_crc8(tree, range, expected)
        local good = range:uint() == expected
        local item = tree:add(f.crc8, range)
        tree:add(f.crc8_good, range, good):set_generated()
        if not good then
            item:append_text(string.format(" (0x%02x expected)", expected))
            item:add_proto_expert_info(e.crc8_bad)
        end
        return good
    end

    local function crc8_of(symbols, count, crc)
        for index = 1, count do crc = bits.crc8(crc, symbols[index]) end
        return crc
    end

    local function crc16_of(symbols, count, crc)
        for index = 1, count do crc = bits.crc16(crc, symbols[index]) end
        return crc
    end

    local function fresh()
        return { mode = "N", announced = 0, open = {} }
    end

    local function drop_frame(state)
        state.mode, state.bytes, state.ends, state.words = "N", nil, nil, nil
    end

    local function frame_error(state, tree)
        tree:add_proto_expert_info(e.frame_error)
        drop_frame(state)
    end

    local function in_data_frame(state)
        return state.mode == "D" or state.mode == "BD"
    end

    -- Unscrambles a word of a data frame and takes its N-Chars.
    local function take_data(state, k, symbols, tree)
        state.words = state.words + 1
        if state.words > FRAME_WORDS then return frame_error(state, tree) end
        local plain, bytes = {}, {}
        for index = 0, 3 do
            local symbol, byte = symbols[index + 1], nil
            if state.scrambled then state.prbs, byte = bits.prbs(state.prbs) end
            if bits.test(k, index) then
                plain[index + 1] = symbol
                if symbol ~= K.FILL then
                    local kind = symbol == K.EEP and 2 or 1
                    state.ends[#state.ends + 1] = { at = #state.bytes + #bytes, kind = kind }
                    if kind == 2 then tree:add_proto_expert_info(e.eep) end
                end
            else
                plain[index + 1] = byte and bits.scramble(symbol, byte) or symbol
                bytes[#bytes + 1] = string.char(plain[index + 1])
            end
        end
        state.bytes = state.bytes .. table.concat(bytes)
        state.crc16 = crc16_of(proto.prefs.crc_plain and plain or symbols, 4, state.crc16)
    end

    -- Dissects the packets that lie in a single data frame. Longer ones are not reassembled here.
    local function packets(state, about, pinfo, root)
        local from, whole = 0, not state.open[state.vc]
        for _, mark in ipairs(state.ends) do
            if whole then
                about.occurrence = about.occurrence + 1
                local bytes = state.bytes:sub(from + 1, mark.at)
                local buffer = util.buffer(bytes, string.format("Packet of VC %d", state.vc))
                packet.dissect(buffer, pinfo, root, {
                    ends = mark.kind, cut = false, length = #bytes, sub_ns = about.sub_ns,
                    place = pinfo.number .. "/" .. about.occurrence,
                })
            end
            from, whole = mark.at, true
        end
        state.open[state.vc] = from < #state.bytes or (#state.ends == 0 and not whole)
    end

    local handlers = {}

    function handlers.SDF(state, w, about)
        w.tree:add(f.vc, w.range(2, 1))
        w.text = string.format("VC %d", w.symbols[3])
        if in_data_frame(state) or state.mode == "B" then return frame_error(state, w.tree) end
        state.mode, state.vc, state.words, state.bytes, state.ends = "D", w.symbols[3], 0, "", {}
        state.crc16 = crc16_of(w.symbols, 4, 0xffff)
        state.prbs, state.scrambled = bits.PRBS_SEED, proto.prefs.scrambled
        if state.announced ~= 0 then state.scrambled = state.announced == 1 end
        if about.scrambled ~= nil then state.scrambled = about.scrambled end
    end

    function handlers.EDF(state, w, about, pinfo, root)
        local seq = add_seq(w.tree, w.range(1, 1))
        local item = w.tree:add_le(f.crc16, w.range(2, 2))
        w.text = string.format("SEQ_NUM 0x%02x", seq)
        if state.mode == "N" or state.mode == "I" then
            if state.mode == "I" then frame_error(state, w.tree) end
            return
        elseif state.mode ~= "D" then
            return frame_error(state, w.tree)
        end
        local crc = crc16_of(w.symbols, 2, state.crc16)
        local good = crc == w.range(2, 2):le_uint()
        w.tree:add(f.crc16_good, w.range(2, 2), good):set_generated()
        w.tree:add(f.vc, state.vc):set_generated()
        w.tree:add(f.frame_words, state.words):set_generated()
        w.text = string.format("VC %d, SEQ_NUM 0x%02x, %d words", state.vc, seq, state.words)
        if not good then
            item:append_text(string.format(" (0x%04x expected)", crc))
            item:add_proto_expert_info(e.crc16_bad)
            w.text = w.text .. ", bad CRC-16"
        elseif about.lanes <= 1 then
            if #state.bytes > 0 then
                local buffer = util.buffer(state.bytes, string.format("Data frame of VC %d", state.vc))
                w.tree:add(f.payload, buffer()):set_generated()
            end
            packets(state, about, pinfo, root)
        end
        drop_frame(state)
    end

    function handlers.SBF(state, w)
        w.tree:add(f.channel, w.range(2, 1))
        w.tree:add(f.b_type, w.range(3, 1))
        w.text = string.format("channel %d, type 0x%02x", w.symbols[3], w.symbols[4])
        if state.mode == "B" or state.mode == "BD" then return frame_error(state, w.tree) end
        state.mode = state.mode == "D" and "BD" or "B"
        state.crc8, state.message = crc8_of(w.symbols, 4, 0), ""
    end

    function handlers.EBF(state, w)
        w.tree:add(f.late, w.range(1, 1))
        w.tree:add(f.delayed, w.range(1, 1))
        local seq = add_seq(w.tree, w.range(2, 1))
        w.text = string.format("SEQ_NUM 0x%02x", seq)
        if state.mode == "N" then return end
        if (state.mode ~= "B" and state.mode ~= "BD") or #state.message ~= 8 then
            return frame_error(state, w.tree)
        end
        local good = add_crc8(w.tree, w.range(3, 1), crc8_of(w.symbols, 3, state.crc8))
        w.tree:add(f.data, util.buffer(state.message, "Broadcast data")()):set_generated()
        state.message = nil
        if good then
            state.mode = state.mode == "BD" and "D" or "N"
        else
            drop_frame(state)
        end
    end

    local function single(state, w)
        local seq = add_seq(w.tree, w.range(2, 1))
        w.text = (w.text and w.text .. ", " or "") .. string.format("SEQ_NUM 0x%02x", seq)
        if add_crc8(w.tree, w.range(3, 1), crc8_of(w.symbols, 3, 0)) then return true end
        w.text = w.text .. ", bad CRC-8"
        drop_frame(state)
        return false
    end

    handlers.ACK = single
    handlers.FULL = single

    function handlers.NACK(state, w)
        if single(state, w) then w.tree:add_proto_expert_info(e.nack) end
    end

    function handlers.SIF(state, w)
        if not single(state, w) then return end
        if state.mode ~= "N" and state.mode ~= "I" then return frame_error(state, w.tree) end
        state.mode = "I"
    end

    function handlers.FCT(state, w)
        local symbol = w.symbols[2]
        w.tree:add(f.multiplier, w.range(1, 1), bits.field(symbol, 5, 3) + 1)
        w.tree:add(f.vc, w.range(1, 1), symbol % 32)
        w.text = string.format("VC %d, M %d", symbol % 32, bits.field(symbol, 5, 3) + 1)
        single(state, w)
    end

    function handlers.RETRY(state, w)
        w.tree:add_proto_expert_info(e.retry)
        drop_frame(state)
    end

    function handlers.INIT3(state, w)
        local item = w.tree:add(f.capability, w.range(3, 1))
        for _, key in ipairs { "link_reset", "lane_start", "scrambled", "multi_lane", "switch" } do
            item:add(f[key], w.range(3, 1))
        end
        w.text = string.format("capability 0x%02x", w.symbols[4])
        state.announced = bits.test(w.symbols[4], 2) and 1 or 2
    end

    function handlers.STANDBY(_, w)
        w.tree:add(f.reason, w.range(3, 1))
        w.text = string.format("reason %d", w.symbols[4])
    end

    function handlers.LOST_SIGNAL(_, w)
        w.tree:add(f.cause, w.range(3, 1))
        w.tree:add_proto_expert_info(e.lost)
        w.text = util.name(names.lost_signal_causes, w.symbols[4] % 4)
    end

    function handlers.ACTIVE(_, w)
        w.tree:add_le(f.active, w.range(2, 2))
        w.text = string.format("lanes 0x%04x", w.range(2, 2):le_uint())
    end

    function handlers.ALIGN(_, w)
        local lanes, inverse = w.symbols[3], w.symbols[4]
        w.tree:add(f.lanes, w.range(2, 1))
        local item = w.tree:add(f.inverse, w.range(3, 1))
        if lanes == 0 and inverse == 0 then
            w.text = "hot redundant"
        else
            local number = lanes % 16 == 0 and 16 or lanes % 16
            w.text = string.format("lane %d of %d", math.floor(lanes / 16), number)
            if lanes + inverse ~= 255 then item:add_proto_expert_info(e.align_bad) end
        end
    end

    -- Handles a word of data or N-Chars, depending on the frame that it is in.
    local function data_word(state, w)
        if state.mode == "D" then
            take_data(state, w.k, w.symbols, w.tree)
            return "Data"
        elseif state.mode == "B" or state.mode == "BD" then
            if #state.message >= 8 or w.k ~= 0 then
                frame_error(state, w.tree)
            else
                state.crc8 = crc8_of(w.symbols, 4, state.crc8)
                state.message = state.message .. string.char(table.unpack(w.symbols))
            end
            return "Broadcast data"
        end
        return state.mode == "I" and "Idle data" or "Data outside of frames"
    end

    -- Dissects a word. Returns its name and a description.
    local function word(state, range, tree, about, pinfo, root, number)
        local k, flags = range(4, 1):uint() % 16, range(5, 1):uint()
        local symbols = { range(0, 1):uint(), range(1, 1):uint(), range(2, 1):uint(), range(3, 1):uint() }
        local item = tree:add(proto, range)
        local w = { range = range, symbols = symbols, k = k, tree = item }
        item:add_le(f.word, range(0, 4))
        item:add(f.k, range(4, 1))
        local name
        if bits.test(flags, OFF) then
            name = "Line off"
            drop_frame(state)
        elseif bits.test(flags, RXERR) then
            name = "RXERR"
            item:add_proto_expert_info(e.rxerr)
            drop_frame(state)
        elseif k == 0 then
            name = data_word(state, w)
        else
            name = control_name(k, table.unpack(symbols))
            if name and handlers[name] then
                handlers[name](state, w, about, pinfo, root)
            elseif not name and is_n_chars(k, symbols) then
                name = data_word(state, w)
            elseif not name and k == 1 then
                name = "Unknown control word"
                item:add_proto_expert_info(e.unknown)
            elseif not name then
                name = "Invalid characters"
                item:add_proto_expert_info(e.characters)
                drop_frame(state)
            end
        end
        if bits.test(flags, FAULT) then item:add_proto_expert_info(e.fault) end
        item:add(f.name, range(0, 5), name):set_generated()
        item:set_text(string.format("Word %.0f: %08X/%X  %s%s", number, range(0, 4):le_uint(), k, name,
            w.text and " (" .. w.text .. ")" or ""))
        return name, w.text
    end

    -- Counts of names in the order of their first occurrence, such as "3 INIT1, 1 SDF".
    local function summary(order, counts)
        local parts = {}
        for _, name in ipairs(order) do parts[#parts + 1] = string.format("%d %s", counts[name], name) end
        return table.concat(parts, ", ")
    end

    local FRAME_NAMES = { SDF = "Data frame", SBF = "Broadcast frame", SIF = "Idle frame" }

    --- Dissects words. `about` has: frame (whether the record is a single frame), lane, lanes,
    --- first (number of the first word), scrambled (true, false or nil), interface, sub_ns.
    function M.dissect(tvb, pinfo, root, about)
        pinfo.cols.protocol = "SpaceFibre"
        about.occurrence = 0
        local key = string.format("%d/%d/%d", about.interface, about.direction, about.lane)
        local state = about.frame and fresh() or carried:begin(pinfo, key, fresh())
        local count = math.floor(tvb:len() / WORD)
        local tree = root:add(proto, tvb())
        local order, counts, first, last = {}, {}, nil, nil
        for index = 0, count - 1 do
            local range = tvb(index * WORD, WORD)
            local name, text = word(state, range, tree, about, pinfo, root, about.first + index)
            local says = text and name .. " (" .. text .. ")" or name
            first, last = first or { name = name, says = says }, says
            if not counts[name] then order[#order + 1] = name end
            counts[name] = (counts[name] or 0) + 1
        end
        if not about.frame then carried:leave(pinfo, key, state) end
        local info
        if about.frame and first then
            info = FRAME_NAMES[first.name] and FRAME_NAMES[first.name] .. ": " or ""
            info = info .. first.says .. (count > 1 and " .. " .. last or "")
        else
            info = string.format("Lane %d, %d words: %s", about.lane, count, summary(order, counts))
        end
        tree:append_text(", " .. info)
        if about.occurrence == 0 or not about.frame then
            pinfo.cols.protocol, pinfo.cols.info = "SpaceFibre", info
        else
            pinfo.cols.info:prepend(info .. " | ")
        end
    end

    return M
end
