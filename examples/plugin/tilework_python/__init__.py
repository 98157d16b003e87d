"""An example of a plugin: an operator, a pass, and a back end that writes kernels as Python source."""
