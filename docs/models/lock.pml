/* The lock of one partition between processes that may die at any statement.
 *
 *   word = owner slot (0: free) | epoch | waiters
 *
 *   free --acquire--> held --release--> free          every arrow to "held" adds one to the epoch
 *                     held by a dead owner --take over--> held, in recovery --recovered--> held
 *
 * A process holds the kernel's lock on the byte of its owner slot during its whole life, and the kernel releases it when the
 * process has ended: that is the proof of life. A new process may get the slot of a dead one. It first recovers the locks
 * that still have the slot's number.
 *
 *   L1  At most one live thread is inside the partition.
 *   L2  No process takes over the word from a live process.
 *   L3  An ordinary operation finds the partition complete: a process that replaces a dead owner first completes recovery.
 *   L4  No death leaves the lock stuck: every live process ends all its rounds.
 *
 * L1 to L3 are assertions. L4 is the formula at the end, checked under weak fairness, and the absence of a state in which
 * live processes wait and none can move.
 *
 * Only interlocked operations change the word, so memory order does not matter here. Data that is written under
 * the lock is visible to the next owner because of M2, and because release is interlocked too.
 *
 * Sizes: PROCESSES, THREADS of the first of them, owner SLOTS, ROUNDS of each thread, DEATHS. EPOCHS is the number of different
 * epochs: 64 is more than any run here uses. The file has 2^22, and NARROW_EPOCH shows the effect of a wrap between the probe of
 * a process and its takeover.
 *
 * NO_TIMEOUT: a waiter sleeps until it is woken. Without deaths the wake-ups alone must be sufficient.
 * TAKE_OVER_UNDER_BYTE: the process holds the dead owner's byte lock during the takeover, instead of only asking
 * whether another process has it. No process can get the slot meanwhile, so even a wrapped epoch does no harm.
 */

#ifndef PROCESSES
#define PROCESSES 3
#endif
#ifndef THREADS
#define THREADS 1
#endif
#ifndef SLOTS
#define SLOTS 2
#endif
#ifndef ROUNDS
#define ROUNDS 1
#endif
#ifndef DEATHS
#define DEATHS 2
#endif
#if defined(NO_EPOCH)
#define EPOCHS 1
#elif defined(NARROW_EPOCH)
#define EPOCHS 2
#else
#define EPOCHS 64
#endif

/* Two or three. The threads of process 1 come first, then one thread for each other process. */
#define ALL_THREADS        (PROCESSES + THREADS - 1)
#define SELF               (process == 1 -> number : THREADS + process - 2)
#define THREADS_OF(p)      (p == 1 -> THREADS : 1)
#define NOBODY 255

/* The word. Read and changed as a whole: inside d_step or atomic. */
byte owner, epoch;
bool waiters;

/* The kernel: which process has the byte of a slot, which threads sleep on the word. */
byte byteHolder[SLOTS + 1];
bool asleep[ALL_THREADS];

/* The partition's data: complete if both halves agree. Left out in runs that check only L4. */
bit firstHalf, secondHalf;

/* State for the properties only; the protocol never reads it. */
byte inside = NOBODY;              /* the thread in the partition, during recovery or after it */
byte holder;                       /* the process that last acquired the word, alive or dead */
bool killed[PROCESSES + 1], isDead[PROCESSES + 1], isDone[ALL_THREADS];
byte stopped[PROCESSES + 1];       /* threads of the process that execute no more */
byte slotOf[PROCESSES + 1];        /* 0: not open */

#define NEXT(e) (((e) + 1) % EPOCHS)
#define WORD_IS_AS_SEEN (owner == seenOwner && epoch == seenEpoch && waiters == seenWaiters)

#if defined(TAKE_OVER_WITHOUT_CAS)
#define IS_MINE_TO_TAKE (WORD_IS_AS_SEEN || seenOwner != 0)
#elif defined(ACQUIRE_WITHOUT_CAS)
#define IS_MINE_TO_TAKE (WORD_IS_AS_SEEN || seenOwner == 0)
#else
#define IS_MINE_TO_TAKE WORD_IS_AS_SEEN
#endif

inline read_word() {
    d_step {
        seenOwner = owner;
        seenEpoch = epoch;
        seenWaiters = waiters
    }
}

inline forget_word() {
    d_step {
        seenOwner = 0;
        seenEpoch = 0;
        seenWaiters = false
    }
}

/* Interlocked: the process acquires the word if it still has the value that was read. */
inline take_word() {
    atomic {
        if
        :: IS_MINE_TO_TAKE ->
            assert(seenOwner == 0 || isDead[holder]);    /* L2 */
            assert(inside == NOBODY);                    /* L1 */
            owner = slot;
            epoch = NEXT(seenEpoch);    /* the waiters bit stays as it is */
            holder = process;
            inside = SELF;
            isMine = true
        :: else
        fi
    }
}

/* Idempotent. A death may end it between any two steps; the next takeover starts it again. */
inline recover() {
#if !defined(TAKE_OVER_WITHOUT_RECOVERY) && !defined(LIVENESS)
    firstHalf = 0;
    secondHalf = 0
#else
    skip
#endif
}

/* Asks the kernel whether another open file has the byte. For a byte of the own open file, the answer is no. */
#define IS_LOCKED_BY_OTHER(s) (byteHolder[s] != 0 && byteHolder[s] != process)

inline take_over() {
#ifdef TAKE_OVER_UNDER_BYTE
    atomic {
        if
        :: byteHolder[seenOwner] == 0 ->
            byteHolder[seenOwner] = process;
            reaped = seenOwner
        :: else
        fi
    }
    if
    :: reaped != 0 ->
        read_word();
        if
        :: seenOwner == reaped -> take_word()
        :: else
        fi;
        d_step { byteHolder[reaped] = 0; reaped = 0 }
    :: else
    fi;
#else
    take_word();
#endif
    if
    :: isMine -> recover()
    :: else
    fi
}

/* Interlocked exchange, then the wake-up: after a death between them, no waiter wakes up. */
inline release() {
    atomic {
        inside = NOBODY;
        seenWaiters = waiters;
        owner = 0;
        waiters = false;
        isMine = false
    }
    if
    :: seenWaiters -> wake()
    :: else
    fi
}

/* Wakes all waiters: the bit is gone, so a waiter that stays asleep would have to wait for the time-out. */
inline wake() {
    atomic {
#ifdef WAKE_ONE
        if
        :: asleep[0] -> asleep[0] = false
        :: asleep[1] -> asleep[1] = false
#if ALL_THREADS > 2
        :: asleep[2] -> asleep[2] = false
#endif
        :: else
        fi
#else
        asleep[0] = false;
        asleep[1] = false;
#if ALL_THREADS > 2
        asleep[2] = false
#endif
#endif
    }
}

/* The kernel compares the word once more before it puts the thread to sleep. */
inline futex_wait() {
    atomic {
        if
        :: WORD_IS_AS_SEEN -> asleep[SELF] = true
        :: else
        fi
    }
    if
    :: !asleep[SELF]
#ifndef NO_TIMEOUT
    :: asleep[SELF] -> asleep[SELF] = false
#endif
    fi
}

inline wait_while_alive() {
    if
    :: seenWaiters -> futex_wait()
    :: else ->
        atomic {
            if
            :: WORD_IS_AS_SEEN ->
                waiters = true;
                seenWaiters = true
            :: else
            fi
        }
        if
        :: seenWaiters -> futex_wait()
        :: else
        fi
    fi
}

inline acquire() {
    do
    :: isMine -> break
    :: else ->
        read_word();
        if
        :: seenOwner == 0 -> take_word()
#ifndef PROBE_OWN_SLOT
        :: seenOwner == slot -> wait_while_alive()    /* another thread of this process, so it is alive */
        :: seenOwner != 0 && seenOwner != slot ->
#else
        :: seenOwner != 0 ->
#endif
#ifdef TAKE_OVER_WITHOUT_PROBE
            take_over()
#else
            if
            :: IS_LOCKED_BY_OTHER(seenOwner) -> wait_while_alive()
            :: else -> take_over()
            fi
#endif
        fi
    od;
    forget_word()
}

inline use_partition() {
#ifndef LIVENESS
    assert(firstHalf == secondHalf);    /* L3 */
    firstHalf = 1 - firstHalf;
    secondHalf = 1 - secondHalf
#else
    skip
#endif
}

/* Takes the lowest free slot. No other operation uses its number before this returns. */
inline open_store() {
    atomic {
        if
        :: byteHolder[1] == 0 -> slot = 1
#if SLOTS > 1
        :: byteHolder[1] != 0 && byteHolder[2] == 0 -> slot = 2
#endif
#if SLOTS > 2
        :: byteHolder[1] != 0 && byteHolder[2] != 0 && byteHolder[3] == 0 -> slot = 3
#endif
        fi;
        byteHolder[slot] = process
    }
#ifndef REUSE_SLOT_WITHOUT_RECOVERY
    do
    :: read_word();
        if
        :: seenOwner == slot ->
            take_word();
            if
            :: isMine -> recover(); release(); break
#ifndef REUSER_TRIES_ONCE
            :: else    /* another process took over first, or a waiter set its bit: read again */
#else
            :: else -> break
#endif
            fi
        :: else -> break
        fi
    od;
    forget_word();
#endif
    slotOf[process] = slot
}

/* The work of the kernel when the last thread of a process has ended. */
inline end_thread() {
    atomic {
        asleep[SELF] = false;
        stopped[process]++;
        if
        :: stopped[process] == THREADS_OF(process) ->
            isDead[process] = killed[process];
            if
            :: byteHolder[1] == process -> byteHolder[1] = 0
            :: else
            fi;
#if SLOTS > 1
            if
            :: byteHolder[2] == process -> byteHolder[2] = 0
            :: else
            fi;
#endif
#if SLOTS > 2
            if
            :: byteHolder[3] == process -> byteHolder[3] = 0
            :: else
            fi;
#endif
        :: else
        fi;
        isDone[SELF] = true
    }
}

proctype Thread(byte process; byte number) {
    byte slot, seenOwner, seenEpoch, round, reaped;
    bool seenWaiters, isMine;

    {
        if
        :: number == 0 -> open_store()
        :: else -> slotOf[process] != 0 -> slot = slotOf[process]
        fi;
        do
        :: round < ROUNDS ->
            acquire();
            use_partition();
            release();
            forget_word();
            round++
        :: else -> break
        od;
    } unless {
        killed[process] ->
            atomic {
                if
                :: inside == SELF -> inside = NOBODY
                :: else
                fi
            }
    };
    end_thread()
}

/* Marks processes for death; a marked process executes no further statement of its own. */
active proctype Killer() {
    byte deaths;
end:
    do
    :: deaths < DEATHS && !killed[1] && stopped[1] == 0 -> atomic { killed[1] = true; deaths++ }
#if PROCESSES > 1
    :: deaths < DEATHS && !killed[2] && stopped[2] == 0 -> atomic { killed[2] = true; deaths++ }
#endif
#if PROCESSES > 2
    :: deaths < DEATHS && !killed[3] && stopped[3] == 0 -> atomic { killed[3] = true; deaths++ }
#endif
    od
}

init {
    atomic {
        byte p = 1, n = 0;
        do
        :: p <= PROCESSES ->
            n = 0;
            do
            :: n < THREADS_OF(p) -> run Thread(p, n); n++
            :: else -> break
            od;
            p++
        :: else -> break
        od;
        p = 0;
        n = 0
    }
}

#if ALL_THREADS > 2
#define ALL_DONE (isDone[0] && isDone[1] && isDone[2])
#else
#define ALL_DONE (isDone[0] && isDone[1])
#endif

#ifdef LIVENESS
ltl the_lock_is_never_stuck { <> ALL_DONE }    /* L4 */
#endif
