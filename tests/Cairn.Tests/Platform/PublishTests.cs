using System.Runtime.Versioning;
using Cairn.Platform;
using Cairn.Platform.Linux;

namespace Cairn.Tests.Platform;

/// <summary>P3: a file gets its name in one step, when it is complete.</summary>
[SupportedOSPlatform("linux")]
public sealed class PublishTests : IDisposable
{
    private readonly TestDirectory _directory = new();

    private string Target => _directory["store.cairn"];

    public void Dispose() => _directory.Dispose();

    [Fact]
    public void Unnamed_file_is_invisible_until_it_is_published()
    {
        using StoreFile file = Create("content");
        Assert.Empty(_directory.FileNames);

        Assert.True(file.TryPublish(Target, replace: false));

        Assert.Equal(["store.cairn"], _directory.FileNames);
        Assert.Equal("content", File.ReadAllText(Target));
        Assert.Equal(Target, file.Path);
        Assert.True(file.IsStillAt(Target));
    }

    [Fact]
    public void Published_file_can_be_used_by_its_owner_only()
    {
        using StoreFile file = Create("content");

        file.TryPublish(Target, replace: false);

        Assert.Equal(UnixFileMode.UserRead | UnixFileMode.UserWrite, File.GetUnixFileMode(Target));
    }

    [Fact]
    public void File_that_is_not_published_leaves_nothing()
    {
        Create("content").Dispose();

        using (StoreFile named = LinuxPlatform.CreateTemporarilyNamed(_directory.Path, "store.cairn"))
        {
            Assert.Single(_directory.FileNames);
        }

        Assert.Empty(_directory.FileNames);
    }

    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public void Taken_name_is_left_alone(bool isTemporarilyNamed)
    {
        File.WriteAllText(Target, "first");
        using StoreFile file = Create("second", isTemporarilyNamed);

        Assert.False(file.TryPublish(Target, replace: false));

        Assert.Equal("first", File.ReadAllText(Target));
        Assert.False(file.IsStillAt(Target));
    }

    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public void Replacing_takes_the_name_over_and_leaves_no_other(bool isTemporarilyNamed)
    {
        File.WriteAllText(Target, "first");
        using StoreFile old = HostPlatform.Current.Open(Target);
        using StoreFile file = Create("second", isTemporarilyNamed);

        Assert.True(file.TryPublish(Target, replace: true));

        Assert.Equal(["store.cairn"], _directory.FileNames);
        Assert.Equal("second", File.ReadAllText(Target));
        Assert.False(old.IsStillAt(Target));
        Assert.Equal(5, old.Length);
    }

    [Fact]
    public void Replacing_a_name_that_does_not_exist_is_publishing()
    {
        using StoreFile file = Create("only");

        Assert.True(file.TryPublish(Target, replace: true));

        Assert.Equal("only", File.ReadAllText(Target));
    }

    [Fact]
    public void Replacement_keeps_the_permissions_of_what_it_replaces()
    {
        const UnixFileMode Mode =
            UnixFileMode.UserRead | UnixFileMode.UserWrite | UnixFileMode.GroupRead | UnixFileMode.GroupWrite;
        File.WriteAllText(Target, "first");
        File.SetUnixFileMode(Target, Mode);
        using StoreFile file = Create("second");

        file.TryPublish(Target, replace: true);

        Assert.Equal(Mode, File.GetUnixFileMode(Target));
    }

    [Fact]
    public void Replacing_through_a_symbolic_link_replaces_the_file_and_keeps_the_link()
    {
        string link = _directory["link"];
        File.WriteAllText(Target, "first");
        File.CreateSymbolicLink(link, Target);
        using StoreFile file = Create("second");

        file.TryPublish(link, replace: true);

        Assert.Equal(Target, new FileInfo(link).LinkTarget);
        Assert.Equal("second", File.ReadAllText(link));
    }

    [Fact]
    public void File_is_published_once()
    {
        using StoreFile file = Create("content");
        file.TryPublish(Target, replace: false);

        Assert.Throws<InvalidOperationException>(() => file.TryPublish(_directory["other"], replace: false));
    }

    [Fact]
    public void One_of_many_publishers_wins()
    {
        int winners = 0;

        Parallel.For(0, 32, number =>
        {
            using StoreFile file = Create($"{number}", isTemporarilyNamed: number % 2 == 0);
            if (file.TryPublish(Target, replace: false))
            {
                Interlocked.Increment(ref winners);
            }
        });

        Assert.Equal(1, winners);
        Assert.Equal(["store.cairn"], _directory.FileNames);
        Assert.NotEmpty(File.ReadAllText(Target));
    }

    [Fact]
    public async Task Reader_finds_one_whole_file_while_others_replace_it()
    {
        const int Bytes = 64 << 10;
        using (StoreFile first = CreateFilled(0, Bytes))
        {
            first.TryPublish(Target, replace: false);
        }

        Task replacer = OwnThread.Run(() =>
        {
            for (int round = 1; round <= 200; round++)
            {
                using StoreFile next = CreateFilled((byte)round, Bytes);
                next.TryPublish(Target, replace: true);
            }
        });

        do
        {
            using StoreFile file = HostPlatform.Current.Open(Target);
            byte[] bytes = new byte[Bytes + 1];
            Assert.Equal(Bytes, file.Read(0, bytes));
            Assert.Equal(Bytes, bytes.AsSpan(0, Bytes).Count(bytes[0]));
        }
        while (!replacer.IsCompleted);

        await replacer;
    }

    [Fact]
    public void Killed_creator_of_an_unnamed_file_leaves_nothing()
    {
        using ChildProcess child = ChildProcess.Start(
            typeof(Program), "hold-unnamed-file", _directory.Path, "store.cairn");
        Assert.Equal("created", child.ReadLine());

        child.Kill();

        Assert.Empty(_directory.FileNames);
    }

    [Fact]
    public void Temporary_name_is_reaped_once_its_creator_is_dead_and_not_before()
    {
        using ChildProcess child = ChildProcess.Start(
            typeof(Program), "hold-temporary-name", _directory.Path, "store.cairn");
        Assert.Equal("created", child.ReadLine());
        string left = Assert.Single(_directory.FileNames);

        Create("alive").Dispose();
        Assert.Equal([left], _directory.FileNames);

        child.Kill();
        Create("of another name", name: "other.cairn").Dispose();
        Assert.Equal([left], _directory.FileNames);

        Create("next").Dispose();
        Assert.Empty(_directory.FileNames);
    }

    [Fact]
    public void Longest_file_name_can_be_created_both_ways()
    {
        string longest = new('é', 127);
        foreach (bool isTemporarilyNamed in (bool[])[false, true])
        {
            using StoreFile file = Create("content", isTemporarilyNamed, longest);

            Assert.True(file.TryPublish(_directory[longest], replace: true));
        }

        Assert.Equal([longest], _directory.FileNames);
    }

    [Fact]
    public void Directory_that_does_not_exist_is_named()
    {
        string missing = _directory["missing"];

        var error = Assert.Throws<DirectoryNotFoundException>(
            () => HostPlatform.Current.CreateUnnamed(missing, "store.cairn"));

        Assert.Contains(Path.Combine(missing, "store.cairn"), error.Message, StringComparison.Ordinal);
        Assert.Contains("directory does not exist", error.Message, StringComparison.Ordinal);
    }

    [RequiresMountFact]
    public void Publishing_on_another_file_system_is_an_error()
    {
        using var mount = TestMount.Tmpfs(1 << 20);
        using StoreFile file = Create("content");

        var error = Assert.Throws<StoreException>(() => file.TryPublish(mount["store"], replace: false));

        Assert.Contains("another file system", error.Message, StringComparison.Ordinal);
    }

    [RequiresMountFact]
    public void Read_only_file_system_is_named_when_creating()
    {
        using var mount = TestMount.Tmpfs(1 << 20);
        mount.MakeReadOnly();

        var error = Assert.Throws<StoreException>(() => HostPlatform.Current.CreateUnnamed(mount.Path, "store"));

        Assert.Contains("file system is read-only", error.Message, StringComparison.Ordinal);
    }

    private StoreFile Create(string content, bool isTemporarilyNamed = false, string name = "store.cairn")
    {
        StoreFile file = isTemporarilyNamed
            ? LinuxPlatform.CreateTemporarilyNamed(_directory.Path, name)
            : HostPlatform.Current.CreateUnnamed(_directory.Path, name);
        file.Write(0, System.Text.Encoding.UTF8.GetBytes(content));
        return file;
    }

    private StoreFile CreateFilled(byte value, int bytes)
    {
        StoreFile file = HostPlatform.Current.CreateUnnamed(_directory.Path, "store.cairn");
        byte[] content = new byte[bytes];
        Array.Fill(content, value);
        file.Write(0, content);
        return file;
    }
}
