namespace Cairn.Caching.Tagging;

// How often tags were invalidated, in stripes by hash: for tags that a factory names only at its end, and that may have been
// invalidated since it began. Two tags of one stripe are taken for each other, which costs a value that is not kept.
internal sealed class TagChanges
{
    private const int Stripes = 64;

    private readonly long[] _changes = new long[Stripes];

    public void Record(ulong hash) => Interlocked.Increment(ref _changes[StripeOf(hash)]);

    public void RecordAll()
    {
        for (int i = 0; i < Stripes; i++)
        {
            Interlocked.Increment(ref _changes[i]);
        }
    }

    public long[] Now()
    {
        var now = new long[Stripes];
        for (int i = 0; i < Stripes; i++)
        {
            now[i] = Volatile.Read(ref _changes[i]);
        }

        return now;
    }

    public bool IsUnchanged(long[] since, ulong hash) => Volatile.Read(ref _changes[StripeOf(hash)]) == since[StripeOf(hash)];

    private static int StripeOf(ulong hash) => (int)(hash & (Stripes - 1));
}
