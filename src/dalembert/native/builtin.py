"""The built-in function that serves all kernels, in LLVM assembly: `direct` makes one for each kernel, with a table as its `self`.

`PyObject *direct(PyObject *self, PyObject *const *args, Py_ssize_t count, PyObject *names)` reads the memory of NumPy's arrays and
calls Python's and NumPy's C functions, whose addresses are words of the table.
"""

from dalembert.native.assembly import BYTES

TYPE, DATA, NDIM, SHAPE, DTYPE, FLAGS = 8, 16, 24, 32, 56, 64  # offsets in a NumPy array object, 64-bit CPython
READABLE, WRITABLE = 0x101, 0x501  # contiguous and aligned; writable too
NUMBERS = {"double": 12, "float": 11}  # NumPy's numbers of the types
MOST_AXES, MOST_ARRAYS, MOST_STRIDES = 6, 32, 100
GIL = 32  # states from which on other threads may run meanwhile
# words of the table; then eight per variable: axes, bytes, lengths of the axes; then the strides of all axes
POINTERS = (
    *("array", "dtype", "slow", "by_name", "call", "new", "result", "alloc", "set_item", "return", "save", "restore", "malloc"),
    *("free", "one", "loop", "incref", "decref", "fresh", "from_size"),
)
INTEGERS = ("one_lent", "loop_lent", "most", "inputs", "outputs", "check", "hash", "strides", "large")
WORD = {name: k for k, name in enumerate((*POINTERS, *INTEGERS))}
VARIABLE = 8


def assembly(real: str) -> str:
    """The function for kernels of doubles or floats."""
    text = "\n\n".join((_ENTRY, _ARGUMENTS, _READY, _TARGETS, _MAKE, _RUN, _CHECK, _FINISH, _DROP))
    for name, value in {"WORDS": _words(), "REAL": real, "SIZE": BYTES[real], "NUMBER": NUMBERS[real]}.items():
        text = text.replace(name, str(value))
    return text


def _words() -> str:
    """All words of the table, by their names."""
    lines: list[str] = []
    for name, k in WORD.items():
        kind = "ptr" if name in POINTERS else "i64"
        lines.append(f"  %{name}_at = getelementptr i64, ptr %t, i64 {k}\n  %{name} = load {kind}, ptr %{name}_at, align 8")
    return "\n".join(lines)


# its own memory, the words of the table, and whether there are as many arguments as inputs, or as inputs and outputs
_ENTRY = f"""define ptr @direct(ptr %self, ptr %args, i64 %count, ptr %names) {{
entry:
  %pointers = alloca [{MOST_ARRAYS + 1} x ptr], align 8
  %steps = alloca [{MOST_ARRAYS + MOST_STRIDES + 2} x i64], align 8
  %made = alloca [{MOST_ARRAYS} x ptr], align 8
  %lengths = alloca [{MOST_AXES + 1} x i64], align 8
  %pair = alloca [2 x ptr], align 8
  %batch = alloca i64, align 8
  %table_at = getelementptr i8, ptr %self, i64 {DATA}
  %t = load ptr, ptr %table_at, align 8
WORDS
  %all = add i64 %inputs, %outputs
  %bare = icmp eq i64 %count, %inputs
  %written = icmp eq i64 %count, %all
  %counted_right = or i1 %bare, %written
  %positional = icmp eq ptr %names, null
  %expected = and i1 %counted_right, %positional
  %variables = getelementptr i64, ptr %t, i64 {len(WORD)}
  %pointers1 = getelementptr ptr, ptr %pointers, i64 1
  %steps1 = getelementptr i64, ptr %steps, i64 1
  store i64 -1, ptr %batch, align 8
  br i1 %expected, label %argument, label %slow_way"""

# each argument is an array of the right type, layout and core shape; at most one more axis, as long in all that have it
_ARGUMENTS = f"""argument:
  %j = phi i64 [0, %entry], [%j1, %accepted]
  %a_at = getelementptr ptr, ptr %args, i64 %j
  %a = load ptr, ptr %a_at, align 8
  %type_at = getelementptr i8, ptr %a, i64 {TYPE}
  %type = load ptr, ptr %type_at, align 8
  %is_array = icmp eq ptr %type, %array
  br i1 %is_array, label %fields, label %slow_way
fields:
  %ndim_at = getelementptr i8, ptr %a, i64 {NDIM}
  %ndim32 = load i32, ptr %ndim_at, align 4
  %ndim = sext i32 %ndim32 to i64
  %dtype_at2 = getelementptr i8, ptr %a, i64 {DTYPE}
  %dtype2 = load ptr, ptr %dtype_at2, align 8
  %flags_at = getelementptr i8, ptr %a, i64 {FLAGS}
  %flags = load i32, ptr %flags_at, align 4
  %is_output = icmp sge i64 %j, %inputs
  %needed = select i1 %is_output, i32 {WRITABLE}, i32 {READABLE}
  %set = and i32 %flags, %needed
  %dense = icmp eq i32 %set, %needed
  %double = icmp eq ptr %dtype2, %dtype
  %v_offset = mul i64 %j, {VARIABLE}
  %v = getelementptr i64, ptr %variables, i64 %v_offset
  %axes = load i64, ptr %v, align 8
  %extra = sub i64 %ndim, %axes
  %batched = icmp eq i64 %extra, 1
  %plain_axes = icmp ult i64 %extra, 2
  %fine1 = and i1 %dense, %double
  %fine2 = and i1 %fine1, %plain_axes
  br i1 %fine2, label %shaped, label %slow_way
shaped:
  %shape_at = getelementptr i8, ptr %a, i64 {SHAPE}
  %shape = load ptr, ptr %shape_at, align 8
  %before = load i64, ptr %batch, align 8
  %none_yet = icmp eq i64 %before, -1
  br i1 %batched, label %counted, label %uncounted
counted:
  %length = load i64, ptr %shape, align 8
  %agrees = icmp eq i64 %before, %length
  %first_one = xor i1 %is_output, true
  %may_set = and i1 %none_yet, %first_one
  %fits = or i1 %agrees, %may_set
  store i64 %length, ptr %batch, align 8
  br i1 %fits, label %measured, label %slow_way
uncounted:
  %too_small = xor i1 %none_yet, true
  %misfit = and i1 %is_output, %too_small
  br i1 %misfit, label %slow_way, label %measured
measured:
  %some_axes = icmp sgt i64 %axes, 0
  br i1 %some_axes, label %axis, label %accepted
axis:
  %k = phi i64 [0, %measured], [%k1, %axis_fits]
  %place = add i64 %k, %extra
  %d_at = getelementptr i64, ptr %shape, i64 %place
  %d = load i64, ptr %d_at, align 8
  %w_index = add i64 %k, 2
  %w_at = getelementptr i64, ptr %v, i64 %w_index
  %w = load i64, ptr %w_at, align 8
  %right = icmp eq i64 %d, %w
  br i1 %right, label %axis_fits, label %slow_way
axis_fits:
  %k1 = add i64 %k, 1
  %more_axes = icmp slt i64 %k1, %axes
  br i1 %more_axes, label %axis, label %accepted
accepted:
  %data_at = getelementptr i8, ptr %a, i64 {DATA}
  %data = load ptr, ptr %data_at, align 8
  %pointer_at = getelementptr ptr, ptr %pointers1, i64 %j
  store ptr %data, ptr %pointer_at, align 8
  %bytes_at = getelementptr i64, ptr %v, i64 1
  %bytes = load i64, ptr %bytes_at, align 8
  %step = select i1 %batched, i64 %bytes, i64 0
  %step_at = getelementptr i64, ptr %steps1, i64 %j
  store i64 %step, ptr %step_at, align 8
  %j1 = add i64 %j, 1
  %more = icmp slt i64 %j1, %count
  br i1 %more, label %argument, label %ready"""

# which code runs; a batch of one state is one state
_READY = """ready:
  %N = load i64, ptr %batch, align 8
  %several = icmp ne i64 %N, -1
  %states = select i1 %several, i64 %N, i64 1
  %single = icmp eq i64 %states, 1
  %function = select i1 %single, ptr %one, ptr %loop
  %lent = select i1 %single, i64 %one_lent, i64 %loop_lent
  %exists = icmp ne ptr %function, null
  %some = icmp sgt i64 %states, 0
  %few = icmp sle i64 %states, %most
  %good1 = and i1 %exists, %some
  %good2 = and i1 %good1, %few
  br i1 %good2, label %targets, label %slow_way
targets:
  br i1 %bare, label %make, label %target"""

# arrays to write into overlap neither inputs nor each other; they are the results
_TARGETS = f"""target:
  %o = phi i64 [%inputs, %targets], [%o1, %apart]
  %op_at = getelementptr ptr, ptr %pointers1, i64 %o
  %op = load ptr, ptr %op_at, align 8
  %ov_offset = mul i64 %o, {VARIABLE}
  %ov_index = add i64 %ov_offset, 1
  %ob_at = getelementptr i64, ptr %variables, i64 %ov_index
  %ob = load i64, ptr %ob_at, align 8
  %osize = mul i64 %ob, %states
  %oend = getelementptr i8, ptr %op, i64 %osize
  br label %other
other:
  %x = phi i64 [0, %target], [%x1, %other_fine]
  %same = icmp eq i64 %x, %o
  br i1 %same, label %other_fine, label %compare
compare:
  %xp_at = getelementptr ptr, ptr %pointers1, i64 %x
  %xp = load ptr, ptr %xp_at, align 8
  %xv_offset = mul i64 %x, {VARIABLE}
  %xv_index = add i64 %xv_offset, 1
  %xb_at = getelementptr i64, ptr %variables, i64 %xv_index
  %xb = load i64, ptr %xb_at, align 8
  %xs_at = getelementptr i64, ptr %steps1, i64 %x
  %xs = load i64, ptr %xs_at, align 8
  %xone = icmp eq i64 %xs, 0
  %xcount = select i1 %xone, i64 1, i64 %states
  %xsize = mul i64 %xb, %xcount
  %xend = getelementptr i8, ptr %xp, i64 %xsize
  %begins = icmp ult ptr %op, %xend
  %ends = icmp ult ptr %xp, %oend
  %overlap = and i1 %begins, %ends
  br i1 %overlap, label %slow_way, label %other_fine
other_fine:
  %x1 = add i64 %x, 1
  %more_others = icmp slt i64 %x1, %all
  br i1 %more_others, label %other, label %apart
apart:
  %given_at = getelementptr ptr, ptr %args, i64 %o
  %given = load ptr, ptr %given_at, align 8
  %given_index = sub i64 %o, %inputs
  %given_to = getelementptr ptr, ptr %made, i64 %given_index
  store ptr %given, ptr %given_to, align 8
  %o1 = add i64 %o, 1
  %more_targets = icmp slt i64 %o1, %all
  br i1 %more_targets, label %target, label %take
take:
  %g = phi i64 [0, %apart], [%g1, %take]
  %g_at = getelementptr ptr, ptr %made, i64 %g
  %taken = load ptr, ptr %g_at, align 8
  call void %incref(ptr %taken)
  %g1 = add i64 %g, 1
  %more_taken = icmp slt i64 %g1, %outputs
  br i1 %more_taken, label %take, label %borrow"""

# or new arrays are: large ones from memory that earlier ones have left
_MAKE = f"""make:
  %m = phi i64 [0, %targets], [%m1, %created]
  %mj = add i64 %m, %inputs
  %mv_offset = mul i64 %mj, {VARIABLE}
  %mv = getelementptr i64, ptr %variables, i64 %mv_offset
  %maxes = load i64, ptr %mv, align 8
  %mb_at = getelementptr i64, ptr %mv, i64 1
  %mb = load i64, ptr %mb_at, align 8
  %mbytes = mul i64 %mb, %states
  %is_large = icmp sge i64 %mbytes, %large
  %reused = and i1 %is_large, %several
  br i1 %reused, label %recycled, label %small
recycled:
  %pair1 = getelementptr ptr, ptr %pair, i64 1
  %first = call ptr %from_size(i64 %N)
  %second = call ptr %from_size(i64 %m)
  store ptr %first, ptr %pair, align 8
  store ptr %second, ptr %pair1, align 8
  %recycling = call ptr %call(ptr %fresh, ptr %pair, i64 2, ptr null)
  call void %decref(ptr %first)
  call void %decref(ptr %second)
  br label %have
small:
  store i64 %N, ptr %lengths, align 8
  %lengths1 = getelementptr i64, ptr %lengths, i64 1
  %from = getelementptr i64, ptr %mv, i64 2
  call void @llvm.memcpy.p0.p0.i64(ptr align 8 %lengths1, ptr align 8 %from, i64 {8 * MOST_AXES}, i1 false)
  %shape_from = select i1 %several, ptr %lengths, ptr %lengths1
  %one_more = zext i1 %several to i64
  %mndim = add i64 %maxes, %one_more
  %mndim32 = trunc i64 %mndim to i32
  %newly = call ptr %new(ptr %array, i32 %mndim32, ptr %shape_from, i32 NUMBER, ptr null, ptr null, i32 0,
      i32 0, ptr null)
  br label %have
have:
  %out = phi ptr [%recycling, %recycled], [%newly, %small]
  %failed = icmp eq ptr %out, null
  br i1 %failed, label %drop_all, label %created
created:
  %out_to = getelementptr ptr, ptr %made, i64 %m
  store ptr %out, ptr %out_to, align 8
  %mdata_at = getelementptr i8, ptr %out, i64 {DATA}
  %mdata = load ptr, ptr %mdata_at, align 8
  %mp_at = getelementptr ptr, ptr %pointers1, i64 %mj
  store ptr %mdata, ptr %mp_at, align 8
  %mstep = select i1 %several, i64 %mb, i64 0
  %ms_at = getelementptr i64, ptr %steps1, i64 %mj
  store i64 %mstep, ptr %ms_at, align 8
  %m1 = add i64 %m, 1
  %more_outputs = icmp slt i64 %m1, %outputs
  br i1 %more_outputs, label %make, label %borrow"""

# memory for the frame, if the code needs some, and the call; other threads may run during a longer one
_RUN = f"""borrow:
  %frameless = icmp eq i64 %lent, 0
  br i1 %frameless, label %run, label %borrowing
borrowing:
  %frame = call ptr %malloc(i64 %lent)
  %refused = icmp eq ptr %frame, null
  store ptr %frame, ptr %pointers, align 8
  store i64 0, ptr %steps, align 8
  br i1 %refused, label %drop_slow, label %run
run:
  %held = phi ptr [null, %borrow], [%frame, %borrowing]
  %pointers_from = select i1 %frameless, ptr %pointers1, ptr %pointers
  %steps_from = select i1 %frameless, ptr %steps1, ptr %steps
  br i1 %single, label %one_way, label %loop_way
one_way:
  call void %function(ptr %pointers_from, ptr null, ptr null, ptr null)
  br label %ran
loop_way:
  %core = select i1 %frameless, i64 0, i64 1
  %core_at = add i64 %core, %all
  %stride_to = getelementptr i64, ptr %steps1, i64 %core_at
  %strides_offset = mul i64 %all, {VARIABLE}
  %stride_from = getelementptr i64, ptr %variables, i64 %strides_offset
  %stride_bytes = mul i64 %strides, 8
  call void @llvm.memcpy.p0.p0.i64(ptr align 8 %stride_to, ptr align 8 %stride_from, i64 %stride_bytes, i1 false)
  %many = icmp sge i64 %states, {GIL}
  br i1 %many, label %released, label %held_on
held_on:
  call void %function(ptr %pointers_from, ptr %batch, ptr %steps_from, ptr null)
  br label %ran
released:
  %saved = call ptr %save()
  call void %function(ptr %pointers_from, ptr %batch, ptr %steps_from, ptr null)
  call void %restore(ptr %saved)
  br label %ran
ran:
  %none_held = icmp eq ptr %held, null
  br i1 %none_held, label %check_way, label %give_back
give_back:
  call void %free(ptr %held)
  br label %check_way"""

# NaN among the results, if it matters
_CHECK = f"""check_way:
  %unchecked = icmp eq i64 %check, 0
  br i1 %unchecked, label %finish, label %check_one
check_one:
  %c = phi i64 [0, %check_way], [%c1, %checked]
  %cj = add i64 %c, %inputs
  %cp_at = getelementptr ptr, ptr %pointers1, i64 %cj
  %cp = load ptr, ptr %cp_at, align 8
  %cv_offset = mul i64 %cj, {VARIABLE}
  %cv_index = add i64 %cv_offset, 1
  %cb_at = getelementptr i64, ptr %variables, i64 %cv_index
  %cb = load i64, ptr %cb_at, align 8
  %cbytes = mul i64 %cb, %states
  %scalars = udiv i64 %cbytes, SIZE
  %fours = and i64 %scalars, -4
  %some_fours = icmp sgt i64 %fours, 0
  br i1 %some_fours, label %four, label %single_ones
four:
  %f = phi i64 [0, %check_one], [%f1, %four]
  %bad = phi <4 x i64> [zeroinitializer, %check_one], [%bad1, %four]
  %f_at = getelementptr REAL, ptr %cp, i64 %f
  %fx = load <4 x REAL>, ptr %f_at, align SIZE
  %nan4 = fcmp uno <4 x REAL> %fx, zeroinitializer
  %nan4wide = sext <4 x i1> %nan4 to <4 x i64>
  %bad1 = or <4 x i64> %bad, %nan4wide
  %f1 = add i64 %f, 4
  %more_fours = icmp slt i64 %f1, %fours
  br i1 %more_fours, label %four, label %fours_done
fours_done:
  %bad_any = call i64 @llvm.vector.reduce.or.v4i64(<4 x i64> %bad1)
  %bad_four = icmp ne i64 %bad_any, 0
  br i1 %bad_four, label %drop_slow, label %single_ones
single_ones:
  %left = icmp slt i64 %fours, %scalars
  br i1 %left, label %single_one, label %checked
single_one:
  %s = phi i64 [%fours, %single_ones], [%s1, %single_fine]
  %s_at = getelementptr REAL, ptr %cp, i64 %s
  %sx = load REAL, ptr %s_at, align SIZE
  %nan1 = fcmp uno REAL %sx, 0.0
  br i1 %nan1, label %drop_slow, label %single_fine
single_fine:
  %s1 = add i64 %s, 1
  %more_single = icmp slt i64 %s1, %scalars
  br i1 %more_single, label %single_one, label %checked
checked:
  %c1 = add i64 %c, 1
  %more_checks = icmp slt i64 %c1, %outputs
  br i1 %more_checks, label %check_one, label %finish"""

# arrays without axes become numbers, several results a tuple
_FINISH = """finish:
  %kept = xor i1 %bare, true
  %as_they_are = or i1 %several, %kept
  br i1 %as_they_are, label %wrap, label %scalar
scalar:
  %z = phi i64 [0, %finish], [%z1, %converted]
  %z_at = getelementptr ptr, ptr %made, i64 %z
  %zx = load ptr, ptr %z_at, align 8
  %number = call ptr %return(ptr %zx)
  store ptr %number, ptr %z_at, align 8
  %no_number = icmp eq ptr %number, null
  br i1 %no_number, label %nothing, label %converted
converted:
  %z1 = add i64 %z, 1
  %more_scalars = icmp slt i64 %z1, %outputs
  br i1 %more_scalars, label %scalar, label %wrap
wrap:
  %unnamed = icmp eq ptr %result, null
  br i1 %unnamed, label %alone, label %tuple
alone:
  %only = load ptr, ptr %made, align 8
  ret ptr %only
tuple:
  %named = call ptr %alloc(ptr %result, i64 %outputs)
  %unmade = icmp eq ptr %named, null
  br i1 %unmade, label %drop_error, label %named_made
named_made:
  %hashed = icmp ne i64 %hash, 0
  br i1 %hashed, label %unhash, label %item
unhash:
  %hash_to = getelementptr i8, ptr %named, i64 %hash
  store i64 -1, ptr %hash_to, align 8
  br label %item
item:
  %i = phi i64 [0, %named_made], [0, %unhash], [%i1, %item]
  %i_at = getelementptr ptr, ptr %made, i64 %i
  %ix = load ptr, ptr %i_at, align 8
  %ignored = call i32 %set_item(ptr %named, i64 %i, ptr %ix)
  %i1 = add i64 %i, 1
  %more_items = icmp slt i64 %i1, %outputs
  br i1 %more_items, label %item, label %tuple_done
tuple_done:
  ret ptr %named"""

# what went wrong: results are given up, then an error raised or everything passed on
_DROP = """drop_all:
  br label %drop
drop_error:
  br label %drop
drop_slow:
  br label %drop
drop:
  %dropped = phi i64 [%m, %drop_all], [%outputs, %drop_error], [%outputs, %drop_slow]
  %then_slow = phi i1 [false, %drop_all], [false, %drop_error], [true, %drop_slow]
  %any_drop = icmp sgt i64 %dropped, 0
  br i1 %any_drop, label %drop_one, label %dropped_all
drop_one:
  %r = phi i64 [0, %drop], [%r1, %drop_one]
  %r_at = getelementptr ptr, ptr %made, i64 %r
  %rx = load ptr, ptr %r_at, align 8
  call void %decref(ptr %rx)
  %r1 = add i64 %r, 1
  %more_drops = icmp slt i64 %r1, %dropped
  br i1 %more_drops, label %drop_one, label %dropped_all
dropped_all:
  br i1 %then_slow, label %slow_way, label %nothing
nothing:
  ret ptr null
slow_way:
  %python = select i1 %positional, ptr %slow, ptr %by_name
  %other_result = call ptr %call(ptr %python, ptr %args, i64 %count, ptr %names)
  ret ptr %other_result
}
declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)
declare i64 @llvm.vector.reduce.or.v4i64(<4 x i64>)"""
