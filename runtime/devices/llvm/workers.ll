; Threads that share the iterations of a parallel loop. Compiled kernels call
;
;     void tilework_parallel(void (*body)(void*, int64_t, int64_t), void* context, int64_t lower, int64_t upper,
;                            int32_t threads, int32_t pieces)
;
; which runs body(context, first, end) for ranges that make up lower to upper, and returns when all have been run.
; Thread t of n has the t-th n-th of the iterations as its share, takes it in at most so many pieces, and then takes
; pieces of others' shares. The caller is thread 0. It waits for those that have come in, and for nobody else: where the
; system gives a worker no time, the caller does its share.
;
; A team is what one caller at a time needs: workers of its own, and what they are to do. Callers in several threads of
; the process take a team each, for the time of a loop.

; A share: the next iteration to take, the end; the thread's team and number, and a condition that it sleeps on.
%share = type { i64, i64, ptr, i64, [96 x i8] }
%team = type {
  i64, ptr, ptr, i64, i64, [88 x i8],       ; 0: the state; body, context, number of threads, iterations of a piece
  i64, i64, [112 x i8],                     ; 6: how many loops there have been; how many workers sleep
  [128 x i8],                               ; 9: a mutex, for workers to sleep
  i64, [120 x i8],                          ; 10: how many threads there are, the caller with them; 0 before any loop
  [$max_threads x %share]                   ; 12
}

; The state: 0 of a free team. Else bit 33; bit 32 while workers may come in; and how many of them are inside.

@teams = internal global [$max_teams x %team] zeroinitializer, align 128

; The processors that workers may use, as sched_setaffinity takes them. It refuses zeros: then a worker may use what the
; thread that started it may.
@tilework_affinity = global [128 x i8] zeroinitializer, align 8

define void @tilework_parallel(ptr %body, ptr %context, i64 %lower, i64 %upper, i32 %asked, i32 %pieces) {
entry:
  br label %look

; Take a free team; with none left, run the loop alone.
look:
  %t = phi i64 [ 0, %entry ], [ %t.next, %next ]
  %team = getelementptr [$max_teams x %team], ptr @teams, i64 0, i64 %t
  %take = cmpxchg ptr %team, i64 0, i64 8589934592 acquire monotonic
  %taken = extractvalue { i64, i1 } %take, 1
  br i1 %taken, label %prepare, label %next
next:
  %t.next = add i64 %t, 1
  %more = icmp ult i64 %t.next, $max_teams
  br i1 %more, label %look, label %alone
alone:
  call void %body(ptr %context, i64 %lower, i64 %upper)
  ret void

prepare:
  %wanted = call i32 @llvm.umin.i32(i32 %asked, i32 $max_threads)
  %threads = zext i32 %wanted to i64
  call void @start_workers(ptr %team, i64 %threads)
  %p.body = getelementptr %team, ptr %team, i64 0, i32 1
  %p.context = getelementptr %team, ptr %team, i64 0, i32 2
  %p.threads = getelementptr %team, ptr %team, i64 0, i32 3
  %p.piece = getelementptr %team, ptr %team, i64 0, i32 4
  %trips = sub i64 %upper, %lower
  %pieces.64 = zext i32 %pieces to i64
  %parts = mul i64 %threads, %pieces.64
  %trips.up = add i64 %trips, %parts
  %trips.up.1 = sub i64 %trips.up, 1
  %piece = udiv i64 %trips.up.1, %parts
  store ptr %body, ptr %p.body
  store ptr %context, ptr %p.context
  store atomic i64 %threads, ptr %p.threads monotonic, align 8
  store i64 %piece, ptr %p.piece
  br label %divide
divide:
  %s = phi i64 [ 0, %prepare ], [ %s.next, %divide ]
  %first = phi i64 [ %lower, %prepare ], [ %end, %divide ]
  %s.next = add i64 %s, 1
  %scaled = mul i64 %trips, %s.next
  %before = udiv i64 %scaled, %threads
  %end = add i64 %lower, %before
  %p.next = getelementptr %team, ptr %team, i64 0, i32 12, i64 %s
  %p.end = getelementptr %share, ptr %p.next, i64 0, i32 1
  store atomic i64 %first, ptr %p.next monotonic, align 8
  store i64 %end, ptr %p.end
  %divided = icmp eq i64 %s.next, %threads
  br i1 %divided, label %open, label %divide

; From here on workers may come in; those that are asked are woken. One that falls asleep says so before it looks at the
; number of loops, and here the number is set before that is read: no loop is missed.
open:
  store atomic i64 12884901888, ptr %team release, align 8
  %p.loops = getelementptr %team, ptr %team, i64 0, i32 6
  %old = atomicrmw add ptr %p.loops, i64 1 seq_cst
  %p.asleep = getelementptr %team, ptr %team, i64 0, i32 7
  %asleep = load atomic i64, ptr %p.asleep seq_cst, align 8
  %nobody = icmp eq i64 %asleep, 0
  %mutex = getelementptr %team, ptr %team, i64 0, i32 9
  br i1 %nobody, label %run, label %call
call:
  call i32 @pthread_mutex_lock(ptr %mutex)
  br label %wake
wake:
  %w = phi i64 [ 0, %call ], [ %w.next, %signal ]
  %w.next = add i64 %w, 1
  %woken = icmp eq i64 %w.next, %threads
  br i1 %woken, label %called, label %signal
signal:
  %condition = getelementptr %team, ptr %team, i64 0, i32 12, i64 %w.next, i32 4
  call i32 @pthread_cond_signal(ptr %condition)
  br label %wake
called:
  call i32 @pthread_mutex_unlock(ptr %mutex)
  br label %run
run:
  call void @take_pieces(ptr %team, i64 0)
  %closed = atomicrmw and ptr %team, i64 -4294967297 acq_rel
  br label %wait

; Nothing is left to take. A thread at its last piece may have been put off the processor, perhaps by this one.
wait:
  %turn = phi i32 [ 0, %run ], [ %turn.next, %pause ], [ %turn.next, %yield ]
  %state = load atomic i64, ptr %team acquire, align 8
  %done = icmp eq i64 %state, 8589934592
  br i1 %done, label %close, label %still
still:
  %turn.next = call i32 @llvm.uadd.sat.i32(i32 %turn, i32 1)
  %patient = icmp ult i32 %turn, $caller_pauses
  br i1 %patient, label %pause, label %yield
pause:
  $pause
  br label %wait
yield:
  call i32 @sched_yield()
  br label %wait
close:
  store atomic i64 0, ptr %team release, align 8
  ret void
}

; Run pieces of one's own share, then of the others', until all are taken.
define internal void @take_pieces(ptr %team, i64 %thread) {
entry:
  %p.body = getelementptr %team, ptr %team, i64 0, i32 1
  %p.context = getelementptr %team, ptr %team, i64 0, i32 2
  %p.threads = getelementptr %team, ptr %team, i64 0, i32 3
  %p.piece = getelementptr %team, ptr %team, i64 0, i32 4
  %body = load ptr, ptr %p.body
  %context = load ptr, ptr %p.context
  %threads = load i64, ptr %p.threads
  %piece = load i64, ptr %p.piece
  br label %share
share:
  %k = phi i64 [ 0, %entry ], [ %k.next, %empty ]
  %sum = add i64 %thread, %k
  %s = urem i64 %sum, %threads
  %p.next = getelementptr %team, ptr %team, i64 0, i32 12, i64 %s
  %p.end = getelementptr %share, ptr %p.next, i64 0, i32 1
  %end = load i64, ptr %p.end
  br label %look
look:  ; a load first: adding would move the line from the cache of the thread whose share it is
  %seen = load atomic i64, ptr %p.next monotonic, align 8
  %over = icmp sge i64 %seen, %end
  br i1 %over, label %empty, label %take
take:
  %first = atomicrmw add ptr %p.next, i64 %piece monotonic
  %late = icmp sge i64 %first, %end
  br i1 %late, label %empty, label %run
run:
  %sum.piece = add i64 %first, %piece
  %last = call i64 @llvm.smin.i64(i64 %sum.piece, i64 %end)
  call void %body(ptr %context, i64 %first, i64 %last)
  br label %look
empty:
  %k.next = add i64 %k, 1
  %more = icmp ult i64 %k.next, %threads
  br i1 %more, label %share, label %return
return:
  ret void
}

; Only the caller that has the team runs this. Where the system refuses a thread, there are fewer.
define internal void @start_workers(ptr %team, i64 %threads) {
entry:
  %p.count = getelementptr %team, ptr %team, i64 0, i32 10
  %count = load i64, ptr %p.count
  %enough = icmp uge i64 %count, %threads
  br i1 %enough, label %return, label %start
start:
  %attributes = alloca [256 x i8], align 16
  %thread = alloca ptr
  call i32 @pthread_attr_init(ptr %attributes)
  call i32 @pthread_attr_setstacksize(ptr %attributes, i64 $stack_bytes)
  call i32 @pthread_attr_setdetachstate(ptr %attributes, i32 $detached)
  %first = icmp eq i64 %count, 0
  br i1 %first, label %initialize, label %create
initialize:
  %mutex = getelementptr %team, ptr %team, i64 0, i32 9
  call i32 @pthread_mutex_init(ptr %mutex, ptr null)
  br label %create
create:
  %n = phi i64 [ 1, %initialize ], [ %count, %start ], [ %n.next, %created ]
  %share = getelementptr %team, ptr %team, i64 0, i32 12, i64 %n
  %p.team = getelementptr %share, ptr %share, i64 0, i32 2
  %p.number = getelementptr %share, ptr %share, i64 0, i32 3
  %condition = getelementptr %share, ptr %share, i64 0, i32 4
  store ptr %team, ptr %p.team
  store i64 %n, ptr %p.number
  call i32 @pthread_cond_init(ptr %condition, ptr null)
  %error = call i32 @pthread_create(ptr %thread, ptr %attributes, ptr @worker, ptr %share)
  %fine = icmp eq i32 %error, 0
  br i1 %fine, label %created, label %end
created:
  %n.next = add i64 %n, 1
  %again = icmp ult i64 %n.next, %threads
  br i1 %again, label %create, label %end
end:
  %started = phi i64 [ %n, %create ], [ %n.next, %created ]
  store i64 %started, ptr %p.count
  call i32 @pthread_attr_destroy(ptr %attributes)
  br label %return
return:
  ret void
}

; What a worker does, as long as the process lives.
define internal ptr @worker(ptr %share) {
entry:
  %p.team = getelementptr %share, ptr %share, i64 0, i32 2
  %p.number = getelementptr %share, ptr %share, i64 0, i32 3
  %team = load ptr, ptr %p.team
  %number = load i64, ptr %p.number
  %p.threads = getelementptr %team, ptr %team, i64 0, i32 3
  %p.loops = getelementptr %team, ptr %team, i64 0, i32 6
  %p.asleep = getelementptr %team, ptr %team, i64 0, i32 7
  %mutex = getelementptr %team, ptr %team, i64 0, i32 9
  %condition = getelementptr %share, ptr %share, i64 0, i32 4
  %time = alloca { i64, i64 }
  %p.nanoseconds = getelementptr { i64, i64 }, ptr %time, i64 0, i32 1
  $set_affinity
  br label %begin
begin:
  %seen = phi i64 [ 0, %entry ], [ %loops, %work ], [ %loops, %try ], [ %loops, %come ]
  %waited = phi i32 [ 0, %entry ], [ 0, %work ], [ 0, %try ], [ %turn, %come ]
  %bedtime = phi i64 [ 0, %entry ], [ 0, %work ], [ 0, %try ], [ %until, %come ]
  br label %watch

; Watch for the next loop for a while, then sleep; the time is looked at now and then, and the processor offered to
; others. Loops of fewer threads keep nobody else awake.
watch:
  %until = phi i64 [ %bedtime, %begin ], [ %until, %pause ], [ %until.set, %look ], [ 0, %awake ]
  %turn = phi i32 [ %waited, %begin ], [ %turn.next, %pause ], [ 0, %look ], [ 0, %awake ]
  %loops = load atomic i64, ptr %p.loops acquire, align 8
  %new = icmp ne i64 %loops, %seen
  br i1 %new, label %come, label %pause
pause:
  $pause
  %turn.next = add i32 %turn, 1
  %long = icmp eq i32 %turn.next, $worker_pauses
  br i1 %long, label %look, label %watch
look:
  call i32 @sched_yield()
  call i32 @clock_gettime(i32 $monotonic, ptr %time)
  %seconds = load i64, ptr %time
  %nanoseconds = load i64, ptr %p.nanoseconds
  %seconds.scaled = mul i64 %seconds, 1000000000
  %now = add i64 %seconds.scaled, %nanoseconds
  %first = icmp eq i64 %until, 0
  %later = add i64 %now, $worker_nanoseconds
  %until.set = select i1 %first, i64 %later, i64 %until
  %tired = icmp sge i64 %now, %until.set
  br i1 %tired, label %sleep, label %watch
sleep:
  call i32 @pthread_mutex_lock(ptr %mutex)
  %more = atomicrmw add ptr %p.asleep, i64 1 seq_cst
  br label %dream
dream:
  %loops.now = load atomic i64, ptr %p.loops seq_cst, align 8
  %woken = icmp ne i64 %loops.now, %seen
  %threads.now = load atomic i64, ptr %p.threads monotonic, align 8
  %asked.now = icmp ult i64 %number, %threads.now
  %wanted = and i1 %woken, %asked.now
  br i1 %wanted, label %awake, label %doze
doze:
  call i32 @pthread_cond_wait(ptr %condition, ptr %mutex)
  br label %dream
awake:
  %less = atomicrmw sub ptr %p.asleep, i64 1 seq_cst
  call i32 @pthread_mutex_unlock(ptr %mutex)
  br label %watch

; Come in, if the loop asks for so many threads and while it is open: counted, so that the caller waits. Where a later
; loop is open by now, one more than that asks for may help.
come:
  %threads = load atomic i64, ptr %p.threads monotonic, align 8
  %state.first = load atomic i64, ptr %team acquire, align 8
  %asked = icmp ult i64 %number, %threads
  br i1 %asked, label %try, label %begin
try:
  %state = phi i64 [ %state.first, %come ], [ %state.now, %enter ]
  %bit = and i64 %state, 4294967296
  %closed = icmp eq i64 %bit, 0
  br i1 %closed, label %begin, label %enter
enter:
  %one.more = add i64 %state, 1
  %pair = cmpxchg ptr %team, i64 %state, i64 %one.more acq_rel acquire
  %state.now = extractvalue { i64, i1 } %pair, 0
  %entered = extractvalue { i64, i1 } %pair, 1
  br i1 %entered, label %work, label %try
work:
  call void @take_pieces(ptr %team, i64 %number)
  %left = atomicrmw sub ptr %team, i64 1 release
  br label %begin
}

; In a child made by fork there are no workers: everything begins anew.
define void @tilework_after_fork() {
  call void @llvm.memset.p0.i64(ptr @teams, i8 0, i64 ptrtoint (ptr getelementptr ([$max_teams x %team], ptr null, i64 1) to i64), i1 false)
  ret void
}

declare i32 @llvm.umin.i32(i32, i32)
declare i64 @llvm.smin.i64(i64, i64)
declare i32 @llvm.uadd.sat.i32(i32, i32)
declare void @llvm.memset.p0.i64(ptr, i8, i64, i1)
declare i32 @sched_yield()
declare i32 @clock_gettime(i32, ptr)
declare i32 @sched_setaffinity(i32, i64, ptr)
declare i32 @pthread_attr_init(ptr)
declare i32 @pthread_attr_setstacksize(ptr, i64)
declare i32 @pthread_attr_setdetachstate(ptr, i32)
declare i32 @pthread_attr_destroy(ptr)
declare i32 @pthread_create(ptr, ptr, ptr, ptr)
declare i32 @pthread_mutex_init(ptr, ptr)
declare i32 @pthread_mutex_lock(ptr)
declare i32 @pthread_mutex_unlock(ptr)
declare i32 @pthread_cond_init(ptr, ptr)
declare i32 @pthread_cond_wait(ptr, ptr)
declare i32 @pthread_cond_signal(ptr)
