/* Two threads of one process pin through one hazard cell, which they share if they pin the same segment. An evictor recycles
 * segments meanwhile. pin.pml covers dead owners.
 *
 *   pin:    version | slot | header | share, or take the cell | slot again | version again
 *     share:  count of the segment above zero: compare-and-swap to one more
 *     take:   the cell's bit by compare-and-swap | hazard := segment | full fence | count := 1 (release)
 *   unpin:  count decremented (interlocked); the last one: count := none | hazard := 0 (release) | release the bit
 *   evict:  clear the slot that names the segment | full fence | if a hazard cell names it, leave it, else reuse the bytes
 *
 *   P1  While a pin holds, the bytes are those of the entry that was pinned.
 *   P2  When no thread pins, every segment can be recycled.
 */

#ifndef MUTATIONS
#define MUTATIONS 3
#endif
#ifndef PINS
#define PINS 2            /* of each thread */
#endif

#define VERSION   0
#define SLOT      1
#define HAZARD    2
#define SHARE     3       /* process memory: segment + 1, times 4, plus the count; 0: not shared */
#define FREE      4       /* process memory */
#define BYTES(s)  (5 + (s))

#define CELLS        7
#define PROCESSORS   3
#define BUFFER_DEPTH 4
#include "memory.pml"

#define EVICTOR 0

byte done;

/* Leaves isPinned. */
inline make_reusable(s) {
    if
    :: memory[SLOT] == (s) + 1 -> release_store(EVICTOR, SLOT, 0)
    :: else
    fi;
    full_fence(EVICTOR);
    isPinned = (memory[HAZARD] == (s) + 1)
}

proctype Evictor() {
    byte segment, mutation = 1;
    bool isPinned;

    do
    :: mutation < MUTATIONS ->
        atomic {
            mutation++;
            if
            :: segment = 0
            :: segment = 1
            fi
        };
        make_reusable(segment);
        if
        :: isPinned
        :: else ->
            atomic {
                plain_store(EVICTOR, BYTES(segment), mutation);
                release_store(EVICTOR, VERSION, memory[VERSION] + 1);
                release_store(EVICTOR, SLOT, segment + 1)
            }
        fi;
        IS_DRAINED(EVICTOR)
    :: else -> break
    od;
    done == 2;
    make_reusable(0);
    assert(!isPinned);    /* P2 */
    make_reusable(1);
    assert(!isPinned)     /* P2 */
}

#ifdef SHARE_FROM_ZERO
#define IS_SHARED(share, s) ((share) / 4 == (s))
#else
#define IS_SHARED(share, s) ((share) / 4 == (s) && (share) % 4 > 0)
#endif

/* Leaves isHeld. */
inline acquire(cpu, s) {
    share = memory[SHARE];
    if
    :: IS_SHARED(share, s) ->
        atomic {
            IS_DRAINED(cpu) ->
                isHeld = (memory[SHARE] == share);
                if
                :: isHeld -> memory[SHARE] = share + 1
                :: else
                fi
        }
    :: else ->
        atomic {
            IS_DRAINED(cpu) ->
                isHeld = memory[FREE];
                if
                :: isHeld -> memory[FREE] = 0
                :: else
                fi
        };
        if
        :: isHeld ->
#ifdef SHARE_BEFORE_HAZARD
            release_store(cpu, SHARE, (s) * 4 + 1);
            plain_store(cpu, HAZARD, s);
            full_fence(cpu)
#else
            plain_store(cpu, HAZARD, s);
#ifndef NO_FENCE_BEFORE_SHARE
            full_fence(cpu);
#endif
            release_store(cpu, SHARE, (s) * 4 + 1);
#ifdef NO_FENCE_BEFORE_SHARE
            skip
#endif
#endif
        :: else
        fi
    fi
}

inline release(cpu) {
    atomic { IS_DRAINED(cpu) -> memory[SHARE] = memory[SHARE] - 1; share = memory[SHARE] % 4 };
    if
#ifdef EVERY_PIN_CLEARS
    :: true ->
#else
    :: share == 0 ->
#endif
#ifdef FREE_BEFORE_CLEAR
        atomic { IS_DRAINED(cpu) -> memory[FREE] = 1 };
        release_store(cpu, SHARE, 0);
        release_store(cpu, HAZARD, 0)
#else
        release_store(cpu, SHARE, 0);
        release_store(cpu, HAZARD, 0);
        atomic { IS_DRAINED(cpu) -> memory[FREE] = 1 }
#endif
#ifndef EVERY_PIN_CLEARS
    :: else
#endif
    fi
}

proctype Pinner(byte cpu) {
    byte version, location, header, share, pins;
    bool isHeld;

    do
    :: pins < PINS ->
        version = memory[VERSION];
        location = memory[SLOT];
        if
        :: location == 0    /* a miss */
        :: else ->
            header = memory[BYTES(location - 1)];
            acquire(cpu, location);
            if
            :: !isHeld    /* no cell: the value is copied */
            :: else ->
                if
                :: memory[SLOT] != location
                :: else ->
                    if
                    :: memory[VERSION] != version
                    :: else ->
                        assert(memory[BYTES(location - 1)] == header);    /* P1, at the start of the use */
                        assert(memory[BYTES(location - 1)] == header)     /* P1, at any later moment of it */
                    fi
                fi;
                release(cpu)
            fi
        fi;
        atomic { pins++; version = 0; location = 0; header = 0; share = 0; isHeld = false }
    :: else -> break
    od;
    atomic { IS_DRAINED(cpu) -> done++ }
}

init {
    atomic {
        memory[VERSION] = 1;
        memory[SLOT] = 1;
        memory[BYTES(0)] = 1;
        memory[FREE] = 1;
        run Drain(EVICTOR);
        run Drain(1);
        run Drain(2);
        run Evictor();
        run Pinner(1);
        run Pinner(2)
    }
}
