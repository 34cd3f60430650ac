"""Which files an update may write."""

from pathlib import Path

import pytest

from pubmill.cli.update_command import own_files
from pubmill.errors import PubmillError


def test_specs_of_a_workspace_are_written_where_the_user_has_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    own, link = Path("specs/corpora/c.yaml"), Path(".pubmill/specs/corpora/c.yaml")
    for path in (own, link):
        path.parent.mkdir(parents=True)
    own.touch()
    link.symlink_to(own.resolve())
    assert own_files({link: "text"}) == {"specs/corpora/c.yaml": "text"}
    assert own_files({own: "text"}) == {"specs/corpora/c.yaml": "text"}


def test_a_spec_of_the_package_is_not_changed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    package, here = tmp_path / "package/corpora/c.yaml", tmp_path / "here"
    package.parent.mkdir(parents=True)
    package.touch()
    (here / ".pubmill/specs/corpora").mkdir(parents=True)
    (here / ".pubmill/specs/corpora/c.yaml").symlink_to(package)
    monkeypatch.chdir(here)
    with pytest.raises(PubmillError, match=r"pubmill's own .* copy it to specs/corpora/c\.yaml here"):
        own_files({Path(".pubmill/specs/corpora/c.yaml"): "text"})
