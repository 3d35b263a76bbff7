"""Tests of the house itself."""
