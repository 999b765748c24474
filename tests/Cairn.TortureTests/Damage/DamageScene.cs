using Cairn.Opening;
using Cairn.Platform;
using Cairn.Steps;
using Cairn.Storage;
using Cairn.TortureTests.Kills;

namespace Cairn.TortureTests.Damage;

/// <summary>
/// A store's file, filled as a seed determines and then left. The store was closed, with or without a flush to disk, or its process was killed between
/// two operations or within one.
/// </summary>
internal sealed class DamageScene
{
    /// <summary>More steps than any filling takes.</summary>
    private const int MostSteps = 60_000;

    private readonly Random _random;
    private readonly string _path;
    private byte[]? _left;

    private DamageScene(string path, int seed)
    {
        _path = path;
        _random = new Random(seed);
        (long capacityBytes, long maxCapacityBytes) = _random.Next(8) switch
        {
            0 => (2L << 20, 4L << 20),
            1 => (3L << 20, 0),
            _ => (StoreLimits.MinCapacityBytes, 0),
        };
        Options = new StoreOptions
        {
            Path = path,
            CapacityBytes = capacityBytes,
            MaxCapacityBytes = maxCapacityBytes,
            AverageEntryBytes = _random.Next(2) == 0 ? 128 : 600,
            FlushOnClose = _random.Next(4) == 0,
            LockTimeout = TimeSpan.FromMilliseconds(200),
            TimeProvider = Clock,
        };
        Sizes = new KillSizes(ShortBytes: 700, LeastLongBytes: 3_000, MostLongBytes: 60_000, LongPerMille: 25);
        Bytes = Fill();
        unsafe
        {
            fixed (byte* start = Bytes)
            {
                var super = (Superblock*)start;
                SegmentCount = super->SegmentCount;
                Layout = StoreLayout.Restore(
                    super->MaxCapacityBytes, super->AverageEntryBytes, super->SegmentBytes, super->PartitionCount, super->MaxSegments)!;
            }
        }
    }

    /// <summary>Gets the content of the file when it was left.</summary>
    public byte[] Bytes { get; }

    public StoreLayout Layout { get; }

    public int SegmentCount { get; }

    /// <summary>Gets the values that had been written when the file was left.</summary>
    public DamageValues Values { get; private set; } = new();

    public StoreOptions Options { get; }

    public KillSizes Sizes { get; }

    public ManualClock Clock { get; } = new();

    /// <summary>Gets a description of how the file was left.</summary>
    public string Ending { get; private set; } = "closed";

    public static DamageScene Make(string path, int seed) => new(path, seed);

    /// <summary>
    /// Deletes a store and its other files. A collection of a cache can have a log, because damage to its record can change its kind.
    /// </summary>
    public static void DeleteStore(string path)
    {
        foreach (string file in Directory.EnumerateFiles(Path.GetDirectoryName(path)!, Path.GetFileName(path) + "*").ToArray())
        {
            File.Delete(file);
        }
    }

    private byte[] Fill()
    {
        int stepsToDeath = _random.Next(3) == 0 ? _random.Next(MostSteps) : 0;
        var values = new DamageValues();
        Create();
        using (CairnStore store = CairnStore.Open(Options))
        {
            var work = new DamageWork(store, values, Clock, _random, Sizes);
            ProtocolHook.Handler = step =>
            {
                if (--stepsToDeath == 0)
                {
                    Leave(values, $"killed at {step}");
                }
            };
            for (int operations = _random.Next(300, 5_000); operations > 0 && _left is null; operations--)
            {
                work.Step();
            }

            ProtocolHook.Handler = null;
            if (_random.Next(2) == 0)
            {
                Leave(values, "killed between operations");
            }
        }

        Leave(values, Options.FlushOnClose ? "closed, all on disk" : "closed");
        DeleteStore(_path);
        return _left!;
    }

    // The hash seed follows from the test's seed. Otherwise the same damage would hit other entries in another run.
    private void Create()
    {
        StoreLayout layout = StoreLayout.Plan(Math.Max(Options.CapacityBytes, Options.MaxCapacityBytes), Options.AverageEntryBytes);
        using StoreFile file = StoreFormatter.CreateUnpublished(
            HostPlatform.Current, _path, layout, layout.SegmentsWithin(Options.CapacityBytes), Clock, (ulong)_random.NextInt64() | 1);
        Assert.True(file.TryPublish(_path, replace: false));
    }

    // Simulates a kill: takes the content of the file at this moment. Everything that follows is ignored.
    private void Leave(DamageValues values, string how)
    {
        if (_left is null)
        {
            Ending = how;
            Values = values.Copy();
            _left = File.ReadAllBytes(_path);
        }
    }
}
