/* For a missing key one client gets a lease, computes the value and sets it; the others wait for the value.
 *
 *   lease:   a marker in the key's slot that names owner slot, incarnation and, by its version, itself
 *   acquire: read | a value: hit | a lease whose owner is alive: read again later
 *            nothing, or a lease whose owner is dead: lock | if the same is still there, put my marker | unlock
 *   set with the lease:  lock | the slot still names my marker | put the value | unlock, else the lease is lost
 *   set, remove, evict:  lock | put a value, or nothing, whatever is there | unlock
 *
 *   the owner is alive:  a process has the byte lock of its slot, and the slot's incarnation is the lease's
 *   open:                take the byte lock of a slot | incarnation + 1 | use it
 *   version:             next version + 1 | put the entry
 *
 *   E1  A value set with a lease was computed after every change that was acknowledged before the set: a change cancels
 *       the lease.
 *   E2  A lease is taken over only from a dead owner: no other client computes while a live owner has it.
 *   E3  No client waits for the lease of a dead owner: every live client ends, with a hit or after its turn.
 *   E4  A version names one value: a compare-and-swap never succeeds against another.
 *
 * E1, E2 and E4 are assertions; E3 is the formula at the end, under weak fairness.
 *
 * An operation under the lock is one step, except where a death inside it matters: lock.pml and read.pml have the rest. Clients
 * of process 1 are threads that share its owner slot. A value entry with a lease (a stale value that stays readable)
 * follows the same rules, in place of the marker.
 */

#ifndef PROCESSES
#define PROCESSES 3
#endif
#ifndef THREADS
#define THREADS 1       /* of process 1; the others have one */
#endif
#ifndef SLOTS
#define SLOTS 2
#endif
#ifndef CHANGES
#define CHANGES 1
#endif
#ifndef EVICTIONS
#define EVICTIONS 1
#endif
#ifndef SWAPS
#define SWAPS 0
#endif
#ifndef DEATHS
#define DEATHS 1
#endif

#define ALL_THREADS    (PROCESSES + THREADS - 1)
#define SELF           (process == 1 -> number : THREADS + process - 2)
#define THREADS_OF(p)  (p == 1 -> THREADS : 1)

/* The key's slot, and the entry that it names. */
mtype = { nothing, lease, value };
mtype kind = nothing;
byte version, nextVersion;
byte leaseOwner, leaseIncarnation;
byte content;

/* The file's owner slots, and the kernel's byte locks on them. */
byte incarnation[SLOTS + 1];
byte byteHolder[SLOTS + 1];

/* The source of the cached values. */
byte database = 1;

/* State for the properties only. */
byte acknowledged;                  /* the newest change whose set or remove has returned */
bool killed[PROCESSES + 1], isDone[ALL_THREADS];
byte leaseProcess;
bool isGone[PROCESSES + 1];
byte stopped[PROCESSES + 1], slotOf[PROCESSES + 1];
bool isOver;                        /* no more changes */

/* If a process dies after it raised the next version, that version is never used. In the other order, the entry
 * would have a version that is used again. */
inline put(what, aContent) {
    kind = what;
    content = aContent;
    leaseOwner = 0;
    leaseIncarnation = 0;
    version = nextVersion + 1;
#ifdef VERSION_AFTER_SLOT
    if
    :: true
    :: nextVersion++
    fi
#else
    nextVersion++
#endif
}

/* Puts the marker if the entry that was read is still there. Leaves isMine and myVersion. */
inline take_lease() {
    atomic {
        if
        :: kind != value && version == seenVersion && kind == seenKind ->
            assert(kind == nothing || isGone[leaseProcess]);    /* E2 */
            put(lease, 0);
            leaseOwner = slot;
            leaseIncarnation = myIncarnation;
            leaseProcess = process;
            myVersion = version;
            isMine = true
        :: else
        fi
    }
}

#if defined(SET_WITHOUT_LEASE_CHECK)
#define LEASE_IS_MINE true
#elif defined(LEASE_CHECKED_BY_OWNER)
#define LEASE_IS_MINE (kind == lease && leaseOwner == slot && leaseIncarnation == myIncarnation)
#else
#define LEASE_IS_MINE (kind == lease && version == myVersion)
#endif

inline set_with_lease() {
    atomic {
        if
        :: LEASE_IS_MINE ->
            assert(computed >= acknowledged);    /* E1 */
            put(value, computed)
        :: else    /* lost */
        fi
    }
}

#if defined(TAKE_OVER_WITHOUT_PROBE)
#define SEES_DEAD_OWNER true
#elif defined(PROBE_OWN_SLOT)
/* For a byte that the own open file has, the kernel answers that no other process has it. */
#define SEES_DEAD_OWNER (byteHolder[seenOwner] == 0 || byteHolder[seenOwner] == process \
                         || incarnation[seenOwner] != seenIncarnation)
#elif defined(NO_INCARNATION)
#define SEES_DEAD_OWNER (byteHolder[seenOwner] == 0)
#else
#define SEES_DEAD_OWNER (byteHolder[seenOwner] == 0 || incarnation[seenOwner] != seenIncarnation)
#endif

inline get_or_compute() {
    do
    :: isMine -> break
    :: else ->
        d_step {
            seenKind = kind;
            seenVersion = version;
            seenOwner = leaseOwner;
            seenIncarnation = leaseIncarnation
        }
        if
        :: seenKind == value -> break    /* a hit */
        :: seenKind == nothing -> take_lease()
        :: seenKind == lease ->
            if
            :: SEES_DEAD_OWNER -> take_lease()
            :: else    /* wait a moment */
            fi
        fi
    od;
    if
    :: isMine ->
        computed = database;
        set_with_lease()
    :: else
    fi
}

inline open_store() {
    atomic {
        if
        :: byteHolder[1] == 0 -> slot = 1
#if SLOTS > 1
        :: byteHolder[1] != 0 && byteHolder[2] == 0 -> slot = 2
#endif
        fi;
        byteHolder[slot] = process
    }
    atomic {
        incarnation[slot]++;
        slotOf[process] = slot
    }
}

/* When its last thread is done or dead, a process releases its slot. */
inline end_thread() {
    atomic {
        stopped[process]++;
        if
        :: stopped[process] == THREADS_OF(process) ->
            isGone[process] = true;
            if
            :: byteHolder[1] == process -> byteHolder[1] = 0
            :: else
            fi;
#if SLOTS > 1
            if
            :: byteHolder[2] == process -> byteHolder[2] = 0
            :: else
            fi
#endif
        :: else
        fi;
        isDone[SELF] = true
    }
}

proctype Client(byte process; byte number) {
    byte slot, myIncarnation, myVersion, seenVersion, seenOwner, seenIncarnation, computed;
    mtype seenKind = nothing;
    bool isMine;

    {
        if
        :: number == 0 -> open_store()
        :: else -> slotOf[process] != 0 -> slot = slotOf[process]
        fi;
        myIncarnation = incarnation[slot];
        get_or_compute()
    } unless {
        killed[process] -> skip
    };
    end_thread()
}

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

/* Changes the database, then the cache. */
active proctype Changer() {
    byte changes, evictions;

    do
    :: changes < CHANGES ->
        changes++;
        database++;
        atomic {
            if
            :: put(value, database)
            :: put(nothing, 0)
            fi;
            acknowledged = database
        }
    :: evictions < EVICTIONS ->
        evictions++;
        atomic {
            kind = nothing;
            content = 0;
            leaseOwner = 0;
            leaseIncarnation = 0
        }
    :: else -> break
    od;
    isOver = true
}

/* Compare-and-swap: reads value and version, and later finds the version again. */
active proctype Swapper() {
    byte swaps, seenVersion, seenContent;

    do
    :: swaps < SWAPS && kind == value ->
        atomic { swaps++; seenVersion = version; seenContent = content };
        atomic {
            if
            :: kind == value && version == seenVersion ->
                assert(content == seenContent);    /* E4 */
                database++;
                put(value, database);
                acknowledged = database
            :: else
            fi;
            seenVersion = 0;
            seenContent = 0
        }
    :: swaps == SWAPS -> break
    :: isOver -> break
    od
}

init {
    atomic {
        byte p = 1, n = 0;
        do
        :: p <= PROCESSES ->
            n = 0;
            do
            :: n < THREADS_OF(p) -> run Client(p, n); n++
            :: else -> break
            od;
            p++
        :: else -> break
        od;
        p = 0;
        n = 0
    }
}

#if ALL_THREADS == 1
#define ALL_DONE isDone[0]
#elif ALL_THREADS == 2
#define ALL_DONE (isDone[0] && isDone[1])
#elif ALL_THREADS == 3
#define ALL_DONE (isDone[0] && isDone[1] && isDone[2])
#endif

#ifdef LIVENESS
ltl no_lease_waits_for_the_dead { <> ALL_DONE }    /* E3 */
#endif
