using Cairn.Collections;
using Cairn.Encryption;
using Cairn.Engine;
using Cairn.Invalidation;
using Cairn.Keys;
using Cairn.Opening;
using Cairn.Snapshots;
using Cairn.Storage;

namespace Cairn;

/// <summary>
/// A cache in one memory-mapped file, which any number of processes on a machine share at memory speed. Bounded in bytes, and intact
/// after any process is killed at any moment.
/// </summary>
/// <remarks>
/// <para>The store is its own default collection: the operations are those of <see cref="CairnCollection"/>.</para>
/// <para>
/// What was written survives the end of every process. It survives a restart of the machine if the last process closed the store
/// before it (<see cref="StoreOptions.FlushOnClose"/>); otherwise the store then starts empty, because what the disk has may be older than
/// what was acknowledged.
/// </para>
/// <para>
/// Open a store once in a process and share it. A store that a process opens twice counts as two of at most 255 openings.
/// </para>
/// </remarks>
/// <example>
/// <code>
/// using var store = CairnStore.Open(new StoreOptions { Path = "books.cairn" });
/// store.Set("book:42", "Dune"u8, TimeSpan.FromMinutes(5));
/// string? title = store.GetString("book:42");
/// </code>
/// </example>
public sealed unsafe partial class CairnStore : CairnCollection, IDisposable
{
    private static readonly TimeSpan CounterInterval = TimeSpan.FromSeconds(1);
    private static readonly TimeSpan SweepInterval = TimeSpan.FromSeconds(1);

    private readonly OpenedStore _opened;
    private readonly Timer _counterTimer;
    private readonly ExpirySweeper _sweeper;
    private readonly Timer? _sweepTimer;
    private readonly Lock _collectionsLock = new();
    private readonly Dictionary<string, CairnCollection> _collections = new(StringComparer.Ordinal);
    private int _isDisposed;

    private CairnStore(OpenedStore opened)
        : base(opened.Engine, string.Empty, 0)
    {
        _opened = opened;

        // The timer must not keep a forgotten store alive.
        _counterTimer = new Timer(
            static state =>
            {
                (WeakReference<Checkpointer> reference, long logFileBytes) = ((WeakReference<Checkpointer>, long))state!;
                if (reference.TryGetTarget(out Checkpointer? checkpointer) && !checkpointer.Engine.IsClosed)
                {
                    checkpointer.Engine.FlushHitCounters();
                    checkpointer.RunIfDue(logFileBytes);
                }
            },
            (new WeakReference<Checkpointer>(opened.Checkpointer), opened.Options.CheckpointsByItself ? opened.Options.LogFileBytes : long.MaxValue),
            CounterInterval,
            CounterInterval);
        _sweeper = new ExpirySweeper(opened.Engine);
        if (opened.Options.RemovesExpired)
        {
            _sweepTimer = new Timer(
                static state => Sweep((WeakReference<ExpirySweeper>)state!), new WeakReference<ExpirySweeper>(_sweeper), SweepInterval, SweepInterval);
        }

        if (opened.Options.PreTouch)
        {
            StoreMemory memory = opened.Engine.Memory;
            _ = Task.Run(() => PreTouch(memory, opened.Engine));
        }
    }

    /// <summary>The store's file.</summary>
    public string Path => _opened.Options.Path;

    /// <summary>The options it was opened with. The sizes of a file that existed are in <see cref="GetStatistics"/>.</summary>
    public StoreOptions Options => _opened.Options;

    /// <summary>What is worth telling the user about this opening: the store was emptied, or is larger than memory. Usually empty.</summary>
    public IReadOnlyList<string> Warnings => _opened.Warnings;

    /// <summary>Independent parts of the store, each with its own lock and its own stream of changes: 1 to 64, by capacity.</summary>
    public int PartitionCount => Engine.Memory.PartitionCount;

    /// <summary>The longest value: the smaller of 64 MiB and an eighth of the capacity; in an encrypted store 65,578 bytes less.</summary>
    public int MaxValueBytes => LongestValueBytes;

    /// <summary>Whether keys and values are encrypted.</summary>
    public bool IsEncrypted => Engine.Cipher is not null;

    /// <summary>Whether the file has never been opened before.</summary>
    internal bool IsFirstOpening => Engine.Memory.Super->OpenCount == 1;

    /// <summary>Names of the collections that exist.</summary>
    public IReadOnlyList<string> CollectionNames
    {
        get
        {
            Engine.ThrowIfClosed();
            return CollectionTable.Names(Engine.Memory);
        }
    }

    /// <summary>Opens a store, or creates it.</summary>
    /// <param name="options">Where it is and how large it is made.</param>
    /// <returns>The store. Dispose it to close it.</returns>
    /// <exception cref="ArgumentException">An option is outside its range.</exception>
    /// <exception cref="FileNotFoundException">The file does not exist, and the mode is <see cref="StoreOpenMode.OpenExisting"/>.</exception>
    /// <exception cref="DirectoryNotFoundException">The file's directory does not exist.</exception>
    /// <exception cref="UnauthorizedAccessException">This user may not read and write the file.</exception>
    /// <exception cref="StoreCorruptException">The file is not a store, or too damaged to be opened.</exception>
    /// <exception cref="StoreVersionException">The file was written by a version of Cairn that this one does not understand.</exception>
    /// <exception cref="StoreUnsupportedFileSystemException">The file is on a network or user-space file system.</exception>
    /// <exception cref="StoreEncryptionException">The key or password is missing or wrong, or the store is not encrypted.</exception>
    /// <exception cref="StoreException">The disk is full, the store is open 255 times, or another system error; the message tells.</exception>
    public static CairnStore Open(StoreOptions options)
    {
        ArgumentNullException.ThrowIfNull(options);
        return new CairnStore(StoreOpener.Open(options));
    }

    /// <summary>Opens or creates a collection: keys of its own within the store.</summary>
    /// <param name="name">1 to 192 bytes in UTF-8.</param>
    /// <param name="options">
    /// What it is to be; null leaves an existing collection as it is. One that comes under the log (<see cref="CollectionOptions.Durability"/>) with entries in
    /// it is written to a snapshot before this returns. The region of an existing collection cannot be changed.
    /// </param>
    /// <returns>The collection, the same object for the same name.</returns>
    /// <exception cref="ArgumentException">The name or an option is outside its range.</exception>
    /// <exception cref="StoreException">The store has 127 collections already, or its lock could not be had in time.</exception>
    public CairnCollection Collection(string name, CollectionOptions? options = null)
    {
        ArgumentException.ThrowIfNullOrEmpty(name);
        options?.Validate();
        Engine.ThrowIfClosed();
        lock (_collectionsLock)
        {
            if (!_collections.TryGetValue(name, out CairnCollection? collection) || options is not null)
            {
                uint number = CollectionOpening.OpenOrCreate(Engine, name, options, out bool cameUnderLog);
                if (cameUnderLog)
                {
                    Checkpoint();
                }

                collection ??= new CairnCollection(Engine, name, number);
                _collections[name] = collection;
            }

            return collection;
        }
    }

    /// <summary>Removes everything in every collection.</summary>
    /// <returns>False if a part could not be cleared within the lock's time-out, because a process that holds its lock is stopped.</returns>
    /// <remarks>
    /// Collections keep their options, and maps the types of their keys and values: programs that have them open go on writing to them, and nobody is to
    /// read text as numbers.
    /// </remarks>
    public bool ClearAll()
    {
        Engine.ThrowIfClosed();
        List<(CairnCollection Collection, string Name, byte[] Types)> types = MapTypes.ReadAll(this);
        bool isCleared = Engine.Clear(0, isAll: true);
        MapTypes.RecordAgain(types);
        return isCleared;
    }

    /// <summary>Begins a transaction: writes to several keys of kept collections that happen together or not at all.</summary>
    /// <returns>An empty one. It holds nothing: one that is not committed is simply forgotten.</returns>
    public StoreTransaction BeginTransaction()
    {
        Engine.ThrowIfClosed();
        return new StoreTransaction(Engine);
    }

    /// <summary>Returns when everything that logged collections have acknowledged, in any process, is on the disk.</summary>
    /// <remarks>
    /// A write to such a collection (<see cref="CollectionOptions.Durability"/>) waits for that by itself. Other collections are not brought to the disk
    /// before the store is closed.
    /// </remarks>
    /// <exception cref="StoreReadOnlyException">The disk has failed.</exception>
    public void Flush() => Engine.Flush();

    /// <summary>As <see cref="Flush"/>, without blocking a thread.</summary>
    /// <param name="cancellationToken">Ends the waiting, not what is waited for.</param>
    /// <returns>Complete when everything is on the disk.</returns>
    /// <exception cref="StoreReadOnlyException">The disk has failed.</exception>
    public ValueTask FlushAsync(CancellationToken cancellationToken = default) => Engine.FlushAsync(cancellationToken);

    /// <summary>The partition a key belongs to.</summary>
    /// <param name="key">1 to 65,536 bytes, or text, of the store's own collection.</param>
    /// <returns>0 to <see cref="PartitionCount"/> - 1.</returns>
    public int PartitionOf(CacheKey key) => PlaceOf(this, key).Partition;

    /// <summary>The hash by which changes of a key are reported.</summary>
    /// <param name="key">1 to 65,536 bytes, or text.</param>
    /// <param name="collection">The collection it is in; null for the store's own.</param>
    /// <returns>The hash: the same in every process that has this store open.</returns>
    public ulong HashOf(CacheKey key, CairnCollection? collection = null) => PlaceOf(collection ?? this, key).Hash;

    /// <summary>Where the changes of a partition stand now.</summary>
    /// <param name="partition">0 to <see cref="PartitionCount"/> - 1.</param>
    /// <returns>A cursor for <see cref="ReadInvalidations"/>.</returns>
    /// <remarks>
    /// A cache above the store takes a cursor before it reads an entry, and looks for changes after it has kept a copy: then no
    /// change in between is missed.
    /// </remarks>
    public InvalidationCursor GetInvalidationCursor(int partition)
    {
        Engine.ThrowIfClosed();
        InvalidationCursor cursor = InvalidationRing.Now(PartitionAt(partition));
        GC.KeepAlive(Engine);
        return cursor;
    }

    /// <summary>Which keys of a partition were set or removed since the cursor.</summary>
    /// <param name="partition">0 to <see cref="PartitionCount"/> - 1.</param>
    /// <param name="cursor">Moved behind what is reported.</param>
    /// <param name="hashes">Receives the hashes (<see cref="HashOf"/>) of changed keys, with repetitions, in the order of the changes.</param>
    /// <param name="count">How many hashes there are.</param>
    /// <returns>
    /// <see cref="InvalidationStatus.None"/>, which costs about a nanosecond; <see cref="InvalidationStatus.Changed"/>: there may be
    /// more; or <see cref="InvalidationStatus.Overrun"/>: everything of the partition may have changed.
    /// </returns>
    /// <remarks>A change is reported once the operation that made it has returned. Evictions and expirations are not changes.</remarks>
    public InvalidationStatus ReadInvalidations(
        int partition, ref InvalidationCursor cursor, Span<ulong> hashes, out int count)
    {
        Engine.ThrowIfClosed();
        InvalidationStatus status = InvalidationRing.Read(Engine.Memory, PartitionAt(partition), ref cursor, hashes, out count);
        GC.KeepAlive(Engine);
        return status;
    }

    /// <summary>Closes the store. What it holds stays; see <see cref="StoreOptions.FlushOnClose"/> for restarts of the machine.</summary>
    /// <remarks>
    /// Waits for writes that other threads have begun. Their later operations throw <see cref="ObjectDisposedException"/>. Values that are
    /// still pinned stay readable.
    /// </remarks>
    public void Dispose()
    {
        if (TryBeginDispose())
        {
            StoreOpener.Close(_opened);
        }
    }

    /// <summary>Closes the store and removes its file, unless another process has it open.</summary>
    internal void Discard()
    {
        if (TryBeginDispose())
        {
            StoreOpener.Discard(_opened);
        }
    }

    private bool TryBeginDispose()
    {
        if (Interlocked.Exchange(ref _isDisposed, 1) != 0)
        {
            return false;
        }

        _counterTimer.Dispose();
        _sweepTimer?.Dispose();
        _opened.Checkpointer.Stop();
        return true;
    }

    /// <summary>Does now what the timer does each second: takes out what has expired, this opening's share of it.</summary>
    internal SweepTurn SweepExpired() => _sweeper.Run();

    private static void Sweep(WeakReference<ExpirySweeper> reference)
    {
        if (!reference.TryGetTarget(out ExpirySweeper? sweeper))
        {
            return;
        }

        try
        {
            sweeper.Run();
        }
        catch (ObjectDisposedException)
        {
            // The store was closed meanwhile.
        }
    }

    private static void PreTouch(StoreMemory memory, StoreEngine engine)
    {
        const long Step = 16L << 20;
        long end = memory.Layout.FileBytes(memory.SegmentCount);
        for (long offset = 0; offset < end && !engine.IsClosed; offset += Step)
        {
            if (!memory.Region.Populate(offset, Math.Min(Step, end - offset), write: true))
            {
                return;
            }
        }

        GC.KeepAlive(memory);
    }

    private Storage.KeyPlacement PlaceOf(CairnCollection collection, CacheKey key)
    {
        Engine.ThrowIfClosed();
        Span<byte> buffer = stackalloc byte[EncodedKey.StackBytes];
        var encoded = new EncodedKey(key, buffer);
        KeyTag tag;
        fixed (byte* bytes = encoded.Bytes)
        {
            Storage.KeyPlacement place = collection.Place(bytes, encoded.Bytes.Length, &tag).Place;
            encoded.Release();
            return place;
        }
    }

    private PartitionBlock* PartitionAt(int partition)
    {
        ArgumentOutOfRangeException.ThrowIfNegative(partition);
        ArgumentOutOfRangeException.ThrowIfGreaterThanOrEqual(partition, PartitionCount);
        return Engine.Memory.Partition(partition);
    }
}
