"""Whole networks and their cells; `full` has the published sizes, `ci` fewer and thinner layers."""
import functools

from nets import cells, classifiers, graphs, images, recurrent, swin, transformers

# name: (function, sizes at scale ci, sizes at scale full)
MODELS = {
    "attention": (
        transformers.attention,
        dict(batch=2, heads=3, tokens=128, keys=128, width=64),
        dict(batch=64, heads=12, tokens=128, keys=128, width=64)),
    "attention_4k": (
        transformers.attention,
        dict(batch=1, heads=2, tokens=1, keys=4096, width=64),
        dict(batch=1, heads=12, tokens=128, keys=4096, width=64)),
    "bert": (
        transformers.encoder,
        dict(batch=1, tokens=32, width=192, heads=3, layers=2),
        dict(batch=1, tokens=128, width=768, heads=12, layers=12)),
    "gpt2_prefill": (
        transformers.encoder,
        dict(batch=1, tokens=33, width=192, heads=3, layers=1, masked=True),
        dict(batch=1, tokens=1024, width=768, heads=12, layers=12, masked=True)),
    "gpt2_decode": (
        transformers.gpt2_decode,
        dict(batch=1, past=127, width=192, heads=3, layers=2, words=1009),
        dict(batch=1, past=1023, width=768, heads=12, layers=12, words=50257)),
    "vit": (
        transformers.vit,
        dict(batch=1, image=96, patch=32, width=192, heads=3, layers=2, classes=104),
        dict(batch=1, image=224, patch=32, width=384, heads=6, layers=12, classes=1000)),
    "swin": (
        swin.swin_stage,
        dict(batch=1, size=14, width=96, heads=3, window=7, layers=2),
        dict(batch=1, size=56, width=96, heads=3, window=7, layers=2)),
    **{f"unet_{up}": (
        functools.partial(images.unet, up=up),
        dict(batch=1, size=48, width=8, depth=3, classes=2),
        dict(batch=1, size=224, width=64, depth=4, classes=2))
       for up in ("transpose", "nearest", "linear")},
    "nafnet": (
        images.nafnet,
        dict(batch=1, size=32, width=16, encoders=[1], middle=1, decoders=[1]),
        dict(batch=1, size=256, width=16, encoders=[1], middle=1, decoders=[1])),
    "se_resnext": (
        classifiers.se_resnext,
        dict(batch=1, size=56, width=32, group=8, counts=(1, 2), classes=104),
        dict(batch=1, size=224, width=64, group=32, counts=(3, 4, 6, 3), classes=1000)),
    "densenet": (
        classifiers.densenet,
        dict(batch=1, size=56, growth=16, counts=(2, 3), classes=104),
        dict(batch=1, size=224, growth=32, counts=(6, 12, 24, 16), classes=1000)),
    "mobilenet_v2": (
        classifiers.mobilenet_v2,
        dict(batch=1, size=56, stages=[(1, 8, 1, 1), (6, 16, 2, 2), (6, 24, 1, 2)], classes=104),
        dict(batch=1, size=224, classes=1000, stages=[
            (1, 16, 1, 1), (6, 24, 2, 2), (6, 32, 3, 2), (6, 64, 4, 2), (6, 96, 3, 1),
            (6, 160, 3, 2), (6, 320, 1, 1)])),
    "alexnet": (
        classifiers.alexnet,
        dict(batch=1, size=99, widths=(32, 64, 96, 96, 64), hidden=128, classes=104),
        dict(batch=1, size=227, widths=(64, 192, 384, 384, 256), hidden=4096, classes=1000)),
    "inception": (
        cells.inception,
        dict(batch=1, size=14, channels=192, one=64, three=(96, 128), five=(16, 32), pooled=32),
        dict(batch=32, size=28, channels=192, one=64, three=(96, 128), five=(16, 32),
             pooled=32)),
    "inception_factored": (
        cells.inception_factored,
        dict(batch=1, size=17, channels=96, inner=32, filters=48),
        dict(batch=32, size=17, channels=768, inner=128, filters=192)),
    "nasnet_normal": (
        cells.nasnet_normal,
        dict(batch=1, size=11, channels=84, filters=42),
        dict(batch=128, size=42, channels=1008, filters=168)),
    "nasnet_reduction": (
        cells.nasnet_reduction,
        dict(batch=1, size=19, channels=84, filters=42),
        dict(batch=128, size=83, channels=168, filters=84)),
    "lstm_unrolled": (
        recurrent.lstm_unrolled,
        dict(layers=2, steps=4, batch=1, hidden=64),
        dict(layers=10, steps=100, batch=1, hidden=256)),
    "gru_unrolled": (
        recurrent.gru_unrolled,
        dict(layers=2, steps=4, batch=2, hidden=64),
        dict(layers=10, steps=100, batch=1, hidden=256)),
    "deepspeech2": (
        recurrent.speech,
        dict(batch=1, frames=44, bins=37, filters=8, layers=2, hidden=64, letters=29),
        dict(batch=1, frames=300, bins=171, filters=32, layers=7, hidden=256, letters=29)),
    "nerf": (
        graphs.perceptron,
        dict(rows=512, widths=(64, 64, 64, 64, 3)),
        dict(rows=2073600, widths=(64, *[64] * 6, 3))),
    "conformer": (
        graphs.conformer_block,
        dict(batch=1, frames=64, width=64, heads=2, inner=64, kernel=31),
        dict(batch=1, frames=512, width=512, heads=8, inner=512, kernel=31)),
    "dlrm": (
        graphs.dlrm,
        dict(batch=16, dense=13, tables=8, rows=1000, bottom=(64, 32), top=(64, 32, 1)),
        dict(batch=256, dense=13, tables=26, rows=100000, bottom=(512, 256, 64), top=(512, 256, 1))),
    "diamond": (
        graphs.diamond,
        dict(rows=35, width=96),
        dict(rows=4096, width=1024)),
    "einsum_attention": (
        graphs.contraction,
        dict(equation="bqhd,bkhd->bhqk", shapes=((2, 9, 3, 32), (2, 17, 3, 32))),
        dict(equation="bqhd,bkhd->bhqk", shapes=((16, 128, 12, 64), (16, 128, 12, 64)))),
}


def cases(scale):
    column = {"ci": 1, "full": 2}[scale]
    return [(name, functools.partial(row[0], **row[column])) for name, row in MODELS.items()]
