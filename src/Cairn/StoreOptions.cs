using Cairn.Messages;

namespace Cairn;

/// <summary>How a store is opened. Checked as a whole before any file is touched.</summary>
/// <remarks>
/// The sizes are those of a file that is created; a file that exists keeps its own, whatever is asked for here, so two processes
/// may open one store with different options. The lock time-out, the clock and the rest are each opening's own.
/// </remarks>
public sealed record StoreOptions
{
    /// <summary>The least that a store can be: 1 MiB.</summary>
    public const long SmallestCapacityBytes = 1L << 20;

    /// <summary>The most that a store can be: 1 TiB.</summary>
    public const long LargestCapacityBytes = 1L << 40;

    /// <summary>The longest value in any store: 64 MiB. A store's own limit is an eighth of its capacity, if that is less.</summary>
    public const int LargestValueBytes = 64 << 20;

    /// <summary>The least for <see cref="AverageEntryBytes"/>.</summary>
    public const int MinAverageEntryBytes = 32;

    /// <summary>The most for <see cref="AverageEntryBytes"/>.</summary>
    public const int MaxAverageEntryBytes = 1 << 20;

    /// <summary>The least for <see cref="LogFileBytes"/>: 64 KiB.</summary>
    public const long SmallestLogFileBytes = 64L << 10;

    /// <summary>The most for <see cref="LogFileBytes"/>: 1 GiB.</summary>
    public const long LargestLogFileBytes = 1L << 30;

    /// <summary>The store's file. Created if absent; its directory must exist, on a local file system.</summary>
    public required string Path { get; init; }

    /// <summary>
    /// Size of the file in bytes when it is created, 1 MiB to 1 TiB. Default 256 MiB: room for about 1.7 million entries of 100 bytes, and
    /// small enough to be created in a moment. The space is taken from the disk at once, so that it cannot run out later.
    /// </summary>
    public long CapacityBytes { get; init; } = 256L << 20;

    /// <summary>
    /// Size in bytes that the file may grow to, at least <see cref="CapacityBytes"/>, or 0 for no growth. Default 0. The index is
    /// sized for this from the beginning.
    /// </summary>
    public long MaxCapacityBytes { get; init; }

    /// <summary>
    /// Expected size of an entry in bytes: key, value and about 24 bytes of header; 32 to 1,048,576. Default 128. It sizes the index: if
    /// entries are much smaller, the index fills up before the file does and entries are evicted early; if they are much larger,
    /// some index is wasted (at the default, 10 % of the file is index).
    /// </summary>
    public int AverageEntryBytes { get; init; } = 128;

    /// <summary>
    /// How long an operation waits for a partition's lock, above zero, up to an hour. Default 1 second. Locks are held for
    /// microseconds; only a process that was stopped while it held one makes others wait this long.
    /// </summary>
    public TimeSpan LockTimeout { get; init; } = TimeSpan.FromSeconds(1);

    /// <summary>The most for <see cref="CommitDelay"/>: 100 milliseconds.</summary>
    public static readonly TimeSpan LargestCommitDelay = TimeSpan.FromMilliseconds(100);

    /// <summary>
    /// How long a write with <see cref="Durability.GroupCommit"/> waits for others to share its synchronisation of the disk, if there are others
    /// writing; zero to 100 milliseconds. Default zero: it waits a fraction of what a synchronisation takes, which is enough for the
    /// threads of one process. Longer spares the disk and costs each write that much.
    /// </summary>
    public TimeSpan CommitDelay { get; init; }

    /// <summary>
    /// Whether the last process to close the file writes it to disk first, so that it is still there after a restart of the machine.
    /// Default true. With false, closing is immediate, and after a restart of the machine the store starts empty.
    /// </summary>
    public bool FlushOnClose { get; init; } = true;

    /// <summary>What to do if the file is there, or is not. Default <see cref="StoreOpenMode.OpenOrCreate"/>.</summary>
    public StoreOpenMode OpenMode { get; init; } = StoreOpenMode.OpenOrCreate;

    /// <summary>
    /// What keys and values are encrypted with, in the file and in its logs and copies; null for no encryption. Default null. Whoever opens an
    /// encrypted store needs the key or password it was created with (<see cref="CairnStore.Rekey"/> changes it); one that is not encrypted
    /// does not take any.
    /// </summary>
    public StoreEncryption? Encryption { get; init; }

    /// <summary>
    /// Whether to touch the file's pages in the background after opening, so that later writes do not wait for the system to provide
    /// them (1 to 6 microseconds a page). Default false.
    /// </summary>
    public bool PreTouch { get; init; }

    /// <summary>
    /// Whether this opening takes part in removing entries that have expired, in the background. Default true: what has expired is gone, from the
    /// statistics, too, within seconds, and its room is free. All openings of a store share the work, and it costs
    /// about a tenth of a percent of a processor while nothing expires (docs/benchmarks.md). With false, expired entries cannot be read either, but stay until their room is needed or another opening removes them.
    /// </summary>
    public bool RemovesExpired { get; init; } = true;

    /// <summary>
    /// How long this opening leaves an entry in place after it has expired, zero to 24 days. Default zero: removed within seconds. Until then
    /// <see cref="CairnCollection.TryGetStale"/> and leases find the expired value, unless its room was needed. Of several openings the one with the
    /// shortest time decides.
    /// </summary>
    public TimeSpan ExpiredRetention { get; init; }

    /// <summary>The most for <see cref="ExpiredRetention"/>: 24 days.</summary>
    public static readonly TimeSpan LargestExpiredRetention = TimeSpan.FromDays(24);

    /// <summary>
    /// Size in bytes of each file of the log, 64 KiB to 1 GiB, if a collection has one (<see cref="CollectionOptions.Durability"/>). Default 64 MiB:
    /// a new file costs milliseconds, and this many bytes are taken from the disk ahead of need. A longer record has a file of its own size.
    /// </summary>
    public long LogFileBytes { get; init; } = 64L << 20;

    /// <summary>Source of time for expiration; tests replace it. Default <see cref="TimeProvider.System"/>.</summary>
    public TimeProvider Clock { get; init; } = TimeProvider.System;

    /// <summary>
    /// Whether the file may be smaller than <see cref="SmallestCapacityBytes"/>, for replays of recorded requests that ask for a cache of
    /// fewer entries than anybody would make a file for.
    /// </summary>
    internal bool AllowsTinyCapacity { get; init; }

    /// <summary>
    /// Whether the opening may inherit the slot of an owner who died with a lock although others are free, for tests of that.
    /// </summary>
    internal bool TakesAnySlot { get; init; }

    /// <summary>Whether snapshots are made when the log has grown long, and not only when asked for: tests that count files do without.</summary>
    internal bool CheckpointsByItself { get; init; } = true;

    internal long PlannedCapacityBytes => Math.Max(CapacityBytes, MaxCapacityBytes);

    internal void Validate()
    {
        ArgumentException.ThrowIfNullOrWhiteSpace(Path);
        ThrowIfOutside(
            CapacityBytes, AllowsTinyCapacity ? 1 : SmallestCapacityBytes, LargestCapacityBytes, nameof(CapacityBytes));
        if (MaxCapacityBytes != 0)
        {
            ThrowIfOutside(MaxCapacityBytes, CapacityBytes, LargestCapacityBytes, nameof(MaxCapacityBytes), ", or 0 for no growth");
        }

        ThrowIfOutside(AverageEntryBytes, MinAverageEntryBytes, MaxAverageEntryBytes, nameof(AverageEntryBytes));
        if (LockTimeout <= TimeSpan.Zero || LockTimeout > TimeSpan.FromHours(1))
        {
            throw new ArgumentOutOfRangeException(
                nameof(LockTimeout), LockTimeout, $"{nameof(StoreOptions)}.{nameof(LockTimeout)} must be above zero and at most an hour.");
        }

        if (CommitDelay < TimeSpan.Zero || CommitDelay > LargestCommitDelay)
        {
            throw new ArgumentOutOfRangeException(
                nameof(CommitDelay), CommitDelay,
                $"{nameof(StoreOptions)}.{nameof(CommitDelay)} must be zero to {LargestCommitDelay.TotalMilliseconds:N0} ms.");
        }

        if (ExpiredRetention < TimeSpan.Zero || ExpiredRetention > LargestExpiredRetention)
        {
            throw new ArgumentOutOfRangeException(
                nameof(ExpiredRetention), ExpiredRetention,
                $"{nameof(StoreOptions)}.{nameof(ExpiredRetention)} must be zero to {LargestExpiredRetention.TotalDays:N0} days.");
        }

        if (OpenMode is < StoreOpenMode.OpenOrCreate or > StoreOpenMode.CreateNew)
        {
            throw new ArgumentOutOfRangeException(nameof(OpenMode), OpenMode, $"{nameof(StoreOptions)}.{nameof(OpenMode)} is not one of its values.");
        }

        ThrowIfOutside(LogFileBytes, SmallestLogFileBytes, LargestLogFileBytes, nameof(LogFileBytes));
        ArgumentNullException.ThrowIfNull(Clock);
    }

    private static void ThrowIfOutside(long value, long least, long most, string name, string otherwise = "")
    {
        if (value < least || value > most)
        {
            throw new ArgumentOutOfRangeException(
                name, value, $"{nameof(StoreOptions)}.{name} must be {ByteText.Of(least)} to {ByteText.Of(most)}{otherwise}, not {ByteText.Of(value)}.");
        }
    }
}
