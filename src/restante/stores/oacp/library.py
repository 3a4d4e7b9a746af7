"""The YAML library, which comes with the extra ``oacp``: nothing but OACP trees needs it."""

from __future__ import annotations

from restante.domain.errors import Refused

try:
    import yaml
except ModuleNotFoundError:
    raise Refused("OACP trees need the package PyYAML", remedy="pip install 'restante[oacp]'") from None

__all__ = ["yaml"]
