// A file with its handle. It is opened so that others can open, rename and delete it.
//
// Locks are those of LockFileEx. They belong to the handle. So two StoreFiles of one process exclude each other. The locks are released when the handle is
// closed or the process ends, even if a view of the file remains. HeldRanges stores the additional state of the locks. The locks are mandatory, but the
// store locks bytes past the end of any file, which no process reads or writes. Locks never affect views.
//
//   I1  Every query of locks is made under the lock of _held. Windows grants a shared lock over an exclusive lock of the same handle. The first unlock
//       would then end the exclusive lock.
//
// Windows does not report the holder of a lock. IsByteLockedByOther tries a shared lock of each byte, which conflicts only with an exclusive lock. So
// processes that query at the same time do not count each other as owners. If another process tries to lock a byte at that moment, Windows refuses it. The
// store then takes another slot or tries again.
using System.Runtime.Versioning;
using System.Security.AccessControl;
using Microsoft.Win32.SafeHandles;

namespace Cairn.Platform.Windows;

[SupportedOSPlatform("windows")]
internal sealed unsafe class WindowsStoreFile : SystemFile
{
    private readonly SafeFileHandle _handle;
    private readonly FileStream? _stream;
    private readonly bool _isWritable;
    private readonly HeldRanges _held = new();
    private string _path;

    /// <summary>Creates the object for an open handle.</summary>
    /// <param name="handle">The handle. This object owns it from now on.</param>
    /// <param name="path">The file's path, or its intended path.</param>
    /// <param name="isWritable">Whether the file was also opened for writing.</param>
    public WindowsStoreFile(SafeFileHandle handle, string path, bool isWritable)
    {
        _handle = handle;
        _path = path;
        _isWritable = isWritable;
        try
        {
            Identity = IdentityOf(handle) ?? throw WindowsErrors.Failed($"The state of the store '{path}' could not be read", WindowsNative.LastError);
        }
        catch
        {
            handle.Dispose();
            throw;
        }
    }

    /// <summary>Creates the object for a file that was just created.</summary>
    /// <param name="stream">The stream. This object owns it from now on, and uses only its handle.</param>
    /// <param name="path">The file's path, or its intended path.</param>
    /// <param name="temporaryName">The hidden name of a file that is not published yet.</param>
    public WindowsStoreFile(FileStream stream, string path, string? temporaryName)
        : this(stream.SafeFileHandle, path, isWritable: true)
    {
        _stream = stream;
        TemporaryName = temporaryName;
    }

    public override string Path => _path;

    public override long Length => RandomAccess.GetLength(_handle);

    public override FileIdentity Identity { get; }

    public override bool IsStillAt(string path)
    {
        using SafeFileHandle other = OpenAny(System.IO.Path.GetFullPath(path), WindowsNative.ReadAttributes);
        return !other.IsInvalid && IdentityOf(other) == Identity;
    }

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

        int error = Rename(path, replace);
        if (replace && error is WindowsErrors.AccessDenied or WindowsErrors.UserMappedFile)
        {
            // A store that this process closed stays mapped until it is collected, and Windows does not replace a mapped file.
            GC.Collect();
            GC.WaitForPendingFinalizers();
            error = Rename(path, replace);
        }

        if (error is WindowsErrors.AlreadyExists or WindowsErrors.FileExists && !replace)
        {
            return false;
        }

        if (error != 0)
        {
            throw WindowsErrors.Publish(path, error);
        }

        _path = path;
        TemporaryName = null;
        UnlockByte(CreatorLockByte);
        return true;
    }

    public override void KeepPermissionsOf(string path)
    {
        try
        {
            if (TemporaryName is { } name && File.Exists(path))
            {
                var kept = new FileSecurity();
                kept.SetSecurityDescriptorBinaryForm(
                    new FileInfo(path).GetAccessControl(AccessControlSections.Access).GetSecurityDescriptorBinaryForm(), AccessControlSections.Access);
                new FileInfo(name).SetAccessControl(kept);
            }
        }
        catch (Exception e) when (e is IOException or UnauthorizedAccessException or System.Security.SecurityException or NotSupportedException)
        {
            // The permissions are kept only as far as this user is allowed to.
        }
    }

    // ---- The space ------------------------------------------------------------------------------------------------

    // NTFS and ReFS give a file that is neither sparse nor compressed the space of its length. So it has no holes to fill.
    public override void Preallocate(long offset, long length)
    {
        ArgumentOutOfRangeException.ThrowIfNegative(offset);
        ArgumentOutOfRangeException.ThrowIfNegative(length);
        long end = checked(offset + length);
        if (length == 0 || end <= Length)
        {
            return;
        }

        try
        {
            RandomAccess.SetLength(_handle, end);
        }
        catch (Exception failure) when (failure is IOException or UnauthorizedAccessException or ArgumentException)
        {
            throw WindowsErrors.NoRoom(_path, length, WindowsErrors.Of(failure));
        }
    }

    // The zeros are written through a view. All other views show them at once, which is not certain for writes to the file.
    public override void ZeroRange(long offset, long length)
    {
        ArgumentOutOfRangeException.ThrowIfNegative(offset);
        ArgumentOutOfRangeException.ThrowIfNegative(length);
        length = Math.Min(length, Length - offset);
        if (length > 0)
        {
            using MappedRegion region = Map(offset + length, writable: true);
            NativeMemory.Clear(region.Address + offset, (nuint)length); // In bounds: the region ends where the range does.
        }
    }

    // ---- The mappings ---------------------------------------------------------------------------------------------

    public override MappedRegion Map(long length, bool writable)
    {
        ArgumentOutOfRangeException.ThrowIfNegativeOrZero(length);
        if (!writable)
        {
            return Add(Math.Min(length, Length), WindowsNative.PageReadOnly, WindowsNative.ViewRead);
        }

        // A view cannot reach past the file's end, and cannot grow in place.
        Preallocate(0, length);
        return Add(length, WindowsNative.PageReadWrite, WindowsNative.ViewRead | WindowsNative.ViewWrite);
    }

    public override MappedRegion MapCopy(long length)
    {
        ArgumentOutOfRangeException.ThrowIfNegativeOrZero(length);
        Preallocate(0, length);
        return Add(length, WindowsNative.PageWriteCopy, WindowsNative.ViewCopy);
    }

    // ---- The locks ------------------------------------------------------------------------------------------------

    public override bool TryLockRange(long offset, long length)
    {
        HeldRange range = HeldRange.Of(offset, length);
        if (!_isWritable)
        {
            throw FileFailures.OpenedForReading(_path);
        }

        lock (_held)
        {
            IReadOnlyList<HeldRange> gaps = _held.GapsIn(range);
            for (int taken = 0; taken < gaps.Count; taken++)
            {
                if (!TryLock(gaps[taken], WindowsNative.Exclusive))
                {
                    while (--taken >= 0)
                    {
                        Unlock(gaps[taken]);
                    }

                    return false;
                }
            }

            foreach (HeldRange gap in gaps)
            {
                _held.Add(gap);
            }

            return true;
        }
    }

    public override void UnlockRange(long offset, long length)
    {
        HeldRange range = HeldRange.Of(offset, length);
        lock (_held)
        {
            foreach (HeldRange held in _held.TakeWithin(range))
            {
                Unlock(held);
            }
        }
    }

    public override bool IsByteLockedByOther(long offset, long length)
    {
        HeldRange range = HeldRange.Of(offset, length);
        lock (_held)
        {
            foreach (HeldRange gap in _held.GapsIn(range))
            {
                // The bytes are locked one by one, so that another process that wants one of them meanwhile is refused only that one.
                for (long at = gap.Start; at < gap.End; at++)
                {
                    if (!TryLock(new HeldRange(at, at + 1), kind: 0))
                    {
                        return true;
                    }

                    Unlock(new HeldRange(at, at + 1));
                }
            }

            return false;
        }
    }

    // ---- The bytes ------------------------------------------------------------------------------------------------

    public override int Read(long offset, Span<byte> buffer)
    {
        ArgumentOutOfRangeException.ThrowIfNegative(offset);
        try
        {
            int total = 0;
            while (total < buffer.Length && RandomAccess.Read(_handle, buffer[total..], offset + total) is > 0 and var count)
            {
                total += count;
            }

            return total;
        }
        catch (Exception failure) when (failure is IOException or UnauthorizedAccessException)
        {
            throw new StoreException($"Reading the store '{_path}' at byte {offset} failed: {failure.Message}", failure);
        }
    }

    public override void Write(long offset, ReadOnlySpan<byte> data)
    {
        ArgumentOutOfRangeException.ThrowIfNegative(offset);
        try
        {
            RandomAccess.Write(_handle, data, offset);
        }
        catch (Exception failure) when (failure is IOException or UnauthorizedAccessException)
        {
            throw WindowsErrors.Of(failure) is WindowsErrors.DiskFull or WindowsErrors.HandleDiskFull or WindowsErrors.DiskQuotaExceeded
                ? WindowsErrors.NoRoom(_path, data.Length, WindowsErrors.Of(failure))
                : new StoreException($"Writing the store '{_path}' at byte {offset} failed: {failure.Message}", failure);
        }
    }

    public override void FlushData()
    {
        if (!WindowsNative.FlushFileBuffers(_handle))
        {
            throw FileFailures.NotFlushed($"the store '{_path}'", WindowsErrors.Text(WindowsNative.LastError));
        }
    }

    // The locks end with the handle.
    protected override void Close(string? abandoned)
    {
        _stream?.Dispose();
        _handle.Dispose();
        if (abandoned is not null)
        {
            WindowsPlatform.TryDelete(abandoned);
        }
    }

    // ---- Steps ----------------------------------------------------------------------------------------------------

    /// <summary>Opens a file or a directory. Returns an invalid handle if that fails.</summary>
    internal static SafeFileHandle OpenAny(string path, uint access)
    {
        // .NET adds this prefix for its own files. Without it, Windows refuses a path of 260 characters or more.
        string name = path.Length < 248 || path.StartsWith(@"\\", StringComparison.Ordinal) ? path : @"\\?\" + path;
        return WindowsNative.CreateFileW(name, access, WindowsNative.ShareAll, 0, WindowsNative.OpenExisting, WindowsNative.BackupSemantics, 0);
    }

    // File systems that are older than the 128-bit number have one of 64 bits.
    private static FileIdentity? IdentityOf(SafeFileHandle handle)
    {
        WindowsNative.FileId id;
        if (WindowsNative.GetFileInformationByHandleEx(handle, WindowsNative.IdInformation, &id, (uint)sizeof(WindowsNative.FileId)))
        {
            return new FileIdentity(id.Volume ^ (id.High * 0x9E37_79B9_7F4A_7C15), id.Low);
        }

        return WindowsNative.GetFileInformationByHandle(handle, out WindowsNative.FileInformation information)
            ? new FileIdentity(information.Volume, ((ulong)information.IndexHigh << 32) | information.IndexLow)
            : null;
    }

    private MappedRegion Add(long length, uint protection, uint access) =>
        Add(() => WindowsMappedRegion.Map(_handle, Path, length, protection, access));

    // With POSIX semantics the name changes in one step, even if other processes have the old file open. A file system without these semantics (before
    // Windows 10 1607; not NTFS) can do it only if no process has the old file open.
    private int Rename(string path, bool replace)
    {
        int error = Rename(path, WindowsNative.RenameInformationEx, WindowsNative.RenamePosix | (replace ? WindowsNative.RenameReplace : 0));
        return error is WindowsErrors.InvalidParameter or WindowsErrors.NotSupported or WindowsErrors.InvalidFunction or WindowsErrors.NotImplemented
            or WindowsErrors.InvalidLevel
            ? Rename(path, WindowsNative.RenameInformation, replace ? WindowsNative.RenameReplace : 0)
            : error;
    }

    private int Rename(string path, int kind, uint flags)
    {
        string target = path.Length < 248 || path.StartsWith(@"\\", StringComparison.Ordinal) ? path : @"\\?\" + path;

        // FILE_RENAME_INFO: flags, root (none), bytes of the name, name. It must not be shorter than the structure with its padding.
        byte[] information = new byte[WindowsNative.RenameNameOffset + ((target.Length + 1) * sizeof(char)) + 8];
        BitConverter.TryWriteBytes(information, flags);
        BitConverter.TryWriteBytes(information.AsSpan(WindowsNative.RenameLengthOffset), target.Length * sizeof(char));
        System.Text.Encoding.Unicode.GetBytes(target, information.AsSpan(WindowsNative.RenameNameOffset));
        fixed (byte* start = information)
        {
            return WindowsNative.SetFileInformationByHandle(_handle, kind, start, (uint)information.Length) ? 0 : WindowsNative.LastError;
        }
    }

    private bool TryLock(HeldRange range, uint kind)
    {
        var where = new WindowsNative.Overlapped { OffsetLow = (uint)range.Start, OffsetHigh = (uint)(range.Start >> 32) };
        if (WindowsNative.LockFileEx(
            _handle, WindowsNative.FailImmediately | kind, 0, (uint)range.Length, (uint)(range.Length >> 32), &where))
        {
            return true;
        }

        int error = WindowsNative.LastError;
        return error is WindowsErrors.LockViolation or WindowsErrors.Pending
            ? false
            : throw WindowsErrors.Failed($"The store '{_path}' could not be locked", error);
    }

    private void Unlock(HeldRange range)
    {
        var where = new WindowsNative.Overlapped { OffsetLow = (uint)range.Start, OffsetHigh = (uint)(range.Start >> 32) };
        if (!WindowsNative.UnlockFileEx(_handle, 0, (uint)range.Length, (uint)(range.Length >> 32), &where))
        {
            throw WindowsErrors.Failed($"A lock of the store '{_path}' could not be released", WindowsNative.LastError);
        }
    }
}
