"""docker-compose.yml and the Dockerfile, as far as they can be held without a container: read, checked, and run."""
