-- SPDX-License-Identifier: MIT OR Apache-2.0
-- Bits, CRCs and the scrambling sequence (ECSS-E-ST-50-11C 5.7.6, ECSS-E-ST-50-52C 5.2).

local M = {}

-- Wireshark up to 4.2 has Lua 5.2 with bit32. Later versions have operators, which Lua 5.2 cannot
-- parse.
local ops = bit32 or load([[return {
    bxor = function(a, b) return a ~ b end,
    band = function(a, b) return a & b end,
    rshift = function(a, n) return a >> n end,
}]])()
local bxor, band, rshift = ops.bxor, ops.band, ops.rshift
M.band = band

--- Extracts `count` bits from bit `low` on.
function M.field(value, low, count)
    return math.floor(value / 2 ^ low) % 2 ^ count
end

--- Whether a bit is set.
function M.test(value, index)
    return math.floor(value / 2 ^ index) % 2 == 1
end

local function crc_table(polynomial)
    local result = {}
    for index = 0, 255 do
        local rest = index
        for _ = 1, 8 do
            local odd = rest % 2 == 1
            rest = rshift(rest, 1)
            if odd then rest = bxor(rest, polynomial) end
        end
        result[index] = rest
    end
    return result
end

local table8, table16 = crc_table(0xe0), crc_table(0x8408)
local table32 = crc_table(0x82f63b78)

-- The table of a CRC-16 that takes the most significant bit first.
local table_header = {}
for index = 0, 255 do
    local rest = index * 256
    for _ = 1, 8 do
        rest = rest * 2
        if rest >= 0x10000 then rest = bxor(rest - 0x10000, 0x1021) end
    end
    table_header[index] = rest
end

--- Adds a byte to a CRC-8 of SpaceFibre words, broadcast frames or RMAP. It starts at 0.
function M.crc8(crc, byte)
    return table8[bxor(crc, byte)]
end

--- Adds a byte to the CRC-16 of a data frame. It starts at 0xffff.
function M.crc16(crc, byte)
    return bxor(rshift(crc, 8), table16[band(bxor(crc, byte), 0xff)])
end

--- CRC-8 over a range of a buffer.
function M.crc8_range(tvb, from, count)
    local bytes, crc = tvb(from, count):bytes(), 0
    for index = 0, count - 1 do
        crc = table8[bxor(crc, bytes:get_index(index))]
    end
    return crc
end

--- CRC-16 of an SFRP header (polynomial 0x1021, seed 0xffff, most significant bit first).
function M.crc16_header(tvb, from, count)
    local bytes, crc = tvb(from, count):bytes(), 0xffff
    for index = 0, count - 1 do
        local top = bxor(rshift(crc, 8), bytes:get_index(index))
        crc = bxor(band(crc * 256, 0xffff), table_header[top])
    end
    return crc
end

--- CRC-32C of an SFRP payload.
function M.crc32c(tvb, from, count)
    local bytes, crc = tvb(from, count):bytes(), 0xffffffff
    for index = 0, count - 1 do
        crc = bxor(rshift(crc, 8), table32[band(bxor(crc, bytes:get_index(index)), 0xff)])
    end
    return bxor(crc, 0xffffffff)
end

M.PRBS_SEED = 0xffff

-- For each upper byte of the state: the state after eight steps, and the byte of output.
local steps = {}
for index = 0, 255 do
    local state, out = index * 256, 0
    for bit = 0, 7 do
        local msb = rshift(state, 15)
        out = out + msb * 2 ^ bit
        state = band(state * 2, 0xffff)
        if msb == 1 then state = bxor(state, 0x0039) end
    end
    steps[index] = { state, out }
end

--- Returns the next state of the generator and the byte of output (first bit in bit 0).
function M.prbs(state)
    local step = steps[rshift(state, 8)]
    return bxor(band(state * 256, 0xffff), step[1]), step[2]
end

--- Scrambles or unscrambles a byte.
function M.scramble(byte, with)
    return bxor(byte, with)
end

return M
