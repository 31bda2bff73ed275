"""The inspector: pages that show memories, why a recall ranks as it does, the concepts and the status.

It needs `pip install 'pgrecall[ui]'`. Unless it only reads, its forms change memories.
"""

from .application import create_app
from .serve import serve

__all__ = ["create_app", "serve"]
