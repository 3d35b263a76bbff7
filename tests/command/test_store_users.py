"""`logmem store-users`: the users of a server that somebody else runs."""

from pathlib import Path

from store.engine import acl
from store.engine.script import sha_of, text_of

from .running import Command


def test_it_makes_what_is_missing_and_keeps_what_is_there(command: Command, tmp_path: Path) -> None:
    """A password that the operator has put there is kept, the others are made; nothing that is told holds any."""
    folder = tmp_path / "store"
    folder.mkdir()
    (folder / "lm-read").write_text("of-the-operator\n")
    first = command.run("store-users", str(folder), "--json")
    made = [*(user for user in acl.users() if user != "lm-read"), "bot-secret"]
    assert first.json == {"folder": str(folder), "users": [*acl.users()], "made": made, "acl_changed": True}
    passwords = {user: (folder / user).read_text().strip() for user in acl.users()}
    assert passwords["lm-read"] == "of-the-operator"
    assert len({*passwords.values()}) == len(passwords)
    assert (folder / "users.acl").read_text() == acl.render(passwords)
    again = command.run("store-users", str(folder))
    assert "none, all were there" in again.out
    assert not [each for each in passwords.values() for told in (first, again) if each in told.out + told.err]
    assert {user: (folder / user).read_text().strip() for user in acl.users()} == passwords


def test_a_new_password_comes_into_force_with_the_file(command: Command, tmp_path: Path) -> None:
    """Where a password is replaced the ACL file and its copies follow, and that the server must start again is told."""
    folder, shared = tmp_path / "store", tmp_path / "shared"
    copy = f"--copy={shared}=users.acl,lm-read"
    assert command.run("store-users", str(folder), copy).code == 0
    before = (shared / "users.acl").read_text()
    (folder / "lm-read").write_text("another\n")
    assert "when it is started again" in command.run("store-users", str(folder), copy).out
    assert (shared / "lm-read").read_text() == "another\n"
    assert (shared / "users.acl").read_text() == (folder / "users.acl").read_text() != before
    assert sorted(path.name for path in shared.iterdir()) == ["lm-read", "users.acl"]


def test_another_version_writes_the_file_anew(command: Command, tmp_path: Path) -> None:
    """A file of a version with other scripts, and its copies, are replaced by the file of this one; no password is."""
    folder, shared = tmp_path / "store", tmp_path / "shared"
    copy = f"--copy={shared}=users.acl,lm-read"
    assert command.run("store-users", str(folder), copy).code == 0
    before = {path: path.read_text() for path in (*folder.iterdir(), *shared.iterdir()) if path.is_file()}
    for each in (folder, shared):
        older = before[each / "users.acl"].replace(sha_of(text_of("keep")), "0" * 40)
        assert older != before[each / "users.acl"]
        (each / "users.acl").write_text(older)
    assert command.run("store-users", str(folder), copy, "--json").json["acl_changed"]
    assert {path: path.read_text() for path in before} == before


def test_what_cannot_be_done_is_told(command: Command, tmp_path: Path) -> None:
    """An empty password is refused, and so is a copy of what is no file of these, before anything is made."""
    folder = tmp_path / "store"
    wrong = command.run("store-users", str(folder), f"--copy={tmp_path}/x=lm-root")
    assert (wrong.code, wrong.out, folder.exists()) == (2, "", False)
    assert "lm-admin" in wrong.err
    folder.mkdir()
    (folder / "lm-api").touch()
    assert "is empty" in command.run("store-users", str(folder)).err
    (tmp_path / "file").touch()
    assert command.run("store-users", str(tmp_path / "file" / "in")).code == 5
