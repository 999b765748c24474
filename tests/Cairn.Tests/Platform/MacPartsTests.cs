using System.Runtime.CompilerServices;
using Cairn.Platform.MacOs;

namespace Cairn.Tests.Platform;

/// <summary>The parts of the macOS platform that do not need macOS: structure sizes as in Apple's headers, and names of file systems.</summary>
public sealed class MacPartsTests
{
    [Fact]
    public void Structures_have_the_sizes_of_the_systems_headers()
    {
        Assert.Equal(24, Unsafe.SizeOf<MacNative.FileLock>());
        Assert.Equal(32, Unsafe.SizeOf<MacNative.Allocation>());
        Assert.Equal(144, Unsafe.SizeOf<MacNative.FileStatus>());
        Assert.Equal(2168, Unsafe.SizeOf<MacNative.FileSystemStatus>());
    }

    [Theory]
    [InlineData("apfs", true, null)]
    [InlineData("hfs", true, null)]
    [InlineData("exfat", true, null)]
    [InlineData("smbfs", false, "SMB")]
    [InlineData("nfs", false, "NFS")]
    [InlineData("macfuse", true, "FUSE")]
    [InlineData("AppleVirtIOFS", true, "virtiofs")]
    [InlineData("new", false, "a network file system (new)")]
    public void Network_and_served_file_systems_are_recognised_by_their_flag_or_name(string kind, bool isLocal, string? refused) =>
        Assert.Equal(refused, MacFileSystems.RefusedKind(kind, isLocal));
}
