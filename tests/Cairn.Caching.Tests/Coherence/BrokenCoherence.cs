using Cairn.Caching.Coherence;
using Cairn.Engine;
using Cairn.Invalidation;
using Cairn.Storage;

namespace Cairn.Caching.Tests.Coherence;

/// <summary>The step that a broken coherence leaves out.</summary>
internal enum CoherenceDefect
{
    None,

    /// <summary>It keeps a value without checking for changes since the mark (C2).</summary>
    KeepsWithoutLooking,

    /// <summary>It keeps a value after it has released the lock under which it checked (C2).</summary>
    KeepsWithoutTheLock,

    /// <summary>It reports that it has caught up before the sink has removed the values (C1).</summary>
    PublishesFirst,

    /// <summary>It ignores an overrun (C1).</summary>
    IgnoresOverruns,
}

/// <summary>Deliberately broken twins of <see cref="StoreCoherence"/>.</summary>
internal sealed unsafe class BrokenCoherence(CairnStore store, CoherenceDefect defect) : ICoherence
{
    private readonly StoreEngine _engine = store.Engine;
    private readonly InvalidationCursor[] _drained = new InvalidationCursor[store.PartitionCount];
    private readonly object[] _locks = [.. Enumerable.Range(0, store.PartitionCount).Select(_ => new object())];
    private readonly object[] _cells = [.. Enumerable.Range(0, store.PartitionCount).Select(_ => new object())];
    private IChangeSink? _sink;

    public bool SeesAllChanges => true;

    public void Attach(IChangeSink sink)
    {
        _sink = sink;
        for (int i = 0; i < _drained.Length; i++)
        {
            _drained[i] = InvalidationRing.Now(_engine.Memory.Partition(i));
        }
    }

    public long AllowedAgeMs => 0;

    public bool TryCatchUp(ulong hash)
    {
        int partition = PartitionOf(hash);
        InvalidationCursor now = InvalidationRing.Now(_engine.Memory.Partition(partition));
        if (now != Drained(partition))
        {
            lock (_locks[partition])
            {
                Drain(partition);
            }
        }

        return true;
    }

    public ChangeMark Mark(ulong hash)
    {
        InvalidationCursor now = InvalidationRing.Now(_engine.Memory.Partition(PartitionOf(hash)));
        return new(now.Position, now.Overrun);
    }

    public ChangeMark[] MarkAll() => throw new NotSupportedException();

    public bool IsUnchanged(in ChangeMark mark, ulong hash) => throw new NotSupportedException();

    public bool IsUnchanged(ChangeMark[] marks, ulong hash) => throw new NotSupportedException();

    public bool TryKeep<TState>(in ChangeMark mark, ulong hash, int ownChanges, TState state, Func<TState, bool> keep)
    {
        int partition = PartitionOf(hash);
        lock (_locks[partition])
        {
            Drain(partition);
            if (defect != CoherenceDefect.KeepsWithoutLooking && Changes(partition, mark, hash) > ownChanges)
            {
                return false;
            }

            if (defect != CoherenceDefect.KeepsWithoutTheLock)
            {
                return keep(state);
            }
        }

        return keep(state);
    }

    private int PartitionOf(ulong hash) => _engine.Memory.Place(hash).Partition;

    private InvalidationCursor Drained(int partition)
    {
        lock (_cells[partition])
        {
            return _drained[partition];
        }
    }

    private void Publish(int partition, InvalidationCursor cursor)
    {
        lock (_cells[partition])
        {
            _drained[partition] = cursor;
        }
    }

    private void Drain(int partition)
    {
        InvalidationCursor cursor = Drained(partition);
        Span<ulong> hashes = stackalloc ulong[64];
        InvalidationStatus status;
        do
        {
            status = InvalidationRing.Read(_engine.Memory, _engine.Memory.Partition(partition), ref cursor, hashes, out int count);
            if (defect == CoherenceDefect.PublishesFirst)
            {
                Publish(partition, cursor);
            }

            if (status == InvalidationStatus.Overrun && defect != CoherenceDefect.IgnoresOverruns)
            {
                _sink!.OnChangedMany(Storage.KeyPlacement.PartitionShift(_drained.Length), (ulong)partition);
            }

            foreach (ulong hash in hashes[..count])
            {
                _sink!.OnChanged(hash);
            }
        }
        while (status == InvalidationStatus.Changed);

        Publish(partition, cursor);
    }

    private int Changes(int partition, in ChangeMark mark, ulong hash)
    {
        var cursor = new InvalidationCursor(mark.Position, mark.Overrun);
        Span<ulong> hashes = stackalloc ulong[64];
        int changes = 0;
        InvalidationStatus status;
        while ((status = InvalidationRing.Read(_engine.Memory, _engine.Memory.Partition(partition), ref cursor, hashes, out int count))
            == InvalidationStatus.Changed)
        {
            changes += hashes[..count].Count(hash);
        }

        return status == InvalidationStatus.Overrun ? int.MaxValue : changes;
    }
}
