/* Threads of a process keep values that they read from the store in a first level, and serve them until they are changed.
 *
 *   change, locked (of the store):  slot | position + 1                         (release stores)
 *   drain, locked (of the process): position; moved: drop the entry | drained := position (release)
 *   hit:    position and drained; not equal: lock, drain, unlock | serve the entry that is there
 *   fill:   mark := position | read the slot | lock | drain | position drained = mark: keep | unlock
 *   write:  mark := position | change | lock | drain | position drained <= mark + 1: keep | unlock
 *
 *   H1  A hit is at least as new as every change that was acknowledged before it began.
 *
 * There is one key, every change is of this key, and the ring never overruns: ring.pml has other keys, rings that are too short, deaths
 * and retractions without the lock. The changer is another process.
 */

#ifndef CHANGES
#define CHANGES 2
#endif
#ifndef ACTIONS
#define ACTIONS 2     /* hits, fills and writes of each thread */
#endif
#ifndef THREADS
#define THREADS 2
#endif

#define SLOT      0    /* the number of the change that wrote the value */
#define POSITION  1    /* the number of posted changes */
#define ENTRY     2    /* the value in the first level; 0: none */
#define DRAINED   3

#define CELLS        4
#define PROCESSORS   (THREADS + 1)
#define BUFFER_DEPTH 4
#include "memory.pml"

#define CHANGER THREADS

bool isStoreLocked, isLocked;
byte changes;
byte acknowledged;    /* values of earlier changes may no longer be served */

#define LOCK(lock)    atomic { !lock -> lock = true }
#define UNLOCK(lock)  atomic { IS_DRAINED(me) -> lock = false }

/* The number of the change is also its value. */
inline change(number) {
    atomic { !isStoreLocked -> isStoreLocked = true; changes++; number = changes };
    release_store(me, SLOT, number);
    release_store(me, POSITION, number);
    UNLOCK(isStoreLocked);
    atomic {
        if
        :: number > acknowledged -> acknowledged = number
        :: else
        fi
    }
}

inline drain_ring() {
    position = memory[POSITION];
    if
    :: position != memory[DRAINED] ->
#if defined(PUBLISH_FIRST)
        release_store(me, DRAINED, position);
        plain_store(me, ENTRY, 0)
#elif defined(PLAIN_DRAINED)
        plain_store(me, ENTRY, 0);
        plain_store(me, DRAINED, position)
#else
        plain_store(me, ENTRY, 0);
        release_store(me, DRAINED, position)
#endif
    :: else
    fi
}

#if defined(KEEP_WITHOUT_LOOKING)
#define IS_WITHIN(own) true
#elif defined(LOOK_BEFORE_DRAINING)
#define IS_WITHIN(own) (looked - mark <= own)
#else
#define IS_WITHIN(own) (position - mark <= own)
#endif

inline keep(own) {
    LOCK(isLocked);
#ifdef LOOK_BEFORE_DRAINING
    looked = memory[POSITION];
#endif
    drain_ring();
    if
    :: IS_WITHIN(own) ->
#ifdef KEEP_WITHOUT_LOCK
        UNLOCK(isLocked);
        plain_store(me, ENTRY, value);
        full_fence(me)
#else
        plain_store(me, ENTRY, value);
        UNLOCK(isLocked)
#endif
    :: else -> UNLOCK(isLocked)
    fi
}

inline fill() {
#ifdef MARK_AFTER_READING
    value = memory[SLOT];
    mark = memory[POSITION];
#else
    mark = memory[POSITION];
    value = memory[SLOT];
#endif
#ifdef ALLOW_WHAT_WAS_NOT_WRITTEN
    keep(1)
#else
    keep(0)
#endif
}

inline write() {
    mark = memory[POSITION];
    change(value);
    keep(1)
}

inline hit() {
    floor = acknowledged;
#ifdef HIT_ASKS_LATE
    found = memory[ENTRY];
#endif
    position = memory[POSITION];
    if
    :: position != memory[DRAINED] ->
        LOCK(isLocked);
        drain_ring();
        UNLOCK(isLocked)
    :: else
    fi;
#ifndef HIT_ASKS_LATE
    found = memory[ENTRY];
#endif
    assert(found == 0 || found >= floor)    /* H1 */
}

proctype Thread(byte me) {
    byte actions, mark, value, position, looked, found, floor;

    do
    :: actions < ACTIONS ->
        actions++;
        if
        :: fill()
        :: changes <= CHANGES -> write()
        :: hit()
        fi;
        atomic { mark = 0; value = 0; position = 0; looked = 0; found = 0; floor = 0 }
    :: else -> break
    od
}

proctype Changer(byte me) {
    byte number;

    do
    :: changes <= CHANGES -> change(number)
    :: else -> break
    od
}

init {
    byte thread;
    atomic {
        changes = 1;
        acknowledged = 1;
        memory[SLOT] = 1;
        memory[POSITION] = 1;
        memory[DRAINED] = 1;
        run Drain(CHANGER);
        run Changer(CHANGER);
        do
        :: thread < THREADS ->
            run Drain(thread);
            run Thread(thread);
            thread++
        :: else -> break
        od
    }
}
