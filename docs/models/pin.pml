/* A reader pins a segment and then uses its bytes in place; the evictor recycles segments meanwhile.
 *
 *   pin:    version | slot | header | hazard := segment | full fence | slot again | version again
 *   unpin:  hazard := 0 (release)
 *   evict:  clear the slot that names the segment | full fence | scan the hazard cells, until none names the segment:
 *           pinned by a live owner: leave the segment until a later scan; by a dead owner: reap, scan again
 *           | reuse the bytes
 *   reap:   mutex of the process | take the dead owner's byte lock | clear its hazard cell | release the byte
 *   open:   take the byte lock of a slot | clear the hazard cell that its predecessor left | use it
 *
 *   P1  While the pin holds, the bytes are those of the entry that was pinned.
 *   P2  A dead owner's pin is reaped: when no live process pins, every segment can be recycled.
 *
 * The pinning process may die at any statement, and a successor gets its owner slot. Another owner died earlier and left
 * a pin on some segment, in a cell that is scanned first. The holder of the lock is one process, as in read.pml, which also
 * covers its death. A second thread of that process evicts in another partition; only its reaping matters here.
 */

#ifndef SEGMENTS
#define SEGMENTS 2
#endif
#ifndef MUTATIONS
#define MUTATIONS 4
#endif
#ifndef PINS
#define PINS 1            /* of each incarnation */
#endif
#ifndef DEATHS
#define DEATHS 1
#endif

#define VERSION    0
#define SLOT       1
#define HAZARD(o)  (2 + (o))
#define BYTES(s)   (4 + (s))

#define CELLS        (4 + SEGMENTS)
#define PROCESSORS   3
#define BUFFER_DEPTH 5
#include "memory.pml"

/* Processors. */
#define HOLDER 0
#define OTHER  1    /* the second thread of the holder's process */
#define PINNER 2

/* Owner slots. */
#define LONG_DEAD  0
#define THE_PINNER 1

/* The kernel: the holder of the byte lock of each of the two owner slots. */
mtype = { nobody, theOwner, theReaper };
mtype byteHolder[2] = nobody;

bool isReaping;     /* the mutex of the holder's process */
bool killed, nobodyPins;

/* A system call, or the kernel after a death: earlier stores become visible first. */
inline give_byte_back(cpu, owner, who) {
    atomic {
        IS_DRAINED(cpu) ->
            if
            :: byteHolder[owner] == who -> byteHolder[owner] = nobody
            :: else
            fi
    }
}

/* The kernel grants an open file a lock that it already has, to every thread of its process. */
#if defined(REAP_OWN_SLOT)
#define IS_GRANTED(owner) true
#else
#define IS_GRANTED(owner) (byteHolder[owner] != theOwner)
#endif

/* Leaves isReaped. */
inline reap(cpu, owner) {
#ifdef REAP_WITHOUT_BYTE
    if
    :: byteHolder[owner] == nobody ->
        plain_store(cpu, HAZARD(owner), 0);
        full_fence(cpu);
        isReaped = true
    :: else -> isReaped = false
    fi
#else
#ifndef NO_REAPER_MUTEX
    atomic { !isReaping -> isReaping = true };
#endif
    atomic {
        if
        :: IS_GRANTED(owner) -> byteHolder[owner] = theReaper; isReaped = true
        :: else -> isReaped = false    /* alive, or just opened by a successor */
        fi
    }
    if
    :: isReaped ->
        plain_store(cpu, HAZARD(owner), 0);
        give_byte_back(cpu, owner, theReaper)
    :: else
    fi;
    isReaping = false
#endif
}

#define IS_PINNED_BY(owner, s) (memory[HAZARD(owner)] == (s) + 1)

/* Leaves isPinned. */
inline make_reusable(s) {
    if
    :: memory[SLOT] == (s) + 1 -> release_store(HOLDER, SLOT, 0)
    :: else
    fi;
#ifndef NO_EVICTOR_FENCE
    full_fence(HOLDER);
#endif
    do
    :: if
        :: IS_PINNED_BY(LONG_DEAD, s) -> owner = LONG_DEAD
        :: else ->
            if
            :: IS_PINNED_BY(THE_PINNER, s) -> owner = THE_PINNER
            :: else -> isPinned = false; break
            fi
        fi;
#ifdef NO_REAP
        isPinned = true;
        break
#else
        reap(HOLDER, owner);
        if
        :: !isReaped -> isPinned = true; break
#ifdef SCAN_ONCE
        :: isReaped -> isPinned = false; break
#else
        :: isReaped    /* another owner may pin it too */
#endif
        fi
#endif
    od
}

/* Evicts elsewhere, and finds the dead pinner at some moment. */
proctype OtherThread() {
    bool isReaped;

end:    /* it may also never find it */
    byteHolder[THE_PINNER] == nobody -> reap(OTHER, THE_PINNER)
}

proctype Holder() {
    byte segment, owner, mutation = 1;
    bool isPinned, isReaped;

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
        :: isPinned    /* the set is dropped; the slot is clear */
        :: else ->
            atomic {
                plain_store(HOLDER, BYTES(segment), mutation);
                release_store(HOLDER, VERSION, memory[VERSION] + 1);
                release_store(HOLDER, SLOT, segment + 1)
            }
        fi;
        IS_DRAINED(HOLDER)    /* the lock is released and taken again */
    :: else -> break
    od;
    nobodyPins;
    make_reusable(0);
    assert(!isPinned);    /* P2 */
    make_reusable(1);
    assert(!isPinned)     /* P2 */
}

#ifdef NO_PIN_SLOT_RECHECK
#define SLOT_IS_SAME true
#else
#define SLOT_IS_SAME (memory[SLOT] == location)
#endif
#ifdef NO_PIN_VERSION_RECHECK
#define VERSION_IS_SAME true
#else
#define VERSION_IS_SAME (memory[VERSION] == version)
#endif

inline open_store() {
    atomic { byteHolder[THE_PINNER] == nobody -> byteHolder[THE_PINNER] = theOwner };
#ifndef KEEP_PREDECESSORS_PINS
    plain_store(PINNER, HAZARD(THE_PINNER), 0);
    full_fence(PINNER)
#else
    skip
#endif
}

inline pin_and_use() {
    version = memory[VERSION];
    location = memory[SLOT];
    if
    :: location == 0    /* a miss */
    :: else ->
        header = memory[BYTES(location - 1)];
        plain_store(PINNER, HAZARD(THE_PINNER), location);
#ifndef NO_PIN_FENCE
        full_fence(PINNER);
#endif
        if
        :: !SLOT_IS_SAME
        :: else ->
            if
            :: !VERSION_IS_SAME
            :: else ->
                assert(memory[BYTES(location - 1)] == header);    /* P1, at the start of the use */
                assert(memory[BYTES(location - 1)] == header)     /* P1, at any later moment of it */
            fi
        fi;
        release_store(PINNER, HAZARD(THE_PINNER), 0)
    fi
}

proctype Pinner() {
    byte version, location, header, pins;

opening:
    {
        open_store();
        do
        :: pins < PINS ->
            pin_and_use();
            atomic { pins++; version = 0; location = 0; header = 0 }
        :: else -> break
        od;
        atomic { IS_DRAINED(PINNER) -> nobodyPins = true; goto idle }
    } unless {
        killed ->
            give_byte_back(PINNER, THE_PINNER, theOwner)    /* M2 */
    };
    atomic {
        killed = false;
        pins = 0;
        version = 0;
        location = 0;
        header = 0
    }
    if
    :: goto opening              /* a successor gets the slot */
    :: nobodyPins = true         /* no process ever takes it again */
    fi;
idle:    /* alive with its slot from now on, or dead */
    skip
}

active proctype Killer() {
    byte deaths;
end:
    do
    :: deaths < DEATHS && !killed && !nobodyPins -> atomic { killed = true; deaths++ }
    od
}

init {
    atomic {
        memory[VERSION] = 1;
        memory[SLOT] = 1;
        memory[BYTES(0)] = 1;
        if
        :: memory[HAZARD(LONG_DEAD)] = 1
        :: memory[HAZARD(LONG_DEAD)] = 2
        fi;
        run Drain(HOLDER);
        run Drain(OTHER);
        run Drain(PINNER);
        run Holder();
        run OtherThread();
        run Pinner()
    }
}
