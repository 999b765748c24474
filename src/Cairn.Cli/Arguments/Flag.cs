namespace Cairn.Cli.Arguments;

/// <summary>An option without a value. The word after it is not part of it, because it may be a key named "true".</summary>
internal sealed class Flag : Option<bool>
{
    public Flag(string name, string description)
        : base(name)
    {
        Description = description;
        Arity = ArgumentArity.Zero;
    }
}
