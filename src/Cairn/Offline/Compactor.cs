using Cairn.Concurrency;
using Cairn.Encryption;
using Cairn.Engine;
using Cairn.Keys;
using Cairn.Messages;
using Cairn.Opening;
using Cairn.Platform;

namespace Cairn.Offline;

// Copies the readable content of a store into a new store beside it. The new store then replaces the old one.
//
//   gate of the old file taken --> no process has it open? --> new file, without a name --> entries copied --> durable, marked as closed
//                                                                                                            |
//                                       old file gone with its last descriptor <-- renamed over the old <----+
//
//   C1  The old file is only read. If the work ends before the rename, no other file remains, because the new file has no name.
//   C2  The old file's gate is held until the end. A process that waits for the gate to open the store sees afterwards that the path names another file,
//       and opens that file (StoreOpener).
//   C3  The new store has the old one's hash seed. So a key's partition is the same, or a half or a multiple of it. The copy goes partition by partition,
//       oldest segment first. This keeps the order of eviction.
//   C4  Versions in the new store are higher than all versions of the old one.
//   C5  The new name is durable before the work returns. Otherwise the old file, which is marked as closed, could be back after a loss of power, with values
//       that were changed or removed in the new one.
internal sealed unsafe class Compactor : IPartitionVisitor, IDisposable
{
    private const long ProgressStepBytes = 1 << 20;

    // The average size of fewer entries is not reliable.
    private const long FewestEntriesToAverage = 1_000;

    private static readonly TimeSpan GateTimeout = TimeSpan.FromSeconds(10);
    private static readonly TimeSpan LockTimeout = TimeSpan.FromSeconds(10);

    private readonly StoreImage _image;
    private readonly StoreEngine _target;
    private readonly PartitionWalk _walk;
    private readonly Reencryption? _reencryption;
    private readonly IProgress<StoreProgress>? _progress;
    private readonly CancellationToken _cancellationToken;
    private readonly long _now;
    private long _imported;
    private long _expired;
    private long _damaged;
    private long _refused;
    private long _bytesDone;
    private long _bytesTold;

    private Compactor(
        StoreImage image, StoreEngine target, CompactOptions options, Reencryption? reencryption, IProgress<StoreProgress>? progress,
        CancellationToken cancellationToken)
    {
        _reencryption = reencryption;
        _image = image;
        _target = target;

        // The present time is read before the walk reads it. So an entry that is live for the walk has not expired for the target either.
        _now = target.Clock.NowMs();
        _walk = new PartitionWalk(image, options.TimeProvider);
        _progress = progress;
        _cancellationToken = cancellationToken;
    }

    public static CompactReport Compact(
        string path, CompactOptions options, IProgress<StoreProgress>? progress, CancellationToken cancellationToken,
        Reencryption? reencryption = null)
    {
        long started = Stopwatch.GetTimestamp();
        StorePlatform platform = HostPlatform.Current;

        // The new file must be created in the directory of the old file itself, not in the directory of a link to it.
        path = StoreOpener.FileAt(Path.GetFullPath(path));
        platform.RequireSupportedFileSystem(path);
        using StoreFile source = OpenAlone(platform, path, reencryption is null ? "compacted" : "encrypted again");
        StoreLayout oldLayout = StoreOpener.ReadLayout(source, path);
        var super = default(Superblock);
        source.Read(0, new Span<byte>(&super, sizeof(Superblock)));
        RequireTrusted(platform, path, &super);

        KeyBlock? key = reencryption is null ? StoreKeys.Require(&super, path) : reencryption.Begin(&super, path);
        var image = new StoreImage(source, oldLayout, super.HashSeed);
        StoreLayout layout = Plan(image, options, reencryption?.AddedBytes ?? 0, out int segments);
        using StoreFile target = StoreFormatter.CreateUnpublished(
            platform, path, layout, segments, options.TimeProvider, super.HashSeed, key);
        var memory = new StoreMemory(target, target.Map(layout.MappedBytes, writable: true), layout);
        var engine = new StoreEngine(memory, platform, new StoreClock(options.TimeProvider, platform), LockTimeout, default);
        using var compactor = new Compactor(image, engine, options, reencryption, progress, cancellationToken);
        compactor.CopyAll(&super);

        progress?.Report(new StoreProgress("writing to disk", 0, layout.FileBytes(memory.SegmentCount)));
        engine.Close(releaseSlot: () => { }); // The slot is released below, when everything is durable.
        long evicted = compactor.TakeStatistics();

        // The log continues unchanged. A replay of the log gives the content of the new file, as it gave the content of the old one.
        memory.Super->Log = super.Log;
        memory.Super->Log.LockWord = 0;
        memory.Super->Log.SyncLockWord = 0;
        if (reencryption is not null || LogCheck.IsDamaged(platform, path, &super.Log, cancellationToken))
        {
            memory.Super->Log.Failed = super.Log.LogId == 0 ? 0u : 1u; // The log has another key, or is damaged. The next opening creates a new log.
        }

        StoreOpener.FlushAndMark(memory);
        engine.Owners.ReleaseSlot();
        cancellationToken.ThrowIfCancellationRequested();
        var report = new CompactReport
        {
            Path = path,
            EntriesKept = compactor._imported - evicted,
            EntriesExpired = compactor._expired,
            EntriesDamaged = compactor._damaged,
            EntriesEvicted = compactor._refused + evicted,
            BytesBefore = source.Length,
            BytesAfter = target.Length,
            MaxCapacityBytes = layout.MaxCapacityBytes,
            AverageEntryBytes = layout.AverageEntryBytes,
        };
        platform.TryPublish(target, path, replace: true, "The new file of the store"); // C5
        GC.KeepAlive(memory);
        return report with { Duration = Stopwatch.GetElapsedTime(started) };
    }

    public void Dispose() => _walk.Dispose();

    void IPartitionVisitor.OnEntry(
        in EntryView entry, in SlotPlace at, int frequency, in SegmentHeader header, int segment, in EntryValidation validation)
    {
        switch (validation.Validity)
        {
            case EntryValidity.Live:
                Import(entry, frequency, header.Log == PartitionBlock.LogMain);
                break;
            case EntryValidity.Expired:
                _expired++;
                break;
            case EntryValidity.Damaged:
                _damaged++;
                break;
            default:
                break;
        }
    }

    void IPartitionVisitor.OnBadSlot(in SlotPlace at, in EntryValidation validation) => _damaged++;

    void IPartitionVisitor.OnDeadEntry(in EntryView entry, long offset, bool isWhole)
    {
        // A dead entry is garbage, which the compaction removes.
    }

    void IPartitionVisitor.OnUnparseable(int segment, long offset, string problem)
    {
        // The slots that lead to the following entries are checked one by one.
    }

    void IPartitionVisitor.OnUnreadable(VerifyArea area, long offset, string problem) =>
        throw new StoreException(
            $"{problem} The store '{_image.File.Path}' stays as it is, because compacting it would lose what may be readable again. Check the disk.");

    void IPartitionVisitor.OnChanging(int segment) =>
        throw new InvalidOperationException("A store that no process has open changed.");

    void IPartitionVisitor.OnSegmentDone(long bytes)
    {
        _bytesDone += bytes;
        if (_bytesDone - _bytesTold >= ProgressStepBytes)
        {
            Tell();
        }
    }

    internal static StoreFile OpenAlone(StorePlatform platform, string path, string work)
    {
        while (true)
        {
            StoreFile file = platform.Open(path);
            try
            {
                if (!file.LockByte(OwnerTable.GateByte, GateTimeout))
                {
                    throw new StoreException(
                        $"The store '{path}' cannot be {work}, because another process is opening, closing, growing or compacting it. Wait for that process.");
                }

                if (file.IsStillAt(path))
                {
                    int openings = Enumerable.Range(1, StoreLayout.MaxOwners).Count(slot => file.IsByteLockedByOther(OwnerTable.GateByte + slot, 1));
                    return openings == 0
                        ? file
                        : throw new StoreException(
                            $"The store '{path}' cannot be {work} while it is open (openings: {openings}). Close it in every process first.");
                }
            }
            catch
            {
                file.Dispose();
                throw;
            }

            // Another process, such as another compaction, has replaced the file while this one waited for the gate.
            file.Dispose();
        }
    }

    private static void RequireTrusted(StorePlatform platform, string path, Superblock* super)
    {
        bool isTrusted = super->State == Superblock.StateClosed
            || (super->State == Superblock.StateInUse && StoreFormatter.BootIdOf(super) == platform.BootId);
        if (!isTrusted)
        {
            throw new StoreException(
                $"The machine restarted before the store '{path}' was closed, so its content cannot be trusted and there is nothing to keep. Open it, " +
                "which empties it, or delete it.");
        }
    }

    // The counters of the store determine the initial size. The file grows if the content is larger.
    private static StoreLayout Plan(StoreImage image, CompactOptions options, int addedBytes, out int segments)
    {
        ReadCounters(image, out long entries, out long bytes);
        bytes = Math.Max(0, bytes + (entries * addedBytes));
        long average = Math.Clamp(bytes / Math.Max(1, entries), StoreLimits.MinAverageEntryBytes, StoreLimits.MaxAverageEntryBytes);
        int averageEntryBytes = options.AverageEntryBytes
            ?? (entries >= FewestEntriesToAverage ? (int)average : image.Layout.AverageEntryBytes);
        long maxCapacityBytes = options.MaxCapacityBytes ?? Math.Max(image.Layout.MaxCapacityBytes, options.CapacityBytes ?? 0);
        StoreLayout layout = StoreLayout.Plan(maxCapacityBytes, averageEntryBytes);

        int least = layout.PartitionCount * (StoreLayout.ReservedSegmentsPerPartition + 2);
        if (layout.MaxSegments < least || options.CapacityBytes < layout.FileBytes(least))
        {
            throw new ArgumentOutOfRangeException(
                nameof(options), options.CapacityBytes ?? maxCapacityBytes,
                $"{nameof(CompactOptions)}.{nameof(CompactOptions.CapacityBytes)} must be at least {ByteText.AtLeast(layout.FileBytes(least))} in a store that may grow " +
                $"to {ByteText.Of(maxCapacityBytes)}: its index alone, for entries of {ByteText.Of(averageEntryBytes)}, takes {ByteText.Of(layout.SegmentsOffset)}.");
        }

        if (options.CapacityBytes is { } capacityBytes)
        {
            segments = layout.SegmentsWithin(capacityBytes);
        }
        else
        {
            // At the end of each segment, an average of half an entry is unused.
            long filled = Math.Max(1, layout.SegmentBytes - (average / 2));
            segments = (int)Math.Clamp(least + (bytes / filled), least, layout.MaxSegments);
        }

        return layout;
    }

    private static void ReadCounters(StoreImage image, out long entries, out long bytes)
    {
        entries = 0;
        bytes = 0;
        var block = default(PartitionBlock);
        for (int partition = 0; partition < image.Layout.PartitionCount; partition++)
        {
            if (image.TryRead(image.PartitionOffset(partition), &block, PartitionBlock.RingOffset))
            {
                entries += Math.Max(0, block.Entries);
                bytes += Math.Max(0, block.LiveBytes);
            }
        }

        bytes = Math.Clamp(bytes, 0, (long)image.SegmentCount * image.Layout.SegmentBytes);
    }

    private void CopyAll(Superblock* super)
    {
        if (!_target.Owners.TryTakeSlot())
        {
            throw new InvalidOperationException("A file without a name has owners.");
        }

        _target.Owners.Announce(_now);
        CopyCollections(Math.Clamp(super->CollectionCount, 0, StoreLayout.MaxCollections - 1));
        RaiseVersions();
        SegmentHeader[] headers = ReadHeaders();
        for (int partition = 0; partition < _image.Layout.PartitionCount; partition++)
        {
            Copy(partition, headers);
        }

        Tell();
        if (_target.Growth.LastFailure is { } failure)
        {
            throw new StoreException($"{failure} The store '{_image.File.Path}' stays as it was.");
        }
    }

    private void CopyCollections(int count)
    {
        long bytes = (long)(count + 1) * StoreLayout.CollectionRecordBytes;
        if (!_image.TryRead(_image.Layout.CollectionsOffset, _target.Memory.CollectionRecord(0), bytes))
        {
            throw new StoreException($"The collections of the store '{_image.File.Path}' cannot be read: {_image.Failure}.");
        }

        CollectionCheck.Repair((CollectionRecord*)_target.Memory.CollectionRecord(0), count);
        _target.Memory.Super->CollectionCount = count;
        _target.Memory.RefreshRegions();
        _target.ReusesSegments = false; // The new file has no garbage. Cleaning half-empty segments would copy entries twice, and could be unfinished at the end.
        _target.AreBudgetsKept = false; // The copied entries are kept even if a budget is exceeded.
    }

    // Ensures C4.
    private void RaiseVersions()
    {
        ulong highest = 0;
        var block = default(PartitionBlock);
        for (int partition = 0; partition < _image.Layout.PartitionCount; partition++)
        {
            if (_image.TryRead(_image.PartitionOffset(partition), &block, PartitionBlock.RingOffset))
            {
                highest = Math.Max(highest, block.Version);
            }
        }

        // If damage has made the number huge, it is ignored, because no higher versions would remain.
        for (int partition = 0; highest < ulong.MaxValue / 2 && partition < _target.Memory.PartitionCount; partition++)
        {
            PartitionBlock* target = _target.Memory.Partition(partition);
            target->Version = Math.Max(target->Version, highest);
        }
    }

    private SegmentHeader[] ReadHeaders()
    {
        var headers = new SegmentHeader[_image.SegmentCount];
        fixed (SegmentHeader* target = headers)
        {
            if (!_image.TryRead(_image.Layout.SegmentHeadersOffset, target, (long)headers.Length * sizeof(SegmentHeader), _cancellationToken))
            {
                throw new StoreException($"The segment headers of the store '{_image.File.Path}' cannot be read: {_image.Failure}.");
            }
        }

        return headers;
    }

    // Kept entries are copied first, then the main log. In each log the oldest segment is first. An open segment is the youngest.
    private void Copy(int partition, SegmentHeader[] headers)
    {
        if (!_walk.TryBegin(partition, this, _cancellationToken))
        {
            return;
        }

        IEnumerable<int> segments = Enumerable.Range(0, headers.Length)
            .Where(segment => headers[segment].Partition == partition && headers[segment].State is SegmentState.Open or SegmentState.Sealed)
            .OrderByDescending(segment => headers[segment].Log == PartitionBlock.LogKeep)
            .ThenByDescending(segment => headers[segment].Log == PartitionBlock.LogMain)
            .ThenBy(segment => headers[segment].State == SegmentState.Open)
            .ThenBy(segment => headers[segment].SealOrder);
        foreach (int segment in segments)
        {
            _walk.Walk(partition, segment, this, _cancellationToken);
        }

        _walk.WalkRest(partition, this, _cancellationToken);
    }

    private void Import(in EntryView entry, int frequency, bool isMain)
    {
        var keyBytes = new ReadOnlySpan<byte>(entry.Key, entry.KeyLength);
        var value = new ReadOnlySpan<byte>(entry.Value, (int)entry.ValueLength);
        if (_reencryption is not null && !_reencryption.TryConvert(entry, _image.File.Path, out keyBytes, out value))
        {
            _damaged++;
            return;
        }

        bool isKept = _target.Memory.IsKept(entry.Collection);
        if (value.Length > _target.Memory.MaxValueBytes)
        {
            _refused += isKept ? throw DoesNotFit($"one of its values, of {ByteText.Of(value.Length)}, is longer than a value may be then", null) : 1;
            return;
        }

        ResolvedExpiration expiration = EntryContent.ExpirationOf(entry);
        if (expiration.SlidingMs == 0)
        {
            expiration = expiration with { NowMs = _now };
        }

        var content = new EntryContent
        {
            Type = entry.Type,
            Flags = entry.Flags,
            Marks = entry.Fields & EntryFields.Marks,
            ChosenVersion = entry.ChosenVersion,
            Expiration = expiration,
            First = value,
        };
        fixed (byte* bytes = keyBytes)
        {
            KeyRef key = _target.Place(bytes, keyBytes.Length, entry.Collection);
            try
            {
                bool isStored = _target.Import(key, content, isMain, frequency) == WriteStatus.Stored;
                _imported += isStored ? 1 : 0;
                _refused += isStored ? 0 : 1;
            }
            catch (StoreFullException full)
            {
                throw DoesNotFit("they are more than it or its index holds", full);
            }
        }
    }

    private StoreFullException DoesNotFit(string why, StoreFullException? cause) => new(
        $"The kept entries of the store '{_image.File.Path}' do not fit a store of {ByteText.Of(_target.Memory.Layout.MaxCapacityBytes)} with " +
        $"entries of {ByteText.Of(_target.Memory.Layout.AverageEntryBytes)} on average: {why}. The store stays as it was. Compact it with a larger " +
        $"{nameof(CompactOptions)}.{nameof(CompactOptions.MaxCapacityBytes)}, or a smaller {nameof(CompactOptions)}.{nameof(CompactOptions.AverageEntryBytes)}.",
        cause);

    /// <summary>Returns the number of imported entries that later ones evicted. Then resets the statistics.</summary>
    private long TakeStatistics()
    {
        long evicted = 0;
        for (int number = 0; number < _target.Memory.PartitionCount; number++)
        {
            PartitionBlock* partition = _target.Memory.Partition(number);
            evicted += partition->Evictions + partition->Expirations;
            partition->Sets = 0;
            partition->Removals = 0;
            partition->Evictions = 0;
            partition->EvictedUnread = 0;
            partition->Expirations = 0;
            partition->ExpiredUnread = 0;
            partition->Reclaimed = 0;
            partition->Displacements = 0;
            partition->Declined = 0;
            partition->GhostHits = 0;
            partition->Dropped = 0;
            partition->LockWaits = 0;
        }

        return evicted;
    }

    private void Tell()
    {
        _bytesTold = _bytesDone;
        long total = (long)_image.SegmentCount * _image.Layout.SegmentBytes;
        _progress?.Report(new StoreProgress("copying", Math.Min(_bytesDone, total), total));
    }
}
