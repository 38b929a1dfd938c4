# SPDX-License-Identifier: (GPL-2.0-only WITH Linux-syscall-note) OR BSD-2-Clause
"""Comments of at most 100 columns."""

import textwrap

COLUMNS = 100
TAB = 8


def lines(doc, prefix, columns=COLUMNS):
    """The text behind a prefix such as "  /// ", on as many lines as it needs."""
    room = columns - len(prefix.expandtabs(TAB))
    found = textwrap.wrap(doc, room, break_long_words=False, break_on_hyphens=False)
    return [prefix + line for line in found]


def block(doc, indent=""):
    """A C comment: on one line if it fits, otherwise in the style of the Linux kernel."""
    one = f"{indent}/* {doc} */"
    if len(one.expandtabs(TAB)) <= COLUMNS:
        return [one]
    return [f"{indent}/*", *lines(doc, f"{indent} * "), f"{indent} */"]
