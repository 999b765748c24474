// The view of one process on one cache file: it keeps a table of the entries up to date and changes the file.
//
//   E1  The table is the content of the file as of a generation, or the last valid content if the file is malformed now.
//   E2  An acknowledged write is in the file. The order is: file, commit of the generation, table, return of the call.
//   E3  The bytes of the file before the end of entries that a record names do not change while its base is the same. So readers
//       read appended entries without a lock.
//   E4  Before a writer writes, it has the turn and has brought its table up to date during the turn. It first compares the file with
//       the last record, so it builds on the current content, no matter which program wrote it.
//   E5  A file that is not a cache file is never written to, unless the caller clears all entries.
//   E6  New content that does not begin with the old content replaces the file only by renaming a complete file over it.
//
// Reads take no lock. A reader that finds a newer generation brings the table up to date under the gate. Writers take turns first within the
// process (_writers), then among processes (the channel). They hold the gate while they change the table.
using Cairn.FileStore.Entries;
using Cairn.FileStore.Format;
using Cairn.FileStore.Sharing;
using Microsoft.Win32.SafeHandles;

namespace Cairn.FileStore.Engine;

internal sealed partial class FileEngine : IDisposable
{
    // A read extends a sliding expiration after an eighth of it has passed, because a write for every read would be too expensive.
    private const int SlidingParts = 8;

    private readonly FileEngineOptions _options;
    private readonly string _path;
    private readonly string _sidePath;
    private readonly Lock _writers = new();
    private readonly Lock _gate = new();
    private readonly ArrayBufferWriter<byte> _buffer = new();
    private readonly ChangeTokens _tokens;
    private readonly FileWatch _watch;
    private View _view;

    // The state of the file that the table was read from. Requires the gate.
    private SafeFileHandle? _handle;
    private bool _canWrite;
    private FileStamp _seen;
    private FileStamp _suspect;
    private FileStamp _lastLook;
    private FormatProblem? _problem;
    private long _generation = View.Stale;
    private long _base;
    private long _end;
    private bool _hasEntries;
    private bool _hasContent;
    private bool _isBehind;
    private bool _isProvisional;
    private bool _mustLook = true;
    private bool _mustRewrite = true;
    private bool _hasUnwrittenPages; // A flush of this file, or of its name, has failed.
    private bool _isOldFormat;
    private bool _isEarlierVersion;
    private bool _isToCompact;
    private bool _isMappingRefused;
    private bool _isClosed;
    private long _restedTicks;

    public FileEngine(FileEngineOptions options)
    {
        _options = options;
        _tokens = new ChangeTokens(new TokenSignal(options.Log));
        _path = Path.GetFullPath(options.Path);
        RequireFile(_path);
        _sidePath = SidePathOf(_path);
        _isMappingRefused = options.IsPolledOnly;
        _view = new View(OpenChannel(), new EntryTable());
        _watch = new FileWatch(this, options.PollInterval, options.Clock);
    }

    public string FilePath => _path;

    /// <summary>Gets whether the changes of other processes are visible immediately, not only after a check of the file.</summary>
    public bool IsShared => _view.Channel.IsShared;

    private long NowTicks => _options.Clock.GetUtcNow().UtcTicks;

    public static string SidePathOf(string path) => path + ".sync";

    /// <summary>Returns the value of a key; null if there is none, or if it has expired.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public object? Find(string key)
    {
        if (FindInTable(key) is not { } entry)
        {
            return null;
        }

        return entry.IsPlain || entry.ExpiresTicks == Entry.Never ? entry.Value : FindExpiring(entry);
    }

    /// <summary>Returns the value of a key as text; null if there is none, or if it has expired.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public string? FindText(string key)
    {
        if (FindInTable(key) is not { } entry)
        {
            return null;
        }

        // A plain entry holds a string or null, so its type is not checked. In a large cache this saves a cache miss of the processor.
        return entry.IsPlain ? Unsafe.As<string?>(entry.Value) : TextOf(entry);
    }

    /// <summary>Returns the values of several keys at one point in time; null for a key without a value.</summary>
    public object?[] FindMany(IReadOnlyList<string> keys)
    {
        lock (_gate)
        {
            EntryTable table = BringUpToDate().Table;
            long now = NowTicks;
            var values = new object?[keys.Count];
            for (int i = 0; i < values.Length; i++)
            {
                values[i] = table.Find(keys[i]) is { } entry && entry.IsAliveAt(now) ? entry.Value : null;
            }

            return values;
        }
    }

    /// <summary>Returns the entry of a key with its expiration; null if there is none, or if it has expired.</summary>
    public Entry? FindEntry(string key)
    {
        lock (_gate)
        {
            return BringUpToDate().Table.Find(key) is { } entry && entry.IsAliveAt(NowTicks) ? entry : null;
        }
    }

    /// <summary>Returns all keys and values at one point in time, as text. Returns the same object until an entry changes.</summary>
    public IReadOnlyDictionary<string, string> All()
    {
        View view = _view;
        if (!view.IsCurrent)
        {
            view = Refresh();
        }

        return view.Snapshot is { } snapshot && (snapshot.ValidUntilTicks == Entry.Never || NowTicks < snapshot.ValidUntilTicks)
            ? snapshot.Values
            : TakeSnapshot();
    }

    /// <summary>Returns all entries at one point in time, in the order of their lines.</summary>
    public Entry[] AllEntries()
    {
        lock (_gate)
        {
            return BringUpToDate().Table.InOrder(NowTicks);
        }
    }

    /// <summary>Throws if the file is malformed. Reads do not throw then: they return the last valid content.</summary>
    /// <exception cref="FileStoreFormatException">The file is not a cache file now.</exception>
    public void RequireValid()
    {
        lock (_gate)
        {
            BringUpToDate();
            if (_problem is not null)
            {
                throw Throw.NotACacheFile(_path, _problem);
            }
        }
    }

    /// <summary>Returns a token that fires when the key gets, changes or loses its value; for null, when any entry changes.</summary>
    public Microsoft.Extensions.Primitives.IChangeToken Watch(string? key)
    {
        lock (_gate)
        {
            EntryTable table = BringUpToDate().Table;
            return key is null ? _tokens.ForAll() : _tokens.For(key, table.Find(key));
        }
    }

    /// <summary>Extends a sliding expiration from now on.</summary>
    public void Touch(string key)
    {
        if (FindEntry(key) is { Sliding: { } sliding } entry)
        {
            Prolong(entry, sliding);
        }
    }

    public void Dispose()
    {
        lock (_writers)
        {
            lock (_gate)
            {
                if (_isClosed)
                {
                    return;
                }

                _isClosed = true;
                _watch.Dispose();
                _view.Invalidate(); // Reads then call Refresh, which throws because the engine is closed.
                _view.Channel.Close();
                _handle?.Dispose();
            }
        }
    }

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private Entry? FindInTable(string key)
    {
        View view = _view;
        if (!view.IsCurrent)
        {
            view = Refresh();
        }

        return view.Table.Find(key);
    }

    private string? TextOf(Entry entry)
    {
        object? value = entry.ExpiresTicks == Entry.Never ? entry.Value : FindExpiring(entry);
        return value is null ? null : EntryText.OfValue(value);
    }

    private object? FindExpiring(Entry entry)
    {
        long now = NowTicks;
        if (!entry.IsAliveAt(now))
        {
            return null;
        }

        if (entry.Sliding is { } sliding && entry.ExpiresTicks != sliding.LatestTicks &&
            entry.ExpiresTicks - now < sliding.Ticks - (sliding.Ticks / SlidingParts))
        {
            try
            {
                Prolong(entry, sliding);
            }
            catch (Exception e) when (e is IOException or UnauthorizedAccessException or DistributedFileStoreCacheException)
            {
                // The read has its value. A failed extension of the expiration is no reason to fail the read.
            }
        }

        return entry.Value;
    }

    private void Prolong(Entry entry, SlidingTimes sliding)
    {
        long expires = Math.Min(NowTicks + sliding.Ticks, sliding.LatestTicks);
        Change([new EntryChange(entry.With(expires, entry.LineBytes), IsTouch: true)], isClearing: false);
    }

    private IReadOnlyDictionary<string, string> TakeSnapshot()
    {
        lock (_gate)
        {
            View view = BringUpToDate();
            long now = NowTicks;
            long validUntil = Entry.Never;
            var values = new Dictionary<string, string>(view.Table.Count, StringComparer.Ordinal);
            foreach (Entry entry in view.Table.InOrder(now))
            {
                values.Add(entry.Key, EntryText.OfValue(entry.Value!));
                validUntil = Math.Min(validUntil, entry.ExpiresTicks);
            }

            // The read-only wrapper prevents a caller from changing the dictionary that other callers share.
            view.Snapshot = new Snapshot(values.AsReadOnly(), validUntil);
            return view.Snapshot.Values;
        }
    }
}
