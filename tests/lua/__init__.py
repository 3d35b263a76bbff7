"""The scripts, each by itself, and that none of their lines could go."""
