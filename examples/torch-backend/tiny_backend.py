"""A backend of torch.compile named "tiny": it computes the captured graph in bfloat16 on the processor.

Importing this file registers it. `compile-option=fault=drop-column` plants a bug: matrix products lose their last column.
"""
import torch
from torch._dynamo import register_backend

FAULTS = ("none", "drop-column")
PRODUCTS = {torch.nn.functional.linear, torch._C._nn.linear, torch.matmul, torch.Tensor.matmul, torch.bmm}


@register_backend(name="tiny")
def compile_tiny(graph, example_inputs, options=None):
    fault = (options or {}).get("fault", "none")
    if fault not in FAULTS:
        raise ValueError(f"fault={fault}; expected one of {', '.join(FAULTS)}")
    return TinyProgram(graph, fault)


class TinyProgram(torch.fx.Interpreter):
    """Runs a graph node by node, as a chip with bfloat16 units would."""

    def __init__(self, graph, fault):
        super().__init__(graph)
        self.fault = fault

    def __call__(self, *inputs):
        wanted = [self.output_dtype(node) for node in self.outputs()]
        results = self.run(*(rounded(value) for value in inputs))
        return tuple(value if dtype is None else value.to(dtype) for value, dtype in zip(results, wanted))

    def outputs(self):
        return next(node for node in self.module.graph.nodes if node.op == "output").args[0]

    @staticmethod
    def output_dtype(node):
        """What the model itself would have given; None for what is no tensor with a fraction."""
        example = node.meta.get("example_value") if isinstance(node, torch.fx.Node) else None
        return example.dtype if isinstance(example, torch.Tensor) and example.is_floating_point() else None

    def run_node(self, node):
        result = rounded(super().run_node(node))
        return self.with_fault(result) if node.target in PRODUCTS else result

    def with_fault(self, product):
        if self.fault == "none":
            return product
        product = product.clone()
        product[..., -1] = 0
        return product


def rounded(value):
    """Every result is rounded to bfloat16; counters, masks of bools and shapes stay as they are."""
    is_float = isinstance(value, torch.Tensor) and value.is_floating_point()
    return value.to(torch.bfloat16) if is_float else value
