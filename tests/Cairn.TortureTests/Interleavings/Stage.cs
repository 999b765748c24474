using System.Runtime.CompilerServices;
using System.Text;
using Cairn.Keys;
using Cairn.Opening;
using Cairn.Platform;
using Cairn.Storage;

namespace Cairn.TortureTests.Interleavings;

/// <summary>
/// A store of one partition and a few segments, opened once or more. Every run of a schedule starts from the same state: the same bytes, the
/// same time, and the same hashes, in any process.
/// </summary>
internal sealed unsafe class Stage : IDisposable
{
    private const ulong HashSeed = 0x5EED_0F_A_57A6E;
    private const int AverageEntryBytes = 128;

    /// <summary>The capacity in bytes. The index and other structures before the segments take a fifth of it.</summary>
    private const long CapacityBytes = 320 << 10;

    private readonly StoreDirectory _directory = new();
    private readonly CairnStore[] _stores;
    private byte[] _beginning = [];

    public Stage(int openings = 1)
    {
        Options = new StoreOptions
        {
            Path = _directory.FilePath,
            CapacityBytes = CapacityBytes,
            AverageEntryBytes = AverageEntryBytes,
            AllowsTinyCapacity = true,
            OpenMode = StoreOpenMode.OpenExisting,
            FlushOnClose = false,
            LogFileBytes = StoreLimits.MinLogFileBytes,
            CheckpointsByItself = false,
            RemovesExpired = false,
            LockTimeout = TimeSpan.FromHours(1),
            TimeProvider = Clock,
        };
        Create(Options, HashSeed);
        _stores = [.. Enumerable.Range(0, openings).Select(_ => ScheduledPlatform.OpenStore(Options))];
        Assert.Equal(1, Store.PartitionCount);
        Keep();
    }

    /// <summary>Gets the options of the stores.</summary>
    public StoreOptions Options { get; }

    /// <summary>Gets the first opening.</summary>
    public CairnStore Store => _stores[0];

    /// <summary>Gets the only partition.</summary>
    public PartitionBlock* Partition => Memory.Partition(0);

    public StoreMemory Memory => Store.Engine.Memory;

    /// <summary>Gets one of the openings.</summary>
    public CairnStore this[int opening] => _stores[opening];

    /// <summary>Gets the clock of all openings.</summary>
    public ManualClock Clock { get; } = new();

    /// <summary>Creates a store whose hashes are always the same.</summary>
    public static void Create(StoreOptions options, ulong hashSeed)
    {
        StoreLayout layout = StoreLayout.Plan(options.CapacityBytes, options.AverageEntryBytes);
        using StoreFile file = StoreFormatter.CreateUnpublished(
            HostPlatform.Current, options.Path, layout, layout.SegmentsWithin(options.CapacityBytes), options.TimeProvider, hashSeed);
        Assert.True(file.TryPublish(options.Path, replace: false));
    }

    /// <summary>Frees every lock, even a held one. Otherwise a schedule that ended halfway would prevent the stores from closing.</summary>
    public static void FreeLocks(CairnStore store)
    {
        for (int number = 0; number < store.PartitionCount; number++)
        {
            store.Engine.Memory.Partition(number)->LockWord = 0;
        }
    }

    /// <summary>Returns a key that is pinned in memory, for <see cref="RefOf"/>.</summary>
    public static byte[] PinnedKey(string key)
    {
        byte[] bytes = GC.AllocateArray<byte>(Encoding.UTF8.GetByteCount(key), pinned: true);
        Encoding.UTF8.GetBytes(key, bytes);
        return bytes;
    }

    /// <summary>Returns the engine's reference to a pinned key.</summary>
    public static KeyRef RefOf(CairnStore store, byte[] key) =>
        store.Engine.Place((byte*)Unsafe.AsPointer(ref key[0]), key.Length, collection: 0);

    /// <summary>Keeps the present content of the store as the beginning of every run.</summary>
    public void Keep() => _beginning = Bytes().ToArray();

    /// <summary>Restores the beginning. No other thread may use the store.</summary>
    public void Reset()
    {
        _beginning.CopyTo(Bytes());
        foreach (CairnStore store in _stores)
        {
            store.Engine.ForgetSweeps();
        }
    }

    public void Dispose()
    {
        // A broken twin may leave, for example, a lock without a holder, which would prevent the stores from closing.
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
