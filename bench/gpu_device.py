"""weft's kernels and models on the CUDA device at hand: answers held against PyTorch's in f32, times beside PyTorch's.

    python bench/gpu_device.py --weft target/release --kernels DIR --compile-only        # needs no device
    python bench/gpu_device.py --weft target/release --kernels DIR --out bench/results/gpu/device.json

DIR keeps the compiled kernels, so that they can be made on one machine and run on another. With `--models` networks
are made, compiled and run too; their peer is `torch.compile` with CUDA graphs. Times are medians of the device's
own clock around a run, both alike; sizes are such that caches do not hold the operands of what is bound by memory.
Needs PyTorch, and for networks onnx, torchvision and transformers. Exits with 1 if an answer is wrong.
"""

import argparse
import concurrent.futures
import functools
import json
import operator
import os
import pathlib
import re
import subprocess
import sys
import time

import numpy as np

BENCH = pathlib.Path(__file__).parent
sys.path[:0] = [str(BENCH), str(BENCH / "models")]
from attention import attention  # noqa: E402
from norms import norm  # noqa: E402

ROUNDS = 30
PRODUCT = "C[m,n] += A[m,k] * B[k,n]"
PIXELS = "y[n,h,w,o] += x[n,h+r,w+s,c] * f[r,s,c,o]"
# The accepted norm of the difference over the norm of the answer.
CLOSE = {"f32": 1e-5, "f16": 2e-3, "bf16": 1e-2}
COMMAND = "python bench/gpu_device.py --weft target/release --kernels DIR --models --out bench/results/gpu/device.json"


class Case:
    """A kernel: how weft compiles it, the shapes of its inputs, the same in PyTorch."""

    def __init__(self, name, elem, source, inputs, peer, operations=0, moved=0):
        self.name, self.elem, self.source = f"{name}-{elem}", elem, source
        self.inputs, self.peer, self.operations, self.moved = inputs, peer, operations, moved


def product(m, n, k, elem):
    sizes = f"m={m},n={n},k={k}"
    return Case(f"product-{m}x{n}x{k}", elem, ("kernel", PRODUCT, sizes), [(m, k), (k, n)], operator.matmul, 2 * m * n * k)


def with_bias(m, n, k, elem):
    """A product with a bias and a rectifier behind it."""
    def peer(a, b, c):
        import torch
        return torch.relu(torch.addmm(c, a, b))
    text = f"""func.func @dense(%a: tensor<{m}x{k}x{elem}>, %b: tensor<{k}x{n}x{elem}>, %c: tensor<{n}x{elem}>) -> tensor<{m}x{n}x{elem}> {{
  %zero = arith.constant 0.0 : f32
  %se = tensor.empty() : tensor<{m}x{n}xf32>
  %sf = linalg.fill ins(%zero : f32) outs(%se : tensor<{m}x{n}xf32>) -> tensor<{m}x{n}xf32>
  %s = linalg.matmul ins(%a, %b : tensor<{m}x{k}x{elem}>, tensor<{k}x{n}x{elem}>) outs(%sf : tensor<{m}x{n}xf32>) -> tensor<{m}x{n}xf32>
  %ye = tensor.empty() : tensor<{m}x{n}x{elem}>
  %r = linalg.generic {{indexing_maps = [affine_map<(m, n) -> (m, n)>, affine_map<(m, n) -> (n)>, affine_map<(m, n) -> (m, n)>], iterator_types = ["parallel", "parallel"]}} ins(%s, %c : tensor<{m}x{n}xf32>, tensor<{n}x{elem}>) outs(%ye : tensor<{m}x{n}x{elem}>) {{
  ^bb0(%x: f32, %y: {elem}, %o: {elem}):
    %yw = arith.extf %y : {elem} to f32
    %u = arith.addf %x, %yw : f32
    %v = arith.maximumf %u, %zero : f32
    %t = arith.truncf %v : f32 to {elem}
    linalg.yield %t : {elem}
  }} -> tensor<{m}x{n}x{elem}>
  return %r : tensor<{m}x{n}x{elem}>
}}
"""
    return Case(f"bias-relu-{m}x{n}x{k}", elem, ("text", text), [(m, k), (k, n), (n,)], peer, 2 * m * n * k)


def pixels(channels, side, elem, images=32):
    """A convolution by 3 x 3, pixels before channels, a border around the images."""
    def peer(x, f):
        import torch
        x, f = x.permute(0, 3, 1, 2), f.permute(3, 2, 0, 1).contiguous(memory_format=torch.channels_last)
        return torch.nn.functional.conv2d(x, f).permute(0, 2, 3, 1)
    sizes = f"n={images},h={side},w={side},o={channels},c={channels},r=3,s=3"
    shapes = [(images, side + 2, side + 2, channels), (3, 3, channels, channels)]
    operations = 2 * images * side * side * channels * channels * 9
    return Case(f"convolution-{channels}x{side}", elem, ("kernel", PIXELS, sizes), shapes, peer, operations)


def heads(width, elem, causal=False, count=48, rows=4096):
    def peer(q, k, v):
        import torch
        return torch.nn.functional.scaled_dot_product_attention(q[None], k[None], v[None], is_causal=causal)[0]
    text = attention(count, rows, width, elem, causal)
    shapes = [(count, rows, width)] * 3
    operations = 4 * count * rows * rows * width // (2 if causal else 1)
    return Case(f"attention-{width}{'-causal' if causal else ''}", elem, ("text", text), shapes, peer, operations)


def rows(name, elem, count=16384, width=4096):
    """Softmax or layer norm of rows."""
    def peer(x):
        import torch
        if name == "softmax":
            return torch.softmax(x, -1)
        return torch.nn.functional.layer_norm(x, (width,), eps=1e-5)
    text = norm(name, elem, count, width)
    moved = 2 * count * width * (4 if elem == "f32" else 2)
    return Case(name, elem, ("text", text), [(count, width)], peer, moved=moved)


def elementwise(name, expression, sizes, shapes, elem, peer, moved):
    return Case(name, elem, ("kernel", expression, sizes), shapes, peer, moved=moved * (4 if elem == "f32" else 2))


def cases():
    for elem in ["f16", "bf16"]:
        for shape in [(4096, 4096, 4096), (8192, 8192, 8192), (1024, 4096, 1024), (8192, 8192, 512), (300, 1000, 700)]:
            yield product(*shape, elem)
    yield product(131, 77, 59, "f16")
    yield product(4096, 4096, 4096, "f32")
    yield product(131, 77, 59, "f32")
    yield with_bias(4096, 4096, 4096, "f16")
    for channels, side in [(64, 56), (128, 28), (256, 14), (512, 7)]:
        yield pixels(channels, side, "f16")
    yield pixels(32, 28, "f32", images=4)
    for elem in ["f16", "bf16"]:
        for width in [64, 128]:
            yield heads(width, elem)
            yield heads(width, elem, causal=True)
    for name in ["softmax", "layernorm"]:
        for elem in ["f16", "f32"]:
            yield rows(name, elem)
    n, m = 1 << 26, 1 << 13
    yield elementwise("add", "h[i] = x[i] + y[i]", f"i={n}", [(n,), (n,)], "f32", lambda x, y: x + y, 3 * n)
    yield elementwise("add", "h[i] = x[i] + y[i]", f"i={n}", [(n,), (n,)], "f16", lambda x, y: x + y, 3 * n)
    yield elementwise("copy", "h[i] = x[i]", f"i={n}", [(n,)], "f32", lambda x: x.clone(), 2 * n)
    yield elementwise("turned", "h[j,i] = x[i,j]", f"i={m},j={m}", [(m, m)], "f32", lambda x: x.T.contiguous(), 2 * m * m)
    yield elementwise("sum-of-rows", "s[i] += x[i,j]", f"i={m},j={m}", [(m, m)], "f32", lambda x: x.sum(1), m * m)
    yield elementwise("most-of-columns", "s[j] max= x[i,j]", f"i={m},j={m}", [(m, m)], "f32", lambda x: x.amax(0), m * m)
    yield elementwise("odd", "h[i,j] = exp(x[i,j]) * y[j] + x[i,j]", "i=333,j=1001", [(333, 1001), (1001,)], "f16",
                      lambda x, y: x.exp() * y + x, 2 * 333 * 1001)


def artifact(args, case):
    """The compiled kernel, made where it is missing."""
    path = args.kernels / f"{case.name}.weft"
    if path.exists():
        return path
    kind, source, *sizes = case.source
    if kind == "kernel":
        command = ["kernel", source, "--shape", sizes[0], "--dtype", case.elem, "--emit", "weft"]
    else:
        model = args.kernels / f"{case.name}.mlir"
        model.write_text(source)
        command = ["compile", model, "--no-cache"]
    weft([args.weft / "weft", *command, "--device", args.machine, "-o", path])
    return path


def weft(command):
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    if done.returncode:
        raise RuntimeError(done.stderr.strip()[-600:] or f"exit status {done.returncode}")
    return done.stdout


def stored(tensor):
    """A tensor as `weft-run` reads it: 16 bits of bf16 are those of a number without sign."""
    import torch
    tensor = tensor.cpu().contiguous()
    return (tensor.view(torch.uint16) if tensor.dtype == torch.bfloat16 else tensor).numpy()


def loaded(array, elem):
    import torch
    if elem == "bf16":
        return torch.from_numpy(array.astype(np.int32) << 16).view(torch.float32)
    return torch.from_numpy(array.astype(np.float32))


def off(found, wanted):
    """The norm of the difference over that of the answer."""
    found, wanted = found.double().flatten(), wanted.double().flatten()
    if found.shape != wanted.shape or not bool(found.isfinite().all()):
        return float("inf")
    return float((found - wanted).norm() / wanted.norm())


def median_ms(run):
    """The median of the device's time from before a run to after it."""
    import torch
    for _ in range(10):
        run()
    moments = []
    for _ in range(ROUNDS):
        pair = [torch.cuda.Event(enable_timing=True) for _ in range(2)]
        pair[0].record()
        run()
        pair[1].record()
        moments.append(pair)
    torch.cuda.synchronize()
    return float(np.median([start.elapsed_time(end) for start, end in moments]))


def kernel_row(args, case):
    import torch
    torch.manual_seed(7)
    dtype = {"f32": torch.float32, "f16": torch.float16, "bf16": torch.bfloat16}[case.elem]
    tensors = [torch.randn(shape, device="cuda", dtype=torch.float32).to(dtype) for shape in case.inputs]
    given, made = args.kernels / "given.npz", args.kernels / "made.npz"
    np.savez(given, **{f"arr_{number}": stored(tensor) for number, tensor in enumerate(tensors)})
    wanted = case.peer(*[tensor.float() for tensor in tensors]).cpu()
    peer_ms = median_ms(lambda: case.peer(*tensors))
    command = [args.weft / "weft-run", artifact(args, case), "--device", "cuda", "--inputs", given, "--outputs", made]
    said = json.loads(weft([*command, "--bench", str(ROUNDS)]))
    with np.load(made) as arrays:
        found = loaded(arrays[arrays.files[0]], case.elem)
    row = {"case": case.name, "off": off(found, wanted), "ms": said["median_ms"], "torch_ms": peer_ms}
    row["times_torch"] = peer_ms / row["ms"]
    if case.operations:
        row["tflops"] = case.operations / row["ms"] / 1e9
    if case.moved:
        row["gb_per_s"] = case.moved / row["ms"] / 1e6
    row["right"] = row["off"] <= CLOSE[case.elem]
    return row


# Networks: those that the project makes by name, and ResNet-50 as torchvision exports it.
NETWORKS = ["bert", "resnet50", "mobilenet_v2", "nafnet", "gpt2_prefill"]


def network(folder, name):
    """Writes a network in f16, its inputs and what it gives in f32."""
    target = folder / f"{name}.f16.onnx"
    if name == "resnet50":
        import torch
        import torchvision
        torch.manual_seed(3)
        net = torchvision.models.resnet50().eval()
        x = torch.randn(1, 3, 224, 224)
        with torch.no_grad():
            np.savez(folder / f"{name}.expect.npz", arr_0=net(x).numpy())
            np.savez(folder / f"{name}.inputs.npz", arr_0=x.numpy().astype(np.float16))
            torch.onnx.export(net.half(), (x.half(),), target, opset_version=17, dynamo=False)
        return target
    from matrix import in_half
    subprocess.run([sys.executable, BENCH / "models" / "generate.py", "--suite", "models", "--scale", "full", "--only",
                    f"^{name}$", "-o", folder], check=True, stdout=subprocess.DEVNULL)
    in_half(folder / f"{name}.onnx", target)
    with np.load(folder / f"{name}.inputs.npz") as arrays:
        halves = {key: arrays[key].astype(np.float16) if arrays[key].dtype == np.float32 else arrays[key] for key in arrays.files}
    np.savez(folder / f"{name}.inputs.npz", **halves)
    return target


def compiled_network(args, name):
    folder = args.kernels / "networks"
    folder.mkdir(exist_ok=True)
    model = network(folder, name)
    begin = time.perf_counter()
    weft([args.weft / "weft", "compile", model, "--no-cache", "--device", args.machine, "-o", folder / f"{name}.weft"])
    return time.perf_counter() - begin


def network_row(args, name, compile_s):
    folder = args.kernels / "networks"
    made = folder / "made.npz"
    command = [args.weft / "weft-run", folder / f"{name}.weft", "--device", "cuda"]
    command += ["--inputs", folder / f"{name}.inputs.npz", "--outputs", made]
    said = json.loads(weft([*command, "--bench", str(ROUNDS), "--profile"]))
    with np.load(made) as found, np.load(folder / f"{name}.expect.npz") as wanted:
        offs = [off(loaded(found[ours], "f16"), loaded(wanted[theirs], "f32")) for ours, theirs in zip(found.files, wanted.files)]
    row = {"case": name, "off": max(offs), "ms": said["median_ms"], "compile_s": compile_s}
    row["right"] = row["off"] <= 2e-2
    profile = sorted(said["profile"], key=lambda own: -own["total_ms"])
    row["kernels_ms"] = sum(own["total_ms"] for own in profile)
    row["longest"] = [{"kernel": own["kernel"], "ms": own["total_ms"]} for own in profile[:8]]
    return row


def peer_network(name):
    """The time of the same network by PyTorch; waits for a line on standard input between compiling and measuring."""
    import torch
    torch.manual_seed(3)
    if name == "resnet50":
        import torchvision
        net = torchvision.models.resnet50()
        given = {"x": torch.randn(1, 3, 224, 224, device="cuda", dtype=torch.float16).contiguous(memory_format=torch.channels_last)}
    elif name == "mobilenet_v2":
        import torchvision
        net = torchvision.models.mobilenet_v2()
        given = {"x": torch.randn(1, 3, 224, 224, device="cuda", dtype=torch.float16).contiguous(memory_format=torch.channels_last)}
    else:
        from transformers import BertConfig, BertModel
        net = BertModel(BertConfig(), add_pooling_layer=False)
        given = {"inputs_embeds": torch.randn(1, 128, 768, device="cuda", dtype=torch.float16)}
    net = net.eval().half().cuda()
    if name != "bert":
        net = net.to(memory_format=torch.channels_last)
    fast = torch.compile(net, mode="reduce-overhead")
    with torch.no_grad():
        for _ in range(5):
            fast(**given)
        torch.cuda.synchronize()
        print("ready", flush=True)
        sys.stdin.readline()
        print(median_ms(lambda: fast(**given)), flush=True)


def guarded(make, name):
    """A row, or one that says what went wrong."""
    try:
        return make()
    except Exception as error:  # noqa: BLE001  what fails is a row, and the other cases go on
        return {"case": name, "right": False, "error": f"{type(error).__name__}: {error}"[:600]}


def shown(row):
    if "error" in row:
        return f"{row['case']:32} FAILED {row['error']}"
    numbers = "  ".join(f"{key} {value:.4g}" for key, value in row.items() if isinstance(value, float))
    return f"{row['case']:32} {'ok   ' if row['right'] else 'WRONG'} {numbers}"


def networks_rows(args, wanted, pool):
    compiled = {name: pool.submit(guarded, functools.partial(compiled_network, args, name), name) for name in wanted}
    command = [sys.executable, __file__, "--peer"]
    pipes = dict(stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    peers = {name: subprocess.Popen([*command, name], **pipes) for name in wanted if name in ["bert", "resnet50", "mobilenet_v2"]}

    def rows():
        ready = {name: peer for name, peer in peers.items() if peer.stdout.readline().strip() == "ready"}
        times = {name: compiled[name].result() for name in wanted}
        for name in wanted:
            if isinstance(times[name], dict):
                yield times[name]
                continue
            row = guarded(functools.partial(network_row, args, name, times[name]), name)
            if name in ready:
                said, _ = ready[name].communicate("go\n", timeout=60)
                row["torch_ms"] = float(said)
                if "ms" in row:
                    row["times_torch"] = row["torch_ms"] / row["ms"]
            yield row
    return rows


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--weft", type=pathlib.Path, default="target/release", help="the folder of weft and weft-run")
    parser.add_argument("--kernels", type=pathlib.Path, help="a folder for what is compiled")
    parser.add_argument("--machine", default="h200")
    parser.add_argument("--only", default="", help="a regular expression in the names of cases")
    parser.add_argument("--models", action="store_true")
    parser.add_argument("--compile-only", action="store_true")
    parser.add_argument("--peer", help=argparse.SUPPRESS)
    parser.add_argument("--out", type=pathlib.Path)
    args = parser.parse_args()
    if args.peer:
        return peer_network(args.peer)
    args.kernels.mkdir(parents=True, exist_ok=True)
    wanted = [case for case in cases() if re.search(args.only, case.name)]
    names = [name for name in NETWORKS if args.models and re.search(args.only, name)]
    pool = concurrent.futures.ThreadPoolExecutor(os.cpu_count())
    made = {case.name: pool.submit(guarded, functools.partial(artifact, args, case), case.name) for case in wanted}
    later = networks_rows(args, names, pool) if names and not args.compile_only else list
    failed = [row.result() for row in made.values() if isinstance(row.result(), dict)]
    for row in failed:
        print(shown(row), flush=True)
    if args.compile_only:
        return bool(failed)
    rows = []

    def keep(row):
        rows.append(row)
        print(shown(row), flush=True)
    import torch
    torch.backends.cudnn.allow_tf32 = False
    for case in wanted:
        keep(guarded(functools.partial(kernel_row, args, case), case.name))
    for row in later():
        keep(row)
    result = {"command": COMMAND, "device": torch.cuda.get_device_name(), "torch": torch.__version__, "rounds": ROUNDS, "rows": rows}
    if args.out:
        args.out.parent.mkdir(parents=True, exist_ok=True)
        args.out.write_text(json.dumps(result, indent=1) + "\n")
    return not all(row["right"] for row in rows)


if __name__ == "__main__":
    sys.exit(main())
