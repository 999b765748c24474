using Cairn.FileStore.Entries;
using Cairn.FileStore.Format;
using Cairn.FileStore.Sharing;
using Cairn.Platform;
using Cairn.Platform.Linux;
using Microsoft.Win32.SafeHandles;

namespace Cairn.FileStore.Engine;

// Changing the file, during this process's turn.
//
// A change is appended. The file is rewritten instead (E6) in these cases: more than half of it is garbage; entries in it have expired (with
// a limit of the frequency); it is new, empty, truncated or in an older format; or all entries are cleared.
//
// A writer that dies leaves one of these: the unchanged file; a completely appended change, which counts; an incompletely appended change,
// which the next writer removes; or a temporary file with a fixed name, which the next rewrite overwrites.
internal sealed partial class FileEngine
{
    // A rewrite flushes to the disk, so small files are not rewritten often.
    private const long LeastGarbageBytes = 256 << 10;

    // A rewrite that removes expired entries is followed by a rest of one second for each megabyte of the file. After a time without
    // rewrites, this many need no rest.
    private const int RewritesWithoutRest = 20;
    private const long BytesOfRestSecond = 1 << 20;

    // The number of attempts of a change if the file is replaced during each of them.
    private const int MostReplacements = 20;

    /// <summary>Makes all of the changes or, if it fails, none of them.</summary>
    /// <param name="changes">The changes, in order.</param>
    /// <param name="isClearing">Whether all existing entries are removed first.</param>
    /// <exception cref="FileStoreFormatException">The file is not a cache file now.</exception>
    /// <exception cref="DistributedFileStoreCacheException">
    /// The file would exceed its size limit, or a lock was not available in time.
    /// </exception>
    /// <exception cref="IOException">
    /// The file could not be written and is unchanged. Or, if the message says so, the change is made but possibly not durable.
    /// </exception>
    /// <exception cref="UnauthorizedAccessException">The user has no permission to write the file.</exception>
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

    /// <summary>Rewrites the file without garbage. A file of the old format is converted to the current format.</summary>
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

    /// <summary>Makes the changes unless another thread of this process is writing. Returns whether the changes were made.</summary>
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
                    // Another program may have removed the side file while this thread waited.
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
                throw new IOException($"The cache file '{_path}' was replaced by another program before each attempt to write it. Try again.");
            }
        }
    }

    // Returns false if the file was replaced in the meantime.
    private bool TryChange(ReadOnlySpan<EntryChange> changes, bool isClearing)
    {
        _mustLook = true; // If a step below fails, the next read brings the table up to date.
        try
        {
            CatchUp(hasTurn: true);
        }
        catch (Exception e) when (isClearing && e is OverflowException or FileStoreFormatException)
        {
            // The file is cleared, so its content does not matter.
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
        bool mustRewrite = isClearing || _mustRewrite || _isToCompact || _hasUnwrittenPages;
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
        RequireWithinSizeLimit(newLength);
        try
        {
            RandomAccess.Write(_handle!, _buffer.WrittenSpan, _end);
            if (newLength < length)
            {
                RandomAccess.SetLength(_handle!, newLength); // The file had white space at its end.
            }

            if (_options.Durability == FileStoreDurability.PowerLoss)
            {
                FlushAppended();
            }
        }
        catch (IOException e)
        {
            throw new IOException(
                $"The cache file '{_path}' could not be written, so {(TryUndoAppend() ? "nothing is changed" : "the change is possibly incomplete")}: {e.Message}", e);
        }

        // Checks the path, not the handle: if the path leads to another file now, the change is in a file that no process reads any more.
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

    // After a failed flush, the system takes the file's pages for written. A later flush would succeed, although the disk does not have them.
    private void FlushAppended()
    {
        try
        {
            HostPlatform.Current.FlushFile(_handle!, $"the cache file '{_path}'");
        }
        catch (IOException)
        {
            _hasUnwrittenPages = true;
            throw;
        }
    }

    // Writes the closing brackets back to their former offset. The file already has allocated those bytes. If this fails, the file is truncated, or it has a
    // part of the change or all of it. Readers and the next writer can read that (F2).
    private bool TryUndoAppend()
    {
        try
        {
            RandomAccess.SetLength(_handle!, _end);
            RandomAccess.Write(_handle!, FileFormat.Closing, _end);
            return true;
        }
        catch (IOException)
        {
            return false;
        }
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
        _view.Snapshot = null; // Cleared before the new entries are visible, so that no caller sees them and then this older snapshot.
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
        RequireWithinSizeLimit(_buffer.WrittenCount);
        string target = new FileInfo(_path) is { LinkTarget: not null } link ? link.ResolveLinkTarget(returnFinalTarget: true)!.FullName : _path;
        string temporary = target + ".rewriting";
        string? backup = null;
        try
        {
            backup = KeepOldFormat(temporary);
            WriteTemporary(temporary, target);
            if (!FileStamp.Of(_path).IsSameFile(_seen) && _seen.Exists)
            {
                return Abandon(temporary, backup);
            }

            File.Move(temporary, target, overwrite: true);
        }
        catch (Exception e) when (e is IOException or UnauthorizedAccessException)
        {
            Abandon(temporary, backup);
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
        if (_options.Durability == FileStoreDurability.PowerLoss)
        {
            FlushName(Path.GetDirectoryName(target)!);
        }

        return true;
    }

    // Until the name is durable, the old file can return after a power loss. So the next change writes another new file if this fails.
    private void FlushName(string directory)
    {
        try
        {
            HostPlatform.Current.FlushDirectory(directory);
        }
        catch (StoreException e)
        {
            _hasUnwrittenPages = true;
            throw new IOException($"The cache file '{_path}' is changed, but a power loss may undo the change: {e.Message}", e);
        }
    }

    // Writes the whole file to the buffer, and returns the table of its entries.
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

    // A write beyond the limit would end the process (SIGXFSZ).
    private void RequireWithinSizeLimit(long length)
    {
        if (OperatingSystem.IsLinux() && LinuxStoreFile.IsBeyondSizeLimit(length))
        {
            throw new IOException(
                $"The cache file '{_path}' would have {length:N0} bytes, more than the limit of this process ('ulimit -f'), so nothing is changed. Raise the limit.");
        }
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
        HostPlatform.Current.FlushFile(handle, $"the cache file '{target}'"); // Without the flush, a power loss could leave the file with its new name and without content.
    }

    private static void KeepOwner(SafeFileHandle handle, string target)
    {
        if (OperatingSystem.IsLinux() &&
            LinuxNative.StatPath(target, flags: 0, out LinuxNative.FileStatus old) == 0 &&
            LinuxNative.StatFile(handle, out LinuxNative.FileStatus own) == 0 &&
            (old.User != own.User || old.Group != own.Group))
        {
            _ = LinuxNative.ChangeOwner(handle, old.User, old.Group); // Without the permission, the file belongs to this user from now on.
        }
    }

    private static bool Abandon(string temporary, string? backup)
    {
        try
        {
            File.Delete(temporary);
            File.Delete(backup ?? temporary); // The next rewrite makes another.
        }
        catch (Exception e) when (e is IOException or UnauthorizedAccessException)
        {
            // The next rewrite overwrites the temporary file.
        }

        return false;
    }

    // Keeps a backup of the file that Net.DistributedFileStoreCache wrote, for users who return to that library. It gets its name when it is complete.
    // Returns its path. Null if the file has another format.
    private string? KeepOldFormat(string temporary)
    {
        if (!_isOldFormat)
        {
            return null;
        }

        for (int number = 1; ; number++)
        {
            string backup = string.Create(CultureInfo.InvariantCulture, $"{_path}.backup{(number == 1 ? "" : number)}");
            if (!File.Exists(backup))
            {
                File.Copy(_path, temporary, overwrite: true);
                File.Move(temporary, backup);
                return backup;
            }
        }
    }

    // ---- Steps ------------------------------------------------------------------------------------------------------

    // Leaves out changes without an effect: the removal of a missing key, and the touch of an entry that is gone, that has another value, or
    // that does not expire earlier.
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

    // Removes expired entries together with the next change, which requires a rewrite. If entries expire all the time, most changes append
    // (MayRewrite). Returns true if the file was rewritten with the changes, or if isReplaced says that another program replaced it in the
    // meantime.
    private bool TryDropExpired(ReadOnlySpan<EntryChange> changes, out bool isReplaced)
    {
        isReplaced = false;
        EntryTable table = _view.Table;
        long now = NowTicks;
        if (table.EarliestExpiryTicks > now)
        {
            return false;
        }

        // If nothing is swept, the entry that would have expired was replaced in the meantime.
        if (!MayRewrite(now) || !table.Sweep(now))
        {
            return false;
        }

        try
        {
            isReplaced = !Rewrite(changes, isClearing: false);
            return true;
        }
        catch (Exception e) when (e is IOException or UnauthorizedAccessException && !_hasUnwrittenPages)
        {
            CountRewrite();
            return false; // There is no disk space or no permission for a new file. The change itself may still succeed.
        }
    }

    // _restedTicks is the time at which the rests of all earlier rewrites are over. It may be in the future by the rests of 20 rewrites.
    private bool MayRewrite(long now)
    {
        if (_restedTicks - now > RewritesWithoutRest * RestTicks)
        {
            _restedTicks = now; // The clock was set back, or the file has become smaller.
        }

        return _restedTicks - now <= (RewritesWithoutRest - 1) * RestTicks;
    }

    private void CountRewrite()
    {
        long now = NowTicks;
        _restedTicks = Math.Min(Math.Max(now, _restedTicks), now + ((RewritesWithoutRest - 1) * RestTicks)) + RestTicks;
    }

    private long RestTicks => Math.Max(1, _seen.Length / BytesOfRestSecond) * TimeSpan.TicksPerSecond;

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

    // Compares the limit with the size that the file would have without garbage. Only growth is refused, so a removal always works.
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
            // A key that occurs more than once counts once.
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
            // The file may have become writable since it was opened.
            SafeFileHandle? handle = OpenFile(FileAccess.ReadWrite);
            if (handle is null || !FileStamp.Of(handle, _path).IsSameFile(_seen))
            {
                handle?.Dispose();
                throw new FileInUseException($"The cache file '{_path}' was replaced while it was being written.");
            }

            _handle?.Dispose();
            _handle = handle;
            _canWrite = true;
        }
    }

    private Channel RequireChannel()
    {
        ObjectDisposedException.ThrowIf(_isClosed, _options.Owner);
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

    // Requires the gate.
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

        // The garbage collector releases the earlier channel, because another thread may still wait for its turn there.
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
