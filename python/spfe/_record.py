# SPDX-License-Identifier: MIT OR Apache-2.0
"""Descriptions and results: mappings whose keys are attributes as well."""

import json
from typing import Any


class Record(dict[str, Any]):
    """A mapping; `record.name` is `record["name"]`."""

    def __getattr__(self, name: str) -> Any:
        try:
            return self[name]
        except KeyError:
            names = ", ".join(self)
            raise AttributeError(f"no '{name}' here; there are: {names}") from None


def parse(text: str) -> Any:
    """Objects of a JSON text."""
    return json.loads(text, object_hook=Record)
