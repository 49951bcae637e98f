"""Whole models on the device: built small and alike everywhere, held against what the CPU answers on the base commit.

Owns how a model check is run and what its result says, down to the first layer that differs. Which models there are is
said by manifests (`selector.manifests.models`); processes, limits and the sandbox are `workers.runner`'s. Only
`workers.models.child` imports torch, in a child process.
"""
