"""Softmax or layer norm of rows, as upstream `linalg` writes them: three folds of the same rows; sums are in f32."""


def norm(name, elem, count=16384, width=4096):
    """A function of `count` rows of `width`, named `softmax` or `layernorm`."""
    own, row = f"tensor<{count}x{width}x{elem}>", f"tensor<{count}xf32>"
    widened, narrowed = ("", "") if elem == "f32" else (f"    %p = arith.extf %g : {elem} to f32\n", f"    %o = arith.truncf %t : f32 to {elem}\n")
    given, made = ("%p", "%t") if elem == "f32" else ("%g", "%o")

    def fold(result, reads, start, body):
        """A fold of rows, which reads rows that were folded before."""
        ins = ", ".join(["%x", *reads])
        types = ", ".join([own] + [row] * len(reads))
        maps = ", ".join(["#all"] + ["#row"] * (len(reads) + 1))
        args = "".join(f", %f{number}: f32" for number in range(len(reads)))
        return f"""  %{result} = linalg.generic {{indexing_maps = [{maps}], iterator_types = ["parallel", "reduction"]}} ins({ins} : {types}) outs({start} : {row}) {{
  ^bb0({given}: {elem}{args}, %a: f32):
{widened}{body}    linalg.yield %t : f32
  }} -> {row}
"""
    text = f"""#row = affine_map<(i, j) -> (i)>
#all = affine_map<(i, j) -> (i, j)>
func.func @{name}(%x: {own}) -> {own} {{
  %zero = arith.constant 0.0 : f32
  %low = arith.constant 0xFF800000 : f32
  %share = arith.constant {1 / width} : f32
  %little = arith.constant 1.0e-5 : f32
  %er = tensor.empty() : {row}
  %ex = tensor.empty() : {own}
  %er2 = tensor.empty() : {row}
  %zr = linalg.fill ins(%zero : f32) outs(%er : {row}) -> {row}
  %first = linalg.fill ins({"%low" if name == "softmax" else "%zero"} : f32) outs(%er2 : {row}) -> {row}
"""
    if name == "softmax":
        text += fold("m", [], "%first", "    %t = arith.maximumf %a, %p : f32\n")
        text += fold("s", ["%m"], "%zr", "    %d = arith.subf %p, %f0 : f32\n    %e = math.exp %d : f32\n    %t = arith.addf %a, %e : f32\n")
        last = "    %d = arith.subf %p, %f0 : f32\n    %e = math.exp %d : f32\n    %t = arith.divf %e, %f1 : f32\n"
    else:
        text += fold("m", [], "%first", "    %t = arith.addf %a, %p : f32\n")
        text += fold("s", ["%m"], "%zr", "    %c = arith.mulf %f0, %share : f32\n    %d = arith.subf %p, %c : f32\n    %e = arith.mulf %d, %d : f32\n    %t = arith.addf %a, %e : f32\n")
        last = ("    %c = arith.mulf %f0, %share : f32\n    %d = arith.subf %p, %c : f32\n    %v = arith.mulf %f1, %share : f32\n"
                "    %w = arith.addf %v, %little : f32\n    %r = math.rsqrt %w : f32\n    %t = arith.mulf %d, %r : f32\n")
    text += f"""  %y = linalg.generic {{indexing_maps = [#all, #row, #row, #all], iterator_types = ["parallel", "parallel"]}} ins(%x, %m, %s : {own}, {row}, {row}) outs(%ex : {own}) {{
  ^bb0({given}: {elem}, %f0: f32, %f1: f32, %a: {elem}):
{widened}{last}{narrowed}    linalg.yield {made} : {elem}
  }} -> {own}
  return %y : {own}
}}
"""
    return text
