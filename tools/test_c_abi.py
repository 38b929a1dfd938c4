# SPDX-License-Identifier: MIT OR Apache-2.0
"""Tests of c_abi.py."""

import unittest

import c_abi

HEADER = """
/* int spfe_not_this(void); */
#define SPFE_LIMIT (-0x100) /* a limit */
typedef struct spfe_thing spfe_thing;
struct spfe_options {
	size_t size; /* sizeof */
	const uint8_t *path;
	uint8_t data[8];
};
enum spfe_end {
	SPFE_EOP = 0, /* end */
	SPFE_EEP,
};
int spfe_open(const char *name,
	      spfe_thing **thing);
const char *spfe_error(void);
static inline int spfe_next(int x)
{
	return spfe_open(0, 0) + x;
}
"""


class HeaderTest(unittest.TestCase):
    """What is read from a header."""

    def test_functions_structures_and_constants(self):
        header = c_abi.Header(HEADER)
        self.assertEqual(header.functions, {
            "spfe_open": "int spfe_open(const char *name, spfe_thing **thing)",
            "spfe_error": "const char *spfe_error(void)",
        })
        self.assertEqual(header.structs, {"spfe_options": [
            ("size_t", "size"), ("const uint8_t *", "path"), ("uint8_t[8]", "data")]})
        self.assertEqual(header.constants, ["SPFE_LIMIT", "SPFE_EOP", "SPFE_EEP"])

    def test_the_headers_of_the_library_are_read_whole(self):
        texts = [file.read_text(encoding="utf-8") for file in c_abi.HEADERS]
        header = c_abi.Header("\n".join(texts))
        of = c_abi.versions(c_abi.MAP.read_text(encoding="utf-8"))
        self.assertEqual(set(header.functions), set(of))
        each = [name for text in texts for name in c_abi.Header(text).functions]
        self.assertEqual(sorted(each), sorted(of), "a function that two headers declare")


class ChangesTest(unittest.TestCase):
    """What an accepted list allows."""

    OLD = ["field a.size at 0, 8 bytes: size_t", "field b.x at 0, 8 bytes: int",
           "function SPFE_0.1 int f(void)", "struct a 16 bytes, alignment 8",
           "struct b 8 bytes, alignment 8"]

    def changed(self, index, line):
        """The list with another line."""
        return [*self.OLD[:index], line, *self.OLD[index + 1:]]

    def test_additions_are_no_break(self):
        self.assertEqual(c_abi.broken(self.OLD, [*self.OLD, "function SPFE_0.2 int g(void)"]), [])

    def test_only_structures_with_a_size_may_grow(self):
        self.assertEqual(c_abi.broken(self.OLD, self.changed(3, "struct a 24 bytes, alignment 8")), [])
        for index, line in ((3, "struct a 8 bytes, alignment 8"), (3, "struct a 24 bytes, alignment 4"),
                            (4, "struct b 16 bytes, alignment 8"), (1, "field b.x at 8, 8 bytes: int"),
                            (2, "function SPFE_0.2 int f(void)"), (2, "function SPFE_0.1 int f(int x)")):
            self.assertEqual(c_abi.broken(self.OLD, self.changed(index, line)), [self.OLD[index]], line)


if __name__ == "__main__":
    unittest.main()
