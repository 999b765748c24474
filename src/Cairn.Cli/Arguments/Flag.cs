using System.CommandLine;

namespace Cairn.Cli.Arguments;

/// <summary>An option that is there or not. It takes no value: the word after it may be a key named "true".</summary>
internal sealed class Flag : Option<bool>
{
    public Flag(string name, string description)
        : base(name)
    {
        Description = description;
        Arity = ArgumentArity.Zero;
    }
}
