using Cairn.Cli.Commands;

namespace Cairn.Cli;

// Writes the help of the tool and of each command, with examples. Lines have at most 100 columns.
internal static class HelpText
{
    private const int Width = 100;
    private const string Indent = "  ";

    public static void Write(Command root, Command command, SharedOptions shared, ToolOutput output)
    {
        if (command is ToolCommand tool)
        {
            WriteCommand(root, tool, shared, output);
        }
        else
        {
            WriteRoot(root, output);
        }
    }

    private static void WriteRoot(Command root, ToolOutput output)
    {
        output.WriteLine($"{ToolIdentity.Name} {ToolIdentity.Version}. {root.Description}");
        WriteHeading("Usage", output);
        output.WriteLine($"{Indent}{ToolIdentity.Name} COMMAND --store FILE [ARGUMENTS] [OPTIONS]");
        WriteHeading("Commands", output);
        WriteRows([.. root.Subcommands.Select(command => (command.Name, command.Description!))], output);
        WriteHeading("Options of every command", output);
        WriteRows([.. root.Options.Select(Row)], output);
        WriteHeading("Examples", output);
        output.WriteLine($"{Indent}cairn set --store books.cairn book:42 Dune");
        output.WriteLine($"{Indent}cairn get --store books.cairn book:42");
        output.WriteLine($"{Indent}cairn stats --store books.cairn");
        WriteHeading("Exit codes", output);
        WriteRows([.. ExitCode.All.Select(code => (code.Code.ToString(CultureInfo.InvariantCulture), code.Meaning))], output);
        output.WriteLine();
        output.WriteLine($"'{ToolIdentity.Name} COMMAND --help' describes a command, with examples.");
    }

    private static void WriteCommand(Command root, ToolCommand command, SharedOptions shared, ToolOutput output)
    {
        WriteWrapped($"{ToolIdentity.Name} {command.Name}: {command.Description}", 0, output);
        WriteHeading("Usage", output);
        output.WriteLine($"{Indent}{Usage(command)}");
        if (command.Details is { } details)
        {
            output.WriteLine();
            WriteWrapped(details, 0, output);
        }

        if (command.Arguments.Count > 0)
        {
            WriteHeading("Arguments", output);
            WriteRows([.. command.Arguments.Select(argument => (argument.Name, argument.Description!))], output);
        }

        IEnumerable<Option> common = root.Options
            .Where(option => option.Recursive
                && (option == shared.Store ? command.UsesStore
                    : option == shared.KeyFile || option == shared.PasswordFile ? command.ReadsEncrypted
                    : option != shared.Json || command.JsonShape is not null));
        WriteOptions(command, common, output);
        WriteHeading("Examples", output);
        foreach (Example example in command.Examples)
        {
            output.WriteLine($"{Indent}{example.CommandLine}");
            WriteWrapped(example.Explanation, 6, output);
        }

        if (command.JsonShape is { } shape)
        {
            WriteHeading("With --json", output);
            WriteWrapped(shape, Indent.Length, output);
        }

        WriteHeading("Exit codes", output);
        string no = command.MeaningOfNo is { } meaning ? $"1 {meaning}; " : "";
        WriteWrapped($"0 done; {no}others: see '{ToolIdentity.Name} --help'.", Indent.Length, output);
    }

    private static void WriteOptions(ToolCommand command, IEnumerable<Option> common, ToolOutput output)
    {
        List<IGrouping<string, Option>> groups = [.. command.OptionGroups];
        foreach (IGrouping<string, Option> group in groups)
        {
            WriteHeading(group.Key, output);
            WriteRows([.. group.Select(Row)], output);
        }

        WriteHeading(groups.Count == 0 ? "Options" : "Other options", output);
        WriteRows([.. command.Options.Except(groups.SelectMany(group => group)).Concat(common).Select(Row)], output);
    }

    private static string Usage(ToolCommand command)
    {
        if (command.UsageWords is { } words)
        {
            return $"{ToolIdentity.Name} {command.Name} {words} [OPTIONS]";
        }

        IEnumerable<string> arguments = command.Arguments.Select(argument =>
        {
            string name = argument.Arity.MaximumNumberOfValues > 1 ? $"{argument.Name}..." : argument.Name;
            return argument.Arity.MinimumNumberOfValues == 0 ? $"[{name}]" : name;
        });
        return string.Join(' ', [ToolIdentity.Name, command.Name, .. command.UsesStore ? ["--store FILE"] : Array.Empty<string>(), .. arguments, "[OPTIONS]"]);
    }

    private static (string Name, string Description) Row(Option option)
    {
        string names = string.Join(", ", [option.Name, .. option.Aliases]);
        return (option.HelpName is { } value ? $"{names} {value}" : names, option.Description!);
    }

    private static void WriteHeading(string heading, ToolOutput output)
    {
        output.WriteLine();
        output.WriteLine($"{heading}:");
    }

    private static void WriteRows(IReadOnlyList<(string Name, string Description)> rows, ToolOutput output)
    {
        int column = Indent.Length + rows.Max(row => row.Name.Length) + 2;
        foreach ((string name, string description) in rows)
        {
            output.Write($"{Indent}{name}".PadRight(column));
            WriteWrapped(description, column, output, isBegun: true);
        }
    }

    private static void WriteWrapped(string text, int column, ToolOutput output, bool isBegun = false)
    {
        string margin = new(' ', column);
        foreach (string line in Wrap(text, Width - column))
        {
            output.WriteLine(isBegun ? line : margin + line);
            isBegun = false;
        }
    }

    private static IEnumerable<string> Wrap(string text, int width)
    {
        while (text.Length > width && text.LastIndexOf(' ', width) is > 0 and var space)
        {
            yield return text[..space];
            text = text[(space + 1)..];
        }

        yield return text;
    }
}
