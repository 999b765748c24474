using Cairn.Cli.Serving;

namespace Cairn.Cli.Tests.Serving;

public sealed class StartPagesTests
{
    private const string Program = "/opt/a tool/cairn";

    [Fact]
    public void Ranges_are_those_of_the_program_that_cannot_be_written_and_have_no_private_page()
    {
        using var maps = new StringReader(string.Concat(
            Range("1000-3000 r--p 00000000 fe:00 12345", Program, anonymousKb: 0),
            Range("3000-9000 r-xp 00002000 fe:00 12345", Program, anonymousKb: 0),
            Range("9000-a000 r--p 00008000 fe:00 12345", Program, anonymousKb: 4), // Adapted by the loader, then protected.
            Range("a000-b000 rw-p 00009000 fe:00 12345", Program, anonymousKb: 0),
            Range("b000-c000 r--s 00009000 fe:00 12345", Program, anonymousKb: 0),
            Range("c000-d000 rw-p 00000000 00:00 0", "", anonymousKb: 0),
            Range("ffff0000f000-ffff00010000 r-xp 00000000 fe:00 777", "/usr/lib/libc.so.6", anonymousKb: 0)));

        Assert.Equal([(0x1000, 0x3000), (0x3000, 0x9000)], StartPages.Find(maps, Program));
    }

    [Fact]
    public void Map_of_this_process_can_be_read()
    {
        using StreamReader maps = File.OpenText("/proc/self/smaps");

        Assert.NotEmpty(StartPages.Find(maps, Environment.ProcessPath!));
    }

    private static string Range(string head, string path, int anonymousKb) =>
        $"{head}                       {path}\nSize:                  8 kB\nRss:                   4 kB\nAnonymous:             {anonymousKb} kB\nVmFlags: rd mr mw me sd\n";
}
