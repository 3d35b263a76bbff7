"""The scripts that keep a commit atomic, a file each, with its contract in the header."""
