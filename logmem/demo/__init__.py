"""`logmem demo`: the fleet of the manual at work, each agent a client process of its own, printed as it happens."""
