"""The console: pages and forms that work without JavaScript."""

from fastapi import APIRouter

from .pages import Console

__all__ = ["router"]


def router() -> APIRouter:
    """Every path of the console, below `/`; the app has the store and the settings in its state."""
    return Console().router()
