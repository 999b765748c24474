using System.Globalization;
using Cairn.Engine;
using Cairn.Platform;

namespace Cairn.TortureTests.PowerLoss;

/// <summary>
/// Several openings use a store in random ways until the power fails. The run then opens the store on the remaining content of the disk, and uses it
/// again. It also checks the content that the disk would have had at many other moments.
/// </summary>
internal sealed class PowerLossRun(int seed)
{
    private const int Collections = 3;
    private const int Keys = 24;
    private const int LongestValue = 3000;

    private readonly Random _random = new(seed);
    private int _lives;
    private int _values;

    /// <summary>Gets the number of disk images that were checked.</summary>
    public int Images { get; private set; }

    /// <summary>Gets the outcomes of damage to the images.</summary>
    public DamageCounts Damages { get; } = new();

    /// <summary>Gets the defect of the broken twin of the log.</summary>
    public WatermarkDefect Defect { get; init; }

    /// <summary>Gets the number of changes that a full disk has refused.</summary>
    public int Refusals { get; private set; }

    public void Execute(int lives, int looks)
    {
        var directories = new List<StoreDirectory> { new() };
        try
        {
            Dictionary<string, string>? expected = [];
            for (int life = 0; life < lives; life++)
            {
                var next = new StoreDirectory();
                directories.Add(next);
                expected = Live(directories[^2], next, expected, looks);
                directories[0].Dispose();
                directories.RemoveAt(0);
            }
        }
        catch (Exception fault)
        {
            throw new InvalidOperationException($"Seed {seed}, life {_lives}: {fault.Message}", fault);
        }
        finally
        {
            directories.ForEach(directory => directory.Dispose());
        }
    }

    /// <summary>
    /// Closes a store whose log is lost or has failed. The power then fails while the next opening creates a new log, at each moment of the creation.
    /// </summary>
    public void ExecuteFirstOpening(Mishap mishap)
    {
        using var directory = new StoreDirectory();
        var model = new LoggedModel([]);
        using var platform = new RecordingPlatform(directory.Path, BootId());
        var openings = new List<CairnStore> { platform.OpenStore(OptionsFor(directory)) };
        try
        {
            for (int work = 10 + _random.Next(30); work > 0; work--)
            {
                Work(platform, openings, directory, model);
            }

            openings.ForEach(store => store.Dispose());
            openings.Clear();
            CloseWith(mishap, platform, directory, model);
            int first = platform.Recorder.Count;
            openings.Add(platform.OpenStore(OptionsFor(directory)));
            Assert.Empty(openings[0].Warnings);
            Assert.True(Open(openings[0], 0).Set("after", [1]));
            Assert.True(Open(openings[0], 0).Remove("after"));
            IReadOnlyList<DiskChange> changes = platform.Recorder.Changes;
            for (int moment = first; moment <= changes.Count; moment++)
            {
                using var image = new StoreDirectory();
                LookAt(image, changes, moment, model);
            }
        }
        catch (Exception fault)
        {
            throw new InvalidOperationException($"Seed {seed}, {mishap}: {fault.Message}", fault);
        }
        finally
        {
            openings.ForEach(store => store.Dispose());
        }
    }

    // A closed store has its whole content on the disk, even if the log has failed.
    private void CloseWith(Mishap mishap, RecordingPlatform platform, StoreDirectory directory, LoggedModel model)
    {
        CairnStore store = platform.OpenStore(OptionsFor(directory) with { FlushOnClose = true });
        if (mishap == Mishap.DiskFailed)
        {
            StoreEngine.BeginDeferring();
            for (int i = 1 + _random.Next(10); i > 0; i--)
            {
                Change(platform, store, model);
            }

            WriteOne(platform, store, model);
            StoreEngine.EndDeferring();
            platform.Recorder.Fault = (kind, path) =>
            {
                if (kind == DiskChangeKind.Flushed && path.Contains(".log-", StringComparison.Ordinal))
                {
                    throw new StoreException("The disk failed, because the test says so.");
                }
            };
            Assert.Throws<StoreReadOnlyException>(store.Flush);
        }

        store.Dispose();
        platform.Recorder.Fault = null;
        model.Acknowledge(platform.Recorder.Count);
        if (mishap == Mishap.LogDeleted)
        {
            // Deletes all files of the log, or some of them, but never only the last pieces: the log continues there.
            string[] names = [.. Directory.GetFiles(directory.Path).Where(IsOfLog).OrderDescending(StringComparer.Ordinal)];
            int kept = _random.Next(2) * _random.Next(names.Length);
            foreach (string name in names.Skip(kept))
            {
                platform.Delete(name);
            }
        }
    }

    private void WriteOne(RecordingPlatform platform, CairnStore store, LoggedModel model)
    {
        string key = Key();
        string value = Value();
        model.Begin(platform.Recorder.Count, state => state[LoggedModel.Name(0, key)] = value);
        Assert.True(Open(store, 0).Set(key, Bytes(value)));
    }

    private static bool IsOfLog(string path) =>
        path.Contains(".log-", StringComparison.Ordinal) || path.EndsWith(".snapshot", StringComparison.Ordinal);

    // Uses the store between two failures of the power. Returns the content with which the next use begins.
    private Dictionary<string, string> Live(StoreDirectory directory, StoreDirectory next, Dictionary<string, string> expected, int looks)
    {
        _lives++;
        var model = new LoggedModel(expected);
        using var platform = new RecordingPlatform(directory.Path, BootId());
        var openings = new List<CairnStore>();
        int first = platform.Recorder.Count;
        try
        {
            openings.Add(platform.OpenStore(OptionsFor(directory)));
            Assert.Null(model.FaultOf(Read(openings[0]), platform.Recorder.Count));
            int work = _random.Next(60);
            for (int i = 0; i < work; i++)
            {
                Work(platform, openings, directory, model);
            }

            IReadOnlyList<DiskChange> changes = platform.Recorder.Changes;
            for (int look = 0; look < looks; look++)
            {
                using var image = new StoreDirectory();
                LookAt(image, changes, _random.Next(first, changes.Count + 1), model);
            }

            return LookAt(next, changes, _random.Next(first, changes.Count + 1), model);
        }
        finally
        {
            openings.ForEach(store => store.Dispose());
        }
    }

    private Dictionary<string, string> LookAt(StoreDirectory image, IReadOnlyList<DiskChange> changes, int moment, LoggedModel model)
    {
        Images++;
        int choice = _random.Next();
        DiskImage.Write(BrokenWatermark.Of(changes, Defect), moment, new Random(choice), image.Path);
        StorePlatform.BootIdOverride = BootId();
        try
        {
            if (_random.Next(6) == 0)
            {
                Damages.Look(
                    image, DurableOf(image, changes, moment, choice), _random, copy => CairnStore.Open(OptionsFor(copy)), store => model.FaultOf(Read(store), moment));
            }

            using CairnStore store = CairnStore.Open(OptionsFor(image));
            Dictionary<string, string> found = Read(store);
            if (model.FaultOf(found, moment) is { } fault)
            {
                throw new InvalidOperationException($"When the power fails after change {moment} of {changes.Count}: {fault}");
            }

            return found;
        }
        catch (StoreException failure)
        {
            throw new InvalidOperationException($"When the power fails after change {moment} of {changes.Count}: {failure.Message}", failure);
        }
        finally
        {
            StorePlatform.BootIdOverride = null;
        }
    }

    // A twin's own marks are wrong, so they are not used.
    private long DurableOf(StoreDirectory image, IReadOnlyList<DiskChange> changes, int moment, int choice)
    {
        if (Defect == WatermarkDefect.None)
        {
            return ImageDamage.DurableOf(image.Path);
        }

        using var truth = new StoreDirectory();
        DiskImage.Write(changes, moment, new Random(choice), truth.Path);
        return ImageDamage.DurableOf(truth.Path);
    }

    private void Work(RecordingPlatform platform, List<CairnStore> openings, StoreDirectory directory, LoggedModel model)
    {
        CairnStore store = openings[_random.Next(openings.Count)];
        switch (_random.Next(20))
        {
            case 0 when openings.Count < 3:
                openings.Add(platform.OpenStore(OptionsFor(directory)));
                break;
            case 0 or 1:
                store.Dispose();
                openings.Remove(store);
                if (openings.Count == 0)
                {
                    openings.Add(platform.OpenStore(OptionsFor(directory)));
                }

                break;
            case 2:
                store.Checkpoint();
                break;
            case 3:
                WorkOnFullDisk(platform, store, model);
                break;
            case 4 or 5:
                // Many changes without waiting, and perhaps a flush.
                StoreEngine.BeginDeferring();
                for (int i = _random.Next(20); i > 0; i--)
                {
                    Change(platform, store, model);
                }

                StoreEngine.EndDeferring();
                if (_random.Next(2) == 0)
                {
                    store.Flush();
                    model.Acknowledge(platform.Recorder.Count);
                }

                break;
            case 6:
                store.DefaultCollection.Set(Key(), Bytes(Value())); // A cache entry, which may be missing later.
                break;
            default:
                if (Change(platform, store, model))
                {
                    model.Acknowledge(platform.Recorder.Count);
                }

                break;
        }
    }

    // For a while, either changes that need disk space fail and have no effect, or writes to files fail. Reads continue.
    private void WorkOnFullDisk(RecordingPlatform platform, CairnStore store, LoggedModel model)
    {
        bool isWritingRefused = _random.Next(2) == 0;
        platform.Recorder.Fault = (kind, path) =>
        {
            if (kind is DiskChangeKind.Extended or DiskChangeKind.Named
                || (kind == DiskChangeKind.Written && (isWritingRefused || path.EndsWith(".snapshot", StringComparison.Ordinal))))
            {
                throw new StoreException("The disk is full, because the test says so.");
            }
        };
        for (int i = 1 + _random.Next(20); i > 0; i--)
        {
            int before = model.Count;
            try
            {
                if (Change(platform, store, model))
                {
                    model.Acknowledge(platform.Recorder.Count);
                }
            }
            catch (StoreException)
            {
                Refusals++;
                model.Withdraw(before);
            }
        }

        if (store.Engine.WriteAhead.Exists && _random.Next(2) == 0)
        {
            Assert.ThrowsAny<StoreException>(() => store.Checkpoint());
        }

        Assert.Null(model.FaultNow(Read(store)));
        platform.Recorder.Fault = null;
    }

    // Returns false if no change was necessary, so that the caller had to wait for nothing.
    private bool Change(RecordingPlatform platform, CairnStore store, LoggedModel model)
    {
        int number = _random.Next(Collections);
        CairnCollection collection = Open(store, number);
        string key = Key();
        string name = LoggedModel.Name(number, key);
        int moment = platform.Recorder.Count;
        switch (_random.Next(13))
        {
            case 12:
                return Transact(platform, store, model);
            case 0:
                string prefix = LoggedModel.Name(number, "");
                model.Begin(moment, state =>
                {
                    foreach (string cleared in state.Keys.Where(k => k.StartsWith(prefix, StringComparison.Ordinal)).ToArray())
                    {
                        state.Remove(cleared);
                    }
                });
                Assert.True(collection.Clear());
                return true;
            case 1 or 2 or 3:
                model.Begin(moment, state => state.Remove(name));
                return collection.Remove(key);
            default:
                string value = Value();
                model.Begin(moment, state => state[name] = value);
                Assert.True(collection.Set(key, Bytes(value)));
                return true;
        }
    }

    // Changes each key at most once, in any of the collections.
    private bool Transact(RecordingPlatform platform, CairnStore store, LoggedModel model)
    {
        using StoreTransaction transaction = store.BeginTransaction();
        var written = new Dictionary<string, string?>(StringComparer.Ordinal);
        for (int i = 1 + _random.Next(6); i > 0; i--)
        {
            int number = _random.Next(Collections);
            CairnCollection collection = Open(store, number);
            string key = Key();
            string? value = _random.Next(4) == 0 ? null : Value();
            written[LoggedModel.Name(number, key)] = value;
            _ = value is null ? transaction.Remove(collection, key) : transaction.Set(collection, key, Bytes(value));
        }

        model.Begin(platform.Recorder.Count, state =>
        {
            foreach ((string name, string? value) in written)
            {
                if (value is null)
                {
                    state.Remove(name);
                }
                else
                {
                    state[name] = value;
                }
            }
        });
        Assert.True(transaction.Commit());
        return written.Values.Any(value => value is not null);
    }

    private static Dictionary<string, string> Read(CairnStore store)
    {
        var found = new Dictionary<string, string>(StringComparer.Ordinal);
        for (int number = 0; number < Collections; number++)
        {
            if (!store.CollectionNames.Contains(CollectionName(number), StringComparer.Ordinal))
            {
                continue;
            }

            CairnCollection collection = store.Collection(CollectionName(number));
            for (int key = 0; key < Keys; key++)
            {
                string name = key.ToString(CultureInfo.InvariantCulture);
                if (collection.Get(name) is { } value)
                {
                    found[LoggedModel.Name(number, name)] = TextOf(value);
                }
            }
        }

        return found;
    }

    private static CairnCollection Open(CairnStore store, int number) =>
        store.Collection(CollectionName(number), new CollectionOptions
        {
            Region = StoreRegion.Keep,
            Durability = number == 0 ? Durability.EveryOperation : Durability.GroupCommit,
        });

    private static string CollectionName(int number) => string.Create(CultureInfo.InvariantCulture, $"kept {number}");

    private StoreOptions OptionsFor(StoreDirectory directory) => directory.Options with
    {
        CapacityBytes = StoreLimits.MinCapacityBytes,
        MaxCapacityBytes = (1 + (seed % 3)) * StoreLimits.MinCapacityBytes,
        LogFileBytes = StoreLimits.MinLogFileBytes,
        FlushOnClose = _random.Next(2) == 0,
    };

    private string BootId() => string.Create(CultureInfo.InvariantCulture, $"{_random.Next():x8}-0000-0000-0000-{_random.Next():x12}");

    private string Key() => _random.Next(Keys).ToString(CultureInfo.InvariantCulture);

    // Returns a number and a length, which determine the bytes.
    private string Value() => string.Create(CultureInfo.InvariantCulture, $"{++_values}:{_random.Next(_random.Next(4) == 0 ? LongestValue : 100)}");

    private static byte[] Bytes(string value)
    {
        string[] parts = value.Split(':');
        byte[] bytes = TestBytes.Of(int.Parse(parts[1], CultureInfo.InvariantCulture) + 16, int.Parse(parts[0], CultureInfo.InvariantCulture));
        BitConverter.TryWriteBytes(bytes, int.Parse(parts[0], CultureInfo.InvariantCulture));
        return bytes;
    }

    private static string TextOf(byte[] bytes)
    {
        string value = string.Create(CultureInfo.InvariantCulture, $"{BitConverter.ToInt32(bytes)}:{bytes.Length - 16}");
        return bytes.AsSpan().SequenceEqual(Bytes(value)) ? value : $"wrong bytes of {value}";
    }
}

/// <summary>The damage to a log before its store is opened.</summary>
internal enum Mishap
{
    /// <summary>The disk did not keep what was written to it.</summary>
    DiskFailed,

    /// <summary>Some of its files were deleted.</summary>
    LogDeleted,
}
