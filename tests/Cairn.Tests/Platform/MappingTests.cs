using Cairn.Platform;

namespace Cairn.Tests.Platform;

/// <summary>P4: every mapping of a file shows the same bytes, including those that were added after the file was mapped.</summary>
public sealed unsafe class MappingTests : IDisposable
{
    private readonly TestDirectory _directory = new();

    public MappingTests() => File.WriteAllBytes(FilePath, new byte[64 << 10]);

    private string FilePath => _directory["mapped"];

    public void Dispose() => _directory.Dispose();

    [Fact]
    public void Byte_written_through_one_mapping_is_read_through_every_other_and_from_the_file()
    {
        using StoreFile first = HostPlatform.Current.Open(FilePath);
        using StoreFile second = HostPlatform.Current.OpenReadOnly(FilePath);
        MappedRegion writable = first.Map(64 << 10, writable: true);
        MappedRegion readable = second.Map(64 << 10, writable: false);

        writable.Address[12_345] = 42;

        Assert.Equal(42, readable.Address[12_345]);
        byte[] bytes = new byte[1];
        second.Read(12_345, bytes);
        Assert.Equal(42, bytes[0]);
    }

    [Fact]
    public void Write_to_a_copy_is_not_seen_by_others_and_never_in_the_file()
    {
        using StoreFile file = HostPlatform.Current.Open(FilePath);
        file.Write(5000, [1]);
        MappedRegion shared = file.Map(64 << 10, writable: true);
        MappedRegion copy = file.MapCopy(64 << 10);
        Assert.Equal(1, copy.Address[5000]);

        copy.Address[5000] = 2;

        byte[] bytes = new byte[1];
        file.Read(5000, bytes);
        Assert.Equal(2, copy.Address[5000]);
        Assert.Equal(1, shared.Address[5000]);
        Assert.Equal(1, bytes[0]);
    }

    [Fact]
    public void Growth_of_the_file_is_visible_in_a_mapping_made_before()
    {
        using StoreFile first = HostPlatform.Current.Open(FilePath);
        using StoreFile second = HostPlatform.Current.Open(FilePath);
        MappedRegion region = first.Map(16 << 20, writable: true);
        Assert.Equal(16 << 20, region.Length);
        Assert.False(region.Populate(0, 1 << 20, write: true));

        second.Preallocate(64 << 10, 1 << 20);
        second.Write(500_000, [7]);

        Assert.Equal((64 << 10) + (1 << 20), first.Length);
        Assert.Equal(7, region.Address[500_000]);
        Assert.Equal(0, region.Address[(64 << 10) + (1 << 20) - 1]);
        region.Address[600_000] = 8;
        byte[] bytes = new byte[1];
        second.Read(600_000, bytes);
        Assert.Equal(8, bytes[0]);
    }

    [Fact]
    public void Populating_changes_no_byte()
    {
        using StoreFile file = HostPlatform.Current.Open(FilePath);
        file.Write(5000, "present"u8);
        MappedRegion region = file.Map(64 << 10, writable: true);

        Assert.True(region.Populate(0, 64 << 10, write: true));
        Assert.True(region.Populate(5000, 10, write: false));
        Assert.True(region.Populate(100, 0, write: false));

        Assert.True(new ReadOnlySpan<byte>(region.Address + 5000, 7).SequenceEqual("present"u8));
    }

    [Fact]
    public void Populating_past_the_end_of_the_file_is_declined_and_harmless()
    {
        using StoreFile file = HostPlatform.Current.Open(FilePath);
        MappedRegion region = file.Map(1 << 20, writable: true);

        Assert.False(region.Populate(0, 1 << 20, write: true));
        Assert.False(region.Populate(128 << 10, 4096, write: false));
    }

    [Fact]
    public void Ranges_outside_of_the_region_are_refused()
    {
        using StoreFile file = HostPlatform.Current.Open(FilePath);
        MappedRegion region = file.Map(64 << 10, writable: true);

        Assert.Throws<ArgumentOutOfRangeException>(() => region.Flush(0, (64 << 10) + 1));
        Assert.Throws<ArgumentOutOfRangeException>(() => region.Flush(-1, 1));
        Assert.Throws<ArgumentOutOfRangeException>(() => region.Populate(1, long.MaxValue, write: false));
        Assert.Throws<ArgumentOutOfRangeException>(() => file.Map(0, writable: true));
    }

    [Fact]
    public void Flushing_takes_any_range()
    {
        using StoreFile file = HostPlatform.Current.Open(FilePath);
        MappedRegion region = file.Map(64 << 10, writable: true);
        region.AdviseRandomAccess();
        region.Address[10_000] = 1;

        region.Flush(0, 64 << 10);
        region.Flush(9_999, 3);
        region.Flush(64 << 10, 0);
        file.FlushData();

        Assert.Equal(1, region.Address[10_000]);
    }

    [Fact]
    public void File_opened_for_reading_is_not_mapped_for_writing()
    {
        using StoreFile file = HostPlatform.Current.OpenReadOnly(FilePath);

        var error = Assert.Throws<StoreException>(() => file.Map(4096, writable: true));

        Assert.Contains("opened for reading only", error.Message, StringComparison.Ordinal);
    }

    [Fact]
    public void More_address_space_than_there_is_is_an_error_that_says_so()
    {
        using StoreFile file = HostPlatform.Current.Open(FilePath);

        var error = Assert.Throws<StoreException>(() => file.Map(1L << 60, writable: true));

        Assert.Contains("1024 PiB of address space", error.Message, StringComparison.Ordinal);
    }

    [Fact]
    public void Closed_region_has_no_address()
    {
        using StoreFile file = HostPlatform.Current.Open(FilePath);
        MappedRegion region = file.Map(4096, writable: true);

        region.Dispose();
        region.Dispose();

        Assert.True(region.Address is null);
        Assert.Equal(0, region.Length);
    }

    [Fact]
    public void Closed_file_is_not_mapped()
    {
        StoreFile file = HostPlatform.Current.Open(FilePath);

        file.Dispose();
        file.Dispose();

        Assert.Throws<ObjectDisposedException>(() => file.Map(4096, writable: true));
    }
}
