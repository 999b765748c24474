// A file with its descriptor. Locks belong to the open file description: two StoreFiles of one process exclude each other. F_OFD_SETLK is in Apple's public
// headers since 2023 and in its kernel since OS X 10.11. The locks end when the last descriptor is closed, even if mappings remain.
using Microsoft.Win32.SafeHandles;

namespace Cairn.Platform.MacOs;

internal sealed unsafe class MacStoreFile : SystemFile
{
    private const int ZeroStepBytes = 1 << 20;

    private readonly SafeFileHandle _handle;
    private readonly MacNative.FileStatus _statusAtOpening;
    private string _path;

    /// <summary>Creates the object for an open descriptor.</summary>
    /// <param name="handle">The descriptor. This object owns it from now on.</param>
    /// <param name="path">The file's path, or its intended path.</param>
    /// <param name="temporaryName">The hidden name of a file that is not published yet.</param>
    public MacStoreFile(SafeFileHandle handle, string path, string? temporaryName = null)
    {
        _handle = handle;
        _path = path;
        TemporaryName = temporaryName;
        try
        {
            _statusAtOpening = Status();
        }
        catch
        {
            handle.Dispose();
            throw;
        }
    }

    public override string Path => _path;

    public override long Length => Status().Size;

    public override FileIdentity Identity => _statusAtOpening.Identity;

    public bool IsRegularFile => (_statusAtOpening.Mode & MacNative.FileTypeMask) == MacNative.RegularFile;

    public bool IsDirectory => (_statusAtOpening.Mode & MacNative.FileTypeMask) == MacNative.Directory;

    public override bool IsStillAt(string path) =>
        MacNative.StatPath(System.IO.Path.GetFullPath(path), out MacNative.FileStatus status) == 0 && status.Identity == Identity;

    // ---- The name -------------------------------------------------------------------------------------------------

    public override bool TryPublish(string path, bool replace)
    {
        if (TemporaryName is null)
        {
            throw new InvalidOperationException($"The file '{_path}' already has its name.");
        }

        path = System.IO.Path.GetFullPath(path);
        if (replace)
        {
            path = new FileInfo(path) is { LinkTarget: not null } link
                ? link.ResolveLinkTarget(returnFinalTarget: true)!.FullName
                : path;
            KeepPermissionsOf(path);
        }

        int error = replace
            ? MacNative.Rename(TemporaryName, path) == 0 ? 0 : MacNative.LastError
            : RenameWithoutReplacing(TemporaryName, path);
        if (error == MacErrors.Exists && !replace)
        {
            return false;
        }

        if (error != 0)
        {
            throw MacErrors.Create(path, error);
        }

        _path = path;
        TemporaryName = null;
        UnlockByte(CreatorLockByte);
        return true;
    }

    // The owner is changed first, because a change of the owner clears bits of the mode.
    public override void KeepPermissionsOf(string path)
    {
        if (MacNative.StatPath(path, out MacNative.FileStatus old) != 0)
        {
            return;
        }

        MacNative.FileStatus own = Status();
        bool hasItsOwner = (own.User == old.User && own.Group == old.Group) || MacNative.ChangeOwner(_handle, old.User, old.Group) == 0;

        // Permissions for the group of the old file must not be given to another group.
        int mode = old.Mode & (hasItsOwner ? MacNative.PermissionMask : ~0b000_111_000 & MacNative.PermissionMask);
        _ = MacNative.ChangeMode(_handle, (ushort)mode);
    }

    // ---- The space ------------------------------------------------------------------------------------------------

    // Reserves the space first, past the end. Sets the length only when the space is reserved. The file has no holes to fill, because it has only grown in
    // this way.
    public override void Preallocate(long offset, long length)
    {
        ArgumentOutOfRangeException.ThrowIfNegative(offset);
        ArgumentOutOfRangeException.ThrowIfNegative(length);
        long end = checked(offset + length);
        MacNative.FileStatus before = Status();
        if (length == 0 || end <= before.Size)
        {
            return;
        }

        // Space beyond the end counts if an earlier, incomplete attempt has already allocated it.
        long missing = end - Math.Max(before.Size, before.Blocks * 512);
        int error = missing <= 0 ? 0 : Allocate(missing);
        if (error is MacErrors.NotSupported or MacErrors.Invalid)
        {
            error = WriteZeros(before.Size, end); // If the file system cannot reserve space, writing zeros reserves it.
        }

        if (error == 0 && MacNative.Truncate(_handle, end) != 0)
        {
            error = MacNative.LastError;
        }

        if (error != 0)
        {
            _ = MacNative.Truncate(_handle, before.Size); // Releases the space past the earlier end.
            long? available = MacNative.StatFileSystem(_handle, out MacNative.FileSystemStatus status) == 0
                ? status.AvailableBlocks * status.BlockBytes
                : null;
            throw MacErrors.NoRoom(_path, length, available, error);
        }
    }

    public override void ZeroRange(long offset, long length)
    {
        ArgumentOutOfRangeException.ThrowIfNegative(offset);
        ArgumentOutOfRangeException.ThrowIfNegative(length);
        length = Math.Min(length, Length - offset);
        if (length > 0 && WriteZeros(offset, offset + length) is var error and not 0)
        {
            throw MacErrors.NoRoom(_path, length, bytesAvailable: null, error);
        }
    }

    // ---- The mappings ---------------------------------------------------------------------------------------------

    public override MappedRegion Map(long length, bool writable) =>
        Map(length, MacNative.ProtectRead | (writable ? MacNative.ProtectWrite : 0), MacNative.MapShared);

    public override MappedRegion MapCopy(long length) =>
        Map(length, MacNative.ProtectRead | MacNative.ProtectWrite, MacNative.MapPrivate | MacNative.MapNoReserve);

    private MappedRegion Map(long length, int protection, int kind)
    {
        ArgumentOutOfRangeException.ThrowIfNegativeOrZero(length);
        return Add(() => MacMappedRegion.Map(_handle, _path, length, protection, kind));
    }

    // ---- The locks ------------------------------------------------------------------------------------------------

    public override bool TryLockRange(long offset, long length)
    {
        int error = SetLock(MacNative.WriteLock, offset, length);
        return error switch
        {
            0 => true,
            MacErrors.TryAgain or MacErrors.AccessDenied => false,
            MacErrors.BadDescriptor => throw FileFailures.OpenedForReading(_path),
            MacErrors.Invalid or MacErrors.NotSupported => throw new PlatformNotSupportedException(
                $"The store '{_path}' cannot be locked: this version of macOS, or its file system, does not know locks of an open file (F_OFD_SETLK). Update " +
                "macOS, or put the store on a local disk (APFS)."),
            _ => throw MacErrors.Failed($"The store '{_path}' could not be locked", error),
        };
    }

    public override void UnlockRange(long offset, long length)
    {
        int error = SetLock(MacNative.Unlock, offset, length);
        if (error != 0)
        {
            throw MacErrors.Failed($"A lock of the store '{_path}' could not be released", error);
        }
    }

    public override bool IsByteLockedByOther(long offset, long length)
    {
        ArgumentOutOfRangeException.ThrowIfNegative(offset);
        ArgumentOutOfRangeException.ThrowIfNegativeOrZero(length);

        // Asks which lock would conflict with a write lock. A lock of this file never conflicts. If there is none, the kernel changes the type.
        var probe = new MacNative.FileLock { Type = MacNative.WriteLock, Start = offset, Length = length };
        return MacNative.Lock(_handle, MacNative.OfdGetLock, ref probe) == 0
            ? probe.Type != MacNative.Unlock
            : throw MacErrors.Failed($"The locks of the store '{_path}' could not be read", MacNative.LastError);
    }

    // ---- The bytes ------------------------------------------------------------------------------------------------

    public override int Read(long offset, Span<byte> buffer)
    {
        ArgumentOutOfRangeException.ThrowIfNegative(offset);
        int total = 0;
        fixed (byte* start = buffer)
        {
            while (total < buffer.Length)
            {
                // In bounds: at most the rest of the buffer.
                nint count = MacNative.Read(_handle, start + total, (nuint)(buffer.Length - total), offset + total);
                if (count == 0)
                {
                    break;
                }

                if (count > 0)
                {
                    total += (int)count;
                }
                else if (MacNative.LastError is var error and not MacErrors.Interrupted)
                {
                    throw MacErrors.Failed($"Reading the store '{_path}' at byte {offset + total} failed", error);
                }
            }
        }

        return total;
    }

    public override void Write(long offset, ReadOnlySpan<byte> data)
    {
        ArgumentOutOfRangeException.ThrowIfNegative(offset);
        fixed (byte* start = data)
        {
            int error = WriteAll(offset, start, data.Length);
            if (error is MacErrors.NoSpace or MacErrors.QuotaExceeded or MacErrors.FileTooBig)
            {
                throw MacErrors.NoRoom(_path, data.Length, bytesAvailable: null, error);
            }

            if (error != 0)
            {
                throw MacErrors.Failed($"Writing the store '{_path}' at byte {offset} failed", error);
            }
        }
    }

    public override void FlushData()
    {
        if (SyncFully(_handle) is var error and not 0)
        {
            throw FileFailures.NotFlushed($"the store '{_path}'", MacErrors.Text(error));
        }
    }

    protected override void Close(string? abandoned)
    {
        if (abandoned is not null)
        {
            _ = MacNative.Unlink(abandoned);
        }

        _handle.Dispose();
    }

    // ---- Steps ----------------------------------------------------------------------------------------------------

    /// <summary>
    /// Flushes a file to the disk, and flushes the disk's own cache if the file system can request that. Returns the error, or 0.
    /// </summary>
    internal static int SyncFully(SafeFileHandle handle)
    {
        while (true)
        {
            int error = MacNative.SyncFully(handle) >= 0 ? 0 : MacNative.LastError;
            if (error is MacErrors.NotSupported or MacErrors.Invalid)
            {
                error = MacNative.Sync(handle) == 0 ? 0 : MacNative.LastError;
            }

            if (error != MacErrors.Interrupted)
            {
                return error;
            }
        }
    }

    private MacNative.FileStatus Status() =>
        MacNative.StatFile(_handle, out MacNative.FileStatus status) == 0
            ? status
            : throw MacErrors.Failed($"The state of the store '{_path}' could not be read", MacNative.LastError);

    private int SetLock(short type, long offset, long length)
    {
        ArgumentOutOfRangeException.ThrowIfNegative(offset);
        ArgumentOutOfRangeException.ThrowIfNegativeOrZero(length);
        var fileLock = new MacNative.FileLock { Type = type, Start = offset, Length = length };
        int error;
        do
        {
            error = MacNative.Lock(_handle, MacNative.OfdSetLock, ref fileLock) == 0 ? 0 : MacNative.LastError;
        }
        while (error == MacErrors.Interrupted);

        return error;
    }

    private int Allocate(long bytes)
    {
        var allocation = new MacNative.Allocation { Flags = MacNative.AllocateAll, From = MacNative.FromPhysicalEnd, Length = bytes };
        return MacNative.Allocate(_handle, ref allocation) >= 0 ? 0 : MacNative.LastError;
    }

    private static int RenameWithoutReplacing(string source, string target)
    {
        int error = MacNative.Rename(source, target, MacNative.RenameExclusive) == 0 ? 0 : MacNative.LastError;
        if (error is not (MacErrors.NotSupported or MacErrors.Invalid))
        {
            return error;
        }

        // The file system cannot rename without replacing, but a hard link never replaces.
        if (MacNative.Link(source, target) != 0)
        {
            return MacNative.LastError;
        }

        _ = MacNative.Unlink(source); // If this fails, a second, hidden name stays. The file is complete.
        return 0;
    }

    private int WriteZeros(long offset, long end)
    {
        byte[] zeros = new byte[(int)Math.Clamp(end - offset, 0, ZeroStepBytes)];
        fixed (byte* start = zeros)
        {
            while (offset < end)
            {
                int step = (int)Math.Min(zeros.Length, end - offset);
                if (WriteAll(offset, start, step) is var error and not 0)
                {
                    return error;
                }

                offset += step;
            }
        }

        return 0;
    }

    private int WriteAll(long offset, byte* source, int length)
    {
        for (int done = 0; done < length;)
        {
            // In bounds: at most the rest of the source.
            nint count = MacNative.Write(_handle, source + done, (nuint)(length - done), offset + done);
            if (count >= 0)
            {
                done += (int)count;
            }
            else if (MacNative.LastError is var error and not MacErrors.Interrupted)
            {
                return error;
            }
        }

        return 0;
    }
}
