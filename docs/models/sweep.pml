/* Several processes remove expired entries from a segment, step by step under the lock of its partition.
 *
 *   a step, locked:   no sweep yet: the first deadline has passed, so cursor := 0, earliest := never
 *                     sealed, and the process knows that the entry is not due: earliest := the lower of both, cursor + 1
 *                     else read the entry | due and named by its slot: clear the slot, count it, else earliest := the lower of both | cursor + 1
 *                     at the end: first deadline := earliest; a sealed segment without named entries is used again
 *   writes, locked:   append, lowering the first deadline | reserve a gap | publish in the gap, lowering the first deadline and earliest |
 *                     replace or remove an entry | use a sliding entry, whose deadline grows | evict the whole segment
 *   the clock:        advances at any moment
 *
 * A process knows a lower bound of each entry's deadline, for one life of the segment. In the code it is one for 64 entries.
 *
 *   W1  An entry is removed and counted as expired only if its slot names it and its deadline has passed, and only once.
 *   W2  While the lock is free, the first deadline is not later than that of any entry that a slot names. So a sweep will reach it.
 *
 * A sweeper may die at any statement of a step. The next process that takes the lock computes the first deadline again from the entries that slots name, and drops the sweep.
 * All shared state is changed under the lock, which is a full fence, so there are no store buffers here.
 */

#ifndef ENTRIES
#define ENTRIES 2
#endif
#ifndef PROCESSES
#define PROCESSES 2
#endif
#ifndef WRITES
#define WRITES 3
#endif
#ifndef TIME
#define TIME 2
#endif
#ifndef DEATHS
#define DEATHS 1
#endif

#define NEVER 15
#define UNKNOWN 0
#define LOWER(target, value) if :: (value) < target -> target = value :: else fi

#define NOBODY 0
#define WRITER 1
#define SWEEPER(p) (2 + (p))
byte holder = NOBODY;
bool isDead[PROCESSES + 2];
byte deaths;

byte now = 1;
bool isWritten, isOver;
#define canChange (!isWritten || !isOver)

/* The segment. */
byte published;
byte deadline[ENTRIES];
bool isNamed[ENTRIES];
bool isGap[ENTRIES];
byte first = NEVER;
byte life = 1;

/* The present sweep, in the partition. */
bool isSwept;
byte cursor;
byte earliest;

/* The knowledge of each process. */
byte known[PROCESSES * ENTRIES];
byte knownLife[PROCESSES];

#define KNOWN(p, e) known[(p) * ENTRIES + (e)]
#define IS_SEALED (published == ENTRIES)

#define IS_BOUND(e) (!isNamed[e] || first <= deadline[e])
#if ENTRIES == 3
#define firstIsFirst (IS_BOUND(0) && IS_BOUND(1) && IS_BOUND(2))
#define NAMES_NOTHING (!isNamed[0] && !isNamed[1] && !isNamed[2] && !isGap[0] && !isGap[1] && !isGap[2])
#else
#define firstIsFirst (IS_BOUND(0) && IS_BOUND(1))
#define NAMES_NOTHING (!isNamed[0] && !isNamed[1] && !isGap[0] && !isGap[1])
#endif

byte i;

inline use_again() {
    for (i : 0 .. ENTRIES - 1) {
        isNamed[i] = false;
        isGap[i] = false;
        deadline[i] = 0
    }
    i = 0;
    published = 0;
    first = NEVER;
    isSwept = false;
    cursor = 0;
    earliest = 0;
    life++
}

inline recover() {
    first = NEVER;
    for (i : 0 .. ENTRIES - 1) {
        if
        :: isNamed[i] -> LOWER(first, deadline[i])
        :: else
        fi
    }
    i = 0;
    isSwept = false;
    cursor = 0;
    earliest = 0;
    life++
}

inline take_lock(me) {
    atomic {
        holder == NOBODY || isDead[holder] ->
            if
            :: holder != NOBODY -> recover()
            :: else
            fi;
            holder = me
    }
}

inline release_lock() {
    atomic {
        assert(firstIsFirst);
        holder = NOBODY
    }
}

inline maybe_die(p) {
    if
    :: deaths < DEATHS -> atomic { deaths++; isDead[SWEEPER(p)] = true; goto dead }
    :: true
    fi
}

proctype Sweeper(byte p) {
    byte at, seen;
    bool isLooking, isRemembered, isFound;

    do
    :: isSwept || first <= now ->    /* otherwise no entry is due */
#ifdef SWEEP_WITHOUT_LOCK
        skip;
#else
        take_lock(SWEEPER(p));
#endif
        atomic {
            if
            :: !isSwept && first <= now -> isSwept = true; cursor = 0; earliest = NEVER
            :: else
            fi;
            isRemembered = false;
#ifndef KNOWN_OF_ANOTHER_LIFE
            if
            :: knownLife[p] != life ->
                knownLife[p] = life;
                for (i : 0 .. ENTRIES - 1) { KNOWN(p, i) = UNKNOWN }
                i = 0
            :: else
            fi
#endif
        };
        maybe_die(p);
        atomic {
            isLooking = isSwept && cursor < published;
            at = (isLooking -> cursor : 0);
            seen = deadline[at];
            if
            :: isLooking && IS_SEALED && KNOWN(p, at) > now ->
                isRemembered = true;
                seen = KNOWN(p, at)
            :: else
            fi
        };
        if
        :: isLooking ->
            if
            :: !isRemembered && !isGap[at] && seen <= now ->
                maybe_die(p);
#ifdef TAKE_OUT_WITHOUT_SLOT
                isFound = true;
#else
                isFound = isNamed[at];
#endif
                if
                :: isFound ->
                    atomic {
                        assert(isNamed[at] && deadline[at] <= now);
                        isNamed[at] = false
                    }
                :: else
                fi;
                seen = NEVER;
                maybe_die(p)
            :: else
            fi;
            atomic {
#ifndef GAP_IS_REMEMBERED
                if
                :: isGap[at] -> seen = UNKNOWN
                :: else
                fi;
#endif
                if
                :: IS_SEALED -> KNOWN(p, at) = seen
                :: else
                fi;
                if
                :: seen != UNKNOWN -> LOWER(earliest, seen)
                :: else
                fi;
                cursor = at + 1;
                seen = 0;
                at = 0;
                isRemembered = false;
                isFound = false;
                isLooking = false
            };
            maybe_die(p)
        :: else -> seen = 0
        fi;
        atomic {
            if
            :: isSwept && cursor >= published ->
                first = earliest;
                isSwept = false;
                cursor = 0;
                earliest = 0;
                if
                :: IS_SEALED && NAMES_NOTHING -> use_again()
                :: else
                fi
            :: else
            fi
        };
        release_lock()
    :: !canChange && !isSwept && first > now -> break
    od;
dead:
    skip
}

/* The deadline of a written entry is one or two after now. */
inline choose(target) {
    if
    :: target = now + 1
    :: target = now + 2
    fi
}

inline name(e, value) {
    deadline[e] = value;
#ifndef WRITE_LOWERS_NOTHING
    LOWER(first, value);
#endif
#ifndef LATE_ENTRY_IS_MISSED
    if
    :: isSwept -> LOWER(earliest, value)
    :: else
    fi;
#endif
    isNamed[e] = true
}

proctype Writer() {
    byte writes, e, value;

    do
    :: writes < WRITES ->
#ifdef USE_WITHOUT_LOCK
        atomic {
            if
            :: isNamed[0] && deadline[0] > now - 1 -> deadline[0] = now + 2
            :: else
            fi
        };
#endif
        take_lock(WRITER);
        atomic {
            writes++;
            if
            :: e = 0
            :: e = 1
            fi;
            choose(value);
            if
            :: published < ENTRIES -> name(published, value); published++
            :: published < ENTRIES -> isGap[published] = true; deadline[published] = NEVER; published++
            :: isGap[e] -> isGap[e] = false; name(e, value)
            :: isNamed[e] -> isNamed[e] = false
            :: isNamed[e] && deadline[e] > now && deadline[e] < value -> deadline[e] = value
            :: IS_SEALED && !isGap[0] && !isGap[1] -> use_again()
            :: true
            fi;
            e = 0;
            value = 0
        };
        release_lock()
    :: else -> isWritten = true; break
    od
}

proctype Clock() {
    do
    :: now < 1 + TIME -> now++
    :: else -> isOver = true; break
    od
}

init {
    atomic {
        byte p;
        for (p : 0 .. PROCESSES - 1) { run Sweeper(p) }
        run Writer();
        run Clock()
    }
}
