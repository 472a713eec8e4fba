"""The engines that weft is measured beside, each with its model loaded and its inputs bound.

An engine is made from a model's path, its inputs by name, a number of threads and a folder for
what it writes; `run` is what is timed, `results` the outputs of the last run in the model's order.
IREE and tract allocate their outputs in every run, for their interfaces have no other way. `pip install onnxruntime openvino iree-base-compiler[onnx] iree-base-runtime tract jax jaxonnxruntime`.
"""
import os
import pathlib
import subprocess
import sys
import time

import numpy as np


class Ort:
    """ONNX Runtime, its defaults, outputs bound."""

    def __init__(self, model, feeds, threads, _folder):
        import onnxruntime as ort
        options = ort.SessionOptions()
        options.intra_op_num_threads = threads
        begin = time.perf_counter()
        self.session = ort.InferenceSession(model, options, providers=["CPUExecutionProvider"])
        self.compile_s = time.perf_counter() - begin
        self.binding = self.session.io_binding()
        for name, array in feeds.items():
            self.binding.bind_cpu_input(name, array)
        for output in self.session.get_outputs():
            self.binding.bind_output(output.name, "cpu")

    def run(self):
        self.session.run_with_iobinding(self.binding)

    def results(self):
        return self.binding.copy_outputs_to_cpu()


class OpenVino:
    """OpenVINO for latency, f32 asked for: its default is bf16 where a processor has it."""

    def __init__(self, model, feeds, threads, _folder):
        import openvino
        options = {"INFERENCE_NUM_THREADS": threads, "PERFORMANCE_HINT": "LATENCY",
                   "INFERENCE_PRECISION_HINT": "f32"}
        begin = time.perf_counter()
        compiled = openvino.Core().compile_model(model, "CPU", options)
        self.compile_s = time.perf_counter() - begin
        self.request, self.keep = compiled.create_infer_request(), []
        self.ports = compiled.outputs
        for port in compiled.inputs:
            name = next(name for name in port.get_names() if name in feeds)
            self.keep.append(openvino.Tensor(feeds[name], shared_memory=True))
            self.request.set_tensor(port, self.keep[-1])

    def run(self):
        self.request.infer()

    def results(self):
        return [np.array(self.request.get_tensor(port).data) for port in self.ports]


class Iree:
    """IREE for this processor, with data tiling: its best setting that compiles most models."""

    FLAGS = ["--iree-hal-target-device=local", "--iree-hal-local-target-device-backends=llvm-cpu",
             "--iree-llvmcpu-target-cpu=host", "--iree-opt-data-tiling"]

    def __init__(self, model, feeds, threads, folder):
        import iree.runtime as runtime
        tools = pathlib.Path(sys.executable).parent
        imported, code = os.path.join(folder, "model.mlir"), os.path.join(folder, "model.vmfb")
        begin = time.perf_counter()
        if not os.path.exists(code):
            quiet([tools / "iree-import-onnx", model, "-o", imported])
            quiet([tools / "iree-compile", imported, "-o", code, *self.FLAGS])
        self.compile_s = time.perf_counter() - begin
        if threads > 1:
            runtime.flags.parse_flags(f"--task_topology_group_count={threads}")
        config = runtime.Config("local-sync" if threads == 1 else "local-task")
        context = runtime.SystemContext(config=config)
        module = runtime.VmModule.mmap(config.vm_instance, code)
        context.add_vm_module(module)
        own = (name for name in module.function_names if not name.startswith("__"))
        name = next(name for name in own if not name.endswith("$async"))
        self.function = context.modules[module.name][name]
        self.inputs = [runtime.asdevicearray(config.device, feed) for feed in feeds.values()]

    def run(self):
        self.shown = self.function(*self.inputs)

    def results(self):
        several = isinstance(self.shown, (tuple, list))
        return [np.array(one.to_host()) for one in (self.shown if several else [self.shown])]


class Xla:
    """XLA for processors through JAX, weights as arguments."""

    def __init__(self, model, feeds, threads, _folder):
        import jax
        import onnx
        from jaxonnxruntime import call_onnx
        from jax.extend.backend import clear_backends
        # Its threads are as many as the processors that it may use when it begins.
        allowed = os.sched_getaffinity(0)
        os.sched_setaffinity(0, sorted(allowed)[:threads])
        clear_backends()
        jax.devices()
        begin = time.perf_counter()
        function, weights = call_onnx.call_onnx_model(onnx.load(model), feeds)
        weights, feeds = jax.device_put((weights, feeds))
        self.arguments = (weights, feeds)
        self.function = jax.jit(function).lower(*self.arguments).compile()
        self.compile_s = time.perf_counter() - begin
        os.sched_setaffinity(0, allowed)
        self.wait = jax.block_until_ready

    def run(self):
        self.shown = self.wait(self.function(*self.arguments))

    def results(self):
        return [np.array(one) for one in self.shown]


class Tract:
    """tract, which has one thread."""

    def __init__(self, model, feeds, threads, _folder):
        if threads > 1:
            raise RuntimeError("has one thread only")
        import tract
        begin = time.perf_counter()
        self.model = tract.onnx().load(model).into_model().into_runnable()
        self.compile_s = time.perf_counter() - begin
        self.inputs = [tract.Tensor.from_numpy(feed) for feed in feeds.values()]

    def run(self):
        self.shown = self.model.run(self.inputs)

    def results(self):
        return [one.to_numpy() for one in self.shown]


def quiet(command):
    """Runs a tool; what it says is only told when it fails."""
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          check=False)
    if done.returncode:
        said = [line for line in done.stdout.splitlines() if "error" in line.lower()]
        raise RuntimeError(f"{command[0].name}: {(said or ['failed'])[0]}")


PEERS = {"ort": Ort, "openvino": OpenVino, "iree": Iree, "xla": Xla, "tract": Tract}
