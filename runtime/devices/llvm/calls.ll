; Calls of a module whose inputs and outputs are numpy's arrays of known types and shapes. Compiled together with
; workers.ll; called from Python:
;
;     int32_t tilework_call(void** arrays, known* call, void* arena, int32_t threads)
;
; Looks at the arrays, inputs first, and calls the entry with where they lie in memory; its result is that of this call.
; If one is not what is expected, nothing is called, and the result is $unlike. The entry uses no devices.

; What is known of a call: the entry, the parameters and the symbols it takes; how many inputs and how many arrays
; there are, and how many bytes behind the begin of an object its class stands. What is expected of each array follows:
; its class, its dtype, its rank and the sizes of its dimensions, in C order and aligned: two flags, 257 together.
%known = type { ptr, ptr, ptr, i64, i64, i64 }

; An array from its class on, as numpy's C interface has it: class, data, rank, sizes, strides, base, dtype, flags.
%array = type { ptr, ptr, i32, ptr, ptr, ptr, ptr, i32 }

define i32 @tilework_call(ptr %arrays, ptr %call, ptr %arena, i32 %threads) {
begin:
  %known = load %known, ptr %call
  %entry = extractvalue %known %known, 0
  %parameters = extractvalue %known %known, 1
  %symbols = extractvalue %known %known, 2
  %inputs = extractvalue %known %known, 3
  %count = extractvalue %known %known, 4
  %class_at = extractvalue %known %known, 5
  %expected = getelementptr %known, ptr %call, i64 1
  %places = alloca ptr, i64 %count
  %outputs = getelementptr ptr, ptr %places, i64 %inputs
  br label %next

next:
  %i = phi i64 [ 0, %begin ], [ %i.next, %fits ]
  %p.class = phi ptr [ %expected, %begin ], [ %behind, %fits ]
  %is_last = icmp eq i64 %i, %count
  br i1 %is_last, label %run, label %look
look:
  %p.object = getelementptr ptr, ptr %arrays, i64 %i
  %object = load ptr, ptr %p.object
  %array = getelementptr i8, ptr %object, i64 %class_at
  %class = load ptr, ptr %array
  %class.expected = load ptr, ptr %p.class
  %is_array = icmp eq ptr %class, %class.expected
  br i1 %is_array, label %look.inside, label %unlike
look.inside:
  %p.dtype = getelementptr %array, ptr %array, i64 0, i32 6
  %dtype = load ptr, ptr %p.dtype
  %p.dtype.expected = getelementptr ptr, ptr %p.class, i64 1
  %dtype.expected = load ptr, ptr %p.dtype.expected
  %is_typed = icmp eq ptr %dtype, %dtype.expected
  %p.flags = getelementptr %array, ptr %array, i64 0, i32 7
  %flags = load i32, ptr %p.flags
  %plain = and i32 %flags, 257
  %is_plain = icmp eq i32 %plain, 257
  %p.rank = getelementptr %array, ptr %array, i64 0, i32 2
  %rank.32 = load i32, ptr %p.rank
  %rank = sext i32 %rank.32 to i64
  %p.rank.expected = getelementptr i64, ptr %p.class, i64 2
  %rank.expected = load i64, ptr %p.rank.expected
  %is_of_rank = icmp eq i64 %rank, %rank.expected
  %is_plain.typed = and i1 %is_typed, %is_plain
  %may_fit = and i1 %is_plain.typed, %is_of_rank
  br i1 %may_fit, label %measure, label %unlike
measure:
  %p.sizes = getelementptr %array, ptr %array, i64 0, i32 3
  %sizes = load ptr, ptr %p.sizes
  %sizes.expected = getelementptr i64, ptr %p.class, i64 3
  br label %dimension
dimension:
  %d = phi i64 [ 0, %measure ], [ %d.next, %compare ]
  %measured = icmp eq i64 %d, %rank
  br i1 %measured, label %fits, label %compare
compare:
  %p.size = getelementptr i64, ptr %sizes, i64 %d
  %size = load i64, ptr %p.size
  %p.size.expected = getelementptr i64, ptr %sizes.expected, i64 %d
  %size.expected = load i64, ptr %p.size.expected
  %d.next = add i64 %d, 1
  %is_as_long = icmp eq i64 %size, %size.expected
  br i1 %is_as_long, label %dimension, label %unlike
fits:
  %p.data = getelementptr %array, ptr %array, i64 0, i32 1
  %data = load ptr, ptr %p.data
  %place = getelementptr ptr, ptr %places, i64 %i
  store ptr %data, ptr %place
  %behind = getelementptr i64, ptr %sizes.expected, i64 %rank
  %i.next = add i64 %i, 1
  br label %next

run:
  %status = call i32 %entry(ptr %places, ptr %outputs, ptr %parameters, ptr %arena, ptr %symbols, i32 %threads, ptr null)
  ret i32 %status
unlike:
  ret i32 $unlike
}
