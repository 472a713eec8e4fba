"""Attention as a function of upstream `linalg`: softmax(q k / sqrt(width)) v of heads, sums and softmax in f32.

    python bench/models/attention.py 48 4096 64 f16 > attention.mlir
"""

import sys

PRODUCT = """  %{name} = linalg.generic {{indexing_maps = [#q, #{other}, #o], iterator_types = ["parallel", "parallel", "parallel", "reduction"]}} ins({ins}) outs({outs}) {{
  ^bb0(%x: {elem}, %y: {elem}, %a: f32):
    %xw = arith.extf %x : {elem} to f32
    %yw = arith.extf %y : {elem} to f32
    %u = arith.mulf %xw, %yw : f32
    %t = arith.addf %a, %u : f32
    linalg.yield %t : f32
  }} -> {result}
"""


def pointwise(name, maps, ins, outs, args, body, result, last="parallel"):
    kinds = f'["parallel", "parallel", "{last}"]'
    return f"""  %{name} = linalg.generic {{indexing_maps = [{maps}], iterator_types = {kinds}}} ins({ins}) outs({outs}) {{
  ^bb0({args}):
{body}
  }} -> {result}
"""


def attention(heads, length, width, elem, causal=False):
    """The text for `heads` times `length` rows of `width` numbers of `elem`; each sees those in front of it, or all."""
    rows, scores = f"tensor<{heads}x{length}xf32>", f"tensor<{heads}x{length}x{length}xf32>"
    own, sums = f"tensor<{heads}x{length}x{width}x{elem}>", f"tensor<{heads}x{length}x{width}xf32>"
    narrow = f"tensor<{heads}x{length}x{length}x{elem}>"
    text = f"""#q = affine_map<(b, m, n, k) -> (b, m, k)>
#k = affine_map<(b, m, n, k) -> (b, n, k)>
#v = affine_map<(b, m, n, k) -> (b, k, n)>
#o = affine_map<(b, m, n, k) -> (b, m, n)>
#e = affine_map<(b, m, n) -> (b, m, n)>
#r = affine_map<(b, m, n) -> (b, m)>
func.func @attention(%q: {own}, %k: {own}, %v: {own}) -> {own} {{
  %zero = arith.constant 0.0 : f32
  %low = arith.constant 0xFF800000 : f32
  %scale = arith.constant {width ** -0.5} : f32
  %se = tensor.empty() : {scores}
  %sf = linalg.fill ins(%zero : f32) outs(%se : {scores}) -> {scores}
"""
    text += PRODUCT.format(name="s0", other="k", ins=f"%q, %k : {own}, {own}", outs=f"%sf : {scores}", elem=elem, result=scores)
    body = "    %t = arith.mulf %x, %scale : f32\n    linalg.yield %t : f32"
    seen = "sc" if causal else "s"
    text += pointwise(seen, "#e, #e", f"%s0 : {scores}", f"%se : {scores}", "%x: f32, %a: f32", body, scores)
    if causal:
        body = """    %row = linalg.index 1 : index
    %key = linalg.index 2 : index
    %later = arith.cmpi sgt, %key, %row : index
    %t = arith.select %later, %low, %x : f32
    linalg.yield %t : f32"""
        text += pointwise("s", "#e, #e", f"%sc : {scores}", f"%se : {scores}", "%x: f32, %a: f32", body, scores)
    text += f"  %me = tensor.empty() : {rows}\n  %mf = linalg.fill ins(%low : f32) outs(%me : {rows}) -> {rows}\n"
    body = "    %t = arith.maximumf %a, %x : f32\n    linalg.yield %t : f32"
    text += pointwise("m", "#e, #r", f"%s : {scores}", f"%mf : {rows}", "%x: f32, %a: f32", body, rows, "reduction")
    body = "    %d = arith.subf %x, %y : f32\n    %t = math.exp %d : f32\n    linalg.yield %t : f32"
    text += pointwise("e", "#e, #r, #e", f"%s, %m : {scores}, {rows}", f"%se : {scores}", "%x: f32, %y: f32, %a: f32", body, scores)
    text += f"  %lf = linalg.fill ins(%zero : f32) outs(%me : {rows}) -> {rows}\n"
    body = "    %t = arith.addf %a, %x : f32\n    linalg.yield %t : f32"
    text += pointwise("l", "#e, #r", f"%e : {scores}", f"%lf : {rows}", "%x: f32, %a: f32", body, rows, "reduction")
    text += f"  %pe = tensor.empty() : {narrow}\n"
    body = f"    %d = arith.divf %x, %y : f32\n    %t = arith.truncf %d : f32 to {elem}\n    linalg.yield %t : {elem}"
    text += pointwise("p", "#e, #r, #e", f"%e, %l : {scores}, {rows}", f"%pe : {narrow}", f"%x: f32, %y: f32, %a: {elem}", body, narrow)
    text += f"  %we = tensor.empty() : {sums}\n  %wf = linalg.fill ins(%zero : f32) outs(%we : {sums}) -> {sums}\n"
    text += PRODUCT.format(name="w", other="v", ins=f"%p, %v : {narrow}, {own}", outs=f"%wf : {sums}", elem=elem, result=sums)
    text += f"  %ye = tensor.empty() : {own}\n"
    body = f"    %t = arith.truncf %x : f32 to {elem}\n    linalg.yield %t : {elem}"
    text += pointwise("y", "#e, #e", f"%w : {sums}", f"%ye : {own}", f"%x: f32, %a: {elem}", body, own)
    return text + f"  return %y : {own}\n}}\n"


if __name__ == "__main__":
    heads, length, width = map(int, sys.argv[1:4])
    print(attention(heads, length, width, sys.argv[4]), end="")
