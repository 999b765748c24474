using System.Globalization;
using System.Text.Json;
using Cairn.FileStore.Engine;
using Microsoft.Extensions.Caching.Distributed;

namespace Cairn.FileStore;

/// <summary>How a cache file is used. Read once, when the cache is registered or made.</summary>
public class DistributedFileStoreCacheOptions
{
    internal const int DefaultMaxBytes = 10_000_000;
    internal const int DefaultTries = 20;
    internal const int DefaultDelayMs = 5;

    // Bytes of a line besides key and value, and of its expiration, as the file format has them; a few more than needed.
    private const int LineOverhead = 32;
    private const int ExpirationOverhead = 48;

    internal static readonly TimeSpan DefaultPollInterval = TimeSpan.FromMilliseconds(250);
    internal static readonly TimeSpan DefaultLockTimeout = TimeSpan.FromSeconds(30);

    private static readonly TimeSpan LongestInterval = TimeSpan.FromHours(1);

    /// <summary>Which interface is registered. Default <see cref="FileStoreCacheVersions.String"/>.</summary>
    public FileStoreCacheVersions WhichVersion { get; set; }

    /// <summary>Another name for <see cref="WhichVersion"/>.</summary>
    public FileStoreCacheVersions WhichInterface
    {
        get => WhichVersion;
        set => WhichVersion = value;
    }

    /// <summary>
    /// Largest file in bytes, counted without what changes have left behind, which can double it until it is rewritten; at least 100.
    /// A change beyond it is an exception. Default 10,000,000: what can still be read and written by hand.
    /// </summary>
    public int MaxBytesInJsonCacheFile { get; set; } = DefaultMaxBytes;

    /// <summary>
    /// How objects become JSON and back, in the Class version. Default null: System.Text.Json's defaults, with only those
    /// characters escaped that JSON demands. Where reflection is off it needs a type resolver.
    /// </summary>
    public JsonSerializerOptions? JsonSerializerForCacheFile { get; set; }

    /// <summary>The directory of the file, which must exist when something is stored. Default null: the environment's ContentRootPath.</summary>
    public string? PathToCacheFileDirectory { get; set; }

    /// <summary>The file is named <c>{First}.{Second}.json</c>. Default <c>FileStoreCacheFile</c>.</summary>
    public string FirstPartOfCacheFileName { get; set; } = "FileStoreCacheFile";

    /// <summary>The file is named <c>{First}.{Second}.json</c>. Default null: the environment's name, so that development does not disturb production.</summary>
    public string? SecondPartOfCacheFileName { get; set; }

    /// <summary>Pause in milliseconds before another try when the file may not be opened or another program has it to itself. Default 5.</summary>
    public int DelayMillisecondsOnUnauthorizedAccess { get; set; } = DefaultDelayMs;

    /// <summary>How often a change is tried then. Default 20.</summary>
    public int NumTriesOnUnauthorizedAccess { get; set; } = DefaultTries;

    /// <summary>Without effect: a process may use any number of cache files. Here so that code that sets it compiles. Default false.</summary>
    public bool TurnOffStaticFilePathCheck { get; set; }

    /// <summary>What a change survives once its call has returned. Default <see cref="FileStoreDurability.ProcessCrash"/>, which costs microseconds.</summary>
    public FileStoreDurability Durability { get; set; }

    /// <summary>
    /// Whether entries may have a sliding expiration. Default false, as in Net.DistributedFileStoreCache: reads of such an entry write to the file
    /// now and then, each time an eighth of its time has passed.
    /// </summary>
    public bool AllowSlidingExpiration { get; set; }

    /// <summary>
    /// Whether <see cref="IDistributedFileStoreCacheClass.GetClass{T}"/> gives every caller the same object as long as the entry is unchanged,
    /// without deserializing it again. Default false, as callers that change what they get would change it for all.
    /// </summary>
    public bool ShareObjects { get; set; }

    /// <summary>
    /// How often the file is looked at for changes that nobody announced: hand edits and, on network file systems, all changes of other machines. From
    /// 1 millisecond to 1 hour. Default 250 milliseconds: soon enough for a person, and a look costs a microsecond.
    /// </summary>
    public TimeSpan ChangePollInterval { get; set; } = DefaultPollInterval;

    /// <summary>How long a change waits for other processes' changes. From 1 millisecond to 1 hour. Default 30 seconds; they take microseconds.</summary>
    public TimeSpan LockTimeout { get; set; } = DefaultLockTimeout;

    /// <summary>
    /// Whether other processes' changes are found only by watching and polling the file, as on the network file systems that are recognised. Default
    /// false. To be set for a volume that several machines share and that is not recognised. Processes that differ in it lose nothing, but see each other's
    /// changes when they look at the file.
    /// </summary>
    public bool UsePolling { get; set; }

    /// <summary>
    /// The distributed cache that the registered interfaces use instead of a file, once an application runs on several machines. Default null: a file.
    /// The other options but <see cref="WhichVersion"/> and <see cref="JsonSerializerForCacheFile"/> then mean nothing.
    /// </summary>
    public Func<IServiceProvider, IDistributedCache>? DistributedCache { get; set; }

    /// <summary>Source of time; tests replace it. Default <see cref="TimeProvider.System"/>.</summary>
    public TimeProvider Clock { get; set; } = TimeProvider.System;

    /// <summary>Sets <see cref="MaxBytesInJsonCacheFile"/> to what the given number of entries needs.</summary>
    /// <param name="maxEntries">How many entries.</param>
    /// <param name="maxKeyLength">Characters of the longest key.</param>
    /// <param name="maxValueLength">Characters of the longest value; of an object, of its JSON; of bytes, their number.</param>
    /// <param name="charSize">Bytes of a character: 1 for ASCII, up to 3 for others, 6 for what JSON escapes; for bytes, 2 covers Base64.</param>
    /// <param name="percentWithTimeout">How many of a hundred entries expire.</param>
    /// <exception cref="ArgumentOutOfRangeException">An argument is negative, or the result exceeds 2,147,483,647.</exception>
    public void SetMaxBytesByCalculation(int maxEntries, int maxKeyLength, int maxValueLength, int charSize = 1, int percentWithTimeout = 0)
    {
        ArgumentOutOfRangeException.ThrowIfNegative(maxEntries);
        ArgumentOutOfRangeException.ThrowIfNegative(maxKeyLength);
        ArgumentOutOfRangeException.ThrowIfNegative(maxValueLength);
        ArgumentOutOfRangeException.ThrowIfNegativeOrZero(charSize);
        ArgumentOutOfRangeException.ThrowIfNegative(percentWithTimeout);
        ArgumentOutOfRangeException.ThrowIfGreaterThan(percentWithTimeout, 100);

        long entryBytes = (((long)maxKeyLength + maxValueLength) * charSize) + LineOverhead;
        long bytes = checked((maxEntries * entryBytes) + (((maxEntries * (long)percentWithTimeout) + 99) / 100 * ExpirationOverhead) + 100);
        ArgumentOutOfRangeException.ThrowIfGreaterThan(bytes, int.MaxValue, nameof(maxEntries));
        MaxBytesInJsonCacheFile = (int)bytes;
    }

    /// <summary>The name of the cache file, without its directory.</summary>
    /// <returns>For example <c>FileStoreCacheFile.Development.json</c>.</returns>
    public string FormCacheFileName() => $"{FirstPartOfCacheFileName}.{SecondPartOfCacheFileName}.json";

    /// <summary>The path of the cache file.</summary>
    /// <returns>Directory and name.</returns>
    /// <exception cref="DistributedFileStoreCacheException"><see cref="PathToCacheFileDirectory"/> or <see cref="SecondPartOfCacheFileName"/> is null.</exception>
    public string FormCacheFilePath()
    {
        RequirePlace();
        return Path.Combine(PathToCacheFileDirectory!, FormCacheFileName());
    }

    internal EngineOptions ToEngineOptions()
    {
        RequirePlace();
        Require(!string.IsNullOrEmpty(FirstPartOfCacheFileName), nameof(FirstPartOfCacheFileName), FirstPartOfCacheFileName, "a name");
        Require(FormCacheFileName().IndexOfAny(Path.GetInvalidFileNameChars()) < 0, nameof(FirstPartOfCacheFileName), FormCacheFileName(), "the name of a file, without a directory");
        Require(Enum.IsDefined(WhichVersion), nameof(WhichVersion), WhichVersion, "one of FileStoreCacheVersions");
        Require(Enum.IsDefined(Durability), nameof(Durability), Durability, "one of FileStoreDurability");
        Require(MaxBytesInJsonCacheFile >= 100, nameof(MaxBytesInJsonCacheFile), MaxBytesInJsonCacheFile, "100 or more");
        Require(DelayMillisecondsOnUnauthorizedAccess >= 0, nameof(DelayMillisecondsOnUnauthorizedAccess), DelayMillisecondsOnUnauthorizedAccess, "0 or more");
        Require(NumTriesOnUnauthorizedAccess >= 1, nameof(NumTriesOnUnauthorizedAccess), NumTriesOnUnauthorizedAccess, "1 or more");
        RequireInterval(nameof(ChangePollInterval), ChangePollInterval);
        RequireInterval(nameof(LockTimeout), LockTimeout);
        ArgumentNullException.ThrowIfNull(Clock);
        return new EngineOptions
        {
            Path = FormCacheFilePath(),
            MaxBytes = MaxBytesInJsonCacheFile,
            Durability = Durability,
            PollInterval = ChangePollInterval,
            LockTimeout = LockTimeout,
            Tries = NumTriesOnUnauthorizedAccess,
            Delay = TimeSpan.FromMilliseconds(DelayMillisecondsOnUnauthorizedAccess),
            Clock = Clock,
            IsPolledOnly = UsePolling,
        };
    }

    private static void RequireInterval(string name, TimeSpan value) =>
        Require(value >= TimeSpan.FromMilliseconds(1) && value <= LongestInterval, name, value, "1 millisecond to 1 hour");

    private static void Require(bool isMet, string name, object? value, string range)
    {
        if (!isMet)
        {
            throw new ArgumentException(string.Create(
                CultureInfo.InvariantCulture, $"{nameof(DistributedFileStoreCacheOptions)}.{name} is {value}; it must be {range}."));
        }
    }

    private void RequirePlace()
    {
        RequireNotNull(PathToCacheFileDirectory, nameof(PathToCacheFileDirectory));
        RequireNotNull(SecondPartOfCacheFileName, nameof(SecondPartOfCacheFileName));
    }

    private static void RequireNotNull(string? value, string name)
    {
        if (value is null)
        {
            throw new DistributedFileStoreCacheException(
                $"Where the cache file is must be known: pass the environment to AddDistributedFileStoreCache, or set {name} in its options.");
        }
    }
}
