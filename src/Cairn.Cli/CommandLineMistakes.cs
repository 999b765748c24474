using System.CommandLine.Parsing;

namespace Cairn.Cli;

// Finds mistakes in a command line. Each message is one sentence that also states the remedy.
internal static class CommandLineMistakes
{
    /// <summary>Checks a whole command line.</summary>
    /// <exception cref="ToolException">The command line has a mistake.</exception>
    public static void ThrowIfAny(ParseResult parsed, Command root)
    {
        ThrowIfUnknownCommand(parsed, root);
        Command command = parsed.CommandResult.Command;
        string seeHelp = $"; see '{ToolIdentity.Name}{(command == root ? "" : " " + command.Name)} --help'";
        if (MistakenOption(parsed) is { } option)
        {
            if (command.Options.Any(known => known.Name == option))
            {
                throw ToolException.Usage($"{option} must come after its command '{command.Name}'{seeHelp}");
            }

            if (root.Options.Any(known => known.Name == option))
            {
                throw ToolException.Usage($"{option} must be alone: '{ToolIdentity.Name} {option}'{seeHelp}");
            }

            string? similar = SimilarWord.Find(option, OptionNames(command, root));
            throw ToolException.Usage(
                $"there is no option {option}"
                + (similar is null ? "" : $" (did you mean {similar}?)")
                + "; write a key or value that begins with a hyphen after --"
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
    /// <exception cref="ToolException">The first word that is not an option is not a command.</exception>
    public static void ThrowIfUnknownCommand(ParseResult parsed, Command root)
    {
        if (parsed.CommandResult.Command == root
            && parsed.UnmatchedTokens.FirstOrDefault(token => !token.StartsWith('-')) is { } unknown)
        {
            if (root.Subcommands.Any(command => command.Name == unknown))
            {
                throw ToolException.Usage($"the command '{unknown}' must come before --; see '{ToolIdentity.Name} --help'");
            }

            string? similar = SimilarWord.Find(unknown, root.Subcommands.Select(command => command.Name));
            throw ToolException.Usage(
                $"there is no command '{unknown}'{(similar is null ? "" : $" (did you mean '{similar}'?)")}; see '{ToolIdentity.Name} --help'");
        }
    }

    // The parser treats an unknown word as an argument, so a misspelt option would be a key. `cairn del --al` must not remove a key of
    // that name.
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

    // A single hyphen means standard input, and -5 is a number.
    private static bool LooksLikeOption(string word) => word.Length > 1 && word[0] == '-' && !char.IsAsciiDigit(word[1]);

    private static IEnumerable<string> OptionNames(Command command, Command root) =>
        command.Options.Concat(root.Options.Where(option => option.Recursive || command == root)).Select(option => option.Name).Distinct(StringComparer.Ordinal);

    private static string Sentence(ParseResult parsed, string message)
    {
        if (parsed.UnmatchedTokens is [var first, ..])
        {
            bool isStore = first.EndsWith(".cairn", StringComparison.Ordinal)
                && OptionNames(parsed.CommandResult.Command, parsed.RootCommandResult.Command).Contains("--store", StringComparer.Ordinal);
            return $"'{first}' is one argument too many{(isStore ? $"; a store's file follows --store: --store '{first}'" : "")}";
        }

        // The parser's own messages are whole sentences; the tool's messages are not.
        message = message.TrimEnd('.');
        return message.Length > 1 && char.IsUpper(message[0]) ? char.ToLowerInvariant(message[0]) + message[1..] : message;
    }
}
