using Cairn.Encryption;
using Cairn.Opening;
using Cairn.Platform;

namespace Cairn.Offline;

// Checks the first page, which is necessary to find anything else. An opening stops at the first problem. This check continues as far as possible.
internal static unsafe class SuperblockCheck
{
    /// <summary>Returns an image of the store with its layout. Null if the layout cannot be determined; the findings contain the reason.</summary>
    public static StoreImage? Read(StoreFile file, NativeBuffer page, FindingList findings)
    {
        long length = file.Length;
        var super = (Superblock*)page.ReserveCleared(StoreLayout.SuperblockBytes);
        int read;
        try
        {
            read = file.Read(0, new Span<byte>(super, StoreLayout.SuperblockBytes));
        }
        catch (StoreException failure)
        {
            findings.Damage(VerifyArea.Superblock, 0, $"The first page cannot be read: {failure.Message}");
            return null;
        }

        if (read < StoreLayout.SuperblockBytes || super->Magic != Superblock.ExpectedMagic)
        {
            findings.Damage(
                VerifyArea.Superblock, 0,
                length == 0 ? "The file is empty. Opening it makes it a new store."
                    : read < StoreLayout.SuperblockBytes ? $"The file has only {length:N0} bytes; not even the first page of a store is there."
                    : $"The file does not begin with the mark of a store: 0x{super->Magic:X16} instead of 0x{Superblock.ExpectedMagic:X16}.");
            return null;
        }

        if (super->FormatVersion != Superblock.CurrentVersion)
        {
            findings.Damage(
                VerifyArea.Superblock, Offset(nameof(Superblock.FormatVersion)),
                $"The file has format version {super->FormatVersion}; this version of Cairn reads version {Superblock.CurrentVersion}.");
            return null;
        }

        if (super->LayoutCheck != StoreFormatter.LayoutCheck(super))
        {
            findings.Damage(
                VerifyArea.Superblock, Offset(nameof(Superblock.LayoutCheck)),
                $"The check of the layout is 0x{super->LayoutCheck:X16}; the layout gives 0x{StoreFormatter.LayoutCheck(super):X16}. Nothing else can be read.");
            return null;
        }

        if ((super->RequiredFeatures & ~Superblock.KnownFeatures) != 0)
        {
            findings.Damage(
                VerifyArea.Superblock, Offset(nameof(Superblock.RequiredFeatures)),
                $"The file needs the features 0x{super->RequiredFeatures:X}, which this version of Cairn does not know.");
            return null;
        }

        StoreLayout? layout = StoreLayout.Restore(
            super->MaxCapacityBytes, super->AverageEntryBytes, super->SegmentBytes, super->PartitionCount, super->MaxSegments);
        if (layout is null)
        {
            findings.Damage(VerifyArea.Superblock, Offset(nameof(Superblock.MaxCapacityBytes)), "The layout's numbers are impossible.");
            return null;
        }

        var image = new StoreImage(file, layout, super->HashSeed);
        int least = layout.PartitionCount * StoreLayout.ReservedSegmentsPerPartition;
        if (super->SegmentCount < least || super->SegmentCount > layout.MaxSegments)
        {
            findings.Damage(
                VerifyArea.Superblock, Offset(nameof(Superblock.SegmentCount)),
                $"The superblock counts {super->SegmentCount:N0} segments; there must be {least:N0} to {layout.MaxSegments:N0}.");
        }
        else if (length < layout.FileBytes(super->SegmentCount))
        {
            findings.Damage(
                VerifyArea.File, length,
                $"The file has {length:N0} bytes and was cut off: {super->SegmentCount:N0} segments need {layout.FileBytes(super->SegmentCount):N0}. {image.SegmentCount:N0} of them are whole.");
        }

        return image;
    }

    /// <summary>Checks the fields that show whether the content can be trusted.</summary>
    /// <param name="super">The first page. This method reads it again.</param>
    /// <param name="image">The file.</param>
    /// <param name="bootId">The present boot id of the machine.</param>
    /// <param name="findings">Receives the findings.</param>
    /// <param name="cancellationToken">Ends the check.</param>
    public static void CheckState(Superblock* super, StoreImage image, string bootId, FindingList findings, CancellationToken cancellationToken)
    {
        // A process that opens or closes the store changes the state under the gate. So if the gate is free and there is an owner, both before and after
        // the read, the store must be marked as in use.
        bool isOpening = OwnerCheck.IsGateTaken(image);
        bool isOpen = OwnerCheck.HasOpeningOrGate(image);
        image.TryRead(0, super, StoreLayout.SuperblockBytes, cancellationToken);
        bool isInUse = isOpen || OwnerCheck.HasOpeningOrGate(image);
        bool isSurelyOpen = isOpen && !isOpening && OwnerCheck.HasOpeningOrGate(image) && !OwnerCheck.IsGateTaken(image);

        long at = Offset(nameof(Superblock.State));
        switch (super->State)
        {
            case Superblock.StateInUse when !isInUse && StoreFormatter.BootIdOf(super) != bootId:
                findings.Note(
                    VerifyArea.Superblock, at,
                    "The machine restarted before the store was closed, so its content cannot be trusted: the next opening empties it.");
                break;

            case Superblock.StateInUse:
                break;

            case Superblock.StateClosed when isSurelyOpen:
                findings.Damage(VerifyArea.Superblock, at, "The store is marked as closed, but a process has it open.");
                break;

            case Superblock.StateClosed when !isInUse:
                CheckClosed(super, image, findings, cancellationToken);
                break;

            case Superblock.StateClosed:
                break;

            case Superblock.StateResetting when !isInUse:
                findings.Leftover(VerifyArea.Superblock, at, "The emptying of the store was interrupted; the next opening repeats it.");
                break;

            case Superblock.StateResetting:
                break;

            default:
                findings.Damage(VerifyArea.Superblock, at, $"The state is {super->State}, which does not exist.");
                break;
        }

        if (super->CollectionCount is < 0 or >= StoreLayout.MaxCollections)
        {
            findings.Damage(
                VerifyArea.Superblock, Offset(nameof(Superblock.CollectionCount)),
                $"The superblock counts {super->CollectionCount} collections; there can be 0 to {StoreLayout.MaxCollections - 1}.");
        }

        if ((super->RequiredFeatures & Superblock.FeatureEncryption) != 0 && StoreKeys.Find(super) is null)
        {
            findings.Damage(
                VerifyArea.Superblock, Offset(nameof(Superblock.FirstKey)),
                "The store is encrypted, and its key is damaged: nothing in it can be decrypted.");
        }

        if (super->OwnerHighWater is < 0 or > StoreLayout.MaxOwners)
        {
            findings.Damage(
                VerifyArea.Superblock, Offset(nameof(Superblock.OwnerHighWater)),
                $"The highest owner slot is {super->OwnerHighWater}; it can be 0 to {StoreLayout.MaxOwners}.");
        }
    }

    private static void CheckClosed(Superblock* super, StoreImage image, FindingList findings, CancellationToken cancellationToken)
    {
        StoreLayout layout = image.Layout;
        using var partitions = new NativeBuffer();
        using var headers = new NativeBuffer();
        long partitionBytes = (long)layout.PartitionCount * layout.PartitionBlockBytes;
        long headerBytes = (long)layout.MaxSegments * StoreLayout.SegmentHeaderBytes;
        if (image.TryRead(layout.PartitionsOffset, partitions.Reserve(partitionBytes), partitionBytes, cancellationToken)
            && image.TryRead(layout.SegmentHeadersOffset, headers.Reserve(headerBytes), headerBytes, cancellationToken))
        {
            // If another process has opened the store meanwhile, it has raised OpenCount.
            ulong check = StoreFormatter.ClosedCheck(partitions.Start, (SegmentHeader*)headers.Start, layout);
            bool isStillClosed = image.TryReadUInt64(Offset(nameof(Superblock.OpenCount)), out ulong openCount) && openCount == super->OpenCount
                && !OwnerCheck.HasOpeningOrGate(image);
            if (check != super->ClosedCheck && isStillClosed)
            {
                findings.Damage(
                    VerifyArea.Superblock, Offset(nameof(Superblock.ClosedCheck)),
                    $"Partitions and segment headers were changed since the store was closed: their check was 0x{super->ClosedCheck:X16} and is 0x{check:X16}.");
            }
        }
    }

    private static long Offset(string field) => Marshal.OffsetOf<Superblock>(field);
}
