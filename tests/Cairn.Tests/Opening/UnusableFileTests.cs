using System.Runtime.Versioning;
using Cairn.Tests.Platform;

namespace Cairn.Tests.Opening;

/// <summary>Files of stores that cannot be opened. The store refuses each of them with the reason, and does not change it.</summary>
[SupportedOSPlatform("linux")]
public sealed class UnusableFileTests : StoreTest
{
    [Fact]
    public void File_that_was_cut_off_is_refused_with_the_length_it_should_have()
    {
        Store.Dispose();
        long whole = new FileInfo(FilePath).Length;
        foreach (long length in (long[])[whole - 1, whole / 2, 100_000, 4096, 4095, 1])
        {
            using (FileStream file = File.OpenWrite(FilePath))
            {
                file.SetLength(length);
            }

            var refused = Assert.Throws<StoreCorruptException>(() => Open(Options));

            Assert.Contains(length < 4096 ? $"only {length} bytes" : $"{length:N0} bytes", refused.Message, StringComparison.Ordinal);
            Assert.Equal(length, new FileInfo(FilePath).Length);
        }
    }

    [RequiresMountFact]
    public void Store_on_a_read_only_file_system_is_refused_but_can_be_verified()
    {
        using TestMount mount = TestMount.Tmpfs(16 << 20);
        StoreOptions options = Options with { Path = mount["store.cairn"] };
        Store.Dispose();
        File.Copy(FilePath, options.Path); // A mapping in this process would prevent the file system from becoming read-only.
        mount.MakeReadOnly();

        var refused = Assert.Throws<StoreException>(() => CairnStore.Open(options));
        var notCreated = Assert.Throws<StoreException>(() => CairnStore.Open(options with { Path = mount["another.cairn"] }));

        Assert.Contains("read-only file system", refused.Message, StringComparison.Ordinal);
        Assert.Contains("read-only", notCreated.Message, StringComparison.Ordinal);
        Assert.True(StoreMaintenance.Verify(options.Path).IsSound);
    }

    [Fact]
    public void Store_that_another_user_may_only_read_is_refused_with_the_user_and_the_file()
    {
        using var shared = new TestDirectory();
        string path = shared["store.cairn"];
        CairnStore.Open(Options with { Path = path }).Dispose();
        File.SetUnixFileMode(path, UnixFileMode.UserRead | UnixFileMode.OtherRead);
        UnixFileMode enter = UnixFileMode.UserRead | UnixFileMode.UserWrite | UnixFileMode.UserExecute | UnixFileMode.OtherRead | UnixFileMode.OtherExecute;
        File.SetUnixFileMode(shared.Path, enter);

        using ChildProcess otherUser = ChildProcess.Start(typeof(Program), "open-store-as-other-user", path);
        string answer = otherUser.ReadLine();

        Assert.StartsWith("UnauthorizedAccessException: The user '", answer, StringComparison.Ordinal);
        Assert.Contains($"may not open the store '{path}' for reading and writing", answer, StringComparison.Ordinal);
    }
}
