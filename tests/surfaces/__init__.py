"""Tests of the surfaces, over real HTTP."""
