using System.Globalization;
using Cairn.Platform;

namespace Cairn.TortureTests.PowerLoss;

/// <summary>
/// Several threads write at the same time through two openings, each to its own keys, while another thread writes snapshots. Then the run checks the
/// content that a disk would have at many moments of that work. The keys of each thread have a state that they once had, and not an older one
/// than the last acknowledged. A change of the second collection that does not wait for the disk counts as acknowledged when the log is durable behind it.
/// </summary>
internal sealed class ConcurrentPowerLossRun(int seed, Durability secondDurability)
{
    private const int Threads = 4;
    private const int Keys = 6;
    private const int Changes = 25;
    private const int LongestValue = 1_000;
    private const int Checkpoints = 3;

    private static readonly string[] Names = ["each", "second"];

    private readonly Random _random = new(seed);

    /// <summary>Gets the number of disk images that were checked.</summary>
    public int Images { get; private set; }

    /// <summary>Gets the outcomes of damage to the images.</summary>
    public DamageCounts Damages { get; } = new();

    public void Execute(int looks)
    {
        try
        {
            using var directory = new StoreDirectory();
            using var platform = new RecordingPlatform(directory.Path, BootId());
            using CairnStore first = platform.OpenStore(OptionsFor(directory));
            using CairnStore second = platform.OpenStore(OptionsFor(directory));
            OpenBoth(first);
            int start = platform.Recorder.Count;
            LoggedModel[] models = [.. Enumerable.Range(0, Threads).Select(_ => new LoggedModel([]))];
            List<Task> threads = [];
            for (int thread = 0; thread < Threads; thread++)
            {
                int number = thread;
                CairnStore store = thread % 2 == 0 ? first : second;
                int threadSeed = _random.Next();
                threads.Add(OwnThread.Run(() => Work(platform, store, models[number], number, new Random(threadSeed))));
            }

            threads.Add(OwnThread.Run(() =>
            {
                for (int i = 0; i < Checkpoints; i++)
                {
                    first.Checkpoint();
                }
            }));
#pragma warning disable VSTHRD002 // Each has a thread of its own, and none waits for this one.
            Task.WaitAll(threads);
#pragma warning restore VSTHRD002
            IReadOnlyList<DiskChange> changes = platform.Recorder.Changes;
            for (int look = 0; look < looks; look++)
            {
                using var image = new StoreDirectory();
                LookAt(image, changes, _random.Next(start, changes.Count + 1), models);
            }
        }
        catch (Exception fault)
        {
            throw new InvalidOperationException($"Seed {seed}: {fault.Message}", fault);
        }
    }

    private void Work(RecordingPlatform platform, CairnStore store, LoggedModel model, int thread, Random random)
    {
        CairnCollection[] collections = OpenBoth(store);
        for (int i = 0; i < Changes; i++)
        {
            if (Change(platform, store, collections, model, random, thread, i) && IsAwaited(store, random))
            {
                model.Acknowledge(platform.Recorder.Count);
            }
        }
    }

    // Waits for the background now and then. The log is durable in its order, so this acknowledges all earlier changes.
    private bool IsAwaited(CairnStore store, Random random)
    {
        if (secondDurability != Durability.BackgroundCommit)
        {
            return true;
        }

        if (random.Next(4) != 0)
        {
            return false;
        }

        long end = store.Engine.WriteAhead.Tail;
        Assert.True(SpinWait.SpinUntil(() => store.Engine.WriteAhead.Durable >= end, TimeSpan.FromMinutes(1)));
        return true;
    }

    // Returns false if no change was necessary, so that the caller had to wait for nothing.
    private static bool Change(
        RecordingPlatform platform, CairnStore store, CairnCollection[] collections, LoggedModel model, Random random, int thread, int number)
    {
        string key = KeyOf(thread, random.Next(Keys));
        int collection = random.Next(Names.Length);
        string value = string.Create(CultureInfo.InvariantCulture, $"{number}:{random.Next(LongestValue)}");
        string name = LoggedModel.Name(collection, key);
        int moment = platform.Recorder.Count;
        switch (random.Next(5))
        {
            case 0:
                model.Begin(moment, state => state.Remove(name));
                return collections[collection].Remove(key);
            case 1:
                model.Begin(moment, state =>
                {
                    state[LoggedModel.Name(0, key)] = value;
                    state[LoggedModel.Name(1, key)] = value;
                });
                Assert.True(store.BeginTransaction()
                    .Set(collections[0], key, Bytes(value))
                    .Set(collections[1], key, Bytes(value))
                    .Commit());
                return true;
            default:
                model.Begin(moment, state => state[name] = value);
                Assert.True(collections[collection].Set(key, Bytes(value)));
                return true;
        }
    }

    private void LookAt(StoreDirectory image, IReadOnlyList<DiskChange> changes, int moment, LoggedModel[] models)
    {
        Images++;
        DiskImage.Write(changes, moment, _random, image.Path);
        StorePlatform.BootIdOverride = BootId();
        try
        {
            if (_random.Next(6) == 0)
            {
                Damages.Look(
                    image, ImageDamage.DurableOf(image.Path), _random, copy => CairnStore.Open(OptionsFor(copy)), store => FaultOf(store, moment, models));
            }

            using CairnStore store = CairnStore.Open(OptionsFor(image));
            if (FaultOf(store, moment, models) is { } fault)
            {
                throw new InvalidOperationException($"When the power fails after change {moment} of {changes.Count}, {fault}");
            }
        }
        finally
        {
            StorePlatform.BootIdOverride = null;
        }
    }

    private string? FaultOf(CairnStore store, int moment, LoggedModel[] models)
    {
        CairnCollection[] collections = OpenBoth(store);
        for (int thread = 0; thread < Threads; thread++)
        {
            if (models[thread].FaultOf(Read(collections, thread), moment) is { } fault)
            {
                return $"thread {thread}: {fault}";
            }
        }

        return null;
    }

    private static Dictionary<string, string> Read(CairnCollection[] collections, int thread)
    {
        var found = new Dictionary<string, string>(StringComparer.Ordinal);
        for (int collection = 0; collection < collections.Length; collection++)
        {
            for (int key = 0; key < Keys; key++)
            {
                if (collections[collection].Get(KeyOf(thread, key)) is { } bytes)
                {
                    found[LoggedModel.Name(collection, KeyOf(thread, key))] = TextOf(bytes);
                }
            }
        }

        return found;
    }

    private CairnCollection[] OpenBoth(CairnStore store) =>
    [
        .. Names.Select((name, number) => store.Collection(name, new CollectionOptions
        {
            Region = StoreRegion.Keep,
            Durability = number == 0 ? Durability.EveryOperation : secondDurability,
        })),
    ];

    private static StoreOptions OptionsFor(StoreDirectory directory) => directory.Options with
    {
        CapacityBytes = StoreLimits.MinCapacityBytes,
        LogFileBytes = StoreLimits.MinLogFileBytes,
    };

    private static string KeyOf(int thread, int key) => string.Create(CultureInfo.InvariantCulture, $"{thread}.{key}");

    private string BootId() => string.Create(CultureInfo.InvariantCulture, $"{_random.Next():x8}-0000-0000-0000-{_random.Next():x12}");

    private static byte[] Bytes(string value)
    {
        string[] parts = value.Split(':');
        int number = int.Parse(parts[0], CultureInfo.InvariantCulture);
        byte[] bytes = TestBytes.Of(int.Parse(parts[1], CultureInfo.InvariantCulture) + sizeof(int), number);
        BitConverter.TryWriteBytes(bytes, number);
        return bytes;
    }

    private static string TextOf(byte[] bytes)
    {
        string value = string.Create(CultureInfo.InvariantCulture, $"{BitConverter.ToInt32(bytes)}:{bytes.Length - sizeof(int)}");
        return bytes.AsSpan().SequenceEqual(Bytes(value)) ? value : $"wrong bytes of {value}";
    }
}
