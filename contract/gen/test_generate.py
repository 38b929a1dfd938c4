# SPDX-License-Identifier: (GPL-2.0-only WITH Linux-syscall-note) OR BSD-2-Clause
"""Tests of the generator: which sources it refuses, which changes --check finds, and whether C and
SystemVerilog tools read the golden bytes correctly with the generated files."""

import contextlib
import io
import json
import re
import shutil
import struct
import subprocess
import tempfile
import unittest
from pathlib import Path

import core
import generate
import model
import sv
import sv_core

ROOT = Path(__file__).resolve().parents[2]
MINI = """
[contract]
name = "mini"
version_major = 1
version_minor = 0
magic = 0x1234
[[const]]
name = "LIMIT"
value = 5
doc = "A limit."
[[enum]]
name = "block_type"
type = "u16"
doc = "Types."
values = [{ name = "LIST", value = 1, doc = "List." }, { name = "ONE", value = 2, doc = "One." }]
[[enum]]
name = "status"
type = "u8"
doc = "Outcomes."
values = [{ name = "BUSY", value = 0x10, class = "local", errno = "EBUSY", doc = "Held." }]
[[bits]]
name = "flags"
type = "u8"
doc = "Flags."
fields = [{ name = "KIND", bits = "3:0", doc = "Kind." }, { name = "TOP", bits = "7", doc = "T." }]
[[struct]]
name = "entry"
size = 16
words = true
doc = "Entry."
fields = [
  { name = "low", bits = "63:0", type = "u64", doc = "Low." },
  { name = "high", bits = "111:64", type = "u64", doc = "High." },
  { name = "phase", bits = "127:112", type = "u16", doc = "Phase." },
]
[[struct]]
name = "line"
size = 8
doc = "Line."
fields = [
  { name = "a", offset = 0, type = "u32", doc = "A." },
  { name = "b", offset = 4, type = "u32", doc = "B." },
]
[[block]]
name = "one"
type = "ONE"
version = 1
size = 0x80
doc = "One block."
registers = [
  { name = "STATE", offset = 0x10, access = "ro", doc = "State." },
  { name = "BASE_LO", offset = 0x40, access = "rw", doc = "Base, low." },
  { name = "BASE_HI", offset = 0x44, access = "rw", doc = "Base, high." },
]
[[block]]
name = "list"
type = "LIST"
version = 1
size = 0x10
stride = 0x80
doc = "A list."
registers = [
  { name = "COUNT", offset = 0x00, access = "ro", doc = "Count." },
  { name = "ENABLE", offset = 0x40, access = "rw", doc = "Enable." },
]
[[enum]]
name = "mib_layer"
type = "u8"
doc = "Layers."
values = [{ name = "LANE", value = 0, doc = "Lane." }]
[[enum]]
name = "mib_kind"
type = "u8"
doc = "Kinds."
values = [{ name = "STATUS", value = 0, doc = "Status." }]
[[enum]]
name = "mib_access"
type = "u8"
doc = "Accesses."
values = [{ name = "RO", value = 0, doc = "Read." }]
[[enum]]
name = "mib_scope"
type = "u8"
doc = "Scopes."
values = [{ name = "LINK", value = 0, doc = "Link." }]
[[mib]]
name = "LANE_STATE"
title = "Lane State"
value = 0
place = { layer = "LANE", kind = "STATUS", access = "RO", scope = "LINK" }
range = { min = 0, max = 1, values = ["Off", "On"] }
doc = "State."
[[mib]]
name = "LEVEL"
title = "Level"
value = 1
place = { layer = "LANE", kind = "STATUS", access = "RO", scope = "LINK" }
range = { min = 2, max = 9, unit = "dB" }
doc = "Level."
"""
# Text of MINI, what to put there instead, and what the error says.
BROKEN = [
    ('doc = "A limit."', "", "const LIMIT: doc is missing"),
    ('doc = "A limit."', 'doc = " "', "const LIMIT: doc is empty"),
    ('doc = "A limit."', 'doc = "*/"', r"const LIMIT: doc must not contain '\*/'"),
    ("value = 5", "value = -1", "const LIMIT: value -0x1 is not in 0x0 to 0xf{16}"),
    ("value = 5", "value = true", "const LIMIT: value must be an integer, not True"),
    ("value = 5", "value = 5\nunit = 1", "const LIMIT: unknown key unit"),
    ("value = 5", 'value = 5\nfeature = "x"', "const LIMIT: feature x is not one of rdma, fabric"),
    ('"LIMIT"', '"limit"', "const limit: the name must be upper case"),
    ("magic = 0x1234", "magic = 0x100000000", "magic 0x100000000 is not in 0x1 to 0xffffffff"),
    ('"ONE", value = 2', '"ONE", value = 1', "block_type: value 1 is used by LIST and ONE"),
    ('"ONE", value = 2', '"LIST", value = 2', "block_type: name LIST is used by LIST and LIST"),
    ('"ONE", value = 2', '"ONE", value = 65536', "ONE: value 0x10000 is not in 0x0 to 0xffff"),
    ("value = 0x10,", "value = 0x40,", "BUSY: value 0x40 is not in 0x10 to 0x1f, .* class local"),
    ('class = "local"', 'class = "fate"', "BUSY: class fate is not one of ok, local"),
    ('"EBUSY"', '"EWHAT"', "BUSY: errno EWHAT has no number"),
    ('bits = "7"', 'bits = "3"', r"flags: TOP starts at bit 3, inside KIND \(bits 3:0\)"),
    ('bits = "7"', 'bits = "8"', "field TOP: bit 8 is past bit 7, the last"),
    ('bits = "3:0"', 'bits = "0:3"', "KIND: bits 0:3 must have the most significant bit first"),
    ("size = 16", "size = 24", "entry: fields end at bit 128, the size 24 is 192 bits"),
    ('"111:64"', '"111:60"', "high: bits 111:60 cross bit 64"),
    ('"111:64"', '"111:65"', "entry: bits 64:64 before high belong to no field"),
    ('bits = "63:0", type = "u64"', 'bits = "63:0", type = "u32"', "low: 64 bits do not fit u32"),
    ('name = "phase"', 'name = "lap"', "the last field must be phase in bits 127:112, not lap"),
    ("size = 8", "size = 12", "line: fields end at bit 64, the size 12 is 96 bits"),
    ("offset = 4,", "offset = 2,", "field b: offset 2 is not a multiple of 4"),
    ("offset = 4,", "offset = 0,", r"line: b starts at bit 0, inside a \(bits 31:0\)"),
    ('name = "line"', 'name = "flags"', "name flags is used by flags and flags"),
    ("offset = 0x44", "offset = 0x46", "BASE_HI: offset 0x46 is not a multiple of 4"),
    ("offset = 0x44", "offset = 0x48", "BASE_LO at 0x40 and BASE_HI at 0x48 must be the two"),
    ("offset = 0x44", "offset = 0x40", "block one: offset 64 is used by BASE_LO and BASE_HI"),
    ("offset = 0x44", "offset = 0x80", "BASE_HI at 0x80 is not in 0x10 to 0x7c"),
    ("offset = 0x10,", "offset = 0x0c,", "STATE at 0xc is not in 0x10 to 0x7c"),
    ("offset = 0x10,", "offset = 0x50,", r"BASE_LO \(rw\) shares the 64-byte line at 0x40 .*STATE"),
    ("offset = 0x40, access = \"rw\", doc = \"E", "offset = 0x7c, access = \"rw\", doc = \"E",
     r"COUNT\[1\] \(ro\) shares the 64-byte line at 0x80 with ENABLE\[0\] \(rw\)"),
    ('access = "ro"', 'access = "r"', "STATE: access r is not one of ro, rw, wo"),
    ('type = "LIST"', 'type = "ONE"', "blocks: type ONE is used by one and list"),
    ('type = "LIST"', 'type = "TREE"', "block list: type TREE is not a value of block_type"),
    ("stride = 0x80", "stride = 0x90", "block list: stride 0x90 is not whole 64-byte lines"),
    ('title = "Lane State"\nvalue = 0', 'title = "Lane State"\nvalue = 2',
     "mib LANE_STATE: value 2 must be 0"),
    ('title = "Level"', 'title = "Lane-state"', "mib: title lanestate is used by LANE_STATE and"),
    ('title = "Level"', 'title = "level"', "mib LEVEL: title 'level' is no name"),
    ('name = "LEVEL"', 'name = "LANE_STATE"', "mib: name LANE_STATE is used by"),
    ('access = "RO", scope = "LINK"', 'access = "WO", scope = "LINK"',
     "LANE_STATE: access WO is not one of RO"),
    ('max = 1,', 'max = 2,', "LANE_STATE: 2 values for 0 to 2"),
    ('min = 2', 'min = 10', "LEVEL: min 0xa is not in 0x0 to 0x9"),
    ('unit = "dB"', 'units = "dB"', "LEVEL: range: unknown key units"),
    ('[[enum]]\nname = "mib_layer"', '[[enum]]\nname = "pair_counter"\ntype = "u8"\ndoc = "C."\n'
     'values = [{ name = "LOST", value = 63, doc = "L." }]\n[[enum]]\nname = "mib_layer"',
     "LOST: value 0x3f is not in 0x0 to 0x3e"),
    ("[contract]", "contract", "not TOML"),
]
CORE = """
[core]
name = "mini"
title = "small core"
imports = ["mini_pkg"]
parameters = [{ name = "Size", default = 4, doc = "Size." }]
intro = "Text."
[[block]]
name = "regs"
size = 0x80
doc = "Registers."
[[block.registers]]
name = "ID"
offset = 0x00
access = "ro"
value = 0x1234
doc = "Fixed."
[[block.registers]]
name = "CONTROL"
offset = 0x04
access = "rw"
doc = "Stored."
fields = [
  { name = "ENABLE", bits = "0", doc = "Enable." },
  { name = "LEVEL", bits = "11:8", reset = 2, min = 1, max = "Size - 1", doc = "Level." },
]
[[block.registers]]
name = "LOOKUP"
offset = 0x08
access = "rw"
stored = false
lock = "busy"
bits = "31:0"
doc = "Kept by the core."
[[block.registers]]
name = "START"
offset = 0x0c
access = "wo"
bits = "2:0"
doc = "Strobe."
[[block.registers]]
name = "STATUS"
offset = 0x24
access = "ro"
bits = "15:0"
doc = "Shown."
[block.counters]
offset = 0x40
doc = "Counters."
inputs = [{ name = "rx", type = "rx_t" }, { name = "lost", type = "logic" }]
list = [
  { signal = "rx.frames", doc = "Frames." },
  { signal = "lost", doc = "Lost." },
]
"""
# The same for CORE.
BROKEN_CORE = [
    ('doc = "Fixed."', "", "register ID: doc is missing"),
    ('doc = "Fixed."', 'doc = "Fixed."\nwidth = 3', "register ID: unknown key width"),
    ('"CONTROL"', '"control"', "register control: the name must be upper case"),
    ('"CONTROL"', '"ID"', "name ID is used by ID and ID"),
    ('access = "wo"', 'access = "hw"', "START: access hw is not one of ro, rw, wo"),
    ('access = "ro"\nvalue', 'access = "rw"\nvalue',
     "ID: only a register with access ro has a value"),
    ("stored = false", "stored = false\nfields = []", "LOOKUP: give either fields or bits"),
    ('bits = "15:0"\n', "", "STATUS: give either fields or bits"),
    ('access = "rw"\nstored', 'access = "wo"\nstored', "LOOKUP: stored is for access rw"),
    ('bits = "15:0"', 'bits = "15:0"\nlock = "busy"', "STATUS: lock is for registers that can be"),
    ('lock = "busy"', 'lock = "BUSY"', "LOOKUP: lock 'BUSY' is not a word in lower case"),
    ('lock = "busy"', 'lock = true', "LOOKUP: lock True is not a word in lower case"),
    ('"11:8"', '"8:0"', r"control_level starts at bit 0, inside control_enable"),
    ('"11:8"', '"32:8"', "field LEVEL: bit 32 is past bit 31"),
    ("reset = 2", "reset = 16", "LEVEL: reset 0x10 is not in 0x0 to 0xf"),
    ('"Size - 1"', '"Width - 1"', "LEVEL: max 'Width - 1' names no parameter of the core"),
    ('"Size - 1"', '"Size - Width"', "LEVEL: max 'Size - Width': unknown parameter Width"),
    ("offset = 0x24", "offset = 0x22", "STATUS: offset 0x22 is not a multiple of 4"),
    ("offset = 0x24", "offset = 0x80", "STATUS: offset 0x80 is past the size 0x80"),
    ("offset = 0x24", "offset = 0x04", "offset 0x4 is used by CONTROL and STATUS"),
    ("offset = 0x24", "offset = 0x4c", "offset 0x4c is used by STATUS and LOST"),
    ("offset = 0x40", "offset = 0x44", "counters: offset 0x44 is not a multiple of 8"),
    ('"rx.frames"', '"tx.frames"', "counter tx.frames is in none of the inputs rx, lost"),
    ("[core]", "core", "not TOML"),
]
# The typical entries of vectors.py, packed by hand.
TYPICAL = {
    "submission": struct.pack("<LHHLHH", 0x1000, 0, 0x5003, 4096, 0x0011, 1),
    "inline_submission": bytes([*range(1, 9), 11, 9, 10, 11]) + struct.pack("<HH", 0x0142, 2),
    "burst_ext": struct.pack("<LHHLHH", 2048, 64, 0, 0, 0x0004, 3),
    "release": struct.pack("<LLLHH", 65536, 4, 0, 0x0006, 4),
    "message": struct.pack("<QBBBBHH", 0x1122334455667788, 5, 6, 1, 0, 0x0007, 5),
    "work_entry": struct.pack("<QLHH", 0x123456789000, 0x00012ABC, 0x2478, 6),
    "operand": struct.pack("<QLHH", 0x1122334455667788, 0xCAFEF00D, 0x0049, 7),
    "completion": struct.pack("<LHBBHHHH", 4096, 1, 3, 0, 41, 0, 0x0010, 65535),
}
# A packet of 21 bytes beside its completion: words, time, bytes, zeros.
WIDE = (struct.pack("<LHBBHHHH", 21, 1, 3, 0, 41, 0, 0x0400, 1)
        + struct.pack("<Q", 0x1122334455667788) + bytes(range(1, 22)) + bytes(19))


def run(*command, **options):
    done = subprocess.run(command, capture_output=True, text=True, **options)
    return done.returncode, done.stdout + done.stderr


class Refused(unittest.TestCase):
    def test_the_small_contract_is_good(self):
        self.assertEqual(model.parse(MINI).name, "mini")

    def test_each_broken_rule_is_named(self):
        for old, new, message in BROKEN:
            with self.subTest(message), self.assertRaisesRegex(model.ContractError, message):
                self.assertIn(old, MINI)
                model.parse(MINI.replace(old, new, 1))


class RefusedCore(unittest.TestCase):
    def test_the_small_core_is_good(self):
        parsed = core.parse(CORE)
        kinds = {r.name: (r.stored, r.strobe, r.constant) for r in parsed.block.registers}
        self.assertEqual(kinds, {
            "ID": (False, False, True), "CONTROL": (True, False, False),
            "LOOKUP": (False, True, False), "START": (False, True, False),
            "STATUS": (False, False, False)})

    def test_each_broken_rule_is_named(self):
        for old, new, message in BROKEN_CORE:
            with self.subTest(message), self.assertRaisesRegex(model.ContractError, message):
                self.assertIn(old, CORE)
                core.parse(CORE.replace(old, new, 1))

    def test_constants_are_those_counted_by_hand(self):
        values = {name: value for name, value, _ in core.constants(core.parse(CORE))}
        self.assertEqual(values, {
            "ID": 0, "ID_VALUE": 0x1234, "CONTROL": 4, "CONTROL_ENABLE_SHIFT": 0,
            "CONTROL_ENABLE_MASK": 1, "CONTROL_LEVEL_SHIFT": 8, "CONTROL_LEVEL_MASK": 0xF00,
            "LOOKUP": 8, "START": 12, "STATUS": 0x24, "COUNT_RX_FRAMES": 0x40, "COUNT_LOST": 0x48})


class Tree(unittest.TestCase):
    """A copy of the sources and the generated files in a folder of its own."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = Path(folder.name)
        for source in generate.SOURCES:
            (self.root / source).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / source, self.root / source)
        self.assertEqual(self.generate()[0], 0)

    def generate(self, *arguments):
        said = io.StringIO()
        with contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
            code = generate.main([*arguments, "--root", str(self.root)])
        return code, said.getvalue()

    def entries(self):
        text = (self.root / "contract/vectors/entries.json").read_text()
        return json.loads(text)["entries"]

    def tool(self, *names):
        for name in names:
            if shutil.which(name):
                return name
        self.skipTest(f"this machine has no {' or '.join(names)}")


class Check(Tree):
    def test_fresh_outputs_are_not_written_again(self):
        self.assertEqual(self.generate("--check"), (0, ""))
        self.assertEqual(self.generate(), (0, ""))

    def test_a_change_is_found_named_and_left_alone(self):
        for path in generate.OUTPUTS:
            file = self.root / path
            good = file.read_bytes()
            file.write_bytes(good.replace(b"\n", b"\nx\n", 1))
            changed = file.read_bytes()
            code, said = self.generate("--check")
            want = f"{path} differs in line 2; run: python3 contract/gen/generate.py\n"
            self.assertEqual((code, said, file.read_bytes()), (1, want, changed))
            file.unlink()
            code, said = self.generate("--check")
            self.assertEqual((code, file.exists()), (1, False))
            self.assertIn(f"{path} is missing; run: ", said)
            self.assertEqual(self.generate(), (0, f"wrote {path}\n"))
            self.assertEqual(file.read_bytes(), good)

    def test_a_change_of_the_contract_is_found_in_every_output_it_reaches(self):
        source = self.root / generate.SOURCE
        text = source.read_text()
        # A field of RDMA, one without a feature, and a constant of fabric ports.
        text = text.replace('doc = "Lap number."', 'doc = "Lap."')
        source.write_text(text.replace('doc = "Doorbells from', 'doc = "Bells from'))
        code, said = self.generate("--check")
        found = {line.split()[0] for line in said.splitlines()}
        reached = {path for path, origin in generate.OUTPUTS.items() if origin == generate.SOURCE}
        self.assertEqual((code, found), (1, reached - {"contract/vectors/entries.json"}))

    def test_a_change_of_a_core_is_found_in_every_output_it_reaches(self):
        source = self.root / generate.TCP
        text = source.read_text()
        source.write_text(text.replace('bits = "29:0"', 'bits = "28:0"')
                          .replace("max = 1073725440", "max = 65535")
                          .replace('doc = "Receive window', 'doc = "Window'))
        code, said = self.generate("--check")
        found = {line.split()[0] for line in said.splitlines()}
        reached = {path for path, origin in generate.OUTPUTS.items() if origin == generate.TCP}
        self.assertEqual((code, found), (1, reached))

    def test_a_broken_contract_writes_nothing(self):
        (self.root / generate.SOURCE).write_text(MINI.replace("value = 5", "value = -1"))
        code, said = self.generate()
        self.assertEqual(code, 2)
        self.assertTrue(said.startswith("contract/spfe.toml: const LIMIT: value"), said)

    def test_a_broken_core_writes_nothing(self):
        (self.root / generate.TCP).write_text(CORE.replace("reset = 2", "reset = 16"))
        code, said = self.generate()
        self.assertEqual(code, 2)
        self.assertTrue(said.startswith(f"{generate.TCP}: block regs: register CONTROL"), said)

    def test_every_output_says_where_it_comes_from(self):
        for path in generate.OUTPUTS:
            top = (self.root / path).read_text()[:400]
            self.assertRegex(top, r"SPDX-License-Identifier\"?: ", path)
            self.assertIn("do not edit; run `make gen`", top, path)


class Vectors(Tree):
    def test_typical_entries_are_those_packed_by_hand(self):
        typical = {
            name: bytes.fromhex(case["hex"])
            for name, cases in self.entries().items()
            for case in cases
            if case["name"] == "typical"
        }
        self.assertEqual(typical, TYPICAL)

    def test_the_wide_completion_is_the_one_packed_by_hand(self):
        text = (self.root / "contract/vectors/entries.json").read_text()
        wide = json.loads(text)["structures"]["wide_completion"]
        self.assertEqual(bytes.fromhex(wide["hex"]), WIDE)

    def test_every_entry_has_examples(self):
        contract = model.parse((ROOT / generate.SOURCE).read_text())
        words = {item.name for item in contract.structs if item.words}
        self.assertEqual(set(self.entries()), words)
        self.assertTrue(all(len(cases) >= 3 for cases in self.entries().values()))


class Header(Tree):
    STRICT = ("-Wall", "-Wextra", "-Werror", "-pedantic")

    def compile(self, compiler, text, *options):
        source = self.root / "main.c"
        source.write_text(text)
        include = f"-I{self.root / 'include'}"
        code, said = run(compiler, *self.STRICT, include, *options, str(source), cwd=self.root)
        self.assertEqual(code, 0, said)

    def test_it_is_freestanding_c11_and_cpp11(self):
        text = "#include <spfe/spfe_hw.h>\n#include <spfe/spfe_hw.h>\n"
        c = self.tool("cc")
        self.compile(c, text, "-std=c11", "-ffreestanding", "-fsyntax-only")
        cpp = self.tool("c++")
        self.compile(cpp, text, "-std=c++11", "-fsyntax-only", "-x", "c++")

    def test_the_header_of_a_core_is_c11_and_cpp11_and_defines_each_name_once(self):
        folder = self.root / "rtl/tcp/regs"
        text = "#include <spfe_tcp_regs.h>\n#include <spfe_tcp_regs.h>\nint id = SPFE_TCP_ID;\n"
        self.compile(self.tool("cc"), text, f"-I{folder}", "-std=c11", "-fsyntax-only")
        self.compile(self.tool("c++"), text, f"-I{folder}", "-std=c++11", "-fsyntax-only",
                     "-x", "c++")
        header = (folder / "spfe_tcp_regs.h").read_text()
        names = re.findall(r"^#define (\w+)", header, re.M)
        self.assertEqual(len(names), len(set(names)))
        self.assertGreater(len(names), 150)

    def test_the_kernel_gets_its_own_types(self):
        (self.root / "linux").mkdir()
        (self.root / "linux/stddef.h").write_text("#define offsetof __builtin_offsetof\n")
        lines = [f"typedef unsigned {kind} {name};" for kind, name in (
            ("char", "__u8"), ("short", "__le16"), ("int", "__le32"), ("long long", "__le64"))]
        (self.root / "linux/types.h").write_text("\n".join(lines) + "\n")
        options = ("-std=c11", "-D__KERNEL__", "-nostdinc", "-I.", "-fsyntax-only")
        self.compile(self.tool("cc"), "#include <spfe/spfe_hw.h>\n", *options)

    def test_no_name_is_defined_twice(self):
        text = (self.root / "include/spfe/spfe_hw.h").read_text()
        names = re.findall(r"^#define (\w+)|^\t(SPFE_\w+) =", text, re.M)
        names = [one or other for one, other in names]
        twice = {name for name in names if names.count(name) > 1}
        self.assertEqual(twice - {"SPFE_STATIC_ASSERT"}, set())

    def test_shifts_and_masks_read_the_golden_bytes(self):
        checks = []
        for name, cases in self.entries().items():
            for case in cases:
                data = ", ".join(f"0x{byte:02x}" for byte in bytes.fromhex(case["hex"]))
                checks.append(f"\tload((const unsigned char[16]){{ {data} }});")
                for field, value in case["fields"].items():
                    at = f"SPFE_{name.upper()}_{field.upper()}"
                    checks.append(f"\tCHECK({at}, {value}ULL);")
        text = "\n".join([
            "#include <spfe/spfe_hw.h>", "#include <stdio.h>",
            "static unsigned long long w[2];", "static int bad;",
            "static void load(const unsigned char *b) {", "\tw[0] = w[1] = 0;",
            "\tfor (int i = 15; i >= 0; i--) w[i / 8] = w[i / 8] << 8 | b[i];", "}",
            "#define CHECK(at, want) \\",
            '\tif ((w[at##_WORD] & at##_MASK) >> at##_SHIFT != (want)) bad = 1, puts(#at)',
            "int main(void) {", *checks, "\treturn bad;", "}", ""])
        self.compile(self.tool("cc"), text, "-std=c11", "-o", "vectors")
        self.assertEqual(run(str(self.root / "vectors")), (0, ""))
        self.assertGreater(len(checks), 100)

    def test_the_status_table_has_every_status(self):
        text = ("#include <errno.h>\n#include <spfe/spfe_hw.h>\n"
                "#define X(name, value, kind, error, text) \\\n"
                "\t_Static_assert(SPFE_STATUS_##name == value && (error) >= 0, text);\n"
                "SPFE_STATUS_TABLE(X)\n")
        self.compile(self.tool("cc"), text, "-std=c11", "-fsyntax-only")

    def test_the_mib_table_has_every_item(self):
        text = ("#include <spfe/spfe_hw.h>\n"
                "#define X(name, number, layer, kind, access, scope, min, max, unit, title) \\\n"
                "\t_Static_assert(SPFE_MIB_ITEM_##name == number && (max), unit title); \\\n"
                "\t_Static_assert(number < SPFE_MIB_BLOCK_PRESENT_LO / SPFE_MIB_VALUE_BYTES, \\\n"
                "\t\ttitle); \\\n"
                "\t_Static_assert((int)(SPFE_MIB_LAYER_##layer + SPFE_MIB_KIND_##kind + \\\n"
                "\t\tSPFE_MIB_ACCESS_##access + SPFE_MIB_SCOPE_##scope) >= 0, title);\n"
                "SPFE_MIB_TABLE(X)\n")
        self.compile(self.tool("cc"), text, "-std=c11", "-fsyntax-only")
        items = model.parse((ROOT / generate.SOURCE).read_text()).mib
        header = (self.root / "include/spfe/spfe_hw.h").read_text()
        for item in items:
            self.assertIn(f'"{item.title}")', header)


    def test_the_counters_of_a_queue_pair_fit_their_element(self):
        contract = model.parse((ROOT / generate.SOURCE).read_text())
        counters = next(item for item in contract.enums if item.name == "pair_counter").values
        block = next(item for item in contract.blocks if item.name == "pair")
        present = next(item for item in block.registers if item.name == "PRESENT_LO").offset
        self.assertEqual(present + 8, block.stride)
        self.assertGreater(len(counters), 50)
        checks = "".join(f"_Static_assert(SPFE_PAIR_COUNTER_{counter.name} * SPFE_PAIR_VALUE_BYTES"
                         " < SPFE_PAIR_BLOCK_PRESENT_LO, \"\");\n" for counter in counters)
        text = "#include <spfe/spfe_hw.h>\n" + checks
        self.compile(self.tool("cc"), text, "-std=c11", "-fsyntax-only")


class Licence(unittest.TestCase):
    def test_the_contract_says_what_the_licence_file_says(self):
        text = (ROOT / "contract/spfe.toml").read_text(encoding="utf-8")
        licence = re.search('^licence = "(.*)"$', text, re.M)[1]
        rows = (ROOT / "LICENSE.md").read_text(encoding="utf-8").splitlines()
        row = next(row for row in rows if row.startswith("| the contract and"))
        self.assertIn(f"`{licence}`", row)
        self.assertTrue(text.startswith(f"# SPDX-License-Identifier: {licence}\n"))


class CorePackage(Tree):
    STUB = """package mini_pkg;
  typedef struct packed { logic frames; } rx_t;
endpackage
"""

    def test_the_register_file_of_a_small_core_elaborates_without_a_warning(self):
        if not shutil.which("verilator"):
            self.skipTest("this machine has no verilator")
        small = core.parse(CORE)
        files = {"mini_pkg.sv": self.STUB, "spfe_mini_regs_pkg.sv": sv_core.package(small, "Note."),
                 "spfe_mini_regs_file.sv": sv_core.file(small, "Note.")}
        for name, text in files.items():
            (self.root / name).write_text(text)
        unused = ("-Wno-UNUSEDSIGNAL", "-Wno-CMPCONST", "-Wno-UNSIGNED")
        code, said = run("verilator", "--lint-only", "-Wall", *unused, "--top-module",
                         "spfe_mini_regs_file", *files, cwd=self.root)
        self.assertEqual(code, 0, said)

    def test_lines_fit(self):
        for path in ("rtl/tcp/spfe_tcp_regs_pkg.sv", "rtl/tcp/spfe_tcp_regs_file.sv"):
            for line in (self.root / path).read_text().splitlines():
                self.assertLessEqual(len(line), 100, f"{path}: {line}")


class Package(Tree):
    def lint(self, top, *more):
        package = str(self.root / "rtl/pkg/spfe_pkg.sv")
        if self.tool("verilator", "iverilog") == "verilator":
            return run("verilator", "--lint-only", "-Wall", "--top-module", top, package, *more)
        return run("iverilog", "-g2012", "-Wall", "-tnull", "-s", top, package, *more)

    def test_it_elaborates_without_a_warning(self):
        code, said = self.lint("spfe_pkg_check")
        self.assertEqual(code, 0, said)
        self.assertNotRegex(said, "(?i)warning|error")

    def test_packed_structs_read_the_golden_bytes(self):
        if not shutil.which("verilator"):
            self.skipTest("this machine has no verilator")
        lines = ["module top;"]
        for name, cases in self.entries().items():
            data = bytes.fromhex(cases[2]["hex"])[::-1].hex()
            lines.append(f"  localparam spfe_pkg::{name}_t golden_{name} = 128'h{data};")
            for field, value in cases[2]["fields"].items():
                at = f"golden_{name}.{sv.ident(field)}"
                lines.append(f"  if ({at} != 'h{value[2:]}) $error(\"{at}\");")
        (self.root / "top.sv").write_text("\n".join([*lines, "endmodule", ""]))
        options = ("-Wno-WIDTHEXPAND", "-Wno-WIDTHTRUNC", "-Wno-GENUNNAMED")
        code, said = self.lint("top", *options, str(self.root / "top.sv"))
        self.assertEqual(code, 0, said)


if __name__ == "__main__":
    unittest.main()
