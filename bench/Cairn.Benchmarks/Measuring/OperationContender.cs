using System.Diagnostics;

namespace Cairn.Benchmarks.Measuring;

// Measures a fixed number of operations per round in this process, on one thread. The work is done in chunks of about a thousand
// operations. A chunk is long enough that the call per chunk costs nothing. It is also called often enough that the runtime
// recompiles the method with the loop using its profile, like any hot method of an application.
internal abstract class OperationContender(string name, int operations, int passes = 1) : IContender
{
    /// <summary>The tolerated ratio of misses. A miss is cheaper than a hit, so a round with more misses is not a valid result.</summary>
    public const double ToleratedMissRatio = 0.001;

    private const int ChunkOperations = 1024;

    public string Name { get; } = name;

    /// <summary>Gets the number of operations per round, over all passes.</summary>
    public int Operations { get; } = operations * passes;

    /// <summary>Gets or sets the number of lookups of the current pass that found nothing.</summary>
    protected long Misses { get; set; }

    public void WarmUp() => RunAll();

    public Sample Measure(int round)
    {
        var meter = Meter.Start();
        RunAll();
        return meter.Stop(Operations);
    }

    /// <summary>Runs all operations of a round.</summary>
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

    /// <summary>Runs passes of operations until the clock reads <paramref name="timestamp"/>; returns the number of operations.</summary>
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

    /// <summary>Runs <paramref name="count"/> operations of a pass, from operation <paramref name="first"/>.</summary>
    protected abstract void Run(int first, int count);
}
