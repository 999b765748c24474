using Cairn.Engine;
using Cairn.Opening;
using Cairn.Platform;
using Cairn.Storage;

namespace Cairn.TortureTests.Interleavings;

/// <summary>
/// A store of one partition and a few segments, opened once or more, which every run of a schedule finds as it was made: the
/// same bytes, the same time, and the same hashes, today and in any other process.
/// </summary>
internal sealed unsafe class Stage : IDisposable
{
    private const ulong HashSeed = 0x5EED_0F_A_57A6E;
    private const int AverageEntryBytes = 128;

    /// <summary>Of which a fifth is the index and what else comes before the segments.</summary>
    private const long CapacityBytes = 320 << 10;

    private readonly StoreDirectory _directory = new();
    private readonly CairnStore[] _stores;
    private byte[] _beginning = [];

    public Stage(int openings = 1)
    {
        var clock = new ManualClock();
        Options = new StoreOptions
        {
            Path = _directory.FilePath,
            CapacityBytes = CapacityBytes,
            AverageEntryBytes = AverageEntryBytes,
            AllowsTinyCapacity = true,
            OpenMode = StoreOpenMode.OpenExisting,
            FlushOnClose = false,
            LockTimeout = TimeSpan.FromHours(1),
            Clock = clock,
        };
        StoreLayout layout = StoreLayout.Plan(CapacityBytes, AverageEntryBytes);
        Assert.Equal(1, layout.PartitionCount);
        using (StoreFile file = StoreFormatter.CreateUnpublished(
            StorePlatform.Current, Options.Path, layout, layout.SegmentsWithin(CapacityBytes), clock, HashSeed))
        {
            Assert.True(file.TryPublish(Options.Path, replace: false));
        }

        _stores = [.. Enumerable.Range(0, openings).Select(_ => ScheduledPlatform.OpenStore(Options))];
        Keep();
    }

    /// <summary>How the stores are opened.</summary>
    public StoreOptions Options { get; }

    /// <summary>The first opening.</summary>
    public CairnStore Store => _stores[0];

    /// <summary>The only partition.</summary>
    public PartitionBlock* Partition => Memory.Partition(0);

    public StoreMemory Memory => Store.Engine.Memory;

    /// <summary>One of the openings.</summary>
    public CairnStore this[int opening] => _stores[opening];

    /// <summary>Makes what the store holds now the beginning of every run.</summary>
    public void Keep() => _beginning = Bytes().ToArray();

    /// <summary>Brings the beginning back. Nobody else may be at work.</summary>
    public void Reset() => _beginning.CopyTo(Bytes());

    public void Dispose()
    {
        // What a broken twin left, such as a lock that nobody has, would keep the stores from closing.
        Reset();
        foreach (CairnStore store in _stores)
        {
            store.Dispose();
        }

        _directory.Dispose();
    }

    private Span<byte> Bytes() =>
        new(Memory.Base, (int)(Memory.Layout.FileBytes(Memory.SegmentCount) - StoreLayout.GuardBytes));
}
