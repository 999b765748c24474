using Cairn.Collections;
using Cairn.Concurrency;
using Cairn.Encryption;
using Cairn.Engine;
using Cairn.Messages;
using Cairn.Platform;
using Cairn.Recovering;
using Cairn.Snapshots;
using Cairn.Steps;
using Cairn.WriteAhead;

namespace Cairn.Opening;

// Opening and closing, one process at a time: everything happens under the gate, a kernel lock on a byte past the file's end.
//
//   open    read the superblock -> map -> alone? recover what dead processes left, or empty the store -> take an owner slot
//   close   end all writing -> alone? everything to disk, then the mark that says so -> release the slot
//
//   I1  If the restart of the machine has possibly torn a store, the store is emptied and never read. An index page from before the last write and an
//       entry to which it leads can both be intact and yet outdated (Superblock I2, the boot id).
//   I2  Only a process that is alone changes Superblock.State.
//   I3  If a store is emptied because of I1 and has a log, it is rebuilt from the log before any other process can open it (LogOpening).
//   I4  Only a store whose state is InUse is shared. In another state, a locked owner slot belongs to an opening that failed, or to a process that died
//       while it closed the store. A child process keeps the locks until it starts its own program. So an opening waits for the slot, and is refused
//       after LeaverTimeout. Otherwise it would use a store that has not been rebuilt.
internal static unsafe class StoreOpener
{
    private const int MaxAttempts = 100;
    private const long MostRecounted = 10_000_000;
    private static readonly TimeSpan GateTimeout = TimeSpan.FromSeconds(60);
    private static readonly TimeSpan LeaverTimeout = TimeSpan.FromSeconds(5);

    public static OpenedStore Open(StoreOptions options)
    {
        options.Validate();
        StorePlatform platform = HostPlatform.Current;
        string path = Path.GetFullPath(options.Path);
        platform.RequireSupportedFileSystem(path);
        StoreFile? created = null;
        try
        {
            for (int attempt = 0; attempt < MaxAttempts; attempt++)
            {
                if (TryOpenFile(platform, options, path, ref created) is { } file)
                {
                    try
                    {
                        if (TryOpenStore(platform, options, path, file) is { } opened)
                        {
                            return opened with { IsNew = created?.Identity == file.Identity };
                        }
                    }
                    catch
                    {
                        file.Dispose();
                        throw;
                    }

                    file.Dispose();
                }
            }

            throw new StoreException(
                $"The file '{path}' was replaced {MaxAttempts} times while it was being opened. Find out which program keeps replacing it.");
        }
        catch when (created is not null)
        {
            StoreFormatter.TryWithdraw(platform, created);
            throw;
        }
        finally
        {
            created?.Dispose();
        }
    }

    /// <summary>
    /// Closes a store. If values are still pinned, the last reader of them closes it, because the owner slot protects the pinned memory. The mapping stays
    /// until no operation can use it any more.
    /// </summary>
    public static void Close(OpenedStore opened) => opened.Engine.Close(() => LeaveStore(opened));

    /// <summary>
    /// Closes a store and deletes its file, unless another process has it open. The gate is held until the name is deleted. An opening that waits for the
    /// gate then finds that the path names another file or none, and starts over.
    /// </summary>
    public static void Discard(OpenedStore opened) => opened.Engine.Close(() => LeaveStore(opened, isDiscarded: true));

    private static void LeaveStore(OpenedStore opened, bool isDiscarded = false)
    {
        StoreEngine engine = opened.Engine;
        StoreFile file = engine.Memory.File;
        bool hasGate = file.LockByte(OwnerTable.GateByte, GateTimeout);
        try
        {
            bool isLast = hasGate && !engine.Owners.AnyOtherAlive();
            if (isLast && isDiscarded && file.IsStillAt(opened.Options.Path))
            {
                HostPlatform.Current.Delete(opened.Options.Path);
            }
            else if (isLast && opened.Options.FlushOnClose)
            {
                FlushAndMark(engine.Memory);
            }
        }
        finally
        {
            engine.Owners.ReleaseSlot();
            if (hasGate)
            {
                file.UnlockByte(OwnerTable.GateByte);
            }

            engine.Memory.Abandon();
        }
    }

    private static StoreFile? TryOpenFile(StorePlatform platform, StoreOptions options, string path, ref StoreFile? created)
    {
        // The log is in the directory of the file itself, not in the directory of a link to it.
        path = FileAt(path);
        try
        {
            StoreFile file = platform.Open(path);
            if (options.OpenMode == StoreOpenMode.CreateNew && file.Length > 0)
            {
                file.Dispose();
                throw new StoreException($"The file '{path}' exists already. Open it instead, or delete it first.");
            }

            return file;
        }
        catch (FileNotFoundException missing) when (options.OpenMode != StoreOpenMode.OpenExisting)
        {
            LogOpening.RefuseOrphans(platform, path);
            created?.Dispose(); // The store that this opening created before has been deleted or replaced.
            created = null;
            created = StoreFormatter.TryCreate(platform, options, path, replace: false);
            if (created is null && options.OpenMode == StoreOpenMode.CreateNew)
            {
                throw new StoreException($"The file '{path}' was created by another process at the same moment. Open it instead.", missing);
            }

            return OpenCreated(platform, path);
        }
    }

    internal static string FileAt(string path)
    {
        try
        {
            return new FileInfo(path) is { LinkTarget: not null } link && link.ResolveLinkTarget(returnFinalTarget: true) is { Exists: true } file
                ? file.FullName
                : path;
        }
        catch (IOException)
        {
            return path; // The links possibly form a circle. The opening reports that.
        }
    }

    private static StoreFile? OpenCreated(StorePlatform platform, string path)
    {
        try
        {
            return platform.Open(path);
        }
        catch (FileNotFoundException)
        {
            return null; // The file was deleted again, so the opening starts over.
        }
    }

    /// <summary>Opens the store in a file. Returns null if the path names another file by now, so that the caller starts over.</summary>
    private static OpenedStore? TryOpenStore(StorePlatform platform, StoreOptions options, string path, StoreFile file)
    {
        StoreKeys.Prepare(file, options.Encryption);
        if (!file.LockByte(OwnerTable.GateByte, GateTimeout))
        {
            throw new StoreException(
                $"The store '{path}' could not be opened within {GateTimeout.TotalSeconds:N0} seconds, because another process is opening, closing, " +
                "growing or compacting it and does not finish; it may be stopped. Continue or end that process.");
        }

        ProtocolHook.Reach(ProtocolStep.OpenGateTaken);
        StoreCipher? cipher = null;
        OpenedStore? opened = null;
        try
        {
            if (!file.IsStillAt(path))
            {
                return null;
            }

            if (file.Length == 0 && options.OpenMode != StoreOpenMode.OpenExisting)
            {
                // The file has no content that could be lost, so it is formatted as a store.
                StoreFormatter.TryCreate(platform, options, path, replace: true)?.Dispose();
                return null;
            }

            StoreLayout layout = ReadLayout(file, path);

            // The key is checked before anything is changed, so that a process without the key cannot empty the store either.
            cipher = StoreKeys.Unlock(file, path, options.Encryption);
            MappedRegion region = file.Map(layout.MappedBytes, writable: true);
            try
            {
                opened = Attach(platform, options, path, file, region, layout, cipher);
                return opened;
            }
            catch (StoreFullException) when (((Superblock*)region.Address)->State == Superblock.StateResetting
                && options.PlannedCapacityBytes > layout.MaxCapacityBytes)
            {
                // The file is unmapped before it is replaced, because not every system can replace a mapped file.
                Superblock old = *(Superblock*)region.Address;
                region.Dispose();
                StoreFormatter.Enlarge(platform, options, path, &old);
                return null;
            }
        }
        finally
        {
            if (opened is null)
            {
                cipher?.Dispose();
            }

            file.UnlockByte(OwnerTable.GateByte);
        }
    }

    internal static StoreLayout ReadLayout(StoreFile file, string path)
    {
        var page = new byte[StoreLayout.SuperblockBytes];
        int read = file.Read(0, page);
        fixed (byte* bytes = page)
        {
            var super = (Superblock*)bytes;
            if (read < page.Length || super->Magic != Superblock.ExpectedMagic)
            {
                throw StoreCorruptException.NotAStore(path, read < page.Length ? $"only {read} bytes" : $"0x{super->Magic:X16}");
            }

            if (super->FormatVersion != Superblock.CurrentVersion)
            {
                throw new StoreVersionException(path, super->FormatVersion, Superblock.CurrentVersion);
            }

            if ((super->RequiredFeatures & ~Superblock.KnownFeatures) != 0)
            {
                throw new StoreCorruptException(path, 12, "no features that this version does not know", $"0x{super->RequiredFeatures:X}");
            }

            ulong check = StoreFormatter.LayoutCheck(super);
            if (super->LayoutCheck != check)
            {
                throw new StoreCorruptException(path, 88, $"layout check 0x{check:X16}", $"0x{super->LayoutCheck:X16}");
            }

            StoreLayout layout = StoreLayout.Restore(
                super->MaxCapacityBytes, super->AverageEntryBytes, super->SegmentBytes, super->PartitionCount, super->MaxSegments)
                ?? throw new StoreCorruptException(path, 16, "a possible layout", "numbers out of range");
            int segments = super->SegmentCount;
            if (segments < layout.FewestSegments || segments > layout.MaxSegments)
            {
                throw layout.WrongSegmentCount(path, segments);
            }

            // After a loss of power, a file that grew can be shorter than the first page says. Then the store is emptied, whatever its content.
            long length = file.Length;
            bool isTrusted = super->State == Superblock.StateClosed
                || (super->State == Superblock.StateInUse && StoreFormatter.BootIdOf(super) == HostPlatform.Current.BootId);
            return length >= layout.FileBytes(isTrusted ? segments : layout.FewestSegments)
                ? layout
                : throw new StoreCorruptException(path, length, $"a file of {layout.FileBytes(segments):N0} bytes", $"{length:N0} bytes");
        }
    }

    private static OpenedStore Attach(
        StorePlatform platform, StoreOptions options, string path, StoreFile file, MappedRegion region, StoreLayout layout,
        StoreCipher? cipher)
    {
        var warnings = new List<string>();
        bool isAlone = IsAlone(file, path, (Superblock*)region.Address);
        string bootId = platform.BootId;
        bool wasClosed = false;
        LogFileSet? rebuildsFrom = null;
        LogFileSet? log = null;
        if (isAlone)
        {
            FileBacking.BackUsedHoles(file, region, layout);
            var super = (Superblock*)region.Address;
            wasClosed = super->State == Superblock.StateClosed;
            bool isWhole = super->State != Superblock.StateResetting && (wasClosed || StoreFormatter.BootIdOf(super) == bootId);
            log = LogOpening.Find(platform, file, super, isWhole);
            bool isOld = isWhole && wasClosed && LogOpening.IsAhead(platform, log, super);
            if (!isWhole || isOld)
            {
                warnings.Add(LogOpening.DescribeLoss(path, log, isOld));
                StoreFormatter.Reset(file, region, layout, options, bootId);
                wasClosed = true;
                rebuildsFrom = log.IsEmpty ? null : log;
            }
        }

        var memory = new StoreMemory(file, region, layout);
        try
        {
            return Attach(platform, options, path, memory, cipher, log, rebuildsFrom, isAlone, wasClosed, warnings);
        }
        catch
        {
#pragma warning disable CA1816 // The caller still uses the file and the mapping, and closes them. The collector must not close them first.
            GC.SuppressFinalize(memory);
#pragma warning restore CA1816
            throw;
        }
    }

    // Waits until no other opening has an owner slot (I4).
    private static bool IsAlone(StoreFile file, string path, Superblock* super)
    {
        long started = Stopwatch.GetTimestamp();
        while (file.IsByteLockedByOther(OwnerTable.GateByte + 1, StoreLayout.MaxOwners))
        {
            if (super->State is not (Superblock.StateClosed or Superblock.StateResetting))
            {
                return false;
            }

            if (Stopwatch.GetElapsedTime(started) > LeaverTimeout)
            {
                throw new StoreException(
                    $"The store '{path}' is marked as {(super->State == Superblock.StateClosed ? "closed" : "not yet built")}, but a process still has it open after " +
                    $"{LeaverTimeout.TotalSeconds:N0} seconds. End that process, and open the store again.");
            }

            Thread.Sleep(1);
        }

        return true;
    }

    private static OpenedStore Attach(
        StorePlatform platform, StoreOptions options, string path, StoreMemory memory, StoreCipher? cipher, LogFileSet? log, LogFileSet? rebuildsFrom,
        bool isAlone, bool wasClosed, List<string> warnings)
    {
        StoreLayout layout = memory.Layout;
        string bootId = platform.BootId;
        var engine = new StoreEngine(memory, platform, new StoreClock(options.TimeProvider, platform), options.LockTimeout, LogOptions.From(options))
        {
            Cipher = cipher,
            ExpiredRetentionMs = (long)options.ExpiredRetention.TotalMilliseconds,
        };
        bool hasNewLog = false;
        if (wasClosed && rebuildsFrom is null && log is not null && LogOpening.NeedsNewLog(engine, log))
        {
            hasNewLog = TryEstablishClosed(platform, options, memory, log, bootId);
        }

        if (!engine.Owners.TryTakeSlot(options.TakesAnySlot))
        {
            throw new StoreException(
                $"The store '{path}' is open {StoreLayout.MaxOwners} times already, which is the maximum. Open it once in each process, and share that opening.");
        }

        if (isAlone)
        {
            TakeOver(engine, wasClosed, marksInUse: rebuildsFrom is null, bootId);
        }

        engine.Cleanup.CleanUp(engine.Owners.Slot);
        engine.Owners.Announce(engine.Clock.NowMs());
        if (rebuildsFrom is not null)
        {
            // No other process can open the store meanwhile, even if the file must grow (I3).
            engine.Growth.HasGate = true;
            LogEnd end = LogOpening.Rebuild(engine, platform, rebuildsFrom, options);
            engine.Growth.HasGate = false;
            if (end.Torn is not null)
            {
                warnings.Add(LogOpening.DescribeTorn(end));
            }

            MarkInUse(memory, bootId);
        }
        else if (log is not null && !hasNewLog && LogOpening.NeedsNewLog(engine, log))
        {
            Establish(engine, platform, log, options, warnings);
        }

        if (platform.MemoryLimitBytes is { } limit && layout.MaxCapacityBytes > limit)
        {
            warnings.Add(
                $"The store '{path}' may take {ByteText.Of(layout.MaxCapacityBytes)} of memory, more than the {ByteText.Of(limit)} that this machine or container allows. " +
                "It will work, but at the speed of the disk. Make the store smaller or the limit larger.");
        }

        return new OpenedStore(engine, options with { Path = path }, warnings, new Checkpointer(engine, platform, options.TimeProvider));
    }

    // The state is durable before anything else changes (Superblock I2). It is flushed again if a process that stored it died before its flush, or its flush failed.
    private static void MarkInUse(StoreMemory memory, string bootId)
    {
        StoreFormatter.WriteBootId(memory.Super, bootId);
        memory.Super->State = Superblock.StateInUse;
        memory.FlushSuperblock();
    }

    // Keeps LogOpening I3. Recovery and snapshot write their changes to a copy of the map.
    private static bool TryEstablishClosed(StorePlatform platform, StoreOptions options, StoreMemory memory, LogFileSet log, string bootId)
    {
        LogOpening.RecordMissingLog(memory);
        memory.FlushSuperblock();
        ProtocolHook.Reach(ProtocolStep.LogDisowned);
        MappedRegion? region = null;
        StoreEngine? engine = null;
        try
        {
            region = memory.File.MapCopy(memory.Layout.MappedBytes);
            var copy = new StoreMemory(memory.File, region, memory.Layout, ownsFile: false);
            engine = new StoreEngine(copy, platform, new StoreClock(options.TimeProvider, platform), options.LockTimeout, LogOptions.From(options));
            if (!engine.Owners.TryTakeSlot(options.TakesAnySlot))
            {
                throw new InvalidOperationException("A store that no process has open has owners.");
            }

            TakeOver(engine, wasClosed: true, marksInUse: false, bootId);
            engine.Cleanup.CleanUp(engine.Owners.Slot);
            engine.Owners.Announce(engine.Clock.NowMs());
            LogOpening.Establish(engine, platform, log, options);
            memory.Super->Log = copy.Super->Log; // It becomes durable together with the mark that the store is in use.
            ProtocolHook.Reach(ProtocolStep.LogAdopted);
            return true;
        }
        catch (Exception failure) when (failure is StoreException or UnauthorizedAccessException)
        {
            return false; // The opening tries again when the store is in use. If that also fails, it adds a warning.
        }
        finally
        {
            engine?.Owners.ReleaseSlot();
            region?.Dispose();
        }
    }

    // If this fails, the store works without a log, but refuses durable writes.
    private static void Establish(
        StoreEngine engine, StorePlatform platform, LogFileSet log, StoreOptions options, List<string> warnings)
    {
        try
        {
            LogOpening.Establish(engine, platform, log, options);
        }
        catch (Exception failure) when (failure is StoreException or UnauthorizedAccessException)
        {
            warnings.Add(
                $"The log of the store '{engine.Memory.File.Path}' could not be created again, so the store refuses durable writes. If the machine stops before " +
                $"the store is closed, entries that only its file has are lost. Reads continue. Remove the cause, and close and open the store: {failure.Message}");
        }
    }

    // No other process has the store open. So all locks, pins and reservations in the file are leftovers of dead processes, or damage.
    private static void TakeOver(StoreEngine engine, bool wasClosed, bool marksInUse, string bootId)
    {
        StoreMemory memory = engine.Memory;
        Superblock* super = memory.Super;
        bool isWhole = super->State != Superblock.StateClosed
            || super->ClosedCheck == ClosedCheck(memory);
        if (marksInUse)
        {
            MarkInUse(memory, bootId);
        }

        bool hasDeadlines = super->DeadlinesKeptSince == super->OpenCount;
        super->OpenCount++;
        engine.WriteAhead.CleanUpAlone();
        CollectionTable.DropUnnamed(memory);
        for (int segment = 0; segment < memory.SegmentCount; segment++)
        {
            SegmentHeader* header = memory.Header(segment);
            if (header->State == SegmentState.Reserved || header->Partition >= memory.PartitionCount)
            {
                header->StateWord = SegmentHeader.Word(SegmentState.Free, 0, 0);
            }
        }

        var sums = new SegmentSums[memory.PartitionCount];
        engine.Recovery.SumSegments(sums);
        for (int number = 0; number < memory.PartitionCount; number++)
        {
            PartitionBlock* partition = memory.Partition(number);
            if (PartitionLock.OwnerOf(partition->LockWord) != 0 || !isWhole || !engine.Recovery.IsPlausible(number, sums[number]))
            {
                engine.Recovery.Run(number);
            }

            partition->LockWord = 0;
            if (!wasClosed)
            {
                // If damage has lowered the version, a clearing would not affect the entries with higher versions. So the version is raised.
                partition->Version = Math.Max(partition->Version, StoreFormatter.FirstVersion(engine.Clock.NowMs()));
            }
        }

        if (memory.HasOverflow && !IsAnyInOverflow(memory))
        {
            super->HasOverflow = 0; // Readers need not search there any more.
        }

        engine.Pool.RecountFree();
        for (int slot = 1; slot <= Math.Clamp(super->OwnerHighWater, 0, StoreLayout.MaxOwners); slot++)
        {
            engine.Cleanup.CleanUp(slot);
        }

        super->OwnerHighWater = 0;
        if (!hasDeadlines)
        {
            FindDeadlines(engine);
        }

        super->DeadlinesKeptSince = super->OpenCount;
    }

    // An older version of Cairn wrote to the store without recording when evictable entries expire. Sweeps visit each of its segments once. The number of
    // entries that expire is counted again only if the store is small enough for a quick count.
    private static void FindDeadlines(StoreEngine engine)
    {
        StoreMemory memory = engine.Memory;
        long entries = 0;
        for (int number = 0; number < memory.PartitionCount; number++)
        {
            entries += memory.Partition(number)->Entries;
        }

        for (int segment = 0; segment < memory.SegmentCount; segment++)
        {
            memory.Header(segment)->MinDeadline = 0;
        }

        for (int number = 0; number < memory.PartitionCount && entries <= MostRecounted; number++)
        {
            engine.Recovery.RecountEntries(memory.Partition(number), number);
        }
    }

    private static bool IsAnyInOverflow(StoreMemory memory)
    {
        for (int number = 0; number < memory.PartitionCount; number++)
        {
            for (int bucket = memory.Layout.HomeBuckets; bucket < memory.Layout.BucketsPerPartition; bucket++)
            {
                if (Storage.Bucket.UsedSlots(memory.BucketAt(number, bucket)) > 0)
                {
                    return true;
                }
            }
        }

        return false;
    }

    /// <summary>Flushes a store that no process changes any more. Then records that it is complete on the disk.</summary>
    internal static void FlushAndMark(StoreMemory memory)
    {
        Superblock* super = memory.Super;
        long bytes = memory.Layout.FileBytes(memory.SegmentCount);
        if (super->HasUnwrittenPages != 0)
        {
            MarkAllUnwritten(memory, bytes);
        }

        super->ClosedCheck = ClosedCheck(memory);
        StoreMemory.Flush(memory.Region, bytes, memory.File);
        ProtocolHook.Reach(ProtocolStep.CloseFlushed);
        super->HasUnwrittenPages = 0;
        super->State = Superblock.StateClosed;
        memory.FlushSuperblock();
        ProtocolHook.Reach(ProtocolStep.CloseMarked);
    }

    // Makes the system write every page again. Holes are left out, because they would take space.
    private static void MarkAllUnwritten(StoreMemory memory, long bytes)
    {
        for (long position = 0, next; position < bytes; position = next)
        {
            bool isHole = memory.File.TryFindHole(position, out long hole, out next);
            long end = isHole ? Math.Min(hole, bytes) : bytes;
            next = isHole ? next : bytes;
            if (!memory.Region.Populate(position, end - position, write: true))
            {
                throw new StoreException(
                    $"The disk failed to write the store '{memory.File.Path}', and its pages could not be prepared to be written again. Its entries are lost if the " +
                    "machine restarts. Check the disk. Then 'cairn compact' writes them to a new file.");
            }
        }
    }

    private static ulong ClosedCheck(StoreMemory memory) =>
        StoreFormatter.ClosedCheck((byte*)memory.Partition(0), memory.Headers, memory.Layout);
}
