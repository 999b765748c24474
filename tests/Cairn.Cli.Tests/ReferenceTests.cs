using System.CommandLine;
using System.Globalization;
using System.Text.RegularExpressions;
using Cairn.Cli.Arguments;
using Cairn.Cli.Commands;

namespace Cairn.Cli.Tests;

/// <summary>docs/reference/tool.md describes every feature of the tool, and no feature that does not exist.</summary>
public sealed partial class ReferenceTests
{
    private static readonly string Reference = File.ReadAllText(RepositoryFile.At("docs", "reference", "tool.md"));

    public static TheoryData<string> Commands => [.. Root().Subcommands.Select(command => command.Name)];

    [Theory]
    [MemberData(nameof(Commands))]
    public void Every_command_has_a_section_with_its_arguments_and_options(string name)
    {
        Command command = Root().Subcommands.Single(command => command.Name == name);

        string section = SectionOf(name);

        Assert.Contains($"| [{name}](#{name}) |", Reference, StringComparison.Ordinal);
        Assert.All(command.Arguments, argument => Assert.Contains(argument.Name, section, StringComparison.Ordinal));
        Assert.All(command.Options, option => Assert.Contains($"`{Form(option)}`", section, StringComparison.Ordinal));
    }

    [Theory]
    [MemberData(nameof(Commands))]
    public void Every_section_names_only_options_that_there_are(string name)
    {
        Command root = Root();
        Command command = root.Subcommands.Single(command => command.Name == name);

        IEnumerable<string> named = OptionInTable().Matches(SectionOf(name)).Select(match => match.Groups[1].Value);

        Assert.Empty(named.Except(command.Options.Select(option => option.Name), StringComparer.Ordinal));
    }

    [Theory]
    [MemberData(nameof(Commands))]
    public void Every_property_of_the_json_is_documented(string name)
    {
        var command = (ToolCommand)Root().Subcommands.Single(command => command.Name == name);

        // The properties of every entry are described once, for all commands.
        string told = SectionOf(name) + SectionOf("What all commands share");

        Assert.All(
            Quoted().Matches(command.JsonShape ?? "").Select(match => match.Groups[1].Value),
            property => Assert.Matches($"[\"`]{Regex.Escape(property)}[\"`]", told));
    }

    [Fact]
    public void Every_shared_option_is_documented()
    {
        string section = SectionOf("What all commands share");

        Assert.All(
            Root().Options.Where(option => option.Recursive),
            option => Assert.Contains($"`{Form(option)}`", section, StringComparison.Ordinal));
        Assert.Contains("--version", Reference, StringComparison.Ordinal);
        Assert.Contains(SharedOptions.StoreVariable, section, StringComparison.Ordinal);
    }

    [Fact]
    public void Flags_of_memcached_that_are_taken_are_listed_for_operators()
    {
        string operations = File.ReadAllText(RepositoryFile.At("docs", "operations.md"));
        int start = operations.IndexOf("These flags of an existing unit", StringComparison.Ordinal);
        string list = operations[start..operations.IndexOf("Any other flag", start, StringComparison.Ordinal)];

        IEnumerable<string> listed = Letter().Matches(list).Select(match => match.Groups[1].Value).Order(StringComparer.Ordinal);

        IEnumerable<string> taken =
            from option in Root().Subcommands.Single(command => command.Name == "serve").Options
            from name in option.Aliases.Append(option.Name)
            where name.Length == 2 && !option.Recursive && name is not "-h" and not "-?"
            select name;
        Assert.Equal(taken.Order(StringComparer.Ordinal), listed.Distinct(StringComparer.Ordinal));
    }

    [RequiresToolFact("memcached")]
    public void Every_option_of_memcached_is_in_its_reference()
    {
        string reference = File.ReadAllText(RepositoryFile.At("docs", "reference", "memcached.md"));
        using var process = System.Diagnostics.Process.Start(new System.Diagnostics.ProcessStartInfo("memcached", ["-h"]) { UseShellExecute = false, RedirectStandardOutput = true })!;
        string help = process.StandardOutput.ReadToEnd();

        List<string> missing =
        [
            .. MemcachedOption().Matches(help).SelectMany(match => match.Groups[1].Value.Split(", "))
                .Concat(MemcachedSuboption().Matches(help).Select(match => match.Groups[1].Value))
                .Where(name => !reference.Contains($"`{name}`", StringComparison.Ordinal)),
        ];

        Assert.Empty(missing);
        Assert.InRange(MemcachedOption().Count(help), 35, 60);
    }

    [Fact]
    public void Every_exit_code_is_documented()
    {
        string section = SectionOf("What all commands share");

        IEnumerable<int> told = ExitCodeInTable().Matches(section)
            .Select(match => int.Parse(match.Groups[1].Value, CultureInfo.InvariantCulture));

        Assert.Equal(ExitCode.All.Select(code => code.Code), told);
    }

    [Fact]
    public void Every_command_that_is_described_exists()
    {
        IEnumerable<string> sections = Heading().Matches(Reference).Select(match => match.Groups[1].Value).Skip(1);

        Assert.Equal(Root().Subcommands.Select(command => command.Name), sections);
    }

    private static Command Root() => Tool.CreateRoot(new SharedOptions());

    private static string Form(Option option) => option.HelpName is { } value ? $"{option.Name} {value}" : option.Name;

    private static string SectionOf(string heading)
    {
        int start = Reference.IndexOf($"\n## {heading}\n", StringComparison.Ordinal);
        Assert.True(start >= 0, $"No section '{heading}'.");
        int end = Reference.IndexOf("\n## ", start + 1, StringComparison.Ordinal);
        return Reference[start..(end < 0 ? Reference.Length : end)];
    }

    [GeneratedRegex(@"^(-[a-zA-Z](?:, --[a-z_-]+)?)(?=[= ])", RegexOptions.Multiline)]
    private static partial Regex MemcachedOption();

    [GeneratedRegex(@"^   - ([a-z_0-9]+):", RegexOptions.Multiline)]
    private static partial Regex MemcachedSuboption();

    [GeneratedRegex("`(-[a-zA-Z])\\b")]
    private static partial Regex Letter();

    [GeneratedRegex(@"(?<=\n\| |, )`(--[a-z0-9-]+)[^`]*`(?=[^|\n]*\|)")]
    private static partial Regex OptionInTable();

    [GeneratedRegex(@"""([A-Za-z0-9]+)""")]
    private static partial Regex Quoted();

    [GeneratedRegex(@"\n\| (\d+) \|")]
    private static partial Regex ExitCodeInTable();

    [GeneratedRegex(@"\n## ([^\n]+)")]
    private static partial Regex Heading();
}
