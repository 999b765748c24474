/* Writers append entries and publish them under one lock; a reader reads and validates without any lock.
 *
 *   write:  recycle a segment if necessary | first half, last half | tail | version + 1 | slot
 *           recycle: clear every slot that names the segment | full fence | tail := 0
 *   read:   version | slot | first half, with the key | last half | slot again | version again
 *
 * There is one bucket with two slots and two keys whose tags collide. So either key may be in either slot, and only the key
 * inside the entry distinguishes them. A segment holds one entry, so nearly every write recycles. An entry is two cells that
 * hold the number of the mutation that wrote it. Entries have no checksum and slots have no stamp here, because the protocol
 * must hold without them.
 *
 *   R1  A returned value is whole: both halves come from one mutation.
 *   R2  It is a value of the requested key.
 *   R3  It is at least as new as every change of the key that was acknowledged, and every value of it that was returned,
 *       before the read began. So no stale and no removed value is read, and reads never go back.
 *
 * A miss is always allowed: this is a cache.
 *
 * All holders of the lock are one process here: lock.pml shows that they follow each other. A release and a death
 * both leave an empty store buffer (M2), so the next holder may be any process. A holder may die before any store; the
 * next one then recovers and continues. The stores up to the next fence enter the buffer in one step, because no other process
 * sees them until they drain.
 */

#ifndef SEGMENTS
#define SEGMENTS 2
#endif
#ifndef MUTATIONS
#define MUTATIONS 3
#endif
#ifndef RELOCATIONS
#define RELOCATIONS 1
#endif
#ifndef READS
#define READS 2
#endif
#ifndef DEATHS
#define DEATHS 1
#endif

/* 0 is the bucket's version; then the slots, and three cells for each segment. */
#define VERSION   0
#define SLOT(i)   (1 + (i))
#define TAIL(s)   (3 + 3 * (s))    /* 1: the segment holds an entry */
#define FIRST(s)  (4 + 3 * (s))
#define LAST(s)   (5 + 3 * (s))

#define CELLS        (3 + 3 * SEGMENTS)
#define PROCESSORS   1
#define BUFFER_DEPTH 7
#include "memory.pml"

#define HOLDER     0      /* the processor of the lock's holder */
#define NO_SEGMENT 100

/* State for the properties only. */
byte mutations;           /* the last number of a set or a removal */
bit keyOf[MUTATIONS + 1];
byte newestKnown[2];      /* for each key: the newest acknowledged change or returned value */

inline note(k, mutation) {
    if
    :: mutation > newestKnown[k] -> newestKnown[k] = mutation
    :: else
    fi
}

#define LIVE_OR_DEAD  if :: true :: deaths < DEATHS -> deaths++; goto died fi

/* The slots as the holder knows them: a cleared slot may still be in the buffer. */
#define IS_CLEARED(n) (memory[SLOT(n)] == 0 || memory[SLOT(n)] == segment + 1)
#define HOLDS_KEY(n)  (!IS_CLEARED(n) && keyOf[memory[FIRST(memory[SLOT(n)] - 1)]] == key)

inline clear_slot_if(n, condition) {
    if
    :: condition -> LIVE_OR_DEAD; release_store(HOLDER, SLOT(n), 0)
    :: else
    fi
}

/* Any other segment may be the victim: a free one, or one whose entry is evicted first. */
inline recycle_segment(except) {
    atomic {
        if
        :: except != 0 -> segment = 0
#if SEGMENTS > 1
        :: except != 1 -> segment = 1
#endif
#if SEGMENTS > 2
        :: except != 2 -> segment = 2
#endif
        fi;
#ifndef NO_CLEAR_BEFORE_REUSE
        clear_slot_if(0, memory[TAIL(segment)] != 0 && memory[SLOT(0)] == segment + 1);
        clear_slot_if(1, memory[TAIL(segment)] != 0 && memory[SLOT(1)] == segment + 1)
#endif
    }
#ifndef NO_FENCE_BEFORE_REUSE
    ;
    full_fence(HOLDER)
#endif
}

inline append_entry(content) {
    if
    :: memory[TAIL(segment)] != 0 -> LIVE_OR_DEAD; plain_store(HOLDER, TAIL(segment), 0)
    :: else
    fi;
    LIVE_OR_DEAD; plain_store(HOLDER, FIRST(segment), content);
    LIVE_OR_DEAD; plain_store(HOLDER, LAST(segment), content)
}

inline raise_tail()    { LIVE_OR_DEAD; release_store(HOLDER, TAIL(segment), 1) }
inline raise_version() { LIVE_OR_DEAD; release_store(HOLDER, VERSION, memory[VERSION] + 1) }

inline publish_slot() {
    LIVE_OR_DEAD;
#ifdef PLAIN_SLOT
    plain_store(HOLDER, SLOT(i), segment + 1)
#else
    release_store(HOLDER, SLOT(i), segment + 1)
#endif
}

/* The key's slot, or a free one. */
inline choose_slot() {
    if
    :: HOLDS_KEY(0) -> i = 0
    :: HOLDS_KEY(1) -> i = 1
    :: !HOLDS_KEY(0) && !HOLDS_KEY(1) && IS_CLEARED(0) -> i = 0
    :: !HOLDS_KEY(0) && !HOLDS_KEY(1) && !IS_CLEARED(0) -> i = 1
    fi
}

inline set() {
    recycle_segment(NO_SEGMENT);
    atomic {
        choose_slot();
#ifdef SLOT_BEFORE_ENTRY
        raise_version();
        publish_slot();
#endif
        append_entry(mutation);
#ifndef TAIL_AFTER_SLOT
        raise_tail();
#endif
#ifdef VERSION_AFTER_SLOT
        publish_slot();
        raise_version();
#endif
#if !defined(SLOT_BEFORE_ENTRY) && !defined(VERSION_AFTER_SLOT)
        raise_version();
        publish_slot();
#endif
#ifdef TAIL_AFTER_SLOT
        raise_tail();
#endif
        LIVE_OR_DEAD
    }
}

inline remove() {
    atomic {
        segment = NO_SEGMENT;
        choose_slot();
        if
        :: HOLDS_KEY(i) ->
            raise_version();
            LIVE_OR_DEAD; release_store(HOLDER, SLOT(i), 0);
            LIVE_OR_DEAD
        :: else
        fi
    }
}

/* The survivor of an eviction: the same value at a new place, in the same slot. Interlocked, as kill.pml requires. */
inline relocate() {
    atomic {
        if
        :: memory[SLOT(0)] != 0 -> moving = 0
        :: memory[SLOT(1)] != 0 -> moving = 1
        fi;
        source = memory[SLOT(moving)] - 1
    };
    recycle_segment(source);
    atomic {
        i = moving;
        append_entry(memory[FIRST(source)]);
        raise_tail();
        raise_version();
        LIVE_OR_DEAD
    };
    atomic {
        IS_DRAINED(HOLDER) -> memory[SLOT(i)] = segment + 1;
        LIVE_OR_DEAD
    }
}

/* Idempotent. Clears the slots that name no entry. */
inline recover() {
    atomic {
#ifndef RECOVERY_KEEPS_DANGLING_SLOTS
        clear_slot_if(0, memory[SLOT(0)] != 0 && memory[TAIL(memory[SLOT(0)] - 1)] == 0);
        clear_slot_if(1, memory[SLOT(1)] != 0 && memory[TAIL(memory[SLOT(1)] - 1)] == 0);
#endif
        LIVE_OR_DEAD
    };
    full_fence(HOLDER)
}

proctype Holder() {
    byte i, segment, mutation, source, moving, relocations, deaths;
    bit key;

    goto idle;
died:
    IS_DRAINED(HOLDER);    /* M2 */
    mutation = 0;
    recover();
    goto release;
idle:
    if
    :: mutations < MUTATIONS ->
        atomic {
            mutations++;
            mutation = mutations;
            if
            :: key = 0
            :: key = 1
            fi;
            keyOf[mutation] = key
        };
        if
        :: set()
        :: remove()
        fi
#if RELOCATIONS > 0
    :: relocations < RELOCATIONS && (memory[SLOT(0)] != 0 || memory[SLOT(1)] != 0) ->
        relocations++;
        relocate()
#endif
    fi;
release:
    /* Interlocked: everything is visible before another process has the lock or the caller gets its answer. */
    atomic {
#ifndef UNLOCK_WITHOUT_FENCE
        IS_DRAINED(HOLDER);
#endif
        if
        :: mutation != 0 -> note(key, mutation)
        :: else
        fi;
        mutation = 0;
        key = 0;
        segment = 0;
        source = 0;
        moving = 0;
        i = 0
    };
    IS_DRAINED(HOLDER);
    if
    :: mutations < MUTATIONS -> goto idle
    :: else
    fi
}

#ifdef NO_SLOT_RECHECK
#define SLOT_IS_SAME true
#else
#define SLOT_IS_SAME (memory[SLOT(i)] == location)
#endif
#ifdef NO_VERSION_RECHECK
#define VERSION_IS_SAME true
#else
#define VERSION_IS_SAME (memory[VERSION] == version)
#endif
#ifdef NO_KEY_COMPARE
#define KEY_IS_SAME (first != 0)
#else
#define KEY_IS_SAME (first != 0 && keyOf[first] == key)
#endif

/* A reader that finds a change gives up here. A second try would be a further read. */
#define GIVE_UP i = 2

proctype Reader() {
    byte i, version, location, first, last, floor, reads;
    bool isSame;
    bit key;    /* always 0: the keys are equivalent, and the first mutation may be of either */

    do
    :: reads < READS ->
        atomic {
            reads++;
            floor = newestKnown[key];
            version = memory[VERSION]
        };
        do
        :: i < 2 ->
            location = memory[SLOT(i)];
            if
            :: location == 0 -> i++
            :: else ->
#ifdef LOADS_PASS
                /* Arm64: both loads are between the acquire of the slot and the barrier, in any order. */
                if
                :: first = memory[FIRST(location - 1)]; last = memory[LAST(location - 1)]
                :: last = memory[LAST(location - 1)]; first = memory[FIRST(location - 1)]
                fi;
#else
                first = memory[FIRST(location - 1)];
#endif
                if
                :: !KEY_IS_SAME -> i++
                :: else ->
#if !defined(NO_READ_BARRIER) && !defined(LOADS_PASS)
                    last = memory[LAST(location - 1)];
#endif
#ifdef VERSION_BEFORE_SLOT
                    /* Without the acquire, the second load of the version may precede that of the slot. */
                    isSame = VERSION_IS_SAME;
                    isSame = isSame && SLOT_IS_SAME;
#else
                    isSame = SLOT_IS_SAME;
                    isSame = isSame && VERSION_IS_SAME;
#endif
                    if
                    :: !isSame -> GIVE_UP
                    :: else ->
#ifdef NO_READ_BARRIER
                        /* Without the barrier, the load of a value may be the last one. */
                        last = memory[LAST(location - 1)];
#endif
                        atomic {
                            assert(last == first);             /* R1 */
                            assert(keyOf[first] == key);       /* R2 */
                            assert(first >= floor);            /* R3 */
                            note(key, first);
                            GIVE_UP
                        }
                    fi
                fi
            fi
        :: else -> break
        od;
        atomic { i = 0; version = 0; location = 0; first = 0; last = 0; floor = 0; isSame = false }
    :: else -> break
    od
}

/* The store starts with one entry, of either key. */
init {
    atomic {
        if
        :: keyOf[1] = 0
        :: keyOf[1] = 1
        fi;
        mutations = 1;
        newestKnown[keyOf[1]] = 1;
        memory[VERSION] = 1;
        memory[SLOT(0)] = 1;
        memory[TAIL(0)] = 1;
        memory[FIRST(0)] = 1;
        memory[LAST(0)] = 1;
        run Drain(HOLDER);
        run Holder();
        run Reader()
    }
}
