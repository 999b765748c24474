using Cairn.Concurrency;
using Cairn.Encryption;
using Cairn.Messages;
using Cairn.Platform;
using Cairn.Steps;

namespace Cairn.Opening;

// Formats a file as a store, and empties an old store.
//
// A new store is created in a file without a name. The file gets its name when it is complete (StorePlatform P3). So a file with the name is a complete
// store or a file of another program, and never an incomplete store.
internal static unsafe class StoreFormatter
{
    /// <summary>Creates a store at <paramref name="path"/>. Returns its file. Null if another file has got the name meanwhile.</summary>
    public static StoreFile? TryCreate(StorePlatform platform, StoreOptions options, string path, bool replace)
    {
        StoreLayout layout = Plan(options, out int segments);

        // The first page is durable before the name is. So after a restart of the machine the page identifies the file, and its boot id shows that the
        // store was not closed. The other pages need only be complete in memory.
        KeyBlock? key = options.Encryption is { } encryption ? StoreKeys.Create(encryption) : null;
        StoreFile file = CreateUnpublished(platform, path, layout, segments, options.TimeProvider, RandomBits.Next(), key, options.ReservesSpace);
        StoreFile? published = null;
        try
        {
            file.FlushData();
            published = platform.TryPublish(file, path, replace, "The new, empty store") ? file : null;
            return published;
        }
        catch (StoreException failure) when (!replace && failure.InnerException is StoreException)
        {
            if (TryWithdraw(platform, file))
            {
                throw new StoreException($"The store '{path}' was not created. {failure.InnerException.Message}", failure);
            }

            throw;
        }
        finally
        {
            if (published is null)
            {
                file.Dispose();
            }
        }
    }

    /// <summary>
    /// Deletes a store that this process has just created, because it cannot be opened. Returns false, with nothing changed, if another process has opened
    /// the store or replaced its file, or if the system refuses the deletion.
    /// </summary>
    public static bool TryWithdraw(StorePlatform platform, StoreFile file)
    {
        try
        {
            var super = default(Superblock);
            bool isUnused = file.TryLockByte(OwnerTable.GateByte) && !file.IsByteLockedByOther(OwnerTable.GateByte + 1, StoreLayout.MaxOwners)
                && file.Read(0, new Span<byte>(&super, sizeof(Superblock))) == sizeof(Superblock) && super.State == Superblock.StateInUse;
            if (isUnused && file.IsStillAt(file.Path))
            {
                platform.Delete(file.Path);
                return true;
            }
        }
        catch (Exception e) when (e is IOException or UnauthorizedAccessException)
        {
            // The first failure is the one to report.
        }

        return false;
    }

    /// <summary>Returns the layout of a new store and its initial number of segments.</summary>
    public static StoreLayout Plan(StoreOptions options, out int segments)
    {
        StoreLayout layout = StoreLayout.Plan(options.PlannedCapacityBytes, options.AverageEntryBytes);
        segments = layout.SegmentsWithin(options.CapacityBytes);
        int needed = layout.PartitionCount * (StoreLayout.ReservedSegmentsPerPartition + 2);
        if (segments < needed)
        {
            throw new ArgumentOutOfRangeException(
                nameof(options),
                options.CapacityBytes,
                $"{nameof(StoreOptions)}.{nameof(StoreOptions.CapacityBytes)} must be at least {ByteText.AtLeast(layout.FileBytes(needed))} in a store " +
                $"that may grow to {ByteText.Of(options.PlannedCapacityBytes)}: its index alone, for entries of {ByteText.Of(options.AverageEntryBytes)}, takes {ByteText.Of(layout.SegmentsOffset)}.");
        }

        return layout;
    }

    /// <summary>Creates a store that is complete except for its name. It is encrypted if there is a key block.</summary>
    public static StoreFile CreateUnpublished(
        StorePlatform platform, string path, StoreLayout layout, int segments, TimeProvider clock, ulong hashSeed, KeyBlock? key = null,
        bool reservesSpace = true)
    {
        StoreFile file = platform.CreateUnnamed(Path.GetDirectoryName(path)!, Path.GetFileName(path));
        try
        {
            bool isSparse = !reservesSpace && file.TryExtend(layout.FileBytes(segments));
            file.Preallocate(0, isSparse ? layout.GhostsOffset : layout.FileBytes(segments)); // FileBacking I1.
            using MappedRegion region = file.Map(layout.FileBytes(segments), writable: true);
            if (isSparse && !region.Populate(0, StoreLayout.PageBytes, write: true))
            {
                file.Preallocate(0, layout.FileBytes(segments)); // Without this call of the system, FileBacking I2 would not hold.
            }

            var super = (Superblock*)region.Address;
            WriteLayout(super, layout);
            super->SegmentCount = segments;
            if (key is { } block)
            {
                StoreKeys.Write(super, block);
            }

            Initialise(super, layout, clock, platform.BootId, hashSeed);
            super->State = Superblock.StateInUse;
            region.Flush(0, StoreLayout.SuperblockBytes);
            return file;
        }
        catch
        {
            file.Dispose();
            throw;
        }
    }

    /// <summary>Empties a store that no other process has open. If this is interrupted, the next opening starts from the beginning.</summary>
    public static void Reset(StoreFile file, MappedRegion region, StoreLayout layout, StoreOptions options, string bootId)
    {
        var super = (Superblock*)region.Address;
        super->State = Superblock.StateResetting;

        // The recorded end can be older than the log. The cleanup after a dead owner would write at that position.
        super->Log = super->Log.Emptied(super->Log.LogId);
        super->HasUnwrittenPages = 0; // Every page that counts from here on is written again.
        StoreMemory.Flush(region, StoreLayout.SuperblockBytes);
        ProtocolHook.Reach(ProtocolStep.ResetStarted);
        file.ZeroRange(StoreLayout.SuperblockBytes, layout.SegmentsOffset - StoreLayout.SuperblockBytes);
        int segments = (int)Math.Min(layout.MaxSegments, (file.Length - layout.SegmentsOffset - StoreLayout.GuardBytes) / layout.SegmentBytes);
        super->SegmentCount = segments;
        super->CollectionCount = 0;
        super->OwnerHighWater = 0;
        super->HasOverflow = 0;
        Initialise(super, layout, options.TimeProvider, bootId, RandomBits.Next());
    }

    /// <summary>
    /// Replaces a store that is being emptied by a larger one, because it has no room for the content of its log. The new store is also marked as being
    /// emptied. So the process that opens it rebuilds it from the same log. The caller holds the gate of the old one.
    /// </summary>
    public static void Enlarge(StorePlatform platform, StoreOptions options, string path, Superblock* old)
    {
        StoreLayout layout = StoreLayout.Plan(options.PlannedCapacityBytes, options.AverageEntryBytes);
        int least = Math.Min(layout.MaxSegments, layout.PartitionCount * (StoreLayout.ReservedSegmentsPerPartition + 2));
        int segments = Math.Max(least, layout.SegmentsWithin(options.CapacityBytes));
        using StoreFile file = CreateUnpublished(platform, path, layout, segments, options.TimeProvider, RandomBits.Next(), StoreKeys.Require(old, path));
        file.Write(Marshal.OffsetOf<Superblock>(nameof(Superblock.State)), BitConverter.GetBytes(Superblock.StateResetting));
        LogBlock log = old->Log.Emptied(old->Log.LogId);
        file.Write(Marshal.OffsetOf<Superblock>(nameof(Superblock.Log)), MemoryMarshal.AsBytes(new ReadOnlySpan<LogBlock>(in log)));
        file.FlushData();
        platform.TryPublish(file, path, replace: true, "The larger store");
    }

    public static void WriteBootId(Superblock* super, string bootId)
    {
        var target = new Span<byte>(super->BootId, Superblock.BootIdBytes);
        target.Clear();
        System.Text.Encoding.ASCII.GetBytes(bootId.AsSpan(0, Math.Min(bootId.Length, target.Length)), target);
    }

    /// <summary>
    /// Returns a version above every version of an earlier content of the store, so that no compare-and-swap succeeds by accident. A partition creates
    /// fewer than 65,536 versions in a millisecond.
    /// </summary>
    public static ulong FirstVersion(long nowUnixMs) => (ulong)Math.Clamp(nowUnixMs, 1, 1L << 47) << 16;

    public static string BootIdOf(Superblock* super)
    {
        var bytes = new ReadOnlySpan<byte>(super->BootId, Superblock.BootIdBytes);
        int end = bytes.IndexOf((byte)0);
        return System.Text.Encoding.ASCII.GetString(end < 0 ? bytes : bytes[..end]);
    }

    public static ulong LayoutCheck(Superblock* super) =>
        KeyHash.Compute((byte*)super, (int)((byte*)&super->LayoutCheck - (byte*)super), 0);

    /// <summary>Computes the checksum of the data that locates entries, except for the index: partition blocks and segment headers.</summary>
    public static ulong ClosedCheck(byte* partitionBlocks, SegmentHeader* segmentHeaders, StoreLayout layout)
    {
        ulong partitions = KeyHash.Compute(partitionBlocks, layout.PartitionCount * layout.PartitionBlockBytes, 1);
        ulong headers = 0;
        for (int segment = 0; segment < layout.MaxSegments; segment += 1024)
        {
            headers = KeyHash.Compute(
                (byte*)(segmentHeaders + segment), Math.Min(1024, layout.MaxSegments - segment) * StoreLayout.SegmentHeaderBytes, headers);
        }

        return KeyHash.Fold(partitions ^ 0x9E37_79B9_7F4A_7C15, headers);
    }

    private static void WriteLayout(Superblock* super, StoreLayout layout)
    {
        super->Magic = Superblock.ExpectedMagic;
        super->FormatVersion = Superblock.CurrentVersion;
        super->MaxCapacityBytes = layout.MaxCapacityBytes;
        super->AverageEntryBytes = layout.AverageEntryBytes;
        super->SegmentBytes = layout.SegmentBytes;
        super->PartitionCount = layout.PartitionCount;
        super->MaxSegments = layout.MaxSegments;
    }

    // All areas are zero: free segments, empty slots, no ghosts. This method sets the fields that must not be zero.
    private static void Initialise(Superblock* super, StoreLayout layout, TimeProvider clock, string bootId, ulong hashSeed)
    {
        long now = clock.GetUtcNow().ToUnixTimeMilliseconds();
        super->HashSeed = hashSeed;
        super->StoreId = RandomBits.Next();
        super->CreatedUnixMs = now;
        super->LayoutCheck = LayoutCheck(super);
        WriteBootId(super, bootId);

        byte* address = (byte*)super;
        int segment = 0;
        for (int number = 0; number < layout.PartitionCount; number++)
        {
            var partition = (PartitionBlock*)(address + layout.PartitionsOffset + ((long)number * layout.PartitionBlockBytes));
            partition->Magic = PartitionBlock.ExpectedMagic;

            partition->Version = FirstVersion(now);
            for (uint collection = 0; collection < StoreLayout.MaxCollections; collection++)
            {
                PartitionBlock.Watermark(partition, collection)[1] = ~0UL;
            }

            for (int i = 0; i < StoreLayout.ReservedSegmentsPerPartition; i++, segment++)
            {
                var header = (SegmentHeader*)(address + layout.SegmentHeadersOffset) + segment;
                header->StateWord = SegmentHeader.Word(SegmentState.Spare, 0, number);
                header->RunLength = 1;
                header->Next = partition->SpareHead;
                partition->SpareHead = segment + 1;
                partition->SpareCount++;
                partition->SegmentCount++;
            }
        }

        super->FreeWord = super->SegmentCount - segment;
        super->FreeHint = segment;
    }
}
