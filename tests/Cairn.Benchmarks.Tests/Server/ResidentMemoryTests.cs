using Cairn.Benchmarks.Server;

namespace Cairn.Benchmarks.Tests.Server;

public class ResidentMemoryTests
{
    [Fact]
    public void Resident_memory_is_that_of_all_mappings_but_the_file_named()
    {
        string[] lines =
        [
            "7f0000000000-7f0000100000 rw-s 00000000 fe:00 1234                       /data/server.cairn",
            "Size:               1024 kB",
            "Rss:                1000 kB",
            "7f0000100000-7f0000200000 rw-p 00000000 00:00 0 ",
            "Size:               1024 kB",
            "Rss:                  12 kB",
            "VmFlags: rd wr mr mw me ac sd",
            "7f0000200000-7f0000300000 r-xp 00000000 fe:00 99                         /data/other-server.cairn",
            "Rss:                   4 kB",
        ];

        Assert.Equal(16 << 10, ResidentMemory.SumBeside("/data/server.cairn", lines));
    }
}
