"""Files of a manuscript: comments, verbatim text, places, inputs."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pubmill.errors import PubmillError
from pubmill.extras.manuscript.latex_source import arguments, read_manuscript, read_source, source_of

TEXT = (
    "a % note\nb \\% c \\\\% two\n\\verb|% no| d\n\\begin{verbatim}\n% x\n\\end{verbatim} e\\end{document} f"
)


def test_comments_and_verbatim_text_are_blank_in_the_code() -> None:
    found = source_of("x", TEXT)
    assert [one.text for one in found.comments] == [" note", " two"]
    assert found.code.split() == ["a", "b", "\\%", "c", "\\\\", "d", "\\end{verbatim}", "e"]


@given(st.text(alphabet="ab% \n\\{}verb|", max_size=60))
def test_code_has_the_length_and_lines_of_the_text(text: str) -> None:
    found = source_of("x", text)
    assert len(found.code) == len(text) and found.code.count("\n") == text.count("\n")
    for offset in range(len(text)):
        _, line, position = found.place(offset)
        assert sum(len(one) + 1 for one in text.split("\n")[: line - 1]) + position - 1 == offset
        assert found.line_start(offset) == text.rfind("\n", 0, offset) + 1


def test_inputs_are_followed_within_the_folder_only(tmp_path: Path) -> None:
    folder = tmp_path / "paper"
    (folder / "parts").mkdir(parents=True)
    (tmp_path / "secret.tex").write_text("secret")
    (folder / "link.tex").symlink_to(tmp_path / "secret.tex")
    (folder / "parts/one.tex").write_text("\\input{parts/two.tex}\\input{paper}")
    (folder / "parts/two.tex").write_text("two")
    inputs = (
        "\\input{parts/one}\\include{../secret}\\input{link}\\input{absent}\\input{\\jobname-x}% \\input{no}"
    )
    (folder / "paper.tex").write_text(inputs)
    sources, notes = read_manuscript(folder / "paper.tex")
    assert [Path(one.name).name for one in sources] == ["paper.tex", "one.tex", "two.tex"]
    assert [note.removeprefix(f"{folder}/") for note in notes] == [
        "paper.tex:1: ../secret was not read: it is outside the manuscript's folder",
        "paper.tex:1: link was not read: it is outside the manuscript's folder",
        "paper.tex:1: absent was not read: the folder has no such file",
    ]


def test_files_that_cannot_be_read_are_errors(tmp_path: Path) -> None:
    with pytest.raises(PubmillError, match=r"none.tex: No such file or directory; name the main file"):
        read_manuscript(tmp_path / "none.tex")
    (tmp_path / "latin.tex").write_bytes(b"a\xe9")
    with pytest.raises(PubmillError, match=r"latin.tex: byte 1 is not UTF-8"):
        read_manuscript(tmp_path / "latin.tex")


def test_arguments_are_groups_with_balanced_braces() -> None:
    code = r"\m {a{b}\}} {c}{d"
    assert [code[start:end] for start, end in arguments(code, 2, 2) or []] == [r"a{b}\}", "c"]
    assert arguments(code, 2, 3) is None


def test_own_names_need_a_name_and_a_key() -> None:
    text = "% pubmill: name A = B = key\n% pubmill: name = key\n% pubmill: name C =\n% pubmill: name D\n"
    assert source_of("x", text).own_names() == {"A = B": "key"}


def test_a_file_has_at_most_its_limit_of_bytes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pubmill.extras.manuscript.latex_source.MOST_BYTES", 2_000_000)
    (tmp_path / "x.tex").write_bytes(b"a" * 2_000_000)
    assert len(read_source(tmp_path / "x.tex", "x").code) == 2_000_000
    (tmp_path / "x.tex").write_bytes(b"a" * 2_000_001)
    with pytest.raises(PubmillError, match="^x: larger than 2 MB, which is no manuscript$"):
        read_source(tmp_path / "x.tex", "x")
