"""openworld: how a vision-language model or an image classifier will do outside the closed world it was built in."""

from openworld._errors import OpenworldError

__version__ = "0.1.0"
__all__ = ["OpenworldError", "__version__"]
