"""The command: starts LogMem, and lets people and scripts use it."""
