"""Settings: from the environment or from files, with one clear sentence for each bad value."""

from pathlib import Path

import pytest

from store.settings import BadSetting, Limits, load


def test_defaults(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without any setting LogMem keeps its state at home, listens on this machine alone, and loses nothing."""
    monkeypatch.setenv("HOME", "/somebody")
    settings = load()
    assert settings.home == Path("/somebody/.local/share/logmem")
    assert (settings.host, settings.fsync, settings.redis_uri) == ("127.0.0.1", "always", None)


def test_environment_and_options(monkeypatch: pytest.MonkeyPatch) -> None:
    """An option goes before the environment; an empty variable is as good as none; an unused option is none."""
    monkeypatch.setenv("LOGMEM_PORT", "1234")
    monkeypatch.setenv("LOGMEM_SPACE", "")
    monkeypatch.setenv("LOGMEM_LOG_LEVEL", "DEBUG")
    monkeypatch.setenv("LOGMEM_PUBLIC_URL", "https://logmem.example.com:8443/")
    assert (load().port, load(port=0).port, load(port=None).port) == (1234, 0, 1234)
    assert (load().space, load().log_level) == (None, "debug")
    assert load().public_url == "https://logmem.example.com:8443"


def test_secrets_from_files(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A setting can be the text of a file, and a secret is not shown."""
    (tmp_path / "token").write_text("lmk_x_y\n")
    monkeypatch.setenv("LOGMEM_REST_TOKEN_FILE", str(tmp_path / "token"))
    settings = load()
    assert settings.rest_token
    assert settings.rest_token.get_secret_value() == "lmk_x_y"
    assert "lmk_x_y" not in repr(settings)


def test_limits_of_the_bot(monkeypatch: pytest.MonkeyPatch) -> None:
    """Telegram's limits are in force unless said otherwise, each by itself; 0 is none."""
    assert load().telegram_limits == Limits(all=28, chat=1, burst=3, group=20)
    monkeypatch.setenv("LOGMEM_TELEGRAM_LIMITS", "chat=0.5, burst=5,all=0")
    assert load().telegram_limits == Limits(all=0, chat=0.5, burst=5, group=20)


@pytest.mark.parametrize(
    ("name", "value", "match"),
    [
        ("TELEGRAM_LIMITS", "fast", "must be numbers such as all=28"),
        ("TELEGRAM_LIMITS", "all=28,all=30", "must be numbers such as all=28"),
        ("TELEGRAM_LIMITS", "each=1", "must be numbers such as all=28"),
        ("TELEGRAM_LIMITS", "all=-1", "must be numbers such as all=28"),
        ("TELEGRAM_LIMITS", "all=nan", "must be numbers such as all=28"),
        ("WEBHOOK_URL", "https://h/x?y=1", "must be the address that Telegram sends updates to"),
        ("API_URL", "api:8765", "must be the address where the bot finds the API"),
        ("PORT", "abc", "is 'abc': it must be a whole number from 0"),
        ("PORT", "65536", "is '65536': it must be a whole number"),
        ("FSYNC", "sometimes", "is 'sometimes': it must be always, everysec or no"),
        ("LOG_LEVEL", "loud", "must be debug, info, warning, error or critical"),
        ("PUBLIC_URL", "logmem.example.com", "must be an address such as https://"),
        ("PUBLIC_URL", "https://h/path", "without a path"),
        ("PUBLIC_URL", "https://u:p@h", "must be an address"),
        ("REST_URL", "https://h:99999", "must be an address"),
        ("REST_TOKEN_FILE", "/nowhere/token", "is '/nowhere/token', which cannot be read"),
    ],
)
def test_bad_values(monkeypatch: pytest.MonkeyPatch, name: str, value: str, match: str) -> None:
    """A value that cannot be used is named with its variable and what it must be, in one sentence."""
    monkeypatch.setenv(f"LOGMEM_{name}", value)
    with pytest.raises(BadSetting, match=rf"^LOGMEM_{name} [^\n]*{match}[^\n]*\.$"):
        load()


def test_a_bad_secret_is_not_repeated(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """The sentence about a bad secret does not hold it."""
    (tmp_path / "empty").write_text("\n")
    monkeypatch.setenv("LOGMEM_REST_TOKEN_FILE", str(tmp_path / "empty"))
    with pytest.raises(BadSetting, match=r"^LOGMEM_REST_TOKEN must be the bearer token of a credential\.$"):
        load()


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("BOT_TOKEN", "no-token-of-a-bot"),
        ("BOT_TOKEN", "12345:has blanks"),
        ("BOT_SECRET", "only-31-characters-are-too-few-"),
        ("BOT_SECRET", "a secret with blanks is no secret"),
        ("WEBHOOK_SECRET", "this.has.signs.that.no.header.of.theirs.has"),
    ],
)
def test_secrets_of_the_bot(monkeypatch: pytest.MonkeyPatch, name: str, value: str) -> None:
    """A token is shaped as BotFather makes them, a secret is long; what is neither is not repeated."""
    monkeypatch.setenv(f"LOGMEM_{name}", value)
    with pytest.raises(BadSetting, match=rf"^LOGMEM_{name} must be [^\n]*\.$") as no:
        load()
    assert value not in str(no.value)


def test_both_ways_at_once(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A setting and a file for it cannot both be in force."""
    (tmp_path / "token").write_text("a")
    monkeypatch.setenv("LOGMEM_REST_TOKEN", "b")
    monkeypatch.setenv("LOGMEM_REST_TOKEN_FILE", str(tmp_path / "token"))
    with pytest.raises(BadSetting, match="Both LOGMEM_REST_TOKEN and LOGMEM_REST_TOKEN_FILE are set"):
        load()
