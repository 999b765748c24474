using Cairn.FileStore.Entries;
using Cairn.FileStore.Format;
using Cairn.FileStore.Sharing;
using Cairn.Platform;
using Cairn.Platform.Linux;
using Microsoft.Win32.SafeHandles;

namespace Cairn.FileStore.Engine;

// Bringing the table up to date.
//
// _seen is the state of the file that the table reflects. A writer's record also names a state. A process compares both with the file:
//   the record has the same base            read the entries appended up to the record's end (E3)
//   the file matches the record             read it up to the record's end
//   the file matches _seen                  nothing to do: any difference from the record is known already
//   otherwise                               another program changed it, or a writer died or is writing: read the whole file
internal sealed partial class FileEngine
{
    // The number of times that a reader starts again because writers have overtaken it. After that it uses the content that it has read.
    private const int MostOvertakes = 50;

    // A writer gives another program this long to complete a file that looks truncated: 5 pauses of 20 ms.
    private const int PatiencePauses = 5;
    private const int PatiencePauseMs = 20;

    private const long OutsideBase = -2;

    private View Refresh()
    {
        lock (_gate)
        {
            return BringUpToDate();
        }
    }

    private View BringUpToDate()
    {
        ObjectDisposedException.ThrowIf(_isClosed, _options.Owner);
        if (!_view.IsCurrent)
        {
            try
            {
                CatchUp(hasTurn: false);
            }
            catch (Exception e) when (e is IOException or UnauthorizedAccessException)
            {
                // The file cannot be read now. Reads return the last content. The next check tries again, and a write reports the error.
                _isBehind = true;
                _base = OutsideBase;
                _view.Channel.Read(out long generation);
                Advance(generation);
            }
        }

        return _view;
    }

    private void CatchUp(bool hasTurn)
    {
        for (int attempt = 0; ; attempt++)
        {
            CommitRecord record = _view.Channel.Read(out long generation);
            bool isSameBase = record.BaseGeneration != 0 && record.BaseGeneration == _base;
            if (isSameBase && !hasTurn && !_mustLook && (generation == _generation || TryFollow(record)))
            {
                Advance(generation);
                return;
            }

            FileStamp stamp = FileStamp.Of(_path);
            bool isCommitted = record.Matches(stamp);
            if (isCommitted ? isSameBase && TryFollow(record) : _hasContent && stamp == _seen && !(hasTurn && _isProvisional))
            {
                Advance(generation);
                return;
            }

            if (ReadAll(record, generation, hasTurn, attempt))
            {
                Advance(generation);
                return;
            }
        }
    }

    private void Advance(long generation)
    {
        _generation = generation;
        _mustLook = false;
        _view.Advance(generation);
    }

    // Reads the entries appended since the last time. Returns false if the whole file must be read.
    private bool TryFollow(in CommitRecord record)
    {
        if (_handle is null || record.End < _end)
        {
            return false;
        }

        if (record.End > _end)
        {
            var appended = new byte[checked((int)(record.End - _end))];
            if (ReadFully(_handle, appended, _end) < appended.Length)
            {
                return false;
            }

            EntryTable table = _view.Table;
            _view.Snapshot = null; // Cleared before the new entries are visible, so that no caller sees them and then this older snapshot.
            table.BeginBatch();
            if (new FileReader(appended).ReadAppended(table) != TextOutcome.Complete)
            {
                _view.Replace(table.Copy());
                return false;
            }

            Entry[] changes = [.. table.Pending];
            table.CompleteBatch();
            _tokens.Report(changes);
            _end = record.End;
            _hasEntries = true;
        }

        _seen = new FileStamp(record.Device, record.Inode, record.Length, record.ChangedTicks, IsWritable: true);
        _mustRewrite = _isEarlierVersion;
        _isProvisional = false;
        _isBehind = false;
        return true;
    }

    // Returns false if the file changed during the read; the caller then starts again.
    private bool ReadAll(in CommitRecord record, long generation, bool hasTurn, int attempt)
    {
        SafeFileHandle? handle = OpenFile(out bool canWrite);
        try
        {
            if (handle is null)
            {
                return IsMomentary(FileStamp.Missing, hasTurn, attempt, out bool isToWait)
                    ? !isToWait
                    : Accept(new Content(new EntryTable(), FileStamp.Missing) { MustRewrite = true }, ref handle, canWrite: true);
            }

            FileStamp stamp = FileStamp.Of(handle, _path);
            RequireUnlocked(handle);
            var text = new byte[checked((int)stamp.Length)];
            int length = ReadFully(handle, text, 0);
            CommitRecord newer = _view.Channel.Read(out long newerGeneration);
            if (newerGeneration != generation && attempt < MostOvertakes)
            {
                // A writer committed during the read. It found the file as recorded (E4), and up to the record's end it is unchanged (E3).
                return newer.BaseGeneration == record.BaseGeneration && record.IsOfFile(stamp) && record.End <= length &&
                    TryReadCommitted(text, stamp, record, out Content? content) && Accept(content, ref handle, canWrite);
            }

            return Take(text.AsSpan(0, length), stamp, newer, hasTurn, attempt, ref handle, canWrite);
        }
        finally
        {
            handle?.Dispose(); // Null if Accept took ownership.
        }
    }

    private bool Take(
        ReadOnlySpan<byte> text, in FileStamp stamp, in CommitRecord record, bool hasTurn, int attempt, ref SafeFileHandle? handle, bool canWrite)
    {
        bool isOfFile = record.IsOfFile(stamp) && record.End <= text.Length;
        if (isOfFile && record.Matches(stamp) && TryReadCommitted(text, stamp, record, out Content? committed))
        {
            return Accept(committed, ref handle, canWrite);
        }

        if (text.Trim(" \t\r\n\0"u8).IsEmpty || text.SequenceEqual("\uFEFF"u8))
        {
            return IsMomentary(stamp, hasTurn, attempt, out bool isToWait)
                ? !isToWait
                : Accept(new Content(new EntryTable(), stamp) { MustRewrite = true }, ref handle, canWrite);
        }

        EntryTable table = NewTableFor(text);
        var reader = new FileReader(text);
        switch (reader.ReadFile(table))
        {
            case TextOutcome.Complete:
                return Accept(
                    new Content(table, stamp)
                    {
                        End = reader.EndOfEntries,
                        HasEntries = reader.HasEntries,
                        IsOldFormat = reader.IsOldFormat,
                        IsEarlierVersion = reader.IsEarlierVersion,
                        MustRewrite = reader.IsOldFormat || reader.IsEarlierVersion,
                    },
                    ref handle,
                    canWrite);

            // A writer died while it appended, or is appending now. The record names the end of the complete entries.
            case TextOutcome.Torn when isOfFile && reader.EndOfEntries >= record.End && TryReadCommitted(text, stamp, record, out Content? whole):
                return Accept(whole with { MustRewrite = true, IsProvisional = true }, ref handle, canWrite);

            // A partially appended change can look like any text. Only a writer that has the turn can be sure that the file is malformed.
            case TextOutcome.Invalid when !hasTurn && isOfFile && TryReadCommitted(text, stamp, record, out Content? known):
                return Accept(known with { MustRewrite = true, IsProvisional = true }, ref handle, canWrite);

            case TextOutcome.Torn:
                return IsMomentary(stamp, hasTurn, attempt, out bool isToWait)
                    ? !isToWait
                    : Accept(new Content(table, stamp) { MustRewrite = true }, ref handle, canWrite);

            default:
                _problem = reader.Problem;
                _seen = stamp;
                _hasContent = true;
                _base = OutsideBase;
                return true; // E1: the last valid content stays.
        }
    }

    // Reads the text up to the record's end, which then looks like a truncated file.
    private static bool TryReadCommitted(ReadOnlySpan<byte> text, in FileStamp stamp, in CommitRecord record, [NotNullWhen(true)] out Content? content)
    {
        EntryTable table = NewTableFor(text);
        var reader = new FileReader(text[..(int)record.End]);
        bool isWhole = reader.ReadFile(table) == TextOutcome.Torn && reader.EndOfEntries == record.End;
        content = isWhole
            ? new Content(table, stamp)
            {
                End = record.End,
                HasEntries = reader.HasEntries,
                Base = record.BaseGeneration,
                IsEarlierVersion = reader.IsEarlierVersion,
                MustRewrite = reader.IsEarlierVersion,
            }
            : null;
        return isWhole;
    }

    // Reserves room for one entry per line. The length of the file limits it, because a file may consist of line feeds.
    private static EntryTable NewTableFor(ReadOnlySpan<byte> text) =>
        new(Math.Min(text.Count((byte)'\n'), text.Length / FileFormat.ShortestLine));

    // A missing, empty or truncated file may be one that an editor is saving. A reader keeps its content until the file has looked the same
    // twice; a writer waits for a moment.
    private bool IsMomentary(in FileStamp stamp, bool hasTurn, int attempt, out bool isToWait)
    {
        isToWait = false;
        if (!_hasContent || !_seen.Exists)
        {
            return false;
        }

        bool isSameAgain = _suspect == stamp;
        if (hasTurn)
        {
            if (isSameAgain && attempt >= PatiencePauses)
            {
                return false;
            }

            _suspect = stamp;
            isToWait = true;
            Thread.Sleep(PatiencePauseMs);
            return true;
        }

        _suspect = stamp;
        return !isSameAgain;
    }

    private bool Accept(Content content, ref SafeFileHandle? handle, bool canWrite)
    {
        _handle?.Dispose();
        _handle = handle;
        handle = null;
        _canWrite = canWrite;
        if (_hasContent && !_seen.IsSameFile(content.Stamp))
        {
            CountRewrite(); // By this process or, most likely, by another one.
        }

        _hasUnwrittenPages &= _seen.IsSameFile(content.Stamp);

        _seen = content.Stamp;
        _suspect = default;
        _problem = null;
        _isBehind = false;
        _base = content.Base;
        _end = content.End;
        _hasEntries = content.HasEntries;
        _mustRewrite = content.MustRewrite;
        _isOldFormat = content.IsOldFormat;
        _isEarlierVersion = content.IsEarlierVersion;
        _isProvisional = content.IsProvisional;
        _hasContent = true;
        _view.Snapshot = null;
        _view.Replace(content.Table);
        _tokens.ReportAll(content.Table);
        return true;
    }

    // Returns null if the file does not exist.
    private SafeFileHandle? OpenFile(out bool canWrite)
    {
        try
        {
            canWrite = true;
            return OpenFile(FileAccess.ReadWrite);
        }
        catch (UnauthorizedAccessException)
        {
            canWrite = false;
            return OpenFile(FileAccess.Read);
        }
    }

    // Checked before anything is created. A change would replace the device by a file.
    private static void RequireFile(string path)
    {
        if (HostPlatform.Current.IsSpecialFile(path))
        {
            throw new IOException($"The cache file '{path}' is not a file but a device, pipe or socket. Name a file.");
        }
    }

    private SafeFileHandle? OpenFile(FileAccess access)
    {
        if (!OperatingSystem.IsLinux())
        {
            try
            {
                return File.OpenHandle(_path, FileMode.Open, access, FileShare.ReadWrite | FileShare.Delete);
            }
            catch (Exception e) when (e is FileNotFoundException or DirectoryNotFoundException)
            {
                return null;
            }
        }

        // File.OpenHandle would take a lock. As long as the cache is in use, that lock would exclude every program that needs exclusive access.
        int flags = access == FileAccess.Read ? LinuxNative.ReadOnly : LinuxNative.ReadWrite;
        int error = LinuxPlatform.TryOpen(_path, flags | LinuxNative.NonBlocking, out SafeFileHandle handle);
        return error switch
        {
            0 => handle,
            LinuxErrors.NoEntry or LinuxErrors.NotDirectory => null,
            LinuxErrors.AccessDenied or LinuxErrors.NotPermitted or LinuxErrors.ReadOnlyFileSystem => throw new UnauthorizedAccessException(
                $"The user '{Environment.UserName}' may not open the cache file '{_path}' for {(access == FileAccess.Read ? "reading" : "writing")}."),
            _ => throw new IOException($"The cache file '{_path}' could not be opened: {LinuxErrors.Text(error)}."),
        };
    }

    // On Linux, programs that need exclusive access lock the file with flock, as .NET does, or with fcntl.
    private void RequireUnlocked(SafeFileHandle handle)
    {
        if (OperatingSystem.IsLinux() && (HasFlock(handle) || HasRecordLock(handle)))
        {
            throw new FileInUseException($"The cache file '{_path}' is locked by another program.");
        }
    }

    private static bool HasFlock(SafeFileHandle handle)
    {
        if (LinuxNative.LockFile(handle, LinuxNative.SharedFileLock | LinuxNative.DoNotWait) == 0)
        {
            _ = LinuxNative.LockFile(handle, LinuxNative.NoFileLock);
            return false;
        }

        return LinuxNative.LastError == LinuxErrors.TryAgain;
    }

    // Asks for the lock that would conflict with a reader. If there is none, or the file system has no such locks, the type is not WriteLock.
    private static bool HasRecordLock(SafeFileHandle handle)
    {
        var probe = new LinuxNative.FileLock { Type = LinuxNative.ReadLock };
        return LinuxNative.Lock(handle, LinuxNative.OfdGetLock, ref probe) == 0 && probe.Type == LinuxNative.WriteLock;
    }

    private static int ReadFully(SafeFileHandle handle, Span<byte> target, long offset)
    {
        int total = 0;
        while (total < target.Length && RandomAccess.Read(handle, target[total..], offset + total) is > 0 and var count)
        {
            total += count;
        }

        return total;
    }

    /// <summary>The content of a file that was read.</summary>
    private sealed record Content(EntryTable Table, FileStamp Stamp)
    {
        public long Base { get; init; } = OutsideBase;

        public long End { get; init; }

        public bool HasEntries { get; init; }

        public bool IsOldFormat { get; init; }

        public bool IsEarlierVersion { get; init; }

        /// <summary>Gets whether the next change must rewrite the file, because it cannot be appended.</summary>
        public bool MustRewrite { get; init; }

        /// <summary>Gets whether the file has more content, which only a writer that has the turn can classify.</summary>
        public bool IsProvisional { get; init; }
    }
}

/// <summary>The exception for a file that another program has opened exclusively. A later attempt may succeed.</summary>
internal sealed class FileInUseException(string message) : IOException(message);
