"""What breaks: races, lost replies, killed processes, a store that is full, slow or down."""
