/* An operation that did not get the lock in time, because the holder is stopped, must not leave the old value readable.
 * It retracts the slot without the lock ("kill"), while the holder may continue at any moment.
 *
 *   kill, unlocked:      repeat: read the slot, empty: done | CAS from the value read to 0, succeeded: done
 *   set, locked:         slot := new                       (release store: does not depend on the old value)
 *   remove, locked:      slot := 0                         (release store)
 *   relocate, locked:    read the slot | CAS to the same value at another place
 *   append, locked:      read the slot, empty: not found | CAS to the new value, failed: not found
 *   swap, locked:        the same
 *
 * "append" stands for every operation that copies the old value: append, prepend, increment, touch, a lease on a
 * stale value. "swap" stands for every set whose outcome depends on the old entry: compare-and-swap, replace, a set by
 * the holder of a lease. It copies nothing, but still must not be a plain store: the dropped operation removed
 * the entry that it requires.
 *
 *   K1  When the dropped operation returns, no value that was readable when it began is readable, nor a value that was made
 *       from such a value or required it. None of them becomes readable later.
 *
 * An unconditional set may still appear later: it runs at the same time, and is ordered after the dropped one.
 *
 * A lease marker is a slot without a value: readers see nothing, but a set by its holder depends on it. A slot holds the
 * number of the operation that wrote it and a place, which relocation changes. Each value has a root: its own
 * number after a set, the root of the entry that it depends on after append and swap. A holder that dies instead of stopping
 * executes fewer of these steps, so it adds no case.
 */

#ifndef OPERATIONS
#define OPERATIONS 3    /* after the one that wrote the first value */
#endif
#ifndef DROPPERS
#define DROPPERS 2
#endif
#ifndef KILLS
#define KILLS 1      /* of each dropper */
#endif
#define SLOT         0
#define CELLS        1
#define PROCESSORS   1
#define BUFFER_DEPTH 2
#include "memory.pml"

#define HOLDER 0

#define PLACE        16
#define NUMBER(slot) ((slot) % PLACE)
#define MOVED(slot)  (((slot) + PLACE) % (2 * PLACE))

/* State for the property only, by number. */
byte root[OPERATIONS + 2];
bool isMarker[OPERATIONS + 2];
bool isForbidden[OPERATIONS + 2];    /* by root */
byte operations;

/* Interlocked. */
inline compare_and_swap(expected, desired) {
    atomic {
        IS_DRAINED(HOLDER) ->
            if
            :: memory[SLOT] == expected -> memory[SLOT] = desired
            :: else
            fi
    }
}

/* The holder may stop between any two of these steps. */
proctype Holder() {
    byte seen;

    do
    :: operations <= OPERATIONS ->
        atomic { IS_DRAINED(HOLDER) -> operations++; seen = memory[SLOT] };
        if
        :: true ->    /* set */
            atomic { root[operations] = operations; release_store(HOLDER, SLOT, operations) }
        :: true ->    /* remove */
            release_store(HOLDER, SLOT, 0)
        :: seen == 0 ->    /* lease */
            atomic {
                root[operations] = operations;
                isMarker[operations] = true;
                release_store(HOLDER, SLOT, operations)
            }
        :: seen != 0 ->    /* relocate */
#ifdef PLAIN_RELOCATE
            release_store(HOLDER, SLOT, MOVED(seen))
#else
            compare_and_swap(seen, MOVED(seen))
#endif
        :: seen != 0 ->    /* append */
            root[operations] = root[NUMBER(seen)];
#ifdef PLAIN_APPEND
            release_store(HOLDER, SLOT, operations)
#else
            compare_and_swap(seen, operations)
#endif
        :: seen != 0 ->    /* swap */
            root[operations] = root[NUMBER(seen)];
#ifdef PLAIN_SWAP
            release_store(HOLDER, SLOT, operations)
#else
            compare_and_swap(seen, operations)
#endif
        fi;
        seen = 0
    :: else -> break
    od
}

proctype Dropper() {
    byte kills, seen, before, killedOne;

    do
    :: kills < KILLS ->
        atomic {
            kills++;
            before = NUMBER(memory[SLOT])
        };
        do
        :: seen = memory[SLOT];
            if
            :: seen == 0 -> break
#ifdef KILL_SPARES_LEASES
            :: seen != 0 && isMarker[NUMBER(seen)] -> break
            :: seen != 0 && !isMarker[NUMBER(seen)] ->
#else
            :: else ->
#endif
                atomic {
                    if
                    :: memory[SLOT] == seen ->
                        memory[SLOT] = 0;
                        killedOne = NUMBER(seen);
                        break
#ifdef KILL_TRIES_ONCE
                    :: else -> break
#else
                    :: else    /* it moved or changed: the present value may descend from the old one */
#endif
                    fi
                }
            fi
        od;
        /* The dropped operation returns. */
        atomic {
            isForbidden[root[before]] = (before != 0 || isForbidden[root[before]]);
            isForbidden[root[killedOne]] = (killedOne != 0 || isForbidden[root[killedOne]]);
            seen = 0;
            before = 0;
            killedOne = 0
        }
    :: else -> break
    od
}

/* Checks all the time. */
#define VALUE NUMBER(memory[SLOT])
active proctype Reader() {
end:
    atomic {
        VALUE != 0 && !isMarker[VALUE] && isForbidden[root[VALUE]] -> assert(!isForbidden[root[VALUE]])    /* K1 */
    }
}

init {
    atomic {
        operations = 1;
        root[1] = 1;
        memory[SLOT] = 1;
        run Drain(HOLDER);
        run Holder();
        run Dropper();
#if DROPPERS > 1
        run Dropper()
#endif
    }
}
