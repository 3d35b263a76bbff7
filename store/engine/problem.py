"""What a person has to mend before the store can be used."""


class StoreProblem(Exception):
    """The store cannot be used as things stand; the message says why and what to do."""
