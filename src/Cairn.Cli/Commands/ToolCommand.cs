namespace Cairn.Cli.Commands;

/// <summary>An example in the help of a command.</summary>
/// <param name="CommandLine">The command line.</param>
/// <param name="Explanation">The explanation of its effect.</param>
internal sealed record Example(string CommandLine, string Explanation);

/// <summary>A command of the tool with its arguments, its help and its implementation.</summary>
internal abstract class ToolCommand(string name, string description) : Command(name, description)
{
    /// <summary>Gets the examples: at least one, the simplest first.</summary>
    public abstract IReadOnlyList<Example> Examples { get; }

    /// <summary>Gets further information in a few sentences; null for none.</summary>
    public virtual string? Details => null;

    /// <summary>Gets a description of the output of --json in one line; null if the command has none.</summary>
    public abstract string? JsonShape { get; }

    /// <summary>Gets the meaning of exit code 1 for this command; null if it does not occur.</summary>
    public virtual string? MeaningOfNo => null;

    /// <summary>Gets a value that says whether the command works on a store, and so takes --store and --json.</summary>
    public virtual bool UsesStore => true;

    /// <summary>Gets a value that says whether the command can read encrypted stores, and so takes --key-file and --password-file.</summary>
    public virtual bool ReadsEncrypted => UsesStore;

    /// <summary>Gets the text after the command's name in the usage line; null to derive it from the arguments.</summary>
    public virtual string? UsageWords => null;

    /// <summary>Gets the options in groups with headings, for commands with many options. Other options follow.</summary>
    public virtual IEnumerable<IGrouping<string, Option>> OptionGroups => [];

    public abstract int Run(Invocation invocation);
}
