using System.Text.Json;
using Cairn.FileStore.Engine;
using Microsoft.Extensions.Caching.Distributed;
using Microsoft.Extensions.Logging;

namespace Cairn.FileStore;

/// <summary>The settings of a cache file. They are read once, when the cache is registered or created.</summary>
public class DistributedFileStoreCacheOptions
{
    // The bytes of a line in the file without key and value, and the bytes of an expiration; both rounded up.
    private const int LineOverhead = 32;
    private const int ExpirationOverhead = 48;

    private static readonly TimeSpan LongestInterval = TimeSpan.FromHours(1);

    /// <summary>Gets or sets the interface to register. Default <see cref="FileStoreCacheVersions.String"/>.</summary>
    public FileStoreCacheVersions WhichVersion { get; set; }

    /// <summary>Gets or sets <see cref="WhichVersion"/> under another name.</summary>
    public FileStoreCacheVersions WhichInterface
    {
        get => WhichVersion;
        set => WhichVersion = value;
    }

    /// <summary>
    /// Gets or sets the largest size of the file in bytes, at least 100. Obsolete lines of earlier changes do not count; they can double the file
    /// until it is rewritten. A change that exceeds the limit throws. Default 10,000,000, a size that a person can still read and edit.
    /// </summary>
    public int MaxBytesInJsonCacheFile { get; set; } = FileEngineOptions.DefaultMaxBytes;

    /// <summary>
    /// Gets or sets how the Class version serializes objects. Default null: the defaults of System.Text.Json, escaping only the characters that
    /// JSON requires. A type resolver is required if reflection is disabled. With WriteIndented, all versions of a cache in a file refuse it: the
    /// file stores each entry in one line.
    /// </summary>
    public JsonSerializerOptions? JsonSerializerForCacheFile { get; set; }

    /// <summary>
    /// Gets or sets the directory of the file. It must exist when an entry is stored. Default null: the environment's ContentRootPath.
    /// </summary>
    public string? PathToCacheFileDirectory { get; set; }

    /// <summary>
    /// Gets or sets the first part of the file name <c>{First}.{Second}.json</c>. Default <c>FileStoreCacheFile</c>.
    /// </summary>
    public string FirstPartOfCacheFileName { get; set; } = "FileStoreCacheFile";

    /// <summary>
    /// Gets or sets the second part of the file name <c>{First}.{Second}.json</c>. Default null: the environment's name, so that development and
    /// production use different files.
    /// </summary>
    public string? SecondPartOfCacheFileName { get; set; }

    /// <summary>
    /// Gets or sets the delay in milliseconds before the next attempt if access to the file is denied or another program has opened it
    /// exclusively. Default 5.
    /// </summary>
    public int DelayMillisecondsOnUnauthorizedAccess { get; set; } = FileEngineOptions.DefaultDelayMs;

    /// <summary>Gets or sets the number of attempts in that case. Default 20.</summary>
    public int NumTriesOnUnauthorizedAccess { get; set; } = FileEngineOptions.DefaultTries;

    /// <summary>
    /// Gets or sets a value without effect, because a process may use any number of cache files. It exists so that code that sets it compiles.
    /// Default false.
    /// </summary>
    public bool TurnOffStaticFilePathCheck { get; set; }

    /// <summary>
    /// Gets or sets which failures a change survives after its call has returned. Default <see cref="FileStoreDurability.ProcessCrash"/>, which
    /// costs microseconds.
    /// </summary>
    public FileStoreDurability Durability { get; set; }

    /// <summary>
    /// Gets or sets whether entries may have a sliding expiration. Default false, as in Net.DistributedFileStoreCache, because a read of such an
    /// entry writes to the file each time an eighth of the expiration has passed.
    /// </summary>
    public bool AllowSlidingExpiration { get; set; }

    /// <summary>
    /// Gets or sets whether <see cref="IDistributedFileStoreCacheClass.GetClass{T}"/> returns the same object to every caller while the entry is
    /// unchanged, without deserializing it again. Default false, because a caller that modifies a shared object modifies it for all callers.
    /// </summary>
    public bool ShareObjects { get; set; }

    /// <summary>
    /// Gets or sets the interval at which the cache checks the file for changes without a notification: manual edits and, on network file
    /// systems, all changes of other machines. From 1 millisecond to 1 hour. Default 250 milliseconds: short enough for a person, and a check
    /// costs a microsecond.
    /// </summary>
    public TimeSpan ChangePollInterval { get; set; } = FileEngineOptions.DefaultPollInterval;

    /// <summary>
    /// Gets or sets how long a change waits for the changes of other processes. From 1 millisecond to 1 hour. Default 30 seconds; a change takes
    /// microseconds.
    /// </summary>
    public TimeSpan LockTimeout { get; set; } = FileEngineOptions.DefaultLockTimeout;

    /// <summary>
    /// Gets or sets whether the cache finds the changes of other processes only by watching and polling the file, as it does on network file
    /// systems that it recognizes. Default false. Set it for a volume that several machines share and that the cache does not recognize. If
    /// processes use different values, no change is lost, but each process sees the changes of the others only when it checks the file.
    /// </summary>
    public bool UsePolling { get; set; }

    /// <summary>
    /// Gets or sets the distributed cache that the registered interfaces use instead of a file, for an application that runs on several machines.
    /// Default null: a file. If set, only <see cref="WhichVersion"/> and <see cref="JsonSerializerForCacheFile"/> of the other options have an
    /// effect.
    /// </summary>
    public Func<IServiceProvider, IDistributedCache>? DistributedCache { get; set; }

    /// <summary>Gets or sets the source of time; tests replace it. Default <see cref="TimeProvider.System"/>.</summary>
    public TimeProvider TimeProvider { get; set; } = TimeProvider.System;

    /// <summary>Gets or sets the log of failed callbacks of change tokens. The registration sets it.</summary>
    internal ILogger? Log { get; set; }

    /// <summary>Sets <see cref="MaxBytesInJsonCacheFile"/> to the size that the given number of entries needs.</summary>
    /// <param name="maxEntries">The number of entries.</param>
    /// <param name="maxKeyLength">The length of the longest key in characters.</param>
    /// <param name="maxValueLength">
    /// The length of the longest value: in characters, for an object those of its JSON; for bytes, in bytes.
    /// </param>
    /// <param name="charSize">
    /// The bytes of a character: 1 for ASCII, up to 3 for others, 6 if JSON escapes it; for bytes, 2 covers Base64.
    /// </param>
    /// <param name="percentWithTimeout">The percentage of entries with an expiration, 0 to 100.</param>
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

    /// <summary>Returns the name of the cache file, without its directory.</summary>
    /// <returns>For example <c>FileStoreCacheFile.Development.json</c>.</returns>
    public string FormCacheFileName() => $"{FirstPartOfCacheFileName}.{SecondPartOfCacheFileName}.json";

    /// <summary>Returns the path of the cache file.</summary>
    /// <returns>The directory and the name.</returns>
    /// <exception cref="DistributedFileStoreCacheException">
    /// <see cref="PathToCacheFileDirectory"/> or <see cref="SecondPartOfCacheFileName"/> is null.
    /// </exception>
    public string FormCacheFilePath()
    {
        RequirePlace();
        return Path.Combine(PathToCacheFileDirectory!, FormCacheFileName());
    }

    internal FileEngineOptions ToEngineOptions()
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
        if (JsonSerializerForCacheFile is { WriteIndented: true })
        {
            throw new ArgumentException(
                $"{nameof(DistributedFileStoreCacheOptions)}.{nameof(JsonSerializerForCacheFile)} has {nameof(JsonSerializerOptions.WriteIndented)} set, " +
                "but the file stores each entry in one line. Set it to false.");
        }

        ArgumentNullException.ThrowIfNull(TimeProvider);
        return new FileEngineOptions
        {
            Path = FormCacheFilePath(),
            Owner = typeof(DistributedFileStoreCacheString),
            MaxBytes = MaxBytesInJsonCacheFile,
            Durability = Durability,
            PollInterval = ChangePollInterval,
            LockTimeout = LockTimeout,
            Tries = NumTriesOnUnauthorizedAccess,
            Delay = TimeSpan.FromMilliseconds(DelayMillisecondsOnUnauthorizedAccess),
            Clock = TimeProvider,
            Log = Log,
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
                $"You either need to provide an value for the environment parameter, or set the options' {name} property.");
        }
    }
}
