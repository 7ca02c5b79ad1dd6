"""Models that answer beside people: each is an annotator, of whom the log keeps which model and which prompt it is."""

from __future__ import annotations

import json
import re
from typing import Literal, NamedTuple, get_args

from ordinate.data.cells import text
from ordinate.errors import InvalidInput

Orders = Literal["one", "both"]


class Machine(NamedTuple):
    """What tells one model judge from another.

    model       its name at the endpoint
    prompt      SHA-256 of the prompt's file, in hexadecimal; empty: not known, because it answered elsewhere
    orders      "one": a pair is shown once, with sides as drawn; "both": twice, with the sides swapped
    parameters  what else each request holds, such as the temperature, as JSON with sorted names
    """

    model: str
    prompt: str
    orders: Orders = "one"
    parameters: str = "{}"

    def checked(self) -> Machine:
        """Raises InvalidInput where it cannot be kept."""
        text("the model's name", self.model)
        if not re.fullmatch("([0-9a-f]{64})?", self.prompt):
            raise InvalidInput(f"the prompt is named by its SHA-256 in hexadecimal, not by {self.prompt!r}")
        if self.orders not in get_args(Orders):
            raise InvalidInput(f"orders are {' or '.join(get_args(Orders))}, not {self.orders!r}")
        try:
            parameters = json.loads(self.parameters)
            written = json.dumps(parameters, sort_keys=True, allow_nan=False)
        except (ValueError, RecursionError):
            parameters = None
        if not isinstance(parameters, dict):
            raise InvalidInput(
                f"the parameters of a model are an object in JSON, without NaN or infinity, not {self.parameters!r}"
            )
        return self._replace(parameters=written)

    def written(self) -> str:
        """All but the model, as an entry of the log keeps it."""
        return json.dumps({"prompt": self.prompt, "orders": self.orders, "parameters": self.parameters})

    @classmethod
    def read(cls, model: str, value: str) -> Machine:
        return cls(model, **json.loads(value))

    def difference(self, other: Machine) -> str:
        """In words, what this one has that the other has not."""
        pairs = zip(self._fields, self, other, strict=True)
        return ", ".join(f"{name} {mine[:12]}" for name, mine, theirs in pairs if mine != theirs)
