"""Order a collection of items by asking people which of two they prefer, with as few questions as possible.

The names below are imported at first use, so that `import ordinate` is quick. Import anything else from its module:
errors from `ordinate.errors`, encoders from `ordinate.embedding`, data sets from `ordinate.datasets`, the client of a
server from `ordinate.client`.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ordinate.data.comparisons import Comparison, Query
    from ordinate.data.items import Items
    from ordinate.data.ordering import Ordering
    from ordinate.errors import OrdinateError
    from ordinate.study.study import Study

__version__ = "0.1.0.dev0"

__all__ = ["Comparison", "Items", "Ordering", "OrdinateError", "Query", "Study", "__version__"]

_MODULES = {
    "Comparison": "ordinate.data.comparisons",
    "Items": "ordinate.data.items",
    "Ordering": "ordinate.data.ordering",
    "OrdinateError": "ordinate.errors",
    "Query": "ordinate.data.comparisons",
    "Study": "ordinate.study.study",
}


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(_MODULES[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return list(__all__)
