using System.Diagnostics;

namespace Cairn.Benchmarks.Measuring;

// Measures operations of this process, one thread, so many per round. The work is done in chunks of a thousand or so:
// long enough that the call between them costs nothing, and called often enough that the method holding the loop is
// recompiled with what it learned, like any hot method of an application.
internal abstract class OperationContender(string name, int operations, int passes = 1) : IContender
{
    /// <summary>A lookup that finds nothing is cheaper than one that does; a round with more of them is not a result.</summary>
    public const double ToleratedMissRatio = 0.001;

    private const int ChunkOperations = 1024;

    public string Name { get; } = name;

    /// <summary>How many operations a round takes, in all its passes.</summary>
    public int Operations { get; } = operations * passes;

    /// <summary>Lookups of the current pass that found nothing.</summary>
    protected long Misses { get; set; }

    public void WarmUp() => RunAll();

    public Sample Measure(int round)
    {
        var meter = Meter.Start();
        RunAll();
        return meter.Stop(Operations);
    }

    /// <summary>All operations of a round.</summary>
    /// <exception cref="InvalidDataException">Too many lookups found nothing.</exception>
    public void RunAll()
    {
        Misses = 0;
        for (var pass = 0; pass < passes; pass++)
        {
            for (var first = 0; first < operations; first += ChunkOperations)
            {
                Run(first, Math.Min(ChunkOperations, operations - first));
            }
        }

        CheckMisses(Operations);
    }

    /// <summary>Operations from the first of a pass on, pass after pass, until the clock reads <paramref name="timestamp"/>. Returns how many.</summary>
    /// <exception cref="InvalidDataException">Too many lookups found nothing.</exception>
    public long RunUntil(long timestamp)
    {
        Misses = 0;
        long done = 0;
        for (var first = 0; Stopwatch.GetTimestamp() < timestamp; first = first + ChunkOperations < operations ? first + ChunkOperations : 0)
        {
            var count = Math.Min(ChunkOperations, operations - first);
            Run(first, count);
            done += count;
        }

        CheckMisses(done);
        return done;
    }

    private void CheckMisses(long of)
    {
        if (Misses > of * ToleratedMissRatio)
        {
            throw new InvalidDataException($"{Name}: {Misses} of {of} lookups found nothing.");
        }
    }

    public virtual void Dispose() => GC.SuppressFinalize(this);

    /// <summary>Operations <paramref name="first"/> to <paramref name="first"/> + <paramref name="count"/> of a pass.</summary>
    protected abstract void Run(int first, int count);
}
