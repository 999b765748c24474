using System.Diagnostics;
using Cairn.Concurrency;
using Cairn.Steps;
using Cairn.Storage;

namespace Cairn.Eviction;

// Grows the file by whole segments, up to the layout's maximum. It never shrinks while it is open: a truncated mapping is a
// fault that cannot be caught.
//
//   I1  The file is longer before the superblock counts the new segments (StoreLayout I3).
//   I2  One store grows at a time, under the gate. The others wait for it, and evict only if that takes long.
//
// A full disk is no error here: the store stays as large as it is, and tries again after a while. So it does if the gate cannot be had,
// because the process that has it is stopped: waiting for it with each segment would cost more than evicting.
internal sealed unsafe class StoreGrowth(StoreMemory memory)
{
    private static readonly TimeSpan RetryAfterFailure = TimeSpan.FromSeconds(10);
    private static readonly TimeSpan RetryAfterBusyGate = TimeSpan.FromSeconds(1);

    // Growing takes milliseconds, and what would be evicted instead is lost. The caller holds a partition's lock meanwhile.
    private static readonly TimeSpan LongestWait = TimeSpan.FromMilliseconds(50);

    private readonly Lock _growing = new();
    private long _retryAt;

    /// <summary>True while the file is smaller than it may become and the disk has not refused.</summary>
    public bool MayGrow =>
        memory.SegmentCount < memory.Layout.MaxSegments && (_retryAt == 0 || Stopwatch.GetTimestamp() >= Volatile.Read(ref _retryAt));

    /// <summary>Whether this opening has the gate for longer than it takes to grow: while it is being opened.</summary>
    public bool HasGate { get; set; }

    /// <summary>Why the file last could not grow; null if it could.</summary>
    public string? LastFailure { get; private set; }

    /// <summary>Adds segments: as many as asked for, or an eighth of what there is.</summary>
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
                return true; // Another grew it while this one waited.
            }

            int added = Math.Min(memory.Layout.MaxSegments - before, Math.Max(neededSegments, before / 8));
            if (added <= 0)
            {
                return false;
            }

            ProtocolHook.Reach(ProtocolStep.Growing);
            memory.File.Preallocate(0, memory.Layout.FileBytes(before + added));
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
