using Cairn.Concurrency;
using Cairn.Steps;

namespace Cairn.Eviction;

// Grows the file by whole segments, up to the layout's maximum. The file never shrinks while it is open, because access to a truncated
// mapping is a fault that cannot be caught.
//
//   I1  The file grows before the superblock counts the new segments (StoreLayout I3).
//   I2  One opening grows the file at a time, under the gate. The others wait for it, and evict only if that takes too long.
//
// A full disk is not an error here: the store keeps its size and tries again after some time. It does the same if it cannot acquire the
// gate because a stopped process holds it. Waiting for the gate with each segment would cost more than evicting.
internal sealed unsafe class StoreGrowth(StoreMemory memory)
{
    private static readonly TimeSpan RetryAfterFailure = TimeSpan.FromSeconds(10);
    private static readonly TimeSpan RetryAfterBusyGate = TimeSpan.FromSeconds(1);

    // Growing takes milliseconds, and evicted entries would be lost. The caller holds a partition's lock meanwhile.
    private static readonly TimeSpan LongestWait = TimeSpan.FromMilliseconds(50);

    private readonly Lock _growing = new();
    private long _retryAt;
    private string? _unreported;

    /// <summary>Gets whether the file is smaller than its maximum and no failure has stopped growth for now.</summary>
    public bool MayGrow =>
        memory.SegmentCount < memory.Layout.MaxSegments && (_retryAt == 0 || Stopwatch.GetTimestamp() >= Volatile.Read(ref _retryAt));

    /// <summary>Gets or sets whether this opening holds the gate beyond one growth, because the store is being opened.</summary>
    public bool HasGate { get; set; }

    /// <summary>Gets why the last growth failed; null if it succeeded.</summary>
    public string? LastFailure { get; private set; }

    /// <summary>Returns why a growth has failed since the last call; null if none has. Growing holds locks, so another thread reports the failure.</summary>
    public string? TakeFailure() => Interlocked.Exchange(ref _unreported, null);

    /// <summary>Adds segments: at least as many as needed, and at least an eighth of the present number.</summary>
    public bool TryGrow(int neededSegments)
    {
        memory.RefreshSegmentsEnd();
        int seen = memory.SegmentCount;
        if (!MayGrow || !_growing.TryEnter(LongestWait))
        {
            return false;
        }

        try
        {
            if (HasGate || memory.File.LockByte(OwnerTable.GateByte, LongestWait))
            {
                return GrowUnderGate(neededSegments, seen);
            }

            RetryAfter(RetryAfterBusyGate);
            return false;
        }
        finally
        {
            _growing.Exit();
        }
    }

    private bool GrowUnderGate(int neededSegments, int seen)
    {
        try
        {
            memory.RefreshSegmentsEnd();
            int before = memory.SegmentCount;
            if (before > seen)
            {
                return true; // Another opening has grown the file while this one waited.
            }

            int added = Math.Min(memory.Layout.MaxSegments - before, Math.Max(neededSegments, before / 8));
            if (added <= 0)
            {
                return false;
            }

            ProtocolHook.Reach(ProtocolStep.Growing);
            long end = memory.Layout.FileBytes(before);
            memory.File.Preallocate(end, memory.Layout.FileBytes(before + added) - end);
            for (int segment = before; segment < before + added; segment++)
            {
                *memory.Header(segment) = default;
            }

            Volatile.Write(ref memory.Super->SegmentCount, before + added);
            Interlocked.Add(ref memory.Super->FreeWord, (1L << 32) + added);
            ProtocolHook.Reach(ProtocolStep.Grown);
            memory.RefreshSegmentsEnd();
            LastFailure = null;
            return true;
        }
        catch (StoreException failure)
        {
            LastFailure = failure.Message;
            Volatile.Write(ref _unreported, failure.Message); // Release; pairs with TakeFailure.
            RetryAfter(RetryAfterFailure);
            return false;
        }
        finally
        {
            if (!HasGate)
            {
                memory.File.UnlockByte(OwnerTable.GateByte);
            }
        }
    }

    private void RetryAfter(TimeSpan time) =>
        Volatile.Write(ref _retryAt, Stopwatch.GetTimestamp() + (long)(time.TotalSeconds * Stopwatch.Frequency));
}
