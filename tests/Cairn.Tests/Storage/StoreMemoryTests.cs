using Cairn.Platform;
using Cairn.Storage;

namespace Cairn.Tests.Storage;

/// <summary>I1: no number from the file becomes an address without a check, even if the number has changed since it was checked.</summary>
public sealed unsafe class StoreMemoryTests : StoreTest
{
    [Theory]
    [InlineData(0)]
    [InlineData(1)]
    [InlineData(-1)]
    public void Count_of_segments_without_which_there_is_no_store_is_refused(int count)
    {
        using StoreFile file = Scribble(count, out MappedRegion region, out StoreLayout layout);

        var refused = Assert.Throws<StoreCorruptException>(() => new StoreMemory(file, region, layout));

        Assert.Equal(256, refused.Offset);
    }

    [Fact]
    public void Segments_are_no_more_than_the_file_holds()
    {
        using StoreFile file = Scribble(int.MaxValue, out MappedRegion region, out StoreLayout layout);

        var memory = new StoreMemory(file, region, layout);

        Assert.Equal(layout.MaxSegments, memory.SegmentCount);
    }

    // Changes the file between the check of the first page and the first use of its content.
    private StoreFile Scribble(int count, out MappedRegion region, out StoreLayout layout)
    {
        layout = Store.Engine.Memory.Layout;
        Store.Dispose();
        StoreFile file = HostPlatform.Current.Open(FilePath);
        region = file.Map(layout.MappedBytes, writable: true);
        ((Superblock*)region.Address)->SegmentCount = count;
        return file;
    }
}
