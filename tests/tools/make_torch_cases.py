"""Writes tests/data/frameworks/torch/: programs of PyTorch/XLA, their inputs and
what they give on XLA's CPU backend.

    PJRT_DEVICE=CPU python tests/tools/make_torch_cases.py tests/data/frameworks/torch

Needs torch 2.9.0 and torch_xla 2.9.0 (PyPI; 7 GB with what they depend on; to
regenerate only). Each program gives

    lazy_NAME.hlo, .pb, .npz    the lazy graph as torch_xla sends it to XLA
    export_NAME.mlir, .npz      the same through torch.export and StableHLO

arg0 ... stand in the order of the program's parameters, out0 ... are the results.
"""
import os
import sys

os.environ.setdefault("PJRT_DEVICE", "CPU")

import numpy as np  # noqa: E402
import torch  # noqa: E402
import torch.nn.functional as F  # noqa: E402
import torch_xla  # noqa: E402
from torch import nn  # noqa: E402
from torch_xla.stablehlo import VariableType, exported_program_to_stablehlo  # noqa: E402

PROGRAMS = {}


def program(*shapes, **kinds):
    """A module class; its forward takes tensors of these shapes."""
    def add(cls):
        PROGRAMS[cls.__name__] = (cls, shapes, kinds)
        return cls
    return add


@program((3, 8))
class mlp(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.b = nn.Linear(8, 6), nn.Linear(6, 4)

    def forward(self, x): return self.b(F.gelu(self.a(x)))


@program((2, 5, 8))
class attention(nn.Module):
    def __init__(self):
        super().__init__()
        self.qkv, self.out = nn.Linear(8, 24), nn.Linear(8, 8)

    def forward(self, x):
        q, k, v = (t.reshape(2, 5, 2, 4).transpose(1, 2) for t in self.qkv(x).chunk(3, -1))
        y = torch.softmax(q @ k.transpose(-1, -2) / 2, -1) @ v
        return self.out(y.transpose(1, 2).reshape(2, 5, 8))


@program((1, 3, 9, 9))
class conv_pool(nn.Module):
    def __init__(self):
        super().__init__()
        self.c = nn.Conv2d(3, 4, 3, stride=2, padding=1)

    def forward(self, x): return F.max_pool2d(F.relu(self.c(x)), 2), F.avg_pool2d(x, 3)


@program((4, 3, 5))
class norms(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer, self.batch = nn.LayerNorm(5), nn.BatchNorm1d(3).eval()

    def forward(self, x): return self.layer(x), self.batch(x)


@program((4, 6))
class reductions(nn.Module):
    def forward(self, x): return x.sum(0), x.mean(), x.amax(1), x.argmax(1), x.std(1), torch.logsumexp(x, 0), (x > 0).all()


@program((4, 6))
class shaping(nn.Module):
    def forward(self, x): return torch.cat([x, x.flip(0)], 1), x.t().reshape(3, 8), x[1:3, ::2], F.pad(x, (1, 2)), x.repeat(2, 1), torch.stack([x, x * 2])


@program((5, 7))
class sorting(nn.Module):
    def forward(self, x): return torch.sort(x, 1)[0], torch.topk(x, 3)[0], torch.cumsum(x, 1)


@program((4, 4))
class elementwise(nn.Module):
    def forward(self, x): return torch.sigmoid(x), F.silu(x), torch.tanh(x), x.abs().sqrt(), torch.clamp(x, -1, 1), torch.where(x > 0, x, -x), x.round()


@program((3, 6), dtype=torch.bfloat16)
class bfloat16_linear(nn.Module):
    def __init__(self):
        super().__init__()
        self.a = nn.Linear(6, 4).to(torch.bfloat16)

    def forward(self, x): return self.a(x), x * 2


@program((2, 4), integers=10)
class embedding(nn.Module):
    def __init__(self):
        super().__init__()
        self.e = nn.Embedding(10, 6)

    def forward(self, i): return self.e(i), (i + 1) % 3, F.one_hot(i, 10)


@program((6, 5), train=True)
class train_step(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.b = nn.Linear(5, 8), nn.Linear(8, 3)

    def forward(self, x): return (self.b(torch.tanh(self.a(x))) ** 2).mean()


@program((2, 2, 6, 6), train=True)
class conv_train_step(nn.Module):
    def __init__(self):
        super().__init__()
        self.c, self.n = nn.Conv2d(2, 3, 3, padding=1), nn.BatchNorm2d(3)

    def forward(self, x): return F.max_pool2d(F.relu(self.n(self.c(x))), 2).pow(2).mean()


def arrays(prefix, tensors):
    named = {}
    for k, t in enumerate(tensors):
        t = t.detach().cpu().contiguous()
        if t.dtype == torch.bfloat16:
            named[f"{prefix}{k}.bf16"] = t.view(torch.uint16).numpy()
        else:
            named[f"{prefix}{k}"] = t.numpy()
    return named


def listed(result): return list(result) if isinstance(result, (tuple, list)) else [result]


def save(path, inputs, outputs):
    np.savez_compressed(path + ".npz", **arrays("arg", inputs), **arrays("out", outputs))


def lazy(path, module, inputs, train):
    device = torch_xla.device()
    module, inputs = module.to(device), [x.to(device) for x in inputs]
    torch_xla.sync()
    if train:
        optimizer = torch.optim.SGD(module.parameters(), lr=0.1)
        loss = module(*inputs)
        loss.backward()
        optimizer.step()
        outputs = [loss.detach()] + [p.detach() for p in module.parameters()]
    else:
        with torch.no_grad():
            outputs = listed(module(*inputs))
    text = torch_xla._XLAC._get_xla_tensors_hlo(outputs)
    proto = torch_xla._XLAC._get_xla_tensors_hlo_proto(outputs)
    _, data = torch_xla._XLAC._get_tensors_xla_device_data_node(outputs)
    data = [d.detach().cpu() for d in data]
    save(path, data, outputs)
    with open(path + ".hlo", "w") as f:
        f.write(text)
    with open(path + ".pb", "wb") as f:
        f.write(proto)


def exported(path, module, inputs):
    outputs = listed(module(*inputs))
    bundle = exported_program_to_stablehlo(torch.export.export(module, tuple(inputs)))
    meta = bundle._bundle.stablehlo_funcs[0].meta
    values = []
    for place in meta.input_locations:
        if place.type_ == VariableType.INPUT_ARG:
            values.append(inputs[place.position])
        elif place.type_ == VariableType.PARAMETER:
            values.append(torch.as_tensor(bundle._bundle.state_dict[place.name]))
        else:
            values.append(torch.as_tensor(bundle._bundle.additional_constants[place.position]))
    save(path, values, outputs)
    with open(path + ".mlir", "w") as f:
        f.write(bundle.get_stablehlo_text())


def main():
    folder = sys.argv[1]
    os.makedirs(folder, exist_ok=True)
    for name, (cls, shapes, kinds) in PROGRAMS.items():
        torch.manual_seed(5)
        module, train = cls(), kinds.get("train", False)
        if "integers" in kinds:
            inputs = [torch.randint(kinds["integers"], s) for s in shapes]
        else:
            inputs = [torch.randn(s).to(kinds.get("dtype", torch.float32)) for s in shapes]
        for form in ("export", "lazy"):  # the lazy form moves the module
            try:
                if form == "lazy":
                    lazy(os.path.join(folder, "lazy_" + name), module, inputs, train)
                elif not train and "dtype" not in kinds:  # no bf16 there
                    exported(os.path.join(folder, "export_" + name), module, inputs)
            except Exception as e:
                print("not made:", form, name, " ".join(str(e).split())[:300])


if __name__ == "__main__":
    main()
