using System.Text;
using System.Text.Json;

namespace Cairn.Cli.Tests;

public sealed class ExportImportTests : ToolTest
{
    public ExportImportTests() => CreateStore();

    [Fact]
    public void Export_has_a_line_for_each_entry_of_every_collection()
    {
        Run("set", "book:42", "Dune", "--ttl", "5m", "--flags", "7");
        Run("set", "--collection", "sessions", "alice", "token", "--sliding", "20m", "--ttl", "1h");
        Run(new byte[] { 0xFF, 0x00 }, "set", "cover", "-");

        ToolRun run = Run("export");

        Assert.Equal(0, run.Code);
        Assert.Equal(
            [
                """{"collection":"sessions","key":"alice","expires":"2030-01-01T00:20:00.000Z","slidingMs":1200000,"slidingLimit":"2030-01-01T01:00:00.000Z","value":"token"}""",
                """{"key":"book:42","flags":7,"expires":"2030-01-01T00:05:00.000Z","value":"Dune"}""",
                """{"key":"cover","valueBase64":"/wA="}""",
            ],
            run.Lines.Order(StringComparer.Ordinal));
    }

    [Fact]
    public void Hash_of_the_server_is_left_out_of_an_export_and_reported()
    {
        Run("set", "book:42", "Dune");
        using (CairnStore store = OpenStore())
        {
            HashEntry.Set(store, "hash", new byte[8]);
        }

        ToolRun run = Run("export");
        ToolRun json = Run("export", "--json", "--file", PathOf("out"));

        Assert.Equal(["""{"key":"book:42","value":"Dune"}"""], run.Lines);
        Assert.Equal("cairn: left out 1 hashes, which the server's hash commands wrote: only values are exported\n", run.Error);
        Assert.Contains("\"entries\":1,", json.Output, StringComparison.Ordinal);
        Assert.Contains("\"hashesLeftOut\":1,\"complete\":true", json.Output, StringComparison.Ordinal);
    }

    [Fact]
    public void Export_and_dump_take_one_collection_or_some_keys()
    {
        Run("set", "book:1", "a");
        Run("set", "cover:1", "b");
        Run("set", "--collection", "sessions", "book:2", "c");

        Assert.Single(Run("export", "--collection", "sessions").Lines);
        Assert.Equal(2, Run("export", "--prefix", "book:").Lines.Length);
        Assert.Equal(2, Run("dump", "--match", "*:1").Lines.Length);
        Assert.Single(Run("dump", "--collection", "", "--prefix", "book:").Lines);
    }

    [Theory]
    [InlineData("export")]
    [InlineData("dump")]
    public void Missing_collection_is_reported_and_not_created(string command)
    {
        ToolRun run = Run(command, "--collection", "sessions");

        Assert.Equal((ExitCode.No, "cairn: the store has no collection 'sessions'\n"), (run.Code, run.Error));
        using CairnStore store = OpenStore();
        Assert.Empty(store.CollectionNames);
    }

    [Theory]
    [InlineData("export")]
    [InlineData("dump")]
    public void Looking_leaves_no_trace(string command)
    {
        Run("set", "alice", "token", "--sliding", "20m");
        Clock.Advance(TimeSpan.FromMinutes(19));

        Assert.Single(Run(command).Lines);

        JsonElement statistics = Run("stats", "--json").Json;
        Assert.Equal(0, statistics.GetProperty("hits").GetInt64() + statistics.GetProperty("misses").GetInt64());
        Clock.Advance(TimeSpan.FromMinutes(1));
        Assert.Empty(Run("keys").Lines);
    }

    [Fact]
    public void Dump_also_prints_versions_and_lengths_and_can_leave_values_out()
    {
        Run("set", "book:42", "Dune");

        JsonElement whole = Run("dump").Json;
        JsonElement bare = Run("dump", "--no-values").Json;

        Assert.Equal(4, whole.GetProperty("valueBytes").GetInt32());
        Assert.Equal("Dune", whole.GetProperty("value").GetString());
        Assert.Equal(whole.GetProperty("version").GetString(), bare.GetProperty("version").GetString());
        Assert.False(bare.TryGetProperty("value", out _));
    }

    [Fact]
    public void Dump_can_be_imported()
    {
        Run("set", "book:42", "Dune", "--ttl", "5m");
        byte[] dump = Run("dump").Bytes;
        Run("del", "book:42");

        Assert.Equal(0, Run(dump, "import").Code);

        Assert.Equal("Dune", Run("get", "book:42").Output);
    }

    [Fact]
    public void Export_to_a_file_reports_what_it_wrote()
    {
        Run("set", "book:42", "Dune");
        string file = PathOf("books.jsonl");

        ToolRun text = Run("export", "--file", file);
        ToolRun json = Run("export", "--file", file, "--json");

        Assert.Equal($"exported 1 entry with 4 B of values to {file}\n", text.Output);
        Assert.Equal(1, json.Json.GetProperty("entries").GetInt64());
        Assert.True(json.Json.GetProperty("complete").GetBoolean());
        Assert.Equal("""{"key":"book:42","value":"Dune"}""" + "\n", File.ReadAllText(file));
    }

    [Fact]
    public void Summary_of_an_export_to_standard_output_goes_to_standard_error()
    {
        Run("set", "book:42", "Dune");

        ToolRun run = Run("export", "--json");

        Assert.Single(run.Lines);
        Assert.Equal("""{"entries":1,"valueBytes":4,"complete":true}""" + "\n", run.Error);
    }

    [Fact]
    public void Import_stores_what_the_lines_say()
    {
        byte[] lines = Encoding.UTF8.GetBytes(
            """
            {"key":"book:42","value":"Dune","flags":7,"expires":"2030-01-01T00:05:00.000Z"}

            {"collection":"sessions","key":"alice","value":"token","slidingMs":1200000}
            {"keyBase64":"/2s=","valueBase64":"/wA="}
            """);

        ToolRun run = Run(lines, "import");

        Assert.Equal((0, "imported 3 entries\n", ""), (run.Code, run.Output, run.Error));
        using CairnStore store = OpenStore();
        Assert.True(store.DefaultCollection.TryGetInfo("book:42", out EntryInfo book));
        Assert.Equal((4, 7U, Clock.GetUtcNow().AddMinutes(5)), (book.ValueBytes, book.Flags, book.ExpiresAt));
        Assert.True(store.Collection("sessions").TryGetInfo("alice", out EntryInfo session));
        Assert.Equal(TimeSpan.FromMinutes(20), session.SlidingInterval);
        Assert.Equal([0xFF, 0x00], store.DefaultCollection.Get(new byte[] { 0xFF, 0x6B }));
    }

    [Fact]
    public void Import_into_a_collection_takes_the_lines_that_name_none()
    {
        byte[] lines = Encoding.UTF8.GetBytes(
            """
            {"key":"a","value":"1"}
            {"key":"b","value":"2","collection":"other"}
            {"key":"c","value":"3","collection":""}
            """);

        Run(lines, "import", "--collection", "sessions");

        Assert.Equal(["a"], Run("keys", "--collection", "sessions").Lines);
        Assert.Equal(["b"], Run("keys", "--collection", "other").Lines);
        Assert.Equal(["c"], Run("keys").Lines);
    }

    [Fact]
    public void Import_stops_at_the_first_bad_line_and_names_it()
    {
        byte[] lines = "{\"key\":\"a\",\"value\":\"1\"}\n\n{\"key\":\"b\"}\n{\"key\":\"c\",\"value\":\"3\"}\n"u8.ToArray();

        ToolRun run = Run(lines, "import");

        Assert.Equal((ExitCode.File, ""), (run.Code, run.Output));
        Assert.Equal(
            "cairn: line 3: an entry has either \"value\" or \"valueBase64\"; stopped there, 1 entries before it were imported (--skip-errors goes on)\n",
            run.Error);
        Assert.Equal(["a"], Run("keys").Lines);
    }

    [Fact]
    public void Import_that_skips_errors_reports_each_and_stores_the_others()
    {
        byte[] lines = "nonsense\n{\"key\":\"a\",\"value\":\"1\"}\n{\"key\":\"b\"}\n{\"key\":\"c\",\"value\":\"3\"}\n"u8.ToArray();

        ToolRun run = Run(lines, "import", "--skip-errors");

        Assert.Equal((ExitCode.No, "imported 2 entries, 2 bad lines skipped\n"), (run.Code, run.Output));
        Assert.Equal(["cairn: line 1: not JSON", "cairn: line 3: an entry"], run.Error.Split('\n', StringSplitOptions.RemoveEmptyEntries).Select(line => line[..23]));
        Assert.Equal(["a", "c"], Run("keys").Lines.Order(StringComparer.Ordinal));
    }

    [Fact]
    public void Json_of_an_import_counts_and_lists_what_was_wrong()
    {
        byte[] lines = "nonsense\n{\"key\":\"a\",\"value\":\"1\"}\n"u8.ToArray();

        JsonElement json = Run(lines, "import", "--skip-errors", "--json").Json;

        Assert.Equal(
            (2, 1, 1, 0),
            (json.GetProperty("lines").GetInt32(), json.GetProperty("imported").GetInt32(), json.GetProperty("bad").GetInt32(), json.GetProperty("notStored").GetInt32()));
        Assert.Equal(1, json.GetProperty("errors")[0].GetProperty("line").GetInt32());
        Assert.StartsWith("not JSON", json.GetProperty("errors")[0].GetProperty("reason").GetString(), StringComparison.Ordinal);
    }

    [Fact]
    public void Import_passes_over_what_has_expired_meanwhile()
    {
        Run("set", "mortal", "1", "--ttl", "5m");
        Run("set", "sliding", "2", "--sliding", "5m");
        Run("set", "limited", "2", "--sliding", "4m", "--ttl", "5m");
        Run("set", "immortal", "3");
        byte[] lines = Run("export").Bytes;
        Run("del", "--all");

        Clock.Advance(TimeSpan.FromMinutes(5));
        ToolRun run = Run(lines, "import");

        Assert.Equal((0, "imported 1 entry, 3 expired meanwhile\n"), (run.Code, run.Output));
        Assert.Equal(["immortal"], Run("keys").Lines);
    }

    [Fact]
    public void Value_too_long_for_the_store_is_a_bad_line()
    {
        string line = $$"""{"key":"k","value":"{{new string('v', (1 << 20) + 1)}}"}""";

        ToolRun run = Run(Encoding.UTF8.GetBytes(line), "import");

        Assert.Equal(ExitCode.File, run.Code);
        Assert.Contains("line 1: the value has 1,048,577 bytes, more than the", run.Error, StringComparison.Ordinal);
    }

    [Fact]
    public void Dry_run_checks_and_touches_nothing()
    {
        byte[] lines = "{\"key\":\"a\",\"value\":\"1\"}\nnonsense\n"u8.ToArray();
        string elsewhere = PathOf("elsewhere.cairn");

        ToolRun run = Run(lines, "import", "--dry-run", "--skip-errors", "--store", elsewhere);

        Assert.Equal((ExitCode.No, "would import 1 entry, 1 bad lines skipped\n"), (run.Code, run.Output));
        Assert.False(File.Exists(elsewhere));
    }

    [Fact]
    public void Import_creates_a_store_of_the_capacity_asked_for()
    {
        byte[] lines = "{\"key\":\"a\",\"value\":\"1\"}\n"u8.ToArray();
        string fresh = PathOf("fresh.cairn");

        ToolRun run = Run(lines, "import", "--store", fresh, "--capacity", "2MiB");

        Assert.Equal(0, run.Code);
        Assert.InRange(new FileInfo(fresh).Length, 1 << 20, 2 << 20);
    }

    [Fact]
    public void Import_reports_the_evictions_of_a_full_store()
    {
        string small = PathOf("small.cairn");
        var lines = new StringBuilder();
        for (int i = 0; i < 4000; i++)
        {
            lines.Append($$"""{"key":"k{{i}}","value":"{{new string('v', 1000)}}"}""").Append('\n');
        }

        ToolRun run = Run(Encoding.UTF8.GetBytes(lines.ToString()), "import", "--store", small, "--capacity", "1MiB");

        Assert.Equal((0, "imported 4,000 entries\n"), (run.Code, run.Output));
        Assert.StartsWith("cairn: warning: the store is full", run.Error, StringComparison.Ordinal);
    }

    [Fact]
    public void Interrupted_export_ends_with_a_complete_line_and_says_so()
    {
        using (CairnStore store = OpenStore())
        {
            for (int i = 0; i < 2000; i++)
            {
                store.DefaultCollection.Set($"key:{i}", TestBytes.Of(500, seed: i));
            }
        }

        var output = new InterruptingStream(afterBytes: 200_000);
        var console = new TestConsole(output) { TestClock = Clock, Environment = { ["CAIRN_STORE"] = StorePath } };
        output.Interrupt = console.Interrupt;

        int code = Tool.Run(["export"], console);

        Assert.Equal(ExitCode.Interrupted, code);
        string[] lines = Encoding.UTF8.GetString(output.ToArray()).Split('\n');
        Assert.Equal("", lines[^1]);
        Assert.All(lines[..^1], line => JsonDocument.Parse(line));
        Assert.InRange(lines.Length, 100, 1999);
        Assert.Equal($"cairn: interrupted: {lines.Length - 1} entries were written, each a complete line, but not all\n", console.ErrorText);
    }

    [Fact]
    public void Interrupted_export_to_a_file_leaves_it_as_it_was()
    {
        Run("set", "book:42", "Dune");
        string file = PathOf("books.jsonl");
        File.WriteAllText(file, "before");
        TestConsole console = NewConsole();
        console.Signal = ExitCode.Terminated;
        console.Interrupt();

        ToolRun run = Run(console, "export", "--file", file);

        Assert.Equal((ExitCode.Terminated, $"cairn: interrupted: '{file}' was not changed\n"), (run.Code, run.Error));
        Assert.Equal("before", File.ReadAllText(file));
        Assert.DoesNotContain(Directory.GetFiles(Path.GetDirectoryName(file)!), name => name.EndsWith(".part", StringComparison.Ordinal));
    }

    [Fact]
    public void Interrupted_import_says_how_far_it_came()
    {
        TestConsole console = NewConsole("{\"key\":\"a\",\"value\":\"1\"}\n"u8.ToArray());
        console.Interrupt();

        ToolRun run = Run(console, "import", "--json");

        Assert.Equal(
            (ExitCode.Interrupted, "{\"error\":\"interrupted: 0 entries were imported and stay\",\"exitCode\":130}\n"), (run.Code, run.Error));
        Assert.False(run.Json.GetProperty("complete").GetBoolean());
    }

    private sealed class InterruptingStream(int afterBytes) : MemoryStream
    {
        public Action? Interrupt { get; set; }

        public override void Write(ReadOnlySpan<byte> buffer)
        {
            base.Write(buffer);
            After();
        }

        public override void Write(byte[] buffer, int offset, int count)
        {
            base.Write(buffer, offset, count);
            After();
        }

        private void After()
        {
            if (Length >= afterBytes)
            {
                Interrupt!();
            }
        }
    }
}
