using System.Text.Json;

namespace Cairn.Cli.Tests;

/// <summary>verify and compact.</summary>
public sealed class MaintenanceTests : ToolTest
{
    public MaintenanceTests()
    {
        using CairnStore store = CairnStore.Open(Options with { FlushOnClose = true });
        for (int i = 0; i < 500; i++)
        {
            store.DefaultCollection.Set($"book:{i}", TestBytes.Of(100, seed: i));
        }

        store.DefaultCollection.Set("mortal", "value"u8, TimeSpan.FromMinutes(5));
        store.Collection("sessions").Set("alice", "token"u8);
    }

    [Fact]
    public void Sound_store_is_reported_with_what_was_read()
    {
        ToolRun text = Run("verify");
        ToolRun json = Run("verify", "--json");

        Assert.Equal((0, ""), (text.Code, text.Error));
        Assert.StartsWith($"{StorePath}: sound\n", text.Output, StringComparison.Ordinal);
        Assert.Contains("502; still there: 0 expired", text.Output, StringComparison.Ordinal);
        Assert.True(json.Json.GetProperty("sound").GetBoolean());
        Assert.Equal((502, 0, 1), (Number(json.Json, "entries"), Number(json.Json, "damage"), Number(json.Json, "collections")));
        Assert.Equal(new FileInfo(StorePath).Length, Number(json.Json, "fileBytes"));
    }

    [Fact]
    public void Store_in_use_can_be_verified()
    {
        using CairnStore store = OpenStore();

        JsonElement json = Run("verify", "--json").Json;

        Assert.True(json.GetProperty("sound").GetBoolean());
        Assert.True(json.GetProperty("inUse").GetBoolean());
        Assert.Equal(1, Number(json, "openings"));
    }

    [Fact]
    public void Damage_is_listed_and_is_the_exit_code()
    {
        DamageEntries();

        ToolRun text = Run("verify");
        ToolRun json = Run("verify", "--json");
        ToolRun counted = Run("verify", "--json", "--max-findings", "0");

        Assert.Equal((ExitCode.Damaged, ""), (text.Code, text.Error));
        Assert.StartsWith($"{StorePath}: DAMAGED\n", text.Output, StringComparison.Ordinal);
        Assert.Contains("\ndamage at ", text.Output, StringComparison.Ordinal);
        Assert.Equal(ExitCode.Damaged, json.Code);
        long damage = Number(json.Json, "damage");
        Assert.NotEqual(0, damage);
        Assert.Contains(
            json.Json.GetProperty("findings").EnumerateArray(),
            finding => finding.GetProperty("severity").GetString() == "damage" && finding.GetProperty("area").GetString() == "entries");
        Assert.Equal(damage, Number(counted.Json, "damage"));
        Assert.Equal(0, counted.Json.GetProperty("findings").GetArrayLength());
        Assert.EndsWith("more (--max-findings)\n", Run("verify", "--max-findings", "1").Output, StringComparison.Ordinal);
    }

    [Fact]
    public void File_that_is_no_store_is_damaged_and_stays_as_it_is()
    {
        string notes = PathOf("notes.txt");
        File.WriteAllText(notes, "These are my notes.");

        ToolRun verify = Run("verify", "--store", notes);
        ToolRun compact = Run("compact", "--store", notes);

        Assert.Equal((ExitCode.Damaged, ExitCode.Damaged), (verify.Code, compact.Code));
        Assert.Equal("These are my notes.", File.ReadAllText(notes));
    }

    [Fact]
    public void Compacting_makes_the_file_smaller_and_keeps_what_lives()
    {
        Clock.Advance(TimeSpan.FromMinutes(5));
        long before = new FileInfo(StorePath).Length;

        ToolRun run = Run("compact", "--json");

        Assert.Equal((0, ""), (run.Code, run.Error));
        Assert.Equal((501, 1, 0), (Number(run.Json, "entriesKept"), Number(run.Json, "entriesExpired"), Number(run.Json, "entriesDamaged")));
        Assert.Equal((before, new FileInfo(StorePath).Length), (Number(run.Json, "bytesBefore"), Number(run.Json, "bytesAfter")));
        Assert.True(Number(run.Json, "bytesAfter") < before);
        Assert.Equal(TestBytes.Of(100, seed: 42), Run("get", "book:42").Bytes);
        Assert.Equal("token", Run("get", "--collection", "sessions", "alice").Output);
    }

    [Fact]
    public void Compacting_prints_its_result_and_takes_sizes()
    {
        ToolRun run = Run("compact", "--capacity", "12MiB", "--max-capacity", "16MiB", "--average-entry", "150");

        Assert.Equal(0, run.Code);
        Assert.StartsWith($"compacted {StorePath} from 8 MiB to 12 MiB in ", run.Output, StringComparison.Ordinal);
        Assert.Contains("kept 502 entries", run.Output, StringComparison.Ordinal);
        Assert.Equal(16 << 20, Number(Run("stats", "--json").Json, "maxCapacityBytes"));
    }

    [Fact]
    public void Store_in_use_is_not_compacted()
    {
        using CairnStore store = OpenStore();

        ToolRun run = Run("compact");

        Assert.Equal((ExitCode.Store, ""), (run.Code, run.Output));
        Assert.StartsWith("cairn: ", run.Error, StringComparison.Ordinal);
        Assert.NotNull(store.DefaultCollection.Get("book:42"));
    }

    [Fact]
    public void Interrupted_compacting_leaves_the_store_as_it_was()
    {
        TestConsole console = NewConsole();
        console.Interrupt();
        long before = new FileInfo(StorePath).Length;

        ToolRun run = Run(console, "compact");

        Assert.Equal((ExitCode.Interrupted, "cairn: interrupted\n"), (run.Code, run.Error));
        Assert.Equal(before, new FileInfo(StorePath).Length);
        Assert.Equal(0, Run("verify").Code);
    }

    [Theory]
    [InlineData("verify", "--max-findings", "1000001")]
    [InlineData("compact", "--capacity", "1KiB")]
    [InlineData("compact", "--capacity", "8MiB", "--max-capacity", "4MiB")]
    [InlineData("compact", "--average-entry", "31")]
    [InlineData("compact", "--average-entry", "2MiB")]
    public void Mistake_is_a_usage_error(params string[] args)
    {
        ToolRun run = Run(args);

        Assert.Equal(ExitCode.Usage, run.Code);
        Assert.StartsWith($"cairn: {args[^2]} ", run.Error, StringComparison.Ordinal);
    }

    // Flips a bit in every copy of some values, wherever they are.
    private void DamageEntries()
    {
        byte[] file = File.ReadAllBytes(StorePath);
        for (int i = 0; i < 10; i++)
        {
            int at = file.AsSpan().IndexOf(TestBytes.Of(100, seed: i));
            Assert.True(at > 0);
            file[at + 50] ^= 0x10;
        }

        File.WriteAllBytes(StorePath, file);
    }

    private static long Number(JsonElement json, string name) => json.GetProperty(name).GetInt64();
}
