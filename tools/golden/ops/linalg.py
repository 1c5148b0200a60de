"""Rows of the matrix products; see ../rows.py."""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import numpy as np
import tensorflow as tf
from rows import Family, f32

family = Family("linalg")
f64 = tf.float64

for t in family.types("MatMul"):
    for ta in (False, True):
        for tb in (False, True):
            a = family.sample(t, (3, 2) if ta else (2, 3))
            b = family.sample(t, (4, 3) if tb else (3, 4), seed=1)
            family.row("MatMul", [a, b], transpose_a=ta, transpose_b=tb)
for m, k, n in ((0, 3, 2), (2, 0, 3), (2, 3, 0), (1, 1, 1), (1, 7, 5), (5, 7, 1), (13, 17, 19), (7, 40, 33)):
    for t in (tf.float32, f64):
        family.row("MatMul", [family.sample(t, (m, k)), family.sample(t, (k, n), seed=1)], name="sizes",
                   rtol=1e-5 if t == tf.float32 else None, gradient=t == f64)
family.row("MatMul", [family.sample(f64, (2, 3)), family.sample(f64, (3, 2))], name="says_gradient", grad_a=True)
family.row("MatMul", [family.sample(f64, (2, 3)), family.sample(f64, (3, 2))], name="says_gradient", grad_b=True)
family.row("MatMul", [tf.constant([[np.nan, 1.0], [np.inf, 0.0]]), tf.constant([[1.0, 0.0], [0.0, 1.0]])], name="special",
           gradient=False)
big = tf.constant([[2**31 - 1, -2**31]], tf.int32)
family.row("MatMul", [big, tf.constant([[3], [5]])], name="wraps")
family.error("MatMul", [f32(2, 3), f32(4, 5)], "InvalidArgument", name="inner")
family.error("MatMul", [f32(2, 3), f32(3)], "InvalidArgument", name="vector")
family.error("MatMul", [f32(2, 3, 4), f32(4, 3)], "InvalidArgument", name="rank_3")
family.error("MatMul", [f32(2, 3), tf.constant([[1, 2, 3]])], "TypeError", name="mixed_types")
family.error("MatMul", [tf.constant([[True]]), tf.constant([[True]])], "TypeError", name="bool")

for op in ("BatchMatMul", "BatchMatMulV2"):
    for t in family.types(op):
        for x, y in ((False, False), (False, True), (True, False), (True, True)):
            family.row(op, [family.sample(t, (2, 3, 2) if x else (2, 2, 3)),
                            family.sample(t, (2, 4, 3) if y else (2, 3, 4), seed=1)], adj_x=x, adj_y=y)
    for a, b in (((2, 3), (3, 4)), ((0, 2, 3), (0, 3, 4)), ((2, 0, 3), (2, 3, 4)), ((2, 2, 0), (2, 0, 4)),
                 ((1, 2, 1, 2, 3), (1, 2, 1, 3, 2))):
        family.row(op, [family.sample(f64, a), family.sample(f64, b, seed=2)], name="shape")
    family.error(op, [f32(2, 2, 3), f32(2, 2, 3)], "InvalidArgument", name="inner")
    family.error(op, [f32(3), f32(3, 2)], "InvalidArgument", name="vector")
    family.error(op, [f32(2, 2, 3), f32(3, 3, 2)], "InvalidArgument", name="batch")
for a, b in (((5, 2, 3), (3, 4)), ((2, 3), (5, 3, 4)), ((2, 1, 2, 3), (3, 3, 4)), ((0, 2, 3), (1, 3, 4)),
             ((1, 2, 3), (0, 3, 4)), ((3, 1, 1, 2), (1, 4, 2, 1)), ((2, 1, 2, 1, 2, 2), (1, 2, 1, 2, 2, 1)), ((4, 1, 3), (3, 4))):
    for x, y in ((False, False), (True, True), (False, True)):
        if x:
            a = a[:-2] + (a[-1], a[-2])
        if y:
            b = b[:-2] + (b[-1], b[-2])
        family.row("BatchMatMulV2", [family.sample(f64, a), family.sample(f64, b, seed=2)], name="broadcast", adj_x=x, adj_y=y)
        if x:
            a = a[:-2] + (a[-1], a[-2])
        if y:
            b = b[:-2] + (b[-1], b[-2])
family.row("BatchMatMulV2", [family.sample(tf.complex128, (3, 2, 3)), family.sample(tf.complex128, (4, 3), seed=3)],
           name="one_matrix", adj_y=True)
family.row("BatchMatMulV2", [family.sample(tf.complex128, (3, 2, 3)), family.sample(tf.complex128, (3, 4), seed=3)],
           name="one_matrix")

for t in family.types("Einsum"):
    if t in (tf.string, tf.bool):
        continue
    family.row("Einsum", [[family.sample(t, (2, 3)), family.sample(t, (3, 4), seed=1)]], equation="ij,jk->ik")
    family.row("Einsum", [[family.sample(t, (2, 3))]], equation="ij->j")
for equation, *shapes in (
        ("ij->ji", (2, 3)), ("ij->", (2, 3)), ("ij->i", (2, 3)), ("ii->i", (3, 3)), ("ii->", (3, 3)), ("i->ii", (3,)),
        ("ijk->kij", (2, 3, 4)), ("iij->j", (3, 3, 2)), ("iij->ij", (3, 3, 2)), ("->", ()), ("...->...", (2, 3)),
        ("...ij->...ji", (2, 1, 3, 2)), ("i...->...i", (2, 3, 4)), ("i...->...", (2, 3)), ("ij->i", (0, 3)),
        ("ij->j", (0, 3)), ("aab->ba", (2, 2, 3)), ("ab->aab", (2, 3)), ("i...->i...", (2,)),
        ("i,i->", (3,), (3,)), ("i,j->ij", (2,), (3,)), ("ij,ij->ij", (2, 3), (2, 3)), ("ij,ij->", (2, 3), (2, 3)),
        ("ij,jk->ki", (2, 3), (3, 4)), ("ji,jk->ik", (3, 2), (3, 4)), ("bij,bjk->bik", (2, 2, 3), (2, 3, 4)),
        ("bhtd,bhsd->bhts", (2, 2, 3, 2), (2, 2, 4, 2)), ("btd,de->bte", (2, 3, 4), (4, 2)),
        ("btd,bte->de", (2, 3, 2), (2, 3, 4)), ("abc,cde->abde", (2, 2, 3), (3, 2, 2)), ("abcd,cde->abe", (2, 2, 2, 3), (2, 3, 2)),
        ("t,d->td", (3,), (2,)), ("ij,->ij", (2, 3), ()), (",->", (), ()), ("ij,kl->", (2, 3), (3, 2)),
        ("ijk,k->i", (2, 3, 4), (4,)), ("iij,j->ii", (3, 3, 2), (2,)), ("ii,i->i", (3, 3), (3,)), ("i,i->ii", (3,), (3,)),
        ("...ij,...jk->...ik", (2, 2, 3), (2, 3, 4)), ("...ij,jk->...ik", (2, 2, 2, 3), (3, 4)),
        ("...ij,...jk->...ik", (2, 1, 2, 3), (3, 3, 4)), ("...i,...i->...", (2, 1, 3), (4, 3)), ("...,...->...", (2, 1), (3,)),
        ("i...,...j->ij...", (2, 3), (3, 4)), ("ij...,jk...->ik...", (2, 3, 1), (3, 4, 2)), ("b...d,de->b...e", (2, 3, 4), (4, 2)),
        ("ij,jk->ik", (2, 0), (0, 3)), ("ij,jk->ik", (0, 2), (2, 3)), ("...ij,jk->...ik", (0, 2, 3), (3, 2)),
        ("abcde,edcba->bd", (1, 2, 1, 2, 2), (2, 2, 1, 2, 1)), ("Aa,aB->AB", (2, 3), (3, 2))):
    family.row("Einsum", [[family.sample(f64, s, seed=i) for i, s in enumerate(shapes)]], name="equation", equation=equation)
family.row("Einsum", [[family.sample(tf.complex128, (2, 3)), family.sample(tf.complex128, (3, 2), seed=1)]],
           name="complex", equation="ij,jk->ki")
for equation, *shapes in (
        ("ij,jk->ik", (1, 3), (2, 3)), ("ij,jk->ik", (2, 3)), ("ij,jk", (2, 2), (2, 2)), ("ij->i", (2,)),
        ("...ij->ij", (2, 2, 3)), ("ii->i", (2, 3)), ("ij->i->j", (2, 2)), 
        ("a,b,c->abc", (2,), (2,), (2,)), ("...i,...i->...i", (2, 3), (4, 3)), ("", (2, 2))):
    family.error("Einsum", [[f32(*s) for s in shapes]], "InvalidArgument", name="equation", equation=equation)
# TensorFlow takes digits for labels, and ends the process for a label that only the output has.
family.error("Einsum", [[f32(2, 3)]], "InvalidArgument", name="digit", check=False, equation="i1->i")
family.error("Einsum", [[f32(2, 2)]], "InvalidArgument", name="two_dots", check=False, equation="..i->i")
family.error("Einsum", [[f32(2, 2)]], "InvalidArgument", name="two_ellipses", check=False, equation="...i...->i")
family.error("Einsum", [[f32(2, 2), f32(2, 2)]], "InvalidArgument", name="new_label", check=False, equation="ij,jk->ikz")

family.save()
