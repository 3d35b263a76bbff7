"""The command, as a user runs it: real processes over a state folder of their own."""
