using System.Text.RegularExpressions;
using Cairn.Server.Resp.Commands;

namespace Cairn.Server.Tests.Resp;

/// <summary>docs/protocols.md names exactly the commands that exist.</summary>
public sealed partial class DocumentedCommandsTests
{
    [Fact]
    public void Commands_in_the_document_are_those_of_the_table()
    {
        string document = File.ReadAllText(RepositoryFile.At("docs", "protocols.md"));
        int start = document.IndexOf("## Commands of RESP", StringComparison.Ordinal);
        string section = document[start..document.IndexOf("\n## ", start + 1, StringComparison.Ordinal)];

        // Options and subcommands are in parentheses. A subcommand counts only together with its command.
        SortedSet<string> documented = new(StringComparer.Ordinal);
        foreach (Match match in Name().Matches(section))
        {
            string name = match.Groups["name"].Value.ToLowerInvariant();
            documented.Add(name.Replace(' ', '|'));
            if (RespCommands.Table.All.FirstOrDefault(command => command.Name == name) is { Subcommands.Length: > 0 })
            {
                documented.UnionWith(Word().Matches(match.Groups["more"].Value).Select(word => $"{name}|{word.Groups[1].Value.ToLowerInvariant()}"));
                documented.Remove(name);
            }
        }

        string[] existing = [.. RespCommands.Table.Executable.Select(command => command.Name)];
        Assert.Empty(existing.Except(documented));
        Assert.Empty(documented.Except(existing));
    }

    [GeneratedRegex(@"`(?<name>[A-Z_]+(?: [A-Z]+)?)`(?: \((?<more>[^)]*)\))?")]
    private static partial Regex Name();

    [GeneratedRegex("`([A-Z-]+)`")]
    private static partial Regex Word();
}
