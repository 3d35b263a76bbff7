"""A code for a phone's camera, drawn with half blocks: two rows of modules in one line of text."""

import os
import sys

BLOCKS = {
    (True, True): " ",
    (True, False): "▄",
    (False, True): "▀",
    (False, False): "█",
}  # of light ones: (above, below)
LIGHT_ON_DARK = "\x1b[38;5;231;48;5;16m"
END = "\x1b[0m"
QUIET = 2  # light modules round it


def drawn(text: str) -> list[str]:
    """The lines of the code, light on dark whatever the terminal's colours; none where they cannot be shown."""
    import segno

    if "utf" not in (sys.stdout.encoding or "").lower():
        return []
    code = segno.make(text, error="l", micro=False)
    rows = [[bool(module) for module in row] for row in code.matrix_iter(border=QUIET)]
    rows += [[False] * len(rows[0])] * (len(rows) % 2)
    plain = bool(os.environ.get("NO_COLOR")) or os.environ.get("TERM") == "dumb"
    before, after = ("", "") if plain else (LIGHT_ON_DARK, END)
    lines = (
        "".join(BLOCKS[pair] for pair in zip(*two, strict=True)) for two in zip(rows[::2], rows[1::2], strict=True)
    )
    return [f"{before}{line}{after}" for line in lines]
