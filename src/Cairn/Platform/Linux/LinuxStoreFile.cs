using Microsoft.Win32.SafeHandles;

namespace Cairn.Platform.Linux;

/// <summary>
/// A file with its descriptor. Locks belong to the open file description (F_OFD_SETLK). So two StoreFiles of one process exclude each other. When one is
/// closed, the locks of the other stay, unlike with POSIX locks.
/// </summary>
internal sealed unsafe class LinuxStoreFile : SystemFile
{
    // A signal makes some file systems undo a step. The steps are small, so that signals cannot prevent all progress.
    private const long AllocationStepBytes = 64L << 20;
    private const int ZeroStepBytes = 1 << 20;

    private readonly SafeFileHandle _handle;
    private readonly LinuxNative.FileStatus _statusAtOpening;
    private string _path;

    private bool _isPublished;

    /// <summary>Creates the object for an open descriptor.</summary>
    /// <param name="handle">The descriptor. This object owns it from now on.</param>
    /// <param name="path">The file's path, or its intended path.</param>
    /// <param name="isPublished">Whether the file already has that path.</param>
    /// <param name="temporaryName">The hidden name of a file that is not published yet, if it has one.</param>
    public LinuxStoreFile(SafeFileHandle handle, string path, bool isPublished, string? temporaryName = null)
    {
        _handle = handle;
        _path = path;
        _isPublished = isPublished;
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

    public bool IsRegularFile => (_statusAtOpening.Mode & LinuxNative.FileTypeMask) == LinuxNative.RegularFile;

    public bool IsDirectory => (_statusAtOpening.Mode & LinuxNative.FileTypeMask) == LinuxNative.Directory;

    public override bool IsStillAt(string path) =>
        LinuxNative.StatPath(System.IO.Path.GetFullPath(path), flags: 0, out LinuxNative.FileStatus status) == 0 &&
        status.Identity == Identity;

    // ---- The name -------------------------------------------------------------------------------------------------

    public override bool TryPublish(string path, bool replace)
    {
        if (_isPublished)
        {
            throw new InvalidOperationException($"The file '{_path}' already has its name.");
        }

        path = System.IO.Path.GetFullPath(path);
        int error;
        if (replace)
        {
            path = new FileInfo(path) is { LinkTarget: not null } link
                ? link.ResolveLinkTarget(returnFinalTarget: true)!.FullName
                : path;
            error = Replace(path);
        }
        else
        {
            error = TemporaryName is null ? LinkTo(path) : RenameTo(path);
        }

        if (error == LinuxErrors.Exists && !replace)
        {
            return false;
        }

        if (error != 0)
        {
            throw LinuxErrors.CreateIn(System.IO.Path.GetDirectoryName(path) ?? "/", System.IO.Path.GetFileName(path), error);
        }

        _path = path;
        TemporaryName = null;
        _isPublished = true;
        UnlockByte(CreatorLockByte);
        return true;
    }

    // The owner is changed first, because a change of the owner clears bits of the mode.
    public override void KeepPermissionsOf(string path)
    {
        if (LinuxNative.StatPath(path, flags: 0, out LinuxNative.FileStatus old) != 0)
        {
            return;
        }

        LinuxNative.FileStatus own = Status();
        bool hasItsOwner = (own.User == old.User && own.Group == old.Group) ||
            LinuxNative.ChangeOwner(_handle, old.User, old.Group) == 0;

        // Permissions for the group of the old file must not be given to another group.
        uint mode = old.Mode & (hasItsOwner ? LinuxNative.PermissionMask : ~0b000_111_000u & LinuxNative.PermissionMask);
        _ = LinuxNative.ChangeMode(_handle, mode);
    }

    // ---- The space ------------------------------------------------------------------------------------------------

    public override void Preallocate(long offset, long length)
    {
        ArgumentOutOfRangeException.ThrowIfNegative(offset);
        ArgumentOutOfRangeException.ThrowIfNegative(length);
        if (length == 0)
        {
            return;
        }

        long end = checked(offset + length);
        LinuxNative.FileStatus before = Status();
        long lengthBefore = before.Size;
        long missing = end - Math.Min(lengthBefore, before.Blocks * LinuxNative.BlockBytes);
        int error = end > lengthBefore && IsBeyondSizeLimit(end) ? LinuxErrors.FileTooBig
            : IsBeyondFreeMemory(missing, out long free) ? throw LinuxErrors.NoRoom(_path, missing, free, LinuxErrors.NoMemory)
            : Allocate(offset, end);
        if (error is LinuxErrors.NotSupported or LinuxErrors.NoSystemCall or LinuxErrors.Invalid)
        {
            error = FillHoles(offset, end, lengthBefore);
        }

        if (error == 0)
        {
            return;
        }

        if (end > lengthBefore)
        {
            // Releases the space past the earlier end. No process can be using it (see the remarks of the declaration).
            _ = LinuxNative.Truncate(_handle, lengthBefore);
        }

        long? available = LinuxNative.StatFileSystem(_handle, out LinuxNative.FileSystemStatus status) == 0
            ? status.AvailableBlocks * status.BlockBytes
            : null;
        throw LinuxErrors.NoRoom(_path, length, available, error);
    }

    // Not in memory file systems: they give a hole its page when it is read, and a read that finds no room would end the process.
    public override bool TryExtend(long length) =>
        LinuxNative.StatFileSystem(_handle, out LinuxNative.FileSystemStatus status) == 0 && !LinuxFileSystems.IsMemory(status.Type)
        && !IsBeyondSizeLimit(length)
        && LinuxNative.Allocate(_handle, LinuxNative.KeepSize, 0, 1) == 0
        && LinuxNative.Truncate(_handle, length) == 0;

    public override bool HasHoles => Status() is var status && status.Blocks * LinuxNative.BlockBytes < status.Size;

    public override bool ReadsTakeSpace =>
        LinuxNative.StatFileSystem(_handle, out LinuxNative.FileSystemStatus status) == 0 && LinuxFileSystems.IsMemory(status.Type);

    public override bool TryFindHole(long offset, out long start, out long end)
    {
        long length = Length;
        start = LinuxNative.Seek(_handle, offset, LinuxNative.SeekHole);
        end = 0;
        if (start < 0 || start >= length)
        {
            return false;
        }

        end = LinuxNative.Seek(_handle, start, LinuxNative.SeekData);
        end = end < 0 ? length : Math.Min(end, length);
        return end > start;
    }

    public override bool TryBack(long offset, long length)
    {
        int error;
        do
        {
            error = LinuxNative.Allocate(_handle, LinuxNative.KeepSize, offset, length) == 0 ? 0 : LinuxNative.LastError;
        }
        while (error == LinuxErrors.Interrupted);

        // A file system without this call gave the file all its space when it was created, or gives space by rules of its own.
        return error is not (LinuxErrors.NoSpace or LinuxErrors.QuotaExceeded or LinuxErrors.FileTooBig or LinuxErrors.NoMemory);
    }

    public override void ZeroRange(long offset, long length)
    {
        ArgumentOutOfRangeException.ThrowIfNegative(offset);
        ArgumentOutOfRangeException.ThrowIfNegative(length);
        length = Math.Min(length, Length - offset);
        if (length <= 0)
        {
            return;
        }

        int error;
        do
        {
            error = LinuxNative.Allocate(_handle, LinuxNative.ZeroRange | LinuxNative.KeepSize, offset, length) == 0
                ? 0
                : LinuxNative.LastError;
        }
        while (error == LinuxErrors.Interrupted);

        if (error != 0)
        {
            // Punching a hole and allocating it again would be faster on tmpfs. But meanwhile another process could take the space, and the next access
            // through a mapping would kill this process (P2).
            error = WriteZeros(offset, offset + length);
        }

        if (error != 0)
        {
            throw LinuxErrors.NoRoom(_path, length, bytesAvailable: null, error);
        }
    }

    // ---- The mappings ---------------------------------------------------------------------------------------------

    public override MappedRegion Map(long length, bool writable) =>
        Map(length, LinuxNative.ProtectRead | (writable ? LinuxNative.ProtectWrite : 0), LinuxNative.MapShared);

    // The mapping reserves no space for the pages that will be written, because they are few.
    public override MappedRegion MapCopy(long length) =>
        Map(length, LinuxNative.ProtectRead | LinuxNative.ProtectWrite, LinuxNative.MapPrivate | LinuxNative.MapNoReserve);

    private MappedRegion Map(long length, int protection, int kind)
    {
        ArgumentOutOfRangeException.ThrowIfNegativeOrZero(length);
        return Add(() => LinuxMappedRegion.Map(_handle, _path, length, protection, kind));
    }

    // ---- The locks ------------------------------------------------------------------------------------------------

    public override bool TryLockRange(long offset, long length)
    {
        int error = SetLock(LinuxNative.WriteLock, offset, length);
        return error switch
        {
            0 => true,
            LinuxErrors.TryAgain or LinuxErrors.AccessDenied => false,
            LinuxErrors.BadDescriptor => throw new StoreException(
                $"The store '{_path}' was opened for reading only; its locks need it writable."),
            LinuxErrors.NoLocks => throw new StoreException(
                $"The store '{_path}' could not be locked: the kernel has no memory for another lock."),
            _ => throw LinuxErrors.Failed($"The store '{_path}' could not be locked", error),
        };
    }

    public override void UnlockRange(long offset, long length)
    {
        int error = SetLock(LinuxNative.Unlock, offset, length);
        if (error != 0)
        {
            throw LinuxErrors.Failed($"A lock of the store '{_path}' could not be released", error);
        }
    }

    public override bool IsByteLockedByOther(long offset, long length)
    {
        ArgumentOutOfRangeException.ThrowIfNegative(offset);
        ArgumentOutOfRangeException.ThrowIfNegativeOrZero(length);

        // Asks which lock would conflict with a write lock. A lock of this file never conflicts. If there is none, the kernel changes the type.
        var probe = new LinuxNative.FileLock { Type = LinuxNative.WriteLock, Start = offset, Length = length };
        int error;
        do
        {
            error = LinuxNative.Lock(_handle, LinuxNative.OfdGetLock, ref probe) == 0 ? 0 : LinuxNative.LastError;
        }
        while (error == LinuxErrors.Interrupted);

        return error == 0 ? probe.Type != LinuxNative.Unlock : throw LinuxErrors.Failed($"The locks of the store '{_path}' could not be read", error);
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
                nint count = LinuxNative.Read(_handle, start + total, (nuint)(buffer.Length - total), offset + total);
                if (count == 0)
                {
                    break;
                }

                if (count > 0)
                {
                    total += (int)count;
                }
                else if (LinuxNative.LastError is var error and not LinuxErrors.Interrupted)
                {
                    throw LinuxErrors.Failed($"Reading the store '{_path}' at byte {offset + total} failed", error);
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
            if (error is LinuxErrors.NoSpace or LinuxErrors.QuotaExceeded or LinuxErrors.FileTooBig)
            {
                throw LinuxErrors.NoRoom(_path, data.Length, bytesAvailable: null, error);
            }

            if (error != 0)
            {
                throw LinuxErrors.Failed($"Writing the store '{_path}' at byte {offset} failed", error);
            }
        }
    }

    public override void FlushData()
    {
        if (Sync(_handle) is var error and not 0)
        {
            throw FileFailures.NotFlushed($"the store '{_path}'", LinuxErrors.Text(error));
        }
    }

    /// <summary>Flushes a file to the disk. Returns the error, or 0.</summary>
    internal static int Sync(SafeFileHandle handle)
    {
        int error;
        do
        {
            error = LinuxNative.SyncData(handle) == 0 ? 0 : LinuxNative.LastError;
        }
        while (error == LinuxErrors.Interrupted);

        return error;
    }

    protected override void Close(string? abandoned)
    {
        if (abandoned is not null)
        {
            _ = LinuxNative.Unlink(abandoned);
        }

        _handle.Dispose();
    }

    // ---- Steps ----------------------------------------------------------------------------------------------------

    private LinuxNative.FileStatus Status()
    {
        int error = LinuxNative.StatFile(_handle, out LinuxNative.FileStatus status);
        return error == 0
            ? status
            : throw LinuxErrors.Failed($"The state of the store '{_path}' could not be read", error);
    }

    private int SetLock(short type, long offset, long length)
    {
        ArgumentOutOfRangeException.ThrowIfNegative(offset);
        ArgumentOutOfRangeException.ThrowIfNegativeOrZero(length);
        var fileLock = new LinuxNative.FileLock { Type = type, Start = offset, Length = length };
        int error;
        do
        {
            error = LinuxNative.Lock(_handle, LinuxNative.OfdSetLock, ref fileLock) == 0 ? 0 : LinuxNative.LastError;
        }
        while (error == LinuxErrors.Interrupted);

        return error;
    }

    // A file without a name gets its first name by a link to its descriptor. Without /proc, a privileged process still can do that.
    private int LinkTo(string path)
    {
        bool hasReference = false;
        try
        {
            _handle.DangerousAddRef(ref hasReference);
            int descriptor = (int)_handle.DangerousGetHandle();
            string source = string.Create(CultureInfo.InvariantCulture, $"/proc/self/fd/{descriptor}");
            if (LinuxNative.Link(
                LinuxNative.CurrentDirectory, source, LinuxNative.CurrentDirectory, path, LinuxNative.SymlinkFollow) == 0)
            {
                return 0;
            }

            int error = LinuxNative.LastError;
            return error == LinuxErrors.NoEntry &&
                LinuxNative.Link(
                    descriptor, "", LinuxNative.CurrentDirectory, path, LinuxNative.EmptyPath) == 0
                ? 0
                : error;
        }
        finally
        {
            if (hasReference)
            {
                _handle.DangerousRelease();
            }
        }
    }

    private int RenameTo(string path)
    {
        int error = LinuxNative.RenameWithoutReplacing(TemporaryName!, path);
        if (error is not (LinuxErrors.Invalid or LinuxErrors.NoSystemCall))
        {
            return error;
        }

        // The file system cannot rename without replacing, but a hard link never replaces.
        if (LinuxNative.Link(
            LinuxNative.CurrentDirectory, TemporaryName!, LinuxNative.CurrentDirectory, path, flags: 0) != 0)
        {
            return LinuxNative.LastError;
        }

        _ = LinuxNative.Unlink(TemporaryName!); // If this fails, a second, hidden name stays. The file is complete.
        return 0;
    }

    // A rename replaces in one step, but it needs an existing name. While the file has that temporary name, its creator byte is locked. So if the process
    // dies meanwhile, another process can recognize the file and delete it.
    private int Replace(string path)
    {
        KeepPermissionsOf(path);
        if (TemporaryName is null)
        {
            if (!TryLockByte(CreatorLockByte))
            {
                throw new InvalidOperationException($"The creator byte of '{path}' is locked by another process.");
            }

            string directory = System.IO.Path.GetDirectoryName(path) ?? "/";
            string temporary;
            int error;
            do
            {
                temporary = TemporaryNames.Create(directory, System.IO.Path.GetFileName(path));
                error = LinkTo(temporary);
            }
            while (error == LinuxErrors.Exists);

            if (error != 0)
            {
                return error;
            }

            TemporaryName = temporary;
        }

        return LinuxNative.Rename(TemporaryName, path) == 0 ? 0 : LinuxNative.LastError;
    }

    // Reserves the space first, also past the end. Sets the length only when all of the space is reserved.
    private int Allocate(long offset, long end)
    {
        for (long start = offset; start < end;)
        {
            long step = Math.Min(AllocationStepBytes, end - start);
            int error = LinuxNative.Allocate(_handle, LinuxNative.KeepSize, start, step) == 0
                ? 0
                : LinuxNative.LastError;
            if (error == 0)
            {
                start += step;
            }
            else if (error != LinuxErrors.Interrupted)
            {
                return error;
            }
        }

        int result;
        do
        {
            result = LinuxNative.Allocate(_handle, 0, end - 1, 1) == 0 ? 0 : LinuxNative.LastError;
        }
        while (result == LinuxErrors.Interrupted);

        return result;
    }

    // The kernel lets a file in memory grow until it kills other programs to make room. So the free memory must be checked first.
    private bool IsBeyondFreeMemory(long bytes, out long free)
    {
        free = long.MaxValue;
        if (LinuxNative.StatFileSystem(_handle, out LinuxNative.FileSystemStatus status) == 0 && LinuxFileSystems.IsMemory(status.Type))
        {
            free = StorePlatform.FreeMemoryOverride ?? LinuxMemoryLimit.FindFree("/") ?? long.MaxValue;
        }

        return bytes > free;
    }

    // Writes zeros if the file system cannot reserve space. Existing data must stay, so within the old length only holes are written. No process uses them
    // yet.
    private int FillHoles(long offset, long end, long lengthBefore)
    {
        long within = Math.Min(end, lengthBefore);
        for (long position = offset; position < within && TryFindHole(position, out long hole, out long holeEnd) && hole < within; position = holeEnd)
        {
            if (WriteZeros(hole, Math.Min(holeEnd, within)) is var error and not 0)
            {
                return error;
            }
        }

        return WriteZeros(Math.Max(offset, lengthBefore), end);
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

    // Beyond the limit on file sizes the kernel refuses the write and also sends SIGXFSZ. The runtime does not handle that signal, so it ends the process.
    // Therefore the limit is checked before each write or growth.
    internal static bool IsBeyondSizeLimit(long end) =>
        LinuxNative.GetLimit(LinuxNative.FileSizeLimit, out LinuxNative.Limits limits) == 0 && (ulong)end > limits.Soft;

    private int WriteAll(long offset, byte* source, int length)
    {
        if (IsBeyondSizeLimit(offset + length))
        {
            return LinuxErrors.FileTooBig;
        }

        for (int done = 0; done < length;)
        {
            // In bounds: at most the rest of the source.
            nint count = LinuxNative.Write(_handle, source + done, (nuint)(length - done), offset + done);
            if (count >= 0)
            {
                done += (int)count;
            }
            else if (LinuxNative.LastError is var error and not LinuxErrors.Interrupted)
            {
                return error;
            }
        }

        return 0;
    }
}
