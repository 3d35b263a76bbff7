"""The command `logmem`."""

import sys

from .importpath import guard


def main() -> None:
    """Run the command that the arguments name; the exit code says how it went."""
    guard()
    from .app import run

    sys.exit(run(sys.argv[1:]))


if __name__ == "__main__":
    main()
