using System.Diagnostics.CodeAnalysis;
using Cairn.FileStore.Entries;
using Cairn.FileStore.Format;
using Cairn.FileStore.Sharing;
using Cairn.Platform.Linux;
using Microsoft.Win32.SafeHandles;

namespace Cairn.FileStore.Engine;

// Bringing the table up to date.
//
// What a process knows of the file is _seen: the state of it that the table is as of. A writer's record names a state, too.
//   the record is of the same base          read what was appended up to the record's end (E3)
//   the file is as the record says          read it up to the record's end
//   the file is as it was when last seen    nothing to do: what is there besides the record is known already
//   anything else                           somebody else changed it, or a writer died, or is writing just now: read all of it
internal sealed partial class FileEngine
{
    // How often a reader that is overtaken by writers starts over before it takes what it has.
    private const int MostOvertakes = 50;

    // How long a file that looks cut short is given to be completed by whoever is writing it, when somebody wants to change it.
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
        ObjectDisposedException.ThrowIf(_isClosed, typeof(DistributedFileStoreCacheString));
        if (!_view.IsCurrent)
        {
            try
            {
                CatchUp(hasTurn: false);
            }
            catch (Exception e) when (e is IOException or UnauthorizedAccessException)
            {
                // It cannot be read now. What was last read is served; the next look tries again, and a write reports it.
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

    // Reads what was appended since. False: all of it has to be read.
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
            _view.Snapshot = null; // Before anything new can be seen, so that nobody sees something newer and then this.
            table.BeginBatch();
            if (new FileReader(appended).ReadAppended(table) != ReadOutcome.Complete)
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
        _mustRewrite = false;
        _isProvisional = false;
        _isBehind = false;
        return true;
    }

    // False: it changed meanwhile; start over.
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
                // A writer was here, and found the file to be as the record says (E4): up to its end, nothing has changed (E3).
                return newer.BaseGeneration == record.BaseGeneration && record.IsOfFile(stamp) && record.End <= length &&
                    TryReadCommitted(text, stamp, record, out Content? content) && Accept(content, ref handle, canWrite);
            }

            return Take(text.AsSpan(0, length), stamp, newer, hasTurn, attempt, ref handle, canWrite);
        }
        finally
        {
            handle?.Dispose(); // Unless it was accepted.
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
            case ReadOutcome.Complete:
                return Accept(
                    new Content(table, stamp)
                    {
                        End = reader.EndOfEntries,
                        HasEntries = reader.HasEntries,
                        IsOldFormat = reader.IsOldFormat,
                        MustRewrite = reader.IsOldFormat,
                    },
                    ref handle,
                    canWrite);

            // A writer died while it appended, or is appending now: the record says up to where it is whole.
            case ReadOutcome.Torn when isOfFile && reader.EndOfEntries >= record.End && TryReadCommitted(text, stamp, record, out Content? whole):
                return Accept(whole with { MustRewrite = true, IsProvisional = true }, ref handle, canWrite);

            // Half of a change that is being appended can look like anything. A writer, who looks in its turn, is not in doubt.
            case ReadOutcome.Invalid when !hasTurn && isOfFile && TryReadCommitted(text, stamp, record, out Content? known):
                return Accept(known with { MustRewrite = true, IsProvisional = true }, ref handle, canWrite);

            case ReadOutcome.Torn:
                return IsMomentary(stamp, hasTurn, attempt, out bool isToWait)
                    ? !isToWait
                    : Accept(new Content(table, stamp) { MustRewrite = true }, ref handle, canWrite);

            default:
                _problem = reader.Problem;
                _seen = stamp;
                _hasContent = true;
                _base = OutsideBase;
                return true; // E1: what was last good stays.
        }
    }

    // Up to the record's end, where the text ends as if it had been cut.
    private static bool TryReadCommitted(ReadOnlySpan<byte> text, in FileStamp stamp, in CommitRecord record, [NotNullWhen(true)] out Content? content)
    {
        EntryTable table = NewTableFor(text);
        var reader = new FileReader(text[..(int)record.End]);
        bool isWhole = reader.ReadFile(table) == ReadOutcome.Torn && reader.EndOfEntries == record.End;
        content = isWhole
            ? new Content(table, stamp) { End = record.End, HasEntries = reader.HasEntries, Base = record.BaseGeneration }
            : null;
        return isWhole;
    }

    // With room for its entries, which are one to a line; but not for a file of line feeds.
    private static EntryTable NewTableFor(ReadOnlySpan<byte> text) =>
        new(Math.Min(text.Count((byte)'\n'), text.Length / FileFormat.ShortestLine));

    // A file that is missing, empty or cut short may be one that an editor is saving. A reader keeps what it has until the file
    // has looked the same twice; a writer waits a moment.
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
            _rewrittenTicks = NowTicks; // By somebody else, most likely.
        }

        _seen = content.Stamp;
        _suspect = default;
        _problem = null;
        _isBehind = false;
        _base = content.Base;
        _end = content.End;
        _hasEntries = content.HasEntries;
        _mustRewrite = content.MustRewrite;
        _isOldFormat = content.IsOldFormat;
        _isProvisional = content.IsProvisional;
        _hasContent = true;
        _view.Snapshot = null;
        _view.Replace(content.Table);
        _tokens.ReportAll(content.Table);
        return true;
    }

    // Null if there is no such file.
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

        // Not File.OpenHandle, whose lock would keep out, for as long as the cache is in use, every program that wants the file
        // to itself.
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

    // Programs on Linux that want a file to themselves say so with flock, as .NET's do, or with fcntl.
    private void RequireUnlocked(SafeFileHandle handle)
    {
        if (OperatingSystem.IsLinux() && (HasFlock(handle) || HasRecordLock(handle)))
        {
            throw new FileInUseException($"The cache file '{_path}' is locked by another program, which wants it to itself.");
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

    // Asks which lock would keep a reader out. None, or a file system without such locks: the type is not that of a writer.
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

    /// <summary>A file that was read.</summary>
    private sealed record Content(EntryTable Table, FileStamp Stamp)
    {
        public long Base { get; init; } = OutsideBase;

        public long End { get; init; }

        public bool HasEntries { get; init; }

        public bool IsOldFormat { get; init; }

        /// <summary>Whether a change cannot be appended.</summary>
        public bool MustRewrite { get; init; }

        /// <summary>Whether there is more in the file, of which only a writer can say what it is.</summary>
        public bool IsProvisional { get; init; }
    }
}

/// <summary>Another program has the file to itself; it may give it back.</summary>
internal sealed class FileInUseException(string message) : IOException(message);
