using System.Text;
using System.Text.Json;

namespace Cairn.Cli.Tests;

/// <summary>cairn file ...</summary>
public sealed class FileTests : ToolTest
{
    private string FilePath => PathOf("FileStoreCacheFile.Test.json");

    [Fact]
    public void Values_are_set_got_listed_and_removed()
    {
        Assert.Equal(ExitCode.Done, File("set", "a", "1 \"one\"").Code);
        File("set", "o", "{ \"n\": 1 }", "--json-value");
        File("set", "b", "AAEC", "--base64", "--ttl", "1h");

        Assert.Equal("1 \"one\"", File("get", "a").Output);
        Assert.Equal("{\"n\":1}", File("get", "o").Output);
        Assert.Equal([0, 1, 2], File("get", "b").Bytes);
        Assert.Equal("AAEC", File("get", "b", "--base64").Output);
        Assert.Equal(["a\t1 \"one\"", "o\t{\"n\":1}", "b\tAAEC"], File("list").Lines);
        Assert.Equal(["1 \"one\""], File("list", "--json").JsonLines.Take(1).Select(line => line.GetProperty("value").GetString()));

        ToolRun removal = File("del", "a", "none");
        Assert.Equal((ExitCode.No, "cairn: 'none' has no value\n"), (removal.Code, removal.Error));
        Assert.Equal(ExitCode.No, File("get", "a").Code);
        Assert.Equal(2, File("del", "--all", "--json").Json.GetProperty("removed").GetInt32());
        Assert.Empty(File("list").Lines);
    }

    [Fact]
    public void Value_is_read_from_standard_input()
    {
        Run(Encoding.UTF8.GetBytes("Grüße\n"), "file", "set", FilePath, "a", "-");

        Assert.Equal("Grüße\n", File("get", "a").Output);
    }

    [Fact]
    public void Edit_takes_over_what_was_changed_and_leaves_the_rest()
    {
        File("set", "a", "old");
        File("set", "b", "2");
        File("set", "c", "3");
        TestConsole console = NewConsole();
        console.Environment["EDITOR"] = "sed -i -e s/old/new/ -e /\\\"b\\\"/d";

        ToolRun run = Run(console, "file", "edit", FilePath, "--json");

        Assert.Equal("", run.Error);
        Assert.Equal(2, run.Json.GetProperty("changed").GetInt32());
        Assert.Equal(["a\tnew", "c\t3"], File("list").Lines);
    }

    [Fact]
    public void Edit_that_is_not_valid_changes_nothing_and_keeps_the_text()
    {
        File("set", "a", "1");
        TestConsole console = NewConsole();
        console.Environment["EDITOR"] = "sed -i 2s/,/+/";

        ToolRun run = Run(console, "file", "edit", FilePath);

        Assert.Equal(ExitCode.Damaged, run.Code);
        Assert.Contains("line 2, column 5", run.Error, StringComparison.Ordinal);
        Assert.Equal("1", File("get", "a").Output);
        string copy = run.Error.Split('\'')[1];
        Assert.Contains("\"a\"+", System.IO.File.ReadAllText(copy), StringComparison.Ordinal);
        System.IO.File.Delete(copy);
    }

    [Fact]
    public void Verify_names_the_place_of_a_mistake()
    {
        System.IO.File.WriteAllText(FilePath, "{\"format\":\"cairn.filestore/2\",\"entries\":[\n{\"key\":\"a\"}\n]}\n");

        ToolRun run = File("verify", "--json");

        Assert.Equal(ExitCode.Damaged, run.Code);
        Assert.False(run.Json.GetProperty("sound").GetBoolean());
        Assert.Equal((2, 1), (run.Json.GetProperty("line").GetInt32(), run.Json.GetProperty("column").GetInt32()));
        Assert.Equal(ExitCode.Damaged, File("set", "b", "1").Code);
        Assert.Equal(ExitCode.Damaged, File("get", "a").Code);
        Assert.Contains("line 2, column 1", File("list").Error, StringComparison.Ordinal);
        File("del", "--all");
        Assert.Equal(ExitCode.Done, File("verify").Code);
    }

    [Fact]
    public void Convert_turns_an_old_file_into_a_new_one_with_a_backup()
    {
        const string Old = """{"Cache":{"a":"1"},"TimeOuts":{}}""";
        System.IO.File.WriteAllText(FilePath, Old);

        Assert.True(File("verify", "--json").Json.GetProperty("oldFormat").GetBoolean());
        Assert.Equal(1, File("convert", "--json").Json.GetProperty("entries").GetInt32());

        JsonDocument.Parse(System.IO.File.ReadAllText(FilePath)).Dispose();
        Assert.False(File("verify", "--json").Json.GetProperty("oldFormat").GetBoolean());
        Assert.Equal(Old, System.IO.File.ReadAllText(FilePath + ".backup"));
    }

    [Fact]
    public void Mistakes_are_reported_and_create_nothing()
    {
        Assert.Equal(ExitCode.Usage, File("bogus").Code);
        Assert.Equal(ExitCode.Usage, File("set", "a").Code);
        Assert.Equal(ExitCode.Usage, File("set", "a", "{", "--json-value").Code);
        Assert.Equal(ExitCode.Usage, File("set", "a", "@", "--base64").Code);
        Assert.Equal(ExitCode.Usage, File("get", "a", "--ttl", "1h").Code);
        Assert.Equal(ExitCode.Usage, File("list", "--all").Code);
        Assert.Equal(ExitCode.Usage, File("del", "a", "--all").Code);
        Assert.Contains("not UTF-8 at byte 1", Run([(byte)'a', 255], "file", "set", FilePath, "a", "-").Error, StringComparison.Ordinal);
        Assert.Equal(ExitCode.File, File("get", "a").Code);
        Assert.Equal(ExitCode.File, File("list").Code);
        Assert.False(System.IO.File.Exists(FilePath));
        Assert.False(System.IO.File.Exists(FilePath + ".sync"));
    }

    // The file comes after the action.
    private ToolRun File(string action, params string[] words) => Run(["file", action, FilePath, .. words]);
}
