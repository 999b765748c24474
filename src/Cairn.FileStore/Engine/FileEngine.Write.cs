using System.Buffers;
using System.Globalization;
using Cairn.FileStore.Entries;
using Cairn.FileStore.Format;
using Cairn.FileStore.Sharing;
using Cairn.Platform.Linux;
using Microsoft.Win32.SafeHandles;

namespace Cairn.FileStore.Engine;

// Changing the file, in the turn of this process.
//
// A change is appended. The file is rewritten instead (E6) when more than half of it is garbage, when entries in it have expired
// (but not every time), when it is new, empty, cut short or of the old format, and when everything is cleared. A writer that dies leaves either the file as it was; or an
// appended change that is complete, which counts, or is not, which the next writer drops; or a temporary file of a fixed name,
// which the next rewrite overwrites.
internal sealed partial class FileEngine
{
    // Rewriting flushes to the disk, so small files should not do it often.
    private const long LeastGarbageBytes = 256 << 10;

    private const long BytesOfPauseSecond = 1 << 20;

    // How often a change starts over because the file was replaced while it was made.
    private const int MostReplacements = 20;

    /// <summary>Makes changes, all or none of them.</summary>
    /// <param name="changes">In order.</param>
    /// <param name="isClearing">Whether everything there was goes first.</param>
    /// <exception cref="FileStoreFormatException">The file is not a cache file now.</exception>
    /// <exception cref="DistributedFileStoreCacheException">It would be larger than allowed, or a lock was not to be had.</exception>
    /// <exception cref="IOException">It could not be written; it is as it was.</exception>
    /// <exception cref="UnauthorizedAccessException">It may not be written.</exception>
    public void Change(ReadOnlySpan<EntryChange> changes, bool isClearing)
    {
        lock (_writers)
        {
            for (int attempt = 1; ; attempt++)
            {
                try
                {
                    ChangeInTurn(changes, isClearing);
                    break;
                }
                catch (Exception e) when (e is UnauthorizedAccessException or FileInUseException && attempt < _options.Tries)
                {
                    Thread.Sleep(_options.Delay);
                }
            }
        }
    }

    /// <summary>Rewrites the file without what changes have left behind; a file of the old format becomes one of this format.</summary>
    public void Compact()
    {
        lock (_writers)
        {
            _isToCompact = true;
            try
            {
                Change([], isClearing: false);
            }
            finally
            {
                _isToCompact = false;
            }
        }
    }

    /// <summary>Whether changes can be made without waiting for another thread of this process.</summary>
    public bool TryChangeNow(ReadOnlySpan<EntryChange> changes, bool isClearing)
    {
        if (!_writers.TryEnter())
        {
            return false;
        }

        try
        {
            Change(changes, isClearing);
            return true;
        }
        finally
        {
            _writers.Exit();
        }
    }

    private void ChangeInTurn(ReadOnlySpan<EntryChange> changes, bool isClearing)
    {
        for (int attempt = 1; ; attempt++)
        {
            Channel channel = RequireChannel();
            channel.Enter(_options.LockTimeout);
            try
            {
                lock (_gate)
                {
                    // Somebody may have removed the side file while this process waited.
                    if (ReferenceEquals(channel, _view.Channel) && channel.IsCurrent && TryChange(changes, isClearing))
                    {
                        return;
                    }
                }
            }
            finally
            {
                channel.Leave();
            }

            if (attempt == MostReplacements)
            {
                throw new IOException($"The cache file '{_path}' was replaced by somebody else each time it was to be written. Try again.");
            }
        }
    }

    // False: the file was replaced meanwhile.
    private bool TryChange(ReadOnlySpan<EntryChange> changes, bool isClearing)
    {
        _mustLook = true; // A failure below leaves the table to be brought up to date by the next read.
        try
        {
            CatchUp(hasTurn: true);
        }
        catch (Exception e) when (isClearing && e is OverflowException or FileStoreFormatException)
        {
            // Whatever it is goes.
        }

        if (_problem is not null && !isClearing)
        {
            throw Throw.NotACacheFile(_path, _problem);
        }

        if (_seen.Exists && !_seen.IsWritable)
        {
            throw new UnauthorizedAccessException($"The cache file '{_path}' is read-only. Give its owner permission to write it.");
        }

        changes = WithoutIdle(changes, isClearing);
        bool mustRewrite = isClearing || _mustRewrite || _isToCompact;
        if (changes.IsEmpty && !mustRewrite)
        {
            return true;
        }

        if (mustRewrite)
        {
            return Rewrite(changes, isClearing);
        }

        RequireWritable();
        if (TryDropExpired(changes, out bool isReplaced))
        {
            return !isReplaced;
        }

        _buffer.ResetWrittenCount();
        Encode(changes);
        RequireRoom(changes);
        long garbage = _seen.Length + _buffer.WrittenCount - GrowthOf(changes) - _view.Table.LineBytes - FileFormat.Header.Length;
        return garbage > LeastGarbageBytes && garbage * 2 > _seen.Length ? Rewrite(changes, isClearing: false) : Append(changes);
    }

    // ---- Appending --------------------------------------------------------------------------------------------------

    private bool Append(ReadOnlySpan<EntryChange> changes)
    {
        RequireUnlocked(_handle!);
        long length = _seen.Length;
        _buffer.Write(FileFormat.Closing);
        long end = _end + _buffer.WrittenCount - FileFormat.Closing.Length;
        long newLength = _end + _buffer.WrittenCount;
        try
        {
            RandomAccess.Write(_handle!, _buffer.WrittenSpan, _end);
            if (newLength < length)
            {
                RandomAccess.SetLength(_handle!, newLength); // Somebody had left much white space at its end.
            }

            if (_options.Durability == FileStoreDurability.PowerLoss)
            {
                Flush(_handle!);
            }
        }
        catch (IOException e)
        {
            UndoAppend(e);
            throw;
        }

        // By its path: if the path leads to another file by now, the change went into one that nobody reads any more.
        FileStamp stamp = FileStamp.Of(_path);
        if (!stamp.IsSameFile(_seen) || stamp.Length != newLength)
        {
            return false;
        }

        var record = new CommitRecord
        {
            BaseGeneration = _base,
            Device = stamp.Device,
            Inode = stamp.Inode,
            Length = stamp.Length,
            ChangedTicks = stamp.ChangedTicks,
            End = end,
        };
        bool isNewBase = _base <= 0;
        long generation = _view.Channel.Commit(record, isNewBase);
        if (isNewBase)
        {
            _base = generation;
        }

        _end = end;
        _hasEntries = true;
        _seen = stamp;
        Apply(changes);
        Advance(generation);
        return true;
    }

    // The closing brackets go back to where they were, over bytes the file had already.
    private void UndoAppend(IOException cause)
    {
        try
        {
            RandomAccess.SetLength(_handle!, _end);
            RandomAccess.Write(_handle!, FileFormat.Closing, _end);
        }
        catch (IOException)
        {
            // Then it is cut short, which readers and the next writer know how to read (F2).
        }

        throw new IOException($"The cache file '{_path}' could not be written, so nothing is changed: {cause.Message}", cause);
    }

    private void Encode(ReadOnlySpan<EntryChange> changes)
    {
        bool isFirst = !_hasEntries;
        foreach (EntryChange change in changes)
        {
            _buffer.Write(isFirst ? FileFormat.FirstSeparator : FileFormat.Separator);
            isFirst = false;
            int bytes = change.IsTouch
                ? EntryWriter.WriteTouch(_buffer, change.Entry.Key, change.Entry.ExpiresTicks)
                : EntryWriter.Write(_buffer, change.Entry);
            if (!change.IsTouch)
            {
                change.Entry.LineBytes = bytes + FileFormat.Separator.Length;
            }
        }
    }

    private void Apply(ReadOnlySpan<EntryChange> changes)
    {
        EntryTable table = _view.Table;
        _view.Snapshot = null; // Before anything new can be seen, so that nobody sees something newer and then this.
        if (changes.Length > 1)
        {
            table.BeginBatch();
        }

        foreach (EntryChange change in changes)
        {
            table.Put(change.Entry);
        }

        if (changes.Length > 1)
        {
            table.CompleteBatch();
        }

        if (_tokens.HasAny)
        {
            _tokens.Report([.. changes.ToArray().Select(change => change.Entry)]);
        }
    }

    // ---- Rewriting --------------------------------------------------------------------------------------------------

    private bool Rewrite(ReadOnlySpan<EntryChange> changes, bool isClearing)
    {
        EntryTable table = Encode(changes, isClearing);
        RequireRoomForAll(bytesBefore: changes.Length == 0 ? long.MaxValue : isClearing ? 0 : _view.Table.LineBytes);
        string target = new FileInfo(_path) is { LinkTarget: not null } link ? link.ResolveLinkTarget(returnFinalTarget: true)!.FullName : _path;
        string temporary = target + ".rewriting";
        KeepOldFormat();
        try
        {
            WriteTemporary(temporary, target);
            if (!FileStamp.Of(_path).IsSameFile(_seen) && _seen.Exists)
            {
                return Abandon(temporary);
            }

            File.Move(temporary, target, overwrite: true);
            if (_options.Durability == FileStoreDurability.PowerLoss)
            {
                FlushDirectory(Path.GetDirectoryName(target)!);
            }
        }
        catch (Exception e) when (e is IOException or UnauthorizedAccessException)
        {
            Abandon(temporary);
            throw e is UnauthorizedAccessException
                ? new UnauthorizedAccessException($"The user '{Environment.UserName}' may not replace the cache file '{_path}': {e.Message}", e)
                : new IOException($"The cache file '{_path}' could not be written, so nothing is changed: {e.Message}", e);
        }

        SafeFileHandle? handle = OpenFile(out bool canWrite);
        if (handle is null)
        {
            return false;
        }

        FileStamp stamp = FileStamp.Of(handle, _path);
        var content = new Content(table, stamp) { End = _buffer.WrittenCount - FileFormat.Closing.Length, HasEntries = table.Count > 0 };
        if (stamp.Length != _buffer.WrittenCount)
        {
            handle.Dispose();
            return false;
        }

        Accept(content, ref handle, canWrite);
        _rewrittenTicks = NowTicks;
        var record = new CommitRecord
        {
            Device = stamp.Device,
            Inode = stamp.Inode,
            Length = stamp.Length,
            ChangedTicks = stamp.ChangedTicks,
            End = content.End,
        };
        _base = _view.Channel.Commit(record, isNewBase: true);
        Advance(_base);
        return true;
    }

    // The whole file into the buffer; the table of what is in it.
    private EntryTable Encode(ReadOnlySpan<EntryChange> changes, bool isClearing)
    {
        Entry[] kept = isClearing ? [] : _view.Table.InOrder(NowTicks);
        var merged = new EntryTable(kept.Length + changes.Length);
        foreach (Entry entry in kept)
        {
            merged.Put(entry.With(entry.ExpiresTicks, entry.LineBytes));
        }

        foreach (EntryChange change in changes)
        {
            merged.Put(change.Entry);
        }

        _buffer.ResetWrittenCount();
        Entry[] entries = merged.InOrder(NowTicks);
        FileWriter.Write(_buffer, entries);
        var table = new EntryTable(entries.Length);
        foreach (Entry entry in entries)
        {
            table.Put(entry);
        }

        return table;
    }

    private void WriteTemporary(string temporary, string target)
    {
        using SafeFileHandle handle = File.OpenHandle(temporary, FileMode.Create, FileAccess.Write, FileShare.None, FileOptions.None, _buffer.WrittenCount);
        if (!OperatingSystem.IsWindows() && File.Exists(target))
        {
            File.SetUnixFileMode(handle, File.GetUnixFileMode(target));
            KeepOwner(handle, target);
        }

        RandomAccess.Write(handle, _buffer.WrittenSpan, 0);
        Flush(handle); // Else, after a power loss, the file could have its new name and no content.
    }

    private static void KeepOwner(SafeFileHandle handle, string target)
    {
        if (OperatingSystem.IsLinux() &&
            LinuxNative.StatPath(target, flags: 0, out LinuxNative.FileStatus old) == 0 &&
            LinuxNative.StatFile(handle, out LinuxNative.FileStatus own) == 0 &&
            (old.User != own.User || old.Group != own.Group))
        {
            _ = LinuxNative.ChangeOwner(handle, old.User, old.Group); // Where this user may; else it is this user's now.
        }
    }

    private static bool Abandon(string temporary)
    {
        try
        {
            File.Delete(temporary);
        }
        catch (Exception e) when (e is IOException or UnauthorizedAccessException)
        {
            // The next rewrite overwrites it.
        }

        return false;
    }

    // What Net.DistributedFileStoreCache wrote stays beside it, for whoever goes back.
    private void KeepOldFormat()
    {
        if (!_isOldFormat)
        {
            return;
        }

        for (int number = 1; ; number++)
        {
            string backup = string.Create(CultureInfo.InvariantCulture, $"{_path}.backup{(number == 1 ? "" : number)}");
            if (!File.Exists(backup))
            {
                File.Copy(_path, backup);
                return;
            }
        }
    }

    // ---- Steps ------------------------------------------------------------------------------------------------------

    // What changes nothing needs no line: removing what is not there, prolonging what is gone.
    private ReadOnlySpan<EntryChange> WithoutIdle(ReadOnlySpan<EntryChange> changes, bool isClearing)
    {
        if (changes is [{ IsTouch: false, Entry.Value: not null }])
        {
            return changes;
        }

        EntryTable table = _view.Table;
        var keep = new List<EntryChange>(changes.Length);
        HashSet<string>? set = null;
        foreach (EntryChange change in changes)
        {
            bool isThere = !isClearing && table.Find(change.Entry.Key) is { Value: not null } before &&
                (!change.IsTouch || (before.IsAliveAt(NowTicks) && Equals(before.Value, change.Entry.Value) && before.ExpiresTicks < change.Entry.ExpiresTicks));
            bool isNeeded = (change.Entry.Value is not null && !change.IsTouch) || isThere || set?.Contains(change.Entry.Key) == true;
            if (isNeeded)
            {
                (set ??= new(StringComparer.Ordinal)).Add(change.Entry.Key);
                keep.Add(change);
            }
        }

        return keep.ToArray();
    }

    // Expired entries leave the file with the next change, which takes a rewrite; so not more often than once a second, and once
    // in as many seconds as the file has megabytes. True: the file was rewritten, with the changes.
    private bool TryDropExpired(ReadOnlySpan<EntryChange> changes, out bool isReplaced)
    {
        isReplaced = false;
        EntryTable table = _view.Table;
        long now = NowTicks;
        if (table.EarliestExpiryTicks > now)
        {
            return false;
        }

        long pause = Math.Max(1, _seen.Length / BytesOfPauseSecond) * TimeSpan.TicksPerSecond;
        if (now >= _rewrittenTicks && now - _rewrittenTicks < pause)
        {
            return false;
        }

        _rewrittenTicks = now;
        if (!table.Sweep(now))
        {
            return false; // What would have expired was replaced meanwhile.
        }

        try
        {
            isReplaced = !Rewrite(changes, isClearing: false);
            return true;
        }
        catch (Exception e) when (e is IOException or UnauthorizedAccessException)
        {
            return false; // No room for another file, or no right to make one here: the change itself may well be possible.
        }
    }

    private long GrowthOf(ReadOnlySpan<EntryChange> changes)
    {
        long growth = 0;
        foreach (EntryChange change in changes)
        {
            if (!change.IsTouch)
            {
                growth += (change.Entry.Value is null ? 0 : change.Entry.LineBytes) -
                    (_view.Table.Find(change.Entry.Key) is { Value: not null } before ? before.LineBytes : 0);
            }
        }

        return growth;
    }

    // Without garbage the file would have this many bytes. Only growth is refused: removing always works.
    private void RequireRoom(ReadOnlySpan<EntryChange> changes)
    {
        long growth = GrowthOf(changes);
        long now = FileFormat.Header.Length + FileFormat.Closing.Length + _view.Table.LineBytes;
        if (growth <= 0 || now + growth <= _options.MaxBytes)
        {
            return;
        }

        _view.Table.Sweep(NowTicks);
        if (changes.Length > 1)
        {
            // A key that is there twice counts once.
            growth = 0;
            var last = new Dictionary<string, EntryChange>(StringComparer.Ordinal);
            foreach (EntryChange change in changes)
            {
                last[change.Entry.Key] = change;
            }

            growth = GrowthOf([.. last.Values]);
        }

        now = FileFormat.Header.Length + FileFormat.Closing.Length + _view.Table.LineBytes;
        if (now + growth > _options.MaxBytes)
        {
            throw Throw.TooLarge(_path, now + growth, _options.MaxBytes);
        }
    }

    private void RequireRoomForAll(long bytesBefore)
    {
        if (_buffer.WrittenCount > _options.MaxBytes && _buffer.WrittenCount > bytesBefore)
        {
            throw Throw.TooLarge(_path, _buffer.WrittenCount, _options.MaxBytes);
        }
    }

    private void RequireWritable()
    {
        if (!_canWrite)
        {
            // It may have become writable since.
            SafeFileHandle? handle = OpenFile(FileAccess.ReadWrite);
            if (handle is null || !FileStamp.Of(handle, _path).IsSameFile(_seen))
            {
                handle?.Dispose();
                throw new FileInUseException($"The cache file '{_path}' was replaced while it was to be written.");
            }

            _handle?.Dispose();
            _handle = handle;
            _canWrite = true;
        }
    }

    private static void Flush(SafeFileHandle handle) => RandomAccess.FlushToDisk(handle);

    private static void FlushDirectory(string directory)
    {
        if (OperatingSystem.IsLinux() && LinuxPlatform.TryOpen(directory, LinuxNative.ReadOnly, out SafeFileHandle handle) == 0)
        {
            using (handle)
            {
                _ = LinuxNative.SyncData(handle); // Some file systems have nothing to flush and say so with an error.
            }
        }
    }

    private Channel RequireChannel()
    {
        ObjectDisposedException.ThrowIf(_isClosed, typeof(DistributedFileStoreCacheString));
        Channel channel = _view.Channel;
        if (channel.IsShared ? channel is { IsCurrent: true, CanWrite: true } : _isMappingRefused)
        {
            return channel;
        }

        string directory = Path.GetDirectoryName(_path)!;
        if (!Directory.Exists(directory))
        {
            throw new DirectoryNotFoundException(
                $"The directory '{directory}' of the cache file does not exist. Create it, or set PathToCacheFileDirectory to one that does.");
        }

        lock (_gate)
        {
            ReopenChannel();
            return _view.Channel;
        }
    }

    // Under the gate.
    private void ReopenChannel()
    {
        Channel before = _view.Channel;
        Channel channel = OpenChannel();
        if (!channel.IsShared && !before.IsShared)
        {
            channel.Close();
            return;
        }

        _view = new View(channel, _view.Table);
        _generation = View.Stale;
        _base = OutsideBase;
        _mustLook = true;

        // The earlier channel goes when it is collected: another thread may be waiting for its turn there.
    }

    private Channel OpenChannel()
    {
        if (!_isMappingRefused && MappedChannel.TryOpen(_sidePath, _path, out _isMappingRefused) is { } mapped)
        {
            return mapped;
        }

        return new LockFileChannel(_sidePath);
    }
}
