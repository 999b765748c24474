using Cairn.Cli.Clients;
using Cairn.Cli.Output;
using Cairn.Platform;
using Microsoft.Win32.SafeHandles;

namespace Cairn.Cli.Tests.Output;

public sealed class ReplacedFileTests : IDisposable
{
    private readonly TestDirectory _directory = new();

    public void Dispose() => _directory.Dispose();

    [Fact]
    public void File_takes_its_place_when_it_is_complete()
    {
        string path = _directory["file"];
        File.WriteAllText(path, "before");

        using (ReplacedFile file = ReplacedFile.Create(path))
        {
            file.Stream.Write("after"u8);
            Assert.Equal("before", File.ReadAllText(path));
            file.Commit();
        }

        Assert.Equal("after", File.ReadAllText(path));
        Assert.Equal(["file"], _directory.FileNames);
    }

    [Fact]
    public void File_that_is_never_completed_leaves_everything_as_it_was()
    {
        string path = _directory["file"];
        File.WriteAllText(path, "before");

        using (ReplacedFile file = ReplacedFile.Create(path))
        {
            file.Stream.Write("half"u8);
        }

        Assert.Equal("before", File.ReadAllText(path));
        Assert.Equal(["file"], _directory.FileNames);
    }

    [Fact]
    public void Files_of_killed_commands_with_the_same_target_are_removed_and_no_others()
    {
        string path = _directory["file"];
        string[] others = ["file.12", "file.12.part.old", "file.x.part", "file.new.12.part", "other.12.part"];
        Array.ForEach(["file.12.part", "file.4000000.part", .. others], name => File.WriteAllText(_directory[name], "half"));

        using (ReplacedFile file = ReplacedFile.Create(path))
        {
            file.Commit();
        }

        Assert.Equal(["file", .. others.Order(StringComparer.Ordinal)], _directory.FileNames.Order(StringComparer.Ordinal));
    }

    [Fact]
    public void File_of_a_command_that_still_runs_stays()
    {
        string path = _directory["file"];
        using ReplacedFile running = ReplacedFile.Create(path);
        running.Stream.Write("whole"u8);
        string part = _directory["file.12.part"];
        File.Move(_directory[$"file.{Environment.ProcessId}.part"], part);

        using (ReplacedFile second = ReplacedFile.Create(path))
        {
            second.Commit();
        }

        Assert.True(File.Exists(part));
    }

    [Fact]
    public void Mode_of_the_file_that_was_there_is_kept()
    {
        if (OperatingSystem.IsWindows())
        {
            return; // Windows has no file modes.
        }

        const UnixFileMode Mode = UnixFileMode.UserRead | UnixFileMode.UserWrite | UnixFileMode.GroupRead;
        string path = _directory["file"];
        File.WriteAllText(path, "before");
        File.SetUnixFileMode(path, Mode);

        using (ReplacedFile file = ReplacedFile.Create(path))
        {
            file.Commit();
        }

        Assert.Equal(Mode, File.GetUnixFileMode(path));
    }

    [Fact]
    public void Link_stays_and_leads_to_the_new_file()
    {
        string link = _directory["link"];
        File.WriteAllText(_directory["file"], "before");
        File.CreateSymbolicLink(link, _directory["file"]);

        using (ReplacedFile file = ReplacedFile.Create(link))
        {
            file.Stream.Write("after"u8);
            file.Commit();
        }

        Assert.NotNull(new FileInfo(link).LinkTarget);
        Assert.Equal("after", File.ReadAllText(_directory["file"]));
    }

    [Fact]
    public void Device_is_written_to_and_stays_a_device()
    {
        using (ReplacedFile file = ReplacedFile.Create("/dev/null"))
        {
            file.Stream.Write("nothing"u8);
            file.Commit();
        }

        Assert.Equal(0, new FileInfo("/dev/null").Length);
    }

    [Fact]
    public void Directory_is_no_file()
    {
        var refusal = Assert.Throws<ToolException>(() => ReplacedFile.Create(_directory.Path));

        Assert.Equal(ExitCode.File, refusal.ExitCode);
    }

    [Fact]
    public void Disk_that_fails_to_keep_the_file_leaves_the_target_as_it_was()
    {
        string path = _directory["file"];
        File.WriteAllText(path, "before");
        var disk = new FailingDisk();

        using (ReplacedFile file = ReplacedFile.Create(path))
        {
            file.Stream.Write("after"u8);
            var failure = Assert.Throws<ToolException>(() => disk.On(() =>
            {
                file.Commit();
                return 0;
            }));
            Assert.Equal(ExitCode.File, failure.ExitCode);
            Assert.Contains("Check the disk", failure.Message, StringComparison.Ordinal);
        }

        Assert.Equal("before", File.ReadAllText(path));
        Assert.Equal(["file"], _directory.FileNames);
    }

    [Fact]
    public void Error_of_a_write_names_the_target_and_is_none_of_a_connection()
    {
        if (OperatingSystem.IsWindows())
        {
            return; // Windows has no /dev/full.
        }

        using ReplacedFile file = ReplacedFile.Create("/dev/full");

        var failure = Assert.Throws<ToolException>(() => file.Stream.Write("text"u8));

        Assert.Contains("'/dev/full' cannot be written", failure.Message, StringComparison.Ordinal);
        Assert.False(ServerLink.IsConnectionFailure(failure));
    }

    private sealed class FailingDisk : ProxyPlatform
    {
        public override void FlushFile(SafeFileHandle file, string what) => throw FileFailures.NotFlushed(what, "the test says so");
    }
}
