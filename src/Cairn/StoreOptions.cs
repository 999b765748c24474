using Cairn.Messages;

namespace Cairn;

/// <summary>How a store is opened. All options are checked before any file is touched.</summary>
/// <remarks>
/// The sizes apply to a new file. An existing file keeps its own sizes, so two processes can open one store with different options. The other options, such
/// as the lock time-out and the clock, apply to one opening.
/// </remarks>
public sealed record StoreOptions
{
    /// <summary>The store's file. It is created if it does not exist. Its directory must exist, on a local file system.</summary>
    public required string Path { get; init; }

    /// <summary>
    /// The size of a new file in bytes, 1 MiB to 1 TiB. Default 256 MiB: it holds about 1.7 million entries of 100 bytes and is created quickly.
    /// <see cref="ReservesSpace"/> says when it takes its space on the disk.
    /// </summary>
    public long CapacityBytes { get; init; } = 256L << 20;

    /// <summary>
    /// Whether a new file takes all its space on the disk when it is created. Default true: the space cannot run out later. If false, it takes space as it
    /// fills, and a write that finds the disk full evicts entries, or fails with <see cref="StoreFullException"/> if entries are kept. Files in memory
    /// (tmpfs), and files on systems other than Linux, always take all their space.
    /// </summary>
    public bool ReservesSpace { get; init; } = true;

    /// <summary>
    /// The size in bytes to which the file can grow: at least <see cref="CapacityBytes"/>, or 0 for no growth. Default 0. The index is sized for it when
    /// the file is created.
    /// </summary>
    public long MaxCapacityBytes { get; init; }

    /// <summary>
    /// The expected size of an entry in bytes: key, value and about 24 bytes of header; 32 to 1,048,576. Default 128. It determines the size of the index.
    /// If entries are much smaller, the index is full before the file is, and entries are evicted early. If they are much larger, a part of the index is
    /// wasted. With the default, the index is 10 % of the file.
    /// </summary>
    public int AverageEntryBytes { get; init; } = 128;

    /// <summary>
    /// How long an operation waits for a partition's lock, above zero, up to an hour. Default 1 second. An operation holds a lock for microseconds. Others
    /// wait this long only if a process was stopped while it held a lock.
    /// </summary>
    public TimeSpan LockTimeout { get; init; } = TimeSpan.FromSeconds(1);

    /// <summary>
    /// How long a write with <see cref="Durability.GroupCommit"/> waits for other writers to share its synchronization of the disk; zero to 100
    /// milliseconds. It does not wait if there are no other writers. Default zero: it waits for a fraction of the time of one synchronization, which is
    /// enough for the threads of one process. A longer delay causes fewer synchronizations and makes each write slower by that time.
    /// </summary>
    public TimeSpan CommitDelay { get; init; }

    /// <summary>
    /// Whether the last process that closes the file writes it to the disk first, so that its content survives a restart of the machine. Default true. If
    /// false, closing takes no time, and the store starts empty after a restart of the machine.
    /// </summary>
    public bool FlushOnClose { get; init; } = true;

    /// <summary>How the opening treats an existing or a missing file. Default <see cref="StoreOpenMode.OpenOrCreate"/>.</summary>
    public StoreOpenMode OpenMode { get; init; } = StoreOpenMode.OpenOrCreate;

    /// <summary>
    /// The secret that protects keys and values in the file and in its logs and copies. Null for no encryption. Default null. An encrypted store opens only
    /// with the key or password with which it was created (<see cref="StoreMaintenance.Rekey"/> changes it). A store that is not encrypted does not accept one.
    /// </summary>
    public StoreEncryption? Encryption { get; init; }

    /// <summary>
    /// Whether the opening touches the file's pages in the background. Later writes then do not wait until the system provides the pages (1 to 6
    /// microseconds a page). Default false.
    /// </summary>
    public bool PreTouch { get; init; }

    /// <summary>
    /// Whether this opening takes part in the sweep, which removes expired entries in the background. Default true: an expired entry is removed within
    /// seconds, also from the statistics, and its room is free. All openings of a store share the work. It costs about a tenth of a percent of a processor
    /// while nothing expires (docs/benchmarks.md). If false, expired entries still cannot be read, but they stay until their room is needed or another
    /// opening removes them.
    /// </summary>
    public bool RemovesExpired { get; init; } = true;

    /// <summary>
    /// How long this opening leaves an expired entry in place, zero to 24 days. Default zero: it is removed within seconds. Until then
    /// <see cref="CairnCollection.TryGetStale"/> and leases find the expired value, unless its room was needed. If several openings have different times,
    /// the shortest applies.
    /// </summary>
    public TimeSpan ExpiredRetention { get; init; }

    /// <summary>
    /// The maximum size in bytes of each file of the log, 64 KiB to 1 GiB. It applies if a collection is logged
    /// (<see cref="CollectionOptions.Durability"/>). Default 64 MiB: the creation of a file costs milliseconds, and it reserves its bytes on the disk in
    /// advance. The first file has 256 KiB, and each next one twice as many, up to this size. A longer record gets a file of its own size.
    /// </summary>
    public long LogFileBytes { get; init; } = 64L << 20;

    /// <summary>The source of time for expiration. Tests replace it. Default <see cref="TimeProvider.System"/>.</summary>
    public TimeProvider TimeProvider { get; init; } = TimeProvider.System;

    /// <summary>
    /// Whether the file can be smaller than <see cref="StoreLimits.MinCapacityBytes"/>. Replays of recorded requests need it, because they simulate caches with
    /// very few entries.
    /// </summary>
    internal bool AllowsTinyCapacity { get; init; }

    /// <summary>
    /// Whether the opening can take over the owner slot of a process that died with a lock, even if other slots are free. Tests of that case set it.
    /// </summary>
    internal bool TakesAnySlot { get; init; }

    /// <summary>
    /// Whether the store writes a snapshot when the log has grown long. If false, it writes one only on request, which tests that count files need.
    /// </summary>
    internal bool CheckpointsByItself { get; init; } = true;

    internal long PlannedCapacityBytes => Math.Max(CapacityBytes, MaxCapacityBytes);

    internal void Validate()
    {
        ArgumentException.ThrowIfNullOrWhiteSpace(Path);
        ThrowIfOutside(
            CapacityBytes, AllowsTinyCapacity ? 1 : StoreLimits.MinCapacityBytes, StoreLimits.MaxCapacityBytes, nameof(CapacityBytes));
        if (MaxCapacityBytes != 0)
        {
            ThrowIfOutside(MaxCapacityBytes, CapacityBytes, StoreLimits.MaxCapacityBytes, nameof(MaxCapacityBytes), ", or 0 for no growth");
        }

        ThrowIfOutside(AverageEntryBytes, StoreLimits.MinAverageEntryBytes, StoreLimits.MaxAverageEntryBytes, nameof(AverageEntryBytes));
        if (LockTimeout <= TimeSpan.Zero || LockTimeout > TimeSpan.FromHours(1))
        {
            throw new ArgumentOutOfRangeException(
                nameof(LockTimeout), LockTimeout, $"{nameof(StoreOptions)}.{nameof(LockTimeout)} must be above zero and at most an hour.");
        }

        if (CommitDelay < TimeSpan.Zero || CommitDelay > StoreLimits.MaxCommitDelay)
        {
            throw new ArgumentOutOfRangeException(
                nameof(CommitDelay), CommitDelay,
                $"{nameof(StoreOptions)}.{nameof(CommitDelay)} must be zero to {StoreLimits.MaxCommitDelay.TotalMilliseconds:N0} ms.");
        }

        if (ExpiredRetention < TimeSpan.Zero || ExpiredRetention > StoreLimits.MaxExpiredRetention)
        {
            throw new ArgumentOutOfRangeException(
                nameof(ExpiredRetention), ExpiredRetention,
                $"{nameof(StoreOptions)}.{nameof(ExpiredRetention)} must be zero to {StoreLimits.MaxExpiredRetention.TotalDays:N0} days.");
        }

        if (OpenMode is < StoreOpenMode.OpenOrCreate or > StoreOpenMode.CreateNew)
        {
            throw new ArgumentOutOfRangeException(nameof(OpenMode), OpenMode, $"{nameof(StoreOptions)}.{nameof(OpenMode)} is not one of its values.");
        }

        ThrowIfOutside(LogFileBytes, StoreLimits.MinLogFileBytes, StoreLimits.MaxLogFileBytes, nameof(LogFileBytes));
        ArgumentNullException.ThrowIfNull(TimeProvider);
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
