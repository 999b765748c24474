using System.Diagnostics;
using Cairn.Collections;
using Cairn.Concurrency;
using Cairn.Encryption;
using Cairn.Engine;
using Cairn.Messages;
using Cairn.Platform;
using Cairn.Recovering;
using Cairn.Snapshots;
using Cairn.Steps;
using Cairn.Storage;
using Cairn.WriteAhead;

namespace Cairn.Opening;

// Opening and closing, one process at a time: all of it happens under the gate, a kernel lock on a byte past the file's end.
//
//   open    look at the superblock -> map -> alone? recover what the dead left, or empty the store -> take an owner slot
//   close   end all writing -> alone? everything to disk, then the mark that says so -> release the slot
//
//   I1  A store that the machine's restart may have torn is emptied, never read: an index page from before the last write and
//       an entry that it names can both be intact and yet stale (Superblock I2, the boot id).
//   I2  Only who is alone changes Superblock.State.
//   I3  What is emptied because of I1 is built anew from the log, as far as there is one, before anybody is let in (LogOpening).
//   I4  Only a store whose state is InUse is shared. An owner slot that is locked in another state belongs to an opening that failed, or to a
//       process that died while it closed the store. A child process keeps the locks until it starts its own program. So an opening waits
//       until it is alone: otherwise it would use a store that nobody has built.
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
        for (int attempt = 0; attempt < MaxAttempts; attempt++)
        {
            if (TryOpenFile(platform, options, path) is { } file)
            {
                try
                {
                    if (TryOpenStore(platform, options, path, file) is { } opened)
                    {
                        return opened;
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

    /// <summary>
    /// Closes a store, or lets the last to read what it pinned do so: the owner slot is what keeps it pinned. The mapping stays until
    /// nothing can use it any more.
    /// </summary>
    public static void Close(OpenedStore opened) => opened.Engine.Close(() => GiveAway(opened));

    /// <summary>
    /// Closes a store and removes its file, unless another process has it open. The gate is held until the name is gone: an opening that waits for it finds
    /// that the path names no file any more, and starts over.
    /// </summary>
    public static void Discard(OpenedStore opened) => opened.Engine.Close(() => GiveAway(opened, isDiscarded: true));

    private static void GiveAway(OpenedStore opened, bool isDiscarded = false)
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

    private static StoreFile? TryOpenFile(StorePlatform platform, StoreOptions options, string path)
    {
        // Beside the file lies its log, not beside a link to it.
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
            bool isCreated = StoreFormatter.TryCreate(platform, options, path, replace: false);
            if (!isCreated && options.OpenMode == StoreOpenMode.CreateNew)
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
            return path; // A circle of links, perhaps: opening it will say so.
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
            return null; // Deleted again: start over.
        }
    }

    /// <summary>Null if the path names another file by now: start over.</summary>
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
                // Nothing is lost by making it a store.
                StoreFormatter.TryCreate(platform, options, path, replace: true);
                return null;
            }

            StoreLayout layout = ReadLayout(file, path);

            // Before anything is changed: who does not have the key does not get to empty the store either.
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
                // Unmapped before it is replaced, because not every system replaces a file that is mapped.
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

            // A file that grew may be shorter after a loss of power than the first page says. Then it is emptied, whatever it holds.
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
#pragma warning disable CA1816 // The caller still uses the file and the mapping, and closes them; the collector must not be faster.
            GC.SuppressFinalize(memory);
#pragma warning restore CA1816
            throw;
        }
    }

    // I4
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
        var engine = new StoreEngine(memory, platform, new StoreClock(options.Clock), options.LockTimeout, LogOptions.From(options))
        {
            Cipher = cipher,
            ExpiredRetentionMs = (long)options.ExpiredRetention.TotalMilliseconds,
        };
        bool hasNewLog = false;
        if (wasClosed && rebuildsFrom is null && log is not null && LogOpening.IsWanting(engine, log))
        {
            hasNewLog = TryEstablishClosed(platform, options, memory, log, bootId);
        }

        if (!engine.Owners.TryTakeSlot(options.TakesAnySlot))
        {
            throw new StoreException(
                $"The store '{path}' is open {StoreLayout.MaxOwners} times already, which is the most there can be. Open it once in each process, and share that.");
        }

        if (isAlone)
        {
            TakeOver(engine, wasClosed, marksInUse: wasClosed && rebuildsFrom is null, bootId);
        }

        engine.Cleanup.CleanUp(engine.Owners.Slot);
        engine.Owners.Announce(engine.Clock.NowMs());
        if (rebuildsFrom is not null)
        {
            // Nobody else comes in, also if the file must grow for it (I3).
            engine.Growth.HasGate = true;
            LogEnd end = LogOpening.Rebuild(engine, platform, rebuildsFrom, options);
            engine.Growth.HasGate = false;
            if (end.Torn is not null)
            {
                warnings.Add(LogOpening.DescribeTorn(end));
            }

            MarkInUse(memory, bootId);
        }
        else if (log is not null && !hasNewLog && LogOpening.IsWanting(engine, log))
        {
            Establish(engine, platform, log, options, warnings);
        }

        if (platform.MemoryLimitBytes is { } limit && layout.MaxCapacityBytes > limit)
        {
            warnings.Add(
                $"The store '{path}' may take {ByteText.Of(layout.MaxCapacityBytes)} of memory, more than the {ByteText.Of(limit)} that this machine or container allows. " +
                "It will work, but at the speed of the disk. Make the store smaller or the limit larger.");
        }

        return new OpenedStore(engine, options with { Path = path }, warnings, new Checkpointer(engine, platform, options.Clock));
    }

    // On disk before anything else changes (Superblock I2).
    private static void MarkInUse(StoreMemory memory, string bootId)
    {
        StoreFormatter.WriteBootId(memory.Super, bootId);
        memory.Super->State = Superblock.StateInUse;
        memory.Region.Flush(0, StoreLayout.SuperblockBytes);
    }

    // LogOpening I3. What recovery and the snapshot write of the map, they write to the copy.
    private static bool TryEstablishClosed(StorePlatform platform, StoreOptions options, StoreMemory memory, LogFileSet log, string bootId)
    {
        LogOpening.Disown(memory);
        memory.Region.Flush(0, StoreLayout.SuperblockBytes);
        ProtocolHook.Reach(ProtocolStep.LogDisowned);
        MappedRegion? region = null;
        StoreEngine? engine = null;
        try
        {
            region = memory.File.MapCopy(memory.Layout.MappedBytes);
            var copy = new StoreMemory(memory.File, region, memory.Layout, ownsFile: false);
            engine = new StoreEngine(copy, platform, new StoreClock(options.Clock), options.LockTimeout, LogOptions.From(options));
            if (!engine.Owners.TryTakeSlot(options.TakesAnySlot))
            {
                throw new InvalidOperationException("A store that nobody has open has owners.");
            }

            TakeOver(engine, wasClosed: true, marksInUse: false, bootId);
            engine.Cleanup.CleanUp(engine.Owners.Slot);
            engine.Owners.Announce(engine.Clock.NowMs());
            LogOpening.Establish(engine, platform, log, options);
            memory.Super->Log = copy.Super->Log; // On disk with the mark that the store is in use.
            ProtocolHook.Reach(ProtocolStep.LogAdopted);
            return true;
        }
        catch (Exception failure) when (failure is StoreException or UnauthorizedAccessException)
        {
            return false; // It is tried again when the store is in use; if that fails too, the user is told.
        }
        finally
        {
            engine?.Owners.ReleaseSlot();
            region?.Dispose();
        }
    }

    // The store works without, but durable writes are refused.
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
                $"The log of the store '{engine.Memory.File.Path}' could not be made anew, so durable writes are refused, and should the machine stop before " +
                $"the store is closed, what only its file has is lost. Reading goes on. Do away with the reason, and close and open the store: {failure.Message}");
        }
    }

    // Nobody else has the store open: what locks, pins and reservations say was left by the dead, or by damage.
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
                // Should the version have been damaged downwards, a clearing would not reach the entries above it.
                partition->Version = Math.Max(partition->Version, StoreFormatter.FirstVersion(engine.Clock.NowMs()));
            }
        }

        if (memory.HasOverflow && !IsAnyInOverflow(memory))
        {
            super->HasOverflow = 0; // Readers need not look there any more.
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

    // An older version wrote to the store, which did not note when evictable entries expire. Sweeps look at each of its segments once; the count
    // of entries that expire is made anew where that takes no more than moments.
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

    /// <summary>Brings a store that nobody changes any more to disk, and then records that it is complete there.</summary>
    internal static void FlushAndMark(StoreMemory memory)
    {
        Superblock* super = memory.Super;
        super->ClosedCheck = ClosedCheck(memory);
        memory.Region.Flush(0, memory.Layout.FileBytes(memory.SegmentCount));
        memory.File.FlushData();
        ProtocolHook.Reach(ProtocolStep.CloseFlushed);
        super->State = Superblock.StateClosed;
        memory.Region.Flush(0, StoreLayout.SuperblockBytes);
        ProtocolHook.Reach(ProtocolStep.CloseMarked);
    }

    private static ulong ClosedCheck(StoreMemory memory) =>
        StoreFormatter.ClosedCheck((byte*)memory.Partition(0), memory.Headers, memory.Layout);
}
