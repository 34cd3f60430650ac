"""Renderers of transfers between datasets."""

from pubmill.extras.transfer.transfer_matrix import TransferMatrix
from pubmill.report.rendering import renderers
from pubmill.storage.result_paths import PAGE_FORMATS


def _values(matrix: TransferMatrix) -> dict[str, TransferMatrix]:
    return {"found": matrix}


TRANSFER_RENDERERS = renderers("transfer", PAGE_FORMATS, _values)
