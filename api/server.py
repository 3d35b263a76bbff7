"""The HTTP server. When it is to end, whoever waits for something is answered at once rather than cut off."""

import socket

import uvicorn

from store.engine.store import Store


class Server(uvicorn.Server):
    """Serves one application over one store."""

    def __init__(self, config: uvicorn.Config, store: Store) -> None:
        super().__init__(config)
        self.store = store

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """End: streams of events are over, those who follow get what stands now, calls in progress get their time.

        The application hears of it only after all its connections have closed, which is too late for that.
        """
        self.store.feed.end()
        await super().shutdown(sockets)
