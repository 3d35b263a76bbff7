"""One round trip: commands out as one piece, their replies in.

The library's own pipeline puts a timer and several layers around every single reply, which costs more than the reply.
"""

import asyncio
import math
from collections.abc import Sequence
from typing import Any

import redis
from redis.asyncio import Redis

from .reads import Command

TIMEOUT = 5.0  # seconds for the whole of it


async def exchange(client: Redis, commands: Sequence[Command]) -> list[Any]:
    """The replies to `commands`, in order. Raises the first error among them, once all were read.

    Nothing is sent twice: a lost connection is redis.ConnectionError, a late reply redis.TimeoutError, and what was
    sent may then have been done.
    """
    pool: Any = client.connection_pool
    connection = await pool.get_connection()
    try:
        async with asyncio.timeout(TIMEOUT):
            await connection.send_packed_command(connection.pack_commands(commands), check_health=False)
            replies = [await _reply(connection) for _ in commands]
    except TimeoutError:
        await connection.disconnect(nowait=True)
        raise redis.TimeoutError("no reply in time") from None
    finally:
        await pool.release(connection)
    for reply in replies:
        if isinstance(reply, redis.ResponseError):
            raise reply
    return replies


async def _reply(connection: Any) -> Any:
    try:
        return await connection.read_response(disable_decoding=True, timeout=math.inf)  # the timer is around all
    except redis.ResponseError as said:
        return said
