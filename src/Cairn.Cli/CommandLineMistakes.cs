using System.CommandLine;
using System.CommandLine.Parsing;

namespace Cairn.Cli;

// What is wrong with a command line, in one sentence that names the way out.
internal static class CommandLineMistakes
{
    /// <summary>Checks a command line as a whole.</summary>
    /// <exception cref="ToolException">There is a mistake.</exception>
    public static void ThrowIfAny(ParseResult parsed, Command root)
    {
        ThrowIfUnknownCommand(parsed, root);
        Command command = parsed.CommandResult.Command;
        string seeHelp = $"; see '{Tool.Name}{(command == root ? "" : " " + command.Name)} --help'";
        if (MistakenOption(parsed) is { } option)
        {
            if (command.Options.Any(known => known.Name == option))
            {
                throw ToolException.Usage($"{option} goes after '{command.Name}', to which it belongs{seeHelp}");
            }

            string? similar = MostSimilar(option, OptionNames(command, root));
            throw ToolException.Usage(
                $"there is no option {option}"
                + (similar is null ? "" : $", but {similar}")
                + "; a key or value that begins with a hyphen goes after --"
                + seeHelp);
        }

        if (command == root)
        {
            throw ToolException.Usage($"a command is missing{seeHelp}");
        }

        if (parsed.Errors.Count > 0)
        {
            throw ToolException.Usage(Sentence(parsed, parsed.Errors[0].Message) + seeHelp);
        }
    }

    /// <summary>Checks only that the command exists.</summary>
    /// <exception cref="ToolException">The first word that is no option names no command.</exception>
    public static void ThrowIfUnknownCommand(ParseResult parsed, Command root)
    {
        if (parsed.CommandResult.Command == root
            && parsed.UnmatchedTokens.FirstOrDefault(token => !token.StartsWith('-')) is { } unknown)
        {
            if (root.Subcommands.Any(command => command.Name == unknown))
            {
                throw ToolException.Usage($"the command '{unknown}' goes before --; see '{Tool.Name} --help'");
            }

            string? similar = MostSimilar(unknown, root.Subcommands.Select(command => command.Name));
            throw ToolException.Usage(
                $"there is no command '{unknown}'{(similar is null ? "" : $", but '{similar}'")}; see '{Tool.Name} --help'");
        }
    }

    // The parser takes a word it does not know for an argument, so that a misspelt option would be a key: `cairn del --al`
    // must not remove a key of that name.
    private static string? MistakenOption(ParseResult parsed)
    {
        int end = 0;
        while (end < parsed.Tokens.Count && parsed.Tokens[end].Type != TokenType.DoubleDash)
        {
            end++;
        }

        List<Token> values = [.. parsed.Tokens.Take(end).Where(token => token.Type == TokenType.Argument && LooksLikeOption(token.Value))];
        HashSet<Token> ofOptions = [.. parsed.CommandResult.Children.OfType<OptionResult>().SelectMany(option => option.Tokens)];
        return values.FirstOrDefault(token => !ofOptions.Any(other => ReferenceEquals(other, token)))?.Value.Split('=')[0];
    }

    // A lone hyphen is standard input; -5 is a number.
    private static bool LooksLikeOption(string word) => word.Length > 1 && word[0] == '-' && !char.IsAsciiDigit(word[1]);

    private static IEnumerable<string> OptionNames(Command command, Command root) =>
        command.Options.Concat(root.Options).Select(option => option.Name).Distinct(StringComparer.Ordinal);

    private static string Sentence(ParseResult parsed, string message)
    {
        if (parsed.UnmatchedTokens is [var first, ..])
        {
            return $"'{first}' is one argument too many";
        }

        // The parser's own messages are sentences; ours are not.
        message = message.TrimEnd('.');
        return message.Length > 1 && char.IsUpper(message[0]) ? char.ToLowerInvariant(message[0]) + message[1..] : message;
    }

    private static string? MostSimilar(string word, IEnumerable<string> candidates)
    {
        // In a short word two edits make any other.
        int mostEdits = word.TrimStart('-').Length < 5 ? 1 : 2;
        word = word.ToLowerInvariant();
        return candidates
            .Select(candidate => (candidate, edits: candidate.StartsWith(word, StringComparison.Ordinal) ? 1 : Edits(word, candidate)))
            .Where(pair => pair.edits <= mostEdits)
            .OrderBy(pair => pair.edits)
            .Select(pair => pair.candidate)
            .FirstOrDefault();
    }

    // How many letters have to be added, dropped, changed, or swapped with their neighbour (optimal string alignment).
    private static int Edits(string source, string target)
    {
        var edits = new int[source.Length + 1, target.Length + 1];
        for (int i = 0; i <= source.Length; i++)
        {
            for (int j = 0; j <= target.Length; j++)
            {
                if (i == 0 || j == 0)
                {
                    edits[i, j] = i + j;
                    continue;
                }

                int changed = edits[i - 1, j - 1] + (source[i - 1] == target[j - 1] ? 0 : 1);
                edits[i, j] = Math.Min(changed, 1 + Math.Min(edits[i - 1, j], edits[i, j - 1]));
                if (i > 1 && j > 1 && source[i - 1] == target[j - 2] && source[i - 2] == target[j - 1])
                {
                    edits[i, j] = Math.Min(edits[i, j], edits[i - 2, j - 2] + 1);
                }
            }
        }

        return edits[source.Length, target.Length];
    }
}
