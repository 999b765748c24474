using System.CommandLine;
using System.Globalization;
using System.Text.Json;
using System.Text.RegularExpressions;
using Cairn.Cli.Arguments;

namespace Cairn.Cli.Tests;

/// <summary>Messages use the terms of a user of the tool: its options, sizes with units, and JSON if JSON was requested.</summary>
public sealed partial class MessageTests : ToolTest
{
    private static readonly string[] Extremes = ["0", "1", "1B", "65KB", "900MiB", "2TiB", "8000TiB", "1ms", "0s", "90000d", "-1", "x"];

    // memcached, which 'cairn serve' can replace, has this option.
    public static TheoryData<string> CommandsWithoutVersion => [.. Root().Subcommands.Select(command => command.Name).Where(name => name != "serve")];

    public static TheoryData<string> Commands => [.. Root().Subcommands.Select(command => command.Name)];

    [Theory]
    [MemberData(nameof(Commands))]
    public void Option_is_suggested_only_when_it_is_near_another_and_belongs_to_the_command(string name)
    {
        Command command = Root().Subcommands.Single(command => command.Name == name);
        string[] accepted = [.. command.Options.Concat(Root().Options.Where(option => option.Recursive)).SelectMany(option => option.Aliases.Append(option.Name))];
        IEnumerable<string> words = Root().Subcommands.SelectMany(other => other.Options).Select(option => option.Name)
            .Concat(Enumerable.Range('a', 26).SelectMany(letter => new[] { $"-{(char)letter}", $"-{char.ToUpperInvariant((char)letter)}" }))
            .Concat(["--version", "--zz", "--xyz", "--capcity", "--jsn"])
            .Distinct(StringComparer.Ordinal).Except(accepted, StringComparer.Ordinal);

        foreach (string word in words)
        {
            ToolRun run = Run(name, word);

            Assert.Equal(ExitCode.Usage, run.Code);
            if (Suggestion().Match(run.Error) is { Success: true } match)
            {
                Assert.Contains(match.Groups[1].Value, accepted);
                Assert.NotEqual(word, match.Groups[1].Value);
                Assert.True(word.Length > 3, $"{word} has too few letters to be like {match.Groups[1].Value}");
            }
        }
    }

    [Theory]
    [MemberData(nameof(CommandsWithoutVersion))]
    public void Version_after_a_command_is_answered_with_where_it_belongs(string name)
    {
        ToolRun run = Run(name, "--version");

        Assert.Equal(ExitCode.Usage, run.Code);
        Assert.Contains("'cairn --version'", run.Error, StringComparison.Ordinal);
        Assert.DoesNotContain("but --version", run.Error, StringComparison.Ordinal);
    }

    [Theory]
    [MemberData(nameof(Commands))]
    public void Error_is_json_where_json_was_asked_for(string name)
    {
        string missing = PathOf("no/such/file");

        // A usage error, an invalid value of an option, and an operation that fails.
        string[][] calls =
        [
            [name, "--no-such-option", "--json"],
            ["--json", name, "--store"],
            [name, "--json", "--store", missing, "--capacity", "much"],
            [name, "--json", "--store", missing, "a", "b", "c", "d"],
            [name, "--json", "--store", missing, "--key-file", missing],
            [name, "--json", "--store", missing],
            [name, "--json", "--store", missing, missing],
        ];
        int failures = 0;
        foreach (string[] call in calls.Where(call => !IsEndless(call)))
        {
            ToolRun run = Run([.. call]);

            if (run.Code > ExitCode.No)
            {
                failures++;
                string[] lines = run.Error.Split('\n', StringSplitOptions.RemoveEmptyEntries);
                JsonElement[] objects = [.. lines.Select(line => JsonDocument.Parse(line).RootElement)];
                JsonElement error = objects.Last();
                Assert.False(string.IsNullOrEmpty(error.GetProperty("error").GetString()));
                Assert.Equal(run.Code, error.GetProperty("exitCode").GetInt32());
            }
        }

        Assert.True(failures >= 3, $"only {failures} calls of {name} failed");
    }

    [Fact]
    public void Warning_is_json_where_json_was_asked_for()
    {
        ToolRun run = Run("serve", "--check", "--json", "-L");

        JsonElement warning = JsonDocument.Parse(run.Error.Trim()).RootElement;
        Assert.StartsWith("accepted for memcached's sake, without an effect: -L", warning.GetProperty("warning").GetString(), StringComparison.Ordinal);
    }

    [Theory]
    [MemberData(nameof(Commands))]
    public void Error_about_a_value_names_the_option_and_a_size_with_its_unit(string name)
    {
        Command command = Root().Subcommands.Single(command => command.Name == name);
        foreach (Option option in command.Options.Where(option => option.HelpName is "SIZE" or "N" or "BYTES" or "DURATION" or "MIB" or "PORT"))
        {
            foreach (string text in Extremes)
            {
                foreach (string written in option.Aliases.Append(option.Name))
                {
                    string[] call = name == "serve"
                        ? [name, "--check", "--memcached", "127.0.0.1:0", $"{written}={text}"]
                        : [name, "--store", PathOf("no/such/file"), $"{written}={text}"];
                    ToolRun run = Run(call);

                    if (run.Code == ExitCode.Usage)
                    {
                        AssertIsForUsers(run.Error);
                        Assert.True(
                            run.Error.Contains(option.Name, StringComparison.Ordinal) || run.Error.Contains("is missing", StringComparison.Ordinal)
                                || run.Error.Contains("equired", StringComparison.Ordinal) || run.Error.Contains("argument", StringComparison.Ordinal)
                                || name is "bench" or "top" or "file",
                            $"{string.Join(' ', call)}: {run.Error}");
                    }
                }
            }
        }
    }

    [Theory]
    [InlineData("-I", "128m", "--max-value (-I) must be", "64 MiB")]
    [InlineData("--max-request", "1KiB", "--max-request must be 64 KiB to 1 GiB", "not 1 KiB")]
    [InlineData("--capacity", "1", "--capacity must be 1 MiB to 1 TiB", "not 1 B")]
    [InlineData("--threads", "0", "--threads (-t) takes a number from 1 to 1024", "not '0'")]
    public void Setting_that_is_out_of_range_is_named_as_it_can_be_written(string option, string text, string first, string second)
    {
        ToolRun run = Run("serve", "--check", option, text);

        Assert.Equal(ExitCode.Usage, run.Code);
        Assert.Contains(first, run.Error, StringComparison.Ordinal);
        Assert.Contains(second, run.Error, StringComparison.Ordinal);
    }

    [Fact]
    public void Store_that_is_encrypted_asks_for_its_key_by_the_names_of_the_tools_options()
    {
        File.WriteAllBytes(PathOf("key"), TestBytes.Of(32));
        Run("create", "--capacity", "8MiB", "--key-file", PathOf("key"));

        ToolRun run = Run("get", "book:42");

        Assert.Equal(ExitCode.Store, run.Code);
        Assert.Contains("--key-file or --password-file", run.Error, StringComparison.Ordinal);
        AssertIsForUsers(run.Error);
    }

    // Commands that serve until they are stopped, or that measure for some time.
    private static bool IsEndless(string[] call) =>
        call[0] is "bench" or "open" && call.All(word => !word.StartsWith("--no-such", StringComparison.Ordinal) && word != "much" && word != "d");

    private static void AssertIsForUsers(string message)
    {
        Assert.DoesNotMatch(@"Options\.|Limits\.|\bBytes\b", message);
        Assert.False(PropertyName().IsMatch(message), message);
        Assert.False(BareBytes().IsMatch(message), message);
    }

    private static Command Root() => Tool.CreateRoot(new SharedOptions());

    [GeneratedRegex(@", but (-[\w-]+)")]
    private static partial Regex Suggestion();

    // Two capitalised words in one, as in names of types and properties; except units and names of products.
    [GeneratedRegex(@"(?<![/'\w])(?!(?:[KMGTP]iB|OpenTelemetry)\b)[A-Z][a-z]+[A-Z]\w*")]
    private static partial Regex PropertyName();

    // A number of five or more digits is a size that needs a unit.
    [GeneratedRegex(@"[\d,]{5,} bytes|(?:needs|least|most|than) [\d,]{7,}")]
    private static partial Regex BareBytes();
}
