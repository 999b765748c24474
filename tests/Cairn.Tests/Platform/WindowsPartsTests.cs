using Cairn.Platform.Windows;

namespace Cairn.Tests.Platform;

/// <summary>The parts of the Windows platform that do not need Windows.</summary>
public sealed class WindowsPartsTests
{
    [Fact]
    public void Part_of_a_range_that_is_not_held_is_requested_from_the_system()
    {
        var held = new HeldRanges();
        held.Add(new HeldRange(10, 20));
        held.Add(new HeldRange(5, 6));
        held.Add(new HeldRange(30, 40));

        Assert.Equal([new HeldRange(0, 5), new HeldRange(6, 10), new HeldRange(20, 30)], held.GapsIn(new HeldRange(0, 35)));
        Assert.Empty(held.GapsIn(new HeldRange(12, 20)));
        Assert.Equal([new HeldRange(20, 21)], held.GapsIn(new HeldRange(20, 21)));
    }

    [Fact]
    public void Locks_are_given_back_as_they_were_taken()
    {
        var held = new HeldRanges();
        held.Add(new HeldRange(10, 20));
        held.Add(new HeldRange(20, 21));

        Assert.Throws<InvalidOperationException>(() => held.TakeWithin(new HeldRange(10, 15)));
        Assert.Throws<InvalidOperationException>(() => held.TakeWithin(new HeldRange(19, 30)));
        Assert.Equal([new HeldRange(10, 20), new HeldRange(20, 21)], held.TakeWithin(new HeldRange(0, 30)));
        Assert.Empty(held.TakeWithin(new HeldRange(0, 30)));
    }

    [Fact]
    public void Locks_of_the_highest_bytes_do_not_overflow()
    {
        Assert.Equal(long.MaxValue, HeldRange.Of(long.MaxValue - 1, 1).End);
        Assert.Throws<OverflowException>(() => HeldRange.Of(long.MaxValue, 1));
        Assert.Throws<ArgumentOutOfRangeException>(() => HeldRange.Of(-1, 1));
        Assert.Throws<ArgumentOutOfRangeException>(() => HeldRange.Of(0, 0));
    }

    [Fact]
    public void Start_of_the_machine_is_36_characters_and_differs_by_every_tick()
    {
        string start = WindowsBoot.IdOf(0x01DD_7A5A_CF5B_4950);

        Assert.Equal("00000000-0000-0000-01dd-7a5acf5b4950", start);
        Assert.NotEqual(start, WindowsBoot.IdOf(0x01DD_7A5A_CF5B_4951));
    }

    [Theory]
    [InlineData(@"\\?\C:\books\store.cairn", false, @"C:\")]
    [InlineData(@"\\?\UNC\server\share\store.cairn", true, null)]
    [InlineData(@"\\?\Volume{00000000-0000-0000-0000-000000000000}\store.cairn", false, null)]
    [InlineData("", false, null)]
    public void Share_is_recognised_by_the_path_without_links(string path, bool isShare, string? expectedRoot)
    {
        Assert.Equal(isShare, WindowsFileSystems.IsShare(path, out string? root));
        Assert.Equal(expectedRoot, root);
    }

    [Theory]
    [InlineData("NTFS", null)]
    [InlineData("ReFS", null)]
    [InlineData("FAT32", null)]
    [InlineData("FUSE-sshfs", "FUSE-sshfs")]
    [InlineData("WinFsp-memfs", "WinFsp-memfs")]
    public void File_system_of_a_program_is_recognised_by_its_name(string kind, string? refused) =>
        Assert.Equal(refused, WindowsFileSystems.RefusedKind(kind));
}
