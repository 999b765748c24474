namespace Cairn.Engine;

// Hits and misses of this process, counted without atomic operations. Each thread adds to one of sixteen stripes, chosen by its
// number. Two threads that share a stripe can lose a count. The counts reach the file, where other processes see them, when
// statistics are requested, once a second, and when the store closes. A killed process loses the counts of its last second.
internal sealed unsafe class HitCounters
{
    private const int Stripes = 16;

    [ThreadStatic]
    private static int t_stripe;

    private readonly long* _counters;
    private readonly int _stripeCounters;
    private readonly int _partitionCount;
    private readonly Lock _moving = new();

    public HitCounters(int partitionCount)
    {
        _partitionCount = partitionCount;

        // Each stripe has whole cache lines plus one line, because the processor fetches lines in pairs.
        _stripeCounters = (((partitionCount * 2) + 7) & ~7) + 8;
        nuint bytes = (nuint)(Stripes * _stripeCounters * sizeof(long));
        _counters = (long*)NativeMemory.AlignedAlloc(bytes, 64);
        NativeMemory.Clear(_counters, bytes);
    }

    ~HitCounters()
    {
        NativeMemory.AlignedFree(_counters);
    }

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public void Hit(int partition) => (*Cell(partition))++;

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public void Miss(int partition) => Cell(partition)[1]++;

    public void MoveTo(OwnerRecord* record)
    {
        lock (_moving)
        {
            for (int stripe = 0; stripe < Stripes; stripe++)
            {
                for (int i = 0; i < _partitionCount * 2; i++)
                {
                    long* cell = _counters + (stripe * _stripeCounters) + i;
                    long seen = *cell;
                    if (seen != 0)
                    {
                        Interlocked.Add(ref *cell, -seen);
                        Interlocked.Add(ref OwnerRecord.Counters(record, i / 2)[i % 2], seen);
                    }
                }
            }
        }

        GC.KeepAlive(this);
    }

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private long* Cell(int partition)
    {
        // The stripe's number plus 1, because the field of a new thread is zero.
        int stripe = t_stripe;
        if (stripe == 0)
        {
            stripe = ChooseStripe();
        }

        return _counters + ((stripe - 1) * _stripeCounters) + (partition * 2);
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    private static int ChooseStripe() => t_stripe = 1 + (Environment.CurrentManagedThreadId & (Stripes - 1));
}
