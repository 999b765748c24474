using Cairn.Collections;
using Cairn.Engine;
using Cairn.Invalidation;
using Cairn.Opening;
using Cairn.Platform;
using Cairn.Snapshots;

namespace Cairn;

/// <summary>
/// A cache in one memory-mapped file. Any number of processes on a machine share it at memory speed. Its size is limited in bytes. It stays intact if a
/// process is killed at any moment.
/// </summary>
/// <remarks>
/// <para>
/// Entries are in collections. A program that needs only one collection uses <see cref="DefaultCollection"/>. <see cref="Collection"/> opens others by name.
/// </para>
/// <para>
/// A write survives the end of every process. It survives a restart of the machine if the last process closed the store before the restart
/// (<see cref="StoreOptions.FlushOnClose"/>). Otherwise the store starts empty after the restart, because the content of the disk can be older than the
/// acknowledged writes.
/// </para>
/// <para>
/// Open a store once in a process and share the object. If a process opens a store twice, it uses two of the at most 255 openings.
/// </para>
/// </remarks>
/// <example>
/// <code>
/// using var store = CairnStore.Open(new StoreOptions { Path = "books.cairn" });
/// store.DefaultCollection.Set("book:42", "Dune"u8, TimeSpan.FromMinutes(5));
/// string? title = store.DefaultCollection.GetString("book:42");
/// </code>
/// </example>
public sealed unsafe partial class CairnStore : IDisposable, IClosedAtExit
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
    {
        _opened = opened;
        Engine = opened.Engine;
        DefaultCollection = new CairnCollection(this, string.Empty, 0);

        // The timer holds only a weak reference, so that it does not keep a forgotten store alive.
        _counterTimer = BackgroundThread.StartTimer(
            static state =>
            {
                (WeakReference<Checkpointer> reference, long logFileBytes) = ((WeakReference<Checkpointer>, long))state!;
                if (reference.TryGetTarget(out Checkpointer? checkpointer) && !checkpointer.Engine.IsClosed)
                {
                    DoRegularWork(checkpointer, logFileBytes);
                }
            },
            (new WeakReference<Checkpointer>(opened.Checkpointer), opened.Options.CheckpointsByItself ? opened.Options.LogFileBytes : long.MaxValue),
            CounterInterval,
            opened.Options.Path);
        _sweeper = new ExpirySweeper(opened.Engine);
        if (opened.Options.RemovesExpired)
        {
            _sweepTimer = BackgroundThread.StartTimer(
                static state => Sweep((WeakReference<ExpirySweeper>)state!), new WeakReference<ExpirySweeper>(_sweeper), SweepInterval, opened.Options.Path);
        }

        if (opened.Options.PreTouch)
        {
            StoreMemory memory = opened.Engine.Memory;
            _ = Task.Run(() => PreTouch(memory, opened.Engine));
        }
    }

    /// <summary>The store's file.</summary>
    public string Path => _opened.Options.Path;

    /// <summary>Gets the options of this opening. If the file existed, its sizes are in <see cref="GetStatistics"/>.</summary>
    public StoreOptions Options => _opened.Options;

    /// <summary>
    /// Gets the warnings of this opening for the user: the store was emptied, or it is larger than memory. Usually the list is empty.
    /// </summary>
    public IReadOnlyList<string> Warnings => _opened.Warnings;

    /// <summary>
    /// Gets the number of partitions: 1 to 64, depending on the capacity. Each partition has its own lock and its own invalidation ring.
    /// </summary>
    public int PartitionCount => Engine.Memory.PartitionCount;

    /// <summary>
    /// Gets the length in bytes of the longest value: the smaller of 64 MiB and an eighth of the capacity. In an encrypted store it is 65,578 bytes less.
    /// </summary>
    public int MaxValueBytes => DefaultCollection.LongestValueBytes;

    /// <summary>Gets whether keys and values are encrypted.</summary>
    public bool IsEncrypted => Engine.Cipher is not null;

    /// <summary>Gets whether this is the file's first opening.</summary>
    internal bool IsFirstOpening => Engine.Memory.Super->OpenCount == 1;

    /// <summary>Gets the collection without a name. Every store has it from the beginning.</summary>
    public CairnCollection DefaultCollection { get; }

    internal StoreEngine Engine { get; }

    /// <summary>Gets the names of the existing collections. The default collection has no name.</summary>
    public IReadOnlyList<string> CollectionNames
    {
        get
        {
            Engine.ThrowIfClosed();
            return CollectionTable.Names(Engine.Memory);
        }
    }

    /// <summary>Opens a store, or creates it.</summary>
    /// <param name="options">The path and the size of the store.</param>
    /// <returns>The store. Dispose it to close it.</returns>
    /// <exception cref="ArgumentException">An option is outside its range.</exception>
    /// <exception cref="FileNotFoundException">The file does not exist, and the mode is <see cref="StoreOpenMode.OpenExisting"/>.</exception>
    /// <exception cref="DirectoryNotFoundException">The file's directory does not exist.</exception>
    /// <exception cref="UnauthorizedAccessException">This user may not read and write the file.</exception>
    /// <exception cref="StoreCorruptException">The file is not a store, or too damaged to be opened.</exception>
    /// <exception cref="StoreVersionException">A version of Cairn wrote the file in a format that this version does not read.</exception>
    /// <exception cref="StoreUnsupportedFileSystemException">The file is on a network or user-space file system.</exception>
    /// <exception cref="StoreEncryptionException">The key or password is missing or wrong, or the store is not encrypted.</exception>
    /// <exception cref="StoreException">
    /// The disk is full, the store is already open 255 times, or another system error. The message names the cause.
    /// </exception>
    public static CairnStore Open(StoreOptions options)
    {
        ArgumentNullException.ThrowIfNull(options);
        OpenedStore opened = StoreOpener.Open(options);
        try
        {
            return new CairnStore(opened);
        }
        catch
        {
            opened.Checkpointer.Stop();
            if (opened.IsNew)
            {
                StoreOpener.Discard(opened);
            }
            else
            {
                StoreOpener.Close(opened); // Otherwise the file would count as in use until the process ends.
            }

            throw;
        }
    }

    /// <summary>Opens or creates a collection, which has its own keys within the store.</summary>
    /// <param name="name">1 to 192 bytes in UTF-8.</param>
    /// <param name="options">
    /// The options of the collection. Null leaves an existing collection unchanged. If the new options make a collection with entries a logged collection
    /// (<see cref="CollectionOptions.Durability"/>), its entries are written to a snapshot before this method returns. The region of an existing collection
    /// cannot be changed.
    /// </param>
    /// <returns>The collection. The same name always returns the same object.</returns>
    /// <exception cref="ArgumentException">The name or an option is outside its range.</exception>
    /// <exception cref="StoreException">The store already has 127 collections, or its lock could not be acquired in time.</exception>
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

                collection ??= new CairnCollection(this, name, number);
                _collections[name] = collection;
            }

            return collection;
        }
    }

    /// <summary>Removes everything in every collection.</summary>
    /// <returns>
    /// False if a part could not be cleared within the lock's time-out, because a stopped process holds its lock.
    /// </returns>
    /// <remarks>
    /// Collections keep their options, and maps keep the recorded types of their keys and values. Programs that have a map open continue to write to it,
    /// and the recorded types prevent that another program reads text as numbers.
    /// </remarks>
    public bool ClearAll()
    {
        Engine.ThrowIfClosed();
        List<(CairnCollection Collection, string Name, byte[] Types)> types = MapTypes.ReadAll(this);
        bool isCleared = Engine.Clear(0, isAll: true);
        MapTypes.RecordAgain(types);
        return isCleared;
    }

    /// <summary>Begins a transaction: several writes to keys of kept collections that happen together or not at all.</summary>
    /// <returns>An empty transaction. Commit it, then dispose it. Disposing an uncommitted transaction discards its operations.</returns>
    public StoreTransaction BeginTransaction()
    {
        Engine.ThrowIfClosed();
        return new StoreTransaction(Engine);
    }

    /// <summary>Waits until all acknowledged writes to logged collections, by any process, are durable.</summary>
    /// <remarks>
    /// A write to a logged collection (<see cref="CollectionOptions.Durability"/>) waits for its own durability. Other collections are written to the disk
    /// only when the store is closed.
    /// </remarks>
    /// <exception cref="StoreReadOnlyException">The disk has failed.</exception>
    public void Flush() => Engine.Flush();

    /// <summary>Does the same as <see cref="Flush"/>, but blocks no thread.</summary>
    /// <param name="cancellationToken">Ends the wait. It does not stop the writing to the disk.</param>
    /// <returns>A task that is complete when all these writes are durable.</returns>
    /// <exception cref="StoreReadOnlyException">The disk has failed.</exception>
    public ValueTask FlushAsync(CancellationToken cancellationToken = default) => Engine.FlushAsync(cancellationToken);

    /// <summary>Returns a cursor at the present end of a partition's invalidation ring.</summary>
    /// <param name="partition">0 to <see cref="PartitionCount"/> - 1.</param>
    /// <returns>A cursor for <see cref="ReadInvalidations"/>.</returns>
    /// <remarks>
    /// A cache above the store takes a cursor before it reads an entry. It reads the invalidations after it has stored its copy. Then it misses no change
    /// between the two.
    /// </remarks>
    public InvalidationCursor GetInvalidationCursor(int partition)
    {
        Engine.ThrowIfClosed();
        InvalidationCursor cursor = InvalidationRing.Now(PartitionAt(partition));
        GC.KeepAlive(Engine);
        return cursor;
    }

    /// <summary>Reports the keys of a partition that were set or removed after the cursor.</summary>
    /// <param name="partition">0 to <see cref="PartitionCount"/> - 1.</param>
    /// <param name="cursor">The cursor. It is advanced past the reported changes.</param>
    /// <param name="hashes">
    /// Receives the hashes (<see cref="CairnCollection.HashOf"/>) of the changed keys, in the order of the changes. A hash can occur several times.
    /// </param>
    /// <param name="count">The number of hashes.</param>
    /// <returns>
    /// <see cref="InvalidationStatus.None"/>, which takes about a nanosecond; <see cref="InvalidationStatus.Changed"/>, after which there can be more
    /// changes; or <see cref="InvalidationStatus.Overrun"/>, if everything in the partition must be treated as changed.
    /// </returns>
    /// <remarks>A change is reported after its operation has returned. Evictions and expirations are not reported.</remarks>
    public InvalidationStatus ReadInvalidations(
        int partition, ref InvalidationCursor cursor, Span<ulong> hashes, out int count)
    {
        Engine.ThrowIfClosed();
        InvalidationStatus status = InvalidationRing.Read(Engine.Memory, PartitionAt(partition), ref cursor, hashes, out count);
        GC.KeepAlive(Engine);
        return status;
    }

    /// <summary>
    /// Closes the store. Its content stays in the file. For restarts of the machine see <see cref="StoreOptions.FlushOnClose"/>.
    /// </summary>
    /// <remarks>
    /// The method waits for the writes that other threads have begun. Later operations of those threads throw <see cref="ObjectDisposedException"/>. Values
    /// that are still pinned stay readable.
    /// </remarks>
    public void Dispose()
    {
        if (TryBeginDispose())
        {
            StoreOpener.Close(_opened);
        }
    }

    /// <summary>Closes the store and deletes its file, unless another process has the store open.</summary>
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

    /// <summary>
    /// Runs one sweep of this opening now, instead of waiting for the timer, which runs one each second. A sweep removes expired entries. Without a limit
    /// it ends when no entry is due, so that its result does not depend on other programs of the machine.
    /// </summary>
    internal SweepTurn SweepExpired(TimeSpan? longestTurn = null) => _sweeper.Run(longestTurn ?? TimeSpan.MaxValue);

    private static void Sweep(WeakReference<ExpirySweeper> reference)
    {
        if (!reference.TryGetTarget(out ExpirySweeper? sweeper))
        {
            return;
        }

        try
        {
            sweeper.Run(ExpirySweeper.LongestTurn);
        }
        catch (ObjectDisposedException)
        {
            // The store was closed meanwhile.
        }
        catch (Exception failure) when (failure is IOException or UnauthorizedAccessException)
        {
            sweeper.Engine.Failures.Report("Removing expired entries", failure.Message); // The next turn tries again.
        }
    }

    private static void DoRegularWork(Checkpointer checkpointer, long logFileBytes)
    {
        StoreEngine engine = checkpointer.Engine;
        engine.FlushHitCounters();
        try
        {
            engine.CommitRest();
            checkpointer.RunIfDue(logFileBytes);
        }
        catch (ObjectDisposedException)
        {
            // The store was closed meanwhile.
        }
        catch (Exception failure) when (failure is IOException or UnauthorizedAccessException)
        {
            engine.Failures.Report("Making the last writes durable", failure.Message); // The next turn tries again.
        }

        if (engine.Growth.TakeFailure() is { } reason)
        {
            engine.Failures.Report("Growing the store's file", reason);
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

    private PartitionBlock* PartitionAt(int partition)
    {
        ArgumentOutOfRangeException.ThrowIfNegative(partition);
        ArgumentOutOfRangeException.ThrowIfGreaterThanOrEqual(partition, PartitionCount);
        return Engine.Memory.Partition(partition);
    }
}
