#!/usr/bin/env python3
"""A U-Net whose activations do not fit the memory declared for them, beside the same without limit.

    python bench/stream.py --size 2048 --capacity-mb 128

Writes the model, a machine with that much device memory and a host memory behind it, compiles
and runs both ways, and prints one JSON object: arenas, bytes over each move, times, and the
largest difference of the results. Needs numpy and onnx.
"""
import argparse
import json
import pathlib
import re
import subprocess
import sys
import tempfile

import numpy as np
import onnx

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "bench" / "models"))
from nets import images  # noqa: E402


def unet(size, width, depth):
    """Nothing in it but its ports says how large the image is: built small, then resized."""
    model = images.unet("unet", 0, 1, 2 << depth, width, depth, 2, up="transpose").model()
    for port in [*model.graph.input, *model.graph.output]:
        for dim in port.type.tensor_type.shape.dim[2:]:
            dim.dim_value = size
    return model


def machine(base, capacity):
    """The machine with `capacity` bytes in @dram, and a memory behind it."""
    text = re.sub(
        r'(device\.memory @dram .*?)capacity_bytes\(\d+\)(.*) host\("memory"\)',
        rf"\1capacity_bytes({capacity})\2", base.read_text())
    facts = """
  device.memory @host scope("host") capacity_bytes(68719476736) bytes_per_cycle(12)
  device.move @bring from @host to @dram bytes_per_cycle(4)
  device.move @take from @dram to @host bytes_per_cycle(4)
"""
    return text.replace("\n  // 32 registers", facts + "\n  // 32 registers", 1)


def arenas(weft, model, options):
    head = subprocess.run([weft, "compile", model, "--emit", "task", "-o", "-", *options],
                          check=True, capture_output=True, text=True).stdout
    program = re.search(r"task\.program .*", head).group()
    host = re.search(r"host_arena = (\d+)", program)
    return int(re.search(r" arena (\d+)", program).group(1)), int(host.group(1)) if host else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--weft", default=ROOT / "target" / "release" / "weft")
    parser.add_argument("--base", type=pathlib.Path, default=ROOT / "devices" / "x86-avx512.mlir")
    parser.add_argument("--size", type=int, default=2048)
    parser.add_argument("--width", type=int, default=16)
    parser.add_argument("--depth", type=int, default=4)
    parser.add_argument("--capacity-mb", type=float, default=128)
    parser.add_argument("--repeat", type=int, default=2)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        onnx.save(unet(args.size, args.width, args.depth), folder / "unet.onnx")
        image = np.random.default_rng(0).random((1, 3, args.size, args.size), dtype=np.float32)
        np.savez(folder / "in.npz", image=image)
        (folder / "machine.mlir").write_text(machine(args.base, int(args.capacity_mb * 2**20)))
        found, results = {"size": args.size, "width": args.width, "depth": args.depth}, []
        for way, device in ("unlimited", args.base), ("streamed", folder / "machine.mlir"):
            options = ["--device", str(device)]
            compiled, out = folder / f"{way}.weft", folder / f"{way}.npz"
            subprocess.run([args.weft, "compile", folder / "unet.onnx", "-o", compiled, *options],
                           check=True)
            subprocess.run([args.weft, "run", compiled, "--inputs", folder / "in.npz",
                            "--outputs", out], check=True, capture_output=True)
            bench = subprocess.run([args.weft, "bench", compiled, "--inputs", folder / "in.npz",
                                    "--repeat", str(args.repeat), "--json"],
                                   check=True, capture_output=True, text=True).stdout
            bench = json.loads(bench)
            arena, host = arenas(args.weft, folder / "unet.onnx", options)
            found[way] = dict(arena_bytes=arena, host_arena_bytes=host,
                              median_ms=bench["median_ms"], moved_bytes=bench.get("moved_bytes"))
            results.append(np.load(out)["y"].astype(np.float64))
        found["largest_difference"] = float(np.abs(results[0] - results[1]).max())
        found["largest_value"] = float(np.abs(results[0]).max())
        print(json.dumps(found, indent=2))


if __name__ == "__main__":
    main()
