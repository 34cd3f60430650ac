"""Renderers of transfers between datasets."""

from pubmill.report.rendering import renderers
from pubmill.storage.result_paths import PAGE_FORMATS
from pubmill.tables.transfer_matrix import TransferMatrix


def _values(matrix: TransferMatrix) -> dict[str, TransferMatrix]:
    return {"found": matrix}


TRANSFER_RENDERERS = renderers("transfer", PAGE_FORMATS, _values)
