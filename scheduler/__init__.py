"""The scheduler: a process that writes down what time brings, and wakes whoever should know of it."""
