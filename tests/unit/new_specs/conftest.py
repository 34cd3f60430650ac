"""Files as a new dataset, by the steps of `pubmill new dataset`."""

from collections.abc import Callable, Mapping
from itertools import count
from pathlib import Path

import pytest
import yaml

from pubmill.convert.dataset import convert
from pubmill.new_specs.file_forms import NOTHING, Given
from pubmill.new_specs.new_dataset import Described, describe, new_dataset, write_dataset
from pubmill.recipes.datasets import Access
from pubmill.specs import DatasetSpec
from pubmill.stages.dataset_recipes import conversion_recipe

Found = Callable[..., Described]
"""`found(files, given, access)`: the dataset `mine` of files by name, in a folder of their own."""


@pytest.fixture
def found(tmp_path: Path) -> Found:
    folders = (tmp_path / f"{number}" for number in count())

    def describe_files(
        files: Mapping[str, str | bytes], given: Given = NOTHING, access: Access = "public"
    ) -> Described:
        root = next(folders)
        for name, content in files.items():
            path = root / "given" / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content.encode() if isinstance(content, str) else content)
        data = new_dataset([str(root / "given")], "mine", None, root, root / "data", access=access)
        described = describe(data, given)
        spec = write_dataset(data, described, root)
        written = DatasetSpec.model_validate(yaml.safe_load(spec.read_text()))
        assert (written.converter, written.options) == (described.form.converter, described.form.options)
        again = convert(conversion_recipe("mine", written), data.files, root / "converted")
        assert again["counts"] == described.card["counts"]
        return described

    return describe_files
