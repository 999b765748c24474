namespace Cairn.Cli.Arguments;

/// <summary>The options that select keys, for commands that list them.</summary>
internal sealed class FilterOptions
{
    private readonly Option<string?> _prefix = new("--prefix") { HelpName = "TEXT", Description = "Only keys with this prefix." };

    private readonly Option<string?> _match = new("--match")
    {
        HelpName = "GLOB",
        Description = "Only keys that match: * any bytes, ? one byte, [a-z] one byte of a set, [^a-z] one byte outside it, \\ takes the next as it is.",
    };

    public void AddTo(Command command)
    {
        command.Add(_prefix);
        command.Add(_match);
    }

    /// <summary>Returns the requested filter; null for all keys.</summary>
    public KeyFilter? Read(Invocation invocation)
    {
        const string Remedy = "a filter takes only text";
        string? prefix = invocation.Get(_prefix);
        string? match = invocation.Get(_match);
        if (prefix is not null && match is not null)
        {
            throw ToolException.Usage("--prefix and --match are two different filters; give one");
        }

        return prefix is not null ? KeyFilter.Prefix(KeyInput.FromText(prefix, "--prefix", Remedy))
            : match is not null ? KeyFilter.Glob(KeyInput.FromText(match, "--match", Remedy).AsSpan())
            : null;
    }
}
