"""The console: pages and forms that work without JavaScript."""
