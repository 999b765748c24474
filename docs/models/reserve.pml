/* A large value is reserved under the lock, copied without it, and published under the lock again.
 *
 *   within a segment:  lock | gap header | hazard := segment | unlock
 *                      copy both halves
 *                      lock | version + 1 | slot | unlock | hazard := 0
 *   a run (-DRUN):     state: free -> reserved by my owner slot (interlocked)
 *                      copy both halves
 *                      lock | state := sealed | version + 1 | slot | unlock
 *   evict, locked:     scan the hazard cell, pinned by a live owner: take another victim
 *                      state := retired | clear the slot that names the segment | full fence
 *                      scan the hazard cell again, not pinned, or its owner is dead: state := free
 *   set, locked:       state: free -> sealed (interlocked) | both halves | version + 1 | slot
 *   reap:              take the dead owner's byte | clear its hazard cells, free its reservations | release the byte
 *   open:              take the byte of a slot | the same clean-up | use it
 *
 * The first scan is for writers, which pin under the lock: they must not publish into a segment whose slots were
 * cleared before. The second is for readers, as in pin.pml; no reader pins here.
 *
 *   V1  A returned value is whole and was published: it contains no bytes of another value.
 *   V2  Reservations and pins of a dead writer are freed: in the end every segment can be recycled.
 *
 * The large writer may die at any statement, and a successor gets its owner slot. Segment states are changed by interlocked
 * operations, or under the lock by the only process that may change them. So they are plain variables here. Only the
 * bytes, the version, the slot and the hazard cell are stored through a buffer.
 */

#ifndef SEGMENTS
#define SEGMENTS 2
#endif
#ifndef SETS
#define SETS 2
#endif
#ifndef DEATHS
#define DEATHS 1
#endif

#define VERSION   0
#define SLOT      1
#define HAZARD    2
#define FIRST(s)  (3 + 2 * (s))
#define LAST(s)   (4 + 2 * (s))

#define CELLS        (3 + 2 * SEGMENTS)
#define PROCESSORS   2
#define BUFFER_DEPTH 6
#include "memory.pml"

#define NO_SEGMENT 100

#define SETTER 0
#define LARGE  1

mtype = { free, reserved, sealed, retired };
mtype state[SEGMENTS] = free;

/* The lock, whose holder may be dead, and the byte of the large writer's owner slot. */
mtype = { nobody, theSetter, theLarge, theReaper };
mtype holder = nobody;
mtype byteHolder = nobody;

bool killed, largeIsGone;

/* State for the properties only. */
byte mutations;
bool wasPublished[8];

#define LARGE_IS_DEAD (byteHolder != theLarge)

inline take_lock(who) {
    atomic { holder == nobody || (who == theSetter && holder == theLarge && LARGE_IS_DEAD) -> holder = who }
}

inline release_lock(cpu) { atomic { IS_DRAINED(cpu) -> holder = nobody } }

inline store_entry(cpu, s, content) {
    plain_store(cpu, FIRST(s), content);
    plain_store(cpu, LAST(s), content)
}

inline publish(cpu, s, content) {
    atomic {
        wasPublished[content] = true;
        release_store(cpu, VERSION, memory[VERSION] + 1);
        release_store(cpu, SLOT, (s) + 1)
    }
}

inline free_reserved(s) {
    if
    :: state[s] == reserved -> state[s] = free
    :: else
    fi
}

inline clean_up(cpu) {
    plain_store(cpu, HAZARD, 0);
    full_fence(cpu);
    free_reserved(0);
    free_reserved(1)
}

inline give_byte_back(cpu, who) {
    atomic {
        IS_DRAINED(cpu) ->
            if
            :: byteHolder == who -> byteHolder = nobody
            :: else
            fi
    }
}

inline reap() {
#if defined(NO_REAP)
    skip
#elif defined(REAP_WITHOUT_BYTE)
    if
    :: byteHolder == nobody -> clean_up(SETTER)
    :: else
    fi
#else
    atomic {
        if
        :: byteHolder == nobody -> byteHolder = theReaper
        :: else
        fi
    }
    if
    :: byteHolder == theReaper ->
        clean_up(SETTER);
        give_byte_back(SETTER, theReaper)
    :: else
    fi
#endif
}

#define IS_PINNED(s) (memory[HAZARD] == (s) + 1)
#ifdef VICTIM_WITHOUT_SCAN
#define IS_CANDIDATE(s) true
#else
#define IS_CANDIDATE(s) (!IS_PINNED(s))
#endif

/* Under the lock. A retired segment was cleared before, so only the last scan is repeated. */
inline try_to_free(s) {
    if
    :: state[s] == sealed && !IS_CANDIDATE(s) -> reap()
    :: else
    fi;
    atomic {
        if
        :: state[s] == sealed && IS_CANDIDATE(s) ->
            state[s] = retired;
            if
            :: memory[SLOT] == (s) + 1 -> release_store(SETTER, SLOT, 0)
            :: else
            fi
        :: else
        fi
    }
    full_fence(SETTER);
    if
    :: state[s] == retired && IS_PINNED(s) -> reap()
    :: state[s] == reserved -> reap()
    :: else
    fi;
    if
    :: state[s] == retired && !IS_PINNED(s) -> state[s] = free
    :: else
    fi
}

proctype Setter() {
    byte sets, segment, mutation;

    do
    :: sets < SETS ->
        take_lock(theSetter);
        atomic {
            sets++;
            mutations++;
            mutation = mutations;
            if
            :: segment = 0
            :: segment = 1
            fi
        };
        try_to_free(segment);
        atomic {
            if
            :: state[segment] == free -> state[segment] = sealed
            :: else -> mutation = 0    /* the set is dropped */
            fi
        };
        if
        :: mutation != 0 ->
            atomic { store_entry(SETTER, segment, mutation) };
            publish(SETTER, segment, mutation)
        :: else
        fi;
        release_lock(SETTER)
    :: else -> break
    od;
    largeIsGone;
    take_lock(theSetter);
    try_to_free(0);
    assert(state[0] == free);    /* V2 */
    try_to_free(1);
    assert(state[1] == free);    /* V2 */
    release_lock(SETTER)
}

inline open_store() {
    atomic { byteHolder == nobody -> byteHolder = theLarge };
    /* lock.pml has the recovery of locks that still have the slot's number. */
    atomic {
        if
        :: holder == theLarge -> holder = nobody
        :: else
        fi
    }
    clean_up(LARGE)
}

/* Words in the file: the lock's holder may take a free segment; for a run, any process may. */
inline choose_free(newState) {
    atomic {
        if
        :: state[0] == free -> segment = 0
        :: state[1] == free -> segment = 1
        :: else -> segment = NO_SEGMENT
        fi;
        if
        :: segment != NO_SEGMENT ->
            state[segment] = newState;
            mutations++;
            mutation = mutations
        :: else
        fi
    }
}

#ifdef RUN

inline reserve() { choose_free(reserved) }

inline publish_reserved() {
    take_lock(theLarge);
    state[segment] = sealed;
    publish(LARGE, segment, mutation);
    release_lock(LARGE)
}

#else

inline reserve() {
    take_lock(theLarge);
    choose_free(sealed);
#ifdef PIN_AFTER_UNLOCK
    release_lock(LARGE);
    if
    :: segment != NO_SEGMENT -> plain_store(LARGE, HAZARD, segment + 1)
    :: else
    fi;
    full_fence(LARGE)
#else
    if
    :: segment != NO_SEGMENT -> plain_store(LARGE, HAZARD, segment + 1)
    :: else
    fi;
    release_lock(LARGE)
#endif
}

inline publish_reserved() {
    take_lock(theLarge);
    publish(LARGE, segment, mutation);
    release_lock(LARGE);
    release_store(LARGE, HAZARD, 0)
}

#endif

proctype Large() {
    byte segment, mutation;

opening:
    {
        open_store();
        reserve();
        if
        :: segment != NO_SEGMENT ->
            plain_store(LARGE, FIRST(segment), mutation);
            plain_store(LARGE, LAST(segment), mutation);
            publish_reserved()
        :: else    /* the set is dropped */
        fi;
        atomic { IS_DRAINED(LARGE) -> largeIsGone = true; goto idle }
    } unless {
        killed ->
            give_byte_back(LARGE, theLarge)    /* M2 */
    };
    atomic {
        killed = false;
        segment = 0;
        mutation = 0
    }
    if
    :: goto opening           /* a successor gets the slot */
    :: largeIsGone = true     /* no process ever takes it again */
    fi;
idle:
    skip
}

active proctype Killer() {
    byte deaths;
end:
    do
    :: deaths < DEATHS && !killed && !largeIsGone -> atomic { killed = true; deaths++ }
    od
}

active proctype Reader() {
    byte version, location, first, last;

    version = memory[VERSION];
    location = memory[SLOT];
    if
    :: location == 0
    :: else ->
        first = memory[FIRST(location - 1)];
        last = memory[LAST(location - 1)];
        if
        :: memory[SLOT] != location
        :: else ->
            if
            :: memory[VERSION] != version
            :: else -> assert(last == first && wasPublished[first])    /* V1 */
            fi
        fi
    fi
}

init {
    atomic {
        run Drain(SETTER);
        run Drain(LARGE);
        run Setter();
        run Large()
    }
}
