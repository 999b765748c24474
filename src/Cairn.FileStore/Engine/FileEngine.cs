// One cache file as one process sees it: a table of its entries, kept up to date, and the way to change it.
//
//   E1  The table is the content of the file as of a generation, or the last good content if the file is broken now.
//   E2  Whoever has a write acknowledged finds it in the file: it is there before its generation is committed, and that
//       before the table has it and the call returns.
//   E3  Bytes of the file before the end of entries that a record names do not change while its base is the same. So readers
//       read what was appended without a lock.
//   E4  A writer has the turn, and has brought its table up to date in it, before it writes; it compares the file with the
//       last record first, so it builds on what is there, whoever put it there.
//   E5  A file that is not a cache file is never written to, unless everything is cleared.
//   E6  A file gets a new content that does not begin with the old one only by renaming a complete one over it.
//
// Reads take no lock; who finds that there is a newer generation brings the table up to date under the gate. Writers take
// turns in this process first (_writers), then among processes (the channel), and hold the gate while they change the table.
using System.Buffers;
using System.Runtime.CompilerServices;
using Cairn.FileStore.Entries;
using Cairn.FileStore.Format;
using Cairn.FileStore.Sharing;
using Microsoft.Win32.SafeHandles;

namespace Cairn.FileStore.Engine;

internal sealed partial class FileEngine : IDisposable
{
    // A read prolongs a sliding entry when an eighth of its time has passed: a write for every read would cost more than
    // it says.
    private const int SlidingParts = 8;

    private readonly EngineOptions _options;
    private readonly string _path;
    private readonly string _sidePath;
    private readonly Lock _writers = new();
    private readonly Lock _gate = new();
    private readonly ArrayBufferWriter<byte> _buffer = new();
    private readonly ChangeTokens _tokens = new();
    private readonly FileWatch _watch;
    private View _view;

    // Of the file that the table was read from; under the gate.
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
    private bool _isOldFormat;
    private bool _isToCompact;
    private bool _isMappingRefused;
    private bool _isClosed;
    private long _rewrittenTicks;

    public FileEngine(EngineOptions options)
    {
        _options = options;
        _path = Path.GetFullPath(options.Path);
        _sidePath = SidePathOf(_path);
        _isMappingRefused = options.IsPolledOnly;
        _view = new View(OpenChannel(), new EntryTable());
        _watch = new FileWatch(this, options.PollInterval, options.Clock);
    }

    public string FilePath => _path;

    /// <summary>Whether changes of others are seen at once, not by looking at the file now and then.</summary>
    public bool IsShared => _view.Channel.IsShared;

    private long NowTicks => _options.Clock.GetUtcNow().UtcTicks;

    public static string SidePathOf(string path) => path + ".sync";

    /// <summary>What the key has; null if nothing, or it has expired.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public object? Find(string key)
    {
        if (FindInTable(key) is not { } entry)
        {
            return null;
        }

        return entry.IsPlain || entry.ExpiresTicks == Entry.Never ? entry.Value : FindExpiring(entry);
    }

    /// <summary>What the key has, as text; null if nothing, or it has expired.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public string? FindText(string key)
    {
        if (FindInTable(key) is not { } entry)
        {
            return null;
        }

        // Plain: a string or null, so the value itself need not be looked at, which in a large cache is a miss less in the processor's.
        return entry.IsPlain ? Unsafe.As<string?>(entry.Value) : TextOf(entry);
    }

    /// <summary>The entries of several keys at one moment; null where there is none.</summary>
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

    /// <summary>The entry of a key with its times; null if there is none.</summary>
    public Entry? FindEntry(string key)
    {
        lock (_gate)
        {
            return BringUpToDate().Table.Find(key) is { } entry && entry.IsAliveAt(NowTicks) ? entry : null;
        }
    }

    /// <summary>All keys and values at one moment, as text. The same object until something changes.</summary>
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

    /// <summary>All entries at one moment, in the order of their lines.</summary>
    public Entry[] AllEntries()
    {
        lock (_gate)
        {
            return BringUpToDate().Table.InOrder(NowTicks);
        }
    }

    /// <summary>Reads of a file that is not valid give what was there before; for those who should rather hear of it.</summary>
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

    /// <summary>A token that fires when the key has, or has lost, a value; of null, when anything changes.</summary>
    public Microsoft.Extensions.Primitives.IChangeToken Watch(string? key)
    {
        lock (_gate)
        {
            EntryTable table = BringUpToDate().Table;
            return key is null ? _tokens.ForAll() : _tokens.For(key, table.Find(key));
        }
    }

    /// <summary>Lets an entry with a sliding expiration live on from now.</summary>
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
                _view.Invalidate(); // So that reads come to Refresh, which says that it is closed.
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
                // The value is there; that its time could not be prolonged is no reason not to return it.
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
            foreach (Entry entry in view.Table)
            {
                if (entry.IsAliveAt(now))
                {
                    values.Add(entry.Key, EntryText.OfValue(entry.Value!));
                    validUntil = Math.Min(validUntil, entry.ExpiresTicks);
                }
            }

            // Wrapped, so that nobody changes what others get as well.
            view.Snapshot = new Snapshot(values.AsReadOnly(), validUntil);
            return view.Snapshot.Values;
        }
    }
}
