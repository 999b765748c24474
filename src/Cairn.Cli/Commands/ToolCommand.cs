using System.CommandLine;

namespace Cairn.Cli.Commands;

/// <summary>An example in the help of a command.</summary>
/// <param name="CommandLine">What to type.</param>
/// <param name="Explanation">What it does.</param>
internal sealed record Example(string CommandLine, string Explanation);

/// <summary>A command of the tool: its arguments, its help, and what it does.</summary>
internal abstract class ToolCommand(string name, string description) : Command(name, description)
{
    /// <summary>At least one; the first is the plainest.</summary>
    public abstract IReadOnlyList<Example> Examples { get; }

    /// <summary>What else there is to know, in a few sentences.</summary>
    public virtual string? Details => null;

    /// <summary>What --json prints, in one line.</summary>
    public abstract string? JsonShape { get; }

    /// <summary>What the exit code 1 means here; null if it does not occur.</summary>
    public virtual string? MeaningOfNo => null;

    /// <summary>Whether it works on a store, and so takes --store and --json.</summary>
    public virtual bool UsesStore => true;

    /// <summary>Whether it can read encrypted stores, and so takes --key-file and --password-file.</summary>
    public virtual bool ReadsEncrypted => UsesStore;

    /// <summary>What follows its name in the usage, where that is not what its arguments say.</summary>
    public virtual string? UsageWords => null;

    public abstract int Run(Invocation invocation);
}
