using System.CommandLine;
using System.Text.RegularExpressions;
using Cairn.Cli.Arguments;
using Cairn.Cli.Commands;

namespace Cairn.Cli.Tests;

/// <summary>Help, usage errors, version and completion.</summary>
public sealed partial class CommandLineTests : ToolTest
{
    public static TheoryData<string> Commands => [.. Root().Subcommands.Select(command => command.Name)];

    [Theory]
    [InlineData]
    [InlineData("--help")]
    [InlineData("-h")]
    [InlineData("help")]
    public void Help_lists_every_command_and_every_exit_code(params string[] args)
    {
        ToolRun run = Run(args);

        Assert.Equal((0, ""), (run.Code, run.Error));
        Assert.All(Root().Subcommands, command => Assert.Contains($"  {command.Name} ", run.Output, StringComparison.Ordinal));
        Assert.All(ExitCode.All, code => Assert.Contains(code.Meaning, run.Output, StringComparison.Ordinal));
    }

    [Theory]
    [MemberData(nameof(Commands))]
    public void Help_of_a_command_has_its_options_and_examples(string name)
    {
        var command = (ToolCommand)Root().Subcommands.Single(command => command.Name == name);

        ToolRun run = Run(name, "--help");

        Assert.Equal((0, ""), (run.Code, run.Error));
        Assert.Contains($"  cairn {name} ", run.Output, StringComparison.Ordinal);
        Assert.NotEmpty(command.Examples);
        Assert.All(command.Examples, example => Assert.Contains($"  {example.CommandLine}\n", run.Output, StringComparison.Ordinal));
        Assert.All(command.Options, option => Assert.Contains($"  {option.Name}", run.Output, StringComparison.Ordinal));
        Assert.All(command.Arguments, argument => Assert.Contains($"  {argument.Name} ", run.Output, StringComparison.Ordinal));
        Assert.DoesNotContain("Cairn.Cli", run.Output, StringComparison.Ordinal);
    }

    [Theory]
    [MemberData(nameof(Commands))]
    public void Help_fits_a_terminal_of_100_columns_but_for_examples(string name)
    {
        var command = (ToolCommand)Root().Subcommands.Single(command => command.Name == name);

        IEnumerable<string> tooLong = Run(name, "--help").Lines
            .Where(line => line.Length > 100 && !command.Examples.Any(example => line.TrimStart() == example.CommandLine));

        Assert.Empty(tooLong);
    }

    [Theory]
    [MemberData(nameof(Commands))]
    public void Examples_are_command_lines_that_the_tool_understands(string name)
    {
        var command = (ToolCommand)Root().Subcommands.Single(command => command.Name == name);

        foreach (Example example in command.Examples)
        {
            foreach (string call in CallsIn(example.CommandLine))
            {
                ParseResult parsed = Root().Parse(call);

                Assert.Empty(parsed.Errors);
                Assert.NotEqual("cairn", parsed.CommandResult.Command.Name);
            }
        }
    }

    [Fact]
    public void Help_of_a_command_can_be_asked_for_in_two_ways()
    {
        Assert.Equal(Run("set", "--help").Output, Run("help", "set").Output);
    }

    [Theory]
    [InlineData("there is no command 'gte' (did you mean 'get'?)", "gte", "key")]
    [InlineData("there is no command 'frobnicate'; see", "frobnicate")]
    [InlineData("there is no command 'nope'; see", "nope")]
    [InlineData("there is no command 'GET' (did you mean 'get'?)", "GET", "key")]
    [InlineData("there is no command 'exp' (did you mean 'export'?)", "exp")]
    [InlineData("there is no command 'bigkesy' (did you mean 'bigkeys'?)", "bigkesy")]
    [InlineData("the command 'get' must come before --", "--", "get", "key")]
    [InlineData("there is no command 'gte' (did you mean 'get'?)", "help", "gte")]
    [InlineData("a command is missing", "--json")]
    [InlineData("there is no option --jsn (did you mean --json?)", "keys", "--jsn")]
    [InlineData("there is no option --ttl; write a key", "get", "key", "--ttl=5m")]
    [InlineData("--ttl must come after its command 'set'", "--ttl", "5m", "set", "key", "value")]
    [InlineData("there is no option -x", "get", "-x")]
    [InlineData("see 'cairn get --help'", "get")]
    [InlineData("'shop.cairn' is one argument too many; a store's file follows --store: --store 'shop.cairn'", "verify", "shop.cairn")]
    [InlineData("'b' is one argument too many", "get", "redis://localhost", "a", "b")]
    public void Mistake_is_one_line_that_names_the_way_out(string expected, params string[] args)
    {
        ToolRun run = Run(args);

        Assert.Equal((ExitCode.Usage, ""), (run.Code, run.Output));
        Assert.Contains(expected, run.Error, StringComparison.Ordinal);
        Assert.Equal(1, run.Error.Count(character => character == '\n'));
    }

    [Fact]
    public void Version_is_printed()
    {
        Assert.Equal($"cairn {ToolIdentity.Version}\n", Run("--version").Output);
        Assert.Equal(ToolIdentity.Version, Run("--version", "--json").Json.GetProperty("version").GetString());
        Assert.Matches(@"^\d+\.\d+\.\d+", ToolIdentity.Version);
    }

    [Theory]
    [InlineData("bash", "complete -o bashdefault -o default -F _cairn_complete cairn")]
    [InlineData("zsh", "#compdef cairn")]
    [InlineData("fish", "complete --command cairn")]
    public void Completion_script_is_printed_with_how_to_install_it(string shell, string expected)
    {
        ToolRun run = Run("completion", shell);

        Assert.Equal(0, run.Code);
        Assert.Contains(expected, run.Output, StringComparison.Ordinal);
        Assert.Contains("[suggest:", run.Output, StringComparison.Ordinal);
        Assert.Contains("In every shell", run.Output, StringComparison.Ordinal);
    }

    [Fact]
    public void Completion_for_another_shell_is_refused()
    {
        ToolRun run = Run("completion", "tcsh");

        Assert.Equal(ExitCode.Usage, run.Code);
        Assert.Contains("bash, zsh and fish", run.Error, StringComparison.Ordinal);
    }

    [Theory]
    [InlineData("cairn exp", "export")]
    [InlineData("cairn get --out", "--output")]
    [InlineData("./cairn get --out", "--output")]
    [InlineData("~/bin/cairn completion z", "zsh")]
    [InlineData("cairn get key --key-b", "--key-base64")]
    public void Suggestion_completes_the_word_at_the_cursor(string line, string expected)
    {
        Assert.Equal([expected], Run("[suggest]", line).Lines);
        Assert.Equal([expected], Run($"[suggest:{line.Length}]", line + "garbage after the cursor").Lines);
    }

    [Theory]
    [InlineData("cairn get --store ")]
    [InlineData("cairn import --file b")]
    public void Suggestion_leaves_names_of_files_to_the_shell(string line)
    {
        ToolRun run = Run("[suggest]", line);

        Assert.Equal((0, ""), (run.Code, run.Output));
    }

    [Theory]
    [InlineData("[suggest]")]
    [InlineData("[suggest:999]", "cairn ")]
    [InlineData("[suggest:-1]", "cairn ")]
    [InlineData("[suggest:x]", "cairn ")]
    public void Odd_question_for_suggestions_gets_the_commands(params string[] args)
    {
        ToolRun run = Run(args);

        Assert.Equal(0, run.Code);
        Assert.Contains("export", run.Lines);
    }

    [Fact]
    public void Command_that_is_named_is_made_alone_and_as_it_is_among_all()
    {
        foreach (Command command in Root().Subcommands)
        {
            Command alone = Assert.Single(Tool.CreateRoot(new SharedOptions(), command.Name).Subcommands);

            Assert.Equal(command.Name, alone.Name);
            Assert.Equal(command.Options.Select(option => option.Name), alone.Options.Select(option => option.Name));
        }
    }

    private static Command Root() => Tool.CreateRoot(new SharedOptions());

    // Returns the text after "cairn " up to the first shell operator.
    private static IEnumerable<string> CallsIn(string example)
    {
        foreach (Match match in Call().Matches(example))
        {
            string call = match.Groups[1].Value.Trim();
            yield return call.EndsWith(" --", StringComparison.Ordinal) ? call + " key" : call;
        }
    }

    [GeneratedRegex(@"(?<![\w.~/])cairn ([^|<>)]+)")]
    private static partial Regex Call();
}
