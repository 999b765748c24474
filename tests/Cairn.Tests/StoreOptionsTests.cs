using Cairn.Messages;

namespace Cairn.Tests;

/// <summary>Valid and invalid options.</summary>
public sealed class StoreOptionsTests : StoreTest
{
    public static TheoryData<string> InvalidOptions =>
    [
        "path empty", "path blank", "capacity too small", "capacity too large", "capacity negative", "maximum below capacity",
        "maximum negative", "maximum too large", "entries too small", "entries too large", "time-out zero",
        "time-out negative", "time-out too long", "log files too small", "log files too large", "mode unknown",
    ];

    [Theory]
    [MemberData(nameof(InvalidOptions))]
    public void Option_out_of_range_is_refused_before_any_file_is_touched(string what)
    {
        StoreOptions options = what switch
        {
            "path empty" => Options with { Path = "" },
            "path blank" => Options with { Path = " " },
            "capacity too small" => Options with { CapacityBytes = StoreLimits.MinCapacityBytes - 1 },
            "capacity too large" => Options with { CapacityBytes = StoreLimits.MaxCapacityBytes + 1 },
            "capacity negative" => Options with { CapacityBytes = -1 },
            "maximum below capacity" => Options with { MaxCapacityBytes = Options.CapacityBytes - 1 },
            "maximum negative" => Options with { MaxCapacityBytes = -1 },
            "maximum too large" => Options with { MaxCapacityBytes = StoreLimits.MaxCapacityBytes + 1 },
            "entries too small" => Options with { AverageEntryBytes = StoreLimits.MinAverageEntryBytes - 1 },
            "entries too large" => Options with { AverageEntryBytes = StoreLimits.MaxAverageEntryBytes + 1 },
            "time-out zero" => Options with { LockTimeout = TimeSpan.Zero },
            "time-out negative" => Options with { LockTimeout = TimeSpan.FromSeconds(-1) },
            "time-out too long" => Options with { LockTimeout = TimeSpan.FromHours(1) + TimeSpan.FromTicks(1) },
            "log files too small" => Options with { LogFileBytes = StoreLimits.MinLogFileBytes - 1 },
            "log files too large" => Options with { LogFileBytes = StoreLimits.MaxLogFileBytes + 1 },
            _ => Options with { OpenMode = (StoreOpenMode)9 },
        };

        Assert.ThrowsAny<ArgumentException>(() => Open(options));

        Assert.Empty(Directory.EnumerateFileSystemEntries(DirectoryPath));
    }

    [Fact]
    public void Missing_option_is_refused()
    {
        Assert.Throws<ArgumentNullException>(() => CairnStore.Open(null!));
        Assert.Throws<ArgumentNullException>(() => Open(Options with { Path = null! }));
        Assert.Throws<ArgumentNullException>(() => Open(Options with { TimeProvider = null! }));
    }

    [Theory]
    [InlineData(StoreLimits.MinCapacityBytes, StoreLimits.MinAverageEntryBytes)]
    [InlineData(StoreLimits.MinCapacityBytes, 128)]
    [InlineData(StoreLimits.MinCapacityBytes, StoreLimits.MaxAverageEntryBytes)]
    [InlineData(8L << 20, StoreLimits.MinAverageEntryBytes)]
    [InlineData(8L << 20, StoreLimits.MaxAverageEntryBytes)]
    [InlineData((64L << 20) + 12_345, 1000)]
    public void File_is_no_larger_than_its_capacity_and_not_much_smaller(long capacityBytes, int averageEntryBytes)
    {
        CairnStore store = Open(Options with { CapacityBytes = capacityBytes, AverageEntryBytes = averageEntryBytes });

        long length = new FileInfo(FilePath).Length;

        Assert.InRange(length, capacityBytes - (2L * store.GetStatistics().BytesPerSegment), capacityBytes);
        Assert.Equal(Math.Min(capacityBytes / 8, StoreLimits.MaxValueBytes), store.MaxValueBytes);
        Assert.True(store.DefaultCollection.Set("key", new byte[store.MaxValueBytes]));
    }

    [Fact]
    public void Capacity_whose_index_leaves_no_room_is_refused_with_the_capacity_needed()
    {
        StoreOptions options = Options with
        {
            CapacityBytes = StoreLimits.MinCapacityBytes,
            MaxCapacityBytes = 1L << 30,
        };

        var refused = Assert.Throws<ArgumentOutOfRangeException>(() => Open(options));

        Assert.Contains(nameof(StoreOptions.CapacityBytes), refused.Message, StringComparison.Ordinal);
        Assert.False(File.Exists(FilePath));
    }

    [Fact]
    [System.Runtime.Versioning.SupportedOSPlatform("linux")]
    public void File_is_only_for_its_owner()
    {
        _ = Store;

        Assert.Equal(UnixFileMode.UserRead | UnixFileMode.UserWrite, File.GetUnixFileMode(FilePath));
    }

    [Fact]
    public void Path_may_be_relative()
    {
        string relative = Path.GetRelativePath(Environment.CurrentDirectory, FilePath);
        CairnStore store = Open(Options with { Path = relative });

        Assert.Equal(Path.GetFullPath(FilePath), store.Path);
        Assert.Equal(store.Path, store.Options.Path);
        Assert.True(File.Exists(FilePath));
    }

    [Fact]
    public void Existing_file_keeps_its_sizes_whatever_is_asked_for()
    {
        Cache.Set("key", "value"u8);

        CairnStore other = Open(Options with
        {
            CapacityBytes = 64L << 20,
            MaxCapacityBytes = 128L << 20,
            AverageEntryBytes = 5000,
            LockTimeout = TimeSpan.FromSeconds(7),
        });

        Assert.Equal("value", other.DefaultCollection.GetString("key"));
        Assert.Equal(Store.MaxValueBytes, other.MaxValueBytes);
        Assert.Equal(Store.GetStatistics().FileBytes, other.GetStatistics().FileBytes);
        Assert.Equal(TimeSpan.FromSeconds(7), other.Options.LockTimeout);
        Assert.True(other.DefaultCollection.Set("key", "other"u8));
        Assert.Equal("other", Cache.GetString("key"));
    }

    [Fact]
    public void Pages_can_be_touched_in_the_background()
    {
        CairnStore store = Open(Options with { PreTouch = true });

        Assert.True(store.DefaultCollection.Set("key", "value"u8));
        Assert.Equal("value", store.DefaultCollection.GetString("key"));
    }

    [Fact]
    public void Capacity_beyond_the_memory_limit_is_a_warning()
    {
        using var onDisk = new TestDirectory();
        long limit = Cairn.Platform.HostPlatform.Current.MemoryLimitBytes!.Value;
        long beyond = Math.Min(StoreLimits.MaxCapacityBytes, limit + (1L << 30));
        Assert.True(beyond > limit);

        // A file that may grow to this size, and is now as small as such a file can be.
        using CairnStore store = CairnStore.Open(Options with
        {
            Path = onDisk["large.cairn"],
            CapacityBytes = Math.Min(beyond, 512L << 20),
            MaxCapacityBytes = beyond,
            AverageEntryBytes = StoreLimits.MaxAverageEntryBytes,
        });

        string warning = Assert.Single(store.Warnings);
        Assert.Contains($"more than the {ByteText.Of(limit)} that this machine", warning, StringComparison.Ordinal);
        Assert.True(store.DefaultCollection.Set("key", "value"u8));
        Assert.Empty(Open(Options with { Path = PathOf("small.cairn") }).Warnings);
    }
}
