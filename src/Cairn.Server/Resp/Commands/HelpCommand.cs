namespace Cairn.Server.Resp.Commands;

/// <summary>HELP of commands with subcommands. Its form is that of Redis; the texts are those of COMMAND DOCS.</summary>
internal static class HelpCommand
{
    /// <summary>Creates the subcommand HELP.</summary>
    public static CommandInfo Of(string command, string group) => new()
    {
        Name = command + "|help", Arity = 2, Flags = CommandFlags.Loading | CommandFlags.Stale, Group = group, Handler = Help,
    };

    private static void Help(RespSession session, scoped in RespArguments arguments, ref RespWriter writer)
    {
        CommandInfo command = session.Server.Commands.Find(arguments[0])!;
        List<string> lines = [$"{command.Name.ToUpperInvariant()} <subcommand> [<arg> [value] [opt] ...]. Subcommands are:"];
        foreach (CommandInfo subcommand in command.Subcommands)
        {
            CommandDocs docs = CommandDocs.Of(subcommand);
            lines.Add($"{subcommand.ShortName.ToUpperInvariant()} {docs.Syntax}".TrimEnd());
            lines.Add($"    {docs.Summary}.");
        }

        writer.WriteArrayHeader(lines.Count);
        foreach (string line in lines)
        {
            writer.WriteSimple(Text.Bytes(line));
        }
    }
}
