"""What an acknowledgement is worth: read from the server's settings at the start of every process."""

from collections.abc import Mapping
from dataclasses import dataclass

from redis.asyncio import Redis
from redis.exceptions import AuthenticationError, ResponseError

from .binary import numbers
from .exchange import exchange
from .problem import StoreProblem

OLDEST = (7, 0)  # as Redis counts; Valkey reports the Redis version that it is compatible with
TEXTS = {
    "always": "an ok survives a kill of any process, and power loss if the disk honours fsync",
    "everysec": "up to about 2 s of acknowledged writes may be lost, even by a process kill",
    "no": "a power loss may take whatever the system had not written yet: about 30 s of acknowledged writes",
    "none": "acknowledged writes are lost when the server ends: nothing is written as it happens",
    "unknown": "the server does not say how often it writes to disk, so count on no acknowledgement",
}
WARNINGS = {
    "no": "appendfsync is `no`: set it to `always`, so that what LogMem acknowledges is on disk",
    "none": (
        "THE SERVER KEEPS NO APPEND-ONLY FILE: set `appendonly yes` and `appendfsync always`, or decisions will be lost"
    ),
    "unknown": (
        "the server hides its settings: see to it yourself that `appendonly` is `yes` and `appendfsync` is `always`"
    ),
}


@dataclass(frozen=True, slots=True)
class Promise:
    """The durability in force; `level` is always, everysec, no, none (no append-only file) or unknown."""

    level: str
    text: str
    warnings: tuple[str, ...]
    server: str  # such as "valkey 9.1.2"


async def durability(clients: Mapping[str, Redis]) -> Promise:
    """Read the promise in force; `clients` are those of the process, each under the user that it is meant for.

    StoreProblem: one of them is not let in; the server is too old, evicts keys, or is a cluster. Errors of the
    connections pass through.
    """
    for each in clients.values():
        await _come_in(each)
    client, *_ = clients.values()
    info = {name: str(value) for name, value in (await client.info()).items()}
    try:
        found = await client.config_get("appendfsync", "maxmemory-policy")
        config = {str(name): str(value) for name, value in found.items()}
    except ResponseError:  # hosted servers often forbid CONFIG; INFO has the rest
        config = {}
    return promise(info, config, users={wanted: _user(client) for wanted, client in clients.items()})


async def _come_in(client: Redis) -> None:
    try:
        await exchange(client, [("PING",)])
    except AuthenticationError as why:
        raise StoreProblem(
            f"The store does not let LogMem in as {_user(client)}: {str(why).rstrip('.')}. Set its password as the "
            "server has it, in LOGMEM_REDIS_SECRETS or LOGMEM_REDIS_URI, or make the server's users anew: "
            "logmem store-users FOLDER"
        ) from why


def _user(client: Redis) -> str:
    return client.connection_pool.connection_kwargs.get("username") or "default"


def promise(info: Mapping[str, str], config: Mapping[str, str], *, users: Mapping[str, str]) -> Promise:
    """The same, of what INFO and CONFIG GET told; `users` are the users in force under those that were meant."""
    valkey = info.get("valkey_version")
    server = f"valkey {valkey}" if valkey else f"redis {info['redis_version']}"
    if numbers(info["redis_version"]) < OLDEST:
        raise StoreProblem(
            f"The store is {server}. LogMem needs Redis 7.0 or newer, or Valkey 8 or newer: older ones have "
            f"no selectors in their ACL, so they cannot keep the ledger from being overwritten."
        )
    if info.get("cluster_enabled", "0") != "0":
        raise StoreProblem(f"The store is a cluster ({server}), which LogMem cannot use yet: name one server.")
    policy = config.get("maxmemory-policy") or info.get("maxmemory_policy", "noeviction")
    if policy != "noeviction":
        raise StoreProblem(
            f"The store's maxmemory-policy is {policy!r}, by which it drops keys of its own accord when "
            f"memory is short. Set `maxmemory-policy noeviction`."
        )
    level = config.get("appendfsync", "unknown") if info.get("aof_enabled") == "1" else "none"
    warnings = [WARNINGS[level]] if level in WARNINGS else []
    warnings += dict.fromkeys(_stand_in(wanted, user) for wanted, user in users.items() if wanted != user)
    return Promise(level, TEXTS[level], tuple(warnings), server)


def _stand_in(wanted: str, user: str) -> str:
    """What it means that another user has come in."""
    if user.startswith("lm-"):
        return (
            f"connected as {user!r} where {wanted} was meant: the store itself keeps nobody from doing what {wanted} "
            f"may not. Put the password of {wanted} into the folder LOGMEM_REDIS_SECRETS"
        )
    return (
        f"connected as {user!r}, none of the users of users.acl: the store itself keeps nobody from changing the ledger"
    )
