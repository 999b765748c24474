using Cairn.Engine;
using Cairn.Keys;
using Cairn.Messages;
using Cairn.Platform;
using Cairn.Steps;
using Cairn.WriteAhead;

namespace Cairn.Snapshots;

// Performs the records of a snapshot, a log or a backup again, in an empty store that no other process has open.
//
//   I1  Missing records are damage, and an error. A snapshot ends with counts of its content. The log reaches the position that the snapshot requires,
//       and those of LogWalk I1 and I2. Only a salvage leaves damaged records out and continues.
//   I2  An entry of a collection that is not logged at that moment is not written. When a collection ceases to be logged, its entries are removed.
//   I3  Versions are new, and higher than every version that was read.
//   I4  Until the end of the replay no collection counts as logged, because records that are read from the log must not be written to it again.
internal sealed unsafe class RecordReplay
{
    private const long ProgressStepBytes = 1 << 20;

    private readonly StoreEngine _engine;
    private readonly IProgress<StoreProgress>? _progress;
    private readonly CancellationToken _cancellationToken;
    private readonly bool _acceptsAll;
    private readonly Action<StoreCorruptException>? _onDamage;
    private readonly long _now;
    private readonly bool[] _isAccepted = new bool[StoreLayout.MaxCollections];
    private readonly byte[] _durability = new byte[StoreLayout.MaxCollections];
    private long _bytesTotal;
    private long _bytesDone;
    private long _bytesTold;
    private ulong _highestVersion;

    /// <summary>Creates a replay into an empty store.</summary>
    /// <param name="engine">The engine of the empty store.</param>
    /// <param name="acceptsAll">True to write also the entries of collections that are not logged, as from a backup.</param>
    /// <param name="progress">Receives the progress about once per MiB.</param>
    /// <param name="cancellationToken">Ends the replay.</param>
    /// <param name="onDamage">Called with each damage that is left out. Null throws the first damage.</param>
    public RecordReplay(
        StoreEngine engine, bool acceptsAll, IProgress<StoreProgress>? progress, CancellationToken cancellationToken,
        Action<StoreCorruptException>? onDamage = null)
    {
        _onDamage = onDamage;
        _engine = engine;
        _acceptsAll = acceptsAll;
        _isAccepted[0] = acceptsAll;
        _progress = progress;
        _cancellationToken = cancellationToken;
        _now = engine.Clock.NowMs();
        engine.AreBudgetsKept = false;
    }

    /// <summary>Gets the number of writes of entries. An entry that was written several times counts several times.</summary>
    public long Puts { get; private set; }

    /// <summary>Gets the number of entries that were left out because their collection is not known.</summary>
    public long EntriesWithoutCollection { get; private set; }

    /// <summary>Performs the records of a store's snapshot and log. Returns the end of the log.</summary>
    /// <exception cref="StoreCorruptException">Something that was promised is missing or damaged.</exception>
    public LogEnd Run(StorePlatform platform, LogFileSet files, LogPromise promise)
    {
        _bytesTotal = (files.Snapshot is null ? 0 : LengthOf(platform, files.Snapshot.Path))
            + files.From(files.Start).Sum(file => LengthOf(platform, file.Path));
        LogEnd end = LogWalk.ReadAll(platform, files, promise, Apply, _onDamage);
        Finish();
        return end;
    }

    /// <summary>Performs the records of a backup.</summary>
    public SnapshotEnd Run(StorePlatform platform, LogFileInfo backup)
    {
        _bytesTotal = LengthOf(platform, backup.Path);
        SnapshotEnd end = LogWalk.ReadWhole(platform, backup, Apply, _onDamage);
        Finish();
        return end;
    }

    private static long LengthOf(StorePlatform platform, string path)
    {
        using StoreFile file = platform.OpenReadOnly(path);
        return file.Length;
    }

    private void Apply(in LogRecord record)
    {
        switch (record.Kind)
        {
            case LogKind.Transaction:
                foreach (LogRecord operation in record)
                {
                    ApplyOne(operation);
                }

                break;
            default:
                ApplyOne(record);
                break;
        }

        ProtocolHook.Reach(ProtocolStep.LogRecordReplayed);
        Tell(record.Bytes);
    }

    private void ApplyOne(in LogRecord record)
    {
        switch (record.Kind)
        {
            case LogKind.Put:
                Put(record);
                break;
            case LogKind.Remove:
                Remove(record);
                break;
            case LogKind.Clear:
                Clear(record);
                break;
            case LogKind.CollectionDefined:
                Define(record);
                break;
            default:
                throw Unknown(record, $"a record of a known kind, not {(byte)record.Kind}");
        }
    }

    private void Put(in LogRecord record)
    {
        uint collection = CollectionOf(record);
        fixed (byte* bytes = record.Body)
        {
            if (record.Body.Length < EntryView.HeaderBytes)
            {
                throw Unknown(record, "an entry");
            }

            var entry = new EntryView(bytes);
            if (!entry.IsWithin(record.Body.Length) || entry.Collection != collection || entry.Type is not (EntryType.Value or EntryType.Hash))
            {
                throw Unknown(record, "an entry");
            }

            _highestVersion = Math.Max(_highestVersion, entry.Version);
            if (!_isAccepted[collection])
            {
                EntriesWithoutCollection++;
                return;
            }

            // A sliding deadline counts from now.
            KeyRef key = _engine.Place(entry.Key, entry.KeyLength, collection);
            RaiseVersion(_engine.Memory.Partition(key.Place.Partition), entry.Version);
            var content = new EntryContent
            {
                Type = entry.Type,
                Flags = entry.Flags,
                Marks = entry.Fields & EntryFields.Marks,
                ChosenVersion = entry.ChosenVersion,
                Expiration = new ResolvedExpiration(entry.AbsoluteDeadline, entry.SlidingIntervalMs, _now),
                First = new ReadOnlySpan<byte>(entry.Value, (int)entry.ValueLength),
            };
            if (content.ChosenVersion != 0)
            {
                _engine.Memory.RaiseChosenVersions();
            }

            WriteStatus status;
            try
            {
                status = _engine.Write(key, content, WriteCondition.Always, 0, out _);
            }
            catch (StoreFullException full)
            {
                throw NoRoom($"an entry of {ByteText.Of(record.Body.Length)} found none", full);
            }

            if (status != WriteStatus.Stored && CollectionIsKept(collection))
            {
                throw NoRoom($"an entry of {ByteText.Of(record.Body.Length)} was answered with {status}", null);
            }

            Puts++;
        }
    }

    private void Remove(in LogRecord record)
    {
        uint collection = CollectionOf(record);
        if (record.Body.Length is 0 or > EntryView.MaxKeyBytes)
        {
            throw Unknown(record, "a key");
        }

        if (_isAccepted[collection])
        {
            fixed (byte* bytes = record.Body)
            {
                _engine.Remove(_engine.Place(bytes, record.Body.Length, collection), WriteCondition.Always, 0);
            }
        }
    }

    private void Clear(in LogRecord record)
    {
        if (record.Collection != LogRecord.AllCollections)
        {
            _engine.Clear(CollectionOf(record), isAll: false);
            return;
        }

        for (uint collection = 1; collection < StoreLayout.MaxCollections; collection++)
        {
            if (_isAccepted[collection])
            {
                _engine.Clear(collection, isAll: false);
            }
        }
    }

    private void Define(in LogRecord record)
    {
        uint collection = CollectionOf(record);
        if (record.Body.Length != StoreLayout.CollectionRecordBytes || collection == 0)
        {
            throw Unknown(record, "a collection's record");
        }

        var target = (CollectionRecord*)_engine.Memory.CollectionRecord((int)collection);
        record.Body.CopyTo(new Span<byte>(target, StoreLayout.CollectionRecordBytes));
        Superblock* super = _engine.Memory.Super;
        super->CollectionCount = Math.Max(super->CollectionCount, (int)collection);
        bool wasAccepted = _isAccepted[collection];
        _isAccepted[collection] = _acceptsAll || target->IsLogged;
        _durability[collection] = target->Durability;
        target->Durability = (byte)Durability.ProcessCrash; // I4
        _engine.Memory.RefreshRegions();
        if (wasAccepted && !_isAccepted[collection])
        {
            _engine.Clear(collection, isAll: false); // I2
        }
    }

    private uint CollectionOf(in LogRecord record) =>
        record.Collection < StoreLayout.MaxCollections ? record.Collection : throw Unknown(record, "a collection's number");

    private bool CollectionIsKept(uint collection) =>
        collection != 0 && _engine.Memory.RegionOf(collection) == StoreRegion.Keep;

    private void Finish()
    {
        for (int collection = 1; collection < StoreLayout.MaxCollections; collection++)
        {
            ((CollectionRecord*)_engine.Memory.CollectionRecord(collection))->Durability = _durability[collection]; // I4
        }

        _engine.AreBudgetsKept = true;
        for (int number = 0; number < _engine.Memory.PartitionCount; number++)
        {
            RaiseVersion(_engine.Memory.Partition(number), _highestVersion);
        }
    }

    // Keeps I3. A version that leaves no higher ones for later must not be used, wherever it comes from.
    private static void RaiseVersion(PartitionBlock* partition, ulong version)
    {
        if (version < PartitionBlock.HighestVersion)
        {
            partition->Version = Math.Max(partition->Version, version);
        }
    }

    private void Tell(int bytes)
    {
        _bytesDone += bytes;
        if (_bytesDone - _bytesTold >= ProgressStepBytes)
        {
            _cancellationToken.ThrowIfCancellationRequested();
            _bytesTold = _bytesDone;
            _progress?.Report(new StoreProgress("reading", Math.Min(_bytesDone, _bytesTotal), _bytesTotal));
        }
    }

    private StoreFullException NoRoom(string what, Exception? cause) => new(
        $"The store '{_engine.Memory.File.Path}' has no room for what its log or backup holds: {what}. Open it, or restore it, with a " +
        $"{nameof(StoreOptions)}.{nameof(StoreOptions.MaxCapacityBytes)} larger than {ByteText.Of(_engine.Memory.Layout.MaxCapacityBytes)}. Until then its log and snapshot, or " +
        "the backup, stay as they are.", cause);

    private StoreCorruptException Unknown(in LogRecord record, string expected) =>
        new(_engine.Memory.File.Path, record.Position, $"{expected} in the record at position {record.Position:N0}", "something else");
}
