/* The memory of the models: one shared array of cells, and a store buffer in front of it for each writing processor.
 *
 *   processor --store--> buffer --drain, at any later moment--> memory --load--> every processor
 *
 * With -DTSO the buffer is first in, first out, as on x86. With -DPSO two stores to different cells may drain in either order,
 * as Arm64 allows, but a release store drains only after every store before it. Stores to one cell
 * always keep their order. A full fence, and every interlocked operation, waits until the buffer is empty.
 *
 *   M1  A buffer holds every store between two fences: a model whose buffer overflows fails, so the depth never
 *       hides a reordering.
 *   M2  Death loses no executed store: the kernel ends a thread between two instructions, and the mapped
 *       pages outlive it. A model lets the buffer drain before it declares the process dead.
 *
 * Loads happen one at a time and in program order. A model in which a load may come early has a comment about it. A processor
 * that reads a cell that it wrote since its last fence must take the value from its buffer. No model here does such a read.
 *
 * The including model defines CELLS (fewer than 128), PROCESSORS and BUFFER_DEPTH (at most 8).
 */

#if defined(TSO) == defined(PSO)
#error "Choose one memory order: -DTSO or -DPSO."
#endif

#define RELEASE 128    /* added to the cell of a release store */

typedef StoreBuffer {
    byte cell[BUFFER_DEPTH];
    byte value[BUFFER_DEPTH];
    byte count
}

byte memory[CELLS];
StoreBuffer buffers[PROCESSORS];

#define IS_DRAINED(cpu) (buffers[cpu].count == 0)

inline buffer_store(cpu, where, what) {
    d_step {
        assert(buffers[cpu].count < BUFFER_DEPTH);    /* M1 */
        buffers[cpu].cell[buffers[cpu].count] = where;
        buffers[cpu].value[buffers[cpu].count] = what;
        buffers[cpu].count++
    }
}

inline plain_store(cpu, where, what)   { buffer_store(cpu, where, what) }
inline release_store(cpu, where, what) { buffer_store(cpu, (where) + RELEASE, what) }

/* Sequentially consistent: later operations happen after every earlier store is visible to all. */
inline full_fence(cpu) { IS_DRAINED(cpu) }

/* Makes the store at position i visible, closes the gap, and zeroes the rest, so that equal states compare equal. */
inline drain(cpu, i) {
    d_step {
        memory[buffers[cpu].cell[i] % RELEASE] = buffers[cpu].value[i];
        shift = i;
        do
        :: shift + 1 < buffers[cpu].count ->
            buffers[cpu].cell[shift] = buffers[cpu].cell[shift + 1];
            buffers[cpu].value[shift] = buffers[cpu].value[shift + 1];
            shift++
        :: else -> break
        od;
        buffers[cpu].count--;
        buffers[cpu].cell[shift] = 0;
        buffers[cpu].value[shift] = 0;
        shift = 0
    }
}

/* The store at position i may pass earlier ones: it is not a release store, and none of them is to its cell. */
#define PASSES(cpu, i, j) (buffers[cpu].cell[i] != buffers[cpu].cell[j] % RELEASE)
#define IS_PLAIN(cpu, i)  (buffers[cpu].count > i && buffers[cpu].cell[i] < RELEASE)
#define MAY_DRAIN_1(cpu)  (IS_PLAIN(cpu, 1) && PASSES(cpu, 1, 0))
#define MAY_DRAIN_2(cpu)  (IS_PLAIN(cpu, 2) && PASSES(cpu, 2, 0) && PASSES(cpu, 2, 1))
#define MAY_DRAIN_3(cpu)  (IS_PLAIN(cpu, 3) && PASSES(cpu, 3, 0) && PASSES(cpu, 3, 1) && PASSES(cpu, 3, 2))
#define MAY_DRAIN_4(cpu)  (IS_PLAIN(cpu, 4) && PASSES(cpu, 4, 0) && PASSES(cpu, 4, 1) && PASSES(cpu, 4, 2) \
                           && PASSES(cpu, 4, 3))
#define MAY_DRAIN_5(cpu)  (IS_PLAIN(cpu, 5) && PASSES(cpu, 5, 0) && PASSES(cpu, 5, 1) && PASSES(cpu, 5, 2) \
                           && PASSES(cpu, 5, 3) && PASSES(cpu, 5, 4))
#define MAY_DRAIN_6(cpu)  (IS_PLAIN(cpu, 6) && PASSES(cpu, 6, 0) && PASSES(cpu, 6, 1) && PASSES(cpu, 6, 2) \
                           && PASSES(cpu, 6, 3) && PASSES(cpu, 6, 4) && PASSES(cpu, 6, 5))
#define MAY_DRAIN_7(cpu)  (IS_PLAIN(cpu, 7) && PASSES(cpu, 7, 0) && PASSES(cpu, 7, 1) && PASSES(cpu, 7, 2) \
                           && PASSES(cpu, 7, 3) && PASSES(cpu, 7, 4) && PASSES(cpu, 7, 5) && PASSES(cpu, 7, 6))

proctype Drain(byte cpu) {
    byte shift;
end:
    do
    :: buffers[cpu].count > 0 -> drain(cpu, 0)
#ifdef PSO
    :: MAY_DRAIN_1(cpu) -> drain(cpu, 1)
#if BUFFER_DEPTH > 2
    :: MAY_DRAIN_2(cpu) -> drain(cpu, 2)
#endif
#if BUFFER_DEPTH > 3
    :: MAY_DRAIN_3(cpu) -> drain(cpu, 3)
#endif
#if BUFFER_DEPTH > 4
    :: MAY_DRAIN_4(cpu) -> drain(cpu, 4)
#endif
#if BUFFER_DEPTH > 5
    :: MAY_DRAIN_5(cpu) -> drain(cpu, 5)
#endif
#if BUFFER_DEPTH > 6
    :: MAY_DRAIN_6(cpu) -> drain(cpu, 6)
#endif
#if BUFFER_DEPTH > 7
    :: MAY_DRAIN_7(cpu) -> drain(cpu, 7)
#endif
#endif
    od
}
