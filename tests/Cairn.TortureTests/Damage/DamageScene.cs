using Cairn.Concurrency;
using Cairn.Opening;
using Cairn.Platform;
using Cairn.Storage;
using Cairn.TortureTests.Kills;

namespace Cairn.TortureTests.Damage;

/// <summary>
/// A store's file that was filled as a seed says, and left: closed, with or without everything on disk, or by a process that was killed
/// between two operations or in the middle of one.
/// </summary>
internal sealed class DamageScene
{
    /// <summary>Further than any filling gets.</summary>
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
            _ => (StoreOptions.SmallestCapacityBytes, 0),
        };
        Options = new StoreOptions
        {
            Path = path,
            CapacityBytes = capacityBytes,
            MaxCapacityBytes = maxCapacityBytes,
            AverageEntryBytes = _random.Next(2) == 0 ? 128 : 600,
            FlushOnClose = _random.Next(4) == 0,
            LockTimeout = TimeSpan.FromMilliseconds(200),
            Clock = Clock,
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

    /// <summary>The file as it was left.</summary>
    public byte[] Bytes { get; }

    public StoreLayout Layout { get; }

    public int SegmentCount { get; }

    /// <summary>What had been written when the file was left.</summary>
    public DamageValues Values { get; private set; } = new();

    public StoreOptions Options { get; }

    public KillSizes Sizes { get; }

    public ManualClock Clock { get; } = new();

    /// <summary>How the file was left, for people.</summary>
    public string Ending { get; private set; } = "closed";

    public static DamageScene Make(string path, int seed) => new(path, seed);

    /// <summary>
    /// Deletes a store with the files beside it: a cache whose record was damaged may have become a collection that has a log.
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

    // With a hash seed that follows from ours, or the same damage would meet other entries in another run.
    private void Create()
    {
        StoreLayout layout = StoreLayout.Plan(Math.Max(Options.CapacityBytes, Options.MaxCapacityBytes), Options.AverageEntryBytes);
        using StoreFile file = StoreFormatter.CreateUnpublished(
            StorePlatform.Current, _path, layout, layout.SegmentsWithin(Options.CapacityBytes), Clock, (ulong)_random.NextInt64() | 1);
        Assert.True(file.TryPublish(_path, replace: false));
    }

    // A kill leaves what is in the file at that moment, and nobody's life. What comes after it has not happened.
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
