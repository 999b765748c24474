/* A process caches values in its own memory and learns from a ring in the file which keys others changed.
 *
 *   change, locked:  slot | for each change: ring cell, position + 1        (all release stores)
 *   recovery:        overrun + 1 (interlocked), before the lock is released
 *   kill, unlocked:  slot := 0 by CAS, if the key has one | overrun + 1 (interlocked), in any case
 *   poll:            position, overrun; both unchanged: done
 *                    overrun changed, or position RING or more beyond mine: overrun, drop everything
 *                    copy the cells from mine to position | read barrier | position again
 *                    now RING or more beyond mine: overrun; else drop the keys that were copied
 *   hit:             poll | serve the value if it is still there
 *   fill:            poll | read the store | keep the value
 *
 * A "kill" retracts a slot without the lock. Only RING - 1 changes of a ring of RING cells are certain: the next change
 * is written over the oldest cell before the position shows it.
 *
 *   N1  A hit is at least as new as every change of the key that was acknowledged before it began. An operation that
 *       killed the old value and was dropped counts as a change.
 *   N2  Recovery is an acknowledgement: processes that poll after it see the changes that a dead holder published.
 *
 * Eviction takes a value out of the store without a message, because an evicted value is still current. So every later
 * set or removal of the key must be posted, also one that found no value to replace.
 *
 * The holders of the lock are one process, as in read.pml. Reading the store is one load: read.pml has the rest. One
 * key is cached; changes of the other only move the ring.
 */

#ifndef RING
#define RING 2
#endif
#ifndef CHANGES
#define CHANGES 2     /* after the one that wrote the first value */
#endif
#ifndef EVICTIONS
#define EVICTIONS 1
#endif
#ifndef KILLS
#define KILLS 1
#endif
#ifndef ACTIONS
#define ACTIONS 2     /* fills and hits of the caching process */
#endif
#ifndef DEATHS
#define DEATHS 1
#endif

#define SLOT(k)   (k)        /* for each key: the number of the change that wrote its value; 0: none */
#define POSITION  2
#define OVERRUN   3
#define CELL(p)   (4 + (p) % RING)

#define CELLS        (4 + RING)
#define PROCESSORS   1
#define BUFFER_DEPTH 8
#include "memory.pml"

#define HOLDER 0

/* State for the properties only, for key 0. */
byte changes;
byte newestKnown;     /* values of earlier changes may no longer be served */
byte newestKilled;    /* values of this change and earlier ones may not be served either */

inline raise(variable, number) {
    if
    :: number > variable -> variable = number
    :: else
    fi
}

#define LIVE_OR_DEAD  if :: true :: deaths < DEATHS -> deaths++; goto died fi

inline post(k) {
    LIVE_OR_DEAD;
#if defined(RING_POSITION_FIRST)
    release_store(HOLDER, POSITION, position + 1);
    LIVE_OR_DEAD;
    release_store(HOLDER, CELL(position), (k) + 1);
#elif defined(PLAIN_RING_CELL)
    plain_store(HOLDER, CELL(position), (k) + 1);
    LIVE_OR_DEAD;
    release_store(HOLDER, POSITION, position + 1);
#else
    release_store(HOLDER, CELL(position), (k) + 1);
    LIVE_OR_DEAD;
    release_store(HOLDER, POSITION, position + 1);
#endif
    position++
}

/* A set or a removal. */
inline change() {
    changes++;
    if
    :: key = 0; mine = changes
    :: key = 1
    fi;
    wasThere = (memory[SLOT(key)] != 0);
#ifdef POST_BEFORE_SLOT
    post(key);
#endif
    LIVE_OR_DEAD;
    if
    :: release_store(HOLDER, SLOT(key), changes)
    :: release_store(HOLDER, SLOT(key), 0)
    fi;
#if defined(POST_ONLY_REPLACED)
    if
    :: wasThere -> post(key)
    :: else
    fi
#elif !defined(POST_BEFORE_SLOT)
    post(key)
#endif
}

proctype Holder() {
    byte mine, position, evictions, deaths, overrun;
    bit key;
    bool wasThere;

    goto idle;
died:
    IS_DRAINED(HOLDER);    /* M2 */
#if defined(PLAIN_OVERRUN_IN_RECOVERY)
    overrun = memory[OVERRUN];
    memory[OVERRUN] = overrun + 1;
    overrun = 0;
#elif !defined(NO_OVERRUN_IN_RECOVERY)
    memory[OVERRUN] = memory[OVERRUN] + 1;
#endif
    atomic { mine = memory[SLOT(0)]; goto release };    /* N2 */
idle:
    atomic {
        position = memory[POSITION];
        if
        :: changes <= CHANGES ->
            change();
            if
            :: changes <= CHANGES -> change()    /* several changes under one lock */
            :: true
            fi;
            LIVE_OR_DEAD
        :: evictions < EVICTIONS && memory[SLOT(0)] != 0 ->
            evictions++;
            release_store(HOLDER, SLOT(0), 0)
        fi
    };
release:
    atomic {
        IS_DRAINED(HOLDER) ->
            raise(newestKnown, mine);
            mine = 0;
            position = 0;
            key = 0;
            wasThere = false
    };
    if
    :: changes <= CHANGES -> goto idle
    :: else
    fi
}

/* Sets that did not get the lock in time: they are dropped, and no older value may be served afterwards. */
proctype Dropper() {
    byte kills, seen, old;

    do
    :: kills < KILLS ->
        kills++;
        atomic { old = newestKnown; seen = memory[SLOT(0)] };
#ifdef OVERRUN_BEFORE_KILL
        memory[OVERRUN] = memory[OVERRUN] + 1;
#endif
        atomic {
            do
            :: seen == 0 -> break
            :: seen != 0 && memory[SLOT(0)] == seen ->
                memory[SLOT(0)] = 0;
                break
            :: else -> seen = memory[SLOT(0)]
            od;
            raise(old, seen)
        };
#if defined(KILL_OF_NOTHING_IS_SILENT)
        if
        :: seen != 0 -> memory[OVERRUN] = memory[OVERRUN] + 1
        :: else
        fi;
#elif !defined(OVERRUN_BEFORE_KILL)
        memory[OVERRUN] = memory[OVERRUN] + 1;
#endif
        atomic {
            raise(newestKilled, old);    /* the acknowledgement */
            seen = 0;
            old = 0
        }
    :: else -> break
    od
}

#ifdef RING_USED_IN_FULL
#define IS_OVERRUN(p) ((p) - mine > RING)
#else
#define IS_OVERRUN(p) ((p) - mine >= RING)
#endif

inline look_at(p) {
    if
    :: memory[CELL(p)] == 1 -> isNamed = true    /* key 0 */
    :: else
    fi
}

inline copy_cells() {
#ifdef LOADS_PASS
    /* Arm64: the loads of cells may have any order. At most two are copied here (RING <= 3), so these are all orders. */
    if
    :: next = mine; do :: next != position -> look_at(next); next++ :: else -> break od
    :: next = position; do :: next != mine -> next--; look_at(next) :: else -> break od
    fi
#else
    next = mine;
    do
    :: next != position -> look_at(next); next++
    :: else -> break
    od
#endif
}

inline poll() {
#ifdef LOADS_PASS
    /* The code loads the overrun first; this model loads the position first. Both orders are correct. */
    overrun = memory[OVERRUN];
#endif
    position = memory[POSITION];
#if !defined(POLL_POSITION_ONLY) && !defined(LOADS_PASS)
    overrun = memory[OVERRUN];
#endif
    if
    :: position == mine && overrun == seenOverrun
    :: overrun != seenOverrun || IS_OVERRUN(position) -> cached = 0
    :: else ->
#ifdef NO_READ_BARRIER
        again = memory[POSITION];
        copy_cells();
#else
        copy_cells();
        again = memory[POSITION];
#endif
        if
#ifdef NO_POSITION_RECHECK
        :: isNamed -> cached = 0
#else
        :: isNamed || IS_OVERRUN(again) -> cached = 0
#endif
        :: else
        fi
    fi;
    atomic {
        mine = position;
        seenOverrun = overrun;
        position = 0;
        overrun = 0;
        again = 0;
        next = 0;
        isNamed = false
    }
}

proctype Cacher() {
    byte cached, mine, seenOverrun, position, overrun, again, next, actions, floor, killed, value;
    bool isNamed;

    do
    :: actions < ACTIONS ->
        actions++;
        if
        :: cached == 0 ->
#ifdef FILL_POLLS_LATE
            value = memory[SLOT(0)];
            poll();
            cached = value;
            value = 0
#else
            poll();
            cached = memory[SLOT(0)]
#endif
        :: cached != 0 ->
            atomic { floor = newestKnown; killed = newestKilled };
            poll();
            assert(cached == 0 || (cached >= floor && cached > killed));    /* N1, N2 */
            atomic { floor = 0; killed = 0 }
        fi
    :: else -> break
    od
}

init {
    atomic {
        changes = 1;
        newestKnown = 1;
        memory[SLOT(0)] = 1;
        run Drain(HOLDER);
        run Holder();
        run Dropper();
        run Cacher()
    }
}
