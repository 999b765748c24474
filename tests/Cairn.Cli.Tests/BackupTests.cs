using System.Text.Json;

namespace Cairn.Cli.Tests;

/// <summary>backup and restore.</summary>
public sealed class BackupTests : ToolTest
{
    public BackupTests()
    {
        using CairnStore store = CairnStore.Open(Options with { FlushOnClose = true });
        store.DefaultCollection.Set("book:42", "Dune"u8);
        store.Collection("sessions", new CollectionOptions { Region = StoreRegion.Keep }).Set("alice", "token"u8);
    }

    private string Backup => PathOf("books.backup");

    private string New => PathOf("new.cairn");

    [Fact]
    public void Store_comes_back_from_its_backup()
    {
        ToolRun backup = Run("backup", Backup);
        ToolRun restore = Run("restore", "--store", New, "--capacity", "8MiB", Backup);

        Assert.Equal((0, ""), (backup.Code, backup.Error));
        Assert.StartsWith($"backed up 2 entries, and 0 changes made meanwhile, to {Backup} (", backup.Output, StringComparison.Ordinal);
        Assert.Equal((0, ""), (restore.Code, restore.Error));
        Assert.StartsWith($"restored 2 entries to {New} (8 MiB) in ", restore.Output, StringComparison.Ordinal);
        Assert.Equal("Dune", Run("get", "--store", New, "book:42").Output);
        Assert.Equal("token", Run("get", "--store", New, "--collection", "sessions", "alice").Output);
    }

    [Fact]
    public void Programs_get_the_result_as_json()
    {
        ToolRun backup = Run("backup", "--json", "--only-kept", Backup);
        ToolRun restore = Run("restore", "--json", "--store", New, "--capacity", "4MiB", "--max-capacity", "16MiB", "--average-entry", "200", Backup);

        Assert.Equal((1, 0, new FileInfo(Backup).Length), (Number(backup.Json, "entries"), Number(backup.Json, "changes"), Number(backup.Json, "bytes")));
        Assert.Equal((StorePath, Backup), (backup.Json.GetProperty("store").GetString(), backup.Json.GetProperty("backup").GetString()));
        Assert.Equal((1, new FileInfo(New).Length), (Number(restore.Json, "entries"), Number(restore.Json, "bytes")));
        Assert.Equal(16 << 20, Number(Run("stats", "--json", "--store", New).Json, "maxCapacityBytes"));
    }

    [Fact]
    public void Damaged_backup_is_refused_with_the_command_that_salvages_it()
    {
        Run("backup", Backup);
        using (FileStream file = File.Open(Backup, FileMode.Open))
        {
            file.Position = file.Length - 100;
            file.WriteByte(0xA5);
        }

        ToolRun refused = Run("restore", "--store", New, "--capacity", "8MiB", Backup);
        ToolRun salvaged = Run("restore", "--salvage", "--store", New, "--capacity", "8MiB", Backup);
        ToolRun told = Run("restore", "--salvage", "--json", "--store", PathOf("other.cairn"), "--capacity", "8MiB", Backup);

        Assert.Equal(ExitCode.Damaged, refused.Code);
        Assert.Contains($"cairn restore --salvage --store NEW {Backup}", refused.Error, StringComparison.Ordinal);
        Assert.Equal((0, ""), (salvaged.Code, salvaged.Error));
        Assert.Contains($"left out: {Backup}, from byte ", salvaged.Output, StringComparison.Ordinal);
        Assert.NotEmpty(told.Json.GetProperty("leftOut").EnumerateArray());
    }

    [Fact]
    public void New_store_is_large_enough_for_any_backup()
    {
        Run("backup", Backup);

        Assert.Equal(0, Run("restore", "--store", New, Backup).Code);

        Assert.InRange(new FileInfo(New).Length, 255L << 20, 256L << 20);
    }

    [Fact]
    public void Store_in_use_is_backed_up_and_never_replaced()
    {
        using CairnStore store = OpenStore();

        Assert.Equal(0, Run("backup", Backup).Code);
        ToolRun taken = Run("restore", Backup);
        ToolRun self = Run("backup", StorePath);

        Assert.Equal((ExitCode.Store, ""), (taken.Code, taken.Output));
        Assert.Contains("already", taken.Error, StringComparison.Ordinal);
        Assert.Equal(ExitCode.Usage, self.Code);
        Assert.Equal("Dune", store.DefaultCollection.GetString("book:42"));
    }

    [Fact]
    public void Missing_file_and_file_that_is_no_backup_are_reported()
    {
        ToolRun missing = Run("restore", "--store", New, PathOf("missing"));
        ToolRun wrong = Run("restore", "--store", New, StorePath);
        ToolRun nowhere = Run("backup", Path.Combine(PathOf("missing"), "books.backup"));

        Assert.Equal(ExitCode.Store, missing.Code);
        Assert.Contains("there is no backup", missing.Error, StringComparison.Ordinal);
        Assert.Equal(ExitCode.Damaged, wrong.Code);
        Assert.Contains("is not a backup", wrong.Error, StringComparison.Ordinal);
        Assert.Equal(ExitCode.Store, nowhere.Code);
        Assert.False(File.Exists(New));
    }

    [Fact]
    public void Interrupted_backup_leaves_the_earlier_one()
    {
        Run("backup", Backup);
        byte[] before = File.ReadAllBytes(Backup);
        TestConsole console = NewConsole();
        console.Interrupt();

        ToolRun run = Run(console, "backup", Backup);

        Assert.Equal(ExitCode.Interrupted, run.Code);
        Assert.Equal(before, File.ReadAllBytes(Backup));
    }

    private static long Number(JsonElement json, string name) => json.GetProperty(name).GetInt64();
}
