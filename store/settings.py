"""Settings from the environment: `LOGMEM_<NAME>`, or the text of the file that `LOGMEM_<NAME>_FILE` names.

load() -> Settings       BadSetting: one sentence with the variable, what it is and what it must be
"""

import os
import re
from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Annotated, Any, Literal
from urllib.parse import urlsplit

from pydantic import AfterValidator, BeforeValidator, Field, SecretStr, ValidationError
from pydantic.fields import FieldInfo
from pydantic_settings import BaseSettings, NoDecode, PydanticBaseSettingsSource, SettingsConfigDict

__all__ = ["BadSetting", "Limits", "Settings", "load"]

PREFIX = "LOGMEM_"


class BadSetting(Exception):
    """A setting that cannot be used; the message is one sentence for whoever set it."""


@dataclass(frozen=True, slots=True)
class Limits:
    """How fast the bot may send: in all and to one private chat a second, of a chat at once, to one group a minute.

    0 is no limit.
    """

    all: float = 28
    chat: float = 1
    burst: int = 3
    group: float = 20


def _limits(said: object) -> Limits:
    """`all=28,chat=1,burst=3,group=20`; what is not named stays as it is by itself."""
    if isinstance(said, Limits):
        return said
    numbers: dict[str, float] = {}
    for each in str(said).split(","):
        name, _, value = each.partition("=")
        number = float(value)
        if name.strip() in numbers or not 0 <= number <= 1_000_000:
            raise ValueError
        numbers[name.strip()] = int(number) if name.strip() == "burst" else number
    if not numbers.keys() <= {field.name for field in fields(Limits)}:
        raise ValueError
    return replace(Limits(), **numbers)  # type: ignore[arg-type] # the names and numbers are those of its fields


def _hook_address(url: str) -> str:
    """`http(s)://host[:port]/path`, as Telegram is told it."""
    parts = urlsplit(url)
    return _web_address(url.removesuffix(parts.path)) + parts.path if parts.path else _web_address(url)


def _web_address(url: str) -> str:
    """`http(s)://host[:port]` without a slash at its end."""
    parts = urlsplit(url)
    plain = not (parts.username or parts.password or parts.query or parts.fragment or parts.path.strip("/"))
    if parts.scheme not in ("http", "https") or not parts.hostname or not plain or parts.port == 0:
        raise ValueError
    return f"{parts.scheme}://{parts.netloc}"


def _fitting(pattern: str) -> Callable[[SecretStr], SecretStr]:
    """A check that all of a secret is as the pattern says."""

    def check(secret: SecretStr) -> SecretStr:
        if not re.fullmatch(pattern, secret.get_secret_value()):
            raise ValueError
        return secret

    return check


def _lower(value: object) -> object:
    return value.lower() if isinstance(value, str) else value


Folder = Annotated[Path, AfterValidator(Path.expanduser)]
WebAddress = Annotated[str, AfterValidator(_web_address)]
HookAddress = Annotated[str, AfterValidator(_hook_address)]
Word = Annotated[str, Field(min_length=1)]
Secret = Annotated[SecretStr, Field(min_length=1)]
LongSecret = Annotated[SecretStr, AfterValidator(_fitting(r"[!-~]{32,256}"))]
HookSecret = Annotated[SecretStr, AfterValidator(_fitting(r"[A-Za-z0-9_-]{32,256}"))]
BotToken = Annotated[SecretStr, AfterValidator(_fitting(r"[0-9]{1,20}:[A-Za-z0-9_-]{1,100}"))]


class _Files(PydanticBaseSettingsSource):
    """`LOGMEM_X_FILE`: the text of that file, without the blanks round it, is the value of X."""

    def get_field_value(self, field: FieldInfo, field_name: str) -> tuple[Any, str, bool]:
        name = PREFIX + field_name.upper()
        path = os.environ.get(f"{name}_FILE")
        if not path:
            return None, field_name, False
        if os.environ.get(name):
            raise BadSetting(f"Both {name} and {name}_FILE are set: only one of them may be.")
        try:
            return Path(path).read_text(encoding="utf-8").strip(), field_name, False
        except (OSError, UnicodeDecodeError) as why:
            raise BadSetting(f"{name}_FILE is {path!r}, which cannot be read: {why}.") from None

    def __call__(self) -> dict[str, Any]:
        found = {name: self.get_field_value(field, name)[0] for name, field in self.settings_cls.model_fields.items()}
        return {name: value for name, value in found.items() if value is not None}


class Settings(BaseSettings):
    """Every setting; a description says what it must be."""

    model_config = SettingsConfigDict(env_prefix=PREFIX, env_ignore_empty=True, frozen=True, extra="forbid")

    home: Folder = Field(Path("~/.local/share/logmem"), validate_default=True, description="a folder for the state")
    index: Folder | None = Field(None, description="a folder for the index that recall searches")
    redis_uri: Secret | None = Field(None, description="a redis://, rediss:// or unix:// address")
    redis_secrets: Folder | None = Field(None, description="a folder of password files, one for each user of the store")
    fsync: Annotated[Literal["always", "everysec", "no"], BeforeValidator(_lower)] = Field(
        "always", description="always, everysec or no"
    )
    public_url: WebAddress | None = Field(
        None, description="an address such as https://logmem.example.com, without a path"
    )
    host: Word = Field("127.0.0.1", description="the address to listen on")
    port: int = Field(8765, ge=0, le=65535, description="a whole number from 0 (any free port) to 65535")
    log_level: Annotated[Literal["debug", "info", "warning", "error", "critical"], BeforeValidator(_lower)] = Field(
        "info", description="debug, info, warning, error or critical"
    )
    space: Word | None = Field(None, description="the name of a space")
    agent: Word | None = Field(None, description="the id of an agent")
    rest_url: WebAddress | None = Field(
        None, description="an address such as https://logmem.example.com, without a path"
    )
    rest_token: Secret | None = Field(None, description="the bearer token of a credential")
    bot_token: BotToken | None = Field(None, description="the token of a Telegram bot, as BotFather gives it")
    bot_secret: LongSecret | None = Field(
        None, description="32 to 256 characters without blanks that the API and the bot share"
    )
    bot_host: Word = Field("127.0.0.1", description="the address that the bot listens on")
    bot_port: int = Field(
        8766, ge=0, le=65535, description="a whole number from 0 (any free port) to 65535, for the bot"
    )
    scheduler_host: Word = Field("127.0.0.1", description="the address that the scheduler tells its health on")
    scheduler_port: int = Field(
        8767, ge=0, le=65535, description="a whole number from 0 (any free port) to 65535, for the scheduler"
    )
    api_url: WebAddress = Field(
        "http://127.0.0.1:8765", description="the address where the bot finds the API, such as http://127.0.0.1:8765"
    )
    telegram_api_url: WebAddress = Field(
        "https://api.telegram.org", description="the address of a Bot API server, without a path"
    )
    telegram_limits: Annotated[Limits, NoDecode, BeforeValidator(_limits)] = Field(
        Limits(), description="numbers such as all=28,chat=1,burst=3,group=20, where 0 is no limit"
    )
    webhook_url: HookAddress | None = Field(
        None, description="the address that Telegram sends updates to, such as https://logmem.example.com/telegram"
    )
    webhook_secret: HookSecret | None = Field(
        None, description="32 to 256 characters of A-Z, a-z, 0-9, _ and - that only Telegram and the bot know"
    )

    @property
    def index_folder(self) -> Path | None:
        """Where the index is kept: as set, else in the state folder; None where neither is set and none is needed."""
        if self.index or (self.redis_uri and "home" not in self.model_fields_set):
            return self.index
        return self.home / "index"

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,
        file_secret_settings: PydanticBaseSettingsSource,
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """What the caller says goes before the environment; nothing is read from a .env file."""
        return init_settings, env_settings, _Files(settings_cls)


def load(**given: object) -> Settings:
    """The settings in force; `given` (options of the command) go before the environment, unless None.

    BadSetting: a value that cannot be used. Values of secrets are not repeated.
    """
    options: dict[str, Any] = {name: value for name, value in given.items() if value is not None}
    try:
        return Settings(**options)
    except ValidationError as why:
        raise BadSetting(_sentence(why)) from None


def _sentence(why: ValidationError) -> str:
    first = why.errors()[0]
    name = str(first["loc"][0])
    field = Settings.model_fields[name]
    secret = "SecretStr" in str(field.annotation) or "SecretStr" in str(field.metadata)
    said = "" if secret else f" is {first['input']!r}: it"
    return f"{PREFIX}{name.upper()}{said} must be {field.description}."
